"""The promise of stats/README.md §2 on simulated jobs: silent on A/A, awake at +3 % and +5 %.

Every window is a whole job with its looks, as `detect` would run it. Seeded: the counts are exact, not lucky.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from paceline_server.stats.blocks import pair_blocks
from paceline_server.stats.constants import LOOK_ALPHA
from paceline_server.stats.paired import control_run, judge_pair
from paceline_server.testing.simulated_jobs import extended, job_cases


def _verdict(
    rng: np.random.Generator, effect: float, sigma: float | None = None
) -> str:
    arm, reference = job_cases(rng, effect, sigma=sigma)
    for look in range(len(LOOK_ALPHA)):
        outcome = control_run([judge_pair(pair_blocks(arm, reference, "lower"), look)])[
            0
        ]
        if outcome.verdict != "inconclusive" or not outcome.extendable:
            break
        more = job_cases(rng, effect, sigma=sigma, first_launch=5 * (look + 1))
        arm, reference = extended(arm, more[0]), extended(reference, more[1])
    return outcome.verdict


def _counts(
    seed: int, windows: int, effect: float, sigma: float | None = None
) -> Counter[str]:
    rng = np.random.default_rng(seed)
    return Counter(_verdict(rng, effect, sigma) for _ in range(windows))


def test_no_identical_code_is_called_slower_in_6000_windows() -> None:
    counts = _counts(20260314, 6000, 0.0)
    assert counts["fail"] == 0
    assert counts["pass"] >= 5980


@pytest.mark.parametrize("sigma", [0.03, 0.1])
def test_no_identical_code_is_called_slower_on_a_noisy_target(sigma: float) -> None:
    assert _counts(7, 200, 0.0, sigma)["fail"] == 0


def test_a_true_3_percent_is_found_in_98_of_100() -> None:
    assert _counts(3, 2000, 0.03)["fail"] >= 0.98 * 2000


def test_a_true_5_percent_is_found_in_999_of_1000() -> None:
    assert _counts(5, 3000, 0.05)["fail"] >= 0.999 * 3000


def test_a_true_5_percent_gain_always_passes() -> None:
    assert _counts(11, 300, -0.05)["pass"] == 300
