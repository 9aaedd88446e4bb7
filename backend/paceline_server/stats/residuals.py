"""Fits the density of a series's residuals.

Residuals of benchmark hosts have a sharp core, wide outliers, second modes and repeated values. The density is
therefore a mixture with fixed places and widths, of which only the weights are fitted, so the fit is convex:
widths in powers of two around zero (Stephens 2017, `ash`) and narrow bumps away from zero (nonparametric maximum
likelihood, Kiefer & Wolfowitz 1956). Everything is in units of the series's own scale.
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
"""Scales on either side; residuals are clipped to it. Second modes of benchmarks lie within."""

WIDTHS = tuple(2.0**power for power in range(-3, 6))
"""Scales; from exactly repeated values to disturbances of 32 scales."""

START = (0.02, 0.05, 0.10, 0.40, 0.20, 0.10, 0.06, 0.04, 0.03)
"""Return the prior weights of WIDTHS: a core of one scale with the tail of a typical host."""

BUMP_WIDTH = 0.6
"""Scales; bumps are one scale apart, so together they can fit any smooth second mode."""

BUMP_START = 0.05
"""Prior weight of all bumps together."""

FLOOR = 1e-4
"""Minimum density per scale, for values that no component explains."""

FIT_ROUNDS = 15
"""Rounds of expectation-maximisation per fit; further rounds move the weights by less than a percent."""


@lru_cache(maxsize=1)
def _components() -> tuple[Floats, Floats]:
    """Return the densities of all components in the bins, shape (components, bins), and their prior weights."""
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
    """Return the bin of each residual, in the same shape."""
    reach = REACH * STEPS_PER_SCALE
    scaled = np.rint(residuals * (STEPS_PER_SCALE / scale))
    np.clip(scaled, -reach, reach, out=scaled)
    scaled += reach
    return scaled.astype(np.intp)


def bin_mass(place: Ints, share: Floats) -> Floats:
    """Return the mass of residuals per bin, residual (t, l) counting as `share[t, l]`."""
    size = 2 * REACH * STEPS_PER_SCALE + 1
    return np.bincount(place.ravel(), weights=share.ravel(), minlength=size).astype(
        np.float64
    )


def prior_weights() -> Floats:
    """Return the prior weights of the components."""
    return _components()[1]


def fit_weights(weights: Floats, mass: Floats, parameters: Parameters) -> Floats:
    """Fit weights to the residuals per bin, with `noise_prior_points` of the prior as pseudo data."""
    density, start = _components()
    used = np.flatnonzero(
        mass
    )  # most bins are empty, and every round reads the whole table
    density, mass = density[:, used], mass[used]
    core = len(WIDTHS)
    prior = np.zeros_like(start)
    prior[:core] = np.asarray(START) * parameters.noise_prior_points
    mixed, share, weights = np.empty(used.size), np.empty_like(start), weights.copy()
    for _ in range(
        FIT_ROUNDS
    ):  # weights * (density @ (seen / (weights @ density + FLOOR))) + prior
        np.dot(weights, density, out=mixed)
        mixed += FLOOR
        np.divide(mass, mixed, out=mixed)
        np.dot(density, mixed, out=share)
        weights *= share
        weights += prior
        weights /= np.add.reduce(weights)
    return weights


def likelihood(weights: Floats, dependence: float) -> Floats:
    """Return the likelihood of a residual in each bin, at most 1, tempered by 1 / dependence."""
    density, _ = _components()
    log = np.log(weights @ density + FLOOR)
    return np.asarray(np.exp((log - log.max()) / dependence), dtype=np.float64)
