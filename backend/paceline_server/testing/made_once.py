"""Makes what the worker processes of one test run share: the first that needs it makes it, the others wait for it.

Migrating a database costs seconds of CPU per worker, copying a migrated one costs a tenth.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path


def shared_directory(own: Path) -> Path:
    """The directory of all workers of this run; `own`: this process's base directory for temporary files."""
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def made_once(path: Path, make: Callable[[Path], object]) -> Path:
    """`path`, made by `make` unless another process has made it. What is only half made has another name."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            unfinished = path.with_name(f"{path.name}.unfinished-{os.getpid()}")
            make(unfinished)
            unfinished.rename(path)
    return path
