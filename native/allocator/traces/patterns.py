"""Writes the traces of `captured/` that no program was recorded for, the same ones every time.

    patterns.py FOLDER

    large            blocks of 64 KiB to 24 MiB that come and go: half of 32 places are filled, all sizes alike on a
                     logarithmic scale
    large_written    the same, and each block is written to at every page, as a program that wants it does
    pairs            an object is made and freed at once, 1,000 times for each of 25 sizes of 16 to 1,039 bytes

The format is `bench/recorder/trace.h`'s.
"""

from __future__ import annotations

import random
import struct
import sys
from pathlib import Path

MALLOC, FREE, WRITTEN = 0, 1, 6
KIND_BITS = 3
SMALLEST, LARGEST = 64 << 10, 24 << 20


def number_bytes(number: int) -> bytes:
    """Encode a number in LEB128: base 128, low bits first."""
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


class Trace:
    """Events, and the numbers of objects as the recorder gives them."""

    def __init__(self) -> None:
        """Begin without any."""
        self._events: list[bytes] = []
        self._unused: list[int] = []
        self._objects = 0

    def _add(self, kind: int, argument: int, second: bytes = b"") -> None:
        self._events.append(number_bytes(argument << KIND_BITS | kind) + second)

    def malloc(self, size: int) -> int:
        """Make an object; return its number."""
        self._add(MALLOC, size)
        if self._unused:
            return self._unused.pop()
        self._objects += 1
        return self._objects - 1

    def free(self, number: int) -> None:
        """Free an object; its number is the next one's."""
        self._add(FREE, number)
        self._unused.append(number)

    def write(self, number: int, size: int) -> None:
        """Write to every page of an object."""
        self._add(WRITTEN, number, number_bytes(size))

    def save(self, path: Path) -> None:
        """Write the file."""
        header = b"PLTRACE1" + struct.pack("<II", self._objects, len(self._events))
        path.write_bytes(header + b"".join(self._events))


def large(events: int, *, written: bool) -> Trace:
    """Return the pattern of blocks that come and go."""
    drawn = random.Random(41)  # noqa: S311 - no secret
    trace = Trace()
    places: list[int | None] = [None] * 32
    for _ in range(events):
        place = drawn.randrange(len(places))
        number = places[place]
        if number is None:
            size = round(SMALLEST * (LARGEST / SMALLEST) ** drawn.random())
            places[place] = number = trace.malloc(size)
            if written:
                trace.write(number, size)
        else:
            trace.free(number)
            places[place] = None
    return trace


def pairs(sizes: int, times: int) -> Trace:
    """Return the pattern of objects that are freed at once."""
    drawn = random.Random(42)  # noqa: S311 - no secret
    trace = Trace()
    for _ in range(sizes):
        size = 16 + drawn.randrange(1024)
        for _ in range(times):
            trace.free(trace.malloc(size))
    return trace


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    large(10_000, written=False).save(folder / "large.trace")
    large(2_000, written=True).save(folder / "large_written.trace")
    pairs(25, 1_000).save(folder / "pairs.trace")
