"""Words filters, windows and whole alerts from stored evidence (I16, I17). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paceline_server.alerts.alert_sentences import arm_explanation
from paceline_server.alerts.bisect import bisection_sentences as bisect_words
from paceline_server.alerts.changes.history_sentences import case_place, commit_range
from paceline_server.alerts.explain.queries import FindingEvidence
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.decisions import Alert

_SHARES = {"effect", "probability", "mde", "false_discovery"}
_TEXTS = {
    "points_before": "{value:g} points before it, at least {limit:g} asked for",
    "points_after": "{value:g} points after it, at least {limit:g} asked for",
    "probability": "a step lies here with probability {value:.4g}, at least {limit:g} asked for",
    "effect": "the level moved by {share}, at least {least} asked for",
    "p_value": "rank test of the points either side: p = {value:.2g}, at most {limit:.2g} allowed",
    "shift_in_sigma": "the shift is {value:.3g} sigma of the points' scatter, at least {limit:g} asked for",
    "false_discovery": "among the series of its round: p = {value:.2g}, at most {limit:.2g} allowed",
}


def filter_text(stored: Mapping[str, Any]) -> str:
    """One filter in words; one nobody described says its name and numbers."""
    if stored.get("text"):
        return str(stored["text"])
    name, value, limit = str(stored["name"]), stored.get("value"), stored.get("limit")
    text = _TEXTS.get(name)
    if text is None or value is None or limit is None:
        said = "unknown" if value is None else f"{value:.4g}"
        bound = "" if limit is None else f" against a limit of {limit:.4g}"
        return f"{name.replace('_', ' ')}: {said}{bound}"
    shares = (
        {"share": percent(value), "least": percent(limit)} if name in _SHARES else {}
    )
    return text.format(value=value, limit=limit, **shares)


def finding_place(one: FindingEvidence) -> str:
    """What a finding is about."""
    about = one.series or one.comparison
    if about is not None:
        return case_place(about.arm, about.benchmark, about.params)
    numbers = one.finding.numbers or {}
    return str(numbers.get("where", "the suite"))


def finding_sentence(one: FindingEvidence) -> str:
    """What a finding says."""
    numbers = one.finding.numbers or {}
    if "words" in numbers:
        return str(numbers["words"])
    return "" if one.comparison is None else str(one.comparison.evidence["words"])


def window_text(one: FindingEvidence) -> str:
    """The data of a finding in words."""
    window = one.finding.window
    if "job_ids" in window:
        numbers = one.finding.numbers or {}
        before, after = numbers.get("n_before"), numbers.get("n_after")
        return f"{len(window['job_ids'])} points of one series: {before} at the level before, {after} after"
    if one.comparison is not None:
        sides = "head and base" if one.comparison.sides == "revisions" else "both arms"
        return f"{one.comparison.blocks} rounds of {sides} in {one.comparison.launches} launches of one job"
    return str(window.get("text", "the measurements of one job"))


def cause_text(evidence: Sequence[FindingEvidence]) -> str | None:
    """Why that cause, by the newest finding that says so."""
    for evidence_row in reversed(evidence):
        cause = (evidence_row.finding.numbers or {}).get("cause")
        if cause:
            return str(cause["because"])
    return None


def explanation_paragraph(
    alert: Alert,
    target_name: str,
    evidence: Sequence[FindingEvidence],
    closing: str | None,
) -> str:
    """One paragraph for people. `closing`: what the alert's history says of how it stands."""
    if alert.kind == "arm_slower":
        pairs = [
            (evidence_row.finding, evidence_row.comparison)
            for evidence_row in evidence
            if evidence_row.comparison is not None
        ]
        return arm_explanation(alert, target_name, pairs)
    found = [
        evidence_row
        for evidence_row in evidence
        if evidence_row.finding.role == "candidate"
    ]
    if not found:
        return f"{alert.title}: {alert.words}."
    parts = [_found(alert, target_name, found)]
    why = cause_text(evidence)
    if alert.cause is not None and why is not None:
        parts.append(f"Cause: {alert.cause}, because {why}.")
    parts.append(f"Rule {alert.rule['name']}: {alert.rule['text']}")
    parts += _confirmed(
        alert,
        [
            evidence_row
            for evidence_row in evidence
            if evidence_row.finding.role == "confirmation"
        ],
    )
    if alert.culprit is not None:
        parts.append(
            f"The commit to look at: {bisect_words.culprit_sentence(alert.culprit)}."
        )
    if closing:
        parts.append(f"{closing[0].upper()}{closing[1:]}.")
    return " ".join(parts)


def _found(alert: Alert, target_name: str, found: Sequence[FindingEvidence]) -> str:
    first = found[0]
    count = (
        f"{len({evidence_row.finding.series_id for evidence_row in found})} series moved; the first seen, "
        if (len({evidence_row.finding.series_id for evidence_row in found}) > 1)
        else ""
    )
    if alert.kind == "policy":
        return f"On {target_name}, {finding_place(first)}: {finding_sentence(first)}."
    numbers = first.finding.numbers or {}
    between = commit_range(numbers.get("base_commit"), numbers.get("head_commit"))
    return (
        f"On {target_name}, {count}{finding_place(first)}: {finding_sentence(first)}, in {window_text(first)}; it happened "
        f"{between}."
    )


def _confirmed(alert: Alert, confirmation: Sequence[FindingEvidence]) -> list[str]:
    by_ab = [
        evidence_row
        for evidence_row in confirmation
        if evidence_row.comparison is not None
    ]
    if by_ab:
        worst = max(
            by_ab,
            key=lambda one: (one.comparison.ratio or 0.0) if one.comparison else 0.0,
        )
        return [
            f"Old and new revision, interleaved in one job on the same target, say: {finding_place(worst)}: "
            f"{finding_sentence(worst)}."
        ]
    if alert.kind == "policy":
        return _measured_again(alert, confirmation)
    if confirmation:
        return [
            "No A/B run decided; history itself found it again at the same place, with enough points."
        ]
    waiting = {
        "suspected": "It is not confirmed yet, and nobody was told: old and new revision are measured "
        "side by side first.",
        "inconclusive": "It is not confirmed, and nobody was told: history decides with more points.",
        "unconfirmed": "It was not confirmed, and nobody was told.",
    }
    return [waiting[alert.state]] if alert.state in waiting else []


def _measured_again(alert: Alert, confirmation: Sequence[FindingEvidence]) -> list[str]:
    """How a policy alert stands: a second session of the same revision decides."""
    if confirmation:
        return [
            f"The same revision, measured again in a new session, says: {finding_sentence(confirmation[-1])}."
        ]
    waiting = {
        "suspected": "It is not confirmed yet, and nobody was told: the same revision is measured again in a "
        "new session first.",
        "inconclusive": "It is not confirmed, and nobody was told: the new session could not say.",
    }
    return [waiting[alert.state]] if alert.state in waiting else []
