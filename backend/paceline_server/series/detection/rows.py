"""What is written of an evaluation: the columns of a change, the segments of a series.

Place: under `service`, after `planning`. Pure. Invariants: evidence holds everything it takes to make the
change again (I16): method, parameters, filters, the jobs of the window; numbers and evidence are of one
evaluation; every segment says why it starts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from paceline_server.series import environments
from paceline_server.series.detection.planning import Found, Plan, state_of
from paceline_server.series.detection.queries import Head, Place
from paceline_server.series.words import change_words, direction_word
from paceline_server.stats.history import ChangePoint

ORDINARY_SIGMA = 3.0
"""sigmas either side of a level within which single points ordinarily lie: what winsorising takes as
ordinary (STATISTICS §4.1)."""

Places = Mapping[str, Place]
Factors = Mapping[str, Mapping[str, Any]]


def change_columns(
    head: Head, plan: Plan, found: Found, decided: Mapping[str, Any] | None, places: Places
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


def _filters(change: ChangePoint, decided: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    rows = [
        {
            "name": one.name,
            "value": one.value if math.isfinite(one.value) else None,
            "limit": one.limit,
            "passed": one.passed,
        }
        for one in change.filters
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


class Part(NamedTuple):
    """Points `start` … `stop` − 1 of a window, at one level."""

    start: int
    stop: int
    level: float
    sigma: float
    because: str


def needed_jobs(plan: Plan) -> set[str]:
    """Jobs whose place `segments` and `change_columns` ask for."""
    own, jobs = plan.evaluation.own_jobs, plan.evaluation.window.job_ids
    needed = {job for found in plan.found for job in own[found.change.index - 1 : found.change.index + 1]}
    for part in _parts(plan, None, None):
        needed |= {jobs[part.start], jobs[part.stop - 1]}
    return needed


def segments(head: Head, plan: Plan, places: Places, factors: Factors) -> list[dict[str, Any]]:
    """The levels of a window, oldest first, as `SeriesState.segments` keeps them."""
    window = plan.evaluation.window
    return [
        {
            "start_job_id": window.job_ids[part.start],
            "stop_job_id": window.job_ids[part.stop - 1],
            "start_at": places[window.job_ids[part.start]].at.isoformat(),
            "stop_at": places[window.job_ids[part.stop - 1]].at.isoformat(),
            "points": part.stop - part.start,
            "level": part.level,
            "lower": part.level * math.exp(-ORDINARY_SIGMA * part.sigma),
            "upper": part.level * math.exp(ORDINARY_SIGMA * part.sigma),
            "fingerprint": window.fingerprints[part.start],
            "starts_because": part.because,
        }
        for part in _parts(plan, head, factors)
    ]


def _parts(plan: Plan, head: Head | None, factors: Factors | None) -> list[Part]:
    """Earlier environments cut where a change was kept, the newest where detection cuts it."""
    evaluation = plan.evaluation
    window = evaluation.window
    parts: list[Part] = []
    for number, stretch in enumerate(evaluation.environments):
        if number:
            before = evaluation.environments[number - 1].fingerprint
            known = factors or {}
            because = environments.why(known.get(before), known.get(stretch.fingerprint))
        else:
            because = environments.FIRST if window.whole else f"the last {len(window)} points begin"
        newest = number == len(evaluation.environments) - 1
        cuts = _newest_cuts(plan, head) if newest else _kept_cuts(plan, head, stretch.start, stretch.stop)
        bounds = [stretch.start, *cuts, stretch.stop]
        for at, (start, stop) in enumerate(pairwise(bounds)):
            parts.append(_part(window.values[start:stop], start, stop, cuts[start] if at else because))
    return parts


def _newest_cuts(plan: Plan, head: Head | None) -> dict[int, str]:
    """Where detection cuts the newest environment → why."""
    offset = plan.evaluation.offset
    return {offset + one.index: _words(head, one) for one in plan.evaluation.found}


def _kept_cuts(plan: Plan, head: Head | None, start: int, stop: int) -> dict[int, str]:
    """Where an earlier environment was cut while it was the newest → why."""
    jobs = plan.evaluation.window.job_ids
    index = {job_id: at for at, job_id in enumerate(jobs[start:stop], start)} if plan.kept else {}
    found = {}
    for row in sorted(plan.kept, key=lambda one: index.get(one.job_id, -1)):
        at = index.get(row.job_id, start)
        if at > start:
            found[at] = "" if head is None else change_words(
                row.direction, row.effect, row.level_before, row.level_after, head.unit
            )  # fmt: skip
    return found


def _words(head: Head | None, change: ChangePoint) -> str:
    if head is None:
        return ""
    direction = direction_word(change.effect, head.unit, head.direction)
    return change_words(direction, change.effect, change.level_before, change.level_after, head.unit)


def _part(values: Sequence[float], start: int, stop: int, because: str) -> Part:
    own = np.asarray(values, dtype=np.float64)
    level = float(np.median(own))
    if level <= 0.0 or bool((own <= 0.0).any()):
        return Part(start, stop, level, 0.0, because)
    logs = np.log(own)
    sigma = 1.4826 * float(np.median(np.abs(logs - np.median(logs))))
    return Part(start, stop, level, sigma, because)
