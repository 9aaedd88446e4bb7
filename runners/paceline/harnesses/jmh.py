"""Drives JMH and reads its JSON. Every iteration of every fork is a sample."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paceline.harnesses.port import (
    TIME_UNITS,
    DriveRequest,
    Finished,
    HarnessError,
    Invocation,
    MeasuredCase,
    MeasuredMetric,
    Reading,
    Sample,
    program_of,
    read_document,
    refuse_duplicates,
    sample_of,
    time_unit_ns,
)

RESULTS = "results.json"
LIST = "META-INF/BenchmarkList"
"""What the jar of a JMH project contains."""
EXACT = 1000
"""Iterations of a sample, and the least rate: JMH gives averages, of which no digit shall be lost."""


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

    def command(self, request: DriveRequest) -> Invocation:
        argv = list(request.command)
        defaults = {
            "-f": "1",
            "-wi": "2",
            "-i": str(max(request.repetitions, 3)),
            "-w": f"{request.min_time_ns // 1_000_000}ms",
            "-r": f"{request.min_time_ns // 1_000_000}ms",
        }
        for option, value in defaults.items():
            if option not in argv:
                argv += [option, value]
        return Invocation([*argv, "-rf", "json", "-rff", str(request.output / RESULTS)])

    def read(self, finished: Finished) -> Reading:
        return read_json(finished.file(RESULTS))


def _is_jmh(jar: Path) -> bool:
    try:
        with zipfile.ZipFile(jar) as archive:
            return LIST in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def read_json(data: bytes) -> Reading:
    """Read a file of `-rf json`. Raises HarnessError."""
    _, entries = read_document(b'{"results":' + data + b"}", "JMH", "results")
    cases = refuse_duplicates(_case(entry) for entry in entries)
    versions = {
        str(entry["jmhVersion"]) for entry in entries if entry.get("jmhVersion")
    }
    return Reading(cases, {"jmh": ", ".join(sorted(versions))} if versions else {})


def _case(entry: Any) -> MeasuredCase:
    name = entry.get("benchmark") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise HarnessError('expected every result to have a "benchmark"')
    params = entry.get("params") or {}
    named = [f"{key}={text}" for key, text in params.items()]
    value = " ".join(params.values() if len(named) == 1 else named) or None
    mode, primary = str(entry.get("mode")), entry.get("primaryMetric") or {}
    full = name if value is None else f"{name}/{value}"
    if mode != "avgt":
        # One benchmark may run in several modes.
        name, full = f"{name}.{mode}", f"{full} ({mode})"
    figures = [each for fork in primary.get("rawData") or [] for each in fork]
    figures += [
        each
        for fork in primary.get("rawDataHistogram") or []
        for iteration in fork
        for each, times in iteration
        for _ in range(int(times))
    ]
    if not figures:
        raise HarnessError(f"{full}: expected samples in primaryMetric.rawData")
    unit = str(primary.get("scoreUnit"))
    metric = _metric(full, unit, figures)
    return MeasuredCase(full, name, value, [metric])


def _metric(name: str, unit: str, figures: list[Any]) -> MeasuredMetric:
    amount, _, per = unit.partition("/")
    for figure in figures:
        sample_of(figure, 1, f"a sample of {name}")
    if amount == "ops" and per in TIME_UNITS:
        scale = 1e9 / TIME_UNITS[per]
        if any(each * scale < EXACT for each in figures):
            raise HarnessError(
                f"{name}: rates below {EXACT} per second lose digits; measure its time: -bm avgt"
            )
        rates = [
            Sample(1, sample_of(each * scale, 1, f"a sample of {name}").total)
            for each in figures
        ]
        return MeasuredMetric("throughput", "op/s", "higher", rates)
    scale = time_unit_ns(amount, f"scoreUnit of {name}")
    times = [sample_of(each * scale, EXACT, f"a sample of {name}") for each in figures]
    return MeasuredMetric("time", "ns", "lower", times)
