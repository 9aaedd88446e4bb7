"""Builds the rows of an evaluation: the columns of a change and the segments of a series.

The evidence of a change holds everything needed to recompute it (I16). Every segment says why it starts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from paceline_server.detect.changes.planning import ChangePlan, MatchedChange, state_of
from paceline_server.detect.changes.queries import JobPlaceRow, SeriesRow
from paceline_server.series import environments
from paceline_server.series.change_sentences import change_sentence, direction_word
from paceline_server.stats.history import ChangePoint
from paceline_server.stats.samples import median
from paceline_server.store.tables.history import TARGET_SHIFT, Change

ORDINARY_SIGMA = 3.0
"""Standard deviations on either side of a level that winsorising keeps (stats/README.md §4.1)."""

MAD_TO_SIGMA = 1.4826
"""Median absolute deviation to standard deviation, for normal scatter."""

Places = Mapping[str, JobPlaceRow]
Factors = Mapping[str, Mapping[str, Any]]


def change_columns(
    series: SeriesRow,
    plan: ChangePlan,
    matched: MatchedChange,
    decision: Mapping[str, Any] | None,
    places: Places,
) -> dict[str, Any]:
    """Return the columns of a change except its identity, links and times."""
    change, own_jobs = matched.change, plan.evaluation.own_jobs
    segmentation = plan.evaluation.segmentation
    evidence: dict[str, Any] = {
        "method": segmentation.method,
        "parameters": dict(segmentation.parameters),
        "filters": _filter_rows(change, decision),
        "window": list(own_jobs),
        "index": change.index,
        "location": list(change.location),
        "n_before": change.n_before,
        "n_after": change.n_after,
    }
    if decision is not None:
        evidence["round"] = dict(decision)
    if matched.row is not None and TARGET_SHIFT in matched.row.evidence:
        evidence[TARGET_SHIFT] = matched.row.evidence[TARGET_SHIFT]
    return {
        "state": state_of(matched, decision),
        "job_id": own_jobs[change.index],
        "before_commit": places[own_jobs[change.index - 1]].commit,
        "commit": places[own_jobs[change.index]].commit,
        "direction": direction_word(change.effect, series.unit, series.direction),
        "level_before": change.level_before,
        "level_after": change.level_after,
        "effect": change.effect,
        "lower": change.interval[0],
        "upper": change.interval[1],
        "p_value": change.p_value,
        "evaluations": matched.evaluations,
        "evidence": evidence,
    }


def _filter_rows(
    change: ChangePoint, decision: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    rows = [
        {
            "name": check.name,
            "value": check.value if math.isfinite(check.value) else None,
            "limit": check.limit,
            "passed": check.passed,
        }
        for check in change.filters
    ]
    if decision is not None:
        rows.append(
            {
                "name": "false_discovery",
                "value": decision["p"],
                "limit": decision["limit"],
                "passed": decision["kept"],
            }
        )
    return rows


def needed_jobs(plan: ChangePlan) -> set[str]:
    """Return the jobs whose places `segment_rows` and `change_columns` need."""
    own_jobs, jobs = plan.evaluation.own_jobs, plan.evaluation.window.job_ids
    needed = {
        job
        for matched in plan.matched
        for job in own_jobs[matched.change.index - 1 : matched.change.index + 1]
    }
    for start, stop, _ in _find_bounds(plan, None, None, None):
        needed |= {jobs[start], jobs[stop - 1]}
    return needed


def segment_rows(
    series: SeriesRow, plan: ChangePlan, places: Places, factors: Factors
) -> list[dict[str, Any]]:
    """Return the segments of a window, oldest first, as `SeriesState.segments` stores them."""
    window = plan.evaluation.window
    rows = []
    for start, stop, reason in _find_bounds(plan, series, factors, places):
        level, sigma = _measure_level(window.values[start:stop])
        first, last = window.job_ids[start], window.job_ids[stop - 1]
        rows.append(
            {
                "start_job_id": first,
                "stop_job_id": last,
                "start_at": places[first].at.isoformat(),
                "stop_at": places[last].at.isoformat(),
                "points": stop - start,
                "level": level,
                "lower": level * math.exp(-ORDINARY_SIGMA * sigma),
                "upper": level * math.exp(ORDINARY_SIGMA * sigma),
                "fingerprint": window.fingerprints[start],
                "starts_because": reason,
            }
        )
    return rows


def _find_bounds(
    plan: ChangePlan,
    series: SeriesRow | None,
    factors: Factors | None,
    places: Places | None,
) -> list[tuple[int, int, str]]:
    """Return (start, stop, why it starts) of every segment. Without a series, factors and places, ignore the reasons.

    Earlier environments are split at stored changes, the newest at detected ones."""
    evaluation, factors_by_fingerprint = plan.evaluation, factors or {}
    window = evaluation.window
    bounds: list[tuple[int, int, str]] = []
    for number, stretch in enumerate(evaluation.environments):
        if number:
            first = window.job_ids[stretch.start]
            reason = environments.describe_boundary(
                evaluation.environments[number - 1],
                stretch,
                factors_by_fingerprint,
                "" if series is None else series.metric,
                "" if places is None else places[first].commit,
            )
        else:
            reason = (
                environments.FIRST
                if window.whole
                else f"the last {len(window)} points begin"
            )
        is_newest = number == len(evaluation.environments) - 1
        cuts = (
            _list_detected_cuts(plan, series)
            if is_newest
            else _list_stored_cuts(plan, _series_at_stretch(series, stretch), stretch)
        )
        edges = [stretch.start, *cuts, stretch.stop]
        bounds += [
            (start, stop, cuts[start] if position else reason)
            for position, (start, stop) in enumerate(pairwise(edges))
        ]
    return bounds


def _series_at_stretch(
    series: SeriesRow | None, stretch: environments.EnvironmentStretch
) -> SeriesRow | None:
    """Return the series as it was in a stretch: with the unit and direction of that time."""
    declaration = stretch.declaration
    if series is None or declaration is None:
        return series
    return series._replace(unit=declaration.unit, direction=declaration.direction)


def _list_detected_cuts(plan: ChangePlan, series: SeriesRow | None) -> dict[int, str]:
    """Return the reasons of the cuts in the newest environment, by index: its detected changes."""
    offset = plan.evaluation.offset
    return {
        offset + change.index: _change_sentence(series, change)
        for change in plan.evaluation.changes
    }


def _list_stored_cuts(
    plan: ChangePlan,
    series: SeriesRow | None,
    stretch: environments.EnvironmentStretch,
) -> dict[int, str]:
    """Return the reasons of the cuts in an earlier environment, by index: its stored changes."""
    start, stop = stretch.start, stretch.stop
    jobs = plan.evaluation.window.job_ids
    index = (
        {job_id: position for position, job_id in enumerate(jobs[start:stop], start)}
        if plan.kept
        else {}
    )
    cuts = {}
    for row in sorted(plan.kept, key=lambda change: index.get(change.job_id, -1)):
        position = index.get(row.job_id, start)
        if position > start:
            cuts[position] = _change_sentence(series, row)
    return cuts


def _change_sentence(series: SeriesRow | None, change: ChangePoint | Change) -> str:
    if series is None:
        return ""
    levels = change.level_before, change.level_after
    return change_sentence(change.effect, *levels, series.unit, series.direction)


def _measure_level(values: Sequence[float]) -> tuple[float, float]:
    """Return the median, and the standard deviation of the logarithms; 0 if a value has no logarithm."""
    array = np.array(values, dtype=np.float64)
    level = median(array)
    if array.min() <= 0.0:
        return level, 0.0
    logs = np.log(array)
    return level, MAD_TO_SIGMA * median(np.abs(logs - median(logs)))
