"""The port to one Android device: connect, run, stream, push, pull, props, reboot, close.

Three backends pass one conformance suite: `direct.py` speaks ADB over TCP itself, `server.py` asks an adb
server (USB, paired over Wi-Fi), and `fake.py` needs no device. Commands are argv lists, quoted per item, so
that no item can become shell code. An exit status is always the device's own: without it the transport was
lost. Every error says what happened and what to do. Every stream has a connection of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, Self

import msgspec

from paceline.errors import UserError

CONNECT_TIMEOUT_S = 10.0
COMMAND_TIMEOUT_S = 30.0


class AdbError(UserError):
    """Anything that went wrong with a device. Always infrastructure, never the benchmark's fault. `text` is a
    sentence, whatever a system said last: advice and other sentences follow it on the same line."""

    def __init__(self, text: str, advice: str = "") -> None:
        super().__init__(text if text.endswith((".", "!", "?")) else f"{text}.", advice)


class AbsentError(AdbError):
    """Nobody answers at the route: no listener, or the adb server does not know the device."""


class OfflineError(AdbError):
    """The device is known but does not speak (the adb server says offline, or the handshake ended)."""


class UnauthorizedError(AdbError):
    """The device does not trust this agent's key: its prompt waits for a person, or was refused."""


class TlsRequiredError(AdbError):
    """The device wants STLS (wireless debugging): only an adb server that is paired with it can reach it."""


class RefusedError(AdbError):
    """The device closed a service it was asked for at once."""


class LostError(AdbError):
    """The transport ended while it was in use; what ran may still run on the device."""


class SlowError(AdbError):
    """No answer within the time given; the connection of the command was closed so that it ends."""


class TransferError(AdbError):
    """The device refused a file. `no_space`: because its storage is full."""

    def __init__(self, text: str, advice: str = "", *, no_space: bool = False) -> None:
        super().__init__(text, advice)
        self.no_space = no_space


class Route(msgspec.Struct, frozen=True):
    """How a device is reached; never its identity. `address` is host:port of the device itself (`tcp`) or of
    an adb server (`server`), which knows the device as `name`."""

    kind: Literal["tcp", "server"]
    address: str
    name: str = ""

    def __str__(self) -> str:
        return (
            self.address
            if self.kind == "tcp"
            else f"{self.name} by the adb server at {self.address}"
        )


class Banner(msgspec.Struct, frozen=True):
    """What the device said when it was connected to."""

    features: frozenset[str]
    props: Mapping[str, str]
    """Of the banner alone: product, model, device."""


class CommandResult(msgspec.Struct, frozen=True):
    """A command that ended. Without shell v2 the device merges both outputs: all of it is in `stdout`."""

    rc: int
    stdout: bytes
    stderr: bytes = b""

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")


class Stream(Protocol):
    """What a command prints, as it comes, on a connection of its own."""

    def read(self, timeout_s: float) -> bytes | None:
        """The next bytes (of both outputs, in order of arrival); b"" once it ended; None when nothing came
        in time. Raises LostError."""

    def close(self) -> None:
        """Ends it. Safe to call twice."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...


class Connection(Protocol):
    """One device by one route. Methods may be called from one thread at a time; streams live on their own.

    Every method raises AdbError's children; after LostError the next call connects anew.
    """

    @property
    def route(self) -> Route: ...

    def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> Banner:
        """Shakes hands; again when connected already. Raises Absent-, Offline-, Unauthorized-,
        TlsRequiredError."""

    def run(
        self, argv: Sequence[str], timeout_s: float = COMMAND_TIMEOUT_S
    ) -> CommandResult:
        """Runs to its end. Raises SlowError when it does not end in time, LostError, RefusedError."""

    def stream(self, argv: Sequence[str]) -> Stream:
        """Starts a command and returns at once."""

    def push(
        self,
        source: Path | bytes,
        remote: str,
        mode: int = 0o644,
        timeout_s: float = 300.0,
    ) -> int:
        """Writes a file whole, returns its size in bytes. Raises TransferError, LostError."""

    def pull(
        self, remote: str, target: Path | None = None, timeout_s: float = 300.0
    ) -> bytes:
        """Reads a file; with `target` into that file, and returns b"". Raises TransferError, LostError."""

    def props(self) -> dict[str, str]:
        """`getprop`, parsed."""

    def reboot(self) -> None:
        """Asks for a restart and closes. Raises RefusedError when the device said that it cannot."""

    def close(self) -> None:
        """Ends the connection. Safe to call twice."""
