"""Computes the exact posterior of a piecewise constant signal: its level, and where it changed.

Model: the logarithm of a value is level + residual; per point, the level jumps to any level of a grid with
probability `change_rate`; residuals have the series's own density (`residuals`). The forward recursion sums all
2ⁿ segmentations (Rabiner 1989) in O(n · levels), because a jump does not depend on the level before. The chain
is reversible, so the backward pass is the forward pass over the reversed series.

       values ─▶ scale, grid ─▶ ┌ posterior of the level ─▶ residuals ─▶ density, dependence ┐ ─▶ P(step at t)
                                └──────────────────────── `fits` times ◀─────────────────────┘

Dependence: neighbouring points are not independent. The likelihood is tempered by the long-run variance of the
residuals' scores over their variance (the magnitude adjustment of composite likelihoods, Ribatet, Cooley &
Davison 2012), so that AR(1) noise or repeated blocks do not look like steps.
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
"""Grid cells per scale: a level is at most a twelfth of a scale off, 0.3 % of its information."""

MAX_LEVELS = 240
"""Maximum grid cells; beyond, a coarser grid is used so that time stays linear in the points."""

COARSE = 8.0
"""Maximum scales in the upper quartile of neighbours' distances. It matters only if most values repeat exactly,
and then keeps their raster within the density's reach."""

RENORMALISE = 32
"""Points per rescaling of the weights: a point shrinks the numbers by at most 10⁻⁶, and doubles reach 10⁻³⁰⁸."""

SCORE_CLIP = 2.0
"""Scales at which a residual's score is clipped (Huber), as outliers do not inform about dependence."""

LANES = 8
"""Levels are padded to a multiple of this, so that series of similar size share a loop with results bit-identical
to those alone."""

SERIES_PER_PASS = 16
"""Series per loop: the interpreter's share is small, and the numbers fit the second-level cache."""

MAX_DEPENDENCE = 4.0
"""Maximum ratio; beyond (AR(1) above 0.6) the series wanders and has no steps."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """`step[t]`: probability of a step of at least the minimum size at point t. `scale` is that of the core in log
    units. `dependence`: long-run over plain variance of the residuals, at least 1."""

    step: Floats
    scale: float
    dependence: float


def noise_scale(x: Floats, floor: float) -> float:
    """Return the scatter of the core in log units, from neighbours and from all values, which steps inflate."""
    distances = np.abs(np.diff(x))
    neighbours = 1.4826 / math.sqrt(2.0) * median(distances)
    whole = 1.4826 * median(np.abs(x - median(x)))
    coarse = float(np.quantile(distances, 0.75)) / COARSE
    return max(min(neighbours, whole), coarse, floor)


def _grid(x: Floats, scale: float) -> Floats:
    """Return the levels to consider: the cells that contain a median of three neighbours."""
    padded = np.pad(x, 1, mode="edge")
    smooth = np.sort(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)[1]
    cell = scale / CELLS_PER_SCALE
    while True:
        cells = np.unique(np.rint(smooth / cell))
        if cells.size <= MAX_LEVELS:
            return np.asarray(cells * cell, dtype=np.float64)
        cell *= 1.25


class _PassRequest(NamedTuple):
    """A request for a pass: likelihoods in both directions, shape (points, 2, padded levels), and jump odds."""

    likely: Floats
    jump: float


def _predictive(likely: Floats, jump: Floats) -> Floats:
    """Return the predictive weight of every level in both directions, up to a factor per row.

    `likely` and the result have shape (points, series, 2, levels), `jump` (series, 1, 1); `[..., 0, :]` is
    forward and `[..., 1, :]` backward. Rows are independent and share the loop's overhead.
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


def _run_passes(requests: Sequence[_PassRequest]) -> Generator[Floats]:
    """Run passes of the same shape, a few at a time; yields their weights in order."""
    for first in range(0, len(requests), SERIES_PER_PASS):
        batch = requests[first : first + SERIES_PER_PASS]
        jump = np.array([request.jump for request in batch])[:, None, None]
        weights = _predictive(
            np.stack([request.likely for request in batch], axis=1), jump
        )
        for number in range(len(batch)):
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
    """Return the posterior of each series of logarithms (n ≥ 3), with density and dependence fitted to it.

    Results do not depend on the other series, which only share the interpreter's overhead.
    """
    fits = [_fit_posterior(x, parameters) for x in series]
    finished: dict[int, Posterior] = {}
    waiting = {number: next(fit) for number, fit in enumerate(fits)}
    while waiting:
        numbers_by_shape: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number, request in waiting.items():
            numbers_by_shape[request.likely.shape].append(number)
        following: dict[int, _PassRequest] = {}
        for numbers in numbers_by_shape.values():
            answers = _run_passes([waiting[number] for number in numbers])
            for number, weights in zip(numbers, answers, strict=True):
                try:
                    following[number] = fits[number].send(weights)
                except StopIteration as ended:
                    finished[number] = ended.value
        waiting = following
    return [finished[number] for number in range(len(series))]


def _fit_posterior(
    x: Floats, parameters: Parameters
) -> Generator[_PassRequest, Floats, Posterior]:
    """Fit a series's posterior; yields a request per pass and is sent its weights."""
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
        before = yield _PassRequest(both, jump)
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
    """Return P(a jump of at least `least` between t − 1 and t), shape (n,); `before` is normalised per point."""
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
