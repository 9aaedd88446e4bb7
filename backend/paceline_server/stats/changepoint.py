"""History: where did a series step? STATISTICS §4.

Place: after `series`, before `alerts`. Invariant: a pure function of the values and the parameters; same
input, same bits. Deliberately knows no artifact, fingerprint or sibling: causes are others' question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from paceline_server.stats.history import (
    DEFAULT,
    ChangePoint,
    Confidence,
    Filter,
    Parameters,
    Segment,
    Segmentation,
)
from paceline_server.stats.ranktests import mann_whitney_p
from paceline_server.stats.samples import Floats

__all__ = [
    "DEFAULT", "METHOD", "ChangePoint", "Filter", "Parameters", "Segment", "Segmentation", "detect", "stands",
]  # fmt: skip

METHOD = "kernel-rbf/1"


def detect(
    values: Sequence[float] | NDArray[np.float64], *, parameters: Parameters = DEFAULT
) -> Segmentation:
    """Steps of a series of positive values, oldest first; only the last `max_points` are looked at."""
    y = np.asarray(values, dtype=np.float64).ravel()
    first = max(0, y.size - int(parameters.max_points))
    y = y[first:]
    unusable = _unusable(y, parameters)
    if unusable:
        return Segmentation((), (), (), (), METHOD, parameters.to_mapping(), unusable)
    x = np.log(y)
    bounds = _segment(_winsorise(x), parameters.penalty)
    bounds = [0, *(_refine(x, b, bounds) for b in bounds[1:-1]), y.size]
    rejected: list[ChangePoint] = []
    while len(bounds) > 2:
        judged = [_judge(x, bounds, k, first, parameters) for k in range(1, len(bounds) - 1)]
        weak = [(_strength(c), k) for k, c in enumerate(judged, 1) if not all(f.passed for f in c.filters)]
        if not weak:
            break
        _, k = min(weak)
        rejected.append(judged[k - 1])
        del bounds[k]
    standing = [_judge(x, bounds, k, first, parameters) for k in range(1, len(bounds) - 1)]
    return Segmentation(
        tuple(c for c in standing if c.confidence == "confirmed"),
        tuple(c for c in standing if c.confidence == "suspect"),
        tuple(rejected),
        tuple(_segment_of(x, a, b, first) for a, b in pairwise(bounds)),
        METHOD,
        parameters.to_mapping(),
    )


def stands(previous: Sequence[int], now: Sequence[int], *, within: int = 2) -> tuple[int, ...]:
    """Indexes of `now` that the evaluation before it also named, give or take `within` points (§4.5)."""
    return tuple(index for index in now if any(abs(index - before) <= within for before in previous))


def _unusable(y: Floats, parameters: Parameters) -> str:
    if y.size < parameters.min_points:
        return f"{y.size} points; history needs {int(parameters.min_points)}"
    if not bool(np.all(np.isfinite(y) & (y > 0.0))):
        return "values that are zero, negative or not finite have no ratio to their neighbours"
    return ""


def _winsorise(x: Floats) -> Floats:
    padded = np.pad(x, 5, mode="edge")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 11), axis=1)
    reach = 3.0 * 1.4826 * float(np.median(np.abs(x - middle)))
    return np.clip(x, middle - reach, middle + reach)


def _segment(x: Floats, penalty: float) -> list[int]:
    """Optimal partition under the kernel cost with a penalty per segment, minimum size 3."""
    n, size = x.size, 3
    distance = (x[:, None] - x[None, :]) ** 2
    typical = float(np.median(distance))
    gram = np.exp(-np.minimum(distance / typical, 100.0)) if typical > 0 else np.ones_like(distance)
    total = np.zeros((n + 1, n + 1))
    total[1:, 1:] = gram.cumsum(0).cumsum(1)
    diagonal = np.diagonal(total)
    best, previous = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.int64)
    best[0] = 0.0
    for stop in range(size, n + 1):
        starts = np.arange(0, stop - size + 1)
        inside = total[stop, stop] - 2.0 * total[stop, starts] + diagonal[starts]
        cost = best[starts] + (stop - starts) - inside / (stop - starts) + penalty * math.log(n)
        previous[stop] = int(np.argmin(cost))
        best[stop] = cost[previous[stop]]
    bounds = [n]
    while bounds[-1] > 0:
        bounds.append(int(previous[bounds[-1]]))
    return bounds[::-1]


def _refine(x: Floats, bound: int, bounds: list[int]) -> int:
    k = bounds.index(bound)
    low, high = bounds[k - 1], bounds[k + 1]

    def cost(at: int) -> float:
        return float(sum(np.abs(part - np.median(part)).sum() for part in (x[low:at], x[at:high])))

    return min(range(max(low + 1, bound - 4), min(high - 1, bound + 4) + 1), key=cost)


def _sigma(x: Floats) -> float:
    return 1.4826 * float(np.median(np.abs(x - np.median(x))))


def _segment_of(x: Floats, start: int, stop: int, first: int) -> Segment:
    part = x[start:stop]
    return Segment(first + start, first + stop, math.exp(float(np.median(part))), _sigma(part))


def _strength(change: ChangePoint) -> float:
    return -change.p_value


def _judge(x: Floats, bounds: list[int], k: int, first: int, parameters: Parameters) -> ChangePoint:
    low, at, high = bounds[k - 1], bounds[k], bounds[k + 1]
    before, after = x[low:at], x[at:high]
    n_before, n_after = at - low, high - at
    shift = float(np.median(after) - np.median(before))
    pooled = math.sqrt((n_before * _sigma(before) ** 2 + n_after * _sigma(after) ** 2) / (n_before + n_after))
    p_value = mann_whitney_p(before[-30:], after[:30])
    in_sigma = abs(shift) / pooled if pooled > 0 else (math.inf if shift else 0.0)
    last = high == x.size
    confidence: Confidence = "suspect" if last and n_after < parameters.confirm_points else "confirmed"
    side = parameters.points_a_side
    filters = (
        Filter("points_before", n_before, side, n_before >= side),
        Filter("points_after", n_after, side, n_after >= side),
        Filter(
            "effect", abs(math.expm1(shift)), parameters.min_effect,
            abs(shift) >= math.log1p(parameters.min_effect),
        ),
        Filter("p_value", p_value, parameters.max_p, p_value <= parameters.max_p),
        Filter(
            "shift_in_sigma", in_sigma, parameters.min_shift_sigma, in_sigma >= parameters.min_shift_sigma
        ),
    )  # fmt: skip
    error = 2.576 * 1.2533 * math.sqrt(_sigma(before) ** 2 / n_before + _sigma(after) ** 2 / n_after)
    return ChangePoint(
        first + at, confidence, math.exp(float(np.median(before))), math.exp(float(np.median(after))),
        math.expm1(shift), (math.expm1(shift - error), math.expm1(shift + error)),
        (first + max(low + 1, at - 2), first + min(high - 1, at + 2)), p_value, n_before, n_after, filters,
    )  # fmt: skip
