"""Estimates the minimum detectable effect (MDE) of a target, from an A/A job or from a series' own points.

The MDE is the smallest true effect that the rule of stats/README.md §2, with this number of launches and blocks and
this margin, calls slower with a probability of 80 %. It therefore exceeds the margin.

For a job with log-ratios d, launch medians M and an added true effect δ, §2 says slower exactly if

    δ  >  δ*  =  max( ln(1 + m) − min( d_(c), Q_10 ), min( ln(1 + m) − M_(L), ln(1 + m)/10 − Q_alpha ) )

with M_(L) the L-th largest launch median (L = ceil(0.8·K); the least where launches differ much, and then at most Q_1), d_(c)
the c-th largest block (c: the smallest count whose sign test reaches the first look's alpha), and Q the effects below
which the true one lies by the launches with 10 %, 1 % and alpha. An A/A job says how they vary with δ = 0; so

    MDE = exp( the 80 % quantile of δ* over replicates of the A/A job ) − 1

A replicate draws K launches with their blocks from the J measured, each with a random sign (swapping the
sides of an A/A job changes nothing but the sign). Launch levels are multiplied by √(J / χ²_J), because their
spread is itself estimated from J launches, and still include the noise of their blocks; both make the MDE
conservative. Later looks add power, the control of false discoveries takes some.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paceline_server.stats import constants
from paceline_server.stats.binomial import upper_tail
from paceline_server.stats.blocks import PairedBlocks
from paceline_server.stats.launch_effect import LaunchEffect, median_variances
from paceline_server.stats.paired import PairPolicy, launch_medians
from paceline_server.stats.samples import Floats, Ints

METHOD = "a-a-replicates/2"


@dataclass(frozen=True)
class NoiseFloor:
    """The noise floor of a case. `mde` is a fraction: 0.031 means 3.1 %. `launch_sigma` and `block_sigma` are the
    spread of launch levels and of blocks around their launch, in log units. `lower` and `upper` bound the ratio
    of the sides with launches as clusters, unlike the §2 interval, and should include 1."""

    mde: float
    lower: float
    upper: float
    launch_sigma: float
    block_sigma: float
    launches: int
    blocks_per_launch: int

    def evidence(self, policy: PairPolicy) -> dict[str, Any]:
        """Return everything needed to recompute the MDE, as plain JSON (I16)."""
        return {
            "method": METHOD,
            "launch_sigma": self.launch_sigma,
            "block_sigma": self.block_sigma,
            "parameters": {
                "policy": policy.as_dict(),
                "launches": self.launches,
                "blocks_per_launch": self.blocks_per_launch,
                "power": constants.NOISE_POWER,
                "replicates": constants.BOOTSTRAP_REPLICATES,
                "seed": constants.BOOTSTRAP_SEED,
            },
        }


def noise_floor(
    blocks: PairedBlocks, launches: int, policy: PairPolicy | None = None
) -> NoiseFloor | None:
    """Estimate the MDE of jobs with `launches` launches from an A/A job; None with too few blocks or launches."""
    policy = policy or PairPolicy()
    levels = launch_medians(blocks)
    if (
        levels.size < policy.min_launches
        or blocks.d.size < policy.min_blocks
        or launches < 1
    ):
        return None
    numbers = np.unique(blocks.launch)
    deviations = [
        blocks.d[blocks.launch == number] - level
        for number, level in zip(numbers, levels, strict=True)
    ]
    blocks_per_launch = max(
        1, round(float(np.median([part.size for part in deviations])))
    )
    rng = np.random.default_rng(constants.BOOTSTRAP_SEED)
    shape = (constants.BOOTSTRAP_REPLICATES, launches)
    picked = rng.integers(levels.size, size=shape)
    signs = rng.choice([-1.0, 1.0], shape)
    noise = _draw_blocks(rng, deviations, picked, blocks_per_launch) * signs[:, :, None]
    stretch = np.sqrt(levels.size / rng.chisquare(levels.size, shape[0]))[:, None]
    replicates = (stretch * signs * levels[picked])[:, :, None] + noise
    needed = _effects_called_slower(replicates, policy)
    mde = math.expm1(float(np.quantile(needed, constants.NOISE_POWER)))
    block_sigma = float(np.std(np.concatenate(deviations)))
    middle = float(np.median(blocks.d))
    half_width = float(
        np.quantile(np.abs(np.median(replicates, axis=(1, 2))), policy.confidence)
    )
    bounds = math.exp(middle - half_width), math.exp(middle + half_width)
    return NoiseFloor(
        mde,
        *bounds,
        math.sqrt(float(np.mean(levels**2))),
        block_sigma,
        launches,
        blocks_per_launch,
    )


def _draw_blocks(
    rng: np.random.Generator,
    deviations: Sequence[Floats],
    picked: Ints,
    per_launch: int,
) -> Floats:
    """Draw blocks of every picked launch with replacement, shape (replicates, launches, per_launch)."""
    sizes = np.array([part.size for part in deviations])
    padded = np.zeros((len(deviations), int(sizes.max())))
    for row, part in zip(padded, deviations, strict=True):
        row[: part.size] = part
    indexes = (
        rng.random((*picked.shape, per_launch)) * sizes[picked][:, :, None]
    ).astype(np.int64)
    return np.asarray(padded[picked[:, :, None], indexes])


def _effects_called_slower(replicates: Floats, policy: PairPolicy) -> Floats:
    """Return δ* of each replicate, the true effect from which §2 calls it slower, shape (replicates,)."""
    count, launches, per_launch = replicates.shape
    medians = np.sort(np.median(replicates, axis=2), axis=1)
    needed = max(1, math.ceil(policy.launch_share * launches - 1e-9))
    blocks = np.sort(replicates.reshape(count, launches * per_launch), axis=1)
    above = _blocks_above(launches * per_launch, policy.look_alpha[0])
    if above is None:
        return np.full(count, np.inf)
    margin = math.log1p(policy.margin_percent / 100.0)
    by_blocks = margin - blocks[:, launches * per_launch - above]
    by_share = margin - medians[:, launches - needed]
    if policy.launch_certainty is None or launches < policy.min_launches:
        return np.asarray(np.maximum(by_blocks, by_share))
    known = policy.launch_noise if policy.knows_noisy_launches else 0.0
    effect = LaunchEffect(medians, median_variances(replicates), known)
    by_all = np.maximum(
        margin - medians[:, 0],
        margin + effect.half_width(policy.noisy_launch_certainty) - effect.middle,
    )
    by_share = np.where(effect.noise >= policy.noisy_from, by_all, by_share)
    at_all = (
        policy.launch_effect_share * margin
        + effect.half_width(1.0 - policy.look_alpha[0])
        - effect.middle
    )
    beyond = margin + effect.half_width(policy.launch_certainty) - effect.middle
    return np.asarray(
        np.maximum.reduce([by_blocks, beyond, np.minimum(by_share, at_all)])
    )


def _blocks_above(blocks: int, alpha: float) -> int | None:
    """Return the smallest count of blocks beyond the margin whose sign test reaches `alpha`; None if none does."""
    return next(
        (k for k in range(blocks // 2, blocks + 1) if upper_tail(k, blocks) <= alpha),
        None,
    )


def mde_from_history(values: Floats) -> float | None:
    """Estimate the MDE without an A/A job; None with fewer than 12 points.

    It is the step that a rank test of 30 old and 5 new points detects at p = 0.001 with 80 % power:
    exp(2.4·σ) − 1, with σ from differences of neighbours (1.4826·MAD ÷ √2), which are robust to steps.
    """
    usable = values[np.isfinite(values) & (values > 0)]
    if usable.size < constants.HISTORY_MIN_POINTS:
        return None
    steps = np.diff(np.log(usable))
    sigma = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2.0)
    return math.expm1(constants.NOISE_HISTORY_SIGMAS * sigma)


def proposed_threshold(mde: float) -> float:
    """Return the threshold proposed for rules, a fraction: 1.25 × the MDE, but at least `NOISE_RULE_EFFECT`."""
    return max(constants.NOISE_RULE_EFFECT, constants.NOISE_MARGIN * mde)
