"""Calls `paceline-server judge`, which decides the verdicts on a directory of measurements."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
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


class JudgeBetweenLaunches:
    """Asks `paceline-server judge` between launches which benchmarks are undecided.

    `record` writes run.json. Before the planned launches are over it asks only where that takes a small part of the time
    measured since it last asked; without an answer every benchmark goes on."""

    def __init__(
        self,
        command: str,
        directory: Path,
        planned: int,
        benchmarks: list[str],
        *,
        record: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command, self._directory, self._planned = command, directory, planned
        self._benchmarks, self._record, self._clock = benchmarks, record, clock
        self._began = self._asked_at = clock()
        self._cost_s = ASK_S
        self._asking_s = 0.0
        self._whole_launch_s: float | None = None

    @property
    def saved_s(self) -> float:
        """Return how much longer the planned launches would have taken, if each is as long as those of all benchmarks."""
        if self._whole_launch_s is None:
            return 0.0
        planned_s = self._whole_launch_s * self._planned
        return planned_s - (self._clock() - self._began)

    def list_undecided(self, launches: int) -> list[str] | None:
        """Return the benchmarks that more launches may decide, after so many; None where that is not known."""
        began = self._clock()
        is_early = launches < self._planned
        if is_early and (began - self._asked_at) * ASK_SHARE < self._cost_s:
            return None
        undecided = self._ask()
        self._asked_at = self._clock()
        self._cost_s = self._asked_at - began
        is_less = undecided is not None and {*undecided} != {*self._benchmarks}
        if is_early and is_less and self._whole_launch_s is None:
            self._whole_launch_s = (began - self._began - self._asking_s) / launches
        self._asking_s += self._cost_s
        return undecided

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
