"""How a host scatters: the density of a series's residuals, fitted to that series.

Place: under `levels`. Benchmark hosts are not Gaussian: they have a sharp core, wide outliers on both sides,
second modes (another core, another memory layout) and values that repeat exactly. The density is therefore a
mixture whose places and widths are fixed and only the weights are fitted, so the fit is convex and has one
answer: widths in powers of two around zero (Stephens 2017, `ash`), and narrow bumps away from zero for second
modes (nonparametric maximum likelihood, Kiefer & Wolfowitz 1956). A uniform floor keeps one mad point from
deciding anything. Invariant: deterministic, and in units of the series's own scale, so the unit of the data
never matters. Deliberately knows no levels and no time: dependence is `levels`' business.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from paceline_server.stats.history import Parameters
from paceline_server.stats.samples import Floats, Ints

STEPS_PER_SCALE = 12
"""bins per scale of the table: a twelfth is a third of the narrowest width, so the table does not show."""

REACH = 24
"""scales either side; farther residuals count as this far. No benchmark's second mode lies beyond."""

WIDTHS = tuple(2.0**power for power in range(-3, 6))
"""scales; from values that repeat exactly to disturbances of 32 scales."""

START = (0.02, 0.05, 0.10, 0.40, 0.20, 0.10, 0.06, 0.04, 0.03)
"""weights of WIDTHS before data: a core of one scale with a tail a host is known to have."""

BUMP_WIDTH = 0.6
"""scales; bumps stand one scale apart, so together they can draw any smooth second mode."""

BUMP_START = 0.05
"""share of the weight all bumps together begin with."""

FLOOR = 1e-4
"""density per scale everywhere: what is left for values no component explains."""

FIT_ROUNDS = 15
"""rounds of expectation-maximisation per fit; the weights then move by less than a percent."""


@lru_cache(maxsize=1)
def _components() -> tuple[Floats, Floats]:
    """Densities of all components over the table, shape (components, bins), and their starting weights."""
    at = (
        np.arange(-REACH * STEPS_PER_SCALE, REACH * STEPS_PER_SCALE + 1)
        / STEPS_PER_SCALE
    )
    right = np.arange(2.0, REACH)
    bumps = np.concatenate([-right[::-1], right])
    centre = np.concatenate([np.zeros(len(WIDTHS)), bumps])
    width = np.concatenate([np.asarray(WIDTHS), np.full(bumps.size, BUMP_WIDTH)])
    density = np.exp(-0.5 * ((at - centre[:, None]) / width[:, None]) ** 2)
    density /= width[:, None] * math.sqrt(2.0 * math.pi)
    start = np.concatenate(
        [
            np.asarray(START) * (1.0 - BUMP_START),
            np.full(bumps.size, BUMP_START / bumps.size),
        ]
    )
    return density, start


def bin_residuals(residuals: Floats, scale: float) -> Ints:
    """Place of each residual in the table, same shape."""
    reach = REACH * STEPS_PER_SCALE
    scaled = np.rint(residuals * (STEPS_PER_SCALE / scale))
    np.clip(scaled, -reach, reach, out=scaled)
    scaled += reach
    return scaled.astype(np.intp)


def bin_mass(place: Ints, share: Floats) -> Floats:
    """How many residuals fell into each bin when residual (t, l) counts as `share[t, l]` of one."""
    size = 2 * REACH * STEPS_PER_SCALE + 1
    return np.bincount(place.ravel(), weights=share.ravel(), minlength=size).astype(
        np.float64
    )


def prior_weights() -> Floats:
    """Weights before any residual was seen."""
    return _components()[1]


def fit_weights(weights: Floats, seen: Floats, parameters: Parameters) -> Floats:
    """Weights after `seen` residuals per bin; `noise_prior_points` of the start are kept as pseudo
    data."""
    density, start = _components()
    used = np.flatnonzero(
        seen
    )  # most bins are empty, and every round reads the whole table
    density, seen = density[:, used], seen[used]
    core = len(WIDTHS)
    prior = np.zeros_like(start)
    prior[:core] = np.asarray(START) * parameters.noise_prior_points
    mixed, share, weights = np.empty(used.size), np.empty_like(start), weights.copy()
    for _ in range(
        FIT_ROUNDS
    ):  # weights * (density @ (seen / (weights @ density + FLOOR))) + prior
        np.dot(weights, density, out=mixed)
        mixed += FLOOR
        np.divide(seen, mixed, out=mixed)
        np.dot(density, mixed, out=share)
        weights *= share
        weights += prior
        weights /= np.add.reduce(weights)
    return weights


def likelihood(weights: Floats, dependence: float) -> Floats:
    """Likelihood of a residual in each bin, at most 1, tempered: dependent points count 1 / dependence."""
    density, _ = _components()
    log = np.log(weights @ density + FLOOR)
    return np.asarray(np.exp((log - log.max()) / dependence), dtype=np.float64)
