"""Climbs one rung of the ladder with one device and says how it went.

Place in the journey: between `ladder.py` (which rung) and `attached.py` (the device). Invariants: raises no
AdbError; whether a rung helped is for the next check to say, `ok` says only whether the device answered
afterwards; a restart is counted on disk before it is asked for.
"""

from __future__ import annotations

import msgspec

from paceline.adb.port import AdbError
from paceline.devices.attached import Attached
from paceline.devices.connection import BOOT_LIMIT_S
from paceline.devices.ladder import Rung
from paceline.devices.ways import Ways
from paceline.stop import Stop

BOOT_LOOK_S = 2.0
"""How often a restarting device is looked for."""


class Climb(msgspec.Struct, frozen=True):
    """How a rung went, in a sentence. `asked` False: the device could not even be asked for it, so there is
    nothing to count."""

    ok: bool
    text: str
    asked: bool = True


def climb(
    rung: Rung, device: Attached, ways: Ways, stop: Stop, *, why: str, boot_look_s: float = BOOT_LOOK_S
) -> Climb:
    """`why`: what failed, for the rung that only tells."""
    if rung is Rung.GIVE_UP:
        return Climb(False, f"Nothing that was tried helped: {why}")
    try:
        if rung is Rung.REBOOT:
            return reboot(device, "the recovery ladder", stop, boot_look_s)
        if rung is Rung.ADB_RECONNECT:
            ways.reconnect_offline()
        _renew(rung, device)
    except AdbError as error:
        return Climb(False, error.text)
    return _answers(device)


def _renew(rung: Rung, device: Attached) -> None:
    if rung is Rung.RECONNECT and device.route is not None:
        device.connection.close()
        device.connection.connect()
    else:
        device.let_go()


def reboot(device: Attached, by: str, stop: Stop, look_s: float = BOOT_LOOK_S) -> Climb:
    """Restarts it and waits until it has booted, at most BOOT_LIMIT_S. Before it goes down it still answers,
    so only another boot id counts, or an answer after a silence."""
    before, left = device.boot_id, device.reboots.left
    try:
        device.reboot(by)
    except AdbError as error:
        return Climb(False, error.text, asked=device.reboots.left < left)
    waited_s, gone = 0.0, False
    while waited_s < BOOT_LIMIT_S and not stop.wait(look_s):
        waited_s += look_s
        answers = device.look()
        if answers and (gone or device.boot_id != before):
            return Climb(True, f"It restarted and answered again after about {waited_s:.0f} s.")
        gone |= not answers
    return Climb(False, "It was asked to restart and has not come back yet.")


def _answers(device: Attached) -> Climb:
    if device.look():
        return Climb(True, f"It answers at {device.route}.")
    return Climb(False, device.link.reason or "It does not answer.")
