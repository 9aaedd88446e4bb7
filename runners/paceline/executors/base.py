"""The port of a target: lend it to one job, execute launches, leave nothing behind.

    claim ──▶ (building) ──▶ session ──▶ execute … execute ──▶ end of session ──▶ end of claim

`host.py`, `android.py` and `fake.py` implement it and pass the same conformance tests. `execute` returns only
when no process of the launch is left or the device is lost, and never raises for what a workload does. A
`Sink` is called on the caller's thread only, in stream order, with a `tick` at least every 0.2 s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path, PurePath
from typing import Protocol

import msgspec
from paceline_contract.attempts import AgentCause
from paceline_contract.events import AnyEvent, CaseEvent
from paceline_contract.items import Conditions, SideName

from paceline.destination import Destination
from paceline.errors import UserError
from paceline.executors.claim import SOMEBODY, Claimant
from paceline.executors.process import inherited_environment
from paceline.log_reports import LogListener
from paceline.outcome import Outcome
from paceline.stop import Stop


class TargetError(UserError):
    """The target, not the benchmark, failed the job; `cause` is what the job ends with."""

    def __init__(self, cause: AgentCause, text: str, advice: str = "") -> None:
        super().__init__(text, advice)
        self.cause: AgentCause = cause


class LaunchSpec(msgspec.Struct, frozen=True):
    """One process start. `argv` is complete and run without a shell. All paths are the target's."""

    workload: str
    launch: int
    argv: list[str]
    cwd: PurePath
    env: dict[str, str]
    timeout_s: float
    side: SideName | None = None
    """base or head, in a launch pair."""
    layout_bytes: int = 0
    """The size of the padding in its environment (`layout.py`), besides `env`."""


class Calibration(msgspec.Struct, frozen=True):
    """A built program that times a fixed piece of work and prints `{"calibration_ns": N}`. `{artifacts}` in
    `argv` is where `directory` lies on the target."""

    directory: Path
    argv: list[str]


class SessionWork(msgspec.Struct, frozen=True):
    """The input of a session: a unique `name`, `directories` with built files, and a `calibration` for targets
    without one of their own.
    """

    name: str
    directories: list[Path]
    calibration: Calibration | None = None
    listening: LogListener | None = None
    """The listener to the target's log, if it has one."""


class Sink(Protocol):
    """Receives a launch as it happens."""

    def raw(self, data: bytes) -> None:
        """Take standard output as it came, even after a fault (up to the flood limit)."""

    def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
        """Take one valid event; `case` accompanies samples."""

    def stderr(self, lines: list[str]) -> None:
        """Take complete lines of standard error."""

    def tick(self) -> None:
        """Flush what should not wait; called regularly."""


class TargetLayout(Protocol):
    """The paths and variables of a launch on the target."""

    def location(self, directory: Path) -> PurePath:
        """Return the path of one of the session's directories on the target."""

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of a launch whose section of the manifest declares `extra`."""


class HostLayout:
    """A host's layout: files are where they were built, variables are inherited."""

    def location(self, directory: Path) -> PurePath:
        return directory

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        return inherited_environment(dict(extra))


HOST_LAYOUT = HostLayout()


class Session(TargetLayout, Protocol):
    """A target during one job: files are in place and conditions are observed."""

    def execute(self, spec: LaunchSpec, sink: Sink, stop: Stop) -> Outcome:
        """Run one launch from its start to its last byte."""


class Executor(Protocol):
    """One target."""

    @property
    def destination(self) -> Destination:
        """Return the destination to build for."""

    def claim(
        self, stop: Stop, timeout_s: float | None = None, by: Claimant = SOMEBODY
    ) -> AbstractContextManager[bool]:
        """Wait for exclusive use of the target (I9). Yields False when stopped or timed out first."""

    def building(
        self, stop: Stop, by: Claimant = SOMEBODY
    ) -> AbstractContextManager[bool]:
        """Hold this host, besides the claim, while it builds, so that nothing is measured here meanwhile.
        Yields False when stopped first."""

    def fingerprint(self) -> str:
        """Return the fingerprint of the target's environment now. Raises TargetError."""

    def session(
        self, work: SessionWork, take: Callable[[Conditions], None], stop: Stop
    ) -> AbstractContextManager[Session]:
        """Lend the claimed target to one job and undo every change afterwards, or note it on disk.

        `take` gets every observation of the conditions: the first before the body, the last after the last
        launch. Raises TargetError on entering and, unless the body raised, on leaving.
        """
