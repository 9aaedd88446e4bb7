"""Tests estimates of a run's duration and of a demonstration's effect, from ingested jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_contract.estimates import format_duration
from paceline_server.kernel.clock import FrozenClock
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE, suite_manifest

pytestmark = pytest.mark.usefixtures("clock")

API = "/api/v1"


def estimate(lab: Lab, status: int = 200, **spec: Any) -> Any:
    body = {"suite": SUITE, "targets": [lab.target_id], **spec}
    answer = lab.client.post(
        f"{API}/runs/estimate", json=body, headers=dict(lab.headers)
    )
    assert answer.status_code == status, answer.text
    return answer.json()


def measure(lab: Lab, clock: FrozenClock, took_s: float, **spec: Any) -> None:
    """A concluded job whose one batch took so long."""
    lab.request(branch="main", commit="1" * 40, launches=5, rounds=12, **spec)

    def measured(cases: list[CaseSamples]) -> list[CaseSamples]:
        clock.advance(took_s)
        return cases

    lab.deliver({1000: -0.7, 2000: -0.5}, seed=1, alter=measured)
    outbox.drain()


@pytest.mark.shapes("embedded", "scaled")
def test_without_past_runs_an_estimate_gives_the_minimum_only(
    lab: Lab,
) -> None:
    (target,) = estimate(lab, launches=5, rounds=100, min_time_ns=10_000_000)["targets"]
    assert (target["seconds"], target["based_on"], target["cases"]) == (None, 0, 4)
    assert target["least_s"] == pytest.approx(4 * 5 * 100 * 0.01)
    assert "not known yet" in target["words"]
    assert "at least 20 s" in target["words"]
    (small,) = estimate(lab, launches=5)["targets"]
    assert "under a second; building, starting 5 launches" in small["words"]
    two_sides = estimate(
        lab, launches=5, rounds=100, min_time_ns=10_000_000, base_commit="2" * 40
    )
    assert two_sides["targets"][0]["least_s"] == pytest.approx(40)


def test_an_estimate_repeats_past_durations_and_scales_them_to_other_selections(
    lab: Lab, clock: FrozenClock
) -> None:
    for took in (90.0, 120.0, 100.0):
        measure(lab, clock, took)
    (same,) = estimate(lab, launches=5, rounds=12)["targets"]
    assert (same["seconds"], same["based_on"], same["same_choice"]) == (100.0, 3, True)
    assert same["words"] == (
        "lab-1: about 1 min 40 s, as the last 3 runs of the same choice took 1 min 30 s to 2 min"
    )
    estimated = estimate(lab, launches=10, rounds=12)
    (twice,) = estimated["targets"]
    assert (twice["seconds"], twice["same_choice"]) == (pytest.approx(200.0), False)
    assert (
        twice["words"]
        == "lab-1: roughly 3 min 20 s, scaled from the last 3 runs of other choices"
    )
    assert estimated["words"].endswith(
        "Up to three times that where a verdict stays open."
    )


def test_an_estimate_learns_from_no_job_that_measured_less(
    lab: Lab, clock: FrozenClock
) -> None:
    """A job that stopped when sure says how long one that stops takes; one that left out what is the same says nothing."""
    measure(lab, clock, 10.0, stop_when_sure=True)
    same: dict[str, Any] = {"launches": 5, "rounds": 12, "stop_when_sure": True}
    (stops,) = estimate(lab, **same)["targets"]
    assert (stops["seconds"], stops["same_choice"]) == (10.0, True)
    for launches in (5, 10):
        (whole,) = estimate(lab, launches=launches, rounds=12)["targets"]
        assert (whole["seconds"], whole["based_on"]) == (None, 0)
    measure(lab, clock, 100.0)
    (scaled,) = estimate(lab, **{**same, "launches": 10})["targets"]
    assert (scaled["based_on"], scaled["same_choice"]) == (2, False)
    sides: dict[str, Any] = {"commit": "c" * 40, "base_commit": "b" * 40}
    lab.request(**sides, launches=5, rounds=12)
    lab.deliver_ab({1000: 0.0, 2000: 0.0}, unaffected={BENCHMARK: "d" * 64})
    outbox.drain()
    (compared,) = estimate(lab, **sides, launches=5, rounds=12)["targets"]
    assert (compared["based_on"], compared["same_choice"]) == (2, False)


def test_an_estimate_counts_how_often_the_tool_of_a_harness_starts(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    clock: FrozenClock,
) -> None:
    """Half as many samples in launches of one round are more than half as many starts, and take as long as these."""
    manifest = suite_manifest(knobs={})
    manifest["workloads"][0]["host"] = {
        "build": [],
        "artifacts": ["bench"],
        "harness": "google-benchmark",
        "command": ["./bench"],
        "arms": {"native": "native_(.*)", "fallback": "fallback_(.*)"},
    }
    lab = open_lab(client, enrolled, token, manifest=manifest)
    (unknown,) = estimate(lab, launches=5, rounds=12)["targets"]
    # One start lists the cases and is the first of 5 warm-up rounds. The arms of a round share a start, or have one each.
    least, most = 5 * (1 + 4 + 12), 5 * (1 + 2 * (4 + 12))
    said = f"starting 5 launches and in them the tool {least} to {most} times"
    assert said in unknown["words"]
    measure(lab, clock, 100.0)
    (scaled,) = estimate(lab, launches=30, rounds=1)["targets"]
    assert scaled["seconds"] == pytest.approx(100.0 * 30 * 2 / least)


@pytest.mark.shapes("embedded")
def test_an_estimate_creates_no_run_and_refuses_what_a_run_request_refuses(
    lab: Lab,
) -> None:
    assert "benchmarks" in estimate(lab, 400, benchmarks=["nothing"])["fields"]
    assert estimate(lab, 404, suite="nothing")["code"] == "unknown_suite"
    estimate(lab)
    assert (
        lab.client.get(f"{API}/runs", headers=dict(lab.headers)).json()["items"] == []
    )


@pytest.mark.shapes("embedded")
def test_without_an_online_target_an_estimate_gives_the_minimum_only(
    lab: Lab, clock: FrozenClock
) -> None:
    clock.advance(3600)
    estimated = estimate(lab, targets=None, rounds=1000)
    assert estimated["targets"] == []
    assert "no target that can run it is online" in estimated["words"]
    assert "at least 20 s" in estimated["words"]


def test_a_demonstration_says_how_much_crosses_the_fallback_by_the_targets_last_run(
    lab: Lab, clock: FrozenClock
) -> None:
    (unknown,) = estimate(lab)["slowdowns"]
    assert (unknown["percent"], "not known yet" in unknown["words"]) == (None, True)
    measure(
        lab, clock, 10.0
    )  # native takes 0.3 of the fallback's time at 1000, and 0.5 at 2000
    (known,) = estimate(lab, knobs={"slowdown_percent": 80})["slowdowns"]
    assert known["percent"] == pytest.approx((1.02 / 0.5 - 1) * 100, abs=3)
    assert known["everywhere_percent"] == pytest.approx((1.02 / 0.3 - 1) * 100, abs=5)
    assert "native was 2 times as fast as fallback at batch=2000 last" in known["words"]
    assert known["words"].endswith("80 % will show nothing")
    (at_one,) = estimate(lab, params={"batch": [1000]})["slowdowns"]
    assert (
        at_one["percent"] == at_one["everywhere_percent"] == known["everywhere_percent"]
    )
    (enough,) = estimate(lab, knobs={"slowdown_percent": 300})["slowdowns"]
    assert "will show nothing" not in enough["words"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "under 1 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (3900, "1 h 5 min"),
    ],
)
def test_a_duration_in_words(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words
