"""Drives hyperfine. A plain command needs no hyperfine: `plain.py` times it the same way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paceline_contract.readers.hyperfine import read_json
from paceline_contract.results import Result

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
    has_option,
    program_of,
    without_options,
)


class Hyperfine:
    name = "hyperfine"
    title = "hyperfine"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        return program_of(command) == "hyperfine"

    def make_invocation(self, request: DriveRequest) -> Invocation:
        argv = without_options(request.command, "--export-json")
        argv += ["--export-json", str(request.results)]
        options = ("-r", "--runs", "-m", "--min-runs", "-M", "--max-runs")
        if not has_option(argv, *options):
            argv += ["--runs", str(max(request.repetitions, 2))]
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Result:
        return read_json(finished.read_results())
