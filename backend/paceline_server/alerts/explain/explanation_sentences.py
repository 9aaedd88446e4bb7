"""Sentences about filters, windows and whole alerts, from stored evidence (I16, I17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paceline_server.alerts.alert_sentences import arm_explanation
from paceline_server.alerts.bisect import bisection_sentences as bisect_words
from paceline_server.alerts.changes.history_sentences import case_place, commit_range
from paceline_server.alerts.explain.queries import FindingEvidence
from paceline_server.alerts.rules.applied_rule import OF_RUNS
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
    """A filter in words; a filter without a sentence of its own shows its name and numbers."""
    if stored.get("text"):
        return str(stored["text"])
    name, value, limit = str(stored["name"]), stored.get("value"), stored.get("limit")
    text = _TEXTS.get(name)
    if text is None or value is None or limit is None:
        value_text = "unknown" if value is None else f"{value:.4g}"
        bound = "" if limit is None else f" against a limit of {limit:.4g}"
        return f"{name.replace('_', ' ')}: {value_text}{bound}"
    shares = (
        {"share": percent(value), "least": percent(limit)} if name in _SHARES else {}
    )
    return text.format(value=value, limit=limit, **shares)


def finding_place(evidence: FindingEvidence) -> str:
    """The arm, benchmark and params a finding is about."""
    about = evidence.series or evidence.comparison
    if about is not None:
        return case_place(about.arm, about.benchmark, about.params)
    numbers = evidence.finding.numbers or {}
    return str(numbers.get("where", "the suite"))


def finding_sentence(evidence: FindingEvidence) -> str:
    """The sentence of a finding."""
    numbers = evidence.finding.numbers or {}
    if "words" in numbers:
        return str(numbers["words"])
    return (
        ""
        if evidence.comparison is None
        else str(evidence.comparison.evidence["words"])
    )


def window_text(evidence: FindingEvidence) -> str:
    """The data of a finding, in words."""
    window = evidence.finding.window
    if "job_ids" in window:
        numbers = evidence.finding.numbers or {}
        before, after = numbers.get("n_before"), numbers.get("n_after")
        return f"{len(window['job_ids'])} points of one series: {before} at the level before, {after} after"
    if evidence.comparison is not None:
        sides = (
            "head and base" if evidence.comparison.sides == "revisions" else "both arms"
        )
        return f"{evidence.comparison.blocks} rounds of {sides} in {evidence.comparison.launches} launches of one job"
    return str(window.get("text", "the measurements of one job"))


def cause_text(evidence: Sequence[FindingEvidence]) -> str | None:
    """The reason for the alert's cause, by its newest finding that has one."""
    for row in reversed(evidence):
        cause = (row.finding.numbers or {}).get("cause")
        if cause:
            return str(cause["because"])
    return None


def explanation_paragraph(
    alert: Alert,
    target_name: str,
    evidence: Sequence[FindingEvidence],
    closing: str | None,
) -> str:
    """One paragraph for people. `closing` is the note of the event that ended or revived the alert."""
    if alert.kind == "arm_slower":
        pairs = [
            (row.finding, row.comparison)
            for row in evidence
            if row.comparison is not None
        ]
        return arm_explanation(alert, target_name, pairs)
    candidates = [row for row in evidence if row.finding.role == "candidate"]
    if not candidates:
        return f"{alert.title}: {alert.words}."
    parts = [_candidate_sentence(alert, target_name, candidates)]
    why = cause_text(evidence)
    if alert.cause is not None and why is not None:
        parts.append(f"Cause: {alert.cause}, because {why}.")
    parts.append(f"Rule {alert.rule['name']}: {alert.rule['text']}")
    parts += _confirmation_sentences(
        alert,
        [row for row in evidence if row.finding.role == "confirmation"],
    )
    if alert.culprit is not None:
        parts.append(
            f"The commit to look at: {bisect_words.culprit_sentence(alert.culprit)}."
        )
    if closing:
        parts.append(f"{closing[0].upper()}{closing[1:]}.")
    return " ".join(parts)


def _candidate_sentence(
    alert: Alert, target_name: str, candidates: Sequence[FindingEvidence]
) -> str:
    first = candidates[0]
    if alert.kind in OF_RUNS:
        return f"{alert.title}: {finding_sentence(candidates[-1])}."
    if alert.kind == "policy":
        return f"On {target_name}, {finding_place(first)}: {finding_sentence(first)}."
    series = len({candidate.finding.series_id for candidate in candidates})
    count = f"{series} series moved; the first seen, " if series > 1 else ""
    numbers = first.finding.numbers or {}
    between = commit_range(numbers.get("base_commit"), numbers.get("head_commit"))
    return (
        f"On {target_name}, {count}{finding_place(first)}: {finding_sentence(first)}, in {window_text(first)}; it happened "
        f"{between}."
    )


def _confirmation_sentences(
    alert: Alert, confirmation: Sequence[FindingEvidence]
) -> list[str]:
    ratios = {
        index: evidence.comparison.ratio or 0.0
        for index, evidence in enumerate(confirmation)
        if evidence.comparison is not None
    }
    if ratios:
        worst = confirmation[max(ratios, key=lambda index: ratios[index])]
        return [
            f"Old and new revision, interleaved in one job on the same target, say: {finding_place(worst)}: "
            f"{finding_sentence(worst)}."
        ]
    if alert.kind in OF_RUNS:
        undecided = "Nobody was told: the next run of the default branch decides."
        return [undecided] if alert.state == "suspected" else []
    if alert.kind == "policy":
        return _policy_confirmation_sentences(alert, confirmation)
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


def _policy_confirmation_sentences(
    alert: Alert, confirmation: Sequence[FindingEvidence]
) -> list[str]:
    """Whether a second session of the same revision confirmed a policy alert."""
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
