"""Writes the lines of a spool's items file and recovers the intact lines of a damaged file.

    line = crc32 of the JSON (8 hex digits), space, JSON with its seq, newline

- A line is intact if its checksum matches. A damaged byte costs its own line; a damaged newline is restored.
- The seq of a damaged line is never reused, because the server may have that item.
- An unfinished last line that was not acknowledged is torn: it was never sent, and is cut off.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import NamedTuple

import msgspec

_LINE_START = re.compile(rb"[0-9a-f]{8} \{")
MAX_PARTS = 64
"""How many line starts are tried within one damaged line; each costs a checksum of the rest."""


class _Numbered(msgspec.Struct):
    seq: int


_seq_of = msgspec.json.Decoder(_Numbered).decode


class RecoveredLines(NamedTuple):
    """The contents of an items file after its repair; `damaged` has (offset, bytes) of each lost line."""

    size: int
    next_seq: int
    acknowledged_seq: int
    damaged: list[tuple[int, bytes]]


def encode_line(payload: bytes) -> bytes:
    return b"%08x " % zlib.crc32(payload) + payload + b"\n"


def decode_line(line: bytes) -> bytes | None:
    """Return the JSON of a line; None if the line is damaged."""
    payload = line[9:-1]
    return payload if line == encode_line(payload) else None


def seq_of(payload: bytes) -> int:
    return _seq_of(payload).seq


def recover_lines(path: Path, acknowledged: int) -> RecoveredLines:
    """Restore damaged newlines, cut off a torn tail and read the file. Raises OSError.

    `acknowledged` is the offset up to which the server has all items. A second call changes nothing more.
    """
    if not path.exists():
        return RecoveredLines(0, 0, -1, [])
    lost_newlines, torn_tail = _find_repairs(path, acknowledged)
    if lost_newlines or torn_tail is not None:
        with path.open("r+b") as file:
            for offset in lost_newlines:
                file.seek(offset)
                file.write(b"\n")
            if torn_tail is not None:
                file.truncate(torn_tail)
    size, next_seq, acknowledged_seq = 0, 0, -1
    damaged: list[tuple[int, bytes]] = []
    after_damage = False
    with path.open("rb") as file:
        for line in file:
            payload = decode_line(line)
            if payload is None:
                damaged.append((size, line))
                next_seq, after_damage = next_seq + 1, True
            else:
                next_seq = (seq_of(payload) if after_damage else next_seq) + 1
                after_damage = False
                if size + len(line) <= acknowledged:
                    acknowledged_seq = next_seq - 1
            size += len(line)
    return RecoveredLines(size, next_seq, acknowledged_seq, damaged)


def _find_repairs(path: Path, acknowledged: int) -> tuple[list[int], int | None]:
    """Return the offsets of lost newlines, and the offset of a torn tail if there is one."""
    newlines: list[int] = []
    offset = 0
    with path.open("rb") as file:
        for line in file:
            if decode_line(line) is None:
                newlines += [offset + newline for newline in _lost_newlines(line)]
                last = offset + len(line) - 1
                if not line.endswith(b"\n") and last not in newlines[-1:]:
                    start = max(offset, newlines[-1] + 1) if newlines else offset
                    if start >= acknowledged:
                        return newlines, start
                    # The server has this line, so it was complete: its last byte was the newline.
                    newlines.append(last)
            offset += len(line)
    return newlines, None


def _lost_newlines(line: bytes) -> list[int]:
    """Return positions in a damaged line where a newline was, before or after an intact line."""
    starts = [0, *(match.start() for match in _LINE_START.finditer(line, 1))]
    starts = starts[:MAX_PARTS]
    newlines: set[int] = set()
    for start, next_start in zip(starts, [*starts[1:], len(line)], strict=True):
        for end in {next_start, len(line)}:
            if decode_line(line[start : end - 1] + b"\n") is not None:
                newlines |= {start - 1, end - 1}
    return sorted(
        position
        for position in newlines
        if position >= 0 and line[position : position + 1] != b"\n"
    )
