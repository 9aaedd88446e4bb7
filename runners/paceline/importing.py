"""Imports figures that an app logged, from a file or from a device, as one document (`paceline import`).

    OUT/import.json   what was read, line by line, with the sha256 of its source, and what could not be read

The document depends only on the bytes read, so `--dry-run` prints exactly what would be stored. An import writes
no bench stream, because a logged average has no launch, round, order or clock. Parsing is in `formats/`.
"""

from __future__ import annotations

import contextlib
import hashlib
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import msgspec
from rich.table import Table
from rich.text import Text

from paceline.adb.logcat import LogFollower, LogLine
from paceline.adb.port import Connection, Route
from paceline.devices.errors import WrongDeviceError
from paceline.devices.identity import Identity, VerifiedConnection, identify
from paceline.errors import UserError
from paceline.formats import logcat
from paceline.formats.averages import INSUFFICIENT, AverageSession
from paceline.formats.declared import Line
from paceline.formats.logcat import BatchPolicy
from paceline.formats.raw_lines import lines_of
from paceline.formats.templates import Value
from paceline.interruption import run_interruptibly

FORMATS = ("logcat",)
CHUNK_BYTES = 1 << 16
"""Bytes read at once."""
WAIT_S = 0.2
"""Longest wait for a line of a device until the time is checked."""
NO_SAMPLES = (
    "The log holds averages, not samples: no launch, round, order or clock is known, so there is nothing a "
    "verdict could be made from. Measure the same benchmark with a suite to get one."
)
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class LogDocument(msgspec.Struct, frozen=True):
    """The document of an import. Incompatible changes raise `v`."""

    v: int
    format: str
    file: str
    bytes: int
    sha256: str
    samples: int
    why_no_samples: str
    log: logcat.LogContents


def read(name: str, path: str, declared: Sequence[Line]) -> LogDocument:
    """Read the declared lines of one file; `-` is standard input. Raises UserError."""
    _check_format(name)
    try:
        return _document(name, path, _FileSource(path), declared)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error


def follow(
    name: str,
    open_connection: Callable[[], Connection],
    seconds: float | None,
    declared: Sequence[Line],
) -> LogDocument:
    """Read the declared lines of what a device logs from now on, for `seconds` or until interrupted.

    Another device that answers in its place is not read. Raises UserError, and AdbError when the device cannot
    be reached at first.
    """
    _check_format(name)
    connection = open_connection()
    connection.connect()
    address, serial = str(connection.route), identify(connection).serial
    connection.close()

    def check_serial(identity: Identity, route: Route) -> None:
        if identity.serial != serial:
            raise WrongDeviceError(serial, identity.serial, str(route))

    def open_verified() -> VerifiedConnection:
        connection = open_connection()
        return VerifiedConnection(connection, connection.route, check_serial)

    interrupted = threading.Event()
    log = _LiveLog(address, open_verified, seconds, interrupted)
    # After Ctrl-C, what was read is not lost.
    return run_interruptibly(
        lambda: _document(name, address, log, declared), interrupted.set
    )


def with_policy(document: LogDocument, policy: BatchPolicy) -> LogDocument:
    """Return the document with the policy that a person says is in force."""
    return msgspec.structs.replace(
        document, log=msgspec.structs.replace(document.log, policy=policy)
    )


def import_body(document: LogDocument, title: str | None) -> dict[str, Any]:
    """Return the body that stores it on a server."""
    body: dict[str, Any] = {"document": msgspec.to_builtins(document)}
    return body if title is None else {**body, "title": title}


def _check_format(name: str) -> None:
    if name not in FORMATS:
        raise UserError(
            f"There is no format {name!r}.", f"Use one of: {', '.join(FORMATS)}."
        )


def _document(
    name: str, path: str, source: Source, declared: Sequence[Line]
) -> LogDocument:
    try:
        log = logcat.read(lines_of(source.chunks()), declared)
    except logcat.TooManyError as error:
        raise UserError(
            f"{path} has {error}.", "Split the log into parts, for example by day."
        ) from error
    if not log.records:
        raise UserError(_nothing_read_text(path, log), _advice(declared))
    return LogDocument(
        1, name, source.name, source.size, source.sha256, 0, NO_SAMPLES, log
    )


