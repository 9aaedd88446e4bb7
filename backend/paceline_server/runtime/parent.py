"""Ends an API process when its supervisor ends or is killed, because it would otherwise keep the port.

multiprocessing makes a pipe per child, whose other end only the parent holds. That end closes when the parent ends, on
every system. The process then shuts down in order, as after SIGTERM.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess

import structlog

log = structlog.get_logger("paceline.parent")


def end_with_parent() -> None:
    """End this process when the process that started it by multiprocessing ends, if there is one."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(
            target=_wait_for, args=(parent,), name="parent", daemon=True
        ).start()


def _wait_for(parent: BaseProcess) -> None:
    parent.join()
    log.error("supervisor_ended", pid=parent.pid)
    os.kill(os.getpid(), signal.SIGTERM)
