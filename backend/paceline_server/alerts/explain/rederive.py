"""Computes a stored finding again from stored samples, with the numbers stored beside it
(I16).

Nothing but the finding, the stored samples and pure functions is used, so a server with
other constants gives the same bits. What depends on other findings of the round (the
false-discovery rate) is taken as stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts.explain import queries
from paceline_server.alerts.explain.queries import FindingEvidence
from paceline_server.alerts.explain.schemas import RederivedOut
from paceline_server.detect import service as detect
from paceline_server.detect.facts import CaseIndex
from paceline_server.ingest import service as ingest
from paceline_server.kernel.errors import not_found
from paceline_server.stats import changepoint
from paceline_server.stats.blocks import WarmPolicy, warm_samples
from paceline_server.stats.history import ChangePoint, Parameters
from paceline_server.stats.summary import summarise
from paceline_server.store.tables.history import Series

CANNOT = "it rests on advice, which is stored whole"
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
    """Make a finding again. Raises 404; 409 `samples_gone` when the blocks of a comparison are gone."""
    found = queries.finding(session, finding_id)
    if found is None:
        raise not_found("finding", finding_id)
    if found.series is not None:
        return _of_change(session, found, found.series)
    if found.comparison is not None:
        return _of_comparison(session, found)
    return RederivedOut(
        identical=None, text=f"This finding is not made again: {CANNOT}.", numbers={}
    )


def _of_comparison(session: Session, found: FindingEvidence) -> RederivedOut:
    comparison = found.comparison
    if comparison is None:
        raise TypeError("a finding of a comparison has one")
    again = detect.rederive_finding(session, found.finding.id)
    numbers: dict[str, Any] = {
        name: getattr(again, name)
        for name in ("ratio", "lower", "upper", "launches", "blocks")
    }
    numbers["p_slow"] = again.p_slow
    stored = {
        name: getattr(comparison, name)
        for name in ("ratio", "lower", "upper", "launches", "blocks")
    }
    stored["p_slow"] = comparison.evidence["statistic"]["p_slow"]
    return _compared(numbers, stored, "the blocks of its job")


def _of_change(
    session: Session, found: FindingEvidence, series: Series
) -> RederivedOut:
    finding, stored = found.finding, dict(found.finding.numbers or {})
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
    text = _points_again(session, found, series)
    if change is None:
        return RederivedOut(
            identical=False, text=f"Not found again in {text}.", numbers={}
        )
    wanted = {name: stored[name] for name in (*NUMBERS, "index")} | _filters(
        finding.filters
    )
    return _compared(_numbers(change), wanted, text)


def _points_again(session: Session, found: FindingEvidence, series: Series) -> str:
    """How many points of the window are the same when measured again from their samples. The values that
    decide are those the finding saw, which are stored with it: a point may be older than an upgrade."""
    window, warm = found.finding.window, found.finding.parameters["warm"]
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
    """The value of one point, from the samples of its job; None where they are gone or bear another name."""
    index = CaseIndex.of(ingest.blocks(session, job_id))
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


def _compared(
    again: Mapping[str, Any], stored: Mapping[str, Any], of: str
) -> RederivedOut:
    """Same to the last bit, or which number is not; numbers of the round that only the stored side has are
    not compared."""
    differing = sorted(
        name
        for name, value in again.items()
        if name in stored and stored[name] != value
    )
    missing = sorted(name for name in again if name not in stored)
    if not differing and not missing:
        return RederivedOut(
            identical=True,
            text=f"Made again from {of}: every number is the same.",
            numbers=dict(again),
        )
    what = ", ".join([*differing, *missing])
    return RederivedOut(
        identical=False,
        text=f"Made again from {of}: {what} differ.",
        numbers=dict(again),
    )
