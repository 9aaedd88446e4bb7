"""Tests of devices on USB: claims, empty transfers, pulled cables, and what is missing on this host."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import usb1
from adb_shell.transport.usb_transport import UsbTransport
from paceline.adb.handshake import KeyOffers
from paceline.adb.keys import AgentKey
from paceline.adb.port import (
    AbsentError,
    LostError,
    OfflineError,
    Route,
    SlowError,
)
from paceline.adb.usb import UsbBus, UsbConnection, UsbLinks
from paceline.adb.usb_transport import SLICE_S, UDEV_RULE, UsbDeviceTransport
from paceline.testing.adbd import Faults, Peer
from paceline.testing.usb import (
    PACKET_BYTES,
    WRITE_ENDPOINT,
    SimulatedHandle,
    SimulatedUsb,
    SimulatedUsbDevice,
)
from paceline_contract.testing.waiting import WITHIN_S

from .rigs import not_trusted, until

ANDROID_PAGE = Path(__file__).resolve().parents[3] / "docs" / "android.md"
REMOTE = "/data/local/tmp/file"


@pytest.fixture
def peer(shared_peer: Peer) -> Iterator[Peer]:
    shared_peer.faults.__dict__.update(Faults().__dict__)
    shared_peer.features = frozenset({"cmd", "shell_v2"})
    shared_peer.violations.clear()
    yield shared_peer
    until(lambda: not shared_peer.processes(), "everything on the device ended")
    assert shared_peer.violations == []


@pytest.fixture
def phone(peer: Peer) -> Iterator[SimulatedUsbDevice]:
    made = SimulatedUsbDevice(peer.address, "PHONE1", bus=2, ports=(1, 3))
    yield made
    assert made.violations == []
    made.unplug()


@pytest.fixture
def links(phone: SimulatedUsbDevice) -> Iterator[UsbLinks]:
    offers = KeyOffers()
    yield UsbLinks(UsbBus(SimulatedUsb(phone)), offers)
    offers.close()


def connection(
    phone: SimulatedUsbDevice, key: AgentKey, links: UsbLinks
) -> UsbConnection:
    return UsbConnection(Route("usb", phone.port, phone.serial), key, links)


def transport(phone: SimulatedUsbDevice) -> UsbDeviceTransport:
    return UsbDeviceTransport(phone, phone, "the phone")


class Keyboard(SimulatedUsbDevice):
    """A device on the bus that is no phone."""

    def getProtocol(self) -> int:  # noqa: N802 -- libusb1's name
        return 0x02


# --- the bus ---


def test_devices_are_listed_by_port_with_their_serial_numbers() -> None:
    phone = SimulatedUsbDevice("", "PHONE1", bus=2, ports=(1, 3))
    denied = SimulatedUsbDevice("", "PHONE2", bus=1, ports=(4,))
    denied.is_denied = True
    bus = UsbBus(SimulatedUsb(phone, Keyboard("", "KEYS"), denied))
    assert [device.route for device in bus.devices()] == [
        Route("usb", "1-4", ""),
        Route("usb", "2-1.3", "PHONE1"),
    ]
    assert str(bus.device_at("2-1.3").route) == "PHONE1 at USB port 2-1.3"


def test_this_hosts_own_bus_is_searched() -> None:
    """Without a simulated context, by libusb itself; what is plugged in here is not known."""
    assert all(device.port for device in UsbBus().devices())


def test_nothing_at_the_port_is_absent(key: AgentKey, links: UsbLinks) -> None:
    route = Route("usb", "9-9", "PHONE1")
    with pytest.raises(AbsentError, match="USB port 9-9") as caught:
        UsbConnection(route, key, links).connect()
    assert "USB debugging" in caught.value.advice


def test_without_permission_the_udev_rule_is_one_command(
    phone: SimulatedUsbDevice, key: AgentKey, links: UsbLinks
) -> None:
    phone.is_denied = True
    with pytest.raises(OfflineError, match="may not open") as caught:
        connection(phone, key, links).connect()
    assert caught.value.advice.startswith("Run: echo 'SUBSYSTEM")
    assert "udevadm trigger" in caught.value.advice
    assert "\n" not in caught.value.advice
    assert UDEV_RULE in ANDROID_PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("missing", "command"),
    [
        ("import sys; sys.modules['usb1'] = None", "pip install 'paceline[usb]'"),
        (
            "import ctypes, ctypes.util\n"
            "def none(*_, **__): raise OSError('libusb-1.0.so.0: cannot open')\n"
            "ctypes.CDLL = none; ctypes.util.find_library = lambda _: None",
            "apt-get install libusb-1.0-0",
        ),
    ],
)
def test_without_libusb_the_command_that_installs_it_is_said(
    missing: str, command: str
) -> None:
    """In a process of its own, where the package or the library is not found."""
    search = "from paceline.adb.usb import UsbBus\nUsbBus().devices()"
    done = subprocess.run(
        [sys.executable, "-c", f"{missing}\n{search}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "OfflineError: USB cannot be searched" in done.stderr
    caught = subprocess.run(
        [sys.executable, "-c", f"{missing}\n{ADVICE}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert command in caught.stdout


ADVICE = """
from paceline.adb.port import OfflineError
from paceline.adb.usb import UsbBus
try:
    UsbBus().devices()
