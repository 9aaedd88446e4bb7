"""A minimal ADB client for tests: packets over a blocking socket.

It shares no code with `paceline.adb` and the simulated device, so that it can judge both. Every wait has a deadline.
"""

from __future__ import annotations

import base64
import hashlib
import socket
import struct
import zlib
from typing import NamedTuple, Self

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils
from paceline_contract.testing.waiting import WITHIN_S


class Packet(NamedTuple):
    """One packet as it came."""

    name: str
    arg0: int
    arg1: int
    data: bytes


class Key:
    """A key pair in Android's form."""

    def __init__(self) -> None:
        self._private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        n = self._private.public_key().public_numbers().n
        word = 2**32
        inverse = (word - pow(n, -1, word)) % word
        square = pow(2, 2 * 2048, n)
        raw = struct.pack(
            "<II256s256sI",
            64,
            inverse,
            n.to_bytes(256, "little"),
            square.to_bytes(256, "little"),
            65537,
        )
        self.public = base64.b64encode(raw) + b" tests@paceline\x00"
        digest = hashlib.md5(raw, usedforsecurity=False).hexdigest().upper()
        self.fingerprint = ":".join(digest[at : at + 2] for at in range(0, 32, 2))

    def sign(self, token: bytes) -> bytes:
        return self._private.sign(
            token,
            padding.PKCS1v15(),
            utils.Prehashed(hashes.SHA1()),  # noqa: S303
        )


