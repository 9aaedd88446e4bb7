"""Drives Divan (`cargo bench`). It prints medians, so that a start of it is one value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from paceline_contract.readers.divan import read_text
from paceline_contract.results import Result

from paceline.harnesses.cargo_bench import depends_on, is_cargo_bench, select_cases
from paceline.harnesses.port import DriveRequest, FinishedStart, Invocation

DIVAN_VALUE = re.compile(
    "--(color|skip|sort|sortr|timer|sample-count|sample-size|threads|min-time|max-time|skip-ext-time|items-count"
    "|bytes-count|bytes-format|chars-count|cycles-count)"
)
"""Matches those of its options that take a value."""
_THREADS = re.compile(r"::t=\d+\Z")
"""Matches the last level of a name where a benchmark runs with several numbers of threads. Filters do not know it."""


class Divan:
    name = "divan"
    title = "Divan"
    can_filter = True

    def detect(self, command: Sequence[str], directory: Path) -> bool:
        return (
            is_cargo_bench(command)
            and depends_on("divan", directory)
            and not depends_on("criterion", directory)
        )

    def make_invocation(self, request: DriveRequest) -> Invocation:
        """Leave its options to the user: given again, they would replace those that stand in the benchmarks."""
        argv = request.command
        if request.only:
            names = {
                text for name in request.only for text in (name, _THREADS.sub("", name))
            }
            argv = select_cases(argv, DIVAN_VALUE, ["--exact", *sorted(names)])
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Result:
        return read_text(finished.stdout)
