"""Decides whether a channel wants a notice. Pure.

A channel without filters wants everything. A notice without a value (a broken channel has no suite) passes the filter
of that value, because the filter was not written about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paceline_server.channels.notices import Notice
from paceline_server.kernel import globs

FIELDS = {
    "severities": "severity",
    "kinds": "kind",
    "states": "state",
    "suites": "suite",
    "targets": "target",
    "branches": "branch",
}
"""Each filter lists patterns for one value of a notice; an empty list admits every value."""


def is_wanted(filters: Mapping[str, Sequence[str]], notice: Notice) -> bool:
    """Return whether a notice passes every filter."""
    return all(
        _passes(filters.get(name, ()), getattr(notice, field))
        for name, field in FIELDS.items()
    )


def _passes(patterns: Sequence[str], value: str | None) -> bool:
    if not patterns or value is None:
        return True
    return any(globs.matches(pattern, value) for pattern in patterns)
