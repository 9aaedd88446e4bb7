"""Drives pytest-benchmark and reads its JSON, which has every round. A test that fails makes pytest fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paceline.harnesses.port import (
    NS_PER_S,
    DriveRequest,
    FinishedStart,
    HarnessError,
    Invocation,
    MeasuredCase,
    MeasuredMetric,
    Reading,
    has_option,
    program_of,
    read_document,
    refuse_duplicates,
    sample_of,
    without_options,
)


class PytestBenchmark:
    name = "pytest-benchmark"
    title = "pytest-benchmark"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        return program_of(command) in ("pytest", "py.test") or (
            program_of(command).startswith("python")
            and list(command[1:3]) == ["-m", "pytest"]
        )

    def make_invocation(self, request: DriveRequest) -> Invocation:
        argv = without_options(request.command, "--benchmark-json")
        defaults = {
            "--benchmark-json": str(request.results),
            "--benchmark-max-time": f"{request.min_time_ns / NS_PER_S:g}",
            "--benchmark-min-rounds": str(max(request.repetitions, 5)),
        }
        argv += [
            f"{name}={value}"
            for name, value in defaults.items()
            if not has_option(argv, name)
        ]
        if not has_option(argv, "--benchmark-only"):
            argv.append("--benchmark-only")
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Reading:
        return read_json(finished.read_results())


def read_json(data: bytes) -> Reading:
    """Read a file of `--benchmark-json`. Raises HarnessError."""
    document, entries = read_document(data, "pytest-benchmark", "benchmarks")
    cases = refuse_duplicates(_case_of(entry) for entry in entries)
    version = document.get("version")
    return Reading(cases, {"pytest_benchmark": str(version)} if version else {})


def _case_of(entry: Any) -> MeasuredCase:
    name = entry.get("fullname") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise HarnessError('expected every benchmark to have a "fullname"')
    stats = entry.get("stats")
    if not isinstance(stats, dict) or not stats.get("data"):
        raise HarnessError(
            f"{name}: expected every round in stats.data, as --benchmark-json writes it"
        )
    iterations = stats.get("iterations")
    if not isinstance(iterations, int):
        raise HarnessError(
            f"{name}: expected a number of iterations, found {iterations!r}"
        )
    samples = [
        sample_of(time, iterations, f"a round of {name}", NS_PER_S)
        for time in stats["data"]
    ]
    benchmark, _, value = name.removesuffix("]").partition("[")
    metric = MeasuredMetric("time", "ns", "lower", samples)
    return MeasuredCase(name, benchmark, value or None, [metric])
