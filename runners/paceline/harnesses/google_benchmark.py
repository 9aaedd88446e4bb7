"""Drives Google Benchmark and reads its JSON. Aggregates (mean, median, complexity) are no samples and left out."""

from __future__ import annotations

import re
import shutil
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
    sample_of,
    several_are_called,
    split_name,
    time_unit_ns,
    without_options,
)

MARKS = (b"benchmark_min_time", b"libbenchmark.so", b"import google_benchmark")
"""A program that is linked with the library, statically or not, contains one of these, or a script that imports it."""
SEARCHED_BYTES = 256 << 20


class GoogleBenchmark:
    name = "google-benchmark"
    title = "Google Benchmark"
    can_filter = True

    def detect(self, command: Sequence[str], directory: Path) -> bool:
        names = [command[0]]
        if program_of(command).startswith("python"):
            names = [argument for argument in command[1:2] if argument.endswith(".py")]
        for name in names:
            program = directory / name
            if not program.is_file() and "/" not in name:
                program = Path(shutil.which(name) or program)
            if program.is_file() and program.stat().st_size <= SEARCHED_BYTES:
                data = program.read_bytes()
                if any(mark in data for mark in MARKS):
                    return True
        return has_option(command, "--benchmark_filter", "--benchmark_min_time")

    def make_invocation(self, request: DriveRequest) -> Invocation:
        argv = [
            *without_options(
                request.command, "--benchmark_out", "--benchmark_out_format"
            ),
            f"--benchmark_out={request.results}",
            "--benchmark_out_format=json",
        ]
        if not has_option(argv, "--benchmark_min_time"):
            # Without a unit it means seconds in every version.
            argv.append(f"--benchmark_min_time={request.min_time_ns / NS_PER_S:g}")
        if not has_option(argv, "--benchmark_repetitions"):
            argv.append(f"--benchmark_repetitions={request.repetitions}")
        if request.only:
            names = "|".join(re.escape(name) for name in request.only)
            argv = without_options(argv, "--benchmark_filter")
            argv.append(f"--benchmark_filter=^({names})$")
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Reading:
        return read_json(finished.read_results())


def read_json(data: bytes) -> Reading:
    """Read a file of `--benchmark_out_format=json`. Raises HarnessError."""
    document, entries = read_document(data, "Google Benchmark", "benchmarks")
    runs: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise HarnessError('expected every benchmark to have a "name"')
        if entry.get("run_type", "iteration") == "iteration" and not _is_summary(entry):
            runs.setdefault(entry["name"], []).append(entry)
    context = document.get("context")
    version = context.get("library_version") if isinstance(context, dict) else None
    facts = {"google_benchmark": version} if isinstance(version, str) else {}
    return Reading(_cases_of(runs), facts)


def _is_summary(entry: dict[str, Any]) -> bool:
    """Check whether an entry is an aggregate of a version that has no run_type."""
    return "aggregate_name" in entry or ("iterations" not in entry and "rms" in entry)


def _cases_of(runs: dict[str, list[dict[str, Any]]]) -> list[MeasuredCase]:
    """Return the case of each name. Raises HarnessError for an index that is there twice: then two benchmarks have one
    name."""
    cases = []
    for name, entries in runs.items():
        indexes = [entry.get("repetition_index") for entry in entries]
        if None not in indexes and len(set(map(repr, indexes))) < len(indexes):
            raise HarnessError(several_are_called(name))
        failed = next((entry for entry in entries if entry.get("error_occurred")), None)
        skipped = next((entry for entry in entries if entry.get("skipped")), None)
        failure = unavailable = None
        metrics: list[MeasuredMetric] = []
        if failed is not None:
            failure = str(failed.get("error_message") or "it failed")
        elif skipped is not None:
            unavailable = str(skipped.get("skip_message") or "it was skipped")
        else:
            metrics = _metrics_of(name, entries)
        benchmark, value = split_name(name)
        cases.append(
            MeasuredCase(name, benchmark, value, metrics, failure, unavailable)
        )
    return cases


def _metrics_of(name: str, entries: list[dict[str, Any]]) -> list[MeasuredMetric]:
    metrics = []
    for metric, key in (("time", "real_time"), ("cpu_time", "cpu_time")):
        samples = []
        for entry in entries:
            where = f"{key} of {name}"
            unit_ns = time_unit_ns(str(entry.get("time_unit", "ns")), where)
            iterations = int(entry.get("iterations") or 0)
            samples.append(sample_of(entry.get(key), iterations, where, unit_ns))
        if metric == "time" or all(sample.total for sample in samples):
            metrics.append(MeasuredMetric(metric, "ns", "lower", samples))
    for metric, key in (("allocations", "allocs_per_iter"),):
        figures = [entry.get(key) for entry in entries]
        if all(figures):
            samples = [
                sample_of(figure, int(entry["iterations"]), f"{key} of {name}")
                for figure, entry in zip(figures, entries, strict=True)
            ]
            metrics.append(MeasuredMetric(metric, "count", "lower", samples))
    return metrics