def write(document: msgspec.Struct, out: Path) -> Path:
    """Write OUT/import.json, whole or not at all, and return its path. Raises UserError."""
    path = out / "import.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        new = path.with_name("import.json.new")
        new.write_bytes(as_json(document))
        new.replace(path)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def as_json(document: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def tables(document: LogDocument) -> Iterator[Table | str]:
    """Yield tables and sentences for people: what was read and what follows from it."""
    log = document.log
    in_tables = {session.line for session in log.sessions}
    for session in log.sessions:
        in_tables.update(line for row in session.rows for line in row.lines)
    for record in log.records:
        if record.line not in in_tables:
            fields = ", ".join(
                f"{name} {_format_value(value)}"
                for name, value in record.fields.items()
            )
            yield f"line {record.line}, {record.pattern}: {fields}"
    for session in log.sessions:
        yield _session_table(session)
    if log.policy is not None:
        rounds = (
            "no warm-up named"
            if log.policy.warmup_rounds is None
            else (f"warm-up rounds: {log.policy.warmup_rounds}")
        )
        yield f"policy in force: from {log.policy.minimum} on, {rounds}"
    yield document.why_no_samples


def complaints(document: LogDocument) -> Iterator[str]:
    """Yield sentences about lines that look like declared ones but differ."""
    log = document.log
    for problem in log.problems:
        yield f"line {problem.line}: {problem.expected}"
    if log.problem_count > len(log.problems):
        yield f"and {log.problem_count - len(log.problems)} more such lines"


class Source(Protocol):
    """Bytes that are read once. Size and hash are known at the end."""

    name: str
    size: int

    @property
    def sha256(self) -> str: ...
    def chunks(self) -> Iterator[bytes]: ...


class _LiveLog:
    """The lines that a device logs while this is read, each once, ended by LF."""

    def __init__(
        self,
        name: str,
        open_connection: Callable[[], Connection],
        seconds: float | None,
        interrupted: threading.Event,
    ) -> None:
        self._open, self._seconds, self._interrupted = (
            open_connection,
            seconds,
            interrupted,
        )
        self._hash = hashlib.sha256()
        self.name = f"logcat of {name}"
        self.size = 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        arrived: queue.SimpleQueue[LogLine] = queue.SimpleQueue()
        end = None if self._seconds is None else time.monotonic() + self._seconds
        with LogFollower(self._open, arrived.put) as follower:
            while not self._interrupted.is_set() and (
                end is None or time.monotonic() < end
            ):
                with contextlib.suppress(queue.Empty):
                    yield self._count(arrived.get(timeout=WAIT_S))
        while not arrived.empty():  # lines that came before the end
            yield self._count(arrived.get())
        if follower.gaps:
            self.name += (
                f", lost and resumed {follower.gaps} times: lines may be missing"
            )

    def _count(self, line: LogLine) -> bytes:
        data = f"{line.raw.text}\n".encode(errors="replace")
        self.size += len(data)
        self._hash.update(data)
        return data


class _FileSource:
    """A file or standard input, read once, in chunks."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._hash = hashlib.sha256()
        self.name = "standard input" if path == "-" else Path(path).name
        self.size = 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        if self._path == "-":
            yield from self._of(sys.stdin.buffer)
        else:
            with Path(self._path).open("rb") as file:
                yield from self._of(file)

    def _of(self, file: BinaryIO) -> Iterator[bytes]:
        while chunk := file.read(CHUNK_BYTES):
            if self.size == 0 and chunk.startswith(UTF_16):
                raise UserError(
                    f"{self._path} is UTF-16, as PowerShell's > writes it.",
                    "Write it again with `adb logcat -d | Out-File -Encoding utf8 FILE`, or convert it with "
                    "`iconv -f UTF-16 -t UTF-8`.",
                )
            self.size += len(chunk)
            self._hash.update(chunk)
            yield chunk


def _nothing_read_text(path: str, log: logcat.LogContents) -> str:
    if not log.problem_count:
        return f"{path}: none of its {log.lines} lines can be imported."
    first = log.problems[0]
    return (
        f"{path}: {log.problem_count} lines resemble known ones, but none can be read. "
        f"Line {first.line}: {first.expected}"
    )


def _advice(declared: Sequence[Line]) -> str:
    shapes = "\n".join(f"  {line.tag}: {line.template.text}" for line in declared)
    return (
        f"These lines can be imported, with or without a prefix of logcat:\n{shapes}\n"
        "Check that the app's log level is high enough and that the buffer was not overwritten: "
        "adb logcat -d -v threadtime"
    )


def _session_table(session: AverageSession) -> Table:
    device = session.device or "an unnamed device (no header line before these)"
    if session.heading is not None:
        device = f"{session.heading.name} ({device})"
    title = device if session.api is None else f"{device}, API {session.api}"
    if session.heading is not None and session.heading.warmup_rounds is not None:
        title += f", warm-up rounds: {session.heading.warmup_rounds}"
    heads = ("lines", "batch", "arm", "average", "fallback", "difference", "in words")
    table = Table(*heads, title=Text(title), caption=INSUFFICIENT)
    for row in session.rows:
        table.add_row(
            f"{row.lines[0]}, {row.lines[1]}",
            str(row.batch),
            row.arm,
            row.average.printed,
            row.fallback.printed,
            f"{row.difference_ns / 1e6:+.2f} ms",
            row.words,
        )
    return table


def _format_value(value: Value) -> str:
    return (
        value
        if isinstance(value, str)
        else str(value)
        if isinstance(value, int)
        else value.printed
    )
