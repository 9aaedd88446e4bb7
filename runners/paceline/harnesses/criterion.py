"""Drives Criterion (`cargo bench`) into a directory of its own and reads that, as imports do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
from paceline_contract.imported_series import sentences
from paceline_contract.results import (
    MeasuredCase,
    Result,
    ResultError,
    refuse_duplicates,
)

from paceline.harnesses.cargo_bench import is_cargo_bench, select_cases
from paceline.harnesses.port import DriveRequest, FinishedStart, Invocation

DIRECTORY = "criterion"
OTHERS = (
    (
        re.compile(rb"^\S.* fastest +\xe2\x94\x82 slowest", re.MULTILINE),
        "Divan: give --harness divan",
    ),
    (
        re.compile(rb"^test .+ \.\.\. bench: +[\d,.]+ ns/iter ", re.MULTILINE),
        "Rust's own harness (#[bench]), which leaves no samples and is not driven: time them as a process with "
        "--harness command",
    ),
)
"""What other harnesses print that `cargo bench` runs, and what to do with them."""
_META = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
"""Matches what Rust's patterns, in every version, may have behind a backslash."""
CRITERION_VALUE = re.compile(
    "-[sbc]|--(save-baseline|baseline|baseline-lenient|load-baseline|sample-size|warm-up-time|measurement-time"
    "|nresamples|noise-threshold|confidence-level|significance-level|profile-time|plotting-backend|output-format"
    "|format|color|skip|logfile|test-threads)"
)
"""Matches those of Criterion, and of the harness of Rust's own tests that runs beside it."""


class Criterion:
    name = "criterion"
    title = "Criterion"
    can_filter = True

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        return is_cargo_bench(command)

    def make_invocation(self, request: DriveRequest) -> Invocation:
        """Give Criterion its directory in the environment. Its own options are the user's, because what runs beside it
        under `cargo bench` refuses them."""
        directory = str(request.output / DIRECTORY)
        argv = request.command
        if request.only:
            # They are among those that the command's own filter selects, and Criterion takes one pattern.
            names = (_META.sub(r"\\\g<0>", name) for name in sorted(request.only))
            argv = select_cases(argv, CRITERION_VALUE, [f"^({'|'.join(names)})$"])
        return Invocation(argv, {"CRITERION_HOME": directory})

    def read(self, finished: FinishedStart) -> Result:
        directory = finished.request.output / DIRECTORY
        if not directory.is_dir():
            for mark, other in OTHERS:
                if mark.search(finished.stdout):
                    raise ResultError(f"these benchmarks are of {other}")
        return read_directory(directory)


def read_directory(directory: Path) -> Result:
    """Read a directory that was empty before the run. Raises ResultError."""
    # Other harnesses do not need these modules, and every launch imports this one.
    from paceline_contract.readers import criterion  # noqa: PLC0415

    from paceline.result_files import list_files  # noqa: PLC0415

    if not directory.is_dir():
        raise ResultError(
            "the command exited with status 0 and Criterion left no results"
        )
    result = criterion.read_directory(list_files(directory), True)
    if result.problems:
        raise ResultError("; ".join(sentences(result.problems)))
    cases = refuse_duplicates(map(_without_arm, result.cases))
    return msgspec.structs.replace(result, cases=cases)


def _without_arm(case: MeasuredCase) -> MeasuredCase:
    """Return the case with its function as a part of the benchmark: the arms of a driven command are its --arm."""
    benchmark = (
        case.name if case.value is None else case.name.removesuffix(f"/{case.value}")
    )
    return msgspec.structs.replace(case, benchmark=benchmark, arm=None)
