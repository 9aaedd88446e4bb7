"""Identifies the device at a route by serial and boot id, and restricts connections to one device.

An address is not an identity: after every connect, and after every error that may have lost the transport, the
device is identified before any other command. A boot id that cannot be read is empty and does not count as
changed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from paceline.adb.port import (
    COMMAND_TIMEOUT_S,
    CONNECT_TIMEOUT_S,
    AdbError,
    Banner,
    CommandResult,
    Connection,
    OfflineError,
    RefusedError,
    Route,
    Stream,
    TransferError,
)
from paceline.devices.parsers.text_values import lines_of

BOOT_ID = "/proc/sys/kernel/random/boot_id"
SERIALS = ("ro.serialno", "ro.boot.serialno")
"""Properties with the serial, best first; some vendors set the second only."""
NO_SERIALS = ("unknown", "null", "none", "0")
"""What devices without a serial number print in its place."""
_BOOT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
IDENTIFY_TIMEOUT_S = 10.0
"""Time limit for the three small commands of an identification; a phone under load answers each in well under 1 s."""


class Identity(msgspec.Struct, frozen=True):
    """`boot_id` is "" when it cannot be read; `booted`: Android reports that it has booted."""

    serial: str
    boot_id: str
    booted: bool


def identify(connection: Connection) -> Identity:
    """Identify the device. Raises AdbError, and OfflineError when it does not know its own serial."""
    words = [_read_word(connection, ["getprop", name]) for name in SERIALS]
    serial = next(
        (word for word in words if word and word.lower() not in NO_SERIALS), ""
    )
    if not serial:
        printed = f": it says {words[0]!r}" if words[0] else ""
        text = f"The device at {connection.route} does not tell its serial number (ro.serialno){printed}."
        raise OfflineError(
            text,
            "Without it the device cannot be told from others. Restart the device.",
        )
    boot_id = _read_word(connection, ["cat", BOOT_ID])
    booted = _read_word(connection, ["getprop", "sys.boot_completed"]) == "1"
    return Identity(serial, boot_id if _BOOT_ID.fullmatch(boot_id) else "", booted)


def _read_word(connection: Connection, argv: list[str]) -> str:
    """Return the last line that a command prints, if it is one word: devices without shell v2 mix warnings into it."""
    done = connection.run(argv, IDENTIFY_TIMEOUT_S)
    lines = [line.strip() for line in lines_of(done.text) if line.strip()]
    return lines[-1] if done.rc == 0 and lines and len(lines[-1].split()) == 1 else ""


class VerifiedConnection:
    """A `port.Connection` to one device. `accept` gets every identity before the device is used, and raises
    to refuse it."""

    def __init__(
        self, inner: Connection, route: Route, accept: Callable[[Identity, Route], None]
    ) -> None:
        self._inner, self._route, self._accept = inner, route, accept
        self._is_verified = False

    @property
    def route(self) -> Route:
        return self._route

    def verify(self) -> None:
        """Identify the device now, whatever was known before."""
        self._is_verified = False
        with self._use_verified():
            pass

    def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> Banner:
        self._is_verified = False
        banner = self._inner.connect(timeout_s)
        with self._use_verified():
            return banner

    def run(
        self, argv: Sequence[str], timeout_s: float = COMMAND_TIMEOUT_S
    ) -> CommandResult:
        with self._use_verified() as inner:
            return inner.run(argv, timeout_s)

    def stream(self, argv: Sequence[str]) -> Stream:
        with self._use_verified() as inner:
            return inner.stream(argv)

    def push(
        self,
        source: Path | bytes,
        remote: str,
        mode: int = 0o644,
        timeout_s: float = 300.0,
    ) -> int:
        with self._use_verified() as inner:
            return inner.push(source, remote, mode, timeout_s)

    def pull(
        self, remote: str, target: Path | None = None, timeout_s: float = 300.0
    ) -> bytes:
        with self._use_verified() as inner:
            return inner.pull(remote, target, timeout_s)

    def props(self) -> dict[str, str]:
        with self._use_verified() as inner:
            return inner.props()

    def reboot(self) -> None:
        with self._use_verified() as inner:
            self._is_verified = False
            inner.reboot()

    def close(self) -> None:
        self._is_verified = False
        self._inner.close()

    @contextlib.contextmanager
    def _use_verified(self) -> Iterator[Connection]:
        try:
            if not self._is_verified:
                self._accept(identify(self._inner), self._route)
                self._is_verified = True
            yield self._inner
        except (RefusedError, TransferError):
            raise  # one service was refused; the transport is still the same device's
        except AdbError:
            self._is_verified = False
            raise
