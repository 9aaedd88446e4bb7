"""Parses a printed number with a unit into an integer of base units and the interval that rounding leaves open.

`low` ≤ true value ≤ `high` whether the printer rounded to the nearest digit or cut whole units off. Nothing
is computed in floating point. A number that can be read in two ways is refused, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

LARGEST = 2**63 - 1
"""What C1 and every store of ours can hold."""

KIBI = 1024
"""The step of KB, MB and GB. Sizes printed by `count * piece length` decide it: the pieces of the one origin
that prints MB are powers of two, and so are ours; with 1000 its 175 pieces would not be 175.0 MB."""

_NUMBER = re.compile(r"\d(?:[\d.,]{0,30}\d)?", re.ASCII)


class Units:
    """The units a kind of quantity is printed in, and how many of its `base` unit each is."""

    def __init__(self, base: str, example: str, scales: Mapping[str, int]) -> None:
        self.base, self.scales = base, MappingProxyType(scales)
        self.expected = f"{example}, in {', '.join(scales)}"
        longest_first = sorted(scales, key=len, reverse=True)
        self._shape = re.compile(
            f"[ \t]{{0,4}}({'|'.join(map(re.escape, longest_first))})"
        )

    def at(self, text: str, at: int) -> tuple[int, int] | None:
        """(how many base units the unit at `at` is, where it ends), or None."""
        match = self._shape.match(text, at)
        return None if match is None else (self.scales[match.group(1)], match.end())


_BYTES = {"B": 1} | {
    f"{letter}{rest}": KIBI**power
    for power, letter in enumerate("KMG", 1)
    for rest in ("B", "iB")
}
DURATION = Units(
    "ns",
    "a duration such as 2.82ms",
    {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": 10**9},
)
"""The micro sign and the Greek letter mu look alike and are both in use."""
SIZE = Units("bytes", "a size such as 175.0MB", _BYTES)
RATE = Units(
    "bytes/s",
    "a rate such as 635MB/s",
    {f"{unit}/s": scale for unit, scale in _BYTES.items()},
)


class Quantity(msgspec.Struct, frozen=True):
    """A printed number: `value` is what the digits say, the true one lies from `low` to `high`."""

    printed: str
    value: int
    low: int
    high: int
    unit: str


class UnreadableError(Exception):
    """No such quantity there; `expected` says what would be one, and why this is none."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


def count_at(text: str, at: int) -> tuple[int, int]:
    """(the whole number at `at`, where it ends). Raises UnreadableError."""
    match = _NUMBER.match(text, at)
    if match is None or not match.group().isdigit():
        raise UnreadableError("a whole number without separators")
    return _bounded(int(match.group())), match.end()


def quantity_at(text: str, at: int, units: Units) -> tuple[Quantity, int]:
    """(the quantity at `at`, where it ends). Raises UnreadableError.

    Digits after the point: the printer formatted, so it rounded to the nearest. Without any it may have
    divided integers, which cuts off: the interval holds both.
    """
    match = _NUMBER.match(text, at)
    if match is None:
        raise UnreadableError(units.expected)
    digits, decimals = _decimal(match.group())
    unit = units.at(text, match.end())
    if unit is None:
        raise UnreadableError(units.expected)
    scale, end = unit
    half = 2 * 10**decimals
    above = 1 if decimals else 2
    quantity = Quantity(
        printed=text[at:end],
        value=_bounded((2 * digits * scale + half // 2) // half),
        low=max(0, (2 * digits - 1) * scale // half),
        high=_bounded(-(-(2 * digits + above) * scale // half)),
        unit=units.base,
    )
    return quantity, end


def _decimal(number: str) -> tuple[int, int]:
    """(all digits as one integer, how many of them are decimals)."""
    separators = [char for char in number if char in ".,"]
    if not separators:
        return int(number), 0
    if len(separators) > 1:
        raise UnreadableError(
            f"a number with at most one decimal point: {number!r} groups its digits"
        )
    whole, decimals = number.split(separators[0])
    if separators[0] == "," and len(decimals) == 3:
        raise UnreadableError(
            f"a decimal point: in {number!r} the comma may group thousands"
        )
    return int(whole + decimals), len(decimals)


def _bounded(value: int) -> int:
    if value > LARGEST:
        raise UnreadableError(f"at most {LARGEST} in base units")
    return value
