"""Monitors one launch: passes on its output, decides when it must end, and judges how it ended.

Hosts and devices share these decisions; the executor starts the process and sends signals. Memory stays bounded
whatever a workload prints, and the first fault of the stream counts.
"""

from __future__ import annotations

import enum
import time
from typing import Literal

import msgspec
from paceline_contract.events import CheckEvent, SamplesEvent
from paceline_contract.stream import StreamError, StreamReader

from paceline.executors.base import LaunchSpec, Sink
from paceline.executors.process import ProcessEnd
from paceline.first_error import ErrorFinder
from paceline.outcome import LaunchFacts, Outcome, judge
from paceline.stop import Stop, StopReason
from paceline.terminal_text import LineSplitter

Channel = Literal["stdout", "stderr"]


class Limits(msgspec.Struct, frozen=True):
    """When a launch is ended from outside. Only tests change the defaults."""

    stdout_bytes: int = 256 << 20
    """Most output of one launch, valid or not."""
    garbage_bytes: int = 8 << 20
    """Most output after the stream broke; more counts as a flood."""
    garbage_s: float = 2.0
    """Time a workload may continue after its stream broke before it is killed."""
    stderr_bytes: int = 256 << 20
    terminate_s: float = 3.0
    """Time between SIGTERM and SIGKILL."""
    kill_s: float = 10.0
    """How long after SIGKILL a device's process may still run; beyond that it hangs in the kernel."""


class StopSignal(enum.Enum):
    """The signal to send to the process now."""

    TERMINATE = "TERM"
    KILL = "KILL"


class LaunchMonitor:
    """The state of one running launch; used by one thread. Call `start_timeout` when the process may have started."""

    def __init__(
        self, spec: LaunchSpec, sink: Sink, stop: Stop, limits: Limits
    ) -> None:
        self._spec, self._sink, self._stop, self.limits = spec, sink, stop, limits
        self._reader = StreamReader()
        self._fault: StreamError | None = None
        self._fault_at = 0.0
        self._garbage = 0
        self._bytes: dict[Channel, int] = {"stdout": 0, "stderr": 0}
        self._checks: list[tuple[str, str]] = []
        self._stderr_lines = LineSplitter()
        self._errors = ErrorFinder()
        self._deadline = float("inf")
        self._timed_out = False
        self._flooded: int | None = None
        self._stopped: StopReason | None = None
        self._dropped = False
        self._asked_at: float | None = None

    def start_timeout(self, now: float) -> None:
        """Start the timeout of the launch at `now`."""
        self._deadline = now + self._spec.timeout_s

    def bytes_seen(self, channel: Channel) -> int:
        """Return how many bytes of `channel` were fed so far."""
        return self._bytes[channel]

    def feed(self, channel: Channel, data: bytes) -> None:
        """Process the next bytes of one output."""
        self._bytes[channel] += len(data)
        if channel == "stderr":
            self._feed_stderr(data)
            return
        if self._dropped:
            return
        if self._flooded is None:
            self._sink.raw(data)
        if self._fault is not None:
            self._garbage += len(data)
            if self._garbage <= self.limits.garbage_bytes:
                self._errors.feed("stdout", data)
            return
        try:
            self._read_events(data)
        except StreamError as fault:
            self._record_fault(fault)
            self._garbage = len(data)
            self._errors.feed("stdout", data[: self.limits.garbage_bytes])

    def tick(self) -> None:
        self._sink.tick()

    def due_signal(self, now: float, runs_at: float | None = None) -> StopSignal | None:
        """Return the signal that is due at `now` (monotonic seconds), usually none. `runs_at`: when the process was
        last seen running, if not now; a timeout counts only if it ran that long."""
        if self._flooded is None and (flooded := self._flood_bytes()) is not None:
            self._flooded = flooded
            self._asked_at = now if self._asked_at is None else self._asked_at
            return StopSignal.KILL
        if self._asked_at is not None:
            if now < self._asked_at + self.limits.terminate_s:
                return None
            # A person who stopped it must not wait until hundreds of megabytes of output are read.
            self._dropped = self._stopped is not None
            return StopSignal.KILL
        if self._stop.reason is not None:
            self._stopped = self._stop.reason
        elif (now if runs_at is None else runs_at) >= self._deadline:
            self._timed_out = True
        elif self._fault is None or now < self._fault_at + self.limits.garbage_s:
            return None
        self._asked_at = now
        return StopSignal.TERMINATE

    @property
    def is_conclusive(self) -> bool:
        """Return whether it can be judged without an exit status: by its output, or because we ended it."""
        return bool(self._reader.terminal or self._fault or self._asked_at is not None)

    @property
    def is_flooded(self) -> bool:
        """Return whether its output exceeded the limits."""
        return self._flooded is not None

    def note_timeout(self) -> None:
        """Note that the device ended it by timeout, without a signal from us."""
        self._timed_out = True

    def outcome(self, end: ProcessEnd) -> Outcome:
        """Read the stream to its end, report what was left behind, and judge."""
        self._finish_stream()
        if end.left_behind:
            self._sink.stderr(
                [
                    f"(agent) killed {end.left_behind} process(es) that the workload left behind"
                ]
            )
        self._sink.tick()
        return judge(
            LaunchFacts(
                workload=self._spec.workload,
                launch=self._spec.launch,
                exit_code=end.exit_code,
                signal_number=end.signal_number if self._asked_at is None else None,
                start_error=end.start_error,
                timed_out_s=self._spec.timeout_s if self._timed_out else None,
                flooded_bytes=self._flooded,
                stopped=self._stopped,
                fault=self._fault,
                terminal=self._reader.terminal,
                failed_checks=tuple(self._checks),
                excerpt=self._errors.excerpt(),
                memory=end.memory,
                memory_is_watched=end.memory_is_watched,
            )
        )

    def _flood_bytes(self) -> int | None:
        if self._bytes["stdout"] > self.limits.stdout_bytes:
            return self._bytes["stdout"]
        if self._bytes["stderr"] > self.limits.stderr_bytes:
            return self._bytes["stderr"]
        return (
            self._bytes["stdout"] if self._garbage > self.limits.garbage_bytes else None
        )

    def _read_events(self, data: bytes | None) -> None:
        for event in self._reader.close() if data is None else self._reader.feed(data):
            if isinstance(event, CheckEvent) and not event.ok:
                self._checks.append((event.name, event.detail))
            case = (
                self._reader.case(event.case)
                if isinstance(event, SamplesEvent)
                else None
            )
            self._sink.event(event, case)

    def _finish_stream(self) -> None:
        if self._fault is None and not self._dropped:
            try:
                self._read_events(None)
            except StreamError as fault:
                self._record_fault(fault)
        self._keep_error_lines(self._stderr_lines.close())

    def _record_fault(self, fault: StreamError) -> None:
        self._fault, self._fault_at = fault, time.monotonic()

    def _feed_stderr(self, data: bytes) -> None:
        self._keep_error_lines(self._stderr_lines.feed(data))

    def _keep_error_lines(self, lines: list[str]) -> None:
        if lines:
            self._errors.feed_lines("stderr", lines)
            self._sink.stderr(lines)
