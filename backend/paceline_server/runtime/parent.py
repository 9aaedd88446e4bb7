"""An API process that a supervisor started ends with it, also when the supervisor is killed.

Place: called by every API process as it is made; does nothing in one that serves alone. Invariant: the end of
the parent is seen by the end of a pipe only the parent holds (multiprocessing makes one per child), so it
cannot be missed, not even when the parent died before we looked, and it needs no service of one system. What
then happens is the same orderly end that SIGTERM brings. Without it the children of a killed supervisor would
hold its port, and the next start would find it taken.
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
    """Watch the process that started this one through multiprocessing, if one did."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(
            target=_wait_for, args=(parent,), name="parent", daemon=True
        ).start()


def _wait_for(parent: BaseProcess) -> None:
    parent.join()
    log.error("supervisor_ended", pid=parent.pid)
    os.kill(os.getpid(), signal.SIGTERM)
