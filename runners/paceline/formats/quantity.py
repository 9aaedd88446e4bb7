"""Parses a printed number with a unit into base units, with the interval of the values that are printed so.

`low` ≤ true value ≤ `high`, whether the program rounded or truncated. Nothing is computed in floating point. An
ambiguous number is refused, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from paceline_contract.events import INT64_MAX
from paceline_contract.items import PrintedNumber
from paceline_contract.units import NS_PER

KIBI = 1024
"""The factor between B, KB, MB and GB. The only app that prints MB prints 175 pieces of 1 MiB as 175.0 MB, so its factor
is not 1000."""

_NUMBER = re.compile(r"\d(?:[\d.,]{0,30}\d)?", re.ASCII)


class Units:
    """The units in which a kind of quantity is printed, with their sizes in the `base` unit."""

    def __init__(self, base: str, example: str, scales: Mapping[str, int]) -> None:
        self.base, self.scales = base, MappingProxyType(scales)
        self.expected = f"{example}, in {', '.join(scales)}"
        longest_first = sorted(scales, key=len, reverse=True)
        self._shape = re.compile(
            f"[ \t]{{0,4}}({'|'.join(map(re.escape, longest_first))})"
        )

    def size_at(self, text: str, at: int) -> tuple[int, int] | None:
        """Return the size of the unit at position `at` in base units, and its end; None without a unit."""
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
    {unit: int(NS_PER[unit]) for unit in ("ns", "us", "\u00b5s", "\u03bcs", "ms", "s")},
)
SIZE = Units("bytes", "a size such as 175.0MB", _BYTES)
RATE = Units(
    "bytes/s",
    "a rate such as 635MB/s",
    {f"{unit}/s": scale for unit, scale in _BYTES.items()},
)


class UnreadableError(Exception):
    """There is no such quantity; `expected` describes what was expected."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


def count_at(text: str, at: int) -> tuple[int, int]:
    """Return the whole number at position `at` and its end. Raises UnreadableError."""
    match = _NUMBER.match(text, at)
    if match is None or not match.group().isdigit():
        raise UnreadableError("a whole number without separators")
    return _check_int64(int(match.group())), match.end()


def quantity_at(text: str, at: int, units: Units) -> tuple[PrintedNumber, int]:
    """Return the quantity at position `at` and its end. Raises UnreadableError.

    A number with decimals was rounded to the nearest. A number without decimals may come from a division of
    integers, which truncates, so its interval covers both.
    """
    match = _NUMBER.match(text, at)
    if match is None:
        raise UnreadableError(units.expected)
    digits, decimals = _decimal(match.group())
    unit = units.size_at(text, match.end())
    if unit is None:
        raise UnreadableError(units.expected)
    scale, end = unit
    half = 2 * 10**decimals
    above = 1 if decimals else 2
    quantity = PrintedNumber(
        printed=text[at:end],
        value=_check_int64((2 * digits * scale + half // 2) // half),
        low=max(0, (2 * digits - 1) * scale // half),
        high=_check_int64(-(-(2 * digits + above) * scale // half)),
        unit=units.base,
    )
    return quantity, end


def _decimal(number: str) -> tuple[int, int]:
    """Return all digits as one integer, and how many of them are decimals."""
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


def _check_int64(value: int) -> int:
    if value > INT64_MAX:
        raise UnreadableError(f"at most {INT64_MAX} in base units")
    return value
