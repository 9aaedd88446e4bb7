"""Pairing: which samples become a block, and that every dropped block is counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from paceline_server.stats.blocks import pair_blocks, warm_samples
from paceline_server.stats.samples import CaseSamples, Floats
from paceline_server.testing.simulated_jobs import job_cases


def _case(arm: str, value: Floats, launches: int = 3, warm: int = 5) -> CaseSamples:
    rounds = value.size // launches
    number = np.tile(np.arange(rounds), launches)
    return CaseSamples(
        "b",
        arm,
        {},
        "time",
        "ns",
        "lower",
        np.repeat(np.arange(launches), rounds),
        number,
        np.zeros(value.size, dtype=np.int64),
        value,
        number < warm,
    )


def _without(case: CaseSamples, at: int) -> CaseSamples:
    keep = np.arange(case.value.size) != at
    return replace(
        case,
        launch=case.launch[keep],
        round=case.round[keep],
        position=case.position[keep],
        value=case.value[keep],
        warmup=case.warmup[keep],
    )


ARM = _case("a", np.full(45, 110.0))
REFERENCE = _case("r", np.full(45, 100.0))


def test_blocks_are_log_ratios_of_the_same_round() -> None:
    blocks = pair_blocks(ARM, REFERENCE, "lower")
    assert blocks.d == pytest.approx(np.full(30, np.log(1.1)))
    assert blocks.round.min() == 5
    assert blocks.dropped.as_dict() == {
        "warmup": 15,
        "missing_arm": 0,
        "unusable": 0,
        "unsteady": 0,
    }


def test_higher_is_better_inverts_the_ratio() -> None:
    blocks = pair_blocks(ARM, REFERENCE, "higher")
    assert blocks.d == pytest.approx(np.full(30, -np.log(1.1)))


def test_a_round_without_one_arm_is_dropped_and_counted() -> None:
    blocks = pair_blocks(_without(ARM, 20), REFERENCE, "lower")
    assert blocks.d.size == 29
    assert blocks.dropped.missing_arm == 1


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_a_value_without_a_logarithm_is_dropped_and_counted(bad: float) -> None:
    value = ARM.value.copy()
    value[20] = bad
    blocks = pair_blocks(replace(ARM, value=value), REFERENCE, "lower")
    assert blocks.d.size == 29
    assert blocks.dropped.unusable == 1


def test_order_of_arrival_does_not_matter() -> None:
    shuffled = np.random.default_rng(1).permutation(45)
    arm = replace(
        ARM,
        launch=ARM.launch[shuffled],
        round=ARM.round[shuffled],
        value=ARM.value[shuffled],
        warmup=ARM.warmup[shuffled],
        position=ARM.position[shuffled],
    )
    assert (
        pair_blocks(arm, REFERENCE, "lower").d == pair_blocks(ARM, REFERENCE, "lower").d
    ).all()


def test_several_samples_of_a_round_count_as_their_median() -> None:
    tripled = replace(
        ARM,
        launch=np.tile(ARM.launch, 3),
        round=np.tile(ARM.round, 3),
        position=np.tile(ARM.position, 3),
        warmup=np.tile(ARM.warmup, 3),
        value=np.concatenate([ARM.value, ARM.value * 5, ARM.value * 0.9]),
    )
    assert pair_blocks(tripled, REFERENCE, "lower").d == pytest.approx(
        np.full(30, np.log(1.1))
    )


def test_a_workload_that_marks_no_warm_up_still_loses_its_first_five_rounds() -> None:
    unmarked = [
        replace(case, warmup=np.zeros(45, dtype=np.bool_)) for case in (ARM, REFERENCE)
    ]
    blocks = pair_blocks(unmarked[0], unmarked[1], "lower")
    assert blocks.d.size == 30
    assert blocks.dropped.warmup == 15


def test_a_metric_read_once_per_launch_is_paired_by_launch() -> None:
    once = pair_blocks(
        _case("a", np.full(5, 3.0), 5, 0), _case("r", np.full(5, 2.0), 5, 0), "lower"
    )
    assert once.d.size == 5


def test_a_launch_that_settles_late_loses_its_first_half_for_both_arms() -> None:
    arm, reference = job_cases(np.random.default_rng(2), 0.0, launches=3, sigma=0.003)
    late = arm.value * np.where((arm.launch == 1) & (arm.round < 15), 1.3, 1.0)
    blocks = pair_blocks(replace(arm, value=late), reference, "lower")
    assert blocks.round[blocks.launch == 1].min() == 15
    assert blocks.dropped.unsteady >= 10


def test_nothing_in_common_pairs_to_nothing() -> None:
    other = replace(REFERENCE, launch=REFERENCE.launch + 100)
    blocks = pair_blocks(ARM, other, "lower")
    assert blocks.d.size == 0
    assert blocks.dropped.missing_arm == 60


def test_warm_samples_describe_one_case_without_its_warm_up() -> None:
    keep, unsteady = warm_samples(ARM)
    assert keep.sum() == 30
    assert not keep[ARM.warmup].any()
    assert unsteady == ()


def test_warm_samples_keep_zeros_because_a_summary_may_have_them() -> None:
    keep, _ = warm_samples(replace(ARM, value=np.zeros(45)))
    assert keep.sum() == 30
