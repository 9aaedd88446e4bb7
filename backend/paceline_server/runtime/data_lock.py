"""Locks a data directory, so that only one server at a time works on it.

The kernel releases the lock of a killed server. A file beside the lock holds the server's address while it serves.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from paceline_server.kernel.settings import SettingsError

WAITS_S = 1.0
"""`hold_lock` waits this long, because `is_held` takes the lock for a moment."""


@contextlib.contextmanager
def hold_lock(data_dir: Path) -> Iterator[None]:
    """Hold the data directory's lock. Raises SettingsError with the address of the server that holds it."""
    data_dir.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(_lock_file(data_dir), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + WAITS_S
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                where = read_address(data_dir)
                at = "and is starting" if where is None else f"at {where}"
                raise SettingsError(
                    f"Paceline already runs on {data_dir.absolute()}, {at}: "
                    "use that one, end it first, or give another directory with --data"
                )
            time.sleep(0.02)
        _address_file(data_dir).unlink(missing_ok=True)
        try:
            yield
        finally:
            _address_file(data_dir).unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def is_held(data_dir: Path) -> bool:
    """Return whether a server works on this data directory. Always True on Windows, which has no such locks."""
    try:
        descriptor = os.open(_lock_file(data_dir), os.O_RDWR)
    except FileNotFoundError:
        return sys.platform == "win32"
    try:
        return sys.platform == "win32" or not _try_lock(descriptor)
    finally:
        os.close(descriptor)


def write_address(data_dir: Path, url: str) -> None:
    """Store the address of the server that holds the lock."""
    _address_file(data_dir).write_text(f"{url}\n", encoding="utf-8")


def read_address(data_dir: Path) -> str | None:
    """Return the address of the server; None while it starts, and if none runs."""
    try:
        return _address_file(data_dir).read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None


def _try_lock(descriptor: int) -> bool:
    """Take the lock; returns False if another process has it."""
    if sys.platform == "win32":
        return True
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _lock_file(data_dir: Path) -> Path:
    return data_dir / "up.lock"


def _address_file(data_dir: Path) -> Path:
    return data_dir / "address"
