"""One device behind each backend, with the same handles: what the conformance suite is written against.

A rig's device is the peer (real commands, real packets) or the device in memory. `variant` says which shell
service is left to it: v2, exec or terminal.
"""

from __future__ import annotations

import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from paceline.adb.direct import DirectConnection
from paceline.adb.handshake import KeyOffers
from paceline.adb.keys import AgentKey
from paceline.adb.port import (
    AdbError,
    Connection,
    OfflineError,
    Route,
    UnauthorizedError,
)
from paceline.adb.server import AdbServer
from paceline.adb.usb import UsbBus, UsbConnection, UsbLinks
from paceline.testing.adbd import Faults, Peer
from paceline.testing.fake_device import FakeDevice
from paceline.testing.usb import SimulatedUsb, SimulatedUsbDevice
from paceline_contract.testing.waiting import WITHIN_S, give_enough_time


def until(condition: Callable[[], object], what: str) -> None:
    """Asks again until it holds; fails after a deadline."""
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {WITHIN_S} s: {what}"


def not_trusted(connect: Callable[[float], object]) -> UnauthorizedError:
    """Connect to a device that does not trust us, and return its error. `connect` takes a time limit, which the wait for a
    person uses up, and which must be long enough for the handshake before it."""

    def attempt(limit_s: float) -> UnauthorizedError | None:
        try:
            connect(limit_s)
        except OfflineError:  # a machine that stood still
            return None
        except UnauthorizedError as error:
            return error
        raise AssertionError("it is trusted")

    return give_enough_time(attempt, first_s=0.2)


@contextmanager
def saying(said: bytes) -> Iterator[str]:
    """The address of something that answers one connection with `said` once it was asked."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with listener.accept()[0] as other:
                other.recv(4096)
                other.sendall(said)
                # Who read enough to know better has hung up, before or after this.
                with suppress(OSError):
                    other.shutdown(socket.SHUT_WR)
                    while other.recv(4096):
                        pass

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(WITHIN_S)


class Rig(ABC):
    """`apart`: the two outputs come apart. `directory`: on the device, for a test's files."""

    apart = True
    directory = "/data/local/tmp"

    def __init__(self, variant: str = "v2") -> None:
        self.variant = variant
        self.opened = ExitStack()

    @property
    def connection(self) -> Connection:
        """A new one, closed at the end of the test."""
        made = self._connection()
        self.opened.callback(made.close)
        return made

    @abstractmethod
    def _connection(self) -> Connection: ...
    @abstractmethod
    def running(self) -> int:
        """How many commands run on the device."""

    @abstractmethod
    def cut(self) -> None:
        """A cable pull."""

    def plug_in(self) -> None:  # noqa: B027 -- most need nothing
        """After a cut or a reboot: what a person or the ladder does for the device to be reachable again."""

    @abstractmethod
    def leave(self) -> None:
        """Nobody answers for the device from now on, until the end of the test."""

    @abstractmethod
    def mute(self) -> None:
        """The device is there and ends each handshake without an answer, until the end of the test."""

    @abstractmethod
    def refuse(self, service: str) -> None: ...
    @abstractmethod
    def fill_storage(self, left: int) -> None: ...
    @abstractmethod
    def mistakes(self) -> list[str]:
        """What the backend did that the protocol forbids."""


class MemoryRig(Rig):
    def __init__(self) -> None:
        super().__init__()
        self.device = FakeDevice()

    def _connection(self) -> Connection:
        return self.device.connection()

    def running(self) -> int:
        return len(self.device.running)

    def cut(self) -> None:
        self.device.cut()

    def leave(self) -> None:
        self.device.faults.absent = True

    def mute(self) -> None:
        self.device.faults.offline = True

    def refuse(self, service: str) -> None:
        self.device.faults.refuse_shell |= service == "shell"
        self.device.faults.refuse_sync |= service == "sync"

    def fill_storage(self, left: int) -> None:
        self.device.faults.no_space_after = left

    def mistakes(self) -> list[str]:
        return []


