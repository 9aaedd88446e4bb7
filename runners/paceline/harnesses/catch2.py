"""Drives the benchmarks of a Catch2 program. It leaves means, so that a start of it is one value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paceline_contract.readers.catch2 import read_xml
from paceline_contract.results import Result

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
    has_option,
    program_contains,
    without_options,
)

MARKS = (b"benchmark-confidence-interval", b"libCatch2")
"""A program that is linked with the library, statically or not, contains one of these."""


class Catch2:
    name = "catch2"
    title = "Catch2"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:
        return program_contains(command, directory, MARKS)

    def make_invocation(self, request: DriveRequest) -> Invocation:
        argv = without_options(request.command, "-r", "--reporter", "-o", "--out")
        argv += ["--reporter", "xml", "--out", str(request.results)]
        if not has_option(argv, "--benchmark-no-analysis", "--benchmark-resamples"):
            # Its bootstrap takes longer than the benchmark and does not change the mean.
            argv.append("--benchmark-no-analysis")
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Result:
        return read_xml(finished.read_results())
