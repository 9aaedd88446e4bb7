"""Errors that concern a device's identity, and the cause with which each ADB error ends a job."""

from __future__ import annotations

from typing import Literal

from paceline.adb.port import (
    AdbError,
    RefusedError,
    TlsRequiredError,
    TransferError,
    UnauthorizedError,
)

DeviceCause = Literal[
    "device_lost",
    "device_rebooted",
    "device_refused",
    "device_storage_full",
    "device_unauthorized",
]

TWIN_ADVICE = (
    "Plug in one of them at a time, as some makers sell phones with one serial number."
)


class WrongDeviceError(AdbError):
    """Another serial answers at a route of this device."""

    def __init__(self, expected: str, actual: str, route: str) -> None:
        super().__init__(
            f"Another device answers at {route}: {actual}, not {expected}.",
            "Routers reassign addresses: give the device a fixed one, or use USB.",
        )
        self.expected, self.actual, self.route = expected, actual, route


class RebootedError(AdbError):
    """The device has another boot id: what was measured across the restart is void."""

    def __init__(self, serial: str, before: str, after: str) -> None:
        text = f"{serial} restarted while it was in use (boot id {before[:8]}… became {after[:8]}…)."
        super().__init__(
            text,
            "See its health history. A phone that restarts by itself may be too hot.",
        )
        self.before, self.after = before, after


def cause_of(error: AdbError) -> DeviceCause:
    """Return the cause with which `error` ends a job."""
    match error:
        case RebootedError():
            return "device_rebooted"
        case UnauthorizedError() | TlsRequiredError():
            return "device_unauthorized"
        case TransferError(no_space=True):
            return "device_storage_full"
        case RefusedError() | TransferError() | WrongDeviceError():
            return "device_refused"
        case _:
            return "device_lost"
