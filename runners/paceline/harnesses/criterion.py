"""Drives Criterion (`cargo bench`) into a directory of its own and reads that, as imports do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.errors import UserError
from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    HarnessError,
    Invocation,
    MeasuredCase,
    MeasuredMetric,
    Reading,
    program_of,
    refuse_duplicates,
    sample_of,
)

if TYPE_CHECKING:
    from paceline.formats.criterion import CriterionSeries

DIRECTORY = "criterion"
OTHERS = (
    (re.compile(rb"^Timer precision: \S+ \S+$", re.MULTILINE), "Divan"),
    (
        re.compile(rb"^test .+ \.\.\. bench: +[\d,.]+ ns/iter ", re.MULTILINE),
        "Rust's own harness (#[bench])",
    ),
)
"""What other harnesses print that `cargo bench` runs, and their names."""


class Criterion:
    name = "criterion"
    title = "Criterion"
    can_filter = False

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        return program_of(command) == "cargo" and "bench" in command[1:]

    def make_invocation(self, request: DriveRequest) -> Invocation:
        """Give Criterion its directory in the environment. Its own options are the user's, because what runs beside it
        under `cargo bench` refuses them."""
        directory = str(request.output / DIRECTORY)
        return Invocation(request.command, {"CRITERION_HOME": directory})

    def read(self, finished: FinishedStart) -> Reading:
        directory = finished.request.output / DIRECTORY
        if not directory.is_dir():
            for mark, other in OTHERS:
                if mark.search(finished.stdout):
                    raise HarnessError(
                        f"these benchmarks are of {other}, which leaves no samples and is not driven: time them as a "
                        "process with --harness command"
                    )
        return read_directory(directory)


def read_directory(directory: Path) -> Reading:
    """Read a directory that was empty before the run. Raises HarnessError."""
    # Other harnesses do not need these modules, and every launch imports this one.
    from paceline_contract.imported_series import sentences  # noqa: PLC0415

    from paceline import criterion_runs  # noqa: PLC0415

    if not directory.is_dir():
        raise HarnessError(
            "the command exited with status 0 and Criterion left no results"
        )
    try:
        document = criterion_runs.read(str(directory), is_fresh=True)
    except UserError as error:
        raise HarnessError(error.text) from error
    if document.left_out:
        raise HarnessError("; ".join(sentences(document.left_out)))
    # Criterion keeps the last run twice, as `new` and as a baseline; one of them is listed.
    cases = [_case_of(series) for series in document.series if series.last_run]
    return Reading(refuse_duplicates(cases))


def _case_of(series: CriterionSeries) -> MeasuredCase:
    samples = [
        sample_of(time / iterations, iterations, f"a sample of {series.id}")
        for time, iterations in zip(series.times, series.iterations, strict=True)
    ]
    value = series.value or None
    benchmark = series.id if value is None else series.id.removesuffix(f"/{value}")
    return MeasuredCase(
        series.id, benchmark, value, [MeasuredMetric("time", "ns", "lower", samples)]
    )
