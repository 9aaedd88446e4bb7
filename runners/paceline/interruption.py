"""Lets Ctrl-C and SIGTERM interrupt work in order.

A signal handler runs between two instructions of the main thread, also of another handler, so it must take no lock: what
it interrupted may hold it. Here the handlers only wake the main thread, which then acts.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_interruptibly(
    work: Callable[[], Result], interrupt: Callable[[], None]
) -> Result:
    """Return what `work` returns, which runs in another thread; each SIGINT and SIGTERM calls `interrupt` in this one.

    Where signals cannot be received, in any but the main thread, `work` just runs.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    with reader, writer, ThreadPoolExecutor(1) as pool:
        before = {number: signal.signal(number, _ignore) for number in _SIGNALS}
        wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            future = pool.submit(work)
            future.add_done_callback(lambda _: writer.send(b"\0"))
            while not future.done():
                for number in reader.recv(64):
                    if number in before:
                        interrupt()
            return future.result()
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)


def _ignore(*_: object) -> None:
    """Do nothing; the number of the signal has already been written to the wake-up socket."""