except OfflineError as error:
    print(error.advice)
"""


# --- claims ---


def test_a_device_that_another_program_holds_says_so_and_is_free_later(
    phone: SimulatedUsbDevice, key: AgentKey, links: UsbLinks
) -> None:
    phone.is_held = True
    with pytest.raises(OfflineError, match="another program holds") as caught:
        connection(phone, key, links).connect()
    assert "adb_server in agent.toml" in caught.value.advice
    assert "adb kill-server" in caught.value.advice
    assert phone.open_handles == 0
    phone.is_held = False
    made = connection(phone, key, links)
    assert made.run(["true"]).rc == 0
    made.close()


def test_adb_shell_itself_cannot_claim_a_device_without_a_kernel_driver(
    phone: SimulatedUsbDevice,
) -> None:
    """It warns with a number in the place of a category."""
    with pytest.raises(TypeError, match="category"):
        UsbTransport(phone, phone).connect()


def test_connections_and_streams_share_one_claim_and_the_last_gives_it_back(
    phone: SimulatedUsbDevice, key: AgentKey, links: UsbLinks
) -> None:
    first, second = (connection(phone, key, links) for _ in range(2))
    first.connect()
    with second.stream(["sleep", "600"]) as stream:
        assert first.run(["echo", "1"]).text == "1\n"
        first.close()
        second.close()
        claimed_by_stream = phone.is_claimed
        assert stream.read(0.05) is None
    assert (claimed_by_stream, phone.is_claimed) == (True, False)
    assert phone.claims == 1


def test_a_slow_command_ends_and_leaves_the_link_to_the_others(
    phone: SimulatedUsbDevice, key: AgentKey, links: UsbLinks, peer: Peer
) -> None:
    made = connection(phone, key, links)
    with made.stream(["sleep", "600"]) as stream:
        until(lambda: len(peer.processes()) > 1, "the stream's command runs")
        of_stream = set(peer.processes())
        with pytest.raises(SlowError):
            made.run(["sleep", "599"], timeout_s=0.2)
        until(lambda: set(peer.processes()) == of_stream, "the other one has ended")
        assert stream.read(0.05) is None
        assert made.run(["echo", "next"]).text == "next\n"
    made.close()
    assert phone.claims == 1


def test_a_device_that_waits_for_a_person_is_claimed_once(
    key: AgentKey, tmp_path: Path
) -> None:
    with Peer(tmp_path, serial="SIMASKS", trust=set()) as asking:
        phone = SimulatedUsbDevice(asking.address, "SIMASKS")
        offers = KeyOffers()
        links = UsbLinks(UsbBus(SimulatedUsb(phone)), offers)
        not_trusted(connection(phone, key, links).connect)
        claims = phone.claims
        for _ in range(3):
            error = not_trusted(connection(phone, key, links).connect)
            assert "asks whether to trust" in error.text
        until(lambda: asking.prompts, "its dialog is shown")
        assert asking.prompts == [key.fingerprint]
        asking.answer_prompt(True)
        made = connection(phone, key, links)
        assert made.run(["true"]).rc == 0
        made.close()
        assert phone.claims == claims
        asking.revoke_keys()
        not_trusted(connection(phone, key, links).connect)
        offers.close()
        assert not phone.is_claimed, "nothing is claimed any more"
        phone.unplug()
        assert phone.violations == []


# --- transfers ---


@pytest.mark.parametrize("size", [PACKET_BYTES - 24, PACKET_BYTES, 16 * PACKET_BYTES])
def test_a_transfer_that_fills_its_last_packet_is_ended_by_an_empty_one(
    phone: SimulatedUsbDevice, key: AgentKey, links: UsbLinks, size: int
) -> None:
    """The payload of the push has `size` bytes; the pull's answer is as long."""
    head = len(f"SEND{REMOTE},33188") + 4 + len("DATA") + 4 + len("DONE") + 4
    data = bytes(size - head)
    made = connection(phone, key, links)
    assert made.push(data, REMOTE) == len(data)
    assert made.pull(REMOTE) == data
    made.close()


