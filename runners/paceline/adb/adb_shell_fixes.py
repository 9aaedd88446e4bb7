"""Corrects defects of adb-shell 0.4.4.

Nothing else in Paceline changes adb-shell's behaviour. Every defect is one sentence in the method that corrects it, has
a test in `tests/adb/test_adb_shell_fixes.py` that fails without it, and a report to its authors in
`docs/adb-shell-reports.md`. When a release of adb-shell corrects one, the method
is removed.

Several services may wait on one connection: whichever thread waits for a packet reads for all, and
puts the packets of others into their inboxes.
"""

from __future__ import annotations

import contextlib
import importlib
import struct
import sys
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from adb_shell import constants, exceptions
from adb_shell.adb_message import AdbMessage, checksum
from adb_shell.hidden_helpers import _AdbTransactionInfo

from paceline.adb.port import AdbError, LostError, RefusedError, SlowError
from paceline.adb.transport import GOODBYE_S

USB_TRANSPORT = "adb_shell.transport.usb_transport"


def _import_adb_device() -> Any:
    """Import adb-shell's device without its USB.

    Defect: adb-shell opens libusb when it is imported, with descriptors that a fork inherits, and cannot be imported
    at all where libusb does not start.
    """
    before = sys.modules.get(USB_TRANSPORT)
    sys.modules[USB_TRANSPORT] = None  # type: ignore[assignment]  # makes the import fail
    try:
        return importlib.import_module("adb_shell.adb_device")
    finally:
        del sys.modules[USB_TRANSPORT]
        if before is not None:
            sys.modules[USB_TRANSPORT] = before


if TYPE_CHECKING:
    from adb_shell.adb_device import AdbDevice, _AdbIOManager
else:
    AdbDevice = _import_adb_device().AdbDevice
    _AdbIOManager = _import_adb_device()._AdbIOManager

VERSION = 0x01000001
"""The first version without checksums of payloads (A_VERSION_SKIP_CHECKSUM in AOSP adb/adb.h)."""
STLS = int.from_bytes(b"STLS", "little")
HOST_FEATURES = b"features=shell_v2,cmd"
"""The features of adb's host side that this client uses."""
MESSAGE_GRACE_S = 15.0
"""Time for the rest of a message that began. After half a message nothing else could be read."""

Packet = tuple[bytes, int, int, bytes]
"""A command's name, the device's number of the service, ours, and the payload."""


class ServiceClosedError(Exception):
    """The device closed the service while something else was awaited."""


class EncryptionRequestedError(Exception):
    """The device answered STLS: it wants an encrypted connection."""


