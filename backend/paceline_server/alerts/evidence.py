"""Reads the stored evidence of alerts: what an A/B comparison says, and the words for findings and whole alerts.

Every number is stored (I16), and what the paragraph says of a kind is in `kinds/`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from paceline_contract.imported_series import texts_of_names
from paceline_contract.params import params_text
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.kind import AlertEvidence
from paceline_server.alerts.queries import FindingEvidence
from paceline_server.alerts.registry import kind_of
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.history import Series

CLOSING = (
    "vanish",
    "recover",
    "verify",
    "relapse",
    "refute",
    "code_cleared",
    "reappear",
)
"""Events whose note is a sentence about how an alert ended or came back."""
Side = Literal["moved", "stayed", "unknown"]
"""What an A/B comparison says about a series."""
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


def explain_alert(
    session: Session,
    alert: Alert,
    target_name: str,
    evidence: Sequence[FindingEvidence] | None = None,
) -> str:
    """Return one paragraph for people about an alert, by its evidence, which is read if it is not given."""
    if evidence is None:
        evidence = queries.evidence_of(session, alert.id)
    closing = _closing_note(session, alert)
    shown = AlertEvidence(alert, target_name, evidence, closing)
    return kind_of(alert.kind).explain(shown)


def _closing_note(session: Session, alert: Alert) -> str | None:
    """Return the note of the newest event that changed the state, if the server wrote it for people."""
    for event in reversed(queries.events(session, alert.id)):
        if event.to_state is not None:
            return event.note if event.action in CLOSING else None
    return None


def filter_text(stored: Mapping[str, Any]) -> str:
    """Return a filter in words; a filter without a sentence of its own shows its name and numbers."""
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


def case_place(arm: str, benchmark: str, params: Mapping[str, Any]) -> str:
    """Return `native in sort_batch at batch=1000`."""
    at = params_text(params)
    return f"{arm} in {benchmark}" + (f" at {at}" if at else "")


def series_place(series: Series) -> str:
    """Return the same of a series, by the texts that imported names were made of."""
    texts = texts_of_names(series.title or "", series.benchmark, series.arm)
    arm, benchmark = (texts.get(name, name) for name in (series.arm, series.benchmark))
    return case_place(arm, benchmark, series.params)


def finding_place(evidence: FindingEvidence) -> str:
    """Return the arm, benchmark and params a finding is about."""
    if evidence.series is not None:
        return series_place(evidence.series)
    about = evidence.comparison
    if about is not None:
        return case_place(about.arm, about.benchmark, about.params)
    numbers = evidence.finding.numbers or {}
    return str(numbers.get("where", "the suite"))


def finding_sentence(evidence: FindingEvidence) -> str:
    """Return the sentence of a finding."""
    numbers = evidence.finding.numbers or {}
    if "words" in numbers:
        return str(numbers["words"])
    return (
        ""
        if evidence.comparison is None
        else str(evidence.comparison.evidence["words"])
    )


def window_text(evidence: FindingEvidence) -> str:
    """Describe the data of a finding."""
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
    """Return the reason for the alert's cause, by its newest finding that has one."""
    for row in reversed(evidence):
        cause = (row.finding.numbers or {}).get("cause")
        if cause:
            return str(cause["because"])
    return None


def values_by_param(points: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each param at these points, in the order of the points."""
    values: dict[str, list[Any]] = defaultdict(list)
    for point in points:
        for name, value in point.items():
            if value not in values[name]:
                values[name].append(value)
    return dict(values)


def side_of(comparison: Comparison, *, worse: bool) -> Side:
    """Return whether head differs from base in the suspected direction, in `ratio` = head ÷ base.

    For a slowdown this is the arm verdict of stats/README.md §2; for an improvement the same rule with the sides
    swapped (`evidence.faster`), at the same margin.
    """
    if worse:
        answers: dict[str, Side] = {"fail": "moved", "pass": "stayed"}
        return answers.get(comparison.verdict, "unknown")
    if comparison.verdict not in ("pass", "fail") or comparison.lower is None:
        return "unknown"
    if comparison.evidence["faster"]:
        return "moved"
    margin = 1.0 + float(comparison.evidence["margin_percent"]) / 100.0
    return "stayed" if comparison.lower * margin > 1.0 else "unknown"
