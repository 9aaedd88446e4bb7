"""Ends an API process with its supervisor, even if that is killed; otherwise its children would keep the port.

The end of a pipe that only the parent holds (multiprocessing makes one per child) shows its end on every system, even
if it died before. The process then ends in order, as by SIGTERM.
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
    """Watch the process that started this one by multiprocessing, if any."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(
            target=_wait_for, args=(parent,), name="parent", daemon=True
        ).start()


def _wait_for(parent: BaseProcess) -> None:
    parent.join()
    log.error("supervisor_ended", pid=parent.pid)
    os.kill(os.getpid(), signal.SIGTERM)
