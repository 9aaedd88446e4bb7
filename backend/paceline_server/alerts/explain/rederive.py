"""Computes a stored finding again from stored samples (I16).

It uses the parameters stored with the finding, so a server with other constants gives the
same bits. The false-discovery rate depends on other findings and is not computed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.explain.schemas import RederivedOut
from paceline_server.detect import service as detect
from paceline_server.detect.facts import CaseIndex
from paceline_server.ingest import service as ingest
from paceline_server.kernel.errors import not_found
from paceline_server.stats import changepoint
from paceline_server.stats.blocks import WarmPolicy, warm_samples
from paceline_server.stats.history import ChangePoint, Parameters
from paceline_server.stats.summary import summarise
from paceline_server.store.tables.decisions import Comparison, Finding
from paceline_server.store.tables.history import Series

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
    """How many points of the window have the same value when computed again from their samples. The finding
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
    """The value of a point from its job's samples; None if they are gone or stored under another name."""
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


def _compare_numbers(
    again: Mapping[str, Any], stored: Mapping[str, Any], of: str
) -> RederivedOut:
    """Whether every number is the same to the last bit, or which differ; stored numbers that are not computed
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
