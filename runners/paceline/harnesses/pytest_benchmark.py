"""Drives pytest-benchmark. A test that fails makes pytest fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paceline_contract.readers.pytest_benchmark import read_json
from paceline_contract.results import Result
from paceline_contract.units import NS_PER

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
    has_option,
    program_of,
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
            "--benchmark-max-time": f"{request.min_time_ns / NS_PER['s']:g}",
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

    def read(self, finished: FinishedStart) -> Result:
        return read_json(finished.read_results())
