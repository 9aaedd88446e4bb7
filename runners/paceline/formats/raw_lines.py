"""Splits bytes into numbered lines of bounded length, for files, pipes and devices.

Memory is bounded by one line. A line is decoded when it is complete, so a chunk may end inside a character.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

MAX_LINE_BYTES = 16_384
"""Most bytes of a line. An entry of Android's log has at most 4,068; lines of a host may have any length."""


class RawLine(NamedTuple):
    """One line. `fault`: why the line could not be read whole, or None; with a fault, `text` is its readable
    beginning."""

    number: int
    text: str
    fault: str | None


class LineBuffer:
    """Takes chunks and yields complete lines. `number` is the number of the next line."""

    def __init__(self) -> None:
        self.number = 1
        self._kept, self._dropped = bytearray(), 0

    def feed(self, chunk: bytes) -> Iterator[RawLine]:
        """Yield the lines that end in this chunk."""
        at = 0
        while at < len(chunk):
            end = chunk.find(b"\n", at)
            stop = len(chunk) if end < 0 else end
            room = max(0, MAX_LINE_BYTES + 2 - len(self._kept))
            self._kept += chunk[at : min(stop, at + room)]
            self._dropped += max(0, stop - at - room)
            if end < 0:
                break
            yield self._take()
            at = end + 1

    def rest(self) -> Iterator[RawLine]:
        """Yield the text after the last line end as a line."""
        if self._kept:
            yield self._take()

    def forget(self) -> None:
        """Drop an incomplete line, whose rest will not come."""
        self._kept.clear()
        self._dropped = 0

    def _take(self) -> RawLine:
        line = _line(self.number, bytes(self._kept), self._dropped)
        self.number += 1
        self.forget()
        return line


def lines_of(chunks: Iterable[bytes]) -> Iterator[RawLine]:
    """Yield the lines without line ends (LF, CR LF, CR CR LF), numbered from 1. A byte order mark is dropped."""
    buffer = LineBuffer()
    for chunk in chunks:
        yield from buffer.feed(chunk)
    yield from buffer.rest()


def _line(number: int, data: bytes, dropped: int) -> RawLine:
    data = data.rstrip(b"\r")
    if number == 1:
        data = data.removeprefix(b"\xef\xbb\xbf")
    if dropped or len(data) > MAX_LINE_BYTES:
        text = data[:MAX_LINE_BYTES].decode(errors="replace")
        return RawLine(
            number,
            text,
            f"a line of at most {MAX_LINE_BYTES:,} bytes, not {len(data) + dropped:,}",
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return RawLine(
            number,
            data.decode(errors="replace"),
            f"UTF-8; byte {error.start + 1} of the line is not",
        )
    return RawLine(number, text, "text without U+0000" if "\0" in text else None)
