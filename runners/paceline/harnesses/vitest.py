"""Drives `vitest bench`. It leaves medians, so that a start of it is one value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paceline_contract.readers.vitest import read_json
from paceline_contract.results import Result

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
    has_option,
    program_of,
    without_options,
)

STARTERS = ("npx", "pnpm", "yarn", "bunx")
"""Programs that start one of a project's packages by its name."""


class Vitest:
    name = "vitest"
    title = "Vitest"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        program = program_of(command)
        return "bench" in command[1:] and (
            program == "vitest" or (program in STARTERS and "vitest" in command[1:3])
        )

    def make_invocation(self, request: DriveRequest) -> Invocation:
        argv = without_options(request.command, "--outputJson")
        argv.append(f"--outputJson={request.results}")
        if not has_option(argv, "--run", "--watch"):
            argv.append("--run")
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Result:
        return read_json(finished.read_results())
