"""Drives JMH. What failed is not in its file, and is read from what it printed."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from paceline_contract.readers.jmh import read_failures, read_json
from paceline_contract.results import Result

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
    has_option,
    program_of,
    without_options,
)

BENCHMARK_LIST = "META-INF/BenchmarkList"
"""The jar of a JMH project contains this file."""


class Jmh:
    name = "jmh"
    title = "JMH"
    can_filter = True

    def detect(self, command: Sequence[str], directory: Path) -> bool:
        if program_of(command) != "java":
            return False
        jars = [argument for argument in command if argument.endswith(".jar")]
        return "org.openjdk.jmh.Main" in command or any(
            _is_jmh(directory / jar) for jar in jars
        )

    def make_invocation(self, request: DriveRequest) -> Invocation:
        argv = without_options(request.command, "-rf", "-rff")
        defaults = {
            "-f": "1",
            "-wi": "2",
            "-i": str(max(request.repetitions, 3)),
            "-w": f"{request.min_time_ns // 1_000_000}ms",
            "-r": f"{request.min_time_ns // 1_000_000}ms",
        }
        for option, value in defaults.items():
            if not has_option(argv, option):
                argv += [option, value]
        if request.only:
            # The command's own patterns choose what runs, and this leaves out all others of them.
            argv += ["-e", f"^(?!({_any_method(request.only)})$)"]
        return Invocation([*argv, "-rf", "json", "-rff", str(request.results)])

    def read(self, finished: FinishedStart) -> Result:
        result = read_json(finished.read_results())
        measured = {case.name for case in result.cases}
        failed = read_failures(finished.stdout)
        return msgspec.structs.replace(
            result,
            cases=[
                *result.cases,
                *(case for case in failed if case.name not in measured),
            ],
        )


def _any_method(names: Sequence[str]) -> str:
    """Return the pattern of the methods of cases, which are called `METHOD/PARAMS (MODE)`."""
    methods = {name.partition("/")[0].partition(" (")[0] for name in names}
    return "|".join(re.escape(method) for method in sorted(methods))


def _is_jmh(jar: Path) -> bool:
    try:
        with zipfile.ZipFile(jar) as archive:
            return BENCHMARK_LIST in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
