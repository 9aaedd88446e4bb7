"""Computes the exact posterior of a piecewise constant signal: its level, and where it
moved.

Model: the logarithm of a value is level + residual; the level stays, or with
probability `change_rate` per point jumps to any level of a grid; residuals come from
the series's own density (`residuals`). All 2ⁿ segmentations are summed by two passes of
the forward recursion (Rabiner 1989), O(n · levels) because a jump forgets where it came
from. The chain is reversible, so the backward pass is the forward pass over the
reversed series.

       values ─▶ scale, grid ─▶ ┌ posterior of the level ─▶ residuals ─▶ density, dependence ┐ ─▶ P(step at t)
                                └──────────────────────── `fits` times ◀─────────────────────┘

Dependence: points measured on one host in one afternoon are not independent. The
likelihood is tempered by the long-run variance of the residuals' scores over their
variance (the magnitude adjustment of composite likelihoods, Ribatet, Cooley & Davison
2012), so that AR(1) noise or repeated blocks do not look like steps. `changepoint`
decides.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paceline_server.stats import residuals
from paceline_server.stats.history import Parameters
from paceline_server.stats.samples import Floats, median

CELLS_PER_SCALE = 6
"""grid cells per scale: a level is then at most a twelfth of a scale off, 0.3 % of its information."""

MAX_LEVELS = 240
"""grid cells; a coarser grid is used beyond, so that time stays linear in the points."""

COARSE = 8.0
"""scales between neighbours a quarter of which are farther apart; wider only where most values repeat
exactly, and there it keeps the values' own raster within the density's reach."""

RENORMALISE = 32
"""points between rescalings: each can shrink the numbers by 10⁻⁶ at worst, and doubles reach 10⁻³⁰⁸."""

SCORE_CLIP = 2.0
"""scales at which a residual's score stops growing (Huber): outliers say nothing about dependence."""

LANES = 8
"""levels are padded to a multiple: series of like size share a loop, and none adds up in another order than
alone."""

SERIES_PER_PASS = 16
"""series in one loop: the interpreter's share is then small, and their numbers stay in the second cache."""

