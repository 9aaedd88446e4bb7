"""The port to one Android device: connect, run, stream, push, pull, props, reboot, close.

Four backends pass one conformance suite: `direct.py` (TCP) and `usb.py` use adb-shell, `server.py` uses an adb server
(USB, paired over Wi-Fi), and `testing/fake_device.py` needs no device. Commands are argv lists, quoted per item, so
that no item can become shell code. An exit status always comes from the device; without one the transport was
lost.
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
    """A failure of a device or of the way to it; never the benchmark's fault.

    `text` becomes a sentence, because advice follows it on the same line.
    """

    def __init__(self, text: str, advice: str = "") -> None:
        super().__init__(text if text.endswith((".", "!", "?")) else f"{text}.", advice)


class AbsentError(AdbError):
    """Nobody answers at the route: no listener, or the adb server does not know the device."""


class OfflineError(AdbError):
    """The device is known but does not answer (offline at the adb server, or the handshake ended)."""


class UnauthorizedError(AdbError):
    """The device does not trust this agent's key: its prompt waits for a person, or a person refused it."""


class TlsRequiredError(AdbError):
    """The device requires STLS (wireless debugging): only an adb server that is paired with it can reach it."""


class RefusedError(AdbError):
    """The device refused to start a service."""


class LostError(AdbError):
    """The transport ended while it was in use; the command may still be running on the device."""


class SlowError(AdbError):
    """No answer in time. The connection was closed, which ends the command on the device."""


class TransferError(AdbError):
    """The device refused a file. `no_space`: because its storage is full."""

    def __init__(self, text: str, advice: str = "", *, no_space: bool = False) -> None:
        super().__init__(text, advice)
        self.no_space = no_space


class Route(msgspec.Struct, frozen=True):
    """How a device is reached; never its identity. `address` is host:port of the device itself (`tcp`) or of
    an adb server (`server`), which knows the device as `name`. Of a device on USB (`usb`) it is the port, such as
    1-2.3, and `name` is the serial number that it tells there, if this user may read it."""

    kind: Literal["tcp", "server", "usb"]
    address: str
    name: str = ""

    def __str__(self) -> str:
        match self.kind:
            case "tcp":
                return self.address
            case "server":
                return f"{self.name} by the adb server at {self.address}"
            case "usb":
                return f"{self.name or 'a device'} at USB port {self.address}"


class Banner(msgspec.Struct, frozen=True):
    """The device's answer to the handshake."""

    features: frozenset[str]
    props: Mapping[str, str]
    """The properties in the banner: product, model, device."""


class CommandResult(msgspec.Struct, frozen=True):
    """A command that ended. Without shell v2 the device merges both outputs into `stdout`."""

    rc: int
    stdout: bytes
    stderr: bytes = b""

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")


class Stream(Protocol):
    """The output of a running command, on a connection of its own."""

    def read(self, timeout_s: float) -> bytes | None:
        """Return the next bytes of both outputs in order of arrival, b"" once the command has ended, or None
        when nothing came in time. Raises LostError."""

    def close(self) -> None:
        """End the command. Safe to call twice."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...


class Connection(Protocol):
    """One device by one route, used by one thread at a time; its streams are independent of it.

    Every method raises AdbErrors; after LostError the next call connects again.
    """

    @property
    def route(self) -> Route: ...

    def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> Banner:
        """Connect, or connect again. Raises Absent-, Offline-, Unauthorized-, TlsRequiredError."""

    def run(
        self, argv: Sequence[str], timeout_s: float = COMMAND_TIMEOUT_S
    ) -> CommandResult:
        """Run a command to its end. Raises SlowError when it does not end in time, LostError,
        RefusedError."""

    def stream(self, argv: Sequence[str]) -> Stream:
        """Start a command and return at once."""

    def push(
        self,
        source: Path | bytes,
        remote: str,
        mode: int = 0o644,
        timeout_s: float = 300.0,
    ) -> int:
        """Write a file and return its size in bytes. Raises TransferError, LostError."""

    def pull(
        self, remote: str, target: Path | None = None, timeout_s: float = 300.0
    ) -> bytes:
        """Return the content of a file, or write it to `target` and return b"". Raises TransferError,
        LostError."""

    def props(self) -> dict[str, str]:
        """Return the properties that `getprop` prints."""

    def reboot(self) -> None:
        """Request a restart and close the connection. Raises RefusedError when the device cannot restart."""

    def close(self) -> None:
        """End the connection. Safe to call twice."""
