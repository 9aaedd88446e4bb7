"""Pairs the samples of two arms into one log-ratio per block and counts what is left out.

A block counts only when both arms were measured in the same round of the same launch,
warm, with positive values; every other block is dropped and counted by reason (I16).
`paired` judges them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from paceline_server.stats import constants
from paceline_server.stats.samples import Bools, CaseSamples, Direction, Floats, Ints
from paceline_server.stats.steadiness import steadiness, warmup_to_drop

_LAUNCH_STRIDE = np.int64(1) << 32


@dataclass(frozen=True)
class Dropped:
    """Blocks left out, by the first reason that applied."""

    warmup: int = 0
    missing_arm: int = 0
    unusable: int = 0
    unsteady: int = 0

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True)
class WarmPolicy:
    """The §1 numbers a pairing is made with; stored with the finding so that it can be made again."""

    warmup_min_blocks: int = constants.WARMUP_MIN_BLOCKS
    warmup_share: float = constants.WARMUP_SHARE
    steady_p: float = constants.STEADY_P
    steady_shift: float = constants.STEADY_SHIFT


@dataclass(frozen=True)
class PairedBlocks:
    """`d` = ln(arm ÷ reference) per block, inverted when higher is better: above 0 the arm is slower.

    All arrays have shape (N,), ordered by launch and round. `unsteady` lists launches still moving in their
    second half.
    """

    d: Floats
    launch: Ints
    round: Ints
    arm_value: Floats
    reference_value: Floats
    dropped: Dropped
    unsteady: tuple[int, ...]
    unit: str = "ns"
    """Of both values: in which words their ratio is said."""

    @classmethod
    def nothing(cls) -> PairedBlocks:
        """No block at all."""
        none, whole = np.zeros(0), np.zeros(0, dtype=np.int64)
        return cls(none, whole, whole, none, none, Dropped(), ())


def _per_block(case: CaseSamples) -> tuple[Ints, Floats, Bools]:
    """One value per (launch, round): keys ascending, the median of a round's samples, and whether it is
    warm-up."""
    key = case.launch.astype(np.int64) * _LAUNCH_STRIDE + case.round.astype(np.int64)
    order = np.argsort(key, kind="stable")
    key, value, warm = key[order], case.value[order], case.warmup[order]
    unique, first, counts = np.unique(key, return_index=True, return_counts=True)
    if unique.size == key.size:
        return key, value, warm
    medians = value[first].copy()
    for at in np.nonzero(counts > 1)[0]:
        medians[at] = np.median(value[first[at] : first[at] + counts[at]])
    return unique, medians, np.logical_or.reduceat(warm, first) if key.size else warm


def _unwarm(keys: Ints, warm: Bools, policy: WarmPolicy) -> Bools:
    """Which rounds to drop as warm-up: those marked and, per launch, as many more as §1 asks, shape of `keys`
    (unique, ascending)."""
    launches = keys // _LAUNCH_STRIDE
    drop = warm.copy()
    for launch in np.unique(launches):
        here = launches == launch
        measured = np.nonzero(here & ~warm)[0]
        marked = int(np.count_nonzero(here & warm))
        more = warmup_to_drop(
            marked, measured.size, policy.warmup_min_blocks, policy.warmup_share
        )
        drop[measured[:more]] = True
    return drop


def _trim_unsteady(
    launch: Ints, log_arm: Floats, log_reference: Floats, policy: WarmPolicy
) -> tuple[Bools, tuple[int, ...]]:
    """Which blocks to keep so that both arms of every launch are steady, and the launches that still are
    not."""
    keep = np.ones(launch.size, dtype=np.bool_)
    unsteady: list[int] = []
    for number in np.unique(launch):
        at = np.nonzero(launch == number)[0]
        checks = [
            steadiness(series[at], policy.steady_p, policy.steady_shift)
            for series in (log_arm, log_reference)
        ]
        keep[at[: max(check.skip for check in checks)]] = False
        if any(check.unsteady for check in checks):
            unsteady.append(int(number))
    return keep, tuple(unsteady)


def warm_samples(
    case: CaseSamples, policy: WarmPolicy | None = None
) -> tuple[Bools, tuple[int, ...]]:
    """Which samples of one case describe it (warm, steady), shape (n,), and the launches still `unsteady`."""
    policy = policy or WarmPolicy()
    keys, value, warm = _per_block(case)
    kept = ~_unwarm(keys, warm, policy)
    keys, value = keys[kept], value[kept]
    positive = np.where(np.isfinite(value) & (value > 0), value, 1.0)
    log_value = np.log(positive)
    keep, unsteady = _trim_unsteady(
        keys // _LAUNCH_STRIDE, log_value, log_value, policy
    )
    own = case.launch.astype(np.int64) * _LAUNCH_STRIDE + case.round.astype(np.int64)
    return np.isin(own, keys[keep]) & case.measured(), unsteady


def pair_blocks(
    arm: CaseSamples,
    reference: CaseSamples,
    direction: Direction,
    policy: WarmPolicy | None = None,
) -> PairedBlocks:
    """Pair two cases that differ in their arm only. Several samples of one arm in one round count as their
    median.

    `missing_arm` counts rounds in which one of the two is absent, `unusable` blocks with a value that is
    zero, negative or not finite (it has no logarithm).
    """
    policy = policy or WarmPolicy()
    arm_key, arm_value, arm_warm = _per_block(arm)
    ref_key, ref_value, ref_warm = _per_block(reference)
    keys = np.union1d(arm_key, ref_key)
    in_arm, in_ref = np.searchsorted(keys, arm_key), np.searchsorted(keys, ref_key)
    warm = np.zeros(keys.size, dtype=np.bool_)
    warm[in_arm] |= arm_warm
    warm[in_ref] |= ref_warm
    drop = _unwarm(keys, warm, policy)
    seen = np.zeros(keys.size, dtype=np.int64)
    seen[in_arm] += 1
    seen[in_ref] += 1
    both = seen == 2
    paired = keys[~drop & both]
    a = arm_value[np.searchsorted(arm_key, paired)]
    r = ref_value[np.searchsorted(ref_key, paired)]
    usable = np.isfinite(a) & np.isfinite(r) & (a > 0) & (r > 0)
    paired, a, r = paired[usable], a[usable], r[usable]
    log_a, log_r = np.log(a), np.log(r)
    launch = paired // _LAUNCH_STRIDE
    keep, unsteady = _trim_unsteady(launch, log_a, log_r, policy)
    d = (log_a - log_r)[keep]
    return PairedBlocks(
        d=d if direction == "lower" else -d,
        launch=launch[keep],
        round=(paired % _LAUNCH_STRIDE)[keep],
        arm_value=a[keep],
        reference_value=r[keep],
        dropped=Dropped(
            warmup=int(np.count_nonzero(drop)),
            missing_arm=int(np.count_nonzero(~drop & ~both)),
            unusable=int(np.count_nonzero(~usable)),
            unsteady=int(np.count_nonzero(~keep)),
        ),
        unsteady=unsteady,
        unit=arm.unit,
    )
