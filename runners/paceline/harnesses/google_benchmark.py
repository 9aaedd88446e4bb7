"""Drives Google Benchmark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from paceline_contract.readers.google_benchmark import read_json
from paceline_contract.results import Result
from paceline_contract.units import NS_PER

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
    has_option,
    program_contains,
    without_options,
)

MARKS = (b"benchmark_min_time", b"libbenchmark.so", b"import google_benchmark")
"""A program that is linked with the library, statically or not, contains one of these, or a script that imports it."""


class GoogleBenchmark:
    name = "google-benchmark"
    title = "Google Benchmark"
    can_filter = True

    def detect(self, command: Sequence[str], directory: Path) -> bool:
        return program_contains(command, directory, MARKS) or has_option(
            command, "--benchmark_filter", "--benchmark_min_time"
        )

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
            argv.append(f"--benchmark_min_time={request.min_time_ns / NS_PER['s']:g}")
        if not has_option(argv, "--benchmark_repetitions"):
            argv.append(f"--benchmark_repetitions={request.repetitions}")
        if request.only:
            names = "|".join(re.escape(name) for name in request.only)
            argv = without_options(argv, "--benchmark_filter")
            argv.append(f"--benchmark_filter=^({names})$")
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Result:
        return read_json(finished.read_results())
