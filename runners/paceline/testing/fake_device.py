"""Implements the port of a device in memory, for tests; it needs no socket and no process.

    device = FakeDevice("SER1")
    device.answers[("dumpsys", "battery")] = "level: 80"      # or CommandResult(…), or argv -> CommandResult
    device.faults.unauthorized = True
    connection = device.connection()

It passes the conformance tests of the real backends, and commands are quoted as for a real device. `calls`
holds every argv in order. The programs it can run are in `fake_device_shell.py`.
"""

from __future__ import annotations

import contextlib
import shlex
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from paceline.adb import handshake, shell, transfer
from paceline.adb.base_connection import command_text
from paceline.adb.port import (
    COMMAND_TIMEOUT_S,
    CONNECT_TIMEOUT_S,
    AbsentError,
    Banner,
    CommandResult,
    LostError,
    OfflineError,
    RefusedError,
    Route,
    SlowError,
    Stream,
    TransferError,
)
from paceline.adb.quoting import command_line
from paceline.testing.fake_device_shell import Execution, Running, State, execute

Answer = CommandResult | str | Callable[[Sequence[str]], CommandResult]
BOOT_ID = "/proc/sys/kernel/random/boot_id"


@dataclass
class FakeFaults:
    """Faults of a fake device; a test may set them at any time."""

    absent: bool = False
    """At connect: refuses. Open connections stay."""
    offline: bool = False
    """At connect: the handshake ends without an answer."""
    unauthorized: bool = False
    """At connect: the prompt waits for a person."""
    tls: bool = False
    """At connect: the device requires wireless debugging."""
    refuse_shell: bool = False
    refuse_sync: bool = False
    lost_after: int | None = None
    """Number of operations (run, stream, push, pull) that succeed before the connection is cut once."""
    no_space_after: int | None = None
    """Number of bytes that still fit on the device."""


class FakeDevice:
    """A device in memory. Tests may change all of it from any thread."""

    def __init__(self, serial: str = "FAKE0001") -> None:
        self.serial = serial
        self.faults = FakeFaults()
        self.props = {
            "ro.serialno": serial,
            "ro.product.model": "Fake",
            "sys.boot_completed": "1",
        }
        self.answers: dict[tuple[str, ...], Answer] = {}
        self.files: dict[str, bytes] = {}
        self.modes: dict[str, int] = {}
        self.directories = {"/data/local/tmp", "/sdcard"}
        self.calls: list[list[str]] = []
        self.changed = threading.Condition()
        self.generation = 0
        """Number of cuts: connections from before the last cut are lost."""
        self.running: list[FakeStream] = []
        self._boots = 0
        self._boot()

    @property
    def boot_id(self) -> str:
        return self.files[BOOT_ID].decode().strip()

    def connection(self) -> FakeConnection:
        """Return a new connection to the device, not connected yet."""
        return FakeConnection(self)

    def cut(self) -> None:
        """Pull the cable: every connection is lost and its commands end."""
        with self.changed:
            self.generation += 1
            self.running.clear()
            self.changed.notify_all()

    def reboot(self) -> None:
        """Cut all connections and change the boot id."""
        self._boot()
        self.cut()

    def execute(self, argv: Sequence[str]) -> Execution:
        """Answer from `answers`, else run a program of `fake_device_shell.py`."""
        self.calls.append(list(argv))
        answer = self.answers.get(tuple(argv))
        if answer is None:
            return execute(State(self.files, self.modes, self.props), argv)
        if isinstance(answer, str):
            return CommandResult(0, answer.encode())
        return answer if isinstance(answer, CommandResult) else answer(argv)

    def _boot(self) -> None:
        self._boots += 1
        self.files[BOOT_ID] = (
            f"{self._boots:08x}-0000-4000-8000-{zlib.crc32(self.serial.encode()):012x}\n".encode()
        )


