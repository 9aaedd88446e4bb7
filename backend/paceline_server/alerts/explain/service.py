"""Explains an alert: what the data was asked, what it answered, and whether it would
answer so again.

Every sentence and number comes from stored evidence; reading changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.explain import explanation_sentences, queries
from paceline_server.alerts.explain.queries import FindingEvidence
from paceline_server.alerts.explain.rederive import rederive
from paceline_server.alerts.explain.schemas import (
    ExplainedFindingOut,
    ExplanationOut,
    RederivedOut,
    WindowOut,
)
from paceline_server.alerts.schemas import FilterOut, FindingOut
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.store.tables.decisions import Alert

CLOSING = (
    "vanish",
    "recover",
    "verify",
    "relapse",
    "refute",
    "code_cleared",
    "reappear",
)
"""Events whose note says how an alert ended or came back, in words for people."""

MOST_AGAIN = 20
"""findings made again in one answer: each reads the samples of up to 1,000 jobs while a person waits."""

__all__ = ["AlertExplanation", "explain", "explain_briefly", "rederive"]


@dataclass(frozen=True)
class AlertExplanation:
    """An alert's evidence as its page shows it."""

    sentence: str
    cause_text: str | None
    findings: list[FindingOut]


def explain(session: Session, alert_id: str, *, again: bool) -> ExplanationOut:
    """The whole explanation; `again`: also make every finding once more from samples. Raises 404."""
    found = queries.alert(session, alert_id)
    if found is None:
        raise not_found("alert", alert_id)
    alert, target_name = found
    evidence = queries.evidence_of(session, alert_id)
    return ExplanationOut.model_validate(
        {
            "alert_id": alert.id,
            "kind": alert.kind,
            "state": alert.state,
            "title": alert.title,
            "sentence": explanation_sentences.explanation_paragraph(
                alert, target_name, evidence, _closing(session, alert)
            ),
            "cause": alert.cause,
            "cause_text": explanation_sentences.cause_text(evidence),
            "rule": f"{alert.rule['name']}, version {alert.rule['version']}: {alert.rule['text']}",
            "findings": [
                _explained(
                    session,
                    one,
                    again=_rederived_out(session, one, index) if again else None,
                )
                for index, one in enumerate(evidence)
            ],
        }
    )


def explain_briefly(
    session: Session, alert: Alert, target_name: str, *, windows: bool = False
) -> AlertExplanation:
    """What an alert's page and its notice say; `windows`: with every point of what history looked at."""
    evidence = queries.evidence_of(session, alert.id)
    sentence = explanation_sentences.explanation_paragraph(
        alert, target_name, evidence, _closing(session, alert)
    )
    findings = [
        _finding_out(evidence_row, alert, windows=windows) for evidence_row in evidence
    ]
    return AlertExplanation(
        sentence, explanation_sentences.cause_text(evidence), findings
    )


def _shorten_window(window: dict[str, Any]) -> dict[str, Any]:
    """A window without its points: how many they are, and the jobs of the first and the last."""
    job_ids = window.get("job_ids")
    if not job_ids:
        return window
    kept = {
        name: value
        for name, value in window.items()
        if name not in ("job_ids", "values")
    }
    return {**kept, "points": len(job_ids), "first": job_ids[0], "last": job_ids[-1]}


def _finding_out(one: FindingEvidence, alert: Alert, *, windows: bool) -> FindingOut:
    finding, comparison, series = one.finding, one.comparison, one.series
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
        numbers |= {name: finding.numbers.get(name) for name in ("ratio",)}
        numbers |= dict(
            zip(
                ("lower", "upper"),
                finding.numbers.get("bounds", (None, None)),
                strict=True,
            )
        )
    return FindingOut.model_validate(
        {
            **{name: getattr(finding, name) for name in own},
            **{name: getattr(about, name) for name in ("benchmark", "arm", "metric")},
            **numbers,
            "window": finding.window if windows else _shorten_window(finding.window),
            "params": {} if about is alert else getattr(about, "params", {}),
            "sides": None if comparison is None else comparison.sides,
            "words": explanation_sentences.finding_sentence(one),
            "filters": [filter_out(stored) for stored in finding.filters],
        }
    )


def _closing(session: Session, alert: Alert) -> str | None:
    """What the newest event that ended or revived the alert said; a person's word is in the history."""
    for event in reversed(alert_queries.events(session, alert.id)):
        if event.to_state is not None:
            return event.note if event.action in CLOSING else None
    return None


def _explained(
    session: Session, one: FindingEvidence, *, again: RederivedOut | None
) -> ExplainedFindingOut:
    finding = one.finding
    return ExplainedFindingOut.model_validate(
        {
            "id": finding.id,
            "kind": finding.kind,
            "role": finding.role,
            "where": explanation_sentences.finding_place(one),
            "words": explanation_sentences.finding_sentence(one),
            "filters": [filter_out(stored) for stored in finding.filters],
            "window": _window(session, one),
            "method": finding.method,
            "parameters": finding.parameters,
            "created_at": finding.created_at,
            "rederived": again,
        }
    )


def filter_out(stored: dict[str, object]) -> FilterOut:
    """A stored filter with its sentence."""
    return FilterOut.model_validate(
        {**stored, "text": explanation_sentences.filter_text(stored)}
    )


def _window(session: Session, one: FindingEvidence) -> WindowOut:
    text = explanation_sentences.window_text(one)
    if one.series is not None:
        job_ids = one.finding.window["job_ids"]
        first, last = queries.points_span(session, one.series.id, job_ids)
        return WindowOut(text=text, points=len(job_ids), first_at=first, last_at=last)
    if one.comparison is not None:
        return WindowOut(
            text=text, launches=one.comparison.launches, blocks=one.comparison.blocks
        )
    return WindowOut(text=text)


def _rederived_out(session: Session, one: FindingEvidence, index: int) -> RederivedOut:
    if index >= MOST_AGAIN:
        text = (
            f"Not made again: one answer makes the first {MOST_AGAIN} findings again."
        )
        return RederivedOut(identical=None, text=text, numbers={})
    try:
        return rederive(session, one.finding.id)
    except ProblemError as problem:
        return RederivedOut(identical=None, text=problem.detail, numbers={})
