"""Sends commands to a device during a session and repeats them after a lost connection.

Only commands that are safe to repeat are sent through it. It reconnects only to the same serial in the same
boot, within a limited time and number of tries; otherwise it raises a `TargetError` with the cause.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

import msgspec

from paceline.adb.port import (
    COMMAND_TIMEOUT_S,
    AdbError,
    CommandResult,
    Connection,
    Stream,
    TlsRequiredError,
    TransferError,
    UnauthorizedError,
)
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.errors import RebootedError, WrongDeviceError, cause_of
from paceline.executors.base import TargetError
from paceline.outcome import stopped_outcome
from paceline.stop import Stop

log = logging.getLogger("paceline.devices")

T = TypeVar("T")

FINAL = (WrongDeviceError, RebootedError, UnauthorizedError, TlsRequiredError)
"""Errors that waiting does not change."""
TRIES = 6
"""Tries of one command when the device comes back each time and is lost again."""


class SessionTimeouts(msgspec.Struct, frozen=True):
    """How long to wait for a device; only tests change the defaults."""

    patience_s: float = 120.0
    """Patience with a device lost during a job: a cable is plugged in again, a hub re-enumerates, Wi-Fi roams."""
    farewell_s: float = 10.0
    """Patience with a device lost at the end of a job; if it stays away, it is cleaned when it is seen again."""
    look_s: float = 1.0
    """Interval at which the device polls a launch's output."""
    silence_s: float = 15.0
    """Silence after which the connection counts as lost; the device sends something at every poll."""


class ReconnectingDevice:
    """A device during one session. `stop` ends every wait."""

    def __init__(
        self, device: AttachedDevice, stop: Stop, pace: SessionTimeouts
    ) -> None:
        self._device, self._stop, self.pace = device, stop, pace

    def ask(self, question: Callable[[Connection], T]) -> T:
        """Call `question` with the connection and return its result; repeat it after a loss. Raises TargetError."""
        failures = 0
        while True:
            try:
                return question(self._device.connection)
            except AdbError as error:
                failures += 1
                if isinstance(error, TransferError):
                    self.raise_refusal(error)
                if isinstance(error, FINAL) or failures >= TRIES:
                    raise_target_error(error)
                self.regain(error)

    def run(
        self, argv: Sequence[str], timeout_s: float = COMMAND_TIMEOUT_S
    ) -> CommandResult:
        return self.ask(lambda connection: connection.run(argv, timeout_s))

    def push(self, source: Path | bytes, remote: str, mode: int) -> int:
        return self.ask(lambda connection: connection.push(source, remote, mode))

    def stream(self, argv: Sequence[str]) -> Stream:
        return self.ask(lambda connection: connection.stream(argv))

    def raise_refusal(self, error: TransferError) -> NoReturn:
        """End the session because the device refused a request. Raises TargetError.

        A device that restarts kills commands before it ends the connection, so a refusal counts only if the
        device then answers in the same boot.
        """
        self.regain(error)
        raise_target_error(error)

    def regain(self, error: AdbError) -> None:
        """Wait until the device is back after `error`. Raises TargetError when it does not come back, or
        another device answers."""
        log.warning("device %s: %s", self._device.serial, error.text)
        try:
            back = self._device.regain(self._stop, self.pace.patience_s)
        except AdbError as final:
            raise_target_error(final)
        if self._stop.reason is not None:
            ended = stopped_outcome(self._stop.reason)
            raise TargetError(ended.cause or "cancelled", ended.detail) from error
        if not back:
            text = f"{error.text} It was not back after {self.pace.patience_s:g} s."
            raise TargetError("device_lost", text, error.advice) from error


def raise_target_error(error: AdbError) -> NoReturn:
    """End the session with the cause of `error`."""
    raise TargetError(cause_of(error), error.text, error.advice) from error
