"""Explains an alert: its findings in words, its filters, its data, and whether its findings compute the same again.

Every sentence and number comes from stored evidence; the paragraphs of each kind are in `kinds/`. Reading changes
nothing. A finding is computed again with the parameters stored with it, so a server with other constants gives the same
bits (I16). The false-discovery rate depends on other findings and is not computed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from paceline_contract.imported_series import texts_of_names
from paceline_contract.params import params_text
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.kind import AlertEvidence
from paceline_server.alerts.queries import FindingEvidence
from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.schemas import (
    ExplainedFindingOut,
    ExplanationOut,
    FilterOut,
    FindingOut,
    RederivedOut,
    SegmentStartOut,
    WindowOut,
)
from paceline_server.detect import service as detect
from paceline_server.detect.facts import CaseIndex
from paceline_server.ingest import service as ingest
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.series import service as history
from paceline_server.stats import changepoint
from paceline_server.stats.blocks import WarmPolicy, warm_samples
from paceline_server.stats.history import ChangePoint, Parameters
from paceline_server.stats.plain_words import percent
from paceline_server.stats.summary import summarise
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Comparison, Finding
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
    """Return words such as `native in sort_batch at batch=1000`."""
    at = params_text(params)
    return f"{arm} in {benchmark}" + (f" at {at}" if at else "")


def series_place(series: Series) -> str:
    """Return a series in words, with the original texts of imported names."""
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
    """Return the data of a finding in words."""
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


def never_ran(comparison: Comparison) -> bool:
    """Check whether a comparison fails because the fallback of its arm ran: then its times say nothing of the arm."""
    return comparison.evidence.get("witness") == "fail"


def is_slower(comparison: Comparison) -> bool:
    """Check whether a comparison fails by its times."""
    return comparison.verdict == "fail" and not never_ran(comparison)


def side_of(comparison: Comparison, *, worse: bool) -> Side:
    """Return whether the comparison shows the suspected change, where `ratio` is head ÷ base.

    For a slowdown this is the arm verdict of stats/README.md §2; for an improvement the same rule with the sides
    swapped (`evidence.faster`), at the same margin.
    """
    if comparison.verdict not in ("pass", "fail") or never_ran(comparison):
        return "unknown"
    if worse:
        return "moved" if comparison.verdict == "fail" else "stayed"
    if comparison.lower is None:
        return "unknown"
    if comparison.evidence["faster"]:
        return "moved"
    margin = 1.0 + float(comparison.evidence["margin_percent"]) / 100.0
    return "stayed" if comparison.lower * margin > 1.0 else "unknown"


MOST_AGAIN = 20
"""At most this many findings are computed again per response, because each reads the samples of up to 1,000 jobs."""


@dataclass(frozen=True)
class AlertExplanation:
    """An alert's evidence as its page shows it."""

    sentence: str
    cause_text: str | None
    findings: list[FindingOut]


def explain(session: Session, alert_id: str, *, again: bool) -> ExplanationOut:
    """Return the whole explanation; `again` also computes findings again from samples. Raises 404."""
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
            "sentence": explain_alert(session, alert, target_name, evidence),
            "cause": alert.cause,
            "cause_text": cause_text(evidence),
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
    """Return the explanation for an alert's page and notice; `windows` adds every point of each finding's window."""
    evidence = queries.evidence_of(session, alert.id)
    sentence = explain_alert(session, alert, target_name, evidence)
    findings = [
        _finding_out(evidence_row, alert, windows=windows) for evidence_row in evidence
    ]
    return AlertExplanation(sentence, cause_text(evidence), findings)


def _shorten_window(window: dict[str, Any]) -> dict[str, Any]:
    """Return a window with the number of its points and the first and last job, instead of all points."""
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
            "words": finding_sentence(evidence),
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
            "where": finding_place(evidence),
            "words": finding_sentence(evidence),
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
    """Return a stored filter with its sentence."""
    return FilterOut.model_validate({**stored, "text": filter_text(stored)})


def _segments(session: Session, evidence: FindingEvidence) -> list[SegmentStartOut]:
    if evidence.series is None:
        return []
    return [
        SegmentStartOut(first_at=start.first_at, change=start.change or "")
        for start in history.segment_starts(session, evidence.series)
    ]


def _window(session: Session, evidence: FindingEvidence) -> WindowOut:
    text = window_text(evidence)
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


NUMBERS = (
    "effect",
    "lower",
    "upper",
    "p_value",
    "level_before",
    "level_after",
    "n_before",
    "n_after",
)


