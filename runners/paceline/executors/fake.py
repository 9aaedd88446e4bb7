"""Plays back scripted streams instead of starting processes, for tests.

It passes the same conformance tests as the real executors.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import msgspec
from paceline_contract.events import CheckEvent, SamplesEvent
from paceline_contract.items import Conditions
from paceline_contract.stream import StreamError, StreamReader

from paceline.destination import HOST
from paceline.executors.base import HostLayout, LaunchSpec, SessionWork, Sink
from paceline.executors.claim import SOMEBODY, Claimant
from paceline.first_error import ErrorFinder
from paceline.outcome import LaunchFacts, Outcome, judge
from paceline.stop import Stop


class LaunchScript(msgspec.Struct, frozen=True):
    """The output of a launch and its end; one that `hangs` never ends by itself."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = 0
    signal_number: int | None = None
    start_error: str | None = None
    hangs: bool = False


class FakeExecutor(HostLayout):
    """Plays `script_of(spec)` for each launch; `launched` holds the specs in order."""

    destination = HOST

    def __init__(self, script_of: Callable[[LaunchSpec], LaunchScript]) -> None:
        self._script_of = script_of
        self.launched: list[LaunchSpec] = []
        self._claimed = False

    @contextmanager
    def claim(
        self, stop: Stop, timeout_s: float | None = None, by: Claimant = SOMEBODY
    ) -> Iterator[bool]:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        if self._claimed:
            by.on_wait("another job holds the lock")
        while self._claimed:
            if stop.wait(0.01) or (
                deadline is not None and time.monotonic() >= deadline
            ):
                yield False
                return
        self._claimed = True
        try:
            yield True
        finally:
            self._claimed = False

    def building(
        self,
        stop: Stop,  # noqa: ARG002 - the port's signature
        by: Claimant = SOMEBODY,  # noqa: ARG002 - as above
    ) -> AbstractContextManager[bool]:
        return nullcontext(True)

    def fingerprint(self) -> str:
        return "fake"

    @contextmanager
    def session(
        self,
        work: SessionWork,  # noqa: ARG002 - the port's signature
        take: Callable[[Conditions], None],
        stop: Stop,  # noqa: ARG002 - as above
    ) -> Iterator[FakeExecutor]:
        take(Conditions("before", 0, {}))
        try:
            yield self
        finally:
            take(Conditions("after", 0, {}))

    def execute(self, spec: LaunchSpec, sink: Sink, stop: Stop) -> Outcome:
        self.launched.append(spec)
        script = self._script_of(spec)
        fault, checks, reader, errors = None, [], StreamReader(), ErrorFinder()
        errors.feed("stderr", script.stderr)
        sink.raw(script.stdout)
        try:
            for event in itertools.chain(reader.feed(script.stdout), reader.close()):
                if isinstance(event, CheckEvent) and not event.ok:
                    checks.append((event.name, event.detail))
                sink.event(
                    event,
                    reader.case(event.case)
                    if isinstance(event, SamplesEvent)
                    else None,
                )
        except StreamError as broken:
            fault = broken
        if script.stderr:
            sink.stderr(script.stderr.decode("utf-8", "replace").splitlines())
        timed_out = script.hangs and not stop.wait(spec.timeout_s)
        sink.tick()
        return judge(
            LaunchFacts(
                workload=spec.workload,
                launch=spec.launch,
                exit_code=script.exit_code if script.start_error is None else None,
                signal_number=script.signal_number,
                start_error=script.start_error,
                timed_out_s=spec.timeout_s if timed_out else None,
                stopped=stop.reason,
                fault=fault,
                terminal=reader.terminal,
                failed_checks=tuple(checks),
                excerpt=errors.excerpt(),
            )
        )
