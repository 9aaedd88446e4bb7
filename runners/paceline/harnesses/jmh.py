"""Drives JMH and reads its JSON. Every iteration of every fork is a sample, and in its sample mode every call.

Of calls JMH keeps a histogram for each iteration, which may stand for millions. Of more than `KEPT_CALLS` every n-th
is read, in the order of the file, so that their distribution stays.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from paceline.harnesses.port import (
    NS_PER_S,
    TIME_UNITS,
    DriveRequest,
    FinishedStart,
    HarnessError,
    Invocation,
    MeasuredCase,
    MeasuredMetric,
    Reading,
    has_option,
    join_name,
    program_of,
    read_document,
    refuse_duplicates,
    sample_of,
    time_unit_ns,
    without_options,
)

BENCHMARK_LIST = "META-INF/BenchmarkList"
"""The jar of a JMH project contains this file."""
EXACT = 1000
"""A sample has so many iterations, and a rate is at least this: JMH gives averages, of which no digit shall be lost."""

KEPT_CALLS = 10_000
"""At most so many calls of a benchmark are read from its histograms."""


class Jmh:
    name = "jmh"
    title = "JMH"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:
        if program_of(command) != "java":
            return False
        jars = [argument for argument in command if argument.endswith(".jar")]
        return "org.openjdk.jmh.Main" in command or any(
            _is_jmh(directory / jar) for jar in jars
        )

    def make_invocation(self, request: DriveRequest) -> Invocation:
        argv = without_options(request.command, "-rf", "-rff")
        defaults = {
            "-f": "1",
            "-wi": "2",
            "-i": str(max(request.repetitions, 3)),
            "-w": f"{request.min_time_ns // 1_000_000}ms",
            "-r": f"{request.min_time_ns // 1_000_000}ms",
        }
        for option, value in defaults.items():
            if not has_option(argv, option):
                argv += [option, value]
        return Invocation([*argv, "-rf", "json", "-rff", str(request.results)])

    def read(self, finished: FinishedStart) -> Reading:
        return read_json(finished.read_results())


def _is_jmh(jar: Path) -> bool:
    try:
        with zipfile.ZipFile(jar) as archive:
            return BENCHMARK_LIST in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def read_json(data: bytes) -> Reading:
    """Read a file of `-rf json`. Raises HarnessError."""
    _, entries = read_document(b'{"results":' + data + b"}", "JMH", "results")
    cases = refuse_duplicates(_case_of(entry) for entry in entries)
    versions = {
        str(entry["jmhVersion"]) for entry in entries if entry.get("jmhVersion")
    }
    return Reading(cases, {"jmh": ", ".join(sorted(versions))} if versions else {})


def _case_of(entry: Any) -> MeasuredCase:
    name = entry.get("benchmark") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise HarnessError('expected every result to have a "benchmark"')
    params = entry.get("params") or {}
    pairs = [f"{key}={text}" for key, text in params.items()]
    value = " ".join(params.values() if len(pairs) == 1 else pairs) or None
    mode, primary = str(entry.get("mode")), entry.get("primaryMetric") or {}
    full_name = join_name(name, value)
    if mode != "avgt":
        # One benchmark may run in several modes.
        name, full_name = f"{name}.{mode}", f"{full_name} ({mode})"
    figures = [figure for fork in primary.get("rawData") or [] for figure in fork]
    figures += _thin_histograms(full_name, primary.get("rawDataHistogram") or [])
    if not figures:
        raise HarnessError(f"{full_name}: expected samples in primaryMetric.rawData")
    metric = _metric_of(full_name, str(primary.get("scoreUnit")), figures)
    return MeasuredCase(full_name, name, value, [metric])


def _thin_histograms(name: str, forks: list[Any]) -> list[Any]:
    """Return every n-th call of the histograms of all forks, at most `KEPT_CALLS`. Raises HarnessError."""
    bins = [entry for fork in forks for iteration in fork for entry in iteration]
    for entry in bins:
        if not (
            isinstance(entry, list)
            and len(entry) == 2
            and type(entry[1]) is int
            and entry[1] >= 0
        ):
            raise HarnessError(
                f"{name}: expected pairs of a time and a number of calls in rawDataHistogram, found {entry!r}"
            )
    step = -(-sum(calls for _, calls in bins) // KEPT_CALLS) or 1
    return list(_take_every(step, bins))


def _take_every(step: int, bins: list[Any]) -> Iterator[Any]:
    """Yield every `step`-th figure of (figure, number) pairs without making all of them."""
    skipped = 0
    for figure, number in bins:
        for _ in range(skipped, number, step):
            yield figure
        skipped = (skipped - number) % step


def _metric_of(name: str, unit: str, figures: list[Any]) -> MeasuredMetric:
    amount, _, per = unit.partition("/")
    where = f"a sample of {name}"
    for figure in figures:
        sample_of(figure, 1, where)
    if amount == "ops" and per in TIME_UNITS:
        scale = NS_PER_S / TIME_UNITS[per]
        if any(figure * scale < EXACT for figure in figures):
            raise HarnessError(
                f"{name}: rates below {EXACT} per second lose digits; measure its time: -bm avgt"
            )
        rates = [sample_of(figure, 1, where, scale) for figure in figures]
        return MeasuredMetric("throughput", "op/s", "higher", rates)
    scale = time_unit_ns(amount, f"scoreUnit of {name}")
    times = [sample_of(figure, EXACT, where, scale) for figure in figures]
    return MeasuredMetric("time", "ns", "lower", times)
