"""Writes the lines of a spool's items file and recovers what is intact of a damaged one.

    line = crc32 of the JSON (8 hex digits), space, JSON with its seq, newline

A line counts only when its checksum matches. One damaged byte costs at most its own line, and none where it
is a newline. The seq of a damaged line is never reused, because the server may have that item. Only an
unfinished last line beyond what was acknowledged was never sent: it is torn, not damaged, and is cut off.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import NamedTuple

import msgspec

_BEGIN = re.compile(rb"[0-9a-f]{8} \{")
MAX_PARTS = 64
"""Beginnings of lines looked for in one damaged line: each costs a checksum of the rest."""


class _Numbered(msgspec.Struct):
    seq: int


_seq_of = msgspec.json.Decoder(_Numbered).decode


class Examined(NamedTuple):
    """A file as it now is: `damaged` holds (offset, bytes) of each line that is lost."""

    size: int
    next_seq: int
    acknowledged_seq: int
    damaged: list[tuple[int, bytes]]


def line_of(payload: bytes) -> bytes:
    return b"%08x " % zlib.crc32(payload) + payload + b"\n"


def payload_of(line: bytes) -> bytes | None:
    """The JSON of a line; None when the line is damaged."""
    payload = line[9:-1]
    good = line.endswith(b"\n") and line[:9] == b"%08x " % zlib.crc32(payload)
    return payload if good else None


def seq_of(payload: bytes) -> int:
    return _seq_of(payload).seq


def examine(path: Path, acknowledged: int) -> Examined:
    """Reads the whole file, mends line ends and cuts off a torn tail. Raises OSError.

    `acknowledged`: the offset up to which the server has everything. Examining again changes nothing more.
    """
    if not path.exists():
        return Examined(0, 0, -1, [])
    mended, torn = _mended(path, acknowledged)
    if mended or torn is not None:
        with path.open("r+b") as file:
            for offset in mended:
                file.seek(offset)
                file.write(b"\n")
            if torn is not None:
                file.truncate(torn)
    size, next_seq, acknowledged_seq = 0, 0, -1
    damaged: list[tuple[int, bytes]] = []
    resume = False
    with path.open("rb") as file:
        for line in file:
            payload = payload_of(line)
            if payload is None:
                damaged.append((size, line))
                next_seq, resume = next_seq + 1, True
            else:
                next_seq = (seq_of(payload) if resume else next_seq) + 1
                resume = False
                if size + len(line) <= acknowledged:
                    acknowledged_seq = next_seq - 1
            size += len(line)
    return Examined(size, next_seq, acknowledged_seq, damaged)


def _mended(path: Path, acknowledged: int) -> tuple[list[int], int | None]:
    """(offsets where a newline belongs, where a torn tail begins)."""
    ends: list[int] = []
    offset = 0
    with path.open("rb") as file:
        for line in file:
            if payload_of(line) is None:
                ends += [offset + end for end in _lost_ends(line)]
                last = offset + len(line) - 1
                if not line.endswith(b"\n") and last not in ends[-1:]:
                    begin = max(offset, ends[-1] + 1) if ends else offset
                    if begin >= acknowledged:
                        return ends, begin
                    ends.append(last)  # it was whole once: this byte was its newline
            offset += len(line)
    return ends, None


def _lost_ends(line: bytes) -> list[int]:
    """Where in a damaged line a newline was: before a good line, or after one."""
    begins = [0, *(found.start() for found in _BEGIN.finditer(line, 1))][:MAX_PARTS]
    ends: set[int] = set()
    for begin, following in zip(begins, [*begins[1:], len(line)], strict=True):
        for end in {following, len(line)}:
            part = line[begin : end - 1] + b"\n"
            if payload_of(part) is not None:
                ends |= {begin - 1, end - 1}
    return sorted(end for end in ends if end >= 0 and line[end : end + 1] != b"\n")