class PeerRig(Rig):
    """Over a peer that lives longer than a test: it is put right before each."""

    def __init__(self, peer: Peer, variant: str) -> None:
        super().__init__(variant)
        self.peer = peer
        self.apart = variant == "v2"
        self.directory = f"{peer.workdir}/{time.monotonic_ns()}"
        peer.faults.__dict__.update(Faults().__dict__)
        peer.faults.legacy = variant == "terminal"
        peer.features = frozenset({"cmd"} if variant == "exec" else {"cmd", "shell_v2"})
        peer.violations.clear()

    def running(self) -> int:
        return len(self.peer.processes())

    def cut(self) -> None:
        self.peer.cut()

    def leave(self) -> None:
        self.peer.leave()
        self.opened.callback(self.peer.come_back)

    def mute(self) -> None:
        self.peer.faults.offline = True

    def refuse(self, service: str) -> None:
        self.peer.faults.refuse |= (
            {"shell", "exec"} if service == "shell" else {service}
        )

    def fill_storage(self, left: int) -> None:
        self.peer.faults.no_space_after = left

    def mistakes(self) -> list[str]:
        return list(self.peer.violations)


class DirectRig(PeerRig):
    def __init__(self, peer: Peer, variant: str, key: AgentKey) -> None:
        super().__init__(peer, variant)
        self._key = key

    def _connection(self) -> Connection:
        return DirectConnection(self.peer.address, self._key)

    def plug_in(self) -> None:
        until(self._answers, "the device listens")

    def _answers(self) -> bool:
        connection = self.connection
        try:
            connection.connect()
        except AdbError:
            return False
        connection.close()
        return True


class UsbRig(PeerRig):
    """The peer on a simulated bus."""

    def __init__(self, peer: Peer, variant: str, key: AgentKey) -> None:
        super().__init__(peer, variant)
        self.device = SimulatedUsbDevice(peer.address, peer.serial)
        self.usb = SimulatedUsb(self.device)
        self._key = key
        self._offers = KeyOffers()
        self.links = UsbLinks(UsbBus(self.usb), self._offers)
        self.opened.callback(self.device.unplug)
        self.opened.callback(self._offers.close)

    def _connection(self) -> Connection:
        route = Route("usb", self.device.port, self.device.serial)
        return UsbConnection(route, self._key, self.links)

    def cut(self) -> None:
        self.device.unplug()

    def plug_in(self) -> None:
        self.device.plug_in()
        until(self._answers, "the device answers")

    def _answers(self) -> bool:
        connection = self.connection
        try:
            connection.connect()
        except AdbError:
            return False
        connection.close()
        return True

    def leave(self) -> None:
        self.device.unplug()

    def mistakes(self) -> list[str]:
        return [*super().mistakes(), *self.device.violations]


class ServerRig(PeerRig):
    """Google's adb server between the backend and the peer. The peer stays plugged in from test to test: that
    server does not survive hundreds of reconnections (29.0.6)."""

    def __init__(self, peer: Peer, variant: str, server: AdbServer) -> None:
        super().__init__(peer, variant)
        self.server = server
        if self.state() != "device":
            self.plug_in()

    def _connection(self) -> Connection:
        return self.server.connection(self.peer.address)

    def state(self) -> str:
        return {each.name: each.state for each in self.server.devices()}.get(
            self.peer.address, "absent"
        )

    def unplug(self) -> None:
        self.server.disconnect_from(self.peer.address)
        until(lambda: self.state() == "absent", "the server forgets the device")

    def plug_in(self) -> None:
        self.unplug()
        until(self._attached, "the server has the device")

    def _attached(self) -> bool:
        if self.state() == "absent":
            self.server.connect_to(self.peer.address)
        return self.state() == "device"

    def leave(self) -> None:
        super().leave()
        self.unplug()

    def mute(self) -> None:
        """The server tries again by itself only after ten seconds."""
        super().mute()
        self.peer.cut()
        until(lambda: self.state() == "offline", "the server notices")
