"""At which level was the series, and where did it move? The exact posterior of a piecewise constant signal.

Place: between `changepoint` (which decides) and `residuals` (how the host scatters). Model: the logarithm of
a value is level + residual; the level stays, or with probability `change_rate` per point jumps to any level
of a grid; residuals come from the series's own density. All 2ⁿ segmentations are summed by two passes of the
forward recursion (Rabiner 1989), O(n · levels) because a jump forgets where it came from. The chain is
reversible, so the backward pass is the forward pass over the reversed series.

       values ─▶ scale, grid ─▶ ┌ posterior of the level ─▶ residuals ─▶ density, dependence ┐ ─▶ P(step at t)
                                └──────────────────────── `fits` times ◀─────────────────────┘

Dependence: points of one host afternoon are not independent witnesses. The likelihood is tempered by the
long-run variance of the residuals' scores over their variance (the magnitude adjustment of composite
likelihoods, Ribatet, Cooley & Davison 2012), so AR(1) noise or repeated blocks do not look like steps.
Deliberately decides nothing: `changepoint` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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


def _predictive(likely: Floats, jump: float, out: Floats) -> None:
    """Weight of every level before its point is seen, both ways at once; shapes (n, 2, levels), each row up
    to a factor.

    Reading `[:, 0]` walks the series forward and `[:, 1]` backward: one pass of the loop costs as much for
    two rows as for one.
    """
    buffer, jumps = np.empty(likely.shape[1:]), np.full(likely.shape[2], jump)
    arrived = np.empty(2)
    column = arrived[:, None]
    out[0] = 1.0 / likely.shape[2]
    for t, (now, seen, following) in enumerate(zip(out[:-1], likely[:-1], out[1:], strict=True), 1):
        np.multiply(now, seen, out=buffer)
        np.dot(buffer, jumps, out=arrived)
        np.add(buffer, column, out=following)
        if t % RENORMALISE == 0:
            np.divide(following, column, out=following)


def _dependence(residual: Floats, scale: float, lags: int) -> float:
    score = np.clip(residual / scale, -SCORE_CLIP, SCORE_CLIP)
    score = score - score.mean()
    power = float(score.dot(score))
    if power <= 0.0:
        return 1.0
    shared = sum(float(score[lag:].dot(score[:-lag])) for lag in range(1, lags + 1))
    return min(MAX_DEPENDENCE, max(1.0, 1.0 + 2.0 * shared / power))


def posterior(x: Floats, parameters: Parameters) -> Posterior:
    """Where the logarithms `x` (n ≥ 3) step, with density and dependence fitted to them."""
    scale = noise_scale(x, parameters.scale_floor)
    grid = _grid(x - x[0], scale) + x[0]
    jump = parameters.change_rate / (1.0 - parameters.change_rate) / grid.size
    place = residuals.bins(x[:, None] - grid, scale)
    weights = residuals.before_data()
    few = 1.0 + parameters.small_sample / x.size
    dependence, tempering = 1.0, parameters.first_tempering
    both = np.empty((place.shape[0], 2, place.shape[1]))
    before = np.empty_like(both)
    forward, backward = before[:, 0], before[::-1, 1]
    for fit in range(int(parameters.fits) + 1):
        likely = residuals.likelihood(weights, tempering)[place]
        both[:, 0], both[:, 1] = likely, likely[::-1]
        _predictive(both, jump, before)
        if fit == int(parameters.fits):
            break
        level = forward * likely * backward
        level /= level.sum(axis=1, keepdims=True)
        dependence = _dependence(x - level @ grid, scale, int(parameters.dependence_lags))
        tempering = parameters.tempering * dependence * few
        weights = residuals.fitted(weights, residuals.mass(place, level), parameters)
    forward *= likely
    forward /= forward.sum(axis=1, keepdims=True)
    step = _steps(grid, forward, likely * backward, jump, math.log1p(parameters.min_step))
    return Posterior(step, scale, dependence)


def _steps(grid: Floats, before: Floats, after: Floats, jump: float, least: float) -> Floats:
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
