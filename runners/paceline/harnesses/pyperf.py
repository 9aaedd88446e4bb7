"""Drives pyperf: a script with its `Runner`, or `python -m pyperf timeit`. One worker process is one start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paceline_contract.readers.pyperf import read_json
from paceline_contract.results import Result
from paceline_contract.units import NS_PER

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
    has_option,
    program_contains,
    program_of,
    without_options,
)
from paceline.layout import LAYOUT_VARIABLE

MARKS = (b"import pyperf", b"from pyperf")
MODULE = ["-m", "pyperf"]
COMMAND = "command"
MEASURING = ("timeit", COMMAND)
"""The subcommands that measure."""
WITH_VALUE = {
    *("-p", "--processes", "-n", "--values", "-w", "--warmups", "-l", "--loops"),
    *("-o", "--output", "--append", "--pipe", "--min-time", "--timeout", "--name"),
    *("--inherit-environ", "--copy-env", "--affinity", "--python", "--compare-to"),
}
"""The options of pyperf whose value may be the next word."""


class Pyperf:
    name = "pyperf"
    title = "pyperf"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:
        if not program_of(command).startswith("python"):
            return False
        if list(command[1:3]) == MODULE:
            return len(command) > 3 and command[3] in MEASURING
        return program_contains(command, directory, MARKS)

    def make_invocation(self, request: DriveRequest) -> Invocation:
        """Put the options in front of what a subcommand measures, which has its own."""
        own, program = _split_off_program(request.command)
        argv = without_options(own, "-o", "--output", "--append")
        options = [f"--output={request.results}"]
        defaults = {
            ("--processes", "-p"): "1",
            ("--values", "-n"): str(max(request.repetitions, 3)),
            ("--warmups", "-w"): "1",
            ("--min-time",): f"{request.min_time_ns / NS_PER['s']:g}",
            # Its workers inherit few variables.
            ("--inherit-environ", "--copy-env"): LAYOUT_VARIABLE,
        }
        options += [
            f"{names[0]}={value}"
            for names, value in defaults.items()
            if not has_option(argv, *names)
        ]
        at = 4 if argv[1:3] == MODULE else 2
        return Invocation([*argv[:at], *options, *argv[at:], *program])

    def read(self, finished: FinishedStart) -> Result:
        return read_json(finished.read_results())


def _split_off_program(
    command: Sequence[str],
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the words for pyperf, and the program that it times with its arguments, if it times one."""
    if list(command[1:4]) != [*MODULE, COMMAND]:
        return command, ()
    at = 4
    while at < len(command) and command[at].startswith("-"):
        at += 2 if command[at] in WITH_VALUE else 1
    return command[:at], command[at:]