class Client:
    """One connection. `feed` and `take` are raw; the other methods use packets."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), WITHIN_S)
        self.legacy = False
        self.sizes: list[int] = []
        """Sizes of the received payloads."""
        self._buffer = b""
        self._ids = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(
        self,
        name: str,
        arg0: int,
        arg1: int,
        data: bytes = b"",
        checksum: int | None = None,
    ) -> None:
        command = int.from_bytes(name.encode(), "little")
        total = (sum(data) if checksum is None else checksum) & 0xFFFFFFFF
        head = struct.pack(
            "<6I", command, arg0, arg1, len(data), total, command ^ 0xFFFFFFFF
        )
        self.socket.sendall(head + data)

    def receive(self) -> Packet:
        """Raises EOFError when the peer closed."""
        name, arg0, arg1, length, total, magic = struct.unpack("<6I", self.take(24))
        data = self.take(length)
        self.sizes.append(length)
        assert magic == name ^ 0xFFFFFFFF
        assert total in (0, sum(data))
        assert not self.legacy or total == sum(data)
        return Packet(name.to_bytes(4, "little").decode(), arg0, arg1, data)

    def drain(self) -> None:
        """Raises EOFError once the peer hangs up."""
        while True:
            self.receive()

    def take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            try:
                got = self.socket.recv(1 << 20)
            except ConnectionError:
                got = b""
            if not got:
                raise EOFError(f"{len(self._buffer)} of {count} bytes")
            self._buffer += got
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def expect(self, name: str) -> Packet:
        packet = self.receive()
        assert packet.name == name, packet
        return packet

    def connect(self, version: int = 0x01000001, largest: int = 1 << 20) -> bytes:
        """Connects without a key; returns the banner."""
        self.send("CNXN", version, largest, b"host::features=shell_v2")
        packet = self.expect("CNXN")
        self.legacy = packet.arg0 < 0x01000001
        self.largest = min(largest, packet.arg1)
        return packet.data

    def open(self, service: str) -> Stream:
        self._ids += 1
        self.send("OPEN", self._ids, 0, service.encode() + b"\x00")
        packet = self.receive()
        while packet.name == "CLSE" and packet.arg1 != self._ids:  # of a stream before
            packet = self.receive()
        if packet.name == "CLSE":
            raise PermissionError(service)
        assert (packet.name, packet.arg1) == ("OKAY", self._ids), packet
        return Stream(self, self._ids, packet.arg0)

    def shell(self, command: str) -> tuple[int, bytes, bytes]:
        """(exit code, stdout, stderr) by shell v2."""
        stream = self.open(f"shell,v2,raw:{command}")
        by_name = {1: b"", 2: b"", 3: b""}
        text = stream.rest()
        while text:
            kind, length = struct.unpack("<BI", text[:5])
            by_name[kind] += text[5 : 5 + length]
            text = text[5 + length :]
        return by_name[3][0], by_name[1], by_name[2]

    def plain(self, command: str) -> bytes:
        return self.open(f"shell:{command}").rest()


class Stream:
    """One stream of a client that has no other at the time."""

    def __init__(self, client: Client, local: int, remote: int) -> None:
        self.client, self.local, self.remote = client, local, remote
        self._buffer = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        """Writes in payloads of the agreed size, each after the OKAY of the one before."""
        for at in range(0, len(data), self.client.largest):
            self.client.send(
                "WRTE", self.local, self.remote, data[at : at + self.client.largest]
            )
            while self._next() != "OKAY":
                pass

    def read(self, count: int) -> bytes:
        while len(self._buffer) < count:
            if self.closed:
                raise EOFError(
                    f"the stream closed after {len(self._buffer)} of {count} bytes"
                )
            self._next()
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def read_until(self, end: bytes) -> bytes:
        while end not in self._buffer:
            assert not self.closed, self._buffer
            self._next()
        return self.read(self._buffer.index(end) + len(end))

    def rest(self) -> bytes:
        while not self.closed:
            self._next()
        return self.read(len(self._buffer))

    def close(self) -> None:
        self.client.send("CLSE", self.local, self.remote)
        while self._next() != "CLSE":
            pass

    def _next(self) -> str:
        packet = self.client.receive()
        assert packet.arg1 == self.local, packet
        if packet.name == "WRTE":
            self._buffer += packet.data
            self.client.send("OKAY", self.local, self.remote)
        elif packet.name == "CLSE":
            self.closed = True
            self.client.send("CLSE", self.local, packet.arg0) if packet.arg0 else None
        return packet.name


class Files:
    """The sync service over one stream."""

    def __init__(self, client: Client) -> None:
        self.stream = client.open("sync:")

    def ask(self, name: bytes, text: str) -> None:
        data = text.encode()
        self.stream.write(struct.pack("<4sI", name, len(data)) + data)

    def push(
        self, path: str, data: bytes, mode: int = 0o100644, time_s: int = 1_700_000_000
    ) -> str:
        """The refusal, or nothing."""
        text = f"{path},{mode}".encode()
        parts = [struct.pack("<4sI", b"SEND", len(text)) + text]
        for at in range(0, len(data), 65536):
            piece = data[at : at + 65536]
            parts.append(struct.pack("<4sI", b"DATA", len(piece)) + piece)
        self.stream.write(b"".join(parts) + struct.pack("<4sI", b"DONE", time_s))
        return self.answer(b"OKAY")

    def pull(self, path: str) -> bytes | str:
        self.ask(b"RECV", path)
        data = b""
        while True:
            name, length = struct.unpack("<4sI", self.stream.read(8))
            if name != b"DATA":
                return data if name == b"DONE" else self.stream.read(length).decode()
            data += self.stream.read(length)

    def stat(self, path: str) -> tuple[int, int, int]:
        self.ask(b"STAT", path)
        name, mode, size, time_s = struct.unpack("<4s3I", self.stream.read(16))
        assert name == b"STAT"
        return mode, size, time_s

    def names(self, path: str) -> list[str]:
        self.ask(b"LIST", path)
        result: list[str] = []
        while True:
            name, _, _, _, length = struct.unpack("<4s4I", self.stream.read(20))
            if name == b"DONE":
                return result
            result.append(self.stream.read(length).decode())

    def answer(self, good: bytes) -> str:
        name, length = struct.unpack("<4sI", self.stream.read(8))
        return "" if name == good else self.stream.read(length).decode()


def random_bytes(count: int) -> bytes:
    """The same random bytes each time; no two neighbouring blocks are alike."""
    block = b"".join(
        struct.pack("<I", zlib.crc32(struct.pack("<I", at))) for at in range(2500)
    )
    return (block * (count // len(block) + 1))[:count]
