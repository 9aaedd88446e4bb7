"""Calls `paceline-server judge`, which decides the verdicts on a directory of measurements.

Between launches it is asked what is undecided, as an agent asks its server, by one rule about how often."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

ASK_S = 2.0
"""The expected duration of the first answer."""
ASK_LIMIT_S = 60.0
"""An answer that takes longer is not waited for."""
ASK_SHARE = 0.2
"""Asking may take at most this share of the time of measuring."""


def find_judge() -> str | None:
    """Return the path of `paceline-server`, or None if it is not installed."""
    beside = Path(sys.executable).parent
    return shutil.which("paceline-server", path=str(beside)) or shutil.which(
        "paceline-server"
    )


def judge(
    command: str,
    directory: Path,
    arguments: Sequence[str] = (),
    *,
    to_stderr: bool = False,
) -> int:
    """Run `paceline-server judge` on a directory and return its exit status. `command` is what `find_judge` found;
    `to_stderr` leaves standard output to a document of the caller."""
    sys.stdout.flush()
    return subprocess.run(
        [command, "judge", str(directory), *arguments],
        check=False,
        stdout=sys.stderr if to_stderr else None,
    ).returncode


class AskingPace:
    """Decides how often to ask between launches what is undecided: only where that takes a small part of the time
    measured since it was last asked, for it may disturb a shared host."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked_at = clock()
        self._cost_s = ASK_S

    @property
    def is_due(self) -> bool:
        return (self._clock() - self._asked_at) * ASK_SHARE >= self._cost_s

    @contextmanager
    def measure_asking(self) -> Iterator[None]:
        """Count the time in the context as time of asking."""
        began = self._clock()
        try:
            yield
        finally:
            self._asked_at = self._clock()
            self._cost_s = self._asked_at - began

    def end(self) -> None:
        """Let no more asking be due."""
        self._cost_s = math.inf


class JudgeBetweenLaunches:
    """Asks `paceline-server judge` between launches which benchmarks are undecided.

    `record` writes run.json. Before the planned launches are over it asks only where that is due; without an answer
    every benchmark goes on."""

    def __init__(
        self,
        command: str,
        directory: Path,
        planned: int,
        *,
        record: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command, self._directory, self._planned = command, directory, planned
        self._record, self._pace = record, AskingPace(clock)

    def list_undecided(self, launches: int) -> list[str] | None:
        """Return the benchmarks that more launches may decide, after so many; None where that is not known."""
        if launches < self._planned and not self._pace.is_due:
            return None
        with self._pace.measure_asking():
            return self._ask()

    def _ask(self) -> list[str] | None:
        self._record()
        try:
            answer = subprocess.run(
                [self._command, "judge", str(self._directory), "--undecided"],
                check=True,
                capture_output=True,
                timeout=ASK_LIMIT_S,
            )
            return msgspec.json.decode(answer.stdout, type=list[str])
        except (OSError, subprocess.SubprocessError, msgspec.MsgspecError):
            return None
