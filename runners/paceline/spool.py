"""Keeps the items of an attempt on disk until the server has acknowledged them (I8).

    ROOT/JOB-ATTEMPT/attempt.json   job, attempt, lease token (mode 0600)
                     items.ndjson   one item per line with its checksum and seq: `spool_lines.py`
                     acknowledged   byte offset up to which the server has all items
                     finish.json    the report that ends the attempt
    ROOT/aside/…                    items that the server refused, that a disk damaged or that belong to no
                                    known attempt, with reason.txt, for a person to look at

An item is synced to disk before it is sent and deleted only after it is acknowledged, so killing any process
loses nothing. Items are numbered in file order (`seq`). `spool_lines.py` reads and repairs the file.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from paceline_contract.attempts import FinishReport
from paceline_contract.items import AnyItem

from paceline.spool_lines import decode_line, encode_line, recover_lines, seq_of

log = logging.getLogger("paceline.spool")

_encode = msgspec.json.Encoder().encode


class SpoolError(Exception):
    """Writing to the disk failed; what was on disk before is unchanged."""


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
    """The spool of one attempt. Several threads may append while one delivers."""

    def __init__(self, directory: Path, attempt: Attempt) -> None:
        self.directory = directory
        self.attempt = attempt
        self.grown = threading.Event()
        self._lock = threading.Lock()
        self._path = directory / "items.ndjson"
        self._acknowledged = self._read_acknowledged()
        recovered = recover_lines(self._path, self._acknowledged)
        self._size, self._next_seq, self._acknowledged_seq, self.damaged = recovered
        self._acknowledged = min(self._acknowledged, self._size)
        self._next_seq = self._recorded_next_seq() or self._next_seq
        if self.damaged:
            self._set_damaged_aside()

    @property
    def last_seq(self) -> int:
        return self._next_seq - 1

    @property
    def acknowledged_seq(self) -> int:
        """Return the highest seq that the server has, or −1."""
        return self._acknowledged_seq

    @property
    def is_drained(self) -> bool:
        return self._acknowledged == self._size

    def append(self, items: Iterable[AnyItem]) -> None:
        """Append the items to the file with their numbers, all or none. Raises SpoolError."""
        with self._lock:
            seq, block = self._next_seq, bytearray()
            for item in items:
                block += encode_line(_encode(msgspec.structs.replace(item, seq=seq)))
                seq += 1
            if not block:
                return
            try:
                _append_durably(self._path, bytes(block))
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.truncate(self._path, self._size)
                raise SpoolError(
                    f"cannot append to {self._path}: {error.strerror}"
                ) from error
            self._size += len(block)
            self._next_seq = seq
        self.grown.set()

    def next_batch(
        self, max_items: int = 500, max_bytes: int = 1 << 20
    ) -> SpoolBatch | None:
        """Return the items to send next, without damaged lines; None when all are acknowledged."""
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
                payload = decode_line(line)
                if payload is not None:
                    items.append(payload)
                    total += len(line)
                end += len(line)
        if not items:  # all remaining lines are damaged
            with self._lock:
                self._acknowledged = end
            return None
        return SpoolBatch(items, end)

    def acknowledge(self, batch: SpoolBatch) -> None:
        """Record that the server has the batch. If this record is lost, its items are sent again."""
        with self._lock:
            self._acknowledged = batch.end
            self._acknowledged_seq = seq_of(batch.items[-1])
            with contextlib.suppress(OSError):
                (self.directory / "acknowledged").write_text(f"{batch.end}\n")

    def record_finish(self, finish: FinishReport) -> None:
        """Write the report that ends the attempt, after its last item. Raises SpoolError."""
        content = _encode(self.add_last_seq(finish))
        try:
            _write_durably(self.directory / "finish.json", content)
        except OSError as error:
            raise SpoolError(
                f"cannot write in {self.directory}: {error.strerror}"
            ) from error

    def finish(self) -> FinishReport | None:
        """Return the report that ends the attempt, if it was recorded."""
        try:
            return msgspec.json.decode(
                (self.directory / "finish.json").read_bytes(), type=FinishReport
            )
        except (OSError, msgspec.DecodeError):
            return None

    def add_last_seq(self, finish: FinishReport) -> FinishReport:
        """Return the report with the highest seq of this spool."""
        return msgspec.structs.replace(finish, last_seq=self.last_seq)

    def remove(self) -> None:
        """Delete the spool, once the server has all items and the finish report."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def set_aside(self, reason: str) -> Path:
        """Move a spool that the server refuses for good to `aside`, with the reason."""
        return _set_aside(self.directory, reason)

    def start_over(self) -> None:
        """Send all items again, because the server lost some it had acknowledged. It ignores duplicates."""
        with self._lock:
            self._acknowledged, self._acknowledged_seq = 0, -1
            with contextlib.suppress(OSError):
                (self.directory / "acknowledged").unlink(missing_ok=True)
        self.grown.set()

    def _recorded_next_seq(self) -> int | None:
        """Return the next seq by the finish report, which also counts lines that have been lost at the end."""
        finish = self.finish()
        return None if finish is None else finish.last_seq + 1

    def _set_damaged_aside(self) -> None:
        """Copy the damaged lines to `aside`. Repeating it writes the same files."""
        target = self.directory.parent / "aside" / f"{self.directory.name}.damaged"
        lines = "".join(
            f"{len(line)} bytes at byte {offset}\n" for offset, line in self.damaged
        )
        reason = f"Lines of {self._path.name} whose checksum does not match; the others were sent:\n{lines}"
        log.error(
            "%s: %d damaged lines are kept in %s", self._path, len(self.damaged), target
        )
        try:
            target.mkdir(parents=True, exist_ok=True)
            (target / "items.damaged").write_bytes(
                b"".join(line for _, line in self.damaged)
            )
            (target / "reason.txt").write_text(reason)
        except OSError as error:
            log.error("cannot write in %s: %s", target, error)

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
        """Return the new, empty spool of an attempt. Raises SpoolError."""
        name = re.sub(r"[^A-Za-z0-9_-]", "_", attempt.job_id)
        directory = self.root / f"{name}-{attempt.attempt}"
        try:
            directory.mkdir(exist_ok=True)
            _write_durably(directory / "attempt.json", _encode(attempt), mode=0o600)
        except OSError as error:
            raise SpoolError(
                f"cannot write in {directory}: {error.strerror}"
            ) from error
        return AttemptSpool(directory, attempt)

    def load_undelivered(self) -> Iterator[AttemptSpool]:
        """Yield the spools that earlier processes of this agent left, oldest first.

        A spool that cannot be read is left for the next start.
        """
        directories = [
            path
            for path in self.root.iterdir()
            if path.is_dir() and path.name != "aside"
        ]
        for directory in sorted(directories, key=lambda path: path.stat().st_mtime):
            try:
                spool = _load(directory)
            except OSError as error:
                log.error("%s is left for the next start: %s", directory, error)
                continue
            if spool is not None:
                yield spool


def _load(directory: Path) -> AttemptSpool | None:
    """Return the spool in `directory`, or None if its attempt is unknown: then its items are set aside.

    Raises OSError, having changed nothing.
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
            target = _set_aside(
                directory, f"attempt.json is missing or damaged: {error}"
            )
            log.error("%s: these items belong to no known attempt", target)
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
    """Write the whole file or nothing: to a temporary file, synced, then renamed."""
    new = path.with_name(path.name + ".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.replace(path)
