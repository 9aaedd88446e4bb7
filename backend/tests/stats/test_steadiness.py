"""Tests of what is dropped as warm-up, and of the comparison of the halves of a launch."""

from __future__ import annotations

import numpy as np
from paceline_server.stats.steadiness import steadiness, warmup_to_drop

RNG = np.random.default_rng(3)


def _flat(n: int, level: float = 0.0, sigma: float = 0.003) -> np.ndarray:
    return level + sigma * RNG.standard_normal(n)


def test_at_least_five_blocks_or_a_tenth_are_warm_up() -> None:
    assert warmup_to_drop(0, 20) == 5
    assert warmup_to_drop(0, 51) == 6
    assert warmup_to_drop(0, 200) == 20
    assert warmup_to_drop(5, 20) == 0
    assert warmup_to_drop(2, 20) == 3


def test_a_metric_read_once_per_launch_has_no_warm_up() -> None:
    assert warmup_to_drop(0, 1) == 0


def test_a_flat_launch_is_kept_whole() -> None:
    split = steadiness(_flat(20))
    assert (split.skip, split.unsteady) == (0, False)


def test_a_launch_that_settles_late_keeps_its_second_half() -> None:
    """
    ▔▔▔▔▔▔▔▔▔▔
              ▁▁▁▁▁▁▁▁▁▁   a compiler finished at block 10: +10 % before
    """
    split = steadiness(np.concatenate([_flat(10, 0.1), _flat(10)]))
    assert (split.skip, split.unsteady) == (10, False)
    assert -0.11 < split.shift < -0.08


def test_a_launch_that_keeps_moving_is_unsteady() -> None:
    split = steadiness(np.linspace(0.0, 1.0, 40) + _flat(40))
    assert split.skip == 20
    assert split.unsteady


def test_a_certain_but_tiny_shift_is_steady() -> None:
    split = steadiness(np.concatenate([_flat(50, 0.015, 0.001), _flat(50, 0.0, 0.001)]))
    assert split.skip == 0


def test_a_certain_shift_beyond_two_percent_is_trimmed() -> None:
    split = steadiness(np.concatenate([_flat(50, 0.025, 0.001), _flat(50, 0.0, 0.001)]))
    assert split.skip == 50


def test_a_shift_that_chance_brings_once_in_a_thousand_launches_is_trimmed() -> None:
    """Halves of ten by rank: p = 0.00073 when the lowest of the first half has rank 2, 0.00105 at rank 1."""

    def skipped(lowest: int) -> int:
        first = [lowest, *range(11, 20)]
        second = [rank for rank in range(20) if rank not in first]
        return steadiness(0.05 * np.array([*first, *second], dtype=float)).skip

    assert (skipped(2), skipped(1)) == (10, 0)


def test_a_large_but_uncertain_shift_is_steady() -> None:
    split = steadiness(np.array([0.0, 0.2, 0.0, 0.2, 0.3, 0.0, 0.3, 0.1]))
    assert split.skip == 0


def test_an_odd_launch_drops_its_middle_with_the_first_half() -> None:
    assert steadiness(np.concatenate([_flat(10, 0.1), _flat(11)])).skip == 11


def test_constants_and_tiny_launches_are_steady() -> None:
    assert steadiness(np.zeros(20)).skip == 0
    assert steadiness(np.array([0.0, 5.0, 9.0])).skip == 0
