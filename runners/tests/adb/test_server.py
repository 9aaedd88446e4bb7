"""Tests of the adb-server backend: its lists, its refusals, and other programs that listen there."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paceline.adb.port import (
    AbsentError,
    AdbError,
    LostError,
    OfflineError,
    RefusedError,
    SlowError,
    UnauthorizedError,
)
from paceline.adb.server import AdbServer
from paceline.adb.smart_socket import (
    ListedDevice,
    failure_error,
    parse_devices,
    state_error,
)
from paceline.devices.backends import AdbBackends
from paceline.testing.adbd import Peer
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S, give_enough_time

from .rigs import saying, until

LISTED = """\
R5CT90ABCDE            device usb:1-4 product:a52q model:SM_A525F device:a52q transport_id:7
127.0.0.1:5555         offline transport_id:3
emulator-5554          unauthorized transport_id:4
0123456789ABCDEF       no permissions (missing udev rules? user is in plugdev); see [x] usb:1-2
adb-R5CT-Ab12 (2)._adb-tls-connect._tcp device product:x model:Pixel_9 device:tok transport_id:12
ZY22                   recovery usb:1-3 product:p model:m device:d transport_id:9

"""


def test_a_list_of_devices_is_read_with_every_state_and_name() -> None:
    result = parse_devices(LISTED)
    assert [(each.name, each.state.split(" (")[0]) for each in result] == [
        ("R5CT90ABCDE", "device"),
        ("127.0.0.1:5555", "offline"),
        ("emulator-5554", "unauthorized"),
        ("0123456789ABCDEF", "no permissions"),
        ("adb-R5CT-Ab12 (2)._adb-tls-connect._tcp", "device"),
        ("ZY22", "recovery"),
    ]
    assert result[0].props["model"] == "SM_A525F"
    assert result[4].props["transport_id"] == "12"


@pytest.mark.parametrize(
    ("line", "name", "state", "props"),
    [
        (
            "AAAA device 3-1 product:manet model:M1 transport_id:2",
            "AAAA",
            "device",
            {"product": "manet", "model": "M1", "transport_id": "2"},
        ),
        ("AAAA  offline  1-1.4.2", "AAAA", "offline", {}),
        ("AAAA device <new> usb:1-2 speed=480", "AAAA", "device", {"usb": "1-2"}),
        ("AAAA\tdevice\t", "AAAA", "device", {}),
        ("AAAA hibernating usb:1-2", "AAAA", "hibernating", {"usb": "1-2"}),
        ("AAAA device2 transport_id:9", "AAAA", "device2", {"transport_id": "9"}),
        ("AAAA", "(AAAA)", "not understood", {}),
        ("*", "(*)", "not understood", {}),
    ],
)
def test_no_line_of_a_list_disappears(
    line: str, name: str, state: str, props: dict[str, str]
) -> None:
    others = "BBBB device usb:1-9\n"
    listed = parse_devices(others + line + "\r\n" + others)
    assert [each.name for each in listed] == ["BBBB", name, "BBBB"]
    assert (listed[1].state, dict(listed[1].props)) == (state, props)
    refusal = state_error(state, name, "here")
    assert (refusal is None) == (state == "device")
    assert refusal is None or name in refusal.text


@given(st.text())
def test_any_text_is_a_list_with_a_device_for_every_line(text: str) -> None:
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(parse_devices(text)) == len(lines)


def test_no_devices_is_an_empty_list() -> None:
    assert parse_devices("") == []
    assert parse_devices("\n") == []


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ("unauthorized", UnauthorizedError),
        ("authorizing", UnauthorizedError),
        ("offline", OfflineError),
        ("connecting", OfflineError),
        ("recovery", OfflineError),
        ("sideload", OfflineError),
        ("no permissions (x)", OfflineError),
    ],
)
def test_each_state_that_is_no_device_has_an_error_with_advice(
    state: str, error: type[AdbError]
) -> None:
    result = state_error(state, "SER", "host:5037")
    assert type(result) is error
    assert result.advice


def test_a_device_that_is_one_is_not_refused() -> None:
    assert state_error("device", "SER", "host:5037") is None


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("device 'SER' not found", AbsentError),
        ("no device with transport id '9'", AbsentError),
        ("device offline", OfflineError),
        (
            "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set",
            UnauthorizedError,
        ),
        ("device still authorizing", UnauthorizedError),
        ("device still connecting", OfflineError),
        ("insufficient permissions for device: verify udev rules.", OfflineError),
        ("closed", RefusedError),
        ("unknown host service", RefusedError),
    ],
)
def test_each_failure_of_the_server_has_an_error(
    reason: str, error: type[AdbError]
) -> None:
    assert type(failure_error(reason, "SER", "host:5037")) is error


@pytest.mark.parametrize(
    "said",
    [b"", b"OK", b"OKAY", b"OKAY00", b"OKAY0009abc", b"HTTP/1.1 200", b"OKAYzzzz"],
)
def test_what_is_no_adb_server_is_said_to_be_none(said: bytes) -> None:
    with saying(said) as address, pytest.raises(LostError):
        AdbServer(address).devices()


def test_a_server_that_says_nothing_is_slow() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(SlowError, match="adb server"),
    ):
        AdbServer(f"127.0.0.1:{silent.getsockname()[1]}").version(timeout_s=0.05)


def test_a_device_that_says_nothing_is_named_and_not_the_adb_server() -> None:
    """The server's OKAY to the transport is its last word of its own; what follows, or does not, is the
    device's."""
    listed = b"SER1\tdevice product:p model:m transport_id:1\n"

    def error_text(limit_s: float) -> str | None:
        """What is said, if the limit was long enough for the server's last word."""
        with (
            socket.create_server(("127.0.0.1", 0)) as listener,
            ThreadPoolExecutor(1) as pool,
        ):
            held: list[socket.socket] = []

            def serve() -> None:
                answers = (b"OKAY%04x%s" % (len(listed), listed), b"OKAY0000", b"OKAY")
                for answer in answers:
                    held.append(listener.accept()[0])
                    held[-1].recv(4096)
                    held[-1].sendall(answer)

            served = pool.submit(serve)
            server = AdbServer(f"127.0.0.1:{listener.getsockname()[1]}")
            connection = server.connection("SER1")
            connection.connect(WITHIN_S)
            with pytest.raises(SlowError) as caught:
                connection.run(["true"], timeout_s=limit_s)
            served.result(WITHIN_S)
            for other in held:
                other.close()
        whole = caught.value.text.replace(server.address, "ADDRESS")
        return whole if whole.startswith("the device") else None

    assert give_enough_time(error_text, first_s=0.3).startswith(
        "the device SER1 at the adb server ADDRESS does not answer"
    )


