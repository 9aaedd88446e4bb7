"""Executes launches on the machine the agent runs on.

Memory stays bounded whatever a workload prints, and a launch leaves no process behind (`guard.py`). To disturb
little, threads of lower priority read output in batches (a 1 MiB pipe, 20 reads a second).
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO

from paceline_contract.items import Conditions

from paceline import environment
from paceline.conditions import Sampler
from paceline.destination import HOST
from paceline.executors.base import HostLayout, LaunchSpec, SessionWork, Sink
from paceline.executors.claim import SOMEBODY, Claimant, TargetClaim
from paceline.executors.launch import Channel, LaunchMonitor, Limits, StopSignal
from paceline.executors.process import GuardedProcess, ProcessEnd
from paceline.layout import layout_environment
from paceline.outcome import Outcome
from paceline.stop import Stop

PIPE_BYTES = 1 << 20
"""Kernel buffer of standard output (Linux), so that a workload never waits for our next read."""
READ_PAUSE_S = 0.05
"""Pause between reads; each costs a wake-up beside the workload."""
TICK_S = 0.1
"""How often limits are checked and the sink is called while nothing arrives."""
QUEUED_READS = 8
"""Most reads held in memory, each ≤ PIPE_BYTES."""
READER_NICENESS = 5


class HostExecutor(HostLayout):
    """Runs launches on this host, under the lock of target `serial`. It is also its own session, because a
    launch leaves nothing on a host."""

    destination = HOST

    def __init__(
        self, serial: str, limits: Limits | None = None, lock_dir: Path | None = None
    ) -> None:
        self._limits = limits or Limits()
        self._claim = TargetClaim(serial, lock_dir)

    def claim(
        self, stop: Stop, timeout_s: float | None = None, by: Claimant = SOMEBODY
    ) -> AbstractContextManager[bool]:
        return self._claim.claim(stop, timeout_s, by)

    def building(
        self,
        stop: Stop,  # noqa: ARG002 - the port's signature
        by: Claimant = SOMEBODY,  # noqa: ARG002 - as above
    ) -> AbstractContextManager[bool]:
        return nullcontext(True)  # the claim is of this very host

    def fingerprint(self) -> str:
        return environment.observe().fingerprint

    @contextmanager
    def session(
        self,
        work: SessionWork,  # noqa: ARG002 - the port's signature: what was built is in place
        take: Callable[[Conditions], None],
        stop: Stop,  # noqa: ARG002 - as above
    ) -> Iterator[HostExecutor]:
        with Sampler(take):
            yield self

    def execute(self, spec: LaunchSpec, sink: Sink, stop: Stop) -> Outcome:
        launch = LaunchMonitor(spec, sink, stop, self._limits)
        environment = {**layout_environment(spec.layout_bytes), **spec.env}
        with (
            GuardedProcess(spec.argv, Path(spec.cwd), environment) as process,
            _Pipes(process) as pipes,
        ):
            try:
                end = _watch(launch, process, pipes)
            except BaseException:
                process.kill()  # the reader threads wait for its end
                raise
        return launch.outcome(end)


def _watch(launch: LaunchMonitor, process: GuardedProcess, pipes: _Pipes) -> ProcessEnd:
    """Take output until the process has ended and all of it is read."""
    launch.start_timeout(time.monotonic())
    while pipes.end is None or not pipes.is_drained:
        for channel, data in pipes.take(TICK_S):
            launch.feed(channel, data)
        launch.tick()
        if pipes.end is None:
            order = launch.due_signal(time.monotonic())
            if order is StopSignal.TERMINATE:
                process.terminate()
            elif order is StopSignal.KILL:
                process.kill()
    return pipes.end


class _Pipes:
    """Threads that read both outputs into one bounded queue and wait for the process's end."""

    def __init__(self, process: GuardedProcess) -> None:
        self.end: ProcessEnd | None = None
        self._process = process
        self._queue: queue.Queue[tuple[Channel, bytes] | None] = queue.Queue(
            QUEUED_READS
        )
        self._hurry = threading.Event()
        self._abandoned = threading.Event()
        self._open = 0
        self._threads = [
            threading.Thread(target=self._await_end, name="await-end", daemon=True)
        ]
        outputs: list[tuple[Channel, IO[bytes] | None]]
        outputs = [("stdout", process.stdout), ("stderr", process.stderr)]
        for name, pipe in outputs:
            if pipe is not None:
                self._open += 1
                _widen(pipe)
                thread = threading.Thread(
                    target=self._read,
                    args=(name, pipe),
                    name=f"read-{name}",
                    daemon=True,
                )
                self._threads.append(thread)

    @property
    def is_drained(self) -> bool:
        return self._open == 0

    def take(self, wait_s: float) -> Iterator[tuple[Channel, bytes]]:
        """Yield what has arrived; wait up to `wait_s` for the first piece."""
        for _ in range(QUEUED_READS):
            try:
                item = (
                    self._queue.get(timeout=wait_s)
                    if wait_s
                    else self._queue.get_nowait()
                )
            except queue.Empty:
                return
            wait_s = 0.0
            if item is None:  # the process has ended: read on at once
                continue
            if item[1]:
                yield item
            else:
                self._open -= 1

    def _await_end(self) -> None:
        while self.end is None and not self._abandoned.is_set():
            self.end = self._process.poll(0.5)
        self._hurry.set()  # read the rest without pauses
        self._put(None)

    def _read(self, name: Channel, pipe: IO[bytes]) -> None:
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                os.setpriority(
                    os.PRIO_PROCESS, threading.get_native_id(), READER_NICENESS
                )
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

    def _put(self, item: tuple[Channel, bytes] | None) -> None:
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
    """Request a large pipe. Where the system refuses, the default size is enough."""
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415 - does not exist on Windows

        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
