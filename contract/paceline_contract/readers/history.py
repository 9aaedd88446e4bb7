"""The files and the entries of a tool's history, each of which is read only when it is needed.

So a history of many years needs little memory, and an entry that cannot be read is left out on its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from paceline_contract.results import Result


class HistoryFile(NamedTuple):
    """A file of a history. `read` raises ResultError if it cannot be read."""

    path: str
    """Below what was given, with slashes; of a single file its name."""
    modified_s: float
    """When it was written, in seconds since 1970."""
    read: Callable[[], bytes]


class HistoryEntry(NamedTuple):
    """What a tool measured at one commit. `read` raises ResultError if there is no result in it."""

    place: str
    """Where it is in the history, for people."""
    at_ms: int
    """Its place in time, by which entries are ordered, in milliseconds since 1970."""
    read: Callable[[], Result]
    target: str | None = None
    """The name of what measured it; None if the tool does not say it."""
    title: str | None = None
    """A person's name for it."""


def sort_entries(entries: list[HistoryEntry]) -> list[HistoryEntry]:
    """Return the entries, the oldest first."""
    return sorted(entries, key=lambda entry: entry.at_ms)
