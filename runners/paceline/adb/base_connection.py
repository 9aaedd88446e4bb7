"""Implements the port's methods for both real backends, on the services that a backend opens.

After an error that is not the device's own refusal the connection is closed: what ran for it ends on the
device, no late bytes are taken for an answer, and the next call connects anew. Every stream has a connection
of its own. `direct.py` and `server.py` define how to connect and to open a service.
"""

from __future__ import annotations

import contextlib
import io
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
from paceline.adb.props import properties
from paceline.adb.sync import SERVICE as SYNC
from paceline.adb.sync import Sync, whole_file

TROUBLE = (AbsentError, OfflineError, UnauthorizedError, LostError, SlowError)
"""Not among them what a healthy device says (Refused-, TransferError) and what it was never asked."""
SHOWN_OF_ARGV = 80
"""Characters of a command that an error repeats."""
SHOWN_OF_REFUSAL = 200
CANNOT_RESTART = re.compile(
    rb"error|failed|denied|not (found|permitted)|inaccessible", re.IGNORECASE
)
"""What adbd (`StartSubprocess` in daemon/shell_service.cpp), its shell or `reboot` say when nothing comes of
it; a device that restarts may print a word, too."""


class BaseConnection(ABC):
    """A `port.Connection`, less the three methods below."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._banner: Banner | None = None
        self._refused: set[bytes] = set()
        """Shell services this device does not have; forgotten with the banner."""

    @abstractmethod
    def _connect(self, deadline: float) -> Banner:
        """Shakes hands. Raises Absent-, Offline-, Unauthorized-, TlsRequiredError."""

    @abstractmethod
    def _open(self, service: bytes, deadline: float, apart: bool) -> Channel:
        """`apart`: on a connection of its own. Raises RefusedError, LostError, SlowError."""

    @abstractmethod
    def _close(self) -> None:
        """Safe to call twice."""

    @property
    def route(self) -> Route:
        return self._route

    @property
    def longest_service(self) -> int:
        """Bytes of a service's name this device takes."""
        return shell.LONGEST_SERVICE

    def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> Banner:
        """See port.Connection."""
        self._hang_up()
        self._refused.clear()
        self._banner = self._connect(time.monotonic() + timeout_s)
        return self._banner

    def run(
        self, argv: Sequence[str], timeout_s: float = COMMAND_TIMEOUT_S
    ) -> CommandResult:
        """See port.Connection."""
        with self._ending_on_trouble():
            deadline = self._begin(timeout_s)
            channel, reading = self._shell(argv, deadline, apart=False)
            try:
                return shell.read_whole(channel, reading, deadline, command_text(argv))
            finally:
                channel.close()

    def stream(self, argv: Sequence[str]) -> Stream:
        """See port.Connection."""
        deadline = self._begin(CONNECT_TIMEOUT_S)
        channel, reading = self._shell(argv, deadline, apart=True)
        return shell.ShellStream(channel, reading, command_text(argv))

    def push(
        self,
        source: Path | bytes,
        remote: str,
        mode: int = 0o644,
        timeout_s: float = 300.0,
    ) -> int:
        """See port.Connection."""
        with (
            io.BytesIO(source)
            if isinstance(source, bytes)
            else source.open("rb") as file,
            self._syncing(timeout_s) as sync,
        ):
            return sync.push(file, remote, mode)

    def pull(
        self, remote: str, target: Path | None = None, timeout_s: float = 300.0
    ) -> bytes:
        """See port.Connection."""
        with self._syncing(timeout_s) as sync:
            if target is None:
                return b"".join(sync.pull(remote))
            whole_file(sync.pull(remote), target)
            return b""

    def props(self) -> dict[str, str]:
        """See port.Connection."""
        done = self.run(["getprop"])
        if done.rc:
            raise AdbError(
                f"getprop ended with {done.rc}: {done.text.strip()[:SHOWN_OF_ARGV]}"
            )
        return properties(done.text)

    def reboot(self) -> None:
        """See port.Connection."""
        deadline, output = self._begin(CONNECT_TIMEOUT_S), b""
        try:
            with contextlib.closing(
                self._open(b"reboot:", deadline, apart=False)
            ) as channel:
                while part := channel.receive(
                    deadline
                ):  # a word now and then; then it goes
                    output += part
        except LostError:
            return  # gone
        finally:
            self._hang_up()
        if CANNOT_RESTART.search(output):
            words = " ".join(output.decode("utf-8", "replace").split())[
                :SHOWN_OF_REFUSAL
            ]
            raise RefusedError(f"{self._route} did not restart; it said: {words}")

    def close(self) -> None:
        """See port.Connection."""
        self._hang_up()

    def _hang_up(self) -> None:
        """The next call connects anew."""
        self._banner = None
        self._close()

    def _begin(self, timeout_s: float) -> float:
        """The deadline of an operation that starts now on a connection that stands."""
        if self._banner is None:
            self.connect(min(timeout_s, CONNECT_TIMEOUT_S))
        return time.monotonic() + timeout_s

    def _shell(
        self, argv: Sequence[str], deadline: float, *, apart: bool
    ) -> tuple[Channel, shell.OutputReader]:
        features = self._banner.features if self._banner else frozenset()
        services = (
            [shell.V2] if "shell_v2" in features else [shell.EXEC, shell.TERMINAL]
        )
        for service in services:
            if service not in self._refused:
                name, reading = shell.prepare_service(
                    service, argv, self.longest_service
                )
                try:
                    return self._open(name, deadline, apart), reading
                except RefusedError:
                    self._refused.add(service)
        self._refused.clear()
        raise RefusedError(
            f"the device at {self._route} refuses to start {command_text(argv)}",
            "Its shell may be disabled by its maker, or the device is shutting down. Try `adb shell true`.",
        )

    @contextmanager
    def _syncing(self, timeout_s: float) -> Iterator[Sync]:
        with self._ending_on_trouble():
            deadline = self._begin(timeout_s)
            channel = self._open(SYNC, deadline, apart=False)
            try:
                yield Sync(channel, deadline)
            finally:
                channel.close()

    @contextmanager
    def _ending_on_trouble(self) -> Iterator[None]:
        try:
            yield
        except TROUBLE:
            self._hang_up()
            raise


def command_text(argv: Sequence[str]) -> str:
    """A command as errors say it."""
    text = " ".join(argv)
    return f"`{text if len(text) <= SHOWN_OF_ARGV else text[:SHOWN_OF_ARGV] + '…'}`"
