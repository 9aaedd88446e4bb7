"""How often an agent turns to a device.

Place in the journey: given to discovery and to each device's driver. Invariants: none of these decides what
is measured; tests are quicker.
"""

from __future__ import annotations

import msgspec

from paceline.adb.port import CONNECT_TIMEOUT_S
from paceline.devices.recovery import BOOT_LOOK_S


class DriverIntervals(msgspec.Struct, frozen=True):
    """All in s."""

    discover_s: float = 10.0
    """Between two passes over all routes; a phone that was plugged in shows up within this time."""
    connect_s: float = CONNECT_TIMEOUT_S
    """Waited in such a pass for each route that leads to no device yet: a person may be at its prompt."""
    look_s: float = 15.0
    """An idle device is asked whether it is still there; more often keeps it from sleeping, and so warm."""
    others_s: float = 60.0
    """One that another agent drives is asked who it is no more often: it may be measuring."""
    retry_s: float = 5.0
    """A silent one is tried again; nobody waits longer than this for one that came back."""
    readings_s: float = 60.0
    """Gates of an idle device; a phone cools by about 1 °C in this time."""
    rung_s: float = 2.0
    """Between a rung of the ladder and the look whether it helped."""
    boot_look_s: float = BOOT_LOOK_S
    claim_s: float = 0.5
    """Waited for a device that a hand run may have."""
