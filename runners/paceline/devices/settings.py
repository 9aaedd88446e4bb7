"""Settings that Paceline changes on a device for a job, and how each is restored.

Every setting that would outlive its session is in `KNOWN`; its name is noted on the device and on the agent's
disk before it is changed. Restoring can be repeated and is harmless when nothing was changed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import msgspec

from paceline.adb.port import Connection

log = logging.getLogger("paceline.devices")


class Setting(msgspec.Struct, frozen=True):
    """A setting with the commands that switch it on and off. Off is the default; a device without the setting
    refuses both commands."""

    name: str
    on: tuple[str, ...]
    off: tuple[str, ...]


_POWER = ("cmd", "power", "set-fixed-performance-mode-enabled")
FIXED_PERFORMANCE = Setting(
    "fixed_performance_mode", (*_POWER, "true"), (*_POWER, "false")
)
"""Clocks that a phone can hold without throttling (Android 11 and later, if its maker supports it). The mode
cannot be read, and only benchmarks use it, so it is switched off afterwards."""

KNOWN = {setting.name: setting for setting in (FIXED_PERFORMANCE,)}


def restore(connection: Connection, names: Iterable[str]) -> list[str]:
    """Switches off the settings `names` and returns those that the device accepted. A device that refuses does
    not have the setting. Raises AdbError."""
    done = []
    for name in sorted(set(names)):
        setting = KNOWN.get(name)
        if setting is None:
            log.warning("unknown setting, not restored: %s", name)
        elif connection.run(setting.off).rc == 0:
            done.append(name)
    return done
