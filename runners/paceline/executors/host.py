"""Executes launches on the machine the agent runs on.

Place in the journey: implements `base.Executor` for the target kind `host`.
Invariants: one user of the target at a time, across agents and hand runs (file lock, I9); memory stays
bounded whatever a workload prints; a launch that ended in any way has left no process (see `guard.py`).
Perturbs little: output is taken in batches (a 1 MiB pipe, 20 reads a second) by threads of lower priority.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec
from filelock import FileLock, Timeout

from paceline.events import Check, Samples
from paceline.executors.base import LaunchSpec, Sink
from paceline.executors.process import End, GuardedProcess
from paceline.outcome import LaunchFacts, Outcome, judge
from paceline.protocol import BrokenStreamError, StreamReader
from paceline.stop import Reason, Stop

PIPE_BYTES = 1 << 20
"""Kernel buffer of standard output (Linux), so that a workload never waits for us between two reads."""
READ_PAUSE_S = 0.05
"""Pause between reads; each costs a wake-up beside the workload."""
TICK_S = 0.1
"""How often limits and the sink are looked after while nothing arrives."""
QUEUED_READS = 8
"""Reads held in memory at most, each ≤ PIPE_BYTES."""
END = "end"
STDERR_TAIL_BYTES = 8192
STDERR_LINE_BYTES = 4096
READER_NICENESS = 5


class Limits(msgspec.Struct, frozen=True):
    """When a launch is ended from outside. Tests tighten them; users do not."""

    stdout_bytes: int = 256 << 20
    """Most output of one launch, valid or not."""
    garbage_bytes: int = 8 << 20
    """Most output after the stream broke: more is a flood."""
    garbage_s: float = 2.0
    """Time a workload may go on after its stream broke before it is killed."""
    stderr_bytes: int = 256 << 20
    terminate_s: float = 3.0
    """Time between the polite and the final request to end."""


class HostExecutor:
    """Runs launches here, under the lock of target `serial`."""

    def __init__(self, serial: str, limits: Limits | None = None, lock_dir: Path | None = None) -> None:
        self._limits = limits or Limits()
        directory = lock_dir or Path(tempfile.gettempdir())
        self._lock = FileLock(directory / f"paceline-target-{serial}.lock", mode=0o666, thread_local=False)

    @contextmanager
    def claim(self, stop: Stop, timeout_s: float | None = None) -> Iterator[bool]:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            with contextlib.suppress(Timeout):
                self._lock.acquire(timeout=0)
                break
            if stop.wait(0.1) or (deadline is not None and time.monotonic() >= deadline):
                yield False
                return
        try:
            yield True
        finally:
            self._lock.release()

    def execute(self, spec: LaunchSpec, sink: Sink, stop: Stop) -> Outcome:
        return _Launch(spec, sink, stop, self._limits).run()


class _Launch:
    """State of one launch while it runs; used by one thread."""

    def __init__(self, spec: LaunchSpec, sink: Sink, stop: Stop, limits: Limits) -> None:
        self._spec, self._sink, self._stop, self._limits = spec, sink, stop, limits
        self._reader = StreamReader()
        self._fault: BrokenStreamError | None = None
        self._fault_at = 0.0
        self._garbage = 0
        self._bytes = {"stdout": 0, "stderr": 0}
        self._checks: list[tuple[str, str]] = []
        self._tail = bytearray()
        self._line = bytearray()
        self._timed_out = False
        self._flooded: int | None = None
        self._stopped: Reason | None = None
        self._asked_at: float | None = None

    def run(self) -> Outcome:
        with (
            GuardedProcess(self._spec.argv, self._spec.cwd, self._spec.env) as process,
            _Pipes(process) as pipes,
        ):
            try:
                end = self._watch(process, pipes)
            except BaseException:
                process.kill()  # the readers below wait for its end
                raise
        self._finish_stream()
        if end.left_behind:
            self._sink.stderr([f"(agent) killed {end.left_behind} process(es) the workload left behind"])
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
                stderr_tail=self._tail.decode("utf-8", "replace"),
            )
        )

    def _watch(self, process: GuardedProcess, pipes: _Pipes) -> End:
        """Until the process has ended and its output is read to the end."""
        deadline = time.monotonic() + self._spec.timeout_s
        while pipes.end is None or not pipes.drained:
            for name, data in pipes.take(TICK_S):
                self._took(name, data)
            self._sink.tick()
            if pipes.end is None:
                self._maybe_end(process, deadline)
        return pipes.end

    def _maybe_end(self, process: GuardedProcess, deadline: float) -> None:
        now = time.monotonic()
        if self._asked_at is not None:
            if now >= self._asked_at + self._limits.terminate_s:
                process.kill()
            return
        if self._stop.reason is not None:
            self._stopped = self._stop.reason
        elif now >= deadline:
            self._timed_out = True
        elif self._flood_bytes() is not None:
            self._flooded = self._flood_bytes()
            process.kill()
        elif self._fault is None or now < self._fault_at + self._limits.garbage_s:
            return
        self._asked_at = now
        process.terminate()

    def _flood_bytes(self) -> int | None:
        for name, limit in (("stdout", self._limits.stdout_bytes), ("stderr", self._limits.stderr_bytes)):
            if self._bytes[name] > limit:
                return self._bytes[name]
        return self._bytes["stdout"] if self._garbage > self._limits.garbage_bytes else None

    def _took(self, name: str, data: bytes) -> None:
        self._bytes[name] += len(data)
        if name == "stderr":
            self._stderr(data)
            return
        if self._flooded is None:
            self._sink.raw(data)
        if self._fault is not None:
            self._garbage += len(data)
            return
        try:
            self._events(data)
        except BrokenStreamError as fault:
            self._broke(fault)
            self._garbage = len(data)

    def _events(self, data: bytes | None) -> None:
        for event in self._reader.close() if data is None else self._reader.feed(data):
            if isinstance(event, Check) and not event.ok:
                self._checks.append((event.name, event.detail))
            case = self._reader.case(event.case) if isinstance(event, Samples) else None
            self._sink.event(event, case)

    def _finish_stream(self) -> None:
        if self._fault is None:
            try:
                self._events(None)
            except BrokenStreamError as fault:
                self._broke(fault)
        if self._line:
            self._sink.stderr([self._line.decode("utf-8", "replace")])

    def _broke(self, fault: BrokenStreamError) -> None:
        self._fault, self._fault_at = fault, time.monotonic()

    def _stderr(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-STDERR_TAIL_BYTES:]
        *lines, rest = (bytes(self._line) + data).split(b"\n")
        self._line = bytearray(rest[-STDERR_LINE_BYTES:])
        if lines:
            self._sink.stderr([line[-STDERR_LINE_BYTES:].decode("utf-8", "replace") for line in lines])


class _Pipes:
    """Reads both outputs and awaits the end, in threads of their own, into one bounded queue."""

    def __init__(self, process: GuardedProcess) -> None:
        self.end: End | None = None
        self._process = process
        self._queue: queue.Queue[tuple[str, bytes]] = queue.Queue(QUEUED_READS)
        self._hurry = threading.Event()
        self._abandoned = threading.Event()
        self._open = 0
        self._threads = [threading.Thread(target=self._await_end, name="await-end", daemon=True)]
        for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
            if pipe is not None:
                self._open += 1
                _widen(pipe)
                thread = threading.Thread(
                    target=self._read, args=(name, pipe), name=f"read-{name}", daemon=True
                )
                self._threads.append(thread)

    @property
    def drained(self) -> bool:
        return self._open == 0

    def take(self, wait_s: float) -> Iterator[tuple[str, bytes]]:
        """What has arrived; waits up to `wait_s` for the first piece."""
        for _ in range(QUEUED_READS):
            try:
                name, data = self._queue.get(timeout=wait_s) if wait_s else self._queue.get_nowait()
            except queue.Empty:
                return
            wait_s = 0.0
            if data:
                yield name, data
            elif name != END:
                self._open -= 1

    def _await_end(self) -> None:
        while self.end is None and not self._abandoned.is_set():
            self.end = self._process.poll(0.5)
        self._hurry.set()  # read the rest without pauses
        self._put((END, b""))

    def _read(self, name: str, pipe: IO[bytes]) -> None:
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), READER_NICENESS)
        descriptor = pipe.fileno()
        while not self._abandoned.is_set():
            try:
                data = os.read(descriptor, PIPE_BYTES)
            except OSError:
                data = b""
            self._put((name, data))
            if not data:
                return
            if len(data) < PIPE_BYTES // 2:
                self._hurry.wait(READ_PAUSE_S)

    def _put(self, item: tuple[str, bytes]) -> None:
        while not self._abandoned.is_set():
            with contextlib.suppress(queue.Full):
                self._queue.put(item, timeout=0.2)
                return

    def __enter__(self) -> _Pipes:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._abandoned.set()
        self._hurry.set()
        for thread in self._threads:
            thread.join()


def _widen(pipe: IO[bytes]) -> None:
    """Asks for a large pipe; where the system refuses, the default does."""
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415 - does not exist on Windows

        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