def test_no_server_is_absent_with_the_command_that_starts_one() -> None:
    with reserved_port() as port, pytest.raises(AbsentError) as caught:
        AdbServer(f"127.0.0.1:{port}").devices()
    assert "adb start-server" in caught.value.advice


def test_googles_server_lists_a_device_whose_prompt_waits_and_we_say_so(
    adb_server: AdbServer, tmp_path: Path
) -> None:
    with Peer(tmp_path, serial="SIMASKS2", trust=set()) as peer:
        adb_server.connect_to(peer.address)
        until(
            lambda: state_of(adb_server, peer) == "unauthorized", "the server lists it"
        )
        with pytest.raises(UnauthorizedError) as caught:
            adb_server.connection(peer.address).connect()
        assert "accept its prompt" in caught.value.advice

        def accepted() -> bool:
            peer.answer_prompt(True)
            return state_of(adb_server, peer) == "device"

        until(accepted, "its prompt was accepted")
        connection = adb_server.connection(peer.address)
        assert connection.connect().props["model"]
        adb_server.disconnect_from(peer.address)
        with pytest.raises(
            LostError
        ):  # the transport it held is gone; whatever comes next is another
            connection.run(["true"])
        with pytest.raises(AbsentError):
            connection.run(["true"])


def test_googles_server_takes_a_device_up_anew_and_is_told_the_address_of_one_it_forgot(
    adb_server: AdbServer, tmp_path: Path
) -> None:
    with Peer(tmp_path / "peer", serial="SIMANEW1") as peer:
        adb_server.connect_to(peer.address)
        until(lambda: state_of(adb_server, peer) == "device", "the server lists it")
        backends = AdbBackends(adb_server.address, tmp_path / "key")
        route = backends.route_to(peer.address)
        with adb_server.connection(peer.address).stream(["sleep", "600"]):
            until(peer.processes, "something runs over the connection that stands")
            backends.reconnect(route)
            until(lambda: not peer.processes(), "that connection was dropped")
        until(lambda: state_of(adb_server, peer) == "device", "it was taken up anew")
        assert (
            adb_server.connection(peer.address).run(["echo", "there"]).text == "there\n"
        )
        adb_server.disconnect_from(peer.address)
        assert state_of(adb_server, peer) == "absent"
        backends.reconnect(route)
        until(lambda: state_of(adb_server, peer) == "device", "it was told the address")
        adb_server.disconnect_from(peer.address)


def test_googles_server_says_its_version_and_forgets_what_it_never_knew(
    adb_server: AdbServer,
) -> None:
    assert adb_server.version() >= 40
    adb_server.disconnect_from("127.0.0.1:1")
    assert [each for each in adb_server.devices() if each.name == "127.0.0.1:1"] == []


def state_of(server: AdbServer, peer: Peer) -> str:
    unknown = ListedDevice(peer.address, "absent", {})
    return next(
        (each for each in server.devices() if each.name == peer.address), unknown
    ).state
