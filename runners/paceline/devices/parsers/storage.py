"""Parses `df`: the free space of a file system, as toybox, toolbox and busybox print it.

A size with an unknown unit is unknown, never taken for bytes.
"""

from __future__ import annotations

import re

import msgspec

from paceline.devices.parsers.text_values import lines_of

_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)([KMGTP]?)i?B?", re.ASCII)
_SCALES: dict[str, int] = {
    letter: 1024**power for power, letter in enumerate(("", "K", "M", "G", "T", "P"))
}
_BLOCK = re.compile(r"(\d{1,6})([km]?)-blocks", re.ASCII)
_FREE = ("available", "avail", "free")


class Space(msgspec.Struct, frozen=True):
    """One file system, in bytes; None where the text does not say."""

    total_bytes: int | None
    free_bytes: int | None


def spaces(text: str) -> list[Space]:
    """Return every file system that `df` lists; empty when it was refused."""
    rows = [line.split() for line in lines_of(text) if line.strip()]
    head = next(
        (index for index, row in enumerate(rows) if row[0].lower() == "filesystem"),
        None,
    )
    if head is None:
        return []
    names = [name.lower() for name in rows[head]]
    if names[-2:] == ["mounted", "on"]:
        names[-2:] = ["mounted"]
    return [
        space
        for row in _join_wrapped_rows(rows[head + 1 :], len(names))
        if (space := _space(names, row, _unit(names))) is not None
    ]


def free_bytes(text: str) -> int | None:
    """Return the free bytes in the output of `df PATH`; None when it does not tell."""
    file_systems = spaces(text)
    return file_systems[0].free_bytes if len(file_systems) == 1 else None


def _join_wrapped_rows(rows: list[list[str]], width: int) -> list[list[str]]:
    """Join the two lines on which `df` prints a row with a long device name."""
    joined: list[list[str]] = []
    for row in rows:
        if joined and len(joined[-1]) == 1 and len(row) == width - 1:
            joined[-1] = [*joined[-1], *row]
        else:
            joined.append(row)
    return joined


def _unit(names: list[str]) -> int | None:
    """Return bytes per number without a unit; None when the headings do not tell."""
    for name in names:
        if (match := _BLOCK.fullmatch(name)) is not None:
            return int(match[1]) * _SCALES[match[2].upper()]
    return None


def _space(names: list[str], row: list[str], unit: int | None) -> Space | None:
    if len(row) < len(names):
        return None
    total = next(
        (name for name in names if name == "size" or name.endswith("-blocks")), None
    )
    free = next((name for name in names if name in _FREE), None)
    column = {name: row[index] for index, name in enumerate(names)}
    return Space(
        None if total is None else _bytes(column[total], unit),
        None if free is None else _bytes(column[free], unit),
    )


def _bytes(text: str, unit: int | None) -> int | None:
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    scale = _SCALES[match[2]] if match[2] else unit
    return None if scale is None else int(float(match[1]) * scale)
