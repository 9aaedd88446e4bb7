"""Settings that Paceline changes on a device for a job, and how each is restored.

A change that would outlive its session stands in `KNOWN`, and its name is noted on the device and on the
agent's disk before the change is made. Restoring can be repeated, and is harmless when nothing was changed. A
launch's affinity ends with the launch and is no setting.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import msgspec

from paceline.adb.port import Connection

log = logging.getLogger("paceline.devices")


class Setting(msgspec.Struct, frozen=True):
    """A setting with the commands to switch it on and off; off is the default. A device without the setting
    refuses both."""

    name: str
    on: tuple[str, ...]
    off: tuple[str, ...]


_POWER = ("cmd", "power", "set-fixed-performance-mode-enabled")
FIXED_PERFORMANCE = Setting(
    "fixed_performance_mode", (*_POWER, "true"), (*_POWER, "false")
)
"""Clocks that a phone can hold for ever without throttling (Android 11 and later, where its maker supports
it). The mode cannot be asked for, and only benchmarks set it: it is off before, and off afterwards."""

KNOWN = {setting.name: setting for setting in (FIXED_PERFORMANCE,)}


def restore(connection: Connection, names: Iterable[str]) -> list[str]:
    """Puts back what may have been changed; gives what was. A device that refuses does not have the setting
    (or just started, and forgot it). Raises AdbError."""
    done = []
    for name in sorted(set(names)):
        setting = KNOWN.get(name)
        if setting is None:
            log.warning("a setting of another version cannot be taken back: %s", name)
        elif connection.run(setting.off).rc == 0:
            done.append(name)
    return done