def rederive(session: Session, finding_id: str) -> RederivedOut:
    """Compute a finding again. Raises 404; 409 `samples_gone` when the blocks of a comparison are gone."""
    evidence = queries.finding(session, finding_id)
    if evidence is None:
        raise not_found("finding", finding_id)
    if evidence.series is not None:
        return _rederive_change(session, evidence.finding, evidence.series)
    if evidence.comparison is not None:
        return _rederive_comparison(session, evidence.finding, evidence.comparison)
    return RederivedOut(
        identical=None,
        text="This finding is not made again: what it rests on is stored whole.",
        numbers={},
    )


def _rederive_comparison(
    session: Session, finding: Finding, comparison: Comparison
) -> RederivedOut:
    again = detect.rederive_finding(session, finding.id)
    own = ("ratio", "lower", "upper", "launches", "blocks")
    numbers = {name: getattr(again, name) for name in (*own, "p_slow")}
    stored = {name: getattr(comparison, name) for name in own}
    stored["p_slow"] = comparison.evidence["statistic"]["p_slow"]
    return _compare_numbers(numbers, stored, "the blocks of its job")


def _rederive_change(
    session: Session, finding: Finding, series: Series
) -> RederivedOut:
    stored = dict(finding.numbers or {})
    if finding.method != changepoint.METHOD:
        text = f"It was made by {finding.method}, which this server no longer has; it has {changepoint.METHOD}."
        return RederivedOut(identical=None, text=text, numbers={})
    parameters = Parameters.from_mapping(finding.parameters["history"])
    again = changepoint.detect(list(finding.window["values"]), parameters=parameters)
    change = next(
        (
            change
            for change in (*again.changes, *again.suspects)
            if change.index == stored["index"]
        ),
        None,
    )
    text = _describe_points(session, finding, series)
    if change is None:
        return RederivedOut(
            identical=False, text=f"Not found again in {text}.", numbers={}
        )
    wanted = {name: stored[name] for name in (*NUMBERS, "index")} | _filters(
        finding.filters
    )
    return _compare_numbers(_numbers(change), wanted, text)


def _describe_points(session: Session, finding: Finding, series: Series) -> str:
    """Return how many points of the window have the same value when computed again from their samples. The finding
    itself is computed from its stored values: later constants may give a point another value."""
    window, warm = finding.window, finding.parameters["warm"]
    again = [point_value(session, job_id, series, warm) for job_id in window["job_ids"]]
    gone = sum(value is None for value in again)
    other = sum(
        value not in (None, seen)
        for value, seen in zip(again, window["values"], strict=True)
    )
    text = f"{len(again)} points, {len(again) - gone - other} of them the same from the samples of their jobs"
    if other:
        text += f", {other} made of their samples by other constants"
    return text + (
        f", {gone} whose samples are no longer stored under this name" if gone else ""
    )


def point_value(
    session: Session, job_id: str, series: Series, warm: Mapping[str, Any]
) -> float | None:
    """Return the value of a point from its job's samples; None if they are gone or stored under another name."""
    index = CaseIndex.of(ingest.read_samples(session, job_id))
    case = index.get(series.benchmark, series.params, series.metric, series.arm)
    if case is None:
        return None
    keep, _ = warm_samples(case, WarmPolicy(**warm))
    return summarise(case.value[keep], case.launch[keep]).median


def _numbers(change: ChangePoint) -> dict[str, Any]:
    return {
        "effect": change.effect,
        "lower": change.interval[0],
        "upper": change.interval[1],
        "p_value": change.p_value,
        "level_before": change.level_before,
        "level_after": change.level_after,
        "n_before": change.n_before,
        "n_after": change.n_after,
        "index": change.index,
        **{f"filter {check.name}": check.value for check in change.filters},
    }


def _filters(stored: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"filter {row['name']}": row["value"] for row in stored}


def _compare_numbers(
    again: Mapping[str, Any], stored: Mapping[str, Any], of: str
) -> RederivedOut:
    """Return whether every number is the same to the last bit, or which differ; stored numbers that are not computed
    again are ignored."""
    differing = sorted(
        name
        for name, value in again.items()
        if name not in stored or stored[name] != value
    )
    if differing:
        outcome = f"{', '.join(differing)} differ."
    else:
        outcome = "every number is the same."
    return RederivedOut(
        identical=not differing,
        text=f"Made again from {of}: {outcome}",
        numbers=dict(again),
    )
