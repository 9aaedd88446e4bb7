"""Carries out one rung of the recovery ladder and reports how it went.

Raises no AdbError. `ok` says only whether the device answered afterwards; the next check decides whether the
rung helped. A restart is counted on disk before it is requested.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from paceline.adb.port import AdbError
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.backends import DeviceBackends
from paceline.devices.connection_state import BOOT_LIMIT_S
from paceline.devices.health import Rung
from paceline.stop import Stop

BOOT_LOOK_S = 2.0
"""Interval of checking whether a restarting device answers."""
RECONNECT_LOOKS = 4
"""How often to check whether a device answers after its adb server was told to reconnect; 1 s is enough where
it helps."""
LOST_BY_RESTART = (
    "It can be reached by TCP only, and only until it restarts. After a restart a person must run"
    " `adb tcpip 5555` over its cable."
)


class RecoveryOutcome(msgspec.Struct, frozen=True):
    """How a rung went. `requested` False: the request did not reach the device and does not count; `final`:
    trying again will not help."""

    ok: bool
    text: str
    requested: bool = True
    final: bool = False


def try_rung(
    rung: Rung,
    device: AttachedDevice,
    backends: DeviceBackends,
    stop: Stop,
    *,
    why: str,
    boot_look_s: float = BOOT_LOOK_S,
) -> RecoveryOutcome:
    """Try one rung. `why`: what failed, reported when giving up."""
    if rung is Rung.GIVE_UP:
        not_restarted = (
            ""
            if device.survives_restart
            else f" It was not restarted. {LOST_BY_RESTART}"
        )
        return RecoveryOutcome(False, f"No recovery step helped: {why}{not_restarted}")
    try:
        if rung is Rung.REBOOT:
            return reboot(device, "the recovery ladder", stop, boot_look_s)
        if rung is Rung.RECONNECT:
            device.verify()
        elif rung is Rung.NEW_CONNECTION:
            device.disconnect()
        else:
            _reconnect_by_server(device, backends, stop, boot_look_s)
    except AdbError as error:
        return RecoveryOutcome(False, error.text)
    return _answer_outcome(device)


def _reconnect_by_server(
    device: AttachedDevice, backends: DeviceBackends, stop: Stop, look_s: float
) -> None:
    """Make the adb server reconnect the device. Requested twice, because a server that fails forgets the
    address of a TCP device. Raises AdbError."""
    route = next((route for route in device.routes if route.kind == "server"), None)
    if route is None:
        return
    device.disconnect()
    backends.reconnect(route)
    for _ in range(RECONNECT_LOOKS):
        if device.look() or stop.wait(look_s):
            return
    backends.reconnect(route)


def reboot(
    device: AttachedDevice,
    by: str,
    stop: Stop,
    look_s: float = BOOT_LOOK_S,
    clock: Callable[[], float] = time.monotonic,
) -> RecoveryOutcome:
    """Restart the device and wait at most BOOT_LIMIT_S until it has booted.

    A device still answers while it shuts down, so only another boot id counts, or an answer after silence.
    """
    before, left = device.boot_id, device.reboots.left
    try:
        device.reboot(by)
    except AdbError as error:
        return RecoveryOutcome(
            False, error.text, requested=device.reboots.left < left, final=left == 0
        )
    began_s, was_silent = clock(), False
    while clock() - began_s < BOOT_LIMIT_S and not stop.wait(look_s):
        answers = device.look()
        if answers and (was_silent or device.boot_id != before):
            return RecoveryOutcome(
                True,
                f"It restarted and answered again after about {clock() - began_s:.0f} s.",
            )
        was_silent |= not answers
    return RecoveryOutcome(False, "It was told to restart and has not come back yet.")


def _answer_outcome(device: AttachedDevice) -> RecoveryOutcome:
    if device.look():
        return RecoveryOutcome(True, f"It answers at {device.route}.")
    return RecoveryOutcome(False, device.link.reason or "It does not answer.")
