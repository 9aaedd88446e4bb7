"""Splits points by the target's environment and words what changed between two
environments.

A change of the fingerprint starts a new environment even when it returns to an earlier
one: more may have changed in between than the factors show. Factors that were not
recorded are called unknown.
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
    """One factor on both sides; null where a side does not have it."""

    factor: str
    before: Any
    after: Any

    def words(self) -> str:
        """`kernel 6.1.0-12 → 6.1.0-13`."""
        return f"{_name(self.factor)} {_value(self.before)} → {_value(self.after)}"


def cut_into_environments(fingerprints: Sequence[str]) -> list[EnvironmentStretch]:
    """The list cut where the fingerprint changes, oldest first."""
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
    """The factors that differ, by name."""
    return [
        FactorChange(name, before.get(name), after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def describe_switch(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> str:
    """What is different after a switch, in words; None or {} are factors nobody kept."""
    if not before or not after:
        return UNKNOWN
    return ", ".join(change.words() for change in differences(before, after)) or UNKNOWN


def _name(factor: str) -> str:
    return factor.replace("_", " ")


def _value(value: Any) -> str:
    return ABSENT if value is None else str(value)
