"""A device whose every packet a test writes: what the simulated daemon, which keeps the protocol, cannot do."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from paceline.testing.adbd import packets
from paceline.testing.adbd.packets import Header
from paceline_contract.testing.waiting import WITHIN_S

BANNER = b"device::ro.product.model=Scripted;features=shell_v2"


class ScriptedDevice:
    """The device's end of one connection."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected

    def take(self, *expected: int) -> tuple[Header, bytes]:
        """Receive the next packet, which must be one of `expected`."""
        header = Header.unpack(self._take_bytes(packets.HEADER_BYTES))
        assert header.command in expected, header.name
        return header, self._take_bytes(header.length)

    def send(
        self,
        command: int,
        arg0: int,
        arg1: int,
        payload: bytes = b"",
        *,
        checksum: bool = False,
    ) -> None:
        self.socket.sendall(
            packets.pack(command, arg0, arg1, payload, checksum=checksum)
        )

    def greet(
        self,
        version: int = packets.VERSION,
        longest: int = packets.PAYLOAD_BYTES,
        banner: bytes = BANNER,
    ) -> Header:
        """Accept the client without asking for a key; returns the header of its CNXN."""
        header, _ = self.take(packets.CNXN)
        self.send(packets.CNXN, version, longest, banner)
        return header

    def accept_service(self) -> tuple[int, int]:
        """Accept an OPEN; returns our number of the service and the client's."""
        header, _ = self.take(packets.OPEN)
        self.send(packets.OKAY, header.arg0 + 100, header.arg0)
        return header.arg0 + 100, header.arg0

    def wait_for_end(self) -> None:
        """Wait until the client has ended the connection."""
        while self.socket.recv(1 << 16):
            pass

    def _take_bytes(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            assert more, "the client ended the connection"
            data += more
        return data


@contextmanager
def scripted(script: Callable[[ScriptedDevice], None]) -> Iterator[str]:
    """Give the address of a device that follows `script` on its first connection; raises what the script raised."""
    with (
        ThreadPoolExecutor(1) as pool,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):

        def follow() -> None:
            with listener.accept()[0] as connected:
                connected.settimeout(WITHIN_S)
                script(ScriptedDevice(connected))

        followed = pool.submit(follow)
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        followed.result(WITHIN_S)
