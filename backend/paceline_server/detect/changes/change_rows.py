"""Builds what is stored of an evaluation: the columns of a change, the segments of a
series.

Pure. The evidence holds everything needed to compute the change again (I16): method,
parameters, filters and the jobs of the window. Every segment says why it starts.
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
from paceline_server.store.tables.history import Change

ORDINARY_SIGMA = 3.0
"""sigmas either side of a level within which single points ordinarily lie: what winsorising takes as
ordinary (STATISTICS §4.1)."""

MAD_TO_SIGMA = 1.4826
"""Median absolute deviation to standard deviation, for normal scatter."""

Places = Mapping[str, JobPlaceRow]
Factors = Mapping[str, Mapping[str, Any]]


def change_columns(
    head: SeriesRow,
    plan: ChangePlan,
    found: MatchedChange,
    decided: Mapping[str, Any] | None,
    places: Places,
) -> dict[str, Any]:
    """Every column of a change but its identity, its links and its times."""
    change, own = found.change, plan.evaluation.own_jobs
    segmentation = plan.evaluation.segmentation
    evidence: dict[str, Any] = {
        "method": segmentation.method,
        "parameters": dict(segmentation.parameters),
        "filters": _filters(change, decided),
        "window": list(own),
        "index": change.index,
        "location": list(change.location),
        "n_before": change.n_before,
        "n_after": change.n_after,
    }
    if decided is not None:
        evidence["round"] = dict(decided)
    if found.row is not None and "incident" in found.row.evidence:
        evidence["incident"] = found.row.evidence["incident"]
    return {
        "state": state_of(found, decided),
        "job_id": own[change.index],
        "before_commit": places[own[change.index - 1]].commit,
        "commit": places[own[change.index]].commit,
        "direction": direction_word(change.effect, head.unit, head.direction),
        "level_before": change.level_before,
        "level_after": change.level_after,
        "effect": change.effect,
        "lower": change.interval[0],
        "upper": change.interval[1],
        "p_value": change.p_value,
        "evaluations": found.evaluations,
        "evidence": evidence,
    }


def _filters(
    change: ChangePoint, decided: Mapping[str, Any] | None
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
    if decided is not None:
        rows.append(
            {
                "name": "false_discovery",
                "value": decided["p"],
                "limit": decided["limit"],
                "passed": decided["kept"],
            }
        )
    return rows


def needed_jobs(plan: ChangePlan) -> set[str]:
    """Jobs whose place `segment_rows` and `change_columns` ask for."""
    own, jobs = plan.evaluation.own_jobs, plan.evaluation.window.job_ids
    needed = {
        job
        for found in plan.found
        for job in own[found.change.index - 1 : found.change.index + 1]
    }
    for start, stop, _ in _bounds(plan, None, None):
        needed |= {jobs[start], jobs[stop - 1]}
    return needed


def segment_rows(
    head: SeriesRow, plan: ChangePlan, places: Places, factors: Factors
) -> list[dict[str, Any]]:
    """The levels of a window, oldest first, as `SeriesState.segments` keeps them."""
    window = plan.evaluation.window
    made = []
    for start, stop, because in _bounds(plan, head, factors):
        level, sigma = _level(window.values[start:stop])
        first, last = window.job_ids[start], window.job_ids[stop - 1]
        made.append(
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
                "starts_because": because,
            }
        )
    return made


def _bounds(
    plan: ChangePlan, head: SeriesRow | None, factors: Factors | None
) -> list[tuple[int, int, str]]:
    """(start, stop, why it starts) of every level: earlier environments cut where a change was kept, the
    newest where detection cuts it. The whys are only right with head and factors."""
    evaluation, known = plan.evaluation, factors or {}
    window = evaluation.window
    made: list[tuple[int, int, str]] = []
    for number, stretch in enumerate(evaluation.environments):
        if number:
            before = evaluation.environments[number - 1].fingerprint
            because = environments.describe_switch(
                known.get(before), known.get(stretch.fingerprint)
            )
        else:
            because = (
                environments.FIRST
                if window.whole
                else f"the last {len(window)} points begin"
            )
        newest = number == len(evaluation.environments) - 1
        cuts = (
            _newest_cuts(plan, head)
            if newest
            else _kept_cuts(plan, head, stretch.start, stretch.stop)
        )
        edges = [stretch.start, *cuts, stretch.stop]
        made += [
            (start, stop, cuts[start] if at else because)
            for at, (start, stop) in enumerate(pairwise(edges))
        ]
    return made


def _newest_cuts(plan: ChangePlan, head: SeriesRow | None) -> dict[int, str]:
    """Where detection cuts the newest environment → why."""
    offset = plan.evaluation.offset
    return {
        offset + change.index: _change_sentence(head, change)
        for change in plan.evaluation.found
    }


def _kept_cuts(
    plan: ChangePlan, head: SeriesRow | None, start: int, stop: int
) -> dict[int, str]:
    """Where an earlier environment was cut while it was the newest → why."""
    jobs = plan.evaluation.window.job_ids
    index = (
        {job_id: at for at, job_id in enumerate(jobs[start:stop], start)}
        if plan.kept
        else {}
    )
    found = {}
    for row in sorted(plan.kept, key=lambda one: index.get(one.job_id, -1)):
        at = index.get(row.job_id, start)
        if at > start:
            found[at] = _change_sentence(head, row)
    return found


def _change_sentence(head: SeriesRow | None, change: ChangePoint | Change) -> str:
    if head is None:
        return ""
    levels = change.level_before, change.level_after
    return change_sentence(change.effect, *levels, head.unit, head.direction)


def _level(values: Sequence[float]) -> tuple[float, float]:
    """Median, and the scatter of the logarithms (0 where there are none)."""
    own = np.array(values, dtype=np.float64)
    level = median(own)
    if own.min() <= 0.0:
        return level, 0.0
    logs = np.log(own)
    return level, MAD_TO_SIGMA * median(np.abs(logs - median(logs)))
