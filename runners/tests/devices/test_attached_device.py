"""Tests of an attached device: serial and boot id identify it, an address is only a route."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from paceline.adb.port import (
    AbsentError,
    LostError,
    OfflineError,
    Route,
    TransferError,
    UnauthorizedError,
)
from paceline.devices.attached_device import AttachedDevice, state_name
from paceline.devices.errors import RebootedError, WrongDeviceError, cause_of
from paceline.devices.identity import identify
from paceline.devices.leftovers import RunJournal, clean
from paceline.devices.reboots import PER_DAY
from paceline.devices.routes import order_routes, presumed_serial
from paceline.stop import Stop, StopReason
from paceline.testing.fake_device import FakeDevice
from paceline.testing.fake_device_shell import Execution
from paceline_contract.testing.waiting import WITHIN_S

from .support import FakeBackends, attached, phone

TCP = Route("tcp", "10.0.0.7:5555")
USB = Route("server", "127.0.0.1:5037", "PHONE0001")


def test_a_device_that_answers_is_online_with_its_facts(tmp_path: Path) -> None:
    device = attached(phone(), tmp_path)
    assert device.look()
    assert device.link.state == "online"
    facts = device.facts
    assert (facts.abi, facts.api, facts.name(device.serial)) == (
        "arm64-v8a",
        34,
        "Phone 7 · 0001",
    )
    assert facts.factors["cpu_parts"] == "0x41:0xd05 + 0x41:0xd41"
    assert (facts.factors["cpu_threads"], facts.factors["memory_gib"]) == (4, 7)
    assert device.boot_id == facts.boot_id != ""


@pytest.mark.parametrize(
    ("printed", "serial"),
    [
        ("PHONE0001\r\n", "PHONE0001"),
        ("WARNING: linker: libfoo.so has relocations\r\nPHONE0001\r\n", "PHONE0001"),
        ("unknown\n", "BOOT0001"),
        ("Error: the property service does not answer\n", "BOOT0001"),
        ("\n", "BOOT0001"),
    ],
)
def test_a_serial_number_is_a_word_and_neither_a_warning_nor_a_placeholder(
    printed: str, serial: str
) -> None:
    there = phone()
    there.answers["getprop", "ro.serialno"] = printed
    there.props["ro.boot.serialno"] = "BOOT0001"
    assert identify(there.connection()).serial == serial
    there.props["ro.boot.serialno"] = ""
    if serial == "BOOT0001":
        with pytest.raises(OfflineError, match="does not tell its serial number"):
            identify(there.connection())


def test_factors_hold_no_serial_no_address_and_no_clock(tmp_path: Path) -> None:
    device = attached(phone(), tmp_path)
    device.look()
    assert "PHONE0001" not in map(str, device.facts.factors.values())
    assert not any("mhz" in name or "freq" in name for name in device.facts.factors)


def test_the_fingerprint_survives_a_restart_and_a_core_that_is_switched_off(
    tmp_path: Path,
) -> None:
    there = phone()
    device = attached(there, tmp_path)
    device.look()
    before = device.facts.fingerprint
    there.files["/proc/cpuinfo"] = there.files["/proc/cpuinfo"].partition(
        b"processor\t: 2"
    )[0]
    there.reboot()
    assert device.look()
    assert device.facts.boot_id == device.boot_id == there.boot_id
    assert device.facts.fingerprint == before


def test_another_build_is_another_fingerprint(tmp_path: Path) -> None:
    there = phone()
    device = attached(there, tmp_path)
    device.look()
    before = device.facts.fingerprint
    there.props["ro.build.fingerprint"] = "maker/phone/phone:15/B1/2:user/release-keys"
    there.reboot()
    device.look()
    assert device.facts.fingerprint != before


def test_a_device_that_is_away_is_known_by_what_it_was(tmp_path: Path) -> None:
    attached(phone(), tmp_path).look()
    there = phone()
    there.faults.absent = True
    device = attached(there, tmp_path)
    assert not device.look()
    assert device.link.state == "absent"
    assert device.facts.factors["model"] == "Phone 7"


def test_nothing_is_sent_to_another_serial(tmp_path: Path) -> None:
    there = phone()
    device = attached(there, tmp_path)
    connection = device.connection
    connection.run(["true"])
    there.props["ro.serialno"] = "OTHER"
    there.cut()
    with pytest.raises(LostError):
        connection.run(["true"])
    there.calls.clear()
    with pytest.raises(WrongDeviceError) as caught:
        connection.run(["rm", "-rf", "/data/local/tmp/paceline"])
    assert ["rm", "-rf", "/data/local/tmp/paceline"] not in there.calls
    assert cause_of(caught.value) == "device_refused"
    assert device.routes == ()
    assert list(device.displaced_routes.values()) == ["OTHER"]


def test_another_boot_inside_a_job_raises_and_outside_is_noted(tmp_path: Path) -> None:
    there = phone()
    device = attached(there, tmp_path)
    with device.hold() as connection:
        there.reboot()
        with pytest.raises(LostError):
            connection.run(["true"])
        with pytest.raises(RebootedError) as caught:
            connection.run(["true"])
        with pytest.raises(RebootedError):  # it stays so, however often it is asked
            device.verify()
    assert cause_of(caught.value) == "device_rebooted"
    device.restarted = False
    there.reboot()
    assert device.look()
    assert device.restarted


def test_a_boot_id_that_cannot_be_read_is_not_another_one(tmp_path: Path) -> None:
    there = phone()
    device = attached(there, tmp_path)
    with device.hold() as connection:
        there.answers["cat", "/proc/sys/kernel/random/boot_id"] = ""
        there.cut()
        with pytest.raises(LostError):
            connection.run(["true"])
        assert connection.run(["true"]).rc == 0
    assert not device.restarted


def test_a_lost_device_is_regained_in_a_job_by_another_route(tmp_path: Path) -> None:
    there = phone()
    backends = FakeBackends(**{TCP.address: there, USB.name: there})
    device = AttachedDevice(
        there.serial, tmp_path / "s", backends.open, [TCP, USB], locks=tmp_path
    )
    with device.hold():
        assert device.route == USB
        there.cut()
        del backends.at[USB.name]
        assert device.regain(Stop(), patience_s=WITHIN_S)
        assert device.route == TCP
        assert device.connection.run(["true"]).rc == 0


def test_regaining_ends_with_patience_or_with_the_job(tmp_path: Path) -> None:
    there = phone()
    device = attached(there, tmp_path)
    with device.hold():
        there.faults.absent = True
        there.cut()
        assert not device.regain(Stop(), patience_s=0.0)
        assert device.link.state == "absent"
        stop = Stop()
        stop.set(StopReason.CANCELLED)
        assert not device.regain(stop, patience_s=1e9)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda there: setattr(there.faults, "unauthorized", True), UnauthorizedError),
        (lambda there: there.reboot(), RebootedError),
        (lambda there: there.props.update({"ro.serialno": "OTHER"}), WrongDeviceError),
    ],
)
def test_what_waiting_does_not_change_ends_regaining_at_once(
    tmp_path: Path, change: object, error: type[Exception]
) -> None:
    there = phone()
    device = attached(there, tmp_path)
    with device.hold():
        assert callable(change)
        change(there)
        there.cut()
        with pytest.raises(error):
            device.regain(Stop(), patience_s=1e9)


def test_unauthorized_tells_to_unlock_the_phone_and_names_the_key(
    tmp_path: Path,
) -> None:
    there = phone()
    there.faults.unauthorized = True
    device = attached(there, tmp_path)
    assert not device.look()
    words = f"{device.link.reason} {device.link.advice}".lower()
    assert device.link.state == "unauthorized"
    assert "unlock" in words
    assert "accept" in words
    assert "00:00" in words


def test_wireless_debugging_tells_to_pair_through_adb(tmp_path: Path) -> None:
    there = phone()
    there.faults.tls = True
    device = attached(there, tmp_path)
    device.look()
    assert device.link.state == "unauthorized"
    assert "adb pair" in f"{device.link.reason} {device.link.advice}"


def test_of_several_routes_the_reason_a_person_can_act_on_is_told(
    tmp_path: Path,
) -> None:
    asks = phone()
    asks.faults.unauthorized = True
    backends = FakeBackends(**{USB.name: asks})
    device = AttachedDevice(
        asks.serial, tmp_path / "s", backends.open, [TCP, USB], locks=tmp_path
    )
    device.look()
    assert device.link.state == "unauthorized"


def test_a_device_that_has_not_finished_starting_is_booting(tmp_path: Path) -> None:
    there = phone()
    there.props["sys.boot_completed"] = "0"
    device = attached(there, tmp_path)
    assert not device.look()
    assert device.link.state == "booting"
    there.props["sys.boot_completed"] = "1"
    assert device.look()


def test_a_third_restart_in_a_day_is_refused_and_not_asked_for(tmp_path: Path) -> None:
    there = phone()
    device = attached(there, tmp_path)
    for _ in range(PER_DAY):
        device.reboot("a test")
        assert device.link.state == "booting"
        assert device.look()
    with pytest.raises(OfflineError, match="twice"):
        device.reboot("a test")
    assert there.calls.count(["reboot"]) == PER_DAY


def test_one_device_has_one_user_on_this_host(tmp_path: Path) -> None:
    here, hand = attached(phone(), tmp_path), attached(phone(), tmp_path)
    with here.claim(Stop()) as mine, hand.claim(Stop(), timeout_s=0.0) as theirs:
        assert (mine, theirs) == (True, False)
    with hand.claim(Stop(), timeout_s=0.0) as theirs:
        assert theirs


def test_a_claim_is_waited_for_and_given_up_when_stopped(tmp_path: Path) -> None:
    here, hand = attached(phone(), tmp_path), attached(phone(), tmp_path)
    stop, given = Stop(), []

    def wait() -> None:
        with hand.claim(stop) as claimed:
            given.append(claimed)

    with here.claim(Stop()):
        thread = threading.Thread(target=wait)
        thread.start()
        stop.set(StopReason.SHUTDOWN)
        thread.join(WITHIN_S)
    assert given == [False]


def test_routes_by_an_adb_server_come_first_and_each_once() -> None:
    assert order_routes([TCP, USB, TCP]) == (USB, TCP)


@pytest.mark.parametrize(
    ("name", "serial"),
    [
        ("R58M12ABCDE", "R58M12ABCDE"),
        ("adb-39061FDJH005AB-a1B2c3._adb-tls-connect._tcp.", "39061FDJH005AB"),
        ("192.168.1.20:5555", None),
        ("emulator-5554", None),
        ("????????????", None),
    ],
)
def test_a_name_of_an_adb_server_presumes_a_serial_only_where_it_is_one(
    name: str, serial: str | None
) -> None:
    assert presumed_serial(Route("server", "127.0.0.1:5037", name)) == serial
    assert presumed_serial(Route("tcp", name)) is None


def test_causes_of_transfers_tell_a_full_device_from_a_refusal() -> None:
    assert cause_of(TransferError("full", no_space=True)) == "device_storage_full"
    assert cause_of(TransferError("no")) == "device_refused"
    assert cause_of(AbsentError("gone")) == "device_lost"
    assert cause_of(UnauthorizedError("prompt")) == "device_unauthorized"


def test_a_serial_names_a_directory_and_no_path() -> None:
    assert state_name("../../etc") == "_.._etc"
    assert state_name("..") == "_"
    assert "/" not in state_name("a/b c")


@pytest.mark.parametrize(
    ("simulated", "given", "used"),
    [
        (True, "/peer/tmp/paceline", "/peer/tmp/paceline"),
        (True, "/peer/tmp/paceline/", "/peer/tmp/paceline"),
        (
            False,
            "/peer/tmp/paceline",
            None,
        ),  # what is at it is removed: a phone's word is not enough
        (True, "/peer/tmp", None),
        (True, "/peer/tmp/paceline/DCIM", None),
        (True, "/peer/tmp/../tmp/paceline", None),
        (True, "peer/tmp/paceline", None),
        (True, "/sdcard/paceline", None),  # no simulated device marked that place
        (True, "", None),
    ],
)
def test_only_a_simulated_device_names_another_workdir_and_only_where_it_marked_one(
    tmp_path: Path, simulated: bool, given: str, used: str | None
) -> None:
    there = phone()
    there.files["/peer/tmp/.paceline-simulated"] = b""
    there.props["debug.paceline.workdir"] = given
    routes, backends = [Route("tcp", "home")], FakeBackends(home=there)
    device = AttachedDevice(
        there.serial,
        tmp_path / "s",
        backends.open,
        routes,
        simulated=simulated,
        locks=tmp_path,
    )
    assert device.look()
    assert device.workdir == (used or "/data/local/tmp/paceline")


@pytest.mark.parametrize(
    ("route", "listens", "survives"),
    [
        (USB, "", True),
        (Route("server", "s", "emulator-5554"), "", True),
        (TCP, "", False),
        (TCP, "5555", True),
        (TCP, "-1", False),
        (Route("server", "s", "10.0.0.7:5555"), "", False),
        (
            Route("server", "s", "adb-PHONE0001-a1B2c3._adb-tls-connect._tcp."),
            "",
            False,
        ),
    ],
)
def test_what_a_restart_leaves_reachable(
    tmp_path: Path, route: Route, listens: str, survives: bool
) -> None:
    there = phone()
    there.props["persist.adb.tcp.port"] = listens
    backends = FakeBackends(**{route.name or route.address: there})
    device = AttachedDevice(
        there.serial, tmp_path / "s", backends.open, [route], locks=tmp_path
    )
    assert device.look()
    assert device.survives_restart == survives


class LostTwice(FakeDevice):
    """A device that is lost a second time, while its facts are read."""

    lose = False

    def execute(self, argv: Sequence[str]) -> Execution:
        if self.lose and argv[0] == "uname":
            self.lose = False
            self.cut()
        return super().execute(argv)


def test_regaining_goes_on_when_the_device_is_lost_again_while_it_is_read(
    tmp_path: Path,
) -> None:
    there = phone(kind=LostTwice)
    assert isinstance(there, LostTwice)
    there.answers["cat", "/proc/sys/kernel/random/boot_id"] = ""
    device = attached(there, tmp_path)
    with device.hold():  # by name alone: its facts are not read yet
        there.cut()
        there.lose = True
        assert device.regain(Stop(), patience_s=WITHIN_S)
    assert not there.lose


def test_a_stranger_at_the_only_route_is_named_for_as_long_as_nothing_else_is_known(
    tmp_path: Path,
) -> None:
    there = phone()
    device = attached(there, tmp_path)
    assert device.look()
    there.props["ro.serialno"] = "OTHER"
    for _ in range(3):
        assert not device.look()
        assert (device.link.state, device.routes) == ("absent", ())
        assert "Another device (OTHER) answers at home" in (device.link.reason or "")
    there.props["ro.serialno"] = there.serial
    device.add_route(Route("tcp", "home"))
    assert device.look()


def test_attached_of_needs_no_discovery(tmp_path: Path) -> None:
    there = FakeDevice("SER9")
    device = AttachedDevice.of(there.connection, "SER9", tmp_path)
    with device.hold() as connection:
        assert connection.run(["echo", "a b"]).text == "a b\n"


def test_a_device_by_address_of_an_adb_server_is_asked_who_it_is_before_anything_is_removed(
    tmp_path: Path,
) -> None:
    there = phone()
    route = Route("server", "127.0.0.1:5037", TCP.address)
    backends = FakeBackends(**{TCP.address: there})
    device = AttachedDevice(
        there.serial, tmp_path / "s", backends.open, [route], locks=tmp_path
    )
    assert device.look()
    there.props["ro.serialno"] = (
        "OTHER"  # the server reconnected, and keeps the transport's id
    )
    asked = len(there.calls)
    with pytest.raises(WrongDeviceError):
        clean(device.connection, RunJournal(tmp_path, there.serial), device.workdir)
    assert {call[0] for call in there.calls[asked:]} <= {"getprop", "cat"}
