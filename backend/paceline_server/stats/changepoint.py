"""Finds the steps in a series (STATISTICS §4), with an exact posterior instead of a kernel
cost.

A pure function of the values and the parameters: `levels` proposes places, `evidence`
filters them. Whether two evaluations agree is `stands`; the caller remembers the
previous one.

        P(step at t) ─▶ windows of ± 5 with the most probability, one after the other ─▶ candidates
        candidates ─▶ filters, the weakest that fails leaves, the others are judged again ─▶ steps
                                              1–4 points after: suspect     5 and more: confirmed
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from paceline_server.stats.evidence import StepCandidate, judge_candidate, scatter
from paceline_server.stats.history import (
    DEFAULT,
    ChangeFilter,
    ChangePoint,
    Parameters,
    Segment,
    Segmentation,
)
from paceline_server.stats.levels import Posterior, posteriors
from paceline_server.stats.samples import Floats, median

__all__ = [
    "DEFAULT",
    "METHOD",
    "ChangeFilter",
    "ChangePoint",
    "Parameters",
    "Segment",
    "Segmentation",
    "detect",
    "detect_each",
    "is_standing",
]

METHOD = "level-posterior/1"

STAND_WITHIN = 2
"""points by which two evaluations may place one step apart and still agree. §4.5"""

NEARER = 0.02
"""weight of nearness among windows with the same probability: it settles ties and moves nothing else."""


def detect(
    values: Sequence[float] | NDArray[np.float64], *, parameters: Parameters = DEFAULT
) -> Segmentation:
    """Steps of a series of positive values, oldest first; only the last `max_points` are looked at."""
    return detect_each([values], parameters=parameters)[0]


def detect_each(
    series: Sequence[Sequence[float] | NDArray[np.float64]],
    *,
    parameters: Parameters = DEFAULT,
) -> list[Segmentation]:
    """`detect` of every series, to the bit as if alone, in about half the time. Memory grows with their
    number, a quarter of a megabyte each at 200 points: a caller of thousands takes them in turns."""
    whole = [np.asarray(values, dtype=np.float64).ravel() for values in series]
    recent = [y[max(0, y.size - int(parameters.max_points)) :] for y in whole]
    unusable = [_unusable(y, parameters) for y in recent]
    logarithms = [
        np.log(y) for y, reason in zip(recent, unusable, strict=True) if not reason
    ]
    found = iter(posteriors(logarithms, parameters))
    usable = iter(logarithms)
    return [
        Segmentation((), (), (), (), METHOD, parameters.to_mapping(), reason)
        if reason
        else _segmented(next(usable), next(found), y.size - own.size, parameters)
        for y, own, reason in zip(whole, recent, unusable, strict=True)
    ]


def _segmented(
    x: Floats, found: Posterior, first: int, parameters: Parameters
) -> Segmentation:
    """What stands of a posterior once the filters have judged it; `first`: values that were left out."""
    standing = _candidates(found.step, parameters)
    rejected: list[ChangePoint] = []
    while True:
        judged = _filter_candidates(x, standing, found.dependence, parameters)
        refused = [
            k
            for k, change in enumerate(judged)
            if not all(f.passed for f in change.filters)
        ]
        if not refused:
            break
        weakest = min(refused, key=lambda k: (standing[k].probability, k))
        rejected.append(_moved(judged[weakest], first))
        del standing[weakest]
    changes = [_moved(change, first) for change in judged]
    bounds = [0, *(candidate.index for candidate in standing), x.size]
    return Segmentation(
        tuple(change for change in changes if change.confidence == "confirmed"),
        tuple(change for change in changes if change.confidence == "suspect"),
        tuple(sorted(rejected, key=lambda change: change.index)),
        tuple(_segment(x, start, stop, first) for start, stop in pairwise(bounds)),
        METHOD,
        parameters.to_mapping(),
        dependence=found.dependence,
    )


def is_standing(
    previous: Sequence[int], now: Sequence[int], *, within: int = STAND_WITHIN
) -> tuple[int, ...]:
    """Indexes of `now` that the evaluation before it also named, give or take `within` points (§4.5)."""
    return tuple(
        index
        for index in now
        if any(abs(index - before) <= within for before in previous)
    )


def _unusable(y: Floats, parameters: Parameters) -> str:
    if y.size < parameters.min_points:
        return f"{y.size} points; history needs {int(parameters.min_points)}"
    if not bool(np.all(np.isfinite(y) & (y > 0.0))):
        return "values that are zero, negative or not finite have no ratio to their neighbours"
    return ""


def _candidates(step: Floats, parameters: Parameters) -> list[StepCandidate]:
    """Windows that hold a step with some probability, by index; each takes its probability with it.

    The index has the most probability within ± `window`; among equals, the most within half of it, and so on.
    """
    reach = int(parameters.window)
    left = step.copy()
    tent = np.concatenate([np.arange(1, reach + 2), np.arange(reach, 0, -1)]) / (
        reach + 1.0
    )
    box = np.ones(2 * reach + 1)
    found: list[StepCandidate] = []
    while True:
        mass = np.convolve(left, box)[reach : reach + left.size]
        place = mass + NEARER * np.convolve(left, tent)[reach : reach + left.size]
        place[0] = 0.0
        index = int(np.argmax(place))
        probability = min(1.0, float(mass[index]))
        if probability < parameters.min_probability / 2.0:
            break
        found.append(
            StepCandidate(
                index, round(probability, 4), _location(step, index, reach, parameters)
            )
        )
        left[max(0, index - reach) : index + reach + 1] = 0.0
    return sorted(found, key=lambda candidate: candidate.index)


def _location(
    step: Floats, index: int, reach: int, parameters: Parameters
) -> tuple[int, int]:
    """The shortest run of indexes around `index` with enough of the probability within twice the window."""
    low, high = max(1, index - 2 * reach), min(step.size - 1, index + 2 * reach)
    enough = parameters.location_mass * float(step[low : high + 1].sum())
    start = stop = index
    while float(step[start : stop + 1].sum()) < enough and (start > low or stop < high):
        before = step[start - 1] if start > low else -1.0
        after = step[stop + 1] if stop < high else -1.0
        start, stop = (start - 1, stop) if before > after else (start, stop + 1)
    return start, stop


def _filter_candidates(
    x: Floats, standing: list[StepCandidate], dependence: float, parameters: Parameters
) -> list[ChangePoint]:
    bounds = [0, *(candidate.index for candidate in standing), x.size]
    return [
        judge_candidate(
            x, (bounds[k], bounds[k + 2]), candidate, dependence, parameters
        )
        for k, candidate in enumerate(standing)
    ]


def _moved(change: ChangePoint, first: int) -> ChangePoint:
    """The same step counted from the first value that was given, not the first that was looked at."""
    if first == 0:
        return change
    low, high = change.location
    return ChangePoint(
        first + change.index,
        change.confidence,
        change.level_before,
        change.level_after,
        change.effect,
        change.interval,
        (first + low, first + high),
        change.p_value,
        change.n_before,
        change.n_after,
        change.filters,
    )


def _segment(x: Floats, start: int, stop: int, first: int) -> Segment:
    part = x[start:stop]
    return Segment(first + start, first + stop, math.exp(median(part)), scatter(part))
