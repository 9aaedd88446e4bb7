"""Takes the output of a guarded process until it ends, and says how it ended.

Build steps and driven commands do so alike. Every launch of a driven command imports this, so it imports little.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import IO

from paceline.executors.process import GuardedProcess, ProcessEnd
from paceline.exit_descriptions import describe_signal, describe_status
from paceline.first_error import Channel
from paceline.stop import Stop
from paceline.terminal_text import LineSplitter

STEP_TIMEOUT_S = 3600.0
"""Longest time of one build step: a cold release build with its dependencies on a slow host."""
READ_BYTES = 1 << 16

Log = Callable[[list[str]], None]
"""Takes complete lines of output as they come."""


def drain(
    process: GuardedProcess,
    take: Callable[[Channel, list[str]], None],
    stop: Stop,
    timeout_s: float,
) -> ProcessEnd:
    """Take both outputs line by line until the process ends; kill it when stopped or out of time."""
    lock = threading.Lock()

    def read(channel: Channel, pipe: IO[bytes]) -> None:
        splitter = LineSplitter()
        while data := pipe.read(READ_BYTES):
            with lock:
                take(channel, splitter.feed(data))
        with lock:
            take(channel, splitter.close())

    pipes: tuple[tuple[Channel, IO[bytes] | None], ...]
    pipes = (("stdout", process.stdout), ("stderr", process.stderr))
    threads = [
        threading.Thread(target=read, args=(channel, pipe), daemon=True)
        for channel, pipe in pipes
        if pipe is not None
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + timeout_s
    while (end := process.poll(0.1)) is None:
        if stop.reason is not None or time.monotonic() > deadline:
            process.kill()
    for thread in threads:
        thread.join()
    return end


def describe_end(end: ProcessEnd) -> str:
    """Describe how a process ended: `was killed by SIGKILL (…)`, `exited with status 1`."""
    if end.start_error is not None:
        return f"could not be started: {end.start_error}"
    if end.signal_number is not None:
        return f"was killed by {describe_signal(end.signal_number)}"
    return describe_status(end.exit_code or 0)
