"""Implements the methods of `port.Connection` for both real backends.

An error other than a refusal by the device closes the connection: its commands end on the device, late bytes
cannot pass for an answer, and the next call connects again. `direct.py` and `server.py` define how to connect,
to open a service of adbd and to transfer a file.
"""

from __future__ import annotations

import contextlib
import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from paceline.adb import shell
from paceline.adb.channel import Channel
from paceline.adb.port import (
    COMMAND_TIMEOUT_S,
    CONNECT_TIMEOUT_S,
    AbsentError,
    AdbError,
    Banner,
    CommandResult,
    LostError,
    OfflineError,
    RefusedError,
    Route,
    SlowError,
    Stream,
    UnauthorizedError,
)
from paceline.adb.props import read_properties
from paceline.adb.transfer import whole_file

log = logging.getLogger("paceline.adb")

CLOSING_ERRORS = (
    AbsentError,
    OfflineError,
    UnauthorizedError,
    LostError,
    SlowError,
)
"""Errors that close the connection. A healthy device may refuse a service or a file."""
ARGV_CHARACTERS = 80
"""Longest text of a command in an error message."""
REFUSAL_CHARACTERS = 200
CANNOT_RESTART = re.compile(
    rb"error|failed|denied|not (found|permitted)|inaccessible", re.IGNORECASE
)
"""What adbd (`StartSubprocess` in daemon/shell_service.cpp), its shell or `reboot` print when the restart fails.
A device that does restart may print something else."""


class BaseConnection(ABC):
    """A `port.Connection`; subclasses add the methods below."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._banner: Banner | None = None
        self._refused: set[bytes] = set()
        """Shell services this device does not have; forgotten with the banner."""

    @abstractmethod
    def _connect(self, deadline: float) -> Banner:
        """Perform the handshake. Raises Absent-, Offline-, Unauthorized-, TlsRequiredError."""

    @abstractmethod
    def _open(self, service: bytes, deadline: float, separate: bool) -> Channel:
        """Open a service, with `separate` on a connection of its own. Raises RefusedError, LostError, SlowError."""

    @abstractmethod
    def _push(
        self, source: Path | bytes, remote: str, mode: int, deadline: float
    ) -> int:
        """Write a file and return its size. Raises TransferError, SlowError, LostError."""

    @abstractmethod
    def _pull(self, remote: str, target: Path | BytesIO, deadline: float) -> None:
        """Write the content of a file to `target`. Raises TransferError, SlowError, LostError."""

    @abstractmethod
    def _close(self) -> None:
        """Close the connection. Safe to call twice."""

    @property
    def route(self) -> Route:
        return self._route

    @property
    def longest_service(self) -> int:
        """Return the length in bytes of the longest service name that this device accepts."""
        return shell.LONGEST_SERVICE

    def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> Banner:
        """See port.Connection."""
        self._disconnect()
        self._refused.clear()
        self._banner = self._connect(time.monotonic() + timeout_s)
        return self._banner

    def run(
        self, argv: Sequence[str], timeout_s: float = COMMAND_TIMEOUT_S
    ) -> CommandResult:
        """See port.Connection."""
        with self._close_on_error():
            deadline = self._start_operation(timeout_s)
            channel, reader = self._open_shell(argv, deadline, separate=False)
            try:
                return shell.read_whole(channel, reader, deadline, command_text(argv))
            finally:
                channel.close()

    def stream(self, argv: Sequence[str]) -> Stream:
        """See port.Connection."""
        deadline = self._start_operation(CONNECT_TIMEOUT_S)
        channel, reader = self._open_shell(argv, deadline, separate=True)
        return shell.ShellStream(channel, reader, command_text(argv))

    def push(
        self,
        source: Path | bytes,
        remote: str,
        mode: int = 0o644,
        timeout_s: float = 300.0,
    ) -> int:
        """See port.Connection."""
        with self._close_on_error():
            deadline = self._start_operation(timeout_s)
            return self._push(source, remote, mode, deadline)

    def pull(
        self, remote: str, target: Path | None = None, timeout_s: float = 300.0
    ) -> bytes:
        """See port.Connection."""
        with self._close_on_error():
            deadline = self._start_operation(timeout_s)
            if target is not None:
                with whole_file(target) as beside:
                    self._pull(remote, beside, deadline)
                return b""
            content = BytesIO()
            self._pull(remote, content, deadline)
            return content.getvalue()

    def props(self) -> dict[str, str]:
        """See port.Connection."""
        done = self.run(["getprop"])
        if done.rc:
            raise AdbError(
                f"getprop ended with {done.rc}: {done.text.strip()[:ARGV_CHARACTERS]}"
            )
        values, others = read_properties(done.text)
        if others:
            log.warning(
                "%s: %d lines of getprop are not understood, the first: %.80r",
                self.route,
                len(others),
                others[0],
            )
        return values

    def reboot(self) -> None:
        """See port.Connection."""
        deadline, output = self._start_operation(CONNECT_TIMEOUT_S), b""
        try:
            with contextlib.closing(
                self._open(b"reboot:", deadline, separate=False)
            ) as channel:
                while part := channel.receive(deadline):
                    output += part
        except LostError:
            return  # it is restarting
        finally:
            self._disconnect()
        if CANNOT_RESTART.search(output):
            text = " ".join(output.decode("utf-8", "replace").split())
            raise RefusedError(
                f"{self._route} did not restart and printed: {text[:REFUSAL_CHARACTERS]}"
            )

    def close(self) -> None:
        """See port.Connection."""
        self._disconnect()

    def _disconnect(self) -> None:
        """Close the connection; the next call connects again."""
        self._banner = None
        self._close()

    def _start_operation(self, timeout_s: float) -> float:
        """Connect if necessary; return the deadline of an operation that starts now."""
        if self._banner is None:
            self.connect(min(timeout_s, CONNECT_TIMEOUT_S))
        return time.monotonic() + timeout_s

    def _open_shell(
        self, argv: Sequence[str], deadline: float, *, separate: bool
    ) -> tuple[Channel, shell.OutputReader]:
        features = self._banner.features if self._banner else frozenset()
        services = (
            [shell.V2] if "shell_v2" in features else [shell.EXEC, shell.TERMINAL]
        )
        for service in services:
            if service not in self._refused:
                name, reader = shell.prepare_service(
                    service, argv, self.longest_service
                )
                try:
                    return self._open(name, deadline, separate), reader
                except RefusedError:
                    self._refused.add(service)
        self._refused.clear()
        raise RefusedError(
            f"the device at {self._route} refuses to start {command_text(argv)}",
            "Its shell may be disabled by its maker, or the device is shutting down. Try `adb shell true`.",
        )

    @contextmanager
    def _close_on_error(self) -> Iterator[None]:
        try:
            yield
        except CLOSING_ERRORS:
            self._disconnect()
            raise


def command_text(argv: Sequence[str]) -> str:
    """Return a command as errors show it."""
    text = " ".join(argv)
    return f"`{text if len(text) <= ARGV_CHARACTERS else text[:ARGV_CHARACTERS] + '…'}`"
