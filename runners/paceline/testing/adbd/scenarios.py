"""The conditions of a simulated device over time: a pure function of the scenario and the elapsed seconds.

No number in here is a measurement of anything.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

Scenario = Literal["healthy", "overheats", "drops"]
SCENARIOS: tuple[Scenario, ...] = ("healthy", "overheats", "drops")

PERIOD_S = 300.0
"""Length of a scenario, which then repeats: five minutes show all of it."""

SKIN_LIMITS_C = (39.0, 43.0, 45.0, 46.5, 52.0, 55.0)
"""Skin temperature from which thermal status is 1 (light), 2 (moderate), … 6 (shutdown)."""

REST_SKIN_C, REST_BATTERY_C = 29.5, 27.5
HOT_SKIN_C, HOT_BATTERY_C = 47.0, 38.5

OVERHEATS = (
    (0.0, 0.0),
    (45.0, 0.0),
    (105.0, 1.0),
    (165.0, 1.0),
    (255.0, 0.0),
    (PERIOD_S, 0.0),
)
"""(second, share of the way from rest to hot): a minute of climbing, a minute of heat, then cooling."""

AWAY_S = (120.0, 180.0)
"""`drops`: the device refuses connections between these seconds of the period."""

CAPPED = 0.6
"""The share of its highest frequency that a cluster keeps from thermal status 2 on."""


@dataclass(frozen=True)
class Conditions:
    """The conditions that the device reports."""

    skin_c: float = REST_SKIN_C
    battery_c: float = REST_BATTERY_C
    battery_percent: int = 82
    charging: bool = True
    present: bool = True
    status: int | None = None
    """Thermal status; None: derived from the skin's temperature."""

    @property
    def thermal_status(self) -> int:
        if self.status is not None:
            return self.status
        return sum(self.skin_c >= limit for limit in SKIN_LIMITS_C)

    @property
    def frequency_share(self) -> float:
        """Return the part of the highest frequency that the kernel still allows."""
        return CAPPED if self.thermal_status >= 2 else 1.0


def at(scenario: Scenario, seconds: float) -> Conditions:
    """Return the conditions so many seconds after the device was switched on."""
    second = seconds % PERIOD_S
    if scenario == "drops":
        return Conditions(present=not AWAY_S[0] <= second < AWAY_S[1])
    if scenario == "overheats":
        heat = _interpolate_heat(second)
        skin = REST_SKIN_C + heat * (HOT_SKIN_C - REST_SKIN_C)
        return Conditions(
            skin, REST_BATTERY_C + heat * (HOT_BATTERY_C - REST_BATTERY_C)
        )
    return Conditions()


def _interpolate_heat(second: float) -> float:
    for (from_s, from_heat), (to_s, to_heat) in itertools.pairwise(OVERHEATS):
        if second <= to_s:
            return from_heat + (to_heat - from_heat) * (second - from_s) / (
                to_s - from_s
            )
    return 0.0
