"""The port of a target: lend it to one job, execute launches, leave nothing behind.

    claim ──▶ (building) ──▶ session ──▶ execute … execute ──▶ end of session ──▶ end of claim

`host.py`, `android.py` and `fake.py` implement it and pass the same conformance tests. `execute` returns only
when no process of the launch is left or the device is lost, and never raises for what a workload does. A
`Sink` is called on the caller's thread only, in stream order, with a `tick` at least every 0.2 s. A session
that ended has undone its changes, or has written on the agent's disk what is still to be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path, PurePath
from typing import Protocol

import msgspec
from paceline_contract.events import AnyEvent, CaseEvent

from paceline.conditions import Conditions
from paceline.destination import Destination
from paceline.errors import UserError
from paceline.executors.process import inherited_environment
from paceline.log_reports import LogListener
from paceline.outcome import Cause, Outcome
from paceline.stop import Stop


class TargetError(UserError):
    """The target, not the benchmark, failed the job; `cause` is what the job ends with."""

    def __init__(self, cause: Cause, text: str, advice: str = "") -> None:
        super().__init__(text, advice)
        self.cause: Cause = cause


class LaunchSpec(msgspec.Struct, frozen=True):
    """One process start. `argv` is complete: nothing is expanded and no shell sees it. `cwd` and every path
    in it are the target's."""

    workload: str
    launch: int
    argv: list[str]
    cwd: PurePath
    env: dict[str, str]
    timeout_s: float
    side: str | None = None
    """base or head, of a launch pair."""


class Calibration(msgspec.Struct, frozen=True):
    """A built program that times a fixed piece of work and prints `{"calibration_ns": N}`. `{artifacts}` in
    `argv` is where `directory` lies on the target."""

    directory: Path
    argv: list[str]


class SessionWork(msgspec.Struct, frozen=True):
    """What a session is for. `name` is the job's and unique; `directories` hold what was built; `calibration`
    is for targets that have none of their own."""

    name: str
    directories: list[Path]
    calibration: Calibration | None = None
    listening: LogListener | None = None
    """To a target's log, where it has one."""


class Sink(Protocol):
    """Receives a launch as it happens."""

    def raw(self, data: bytes) -> None:
        """Standard output as it came, also what follows a fault (bounded by the flood limit)."""

    def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
        """One accepted event; `case` accompanies samples."""

    def stderr(self, lines: list[str]) -> None:
        """Complete lines for people."""

    def tick(self) -> None:
        """Called regularly: flush what should not wait."""


class TargetLayout(Protocol):
    """Where a launch's files are on the target, and which variables it gets."""

    def location(self, directory: Path) -> PurePath:
        """Where a directory of the session's work lies on the target."""

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """The variables a launch is given when its section of the manifest says `extra`."""


class HostLayout:
    """A host's layout: files are where they were built, variables are inherited."""

    def location(self, directory: Path) -> PurePath:
        return directory

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        return inherited_environment(dict(extra))


HOST_LAYOUT = HostLayout()


class Session(TargetLayout, Protocol):
    """A target while one job has it: files are in place and conditions are observed."""

    def execute(self, spec: LaunchSpec, sink: Sink, stop: Stop) -> Outcome:
        """One launch from start to its last byte."""


class Executor(Protocol):
    """One target."""

    @property
    def destination(self) -> Destination:
        """What to build for."""

    def claim(
        self, stop: Stop, timeout_s: float | None = None
    ) -> AbstractContextManager[bool]:
        """Exclusive use of the target (I9); waits for it. Gives False when stopped or timed out first."""

    def building(self, stop: Stop) -> AbstractContextManager[bool]:
        """What must be held, beside the claim, while this host builds: nothing may be measured here then.
        Gives False when stopped first."""

    def fingerprint(self) -> str:
        """Of the target's environment, now. Raises TargetError."""

    def session(
        self, work: SessionWork, take: Callable[[Conditions], None], stop: Stop
    ) -> AbstractContextManager[Session]:
        """Lends the claimed target to one job; `take` gets every observation of its conditions, the first
        before this gives the session and the last after its last launch. Raises TargetError, on entering and
        on leaving; after an error of the body none is raised on leaving."""
