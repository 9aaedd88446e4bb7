"""The lock on a data directory: one server at a time works on it, and others can ask whether one does.

The kernel drops the lock with the process that holds it, so a killed server never leaves one behind. Where
the server answers stands in a file beside the lock, for as long as it serves.
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
"""Whoever asks `is_held` has the lock for an instant: that is no server."""


@contextlib.contextmanager
def held(data_dir: Path) -> Iterator[None]:
    """Hold the data directory's lock. Raises SettingsError saying where its server answers."""
    data_dir.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(_lock_file(data_dir), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + WAITS_S
        while not _taken(descriptor):
            if time.monotonic() > deadline:
                where = address(data_dir)
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
    """Whether a server works on this data directory now. Always true on Windows, which has no such locks."""
    try:
        descriptor = os.open(_lock_file(data_dir), os.O_RDWR)
    except FileNotFoundError:
        return sys.platform == "win32"
    try:
        return sys.platform == "win32" or not _taken(descriptor)
    finally:
        os.close(descriptor)


def write_address(data_dir: Path, url: str) -> None:
    """Say where the server that holds the lock answers."""
    _address_file(data_dir).write_text(f"{url}\n", encoding="utf-8")


def address(data_dir: Path) -> str | None:
    """Where the server answers; None while it starts, and when none runs."""
    try:
        return _address_file(data_dir).read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None


def _taken(descriptor: int) -> bool:
    """Take the lock if nobody has it."""
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
