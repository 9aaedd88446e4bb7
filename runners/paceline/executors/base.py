"""The port every kind of target implements: execute one launch, hand over what it says, leave nothing behind.

Place in the journey: between `measure.py` (which launches, in which order) and a machine. Hosts now,
devices over ADB later; `fake.py` is held to the same conformance tests. Invariants: `execute` returns only
when no process of the launch is left; it never raises for what a workload does; `Sink` is called from the
calling thread only, in stream order, and `tick` at least every 0.2 s while it runs.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from paceline.events import Case, Event
from paceline.outcome import Outcome
from paceline.stop import Stop


class LaunchSpec(msgspec.Struct, frozen=True):
    """One process start. `argv` is complete: nothing is expanded and no shell sees it."""

    workload: str
    launch: int
    argv: list[str]
    cwd: Path
    env: dict[str, str]
    timeout_s: float
    side: str | None = None
    """base or head, of a launch pair."""


class Sink(Protocol):
    """Receives a launch as it happens."""

    def raw(self, data: bytes) -> None:
        """Standard output as it came, also what follows a fault (bounded by the flood limit)."""

    def event(self, event: Event, case: Case | None) -> None:
        """One accepted event; `case` accompanies samples."""

    def stderr(self, lines: list[str]) -> None:
        """Complete lines for people."""

    def tick(self) -> None:
        """Time has passed: flush what should not wait."""


class Executor(Protocol):
    """Runs launches on one target."""

    def claim(self, stop: Stop, timeout_s: float | None = None) -> AbstractContextManager[bool]:
        """Exclusive use of the target (I9); waits for it. Gives False when stopped or timed out first."""

    def execute(self, spec: LaunchSpec, sink: Sink, stop: Stop) -> Outcome:
        """One launch from start to its last byte."""
