"""Explains an alert: its filters, its data, and whether its findings compute the same again.

Every sentence and number comes from stored evidence; reading changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import evidence as sentences
from paceline_server.alerts import queries
from paceline_server.alerts.explain.rederive import rederive
from paceline_server.alerts.explain.schemas import (
    ExplainedFindingOut,
    ExplanationOut,
    RederivedOut,
    SegmentStartOut,
    WindowOut,
)
from paceline_server.alerts.queries import FindingEvidence
from paceline_server.alerts.schemas import FilterOut, FindingOut
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.series import service as history
from paceline_server.store.tables.decisions import Alert

MOST_AGAIN = 20
"""Findings computed again per response: each reads the samples of up to 1,000 jobs."""

__all__ = ["AlertExplanation", "explain", "explain_briefly", "rederive"]


@dataclass(frozen=True)
class AlertExplanation:
    """An alert's evidence as its page shows it."""

    sentence: str
    cause_text: str | None
    findings: list[FindingOut]


def explain(session: Session, alert_id: str, *, again: bool) -> ExplanationOut:
    """The whole explanation; `again` also computes findings again from samples. Raises 404."""
    alert = queries.alert(session, alert_id)
    if alert is None:
        raise not_found("alert", alert_id)
    target_name = queries.spoken_name(session, alert.target_id)
    evidence = queries.evidence_of(session, alert_id)
    return ExplanationOut.model_validate(
        {
            "alert_id": alert.id,
            "kind": alert.kind,
            "state": alert.state,
            "title": alert.title,
            "sentence": sentences.explain_alert(session, alert, target_name, evidence),
            "cause": alert.cause,
            "cause_text": sentences.cause_text(evidence),
            "rule": f"{alert.rule['name']}, version {alert.rule['version']}: {alert.rule['text']}",
            "findings": [
                _explained_finding_out(
                    session,
                    evidence_row,
                    again=_rederived_out(session, evidence_row, index)
                    if again
                    else None,
                )
                for index, evidence_row in enumerate(evidence)
            ],
        }
    )


def explain_briefly(
    session: Session, alert: Alert, target_name: str, *, windows: bool = False
) -> AlertExplanation:
    """What an alert's page and notice show; `windows` adds every point of each finding's window."""
    evidence = queries.evidence_of(session, alert.id)
    sentence = sentences.explain_alert(session, alert, target_name, evidence)
    findings = [
        _finding_out(evidence_row, alert, windows=windows) for evidence_row in evidence
    ]
    return AlertExplanation(sentence, sentences.cause_text(evidence), findings)


def _shorten_window(window: dict[str, Any]) -> dict[str, Any]:
    """A window with the number of its points and the first and last job, instead of all points."""
    job_ids = window.get("job_ids")
    if not job_ids:
        return window
    kept = {
        name: value
        for name, value in window.items()
        if name not in ("job_ids", "values")
    }
    return {**kept, "points": len(job_ids), "first": job_ids[0], "last": job_ids[-1]}


def _finding_out(
    evidence: FindingEvidence, alert: Alert, *, windows: bool
) -> FindingOut:
    finding, comparison, series = evidence.finding, evidence.comparison, evidence.series
    own = (
        "id",
        "kind",
        "role",
        "run_id",
        "job_id",
        "series_id",
        "change_id",
        "numbers",
        "method",
        "parameters",
        "created_at",
    )
    about = series or comparison or alert
    judged = (
        "verdict",
        "reason",
        "ratio",
        "lower",
        "upper",
        "share_slower",
        "launches",
        "blocks",
    )
    numbers: dict[str, Any] = dict.fromkeys(judged) | {"reason": ""}
    if comparison is not None:
        numbers = {name: getattr(comparison, name) for name in judged}
    elif finding.numbers is not None:
        lower, upper = finding.numbers.get("bounds", (None, None))
        numbers |= {
            "ratio": finding.numbers.get("ratio"),
            "lower": lower,
            "upper": upper,
        }
    return FindingOut.model_validate(
        {
            **{name: getattr(finding, name) for name in own},
            **{name: getattr(about, name) for name in ("benchmark", "arm", "metric")},
            **numbers,
            "window": finding.window if windows else _shorten_window(finding.window),
            "params": {} if about is alert else getattr(about, "params", {}),
            "sides": None if comparison is None else comparison.sides,
            "words": sentences.finding_sentence(evidence),
            "filters": [filter_out(stored) for stored in finding.filters],
        }
    )


def _explained_finding_out(
    session: Session, evidence: FindingEvidence, *, again: RederivedOut | None
) -> ExplainedFindingOut:
    finding = evidence.finding
    return ExplainedFindingOut.model_validate(
        {
            "id": finding.id,
            "kind": finding.kind,
            "role": finding.role,
            "where": sentences.finding_place(evidence),
            "words": sentences.finding_sentence(evidence),
            "filters": [filter_out(stored) for stored in finding.filters],
            "window": _window(session, evidence),
            "segments": _segments(session, evidence),
            "method": finding.method,
            "parameters": finding.parameters,
            "created_at": finding.created_at,
            "rederived": again,
        }
    )


def filter_out(stored: dict[str, object]) -> FilterOut:
    """A stored filter with its sentence."""
    return FilterOut.model_validate({**stored, "text": sentences.filter_text(stored)})


def _segments(session: Session, evidence: FindingEvidence) -> list[SegmentStartOut]:
    if evidence.series is None:
        return []
    return [
        SegmentStartOut(first_at=start.first_at, change=start.change or "")
        for start in history.segment_starts(session, evidence.series)
    ]


def _window(session: Session, evidence: FindingEvidence) -> WindowOut:
    text = sentences.window_text(evidence)
    if evidence.series is not None:
        job_ids = evidence.finding.window["job_ids"]
        first, last = queries.points_span(session, evidence.series.id, job_ids)
        return WindowOut(text=text, points=len(job_ids), first_at=first, last_at=last)
    if evidence.comparison is not None:
        return WindowOut(
            text=text,
            launches=evidence.comparison.launches,
            blocks=evidence.comparison.blocks,
        )
    return WindowOut(text=text)


def _rederived_out(
    session: Session, evidence: FindingEvidence, index: int
) -> RederivedOut:
    if index >= MOST_AGAIN:
        text = (
            f"Not made again: one answer makes the first {MOST_AGAIN} findings again."
        )
        return RederivedOut(identical=None, text=text, numbers={})
    try:
        return rederive(session, evidence.finding.id)
    except ProblemError as problem:
        return RederivedOut(identical=None, text=problem.detail, numbers={})
