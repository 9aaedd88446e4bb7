"""Turns the conditions that disturbed a job into the extra margin its pairs must clear (stats/README.md §2).

Pairs are interleaved in random order, so a shared CPU or a slow drift widens the noise of both arms and favours
neither by much. The most that it can favour one is measured (`WAIT_EXTRA`), or bounded as if one arm alone had suffered
all of it.

    waiting for a CPU, stolen CPU    extra = constant · share of the time, up to a most
    waiting for memory               extra = −ln(1 − 2 · share): all of it hit one of two arms
    drift, frequency, mild heat      extra = ln(1 + change of speed): all of it hit one arm
    several                          their sum
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from paceline_server.stats import constants
from paceline_server.stats.voids import Void

_ADJECTIVES = {
    "pressure": "busy",
    "steal": "busy",
    "memory_pressure": "busy",
    "calibration": "drifting",
    "frequency_cap": "drifting",
    "warm": "warm",
}
"""A target that a condition disturbs is called this, by the condition's code."""


@dataclass(frozen=True)
class Disturbance:
    """The conditions that disturbed a job, the strongest of each kind; none: it was not disturbed."""

    conditions: tuple[Void, ...] = ()
    target_kind: Literal["host", "device"] = "host"

    @property
    def extra_percent(self) -> float:
        """The extra margin that a ratio must clear, in percent; 0 without a disturbance."""
        return 100.0 * math.expm1(sum(map(_compute_extra, self.conditions)))

    @property
    def phrase(self) -> str:
        """`on a busy host`; empty without a disturbance."""
        adjectives = dict.fromkeys(
            _ADJECTIVES[condition.code] for condition in self.conditions
        )
        return f"on a {', '.join(adjectives)} {self.target_kind}" if adjectives else ""


def separate_disturbances(
    conditions: Iterable[Void], target_kind: Literal["host", "device"]
) -> tuple[tuple[Void, ...], Disturbance]:
    """Separate the conditions that void a job from those that disturb it."""
    voids: list[Void] = []
    strongest: dict[str, Void] = {}
    for condition in conditions:
        if condition.strength is None or _is_beyond_measure(condition):
            voids.append(condition)
            continue
        stronger = strongest.get(condition.code)
        if stronger is None or condition.strength > (stronger.strength or 0.0):
            strongest[condition.code] = condition
    return tuple(voids), Disturbance(tuple(strongest.values()), target_kind)


def _is_beyond_measure(condition: Void) -> bool:
    """Check whether a condition is stronger than any whose extra margin is known."""
    strength = condition.strength or 0.0
    if condition.code in ("pressure", "steal"):
        return strength > constants.WAIT_MEASURED
    return condition.code == "memory_pressure" and strength >= 0.5


def _compute_extra(condition: Void) -> float:
    """Return the extra margin that a condition demands, in log units."""
    strength = condition.strength or 0.0
    match condition.code:
        case "pressure":
            return _compute_extra_of_waiting(strength)
        case "steal":
            return constants.STEAL_TIMES * _compute_extra_of_waiting(strength)
        case "memory_pressure":
            return -math.log1p(-2.0 * strength)
        case _:
            return math.log1p(strength)


def _compute_extra_of_waiting(share: float) -> float:
    return min(constants.WAIT_EXTRA * share, constants.WAIT_EXTRA_MOST)