def test_without_the_empty_transfer_a_device_waits_for_more(
    phone: SimulatedUsbDevice,
) -> None:
    """The proof for the simulated driver, as for adbd's."""
    handle = SimulatedHandle(phone)
    handle.claimInterface(1)
    assert phone.daemon is not None
    handle.bulkWrite(WRITE_ENDPOINT, bytes(PACKET_BYTES), WAIT_MS)
    assert len(phone.daemon.received) == PACKET_BYTES, "it is kept, not delivered"
    phone.daemon.received = b""
    handle.close()


WAIT_MS = int(WITHIN_S * 1000)


def test_a_read_of_less_than_a_packet_of_the_bus_is_no_overflow(
    phone: SimulatedUsbDevice,
) -> None:
    """A device that sends header and payload in one transfer."""
    usb = transport(phone)
    usb.connect(WITHIN_S)
    assert phone.daemon is not None
    phone.daemon.transfers.append(bytes(range(100)))
    assert usb.bulk_read(24, WITHIN_S) == bytes(range(24))
    assert usb.bulk_read(200, WITHIN_S) == bytes(range(24, 100))
    usb.close()


def test_what_came_before_a_time_limit_is_kept(phone: SimulatedUsbDevice) -> None:
    pieces = [b"ab", b"cd"]

    class LateHandle(SimulatedHandle):
        def bulkRead(  # noqa: N802 -- libusb1's name
            self, endpoint: int, length: int, timeout: int = 0
        ) -> bytearray:
            del endpoint, length, timeout
            error = usb1.USBErrorTimeout()
            error.received = pieces.pop(0) if self.is_used and pieces else b""
            raise error

        is_used = False

    handle = LateHandle(phone)
    phone.open = lambda: handle  # type: ignore[method-assign]
    usb = transport(phone)
    usb.connect(WITHIN_S)
    handle.is_used = True
    assert usb.readable(WITHIN_S)
    assert usb.bulk_read(1, WITHIN_S) == b"a"
    assert usb.bulk_read(9, WITHIN_S) == b"b"
    assert usb.bulk_read(9, WITHIN_S) == b"cd"
    with pytest.raises(SlowError, match="does not answer"):
        usb.bulk_read(9, 0.0)
    usb.close()


def test_what_an_earlier_program_left_unread_is_not_taken_for_an_answer(
    phone: SimulatedUsbDevice, key: AgentKey
) -> None:
    """The rest of a packet, as after a killed agent: the interface is free, the endpoint is not empty."""
    handle = SimulatedHandle(phone)
    handle.claimInterface(1)
    handle.close()
    assert phone.daemon is not None
    phone.daemon.transfers.extend([b"the rest", bytes(3 * PACKET_BYTES), b""])
    links = UsbLinks(UsbBus(SimulatedUsb(phone)), KeyOffers())
    made = connection(phone, key, links)
    assert made.run(["echo", "mine"]).text == "mine\n"
    made.close()


# --- pulled cables ---


def test_a_device_unplugged_in_a_read_is_lost_and_given_back(
    phone: SimulatedUsbDevice,
) -> None:
    usb = transport(phone)
    usb.connect(WITHIN_S)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(usb.bulk_read, 24, WITHIN_S)
        until(usb._reading.locked, "it reads")
        phone.unplug()
        with pytest.raises(LostError, match="NO_DEVICE") as caught:
            reading.result(WITHIN_S)
    assert "cable" in caught.value.advice
    usb.close()
    usb.close()
    assert not phone.is_claimed
    with pytest.raises(LostError, match="was closed"):
        usb.bulk_write(b"x", WITHIN_S)


def test_a_device_unplugged_while_idle_is_absent_at_the_next_connect(
    phone: SimulatedUsbDevice, key: AgentKey, links: UsbLinks
) -> None:
    made = connection(phone, key, links)
    made.connect()
    phone.unplug()
    with pytest.raises(LostError):
        made.run(["true"])
    with pytest.raises(AbsentError):
        made.connect()
    phone.plug_in()
    assert made.run(["echo", "back"]).text == "back\n"
    made.close()


def test_a_read_that_waits_ends_when_the_link_is_closed(
    phone: SimulatedUsbDevice,
) -> None:
    """libusb forbids a close under a transfer, which the simulated handle would note."""
    usb = transport(phone)
    usb.connect(WITHIN_S)
    outcome: list[Any] = []

    def read() -> None:
        with pytest.raises(LostError) as caught:
            usb.bulk_read(24, WITHIN_S)
        outcome.append(caught.value)

    reading = threading.Thread(target=read)
    reading.start()
    until(usb._reading.locked, "it reads")
    began = time.thread_time()
    usb.close()
    reading.join(WITHIN_S)
    assert "was closed" in str(outcome[0])
    assert time.thread_time() - began < SLICE_S
