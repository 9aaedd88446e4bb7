"""The warm-up rounds that a fresh process needs until its penalty is inside the margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paceline_server.stats.coldness import find_coldness
from paceline_server.stats.samples import CaseSamples

MARGIN = 2.0
WARMUP = 5
Pair = tuple[CaseSamples, CaseSamples]


def case(
    seed: int,
    penalties: Sequence[float],
    *,
    launches: int = 5,
    rounds: int = 20,
    sigma: float = 0.005,
) -> CaseSamples:
    """One arm at one value whose first rounds take so much longer (ln); heavy tails, levels by launch."""
    rng = np.random.default_rng(seed)
    total = WARMUP + rounds
    cold = np.zeros(total)
    cold[: len(penalties)] = penalties
    level = rng.normal(0.0, 0.02, (launches, 1)) + np.log(1e6)
    logs = level + cold + sigma / np.sqrt(3.0) * rng.standard_t(3, (launches, total))
    launch, number = (
        np.repeat(np.arange(launches), total),
        np.tile(np.arange(total), launches),
    )
    return CaseSamples(
        "b",
        "native",
        {"batch": seed},
        "time",
        "ns",
        "lower",
        launch,
        number,
        np.zeros_like(number),
        np.exp(logs).ravel(),
        number < WARMUP,
        np.full(number.size, 3),
    )


def pair(
    seed: int, penalties: Sequence[float], shared: Sequence[float] = (), **spec: Any
) -> Pair:
    """(arm, reference); `shared`: what the first rounds cost both."""
    both = np.zeros(max(len(penalties), len(shared)))
    both[: len(penalties)] += penalties
    both[: len(shared)] += shared
    return case(seed, list(both), **spec), case(seed + 1000, shared, **spec)


@pytest.mark.parametrize("sigma", [0.003, 0.02])
@pytest.mark.parametrize(
    "penalties", [(), (0.3,), (0.4, 0.2, 0.1), (0.06, 0.06)], ids=len
)
def test_the_rounds_that_are_cold_are_counted(
    penalties: tuple[float, ...], sigma: float
) -> None:
    right = 0
    for seed in range(12):
        coldness = find_coldness(
            [pair(seed * 7 + at, penalties, sigma=sigma) for at in range(5)], MARGIN
        )
        assert coldness.lower is not None
        right += coldness.rounds == len(penalties)
        assert (
            coldness.lower
            <= len(penalties)
            <= (99 if coldness.upper is None else coldness.upper)
        )
    assert right >= 11


def test_one_value_that_is_cold_is_enough() -> None:
    cases = [pair(at, ()) for at in range(4)] + [pair(9, (0.2, 0.1))]
    coldness = find_coldness(cases, MARGIN)
    assert coldness.rounds == 2
    assert coldness.penalties[0] == pytest.approx(np.expm1(0.2), abs=0.02)
    assert coldness.calls_per_round == 3


def test_one_slow_launch_is_not_cold() -> None:
    plain, reference = pair(1, ())
    slow = (plain.launch == 0) & (plain.round == 0)
    arm = replace(plain, value=np.where(slow, plain.value * 3.0, plain.value))
    coldness = find_coldness([(arm, reference)], MARGIN)
    assert coldness.rounds == 0


def test_a_penalty_that_outlasts_the_rounds_has_no_number() -> None:
    coldness = find_coldness([pair(1, [0.5] * 13)], MARGIN)
    assert coldness.rounds is None
    assert coldness.upper is None
    assert coldness.reason.startswith("still 6")


def test_a_rate_is_cold_where_it_is_lower() -> None:
    times = pair(2, (0.3,))
    arm, base = (
        replace(case, value=1e9 / case.value, direction="higher", unit="op/s")
        for case in times
    )
    assert (
        find_coldness([(arm, base)], MARGIN).rounds
        == find_coldness([times], MARGIN).rounds
        == 1
    )


def test_a_cold_start_that_both_arms_share_is_not_counted() -> None:
    """A target that speeds up, a runtime that compiles: 20 % for both, and nothing for the arm alone."""
    shared = (0.2, 0.15, 0.1, 0.05)
    assert find_coldness([pair(3, (), shared)], MARGIN).rounds == 0
    assert find_coldness([pair(3, (0.3,), shared)], MARGIN).rounds == 1
    assert find_coldness([pair(3, (-0.2, -0.15, -0.1), shared)], MARGIN).rounds == 0


def test_without_warm_up_rounds_or_with_two_launches_coldness_is_unknown() -> None:
    plain, reference = pair(1, (0.3,))
    unmarked = replace(plain, warmup=np.zeros_like(plain.warmup))
    assert (
        find_coldness([(unmarked, reference)], MARGIN).reason
        == "no warm-up rounds were measured"
    )
    assert find_coldness([], MARGIN).rounds is None
    assert find_coldness([pair(1, (0.3,), launches=2)], MARGIN).reason.startswith(
        "insufficient: 2 launches"
    )


def test_coldness_is_counted_over_at_most_thirty_rounds() -> None:
    coldness = find_coldness([pair(1, [0.3] * 31, rounds=95)], MARGIN)
    assert len(coldness.penalties) == 30
    assert coldness.rounds is None
    assert find_coldness([pair(1, [0.3] * 29, rounds=95)], MARGIN).rounds == 29
