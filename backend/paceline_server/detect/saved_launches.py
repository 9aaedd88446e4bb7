"""Says how many launches a job was spared because benchmarks were certain, and how much device time that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from paceline_server.detect.schemas import SavedBenchmarkOut, SavedLaunchesOut
from paceline_server.detect.unavailable import list_some
from paceline_server.stats.plain_words import percent
from paceline_server.stats.samples import CaseSamples

NAMED = 20
"""Benchmarks that the sentence names; a suite may have 500."""


def count_saved_launches(
    launches: Mapping[str, int],
    stopped: Collection[str],
    planned: int,
    cases: Sequence[CaseSamples],
) -> SavedLaunchesOut:
    """Return what was spared. `launches`: how many each benchmark has; `stopped`: those that were certain before the
    `planned` ones. `cases`: the samples of both sides, by which the launches of a benchmark are weighed."""
    measured = sum(launches.values())
    whole = measured + sum(planned - launches[name] for name in stopped)
    saved = _share_of_time(launches, stopped, planned, cases)
    return SavedLaunchesOut(
        words=_describe(launches, stopped, (measured, whole), saved),
        launches=measured,
        planned=whole,
        saved_percent=None if saved is None else saved * 100.0,
        benchmarks=[
            SavedBenchmarkOut(benchmark=name, launches=launches[name], planned=planned)
            for name in stopped
        ],
    )


def _share_of_time(
    launches: Mapping[str, int],
    stopped: Collection[str],
    planned: int,
    cases: Sequence[CaseSamples],
) -> float | None:
    """Return the share of the time of all planned samples that was not spent; None where a benchmark has no times. What a
    launch takes besides its samples is left out: it belongs to no benchmark."""
    seconds = {
        name: _measured_ns(name, cases) / 1e9
        for name, number in launches.items()
        if number
    }
    if not all(seconds.values()):
        return None
    saved = sum(
        seconds[name] * (planned - launches[name]) / launches[name] for name in stopped
    )
    return saved / (sum(seconds.values()) + saved)


def _measured_ns(benchmark: str, cases: Sequence[CaseSamples]) -> float:
    """Return how long all samples of a benchmark took: a second metric of the same time does not count twice."""
    by_metric: dict[str, float] = defaultdict(float)
    for case in cases:
        if case.benchmark == benchmark and case.unit == "ns":
            iterations = 1 if case.iterations is None else case.iterations
            by_metric[case.metric] += float(np.sum(case.value * iterations))
    return max(by_metric.values(), default=0.0)


def _describe(
    launches: Mapping[str, int],
    stopped: Collection[str],
    measured_and_planned: tuple[int, int],
    saved: float | None,
) -> str:
    measured, planned = measured_and_planned
    of = f" of {len(launches)} benchmarks" if len(launches) > 1 else ""
    share = (
        "" if saved is None else f" ({percent(saved)} of the planned device time saved)"
    )
    names_by_launches: dict[int, list[str]] = defaultdict(list)
    for name in stopped:
        names_by_launches[launches[name]].append(name)
    certain = [
        f"Certain after {count}: {list_some(names, NAMED)}."
        for count, names in sorted(names_by_launches.items())
    ]
    head = f"Measured {measured} of {planned} launches{of}{share}."
    return " ".join([head, *certain])
