"""Locks a target for exclusive use on this host, across agents, lanes and manual runs (I9).

A file lock, so that the target is released however the process ends. Beside it lies a note that names the
holder to those who wait. A note that cannot be written or read is left out.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
from filelock import FileLock, Timeout

from paceline.stop import Stop
from paceline.terminal_text import readable_line

LOOK_S = 0.1
"""Pause between two tries to take the lock."""
NOTE_BYTES = 1000
PURPOSE_CHARACTERS = 200


class Claimant(NamedTuple):
    """A process that claims a target, with its purpose as others read it."""

    purpose: str
    on_wait: Callable[[str], None] = lambda _: None
    """Called with `SOMETHING holds the lock since …` when the wait begins, and whenever the holder changes."""


SOMEBODY = Claimant("another paceline command or agent")


class HolderNote(msgspec.Struct, frozen=True):
    """A note of the holder of a lock about itself. `since` is in seconds of the Unix clock."""

    purpose: str
    pid: int
    since: float

    def words(self) -> str:
        """Return `paceline run of hashing (process 4711) holds the lock since 2026-11-28 14:02:11 UTC`."""
        since = datetime.fromtimestamp(self.since, UTC)
        purpose = readable_line(self.purpose)[:PURPOSE_CHARACTERS]
        return f"{purpose} (process {self.pid}) holds the lock since {since:%Y-%m-%d %H:%M:%S} UTC"


class TargetClaim:
    """The lock of target `serial`."""

    def __init__(self, serial: str, lock_dir: Path | None = None) -> None:
        directory = lock_dir or Path(tempfile.gettempdir())
        # A device chooses its serial, which may hold any character.
        name = re.sub(r"[^A-Za-z0-9._-]", "_", serial)
        self._path = directory / f"paceline-target-{name}.lock"
        self._note = directory / f"paceline-target-{name}.holder"
        self._lock = FileLock(self._path, mode=0o666, thread_local=False)

    @contextmanager
    def claim(
        self, stop: Stop, timeout_s: float | None = None, by: Claimant = SOMEBODY
    ) -> Iterator[bool]:
        """Wait for the lock. Yields False when stopped or timed out first."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        last_holder = ""
        while True:
            with contextlib.suppress(Timeout):
                self._lock.acquire(timeout=0)
                break
            if (holder := self._describe_holder()) != last_holder:
                last_holder = holder
                by.on_wait(holder)
            if stop.wait(LOOK_S) or (
                deadline is not None and time.monotonic() >= deadline
            ):
                yield False
                return
        try:
            note = HolderNote(by.purpose, os.getpid(), time.time())
            self._write_note(msgspec.json.encode(note))
            yield True
        finally:
            self._write_note(b"")
            self._lock.release()

    def _describe_holder(self) -> str:
        """Return who holds the lock now, or how to find that out."""
        unknown = f"another program holds the lock: `fuser {self._path}` names it"
        try:
            with self._open_note(os.O_RDONLY) as descriptor:
                note = msgspec.json.decode(
                    os.read(descriptor, NOTE_BYTES), type=HolderNote
                )
            # A process of another user must not be signalled, but exists.
            with contextlib.suppress(PermissionError):
                os.kill(note.pid, 0)
            return note.words()
        except (OSError, OverflowError, ValueError, msgspec.MsgspecError):
            return unknown

    def _write_note(self, data: bytes) -> None:
        """Replace the note in place, because another user's file in a shared directory cannot be removed."""
        with (
            contextlib.suppress(OSError),
            self._open_note(os.O_WRONLY | os.O_CREAT) as descriptor,
        ):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, data[:NOTE_BYTES])

    @contextmanager
    def _open_note(self, flags: int) -> Iterator[int]:
        """Open the note, following no link that somebody laid in the shared directory. Raises OSError."""
        if sys.platform == "win32":
            raise OSError("There is neither such an option nor a signal 0.")
        else:
            # Only in this form does mypy check the branch of every platform.
            cautious = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self._note, flags | cautious, 0o666)
            try:
                yield descriptor
            finally:
                os.close(descriptor)