class PatchedIO(_AdbIOManager):  # type: ignore[misc]  # adb-shell has no types
    """adb-shell's packets, over a `DeadlineTransport`. `banner` and `version` are the device's answer to
    `connect`."""

    def __init__(
        self, transport: Any, whom: str, grace_s: float = MESSAGE_GRACE_S
    ) -> None:
        super().__init__(transport)
        self.version, self.banner = 0, b""
        self._whom, self._grace_s = whom, grace_s
        self._has_checksums = True
        self._sending = threading.Lock()
        self._arrival = threading.Condition()
        self._somebody_reads = False
        self._inboxes: dict[int, deque[Packet]] = {}
        """Packets that arrived for each open service, by our number of it."""
        self._failure: AdbError | None = None

    def connect(self, *arguments: Any) -> tuple[bool, int]:
        """Connect as adb-shell does.

        Defect: adb-shell believes any `maxdata`, and allocates as much as the device names (up to 4 GiB) for a push.
        """
        is_connected, longest = super().connect(*arguments)
        if longest < constants.MAX_LEGACY_ADB_DATA:
            raise exceptions.InvalidResponseError(
                f"it accepts packets of {longest} bytes; every device accepts {constants.MAX_LEGACY_ADB_DATA}"
            )
        return is_connected, min(longest, constants.MAX_ADB_DATA)

    def close(self) -> None:
        """Close the connection; every thread that waits for a packet gets LostError.

        Defect: adb-shell's `close` waits for the lock that a `connect` holds while a person is asked.
        """
        self._fail(LostError(f"the connection to {self._whom} was closed"))

    @property
    def has_failed(self) -> bool:
        """Return whether the connection was closed, or ended by an error."""
        return self._failure is not None

    def open_inbox(self, service_id: int) -> None:
        """Keep what arrives for a service from now on."""
        with self._arrival:
            self._inboxes[service_id] = deque()

    def drop_inbox(self, service_id: int) -> None:
        """Forget a service; what still arrives for it is dropped."""
        with self._arrival:
            self._inboxes.pop(service_id, None)

    def is_open(self, service_id: int) -> bool:
        """Return whether no packet read so far closes the service."""
        with self._arrival:
            return service_id in self._inboxes

    def send(self, msg: Any, adb_info: Any) -> None:
        """Send a packet.

        Defect: adb-shell's `send` waits until another thread's read has ended, which may wait for its device.
        """
        if msg.command == constants.ID_TO_WIRE[constants.OPEN]:
            self.open_inbox(msg.arg0)
        left_s = max(deadline_of(adb_info) - time.monotonic(), 0.0)
        if not msg.data:  # an acknowledgement must not end the connection at a deadline
            left_s = max(left_s, GOODBYE_S)
        if self._failure is not None:
            raise self._lost_error()
        try:
            with self._sending:
                self._write(msg, left_s)
        except AdbError as error:
            self._fail(error)
            raise

    def read(
        self, expected_cmds: list[bytes], adb_info: Any, allow_zeros: bool = False
    ) -> Packet:
        """Return the next expected packet of a service.

        Defect: adb-shell passes over a CLSE that it does not expect and waits for its whole time limit, for a
        refused OPEN too. Defect: its time limit begins anew with every packet.
        """
        deadline = deadline_of(adb_info)
        while True:
            packet = self._next_packet(adb_info.local_id, deadline)
            command, remote_id, local_id, _ = packet
            if command == constants.CLSE and command not in expected_cmds:
                raise ServiceClosedError
            if command in expected_cmds and adb_info.args_match(
                remote_id, local_id, allow_zeros
            ):
                return packet

    def _next_packet(self, service_id: int, deadline: float) -> Packet:
        """Return the next packet of a service.

        Defect: adb-shell keeps packets of services that were closed for ever, and drops the CLSE of a service
        that another thread waits for.
        """
        while True:
            with self._arrival:
                while True:
                    inbox = self._inboxes.get(service_id)
                    if inbox is None:
                        raise ServiceClosedError
                    if inbox:
                        packet = inbox.popleft()
                        if packet[0] == constants.CLSE:
                            del self._inboxes[service_id]
                        return packet
                    if self._failure is not None:
                        raise self._lost_error()
                    if not self._somebody_reads:
                        break
                    left_s = deadline - time.monotonic()
                    if left_s <= 0:
                        raise SlowError(f"{self._whom} does not answer")
                    self._arrival.wait(left_s)
                self._somebody_reads = True
            try:
                self._read_for_all(deadline)
            finally:
                with self._arrival:
                    self._somebody_reads = False
                    self._arrival.notify_all()

    def _read_for_all(self, deadline: float) -> None:
        """Read one packet and put it into its service's inbox. Raises SlowError when none begins before
        `deadline`."""
        try:
            if not self._transport.readable(deadline - time.monotonic()):
                raise SlowError(f"{self._whom} does not answer")
            packet = self._read_whole_packet()
        except LostError as error:
            self._fail(error)
            raise self._lost_error() from error
        except EncryptionRequestedError:
            self._fail(LostError(f"{self._whom} is out of step: it sent STLS"))
            raise self._lost_error() from None
        command, remote_id, service_id, _ = packet
        with self._arrival:
            inbox = self._inboxes.get(service_id)
            if inbox is not None:
                inbox.append(packet)
        if inbox is None and command == constants.OKAY:
            # A service that was opened after nobody waited for it any more: its command must not go on.
            with self._sending:
                self._write(
                    AdbMessage(constants.CLSE, service_id, remote_id), self._grace_s
                )

    def _read_packet_from_device(self, adb_info: Any) -> Packet:
        """Read a packet of the handshake."""
        if not self._transport.readable(adb_info.transport_timeout_s):
            raise SlowError(f"{self._whom} does not answer")
        return self._read_whole_packet()

    def _read_whole_packet(self) -> Packet:
        """Read a packet that has begun. Raises LostError.

        Defect: adb-shell checks neither the magic nor the length of a header, so it waits for 4 GiB when it is out of
        step. Defect: it sums every byte, also between sides of a version without checksums.
        """
        info = _AdbTransactionInfo(None, None, self._grace_s, self._grace_s)
        try:
            header = self._read_bytes_from_device(constants.MESSAGE_SIZE, info)
            command, remote_id, service_id, length, total, magic = struct.unpack(
                constants.MESSAGE_FORMAT, header
            )
            name = constants.WIRE_TO_ID.get(command)
            is_known = name is not None or command == STLS
            if (
                magic != command ^ 0xFFFFFFFF
                or length > constants.MAX_ADB_DATA
                or not is_known
            ):
                raise LostError(
                    f"{self._whom} is out of step: it sent the header {header.hex()}"
                )
            payload = self._read_bytes_from_device(length, info) if length else b""
        except (SlowError, exceptions.AdbTimeoutError) as error:
            raise LostError(
                f"{self._whom} stopped in the middle of a packet"
            ) from error
        if command == STLS:
            raise EncryptionRequestedError
        if self._has_checksums and total and total != checksum(payload):
            raise LostError(
                f"{self._whom} is out of step: a {name.decode()} arrived with a wrong checksum"
            )
        if name == constants.CNXN:
            self.version, self.banner = remote_id, payload
            self._has_checksums = self.version < VERSION
        return name, remote_id, service_id, payload

    def _send(self, msg: Any, adb_info: Any) -> None:
        """Send a packet of the handshake.

        Defect: adb-shell names the version 0x01000000, for which devices sum every byte of every packet.
        """
        if msg.command == constants.ID_TO_WIRE[constants.CNXN]:
            msg.arg0 = VERSION
            self._has_checksums = True
        self._write(msg, adb_info.transport_timeout_s)

    def _write(self, msg: Any, timeout_s: float) -> None:
        total = msg.checksum if self._has_checksums else 0
        header = struct.pack(
            constants.MESSAGE_FORMAT,
            msg.command,
            msg.arg0,
            msg.arg1,
            len(msg.data),
            total,
            msg.magic,
        )
        self._transport.bulk_write(header, timeout_s)
        if msg.data:
            self._transport.bulk_write(msg.data, timeout_s)

    def _lost_error(self) -> LostError:
        """Return what ended the connection first."""
        first = self._failure
        return LostError(first.text, first.advice) if first else LostError("lost")

    def _fail(self, error: AdbError) -> None:
        """Close the transport; waiting and later reads raise LostError with the reason."""
        with self._arrival:
            if self._failure is None:
                self._failure = error
            self._arrival.notify_all()
        self._transport.close()


