"""Tests the bounds of stats/README.md §5, on seeded noise of six families and on the shared sets if they exist.

The shared sets are beside a checkout (`../shared/data/detection`) and not copied. Data and detector are
deterministic, so the bounds are exact counts.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
from paceline_server.stats.changepoint import detect, is_standing
from paceline_server.testing import histories
from paceline_server.testing.histories import History

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "detection"
present = pytest.mark.skipif(
    not SHARED.is_dir(),
    reason="the disk of this machine has no shared/data/detection beside the checkout",
)


def named(values: list[float]) -> list[int]:
    return [change.index for change in detect(values).changes]


def shared(name: str) -> list[History]:
    scores = json.loads((SHARED / f"{name}.json").read_text(encoding="utf-8"))["series"]
    return [History(series["y"], series["truth"]) for series in scores]


@pytest.mark.parametrize("family", sorted(histories.FAMILIES))
def test_hosts_without_a_step_stay_silent(family: str) -> None:
    scores = histories.score(histories.nulls(family, 60, seed=41), named)
    assert scores.false_per_1000 <= 0.10
    assert scores.alarming <= 0.02


@pytest.mark.parametrize("family", ["white", "two_modes", "disturbed"])
def test_steps_of_one_to_eight_sigma_are_named_on_hosts_of_every_family(
    family: str,
) -> None:
    scores = histories.score(histories.stepped(family, 120, seed=43), named)
    assert scores.precision >= 0.95
    assert scores.f1 >= 0.87


def test_with_tails_of_t3_a_sigma_tells_two_thirds_as_much_and_most_steps_are_still_named() -> (
    None
):
    """The Fisher information of t with 3 degrees of freedom is 2/3 of the Gaussian's of the same scale."""
    scores = histories.score(histories.stepped("heavy", 120, seed=43), named)
    assert scores.precision >= 0.95
    assert scores.f1 >= 0.80


@present
def test_steps_on_real_noise_are_named() -> None:
    scores = histories.score(shared("semi_step"), named)
    assert scores.precision >= 0.95
    assert scores.f1 >= 0.87


@present
def test_real_noise_without_a_step_stays_silent() -> None:
    scores = histories.score(shared("semi_null"), named)
    assert scores.false_per_1000 <= 0.10
    assert scores.alarming <= 0.02


@present
def test_replayed_push_by_push_alerts_are_true_and_early() -> None:
    hits = alerts = true = 0
    delays: list[int] = []
    for history in shared("online"):
        raised = histories.replayed(history, named, is_standing)
        alerts, true = alerts + len(raised), true + len(history.truth)
        for place in history.truth:
            at = [n for index, n in raised if abs(index - place) <= histories.MARGIN]
            hits += bool(at)
            delays += [min(at) - place] if at else []
    assert hits / alerts >= 0.90
    assert hits / true >= 0.80
    assert statistics.median(delays) <= 10
