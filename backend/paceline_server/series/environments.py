"""Splits points by the target's environment and words what changed between environments.

Every change of the fingerprint starts a new environment, even a return to an earlier
fingerprint, because more may have changed than the factors show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

ABSENT = "none"
UNKNOWN = "the target changed; its factors before are not known"
FIRST = "first point"


class EnvironmentStretch(NamedTuple):
    """Points `start` … `stop` − 1 of a list, measured in one environment."""

    start: int
    stop: int
    fingerprint: str


class FactorChange(NamedTuple):
    """A factor that differs between two environments; None on the side that lacks it."""

    factor: str
    before: Any
    after: Any

    def words(self) -> str:
        """`kernel 6.1.0-12 → 6.1.0-13`."""
        name = self.factor.replace("_", " ")
        return f"{name} {_value(self.before)} → {_value(self.after)}"


def cut_into_environments(fingerprints: Sequence[str]) -> list[EnvironmentStretch]:
    """Split the list where the fingerprint changes."""
    cuts = [
        0,
        *(
            i
            for i in range(1, len(fingerprints))
            if fingerprints[i] != fingerprints[i - 1]
        ),
    ]
    stops = [*cuts[1:], len(fingerprints)]
    return [
        EnvironmentStretch(start, stop, fingerprints[start])
        for start, stop in zip(cuts, stops, strict=True)
        if stop > start
    ]


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[FactorChange]:
    """The factors that differ, in order of their names."""
    return [
        FactorChange(name, before.get(name), after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def describe_switch(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> str:
    """Word what differs after a switch; None or {} means that the factors were not recorded."""
    if not before or not after:
        return UNKNOWN
    changes = differences(before, after)
    return ", ".join(change.words() for change in changes) or UNKNOWN


def _value(value: Any) -> str:
    return ABSENT if value is None else str(value)