MAX_DEPENDENCE = 4.0
"""ratio; beyond it (AR(1) above 0.6) the series wanders and no tempering makes steps of it."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """`step[t]`: probability that a step of at least the minimum begins at point t. `scale`: of the core, in
    log units. `dependence`: long-run over plain variance of the residuals, at least 1."""

    step: Floats
    scale: float
    dependence: float


def noise_scale(x: Floats, floor: float) -> float:
    """Scatter of the core in log units, from neighbours and from the whole: steps inflate the second."""
    apart = np.abs(np.diff(x))
    neighbours = 1.4826 / math.sqrt(2.0) * median(apart)
    whole = 1.4826 * median(np.abs(x - median(x)))
    coarse = float(np.quantile(apart, 0.75)) / COARSE
    return max(min(neighbours, whole), coarse, floor)


def _grid(x: Floats, scale: float) -> Floats:
    """Levels worth asking about: cells near which three neighbours had their median."""
    padded = np.pad(x, 1, mode="edge")
    smooth = np.sort(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)[1]
    cell = scale / CELLS_PER_SCALE
    while True:
        cells = np.unique(np.rint(smooth / cell))
        if cells.size <= MAX_LEVELS:
            return np.asarray(cells * cell, dtype=np.float64)
        cell *= 1.25


class _Pass(NamedTuple):
    """What a series asks of `_predictive`: likelihoods (points, 2, padded levels), both ways, and odds."""

    likely: Floats
    jump: float


def _predictive(likely: Floats, jump: Floats) -> Floats:
    """Weight of every level before its point is seen, both ways at once; each row up to a factor.

    `likely` and the result have the shape (points, series, 2, levels), `jump` (series, 1, 1). Reading
    `[..., 0, :]` walks a series forward and `[..., 1, :]` backward: a pass of the loop costs nearly as much
    for many rows as for one, and no row depends on its neighbours.
    """
    out = np.empty_like(likely)
    buffer, arrived = np.empty(likely.shape[1:]), np.empty((*likely.shape[1:3], 1))
    out[0] = 1.0
    for t, (now, seen, following) in enumerate(
        zip(out[:-1], likely[:-1], out[1:], strict=True), 1
    ):
        np.multiply(now, seen, out=buffer)
        np.add.reduce(buffer, axis=2, keepdims=True, out=arrived)
        np.multiply(arrived, jump, out=arrived)
        np.add(buffer, arrived, out=following)
        if t % RENORMALISE == 0:
            np.divide(following, arrived, out=following)
    return out


def _run_passes(asked: Sequence[_Pass]) -> Generator[Floats]:
    """The passes of one shape, answered in their order; a few at once."""
    for first in range(0, len(asked), SERIES_PER_PASS):
        some = asked[first : first + SERIES_PER_PASS]
        jump = np.array([pass_.jump for pass_ in some])[:, None, None]
        weights = _predictive(np.stack([pass_.likely for pass_ in some], axis=1), jump)
        for number in range(len(some)):
            yield np.ascontiguousarray(weights[:, number])


def _dependence(residual: Floats, scale: float, lags: int) -> float:
    score = np.clip(residual / scale, -SCORE_CLIP, SCORE_CLIP)
    score = score - score.mean()
    power = float(score.dot(score))
    if power <= 0.0:
        return 1.0
    shared = sum(float(score[lag:].dot(score[:-lag])) for lag in range(1, lags + 1))
    return min(MAX_DEPENDENCE, max(1.0, 1.0 + 2.0 * shared / power))


def posteriors(series: Sequence[Floats], parameters: Parameters) -> list[Posterior]:
    """Where each of these logarithms (n ≥ 3) steps, with density and dependence fitted to it.

    What a series is answered does not depend on the others: they only share the interpreter's work.
    """
    fits = [_fit_posterior(x, parameters) for x in series]
    found: dict[int, Posterior] = {}
    waiting = {number: next(fit) for number, fit in enumerate(fits)}
    while waiting:
        alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number, asked in waiting.items():
            alike[asked.likely.shape].append(number)
        following: dict[int, _Pass] = {}
        for numbers in alike.values():
            answers = _run_passes([waiting[number] for number in numbers])
            for number, weights in zip(numbers, answers, strict=True):
                try:
                    following[number] = fits[number].send(weights)
                except StopIteration as ended:
                    found[number] = ended.value
        waiting = following
    return [found[number] for number in range(len(series))]


def _fit_posterior(
    x: Floats, parameters: Parameters
) -> Generator[_Pass, Floats, Posterior]:
    """One series's posterior; asks for a pass per fit and is sent its weights."""
    scale = noise_scale(x, parameters.scale_floor)
    grid = _grid(x - x[0], scale) + x[0]
    jump = parameters.change_rate / (1.0 - parameters.change_rate) / grid.size
    place = residuals.bin_residuals(x[:, None] - grid, scale)
    weights = residuals.prior_weights()
    few = 1.0 + parameters.small_sample / x.size
    dependence, tempering = 1.0, parameters.first_tempering
    for fit in range(int(parameters.fits) + 1):
        likely = residuals.likelihood(weights, tempering)[place]
        both = np.zeros((x.size, 2, -(-grid.size // LANES) * LANES))
        both[:, 0, : grid.size], both[:, 1, : grid.size] = likely, likely[::-1]
        before = yield _Pass(both, jump)
        forward, backward = before[:, 0, : grid.size], before[::-1, 1, : grid.size]
        if fit == int(parameters.fits):
            break
        level = forward * likely * backward
        level /= level.sum(axis=1, keepdims=True)
        dependence = _dependence(
            x - level @ grid, scale, int(parameters.dependence_lags)
        )
        tempering = parameters.tempering * dependence * few
        weights = residuals.fit_weights(
            weights, residuals.bin_mass(place, level), parameters
        )
    forward = forward * likely
    forward /= forward.sum(axis=1, keepdims=True)
    step = _steps(
        grid, forward, likely * backward, jump, math.log1p(parameters.min_step)
    )
    return Posterior(step, scale, dependence)


def _steps(
    grid: Floats, before: Floats, after: Floats, jump: float, least: float
) -> Floats:
    """P(a jump of at least `least` between t − 1 and t), shape (n,); `before` is normalised per point."""
    left = np.searchsorted(grid, grid - least * (1.0 - 1e-9), side="right")
    right = np.searchsorted(grid, grid + least * (1.0 - 1e-9), side="left")
    below = np.zeros((grid.size + 1, before.shape[0]))
    np.cumsum(before.T, axis=0, out=below[1:])
    far = (1.0 - (below[right] - below[left])).T
    moved = jump * np.einsum("ij,ij->i", far[:-1], after[1:])
    stayed = np.einsum("ij,ij->i", before[:-1], after[1:])
    anywhere = jump * after[1:].sum(axis=1)
    step = np.zeros(before.shape[0])
    step[1:] = moved / (stayed + anywhere)
    return step