class FakeStream:
    """The output of one running command."""

    def __init__(
        self, device: FakeDevice, argv: list[str], printed: bytes, ended: bool
    ) -> None:
        self.argv, self.printed, self.ended = argv, bytearray(printed), ended
        self._device, self._generation = device, device.generation
        if not ended:
            device.running.append(self)

    def read(self, timeout_s: float) -> bytes | None:
        """See port.Stream."""
        with self._device.changed:
            self._device.changed.wait_for(self._has_changed, timeout_s)
            if self.printed:
                data = bytes(self.printed)
                self.printed.clear()
                return data
            if self.ended:
                return b""
            if self._device.generation != self._generation:
                raise shell.lost_error(command_text(self.argv))
            return None

    def _has_changed(self) -> bool:
        return (
            bool(self.printed)
            or self.ended
            or self._device.generation != self._generation
        )

    def close(self) -> None:
        """See port.Stream."""
        with self._device.changed:
            self.ended = True
            if self in self._device.running:
                self._device.running.remove(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class FakeConnection:
    """See port.Connection."""

    def __init__(self, device: FakeDevice) -> None:
        self.device = device
        self._generation: int | None = None

    @property
    def route(self) -> Route:
        return Route("tcp", f"{self.device.serial}:0")

    def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> Banner:
        """See port.Connection."""
        del timeout_s
        self.close()
        faults, whom = self.device.faults, f"the device in memory {self.device.serial}"
        if faults.absent:
            raise AbsentError(
                f"nobody answers for {whom}", "Set faults.absent to False."
            )
        if faults.tls:
            raise handshake.tls_required_error(whom)
        if faults.offline:
            raise OfflineError(
                f"{whom} ended the handshake", "Set faults.offline to False."
            )
        if faults.unauthorized:
            raise handshake.prompt_waits_error(whom, "00:00")
        self._generation = self.device.generation
        return Banner(frozenset({"shell_v2", "cmd"}), {"model": "Fake"})

    def run(
        self, argv: Sequence[str], timeout_s: float = COMMAND_TIMEOUT_S
    ) -> CommandResult:
        """See port.Connection."""
        with self._operation(self.device.faults.refuse_shell, "shell:"):
            words = _quote_and_split(argv)
            execution = self.device.execute(words)
            if isinstance(execution, CommandResult):
                return execution
            with FakeStream(
                self.device, words, execution.printed, ended=False
            ) as stream:
                deadline = time.monotonic() + timeout_s
                while stream.read(max(deadline - time.monotonic(), 0)) is not None:
                    pass
            raise shell.slow_error(command_text(argv))

    def stream(self, argv: Sequence[str]) -> Stream:
        """See port.Connection."""
        with self._operation(self.device.faults.refuse_shell, "shell:"):
            words = _quote_and_split(argv)
            execution = self.device.execute(words)
            if isinstance(execution, Running):
                return FakeStream(self.device, words, execution.printed, ended=False)
            output = execution.stdout + execution.stderr
            return FakeStream(self.device, words, output, ended=True)

    def push(
        self,
        source: Path | bytes,
        remote: str,
        mode: int = 0o644,
        timeout_s: float = 300.0,
    ) -> int:
        """See port.Connection."""
        del timeout_s
        data = source if isinstance(source, bytes) else source.read_bytes()
        with self._operation(self.device.faults.refuse_sync, "sync:"):
            transfer.encode_path(remote)
            if remote in self.device.directories:
                raise TransferError(
                    f"{remote}: the device refused the file: Is a directory"
                )
            room = self.device.faults.no_space_after
            if room is not None and len(data) > room:
                self.device.faults.no_space_after = 0
                raise transfer.refusal_error(
                    remote, "write failed: No space left on device"
                )
            if room is not None:
                self.device.faults.no_space_after = room - len(data)
            self.device.files[remote], self.device.modes[remote] = data, mode
            return len(data)

    def pull(
        self, remote: str, target: Path | None = None, timeout_s: float = 300.0
    ) -> bytes:
        """See port.Connection."""
        del timeout_s
        with self._operation(self.device.faults.refuse_sync, "sync:"):
            transfer.encode_path(remote)
            if remote not in self.device.files:
                raise transfer.refusal_error(remote, "No such file or directory")
            if target is None:
                return self.device.files[remote]
            with transfer.whole_file(target) as beside:
                beside.write_bytes(self.device.files[remote])
            return b""

    def props(self) -> dict[str, str]:
        """See port.Connection."""
        with self._operation(self.device.faults.refuse_shell, "shell:"):
            self.device.calls.append(["getprop"])
            return dict(self.device.props)

    def reboot(self) -> None:
        """See port.Connection."""
        with self._operation(False, "reboot:"):
            self.device.calls.append(["reboot"])
        self.device.reboot()
        self.close()

    def close(self) -> None:
        """See port.Connection."""
        self._generation = None

    @contextlib.contextmanager
    def _operation(self, refused: bool, service: str) -> Iterator[None]:
        """Surround every operation: connect, count down to a cut, and raise when the connection is
        lost or the service refused."""
        if self._generation is None:
            self.connect()
        if self.device.faults.lost_after == 0:
            self.device.faults.lost_after = None
            self.device.cut()
        elif self.device.faults.lost_after is not None:
            self.device.faults.lost_after -= 1
        try:
            if self._generation != self.device.generation:
                raise LostError(
                    f"the device in memory {self.device.serial} ended the connection"
                )
            if refused:
                raise RefusedError(
                    f"the device in memory {self.device.serial} refuses the service {service}"
                )
            yield
        except (LostError, SlowError):
            self.close()
            raise


def _quote_and_split(argv: Sequence[str]) -> list[str]:
    """Quote `argv` as for a device and split it again as a POSIX shell does."""
    shell.prepare_service(shell.V2, argv)  # refuses what is too long
    return shlex.split(command_line(argv).decode("utf-8", "surrogateescape"))
