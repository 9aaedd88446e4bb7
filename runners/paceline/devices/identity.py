"""Identifies the device at a route by serial and boot id, and gives connections that talk to that device only.

An address is no identity. After every connect, and after every error that may have cost the transport, the
device is identified before any other command is sent. A boot id that cannot be read is unknown (empty), which
does not count as changed.
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

BOOT_ID = "/proc/sys/kernel/random/boot_id"
SERIALS = ("ro.serialno", "ro.boot.serialno")
"""Where a device says its serial, best first; some vendors fill in the second one only."""
_BOOT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
IDENTIFY_TIMEOUT_S = 10.0
"""For the three small commands of an identification; a phone under load answers each in well under 1 s."""


class Identity(msgspec.Struct, frozen=True):
    """`boot_id` "" when the device does not let us read it; `booted`: Android says it has finished."""

    serial: str
    boot_id: str
    booted: bool


def identify(connection: Connection) -> Identity:
    """Asks who answers. Raises AdbError; OfflineError when it does not know its own serial."""
    serial = next(
        filter(None, (_word(connection, ["getprop", name]) for name in SERIALS)), ""
    )
    if not serial:
        text = f"The device at {connection.route} does not tell its serial number (ro.serialno)."
        raise OfflineError(
            text, "Without one it cannot be told from another; restart it."
        )
    boot_id = _word(connection, ["cat", BOOT_ID])
    booted = _word(connection, ["getprop", "sys.boot_completed"]) == "1"
    return Identity(serial, boot_id if _BOOT_ID.fullmatch(boot_id) else "", booted)


def _word(connection: Connection, argv: list[str]) -> str:
    done = connection.run(argv, IDENTIFY_TIMEOUT_S)
    return done.text.strip() if done.rc == 0 else ""


class VerifiedConnection:
    """A `port.Connection` to one device: `accept` is shown every identity before it is used, and raises."""

    def __init__(
        self, inner: Connection, route: Route, accept: Callable[[Identity, Route], None]
    ) -> None:
        self._inner, self._route, self._accept = inner, route, accept
        self._sure = False

    @property
    def route(self) -> Route:
        return self._route

    def verify(self) -> None:
        """Identifies the device now, whatever was known before."""
        self._sure = False
        with self._used():
            pass

    def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> Banner:
        self._sure = False
        banner = self._inner.connect(timeout_s)
        with self._used():
            return banner

    def run(
        self, argv: Sequence[str], timeout_s: float = COMMAND_TIMEOUT_S
    ) -> CommandResult:
        with self._used() as inner:
            return inner.run(argv, timeout_s)

    def stream(self, argv: Sequence[str]) -> Stream:
        with self._used() as inner:
            return inner.stream(argv)

    def push(
        self,
        source: Path | bytes,
        remote: str,
        mode: int = 0o644,
        timeout_s: float = 300.0,
    ) -> int:
        with self._used() as inner:
            return inner.push(source, remote, mode, timeout_s)

    def pull(
        self, remote: str, target: Path | None = None, timeout_s: float = 300.0
    ) -> bytes:
        with self._used() as inner:
            return inner.pull(remote, target, timeout_s)

    def props(self) -> dict[str, str]:
        with self._used() as inner:
            return inner.props()

    def reboot(self) -> None:
        with self._used() as inner:
            self._sure = False
            inner.reboot()

    def close(self) -> None:
        self._sure = False
        self._inner.close()

    @contextlib.contextmanager
    def _used(self) -> Iterator[Connection]:
        try:
            if not self._sure:
                self._accept(identify(self._inner), self._route)
                self._sure = True
            yield self._inner
        except (RefusedError, TransferError):
            raise  # one service said no: the transport, and who is at its end, did not change
        except AdbError:
            self._sure = False
            raise
