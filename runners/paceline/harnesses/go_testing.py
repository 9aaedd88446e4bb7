"""Drives benchmarks of Go's package `testing`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paceline_contract.readers.go_testing import read_text
from paceline_contract.results import Result

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
    has_option,
    program_of,
)


class GoTesting:
    name = "go"
    title = "Go's package testing"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        if program_of(command) == "go" and "test" in command[1:2]:
            return True
        return has_option(command, "-test.bench")

    def make_invocation(self, request: DriveRequest) -> Invocation:
        prefix = "-" if program_of(request.command) == "go" else "-test."
        argv = list(request.command)

        def add_default(name: str, value: str) -> None:
            if not has_option(argv, f"-{name}", f"--{name}", f"-test.{name}"):
                # Before the packages and `-args`, where the command has its own options.
                argv.insert(2 if prefix == "-" else 1, f"{prefix}{name}={value}")

        add_default("bench", ".")
        add_default("run", "^$")
        add_default("count", str(request.repetitions))
        add_default("benchtime", f"{request.min_time_ns}ns")
        if not has_option(argv, "-benchmem", "--benchmem", "-test.benchmem"):
            argv.insert(2 if prefix == "-" else 1, f"{prefix}benchmem")
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Result:
        return read_text(finished.stdout)
