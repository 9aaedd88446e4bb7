"""What stopping when certain saved: launches of a benchmark weigh as much as its samples took."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from paceline_server.detect.saved_launches import count_saved_launches
from paceline_server.stats.samples import CaseSamples


def case(
    benchmark: str, launches: int, each_ns: float, unit: str = "ns"
) -> CaseSamples:
    launch = np.arange(launches)
    return CaseSamples(
        benchmark=benchmark,
        arm="arm",
        params={},
        metric="time",
        unit=unit,
        direction="lower",
        launch=launch,
        round=np.zeros_like(launch),
        position=np.zeros_like(launch),
        value=np.full(launches, each_ns / 10),
        warmup=launch > launches,
        iterations=np.full(launches, 10),
    )


def test_a_launch_weighs_as_much_as_its_samples_took() -> None:
    cases = [case("short", 5, 1e6), case("long", 2, 3e6)]
    # The same time by another name, as a workload reports what a part of it took.
    cases.append(replace(case("long", 2, 2e6), metric="inside"))
    saved = count_saved_launches({"short": 5, "long": 2}, ["long"], 5, cases)
    assert (saved.launches, saved.planned) == (7, 10)
    assert saved.saved_percent == pytest.approx(100 * 9 / 20)
    assert saved.words == (
        "Measured 7 of 10 launches of 2 benchmarks (45.0 % of the planned device time saved). Certain after 2: long."
    )


def test_no_share_of_time_is_said_where_a_benchmark_has_no_times() -> None:
    cases = [case("short", 2, 1e6), case("memory", 5, 1e6, unit="bytes")]
    saved = count_saved_launches({"short": 2, "memory": 5}, ["short"], 5, cases)
    assert saved.saved_percent is None
    assert saved.words.startswith("Measured 7 of 10 launches of 2 benchmarks. Certain")
