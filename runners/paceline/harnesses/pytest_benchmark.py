"""Drives pytest-benchmark. A test that fails makes pytest fail."""

from __future__ import annotations

import re
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

KEYWORD = "-k"
_WORD = re.compile(r"[\w:+\-.\[\]]+")
"""Matches the names that an expression of -k may have in every version."""


class PytestBenchmark:
    name = "pytest-benchmark"
    title = "pytest-benchmark"
    can_filter = True

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
        if request.only:
            argv = _select_tests(argv, request.only)
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Result:
        return read_json(finished.read_results())


def _select_tests(command: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the command with an expression of -k for these tests and what its own one says. Of several, pytest takes
    the last."""
    argv: list[str] = []
    expression = _any_test(names)
    own = None
    arguments = iter(command)
    for argument in arguments:
        if argument == KEYWORD:
            own = next(arguments, None)
        elif argument.startswith(KEYWORD):
            own = argument.removeprefix(KEYWORD).removeprefix("=")
        else:
            argv.append(argument)
    if own:
        expression = f"({own}) and ({expression})"
    return [*argv, KEYWORD, expression]


def _any_test(names: Sequence[str]) -> str:
    """Return the expression of -k that selects these tests, which are called `FILE::CLASS::FUNCTION[PARAMS]`.

    It selects those of a longer name, too, and of one whose params it cannot say, those with other params.
    """
    return " or ".join(sorted({f"({' and '.join(_words_of(name))})" for name in names}))


def _words_of(name: str) -> list[str]:
    test, bracket, params = name.partition("[")
    *path, function = test.split("::")
    if _WORD.fullmatch(bracket + params):
        function += bracket + params
    file = path[0].rpartition("/")[2] if path else ""
    return [word for word in (file, *path[1:], function) if _WORD.fullmatch(word)]
