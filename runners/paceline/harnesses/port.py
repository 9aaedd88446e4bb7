"""The port of a harness: another tool's benchmark runner that Paceline drives.

A harness says how its tool is started so that it leaves results, and names the reader of these.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec
from paceline_contract.results import MAX_BYTES, Result, ResultError

from paceline.executors.process import ProcessEnd
from paceline.first_error import Excerpt

RESULTS = "results.json"
"""The file in which tools leave their results."""
SEARCHED_BYTES = 256 << 20
"""The largest program that is searched for the marks of a harness."""


class HarnessError(Exception):
    """The tool cannot be driven, or its results cannot be used; the text says why. `excerpt` is what a person should see
    of the tool's output."""

    def __init__(self, text: str, excerpt: Excerpt | None = None) -> None:
        super().__init__(text)
        self.excerpt = excerpt


class DriveRequest(msgspec.Struct, frozen=True):
    """The task of one process start. `output` is an empty directory for its results; `only` names cases, where
    the harness can filter."""

    command: list[str]
    output: Path
    repetitions: int = 1
    min_time_ns: int = 100_000_000
    only: list[str] = []

    @property
    def results(self) -> Path:
        """Return the file in `output` for the results of a tool that writes one."""
        return self.output / RESULTS


class Invocation(msgspec.Struct, frozen=True):
    """A command line that starts the tool; `env` is added to the environment."""

    argv: list[str]
    env: dict[str, str] = {}
    discards_stdout: bool = False


class Overhead(msgspec.Struct, frozen=True):
    """The time that a shell takes which does nothing."""

    wall_ns: int = 0
    user_ns: int = 0
    system_ns: int = 0


class FinishedStart(msgspec.Struct, frozen=True):
    """A process start of a tool that exited with status 0."""

    request: DriveRequest
    end: ProcessEnd
    stdout: bytes = b""
    overhead: Overhead = Overhead()

    def read_results(self) -> bytes:
        """Return the bytes of the file of results. Raises ResultError without one, and if it is too large."""
        try:
            size = self.request.results.stat().st_size
            if size > MAX_BYTES:
                raise ResultError(
                    f"the command left {size:,} bytes of results: expected at most {MAX_BYTES:,}; run parts of it"
                )
            return self.request.results.read_bytes()
        except FileNotFoundError:
            raise ResultError(
                "the command exited with status 0 and left no results: it ran no benchmark, or not with this harness"
            ) from None


class Harness(Protocol):
    """One tool. `name` is what `--harness` takes; `title` is what people call it."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def can_filter(self) -> bool:
        """Return whether it can run only the named cases. Otherwise all cases are run."""

    def detect(self, command: Sequence[str], directory: Path) -> bool:
        """Return whether `command`, started in `directory`, runs this tool."""

    def make_invocation(self, request: DriveRequest) -> Invocation:
        """Return how to start it so that it leaves its results in the request's `output` or on standard output."""

    def read(self, finished: FinishedStart) -> Result:
        """Return what a start of it measured, as its reader (`paceline_contract.readers`) reads it. Raises
        ResultError."""


def has_option(command: Sequence[str], *names: str) -> bool:
    """Return whether a command line gives one of these options, as `NAME`, `NAME=VALUE`, or `-N1`, where a number
    follows a name of one letter."""
    return any(
        argument == name
        or argument.startswith(f"{name}=")
        or (len(name) == 2 and argument[:2] == name and argument[2:3].isdigit())
        for argument in command
        for name in names
    )


def without_options(command: Sequence[str], *names: str) -> list[str]:
    """Return a command line without these options and their values, which it gives as `NAME VALUE`, or `NAME=VALUE`."""
    remaining = []
    arguments = iter(command)
    for argument in arguments:
        if argument in names:
            next(arguments, None)
        elif not has_option([argument], *names):
            remaining.append(argument)
    return remaining


def program_of(command: Sequence[str]) -> str:
    """Return the file name of the program that a command starts."""
    return Path(command[0]).name


def program_contains(
    command: Sequence[str], directory: Path, marks: Sequence[bytes]
) -> bool:
    """Return whether the program that `command` runs in `directory` (of Python, the script) contains one of these
    texts."""
    names = [command[0]]
    if program_of(command).startswith("python"):
        names = [argument for argument in command[1:2] if argument.endswith(".py")]
    for name in names:
        program = directory / name
        if not program.is_file() and "/" not in name:
            program = Path(shutil.which(name) or program)
        if program.is_file() and program.stat().st_size <= SEARCHED_BYTES:
            data = program.read_bytes()
            if any(mark in data for mark in marks):
                return True
    return False