class PatchedDevice(AdbDevice):  # type: ignore[misc]  # adb-shell has no types
    """adb-shell's device. Create a new one for each connection."""

    def __init__(
        self, transport: Any, whom: str, grace_s: float = MESSAGE_GRACE_S
    ) -> None:
        super().__init__(transport, banner=HOST_FEATURES)
        self._whom = whom
        self._io_manager = PatchedIO(transport, whom, grace_s)

    @property
    def banner(self) -> bytes:
        """Return the device's banner. Defect: adb-shell drops it, and with it the device's features."""
        return bytes(self._io_manager.banner)

    @property
    def has_ended(self) -> bool:
        """Return whether the connection is known to have ended; only its use shows that."""
        return bool(self._io_manager.has_failed)

    @property
    def longest_message(self) -> int:
        """Return the most bytes of one payload that the device accepts."""
        return int(self._maxdata)

    def open_service(self, service: bytes, deadline: float) -> Any:
        """Open a service; returns adb-shell's description of it. Raises RefusedError, LostError, SlowError."""
        try:
            return self._open(service, None, deadline - time.monotonic(), None)
        except SlowError:
            self._io_manager.drop_inbox(self._local_id)
            raise

    def read_service(self, adb_info: Any, deadline: float) -> bytes:
        """Return the next bytes of a service, b"" once the device has closed it. Raises SlowError, LostError."""
        adb_info.deadline = deadline
        try:
            command, data = self._read_until([constants.CLSE, constants.WRTE], adb_info)
        except ServiceClosedError:
            return b""
        return b"" if command == constants.CLSE else bytes(data)

    def close_service(self, adb_info: Any, deadline: float) -> None:
        """Close a service without waiting for the device's answer. Raises SlowError, LostError."""
        if self._io_manager.is_open(adb_info.local_id):
            self._io_manager.drop_inbox(adb_info.local_id)
            adb_info.deadline = deadline
            message = AdbMessage(constants.CLSE, adb_info.local_id, adb_info.remote_id)
            self._io_manager.send(message, adb_info)

    def _open(
        self,
        destination: bytes,
        transport_timeout_s: float | None,
        read_timeout_s: float,
        timeout_s: float | None,
    ) -> Any:
        """Open a service. Raises RefusedError at once when the device refuses it; see `PatchedIO.read`."""
        try:
            return super()._open(
                destination, transport_timeout_s, read_timeout_s, timeout_s
            )
        except ServiceClosedError as error:
            kind = destination.partition(b":")[0].decode("ascii", "replace")
            raise RefusedError(f"{self._whom} refuses the service {kind}:") from error

    def _clse(self, adb_info: Any) -> None:
        """Close a service. Defect: adb-shell waits for the answer of a device that has closed it already."""
        if self._io_manager.is_open(adb_info.local_id):
            super()._clse(adb_info)

    def _filesync_flush(self, adb_info: Any, filesync_info: Any) -> None:
        """Send what is buffered.

        Defect: adb-shell drops a WRTE that comes while it awaits OKAY, and does not acknowledge it: a device that
        refuses a file in the middle of a push was waited for until the time limit.
        """
        payload = bytes(memoryview(filesync_info.send_buffer)[: filesync_info.send_idx])
        message = AdbMessage(
            constants.WRTE, adb_info.local_id, adb_info.remote_id, payload
        )
        self._io_manager.send(message, adb_info)
        while True:
            command, data = self._read_until([constants.OKAY, constants.WRTE], adb_info)
            if command == constants.OKAY:
                break
            filesync_info.recv_buffer += data
        filesync_info.send_idx = 0

    def _filesync_read_buffered(
        self, size: int, adb_info: Any, filesync_info: Any
    ) -> Any:
        """Return `size` received bytes. Defect: adb-shell collects up to 4 GiB for a message with a wrong length."""
        if size > constants.MAX_CHUNK_SIZE:
            raise exceptions.InvalidResponseError(
                f"a message of the sync service has {size} bytes"
            )
        return super()._filesync_read_buffered(size, adb_info, filesync_info)

    def _push(self, *arguments: Any) -> None:
        """Send a file. Defect: adb-shell leaves the service open after a push that failed."""
        *_, adb_info, filesync_info = arguments
        try:
            super()._push(*arguments)
        except ServiceClosedError:
            # The device closed the service right after its refusal.
            answer = bytes(filesync_info.recv_buffer)
            if answer[:4] != constants.FAIL:
                raise
            raise exceptions.PushFailedError(answer[8:]) from None
        except (exceptions.PushFailedError, SlowError, OSError, UnicodeError):
            with contextlib.suppress(AdbError):  # the connection has ended, too
                self.close_service(adb_info, time.monotonic() + GOODBYE_S)
            raise


def deadline_of(adb_info: Any) -> float:
    """Return when a transaction must have ended, which counts from its first packet."""
    if not hasattr(adb_info, "deadline"):
        adb_info.deadline = time.monotonic() + adb_info.read_timeout_s
    return float(adb_info.deadline)
