"""Filters candidate change points (stats/README.md §4.4).

Every number is computed from the two adjacent segments in log units, so that it can be checked by hand from the
points on the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from paceline_server.stats.history import ChangeFilter, ChangePoint, Parameters
from paceline_server.stats.ranktests import mann_whitney_p, shift_interval
from paceline_server.stats.samples import Floats, median

NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class StepCandidate:
    """An index that the model proposes, with the probability of a step in the window around it."""

    index: int
    probability: float
    location: tuple[int, int]


def scatter(x: Floats) -> float:
    """Return the sigma of log values: 1.4826 · MAD."""
    return 1.4826 * median(np.abs(x - median(x)))


def judge_candidate(
    x: Floats,
    bounds: tuple[int, int],
    candidate: StepCandidate,
    dependence: float,
    parameters: Parameters,
) -> ChangePoint:
    """Judge a candidate by the two segments between `bounds`."""
    (start, stop), index = bounds, candidate.index
    before, after = x[start:index], x[index:stop]
    suspect = stop == x.size and after.size < parameters.confirm_points
    near = int(parameters.side_points)
    p_value = _p_value(before[-near:], after[:near], dependence)
    level_before, level_after = median(before), median(after)
    shift = level_after - level_before
    in_sigma = _effect_in_sigma(shift, before, after)
    points_after = 1.0 if suspect else parameters.points_a_side
    at_edge = (start == 0 and before.size < parameters.edge_points) or (
        stop == x.size and after.size < parameters.edge_points
    )
    max_p = parameters.edge_max_p if at_edge else parameters.max_p
    if suspect:
        max_p = max(max_p, _smallest_p(before[-near:].size, after.size))
    least = math.log1p(parameters.min_effect)
    effect = math.expm1(shift)
    filters = (
        _require_at_least("points_before", before.size, parameters.points_a_side),
        _require_at_least("points_after", after.size, points_after),
        _require_at_least(
            "probability",
            candidate.probability,
            parameters.edge_probability if at_edge else parameters.min_probability,
        ),
        ChangeFilter(
            "effect",
            abs(effect),
            parameters.min_effect,
            abs(shift) >= least * (1.0 - 1e-9),
        ),
        ChangeFilter("p_value", p_value, max_p, p_value <= max_p),
        _require_at_least("shift_in_sigma", in_sigma, parameters.min_shift_sigma),
    )
    return ChangePoint(
        index,
        "suspect" if suspect else "confirmed",
        math.exp(level_before),
        math.exp(level_after),
        effect,
        _interval(
            before[-near:], after[:near], shift, dependence, parameters.confidence
        ),
        candidate.location,
        p_value,
        before.size,
        after.size,
        filters,
    )


def _require_at_least(name: str, value: float, limit: float) -> ChangeFilter:
    return ChangeFilter(name, float(value), float(limit), value >= limit)


def _effect_in_sigma(shift: float, before: Floats, after: Floats) -> float:
    """Return |shift| ÷ pooled sigma of both sides; capped, because JSON has no infinity."""
    weighted = before.size * scatter(before) ** 2 + after.size * scatter(after) ** 2
    pooled = math.sqrt(weighted / (before.size + after.size))
    return min(abs(shift) / pooled, 1e6) if pooled > 0.0 else (1e6 if shift else 0.0)


def _p_value(before: Floats, after: Floats, dependence: float) -> float:
    """Return the p-value of Mann-Whitney, with the number of points divided by the dependence."""
    p_value = mann_whitney_p(before, after)
    if dependence <= 1.0 or not 0.0 < p_value < 1.0:
        return p_value
    z = -NORMAL.inv_cdf(p_value / 2.0) / math.sqrt(dependence)
    return math.erfc(z / math.sqrt(2.0))


def _smallest_p(before: int, after: int) -> float:
    """Return the two-sided p-value of complete separation, the smallest possible."""
    return 2.0 / math.comb(before + after, after)


def _interval(
    before: Floats, after: Floats, shift: float, dependence: float, confidence: float
) -> tuple[float, float]:
    """Return the interval of the effect."""
    low, high = shift_interval(before, after, confidence, dependence)
    return math.expm1(min(low, shift)), math.expm1(max(high, shift))
