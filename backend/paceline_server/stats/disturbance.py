"""Turns the conditions that disturbed a job into the extra margin its pairs must clear (stats/README.md §2).

Pairs are interleaved in random order, so a shared CPU or a slow drift widens the noise of both arms and favours
neither of two that run the same code by much. The most that it can favour one is measured (`WAIT_EXTRA`, and of arms of
different code `WAIT_EXTRA_OF_ARMS`), or bounded as if that arm alone had suffered all of it. A pair must clear less of a
drift if its own blocks show that both arms drifted alike (`paired`).

    waiting for a CPU, stolen CPU    extra = constant · share of the time, up to a limit
    waiting for memory               extra = −ln(1 − 2 · share): all of it hit one of two arms
    drift, frequency, mild heat      extra = ln(1 + change of speed): all of it hit one arm
    several                          their sum
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from paceline_server.stats import constants
from paceline_server.stats.paired import (
    BOUNDING_METHOD,
    METHOD,
    SHARE_METHOD,
    VOIDING_METHOD,
)
from paceline_server.stats.voids import Void

Sides = Literal["arms", "revisions"]
"""What is compared: arms of different code, or an arm at two revisions, which is nearly the same code."""
_ADJECTIVES = {
    "pressure": "busy",
    "steal": "busy",
    "memory_pressure": "busy",
    "calibration": "drifting",
    "frequency_cap": "drifting",
    "warm": "warm",
}
"""Words for a target that a condition disturbs, by the condition's code."""
_DRIFTS = ("calibration", "frequency_cap")
"""Conditions that changed the speed of the target during the job."""


@dataclass(frozen=True)
class Disturbance:
    """The conditions that disturbed a job, the strongest of each kind. They are empty for an undisturbed job."""

    conditions: tuple[Void, ...] = ()
    target_kind: Literal["host", "device"] = "host"
    method: str = METHOD
    sides: Sides = "arms"

    @property
    def extra_percent(self) -> float:
        """The extra margin that a ratio must clear, in percent; 0 without a disturbance."""
        return self._sum_extras(self.conditions)

    @property
    def drift_percent(self) -> float:
        """The part of it that a drift demands; a pair whose arms drifted alike need not clear it; 0 formerly."""
        if self.method in (VOIDING_METHOD, BOUNDING_METHOD):
            return 0.0
        return self._sum_extras(
            condition for condition in self.conditions if condition.code in _DRIFTS
        )

    def _sum_extras(self, conditions: Iterable[Void]) -> float:
        extras = (_compute_extra(condition, self._waiting) for condition in conditions)
        return 100.0 * math.expm1(sum(extras))

    @property
    def _waiting(self) -> tuple[float, float]:
        """The extra margin in log units per share of the time that was waited for a CPU, and the most."""
        if self.method in (VOIDING_METHOD, BOUNDING_METHOD):
            return constants.FORMER_WAIT_EXTRA, constants.FORMER_WAIT_EXTRA_MOST
        if self.method == SHARE_METHOD or self.sides == "revisions":
            return constants.WAIT_EXTRA, constants.WAIT_EXTRA_MOST
        return constants.WAIT_EXTRA_OF_ARMS, constants.WAIT_EXTRA_OF_ARMS_MOST

    @property
    def phrase(self) -> str:
        """The disturbance in words, such as `on a busy host`; empty without one."""
        adjectives = dict.fromkeys(
            _ADJECTIVES[condition.code] for condition in self.conditions
        )
        return f"on a {', '.join(adjectives)} {self.target_kind}" if adjectives else ""


def separate_disturbances(
    conditions: Iterable[Void],
    target_kind: Literal["host", "device"],
    method: str = METHOD,
    sides: Sides = "arms",
) -> tuple[tuple[Void, ...], Disturbance]:
    """Separate the conditions that void a job from those that disturb it."""
    voids: list[Void] = []
    strongest: dict[str, Void] = {}
    for condition in conditions:
        if condition.strength is None or _is_beyond_measure(condition):
            voids.append(_with_void_limit(condition))
            continue
        stronger = strongest.get(condition.code)
        if stronger is None or condition.strength > (stronger.strength or 0.0):
            strongest[condition.code] = condition
    return tuple(voids), Disturbance(
        tuple(strongest.values()), target_kind, method, sides
    )


def _is_beyond_measure(condition: Void) -> bool:
    """Return whether a condition is stronger than any whose extra margin is known."""
    strength = condition.strength or 0.0
    if condition.code in ("pressure", "steal"):
        return strength > constants.WAIT_MEASURED
    return condition.code == "memory_pressure" and strength >= 0.5


def _with_void_limit(condition: Void) -> Void:
    """Return a condition that voids a job. If it only was too strong to be judged, its text names the limit."""
    if condition.strength is None:
        return condition
    if condition.code == "memory_pressure":
        limit, why = 50.0, "from 50 % on all of it may have slowed one arm"
    else:
        limit = 100.0 * constants.WAIT_MEASURED
        why = f"beyond {limit:g} % no pair was measured"
    text = f"{condition.observed}; {why}"
    return replace(condition, limit=limit, text=text, strength=None)


def _compute_extra(condition: Void, wait_extra: tuple[float, float]) -> float:
    """Return the extra margin that a condition demands, in log units. `wait_extra`: that of a job that only waited, and
    the upper limit."""
    strength = condition.strength or 0.0
    match condition.code:
        case "pressure":
            slope, most = wait_extra
            return min(slope * strength, most)
        case "steal":
            return min(constants.STEAL_EXTRA * strength, constants.STEAL_EXTRA_MOST)
        case "memory_pressure":
            return -math.log1p(-2.0 * strength)
        case _:
            return math.log1p(strength)
