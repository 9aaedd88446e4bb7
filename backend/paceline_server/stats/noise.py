"""What a target can resolve: the minimum detectable effect (MDE), from an A/A job or from a series' own past.

Place: beside `paired`; `detect` asks when an A/A job concludes, `series` for series no A/A job has measured.
Invariant: defined by the decision itself, not by a rule of thumb: the MDE is the smallest true effect that
the rule of STATISTICS §2, at this number of launches and blocks and with this margin, calls slower in 80 of
100 jobs. It therefore lies beyond the margin. Pure and deterministic (the seed is fixed).

For a job with log-ratios d, launch medians M and a true effect δ on top, §2 says slower exactly when

    δ  >  δ*  =  ln(1 + m) − min( M_(L), d_(c) )

with M_(L) the L-th largest launch median (L = ceil(0.8·K)) and d_(c) the c-th largest block (c: the smallest
count whose sign test reaches the first look's alpha). An A/A job says how M and d vary with δ = 0; so

    MDE = exp( the 80 % quantile of δ* over replicates of the A/A job ) − 1

A replicate draws K launches with their blocks from the J measured, each with a random sign (swapping the
sides of an A/A job changes nothing but the sign). Launch levels are stretched by √(J / χ²_J), because J
launches know their spread only so well, and keep the noise of their own blocks, which counts it twice: both
on the safe side. So are later looks, which add power; the false-discovery control over many pairs takes some.
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
from paceline_server.stats.paired import PairPolicy, launch_medians
from paceline_server.stats.samples import Floats, Ints

METHOD = "a-a-replicates/1"


@dataclass(frozen=True)
class NoiseFloor:
    """`mde` is a share: 0.031 means 3.1 %. `launch_sigma`, `block_sigma`: spread of launch levels and of
    blocks around their launch, in log units. `lower`, `upper`: interval of the ratio of the two sides that
    knows of launches (the §2 interval takes blocks for independent); should hold 1."""

    mde: float
    lower: float
    upper: float
    launch_sigma: float
    block_sigma: float
    launches: int
    blocks_per_launch: int

    def evidence(self, policy: PairPolicy) -> dict[str, Any]:
        """What it takes to make it again, as plain JSON (I16)."""
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
    """The MDE of jobs with `launches` launches like those of an A/A job; None where that job has too few
    blocks or launches for any verdict."""
    policy = policy or PairPolicy()
    levels = launch_medians(blocks)
    if (
        levels.size < policy.min_launches
        or blocks.d.size < policy.min_blocks
        or launches < 1
    ):
        return None
    numbers = np.unique(blocks.launch)
    around = [
        blocks.d[blocks.launch == number] - level
        for number, level in zip(numbers, levels, strict=True)
    ]
    each = max(1, round(float(np.median([part.size for part in around]))))
    rng = np.random.default_rng(constants.BOOTSTRAP_SEED)
    shape = (constants.BOOTSTRAP_REPLICATES, launches)
    picked = rng.integers(levels.size, size=shape)
    signs = rng.choice([-1.0, 1.0], shape)
    noise = _draw_blocks(rng, around, picked, each) * signs[:, :, None]
    unsure = np.sqrt(levels.size / rng.chisquare(levels.size, shape[0]))[:, None]
    replicates = (unsure * signs * levels[picked])[:, :, None] + noise
    needed = _effects_called_slower(replicates, policy)
    mde = math.expm1(float(np.quantile(needed, constants.NOISE_POWER)))
    block_sigma = float(np.std(np.concatenate(around)))
    middle = float(np.median(blocks.d))
    apart = float(
        np.quantile(np.abs(np.median(replicates, axis=(1, 2))), policy.confidence)
    )
    bounds = math.exp(middle - apart), math.exp(middle + apart)
    return NoiseFloor(
        mde, *bounds, math.sqrt(float(np.mean(levels**2))), block_sigma, launches, each
    )


def _draw_blocks(
    rng: np.random.Generator, around: Sequence[Floats], picked: Ints, each: int
) -> Floats:
    """`each` blocks of every picked launch, drawn with replacement, shape (replicates, launches, each)."""
    sizes = np.array([part.size for part in around])
    padded = np.zeros((len(around), int(sizes.max())))
    for row, part in zip(padded, around, strict=True):
        row[: part.size] = part
    at = (rng.random((*picked.shape, each)) * sizes[picked][:, :, None]).astype(
        np.int64
    )
    return np.asarray(padded[picked[:, :, None], at])


def _effects_called_slower(replicates: Floats, policy: PairPolicy) -> Floats:
    """δ* of each replicate: the true effect from which on §2 calls it slower, shape (replicates,)."""
    count, launches, each = replicates.shape
    medians = np.sort(np.median(replicates, axis=2), axis=1)
    wanted = max(1, math.ceil(policy.launch_share * launches - 1e-9))
    blocks = np.sort(replicates.reshape(count, launches * each), axis=1)
    above = _blocks_above(launches * each, policy.look_alpha[0])
    if above is None:
        return np.full(count, np.inf)
    limiting = np.minimum(
        medians[:, launches - wanted], blocks[:, launches * each - above]
    )
    return np.asarray(math.log1p(policy.margin_percent / 100.0) - limiting)


def _blocks_above(blocks: int, alpha: float) -> int | None:
    """The smallest count of blocks beyond the margin whose sign test reaches `alpha`; None: not even all."""
    return next(
        (k for k in range(blocks // 2, blocks + 1) if upper_tail(k, blocks) <= alpha),
        None,
    )


def mde_from_history(values: Floats) -> float | None:
    """An estimate of the MDE before any A/A job: the step between two levels that a rank test of 30 old
    points and 5 new ones, at p = 0.001, finds in 80 of 100 cases; None with fewer than 12 points.

    MDE = exp(2.4·σ) − 1, with σ from differences of neighbours (1.4826·MAD ÷ √2), which a change of level
    moves only once.
    """
    usable = values[np.isfinite(values) & (values > 0)]
    if usable.size < constants.HISTORY_MIN_POINTS:
        return None
    steps = np.diff(np.log(usable))
    sigma = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2.0)
    return math.expm1(constants.NOISE_HISTORY_SIGMAS * sigma)


def proposed_threshold(mde: float) -> float:
    """The least effect a rule should ask for, a share: 1.25 × the MDE, and never below what is worth a
    person's time."""
    return max(constants.NOISE_RULE_EFFECT, constants.NOISE_MARGIN * mde)
