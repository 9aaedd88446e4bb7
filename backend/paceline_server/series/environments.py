"""Splits points by the target's environment and the meaning of their number, and says what changed in between.

Every change of the fingerprint starts a new environment, even a return to an earlier fingerprint, because more may have
changed than the factors show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paceline_server.series.declarations import (
    Declaration,
    changed_since,
    merge,
    read_declaration,
)

ABSENT = "none"
UNKNOWN = "the target changed; its factors before are not known"
FIRST = "first point"


class EnvironmentStretch(NamedTuple):
    """The points `start` … `stop` − 1 of a list, which were measured in one environment and mean the same."""

    start: int
    stop: int
    fingerprint: str
    declaration: Declaration | None = None
    """None if no point of it has a declaration, as in older ones."""


class FactorChange(NamedTuple):
    """A factor that differs between two environments; None on the side that lacks it."""

    factor: str
    before: Any
    after: Any

    def words(self) -> str:
        """Return the change in words, such as `kernel 6.1.0-12 → 6.1.0-13`."""
        name = self.factor.replace("_", " ")
        return f"{name} {_value(self.before)} → {_value(self.after)}"


def cut_into_environments(
    fingerprints: Sequence[str], declarations: Sequence[str | None] = ()
) -> list[EnvironmentStretch]:
    """Split a list of points where the fingerprint or the meaning of the number (`SeriesPoint.declaration`) changes."""
    stretches: list[EnvironmentStretch] = []
    texts = declarations or [None] * len(fingerprints)
    for index, (fingerprint, text) in enumerate(zip(fingerprints, texts, strict=True)):
        declaration = read_declaration(text)
        last = stretches[-1] if stretches else None
        if (
            last is not None
            and last.fingerprint == fingerprint
            and changed_since("", last.declaration, declaration, "") is None
        ):
            stretches[-1] = last._replace(
                stop=index + 1, declaration=merge(last.declaration, declaration)
            )
        else:
            stretches.append(
                EnvironmentStretch(index, index + 1, fingerprint, declaration)
            )
    return stretches


def describe_boundary(
    before: EnvironmentStretch,
    after: EnvironmentStretch,
    factors: Mapping[str, Mapping[str, Any]],
    metric: str,
    commit: str,
) -> str:
    """Return in words why a stretch begins at `commit`: a new meaning of its number, or a different environment."""
    meaning = changed_since(metric, before.declaration, after.declaration, commit)
    parts = [] if meaning is None else [meaning]
    if before.fingerprint != after.fingerprint:
        parts.append(
            describe_switch(
                factors.get(before.fingerprint), factors.get(after.fingerprint)
            )
        )
    return "; ".join(parts)


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[FactorChange]:
    """Return the factors that differ, in order of their names."""
    return [
        FactorChange(name, before.get(name), after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def describe_switch(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> str:
    """Return in words what differs between two environments; None or {}: its factors were not recorded."""
    if not before or not after:
        return UNKNOWN
    changes = differences(before, after)
    return ", ".join(change.words() for change in changes) or UNKNOWN


def _value(value: Any) -> str:
    return ABSENT if value is None else str(value)
