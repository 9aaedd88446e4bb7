"""Keeps everything an attempt has to send on disk until the server acknowledged it (I8).

    ROOT/JOB-ATTEMPT/attempt.json   job, attempt, lease token (mode 0600)
                     items.ndjson   one item per line with its checksum and seq: `spool_lines.py`
                     acknowledged   byte offset up to which the server has everything
                     finish.json    the attempt's last write, once it is known
    ROOT/aside/…                    what the server refused, a disk damaged or nobody can attribute, with
                                    reason.txt, for a person to look at

An item is on disk (fsync) before it is sent, and `seq` counts up in file order, so a kill −9 of anything
loses nothing. A torn last line was never sent: it is cut off and its seq used again. A line damaged later is
set aside and its seq never reused, so `done` holds only if the server has that item already. Nothing is
deleted before it is acknowledged.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from paceline.spool_lines import examine, line_of, payload_of, seq_of

log = logging.getLogger("paceline.spool")

_encode = msgspec.json.Encoder().encode


class SpoolError(Exception):
    """The disk did not take it; what was on disk before still is."""


class Attempt(msgspec.Struct, frozen=True):
    """Identity of everything in one spool (I6, I7)."""

    job_id: str
    attempt: int
    lease_token: str


class SpoolBatch(NamedTuple):
    """Items to send next: their JSON, and the offset to acknowledge."""

    items: list[bytes]
    end: int


class AttemptSpool:
    """The spool of one attempt. Safe for several appending threads and one that delivers."""

    def __init__(self, directory: Path, attempt: Attempt) -> None:
        self.directory = directory
        self.attempt = attempt
        self.grown = threading.Event()
        self._lock = threading.Lock()
        self._path = directory / "items.ndjson"
        self._acknowledged = self._read_acknowledged()
        found = examine(self._path, self._acknowledged)
        self._size, self._next_seq, self._acknowledged_seq, self.damaged = found
        self._acknowledged = min(self._acknowledged, self._size)
        self._next_seq = self._recorded_next_seq() or self._next_seq
        if self.damaged:
            self._set_damaged_aside()

    @property
    def last_seq(self) -> int:
        return self._next_seq - 1

    @property
    def acknowledged_seq(self) -> int:
        """The highest seq the server has, −1 for none."""
        return self._acknowledged_seq

    @property
    def drained(self) -> bool:
        return self._acknowledged == self._size

    def append(self, items: Iterable[Mapping[str, object]]) -> None:
        """Numbers the items and puts them on disk. Raises SpoolError, and then none of them is there."""
        with self._lock:
            seq, block = self._next_seq, bytearray()
            for item in items:
                block += line_of(_encode({**item, "seq": seq}))
                seq += 1
            if not block:
                return
            try:
                _append_durably(self._path, bytes(block))
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.truncate(self._path, self._size)
                raise SpoolError(
                    f"{self._path} cannot grow: {error.strerror}"
                ) from error
            self._size += len(block)
            self._next_seq = seq
        self.grown.set()

    def next_piece(
        self, max_items: int = 500, max_bytes: int = 1 << 20
    ) -> SpoolBatch | None:
        """What to send next, at least one item; None when all is acknowledged. Damaged lines are passed
        over.
        """
        self.grown.clear()
        with self._lock:
            start, size = self._acknowledged, self._size
        if start == size:
            return None
        items: list[bytes] = []
        total, end = 0, start
        with self._path.open("rb") as file:
            file.seek(start)
            while end < size and len(items) < max_items:
                line = file.readline()
                if items and total + len(line) > max_bytes:
                    break
                payload = payload_of(line)
                if payload is not None:
                    items.append(payload)
                    total += len(line)
                end += len(line)
        if not items:  # nothing but damage up to the end
            with self._lock:
                self._acknowledged = end
            return None
        return SpoolBatch(items, end)

    def acknowledge(self, piece: SpoolBatch) -> None:
        """The server has all of `piece`. Losing this note costs a repetition, never an item."""
        with self._lock:
            self._acknowledged, self._acknowledged_seq = (
                piece.end,
                seq_of(piece.items[-1]),
            )
            with contextlib.suppress(OSError):
                (self.directory / "acknowledged").write_text(f"{piece.end}\n")

    def record_finish(self, finish: Mapping[str, object]) -> None:
        """Notes the attempt's last write, after its last item. Raises SpoolError."""
        try:
            _write_durably(
                self.directory / "finish.json",
                _encode({**finish, "last_seq": self.last_seq}),
            )
        except OSError as error:
            raise SpoolError(
                f"{self.directory} cannot be written: {error.strerror}"
            ) from error

    def finish(self) -> dict[str, Any] | None:
        """The recorded last write, if the attempt got that far."""
        try:
            found = json.loads((self.directory / "finish.json").read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def remove(self) -> None:
        """The server has everything, the finish included."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def set_aside(self, reason: str) -> Path:
        """The server refused it for good: keep it, with the reason, out of the way."""
        return _set_aside(self.directory, reason)

    def start_over(self) -> None:
        """The server lacks what it had acknowledged: everything is to be sent again (duplicates are free)."""
        with self._lock:
            self._acknowledged, self._acknowledged_seq = 0, -1
            with contextlib.suppress(OSError):
                (self.directory / "acknowledged").unlink(missing_ok=True)
        self.grown.set()

    def _recorded_next_seq(self) -> int | None:
        """What the end recorded: it knows of lines at the end that are no longer there."""
        last = (self.finish() or {}).get("last_seq")
        return last + 1 if isinstance(last, int) else None

    def _set_damaged_aside(self) -> None:
        """Copies what is damaged; the same copy at every loading."""
        where = self.directory.parent / "aside" / f"{self.directory.name}.damaged"
        lines = "".join(
            f"{len(line)} bytes at byte {offset}\n" for offset, line in self.damaged
        )
        reason = f"Lines of {self._path.name} whose checksum does not hold; those around them were sent:\n{lines}"
        log.error(
            "%s: %d damaged lines are kept in %s", self._path, len(self.damaged), where
        )
        try:
            where.mkdir(parents=True, exist_ok=True)
            (where / "items.damaged").write_bytes(
                b"".join(line for _, line in self.damaged)
            )
            (where / "reason.txt").write_text(reason)
        except OSError as error:
            log.error("%s cannot be written: %s", where, error)

    def _read_acknowledged(self) -> int:
        try:
            return int((self.directory / "acknowledged").read_text())
        except (OSError, ValueError):
            return 0


class Spool:
    """All spools below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def create(self, attempt: Attempt) -> AttemptSpool:
        """Raises SpoolError when the disk does not take it."""
        name = re.sub(r"[^A-Za-z0-9_-]", "_", attempt.job_id)
        directory = self.root / f"{name}-{attempt.attempt}"
        try:
            directory.mkdir(exist_ok=True)
            _write_durably(directory / "attempt.json", _encode(attempt), mode=0o600)
        except OSError as error:
            raise SpoolError(
                f"{directory} cannot be written: {error.strerror}"
            ) from error
        return AttemptSpool(directory, attempt)

    def undelivered(self) -> Iterator[AttemptSpool]:
        """What earlier lives of this agent left, oldest first. What cannot be read now stays for later."""
        found = [
            path
            for path in self.root.iterdir()
            if path.is_dir() and path.name != "aside"
        ]
        for directory in sorted(found, key=lambda path: path.stat().st_mtime):
            try:
                spool = _load(directory)
            except OSError as error:
                log.error(
                    "%s cannot be read now and stays for the next start: %s",
                    directory,
                    error,
                )
                continue
            if spool is not None:
                yield spool


def _load(directory: Path) -> AttemptSpool | None:
    """The spool in `directory`; None where nobody can say whose it is: then items are set aside. Raises
    OSError, having changed nothing.
    """
    items = directory / "items.ndjson"
    try:
        attempt = msgspec.json.decode(
            (directory / "attempt.json").read_bytes(), type=Attempt
        )
    except (FileNotFoundError, msgspec.DecodeError, msgspec.ValidationError) as error:
        if not items.exists() or items.stat().st_size == 0:
            shutil.rmtree(directory, ignore_errors=True)  # killed before its first item
        else:
            where = _set_aside(
                directory, f"attempt.json is missing or damaged: {error}"
            )
            log.error(
                "%s: it is not known whose items these are; they are kept there", where
            )
        return None
    return AttemptSpool(directory, attempt)


def _set_aside(directory: Path, reason: str) -> Path:
    aside = directory.parent / "aside"
    aside.mkdir(exist_ok=True)
    target, count = aside / directory.name, 1
    while target.exists():
        count += 1
        target = aside / f"{directory.name}.{count}"
    directory.rename(target)
    with contextlib.suppress(OSError):
        (target / "reason.txt").write_text(reason + "\n")
    return target


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _append_durably(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_durably(path: Path, data: bytes, mode: int = 0o644) -> None:
    """A whole new file or none: written beside, flushed, renamed."""
    new = path.with_name(path.name + ".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.replace(path)
