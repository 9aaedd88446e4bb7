"""Pairs the samples of two arms into a log-ratio per block, and counts dropped blocks by reason (I16).

A block counts only if both arms were measured in the same round of the same launch, warm, with positive values.
Blocks are judged in `paired`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from paceline_contract.events import Direction

from paceline_server.stats import constants
from paceline_server.stats.samples import Bools, CaseSamples, Floats, Ints
from paceline_server.stats.steadiness import steadiness, warmup_to_drop

_LAUNCH_STRIDE = np.int64(1) << 32


@dataclass(frozen=True)
class Dropped:
    """Numbers of dropped blocks, by the first reason that applied."""

    warmup: int = 0
    missing_arm: int = 0
    unusable: int = 0
    unsteady: int = 0

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True)
class WarmPolicy:
    """The numbers of §1 that a pairing uses; stored with the finding so that it can be recomputed."""

    warmup_min_blocks: int = constants.WARMUP_MIN_BLOCKS
    warmup_share: float = constants.WARMUP_SHARE
    steady_p: float = constants.STEADY_P
    steady_shift: float = constants.STEADY_SHIFT


@dataclass(frozen=True)
class PairedBlocks:
    """`d` is ln(arm ÷ reference) per block, negated if higher is better: above 0 the arm is slower.

    All arrays have shape (N,), ordered by launch and round. `unsteady` lists launches whose second half is
    unsteady.
    """

    d: Floats
    launch: Ints
    round: Ints
    arm_value: Floats
    reference_value: Floats
    dropped: Dropped
    unsteady: tuple[int, ...]
    unit: str = "ns"
    """The unit of both values."""

    @classmethod
    def nothing(cls) -> PairedBlocks:
        """Return an instance without blocks."""
        floats, ints = np.zeros(0), np.zeros(0, dtype=np.int64)
        return cls(floats, ints, ints, floats, floats, Dropped(), ())


def _per_block(case: CaseSamples) -> tuple[Ints, Floats, Bools]:
    """Return (keys, values, warm-up marks) per (launch, round), by key; the value is the median of the round."""
    key = case.launch.astype(np.int64) * _LAUNCH_STRIDE + case.round.astype(np.int64)
    order = np.argsort(key, kind="stable")
    key, value, warm = key[order], case.value[order], case.warmup[order]
    unique, first, counts = np.unique(key, return_index=True, return_counts=True)
    if unique.size == key.size:
        return key, value, warm
    medians = value[first].copy()
    for index in np.nonzero(counts > 1)[0]:
        medians[index] = np.median(value[first[index] : first[index] + counts[index]])
    return unique, medians, np.logical_or.reduceat(warm, first) if key.size else warm


def _warmup_rounds(keys: Ints, warm: Bools, policy: WarmPolicy) -> Bools:
    """Return which rounds to drop as warm-up: those marked, and as many more per launch as §1 requires.

    `keys` are unique and ascending; the result has their shape."""
    launches = keys // _LAUNCH_STRIDE
    drop = warm.copy()
    for launch in np.unique(launches):
        in_launch = launches == launch
        measured = np.nonzero(in_launch & ~warm)[0]
        marked = int(np.count_nonzero(in_launch & warm))
        more = warmup_to_drop(
            marked, measured.size, policy.warmup_min_blocks, policy.warmup_share
        )
        drop[measured[:more]] = True
    return drop


def _trim_unsteady(
    launch: Ints, log_arm: Floats, log_reference: Floats, policy: WarmPolicy
) -> tuple[Bools, tuple[int, ...]]:
    """Return which blocks to keep so that both arms of every launch are steady, and launches that remain unsteady."""
    keep = np.ones(launch.size, dtype=np.bool_)
    unsteady: list[int] = []
    for number in np.unique(launch):
        indexes = np.nonzero(launch == number)[0]
        checks = [
            steadiness(series[indexes], policy.steady_p, policy.steady_shift)
            for series in (log_arm, log_reference)
        ]
        keep[indexes[: max(check.skip for check in checks)]] = False
        if any(check.unsteady for check in checks):
            unsteady.append(int(number))
    return keep, tuple(unsteady)


def warm_samples(
    case: CaseSamples, policy: WarmPolicy | None = None
) -> tuple[Bools, tuple[int, ...]]:
    """Return which samples of a case are warm and steady, shape (n,), and the launches that remain unsteady."""
    policy = policy or WarmPolicy()
    keys, value, warm = _per_block(case)
    kept = ~_warmup_rounds(keys, warm, policy)
    keys, value = keys[kept], value[kept]
    positive = np.where(np.isfinite(value) & (value > 0), value, 1.0)
    log_value = np.log(positive)
    keep, unsteady = _trim_unsteady(
        keys // _LAUNCH_STRIDE, log_value, log_value, policy
    )
    sample_keys = case.launch.astype(np.int64) * _LAUNCH_STRIDE + case.round.astype(
        np.int64
    )
    return np.isin(sample_keys, keys[keep]) & case.measured(), unsteady


def pair_blocks(
    arm: CaseSamples,
    reference: CaseSamples,
    direction: Direction,
    policy: WarmPolicy | None = None,
) -> PairedBlocks:
    """Pair two cases that differ only in their arm. Several samples of an arm in a round count as their median.

    `missing_arm` counts rounds without one of the arms, `unusable` blocks with a value that has no logarithm.
    """
    policy = policy or WarmPolicy()
    arm_key, arm_value, arm_warm = _per_block(arm)
    ref_key, ref_value, ref_warm = _per_block(reference)
    keys = np.union1d(arm_key, ref_key)
    in_arm, in_ref = np.searchsorted(keys, arm_key), np.searchsorted(keys, ref_key)
    warm = np.zeros(keys.size, dtype=np.bool_)
    warm[in_arm] |= arm_warm
    warm[in_ref] |= ref_warm
    drop = _warmup_rounds(keys, warm, policy)
    arm_counts = np.zeros(keys.size, dtype=np.int64)
    arm_counts[in_arm] += 1
    arm_counts[in_ref] += 1
    both = arm_counts == 2
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
