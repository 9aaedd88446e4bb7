"""Tests of following a device's log: whole lines, each once, however the connection ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey
from paceline.adb.logcat import (
    DEVICE_TIME,
    MAX_EVENTS,
    DeviceLog,
    LogFollower,
    LogLine,
    LogReader,
    event_of,
)
from paceline.adb.port import CommandResult
from paceline.testing.adbd import Peer
from paceline.testing.adbd.logs import Line, read_arguments
from paceline.testing.fake_device import FakeConnection, FakeDevice
from paceline_contract.testing.waiting import WITHIN_S

PREFIX = "11-21 10:00:0{}.000  1234  5678 I "


def logged(second: int, text: str) -> str:
    return f"{PREFIX.format(second)}{text}"


def told(following: LogReader, *chunks: bytes) -> list[str]:
    return [line.message for chunk in chunks for line in following.lines(chunk)]


def test_a_line_cut_by_chunks_is_told_once_it_is_whole() -> None:
    data = f"{logged(1, 'Tag: größer 😀')}\n{logged(2, 'Tag: zwei')}\n".encode()
    following = LogReader()
    assert told(following, *(data[at : at + 1] for at in range(len(data)))) == [
        "größer 😀",
        "zwei",
    ]


def test_what_logcat_itself_says_is_no_line_and_everything_else_is() -> None:
    data = (
        "--------- beginning of main\n--------- switch to crash\n\nlogcat: Unable to open log device\n"
        f"{logged(1, 'Tag: ')}\n{logged(1, 'a::b[c]: x: y')}\nI/brief( 77): short\n"
    )
    lines = list(LogReader().lines(data.encode()))
    assert [(line.origin.tag, line.message) for line in lines] == [
        ("Tag", ""),
        ("a::b[c]", "x: y"),
        ("brief", "short"),
    ]


def test_after_a_loss_the_log_is_asked_for_from_the_last_line_on_and_told_no_line_twice() -> (
    None
):
    following = LogReader("11-21 10:00:00.000")
    assert following.argv[-2:] == ["-T", "11-21 10:00:00.000"]
    item, two, again, three = (
        logged(1, "T: one"),
        logged(2, "T: two"),
        logged(2, "T: two"),
        logged(2, "T: 3"),
    )
    assert told(following, f"{item}\n{two}\n{again}\n{three[:20]}".encode()) == [
        "one",
        "two",
        "two",
    ]
    following.resume_after_loss()
    assert following.argv[-1] == "11-21 10:00:02.000"
    after = f"--------- beginning of main\n{two}\n{again}\n{three}\n{two}\n{logged(3, 'T: four')}\n"
    assert told(following, after.encode()) == ["3", "two", "four"]


def test_lines_out_of_order_are_told_once_as_well() -> None:
    following = LogReader()
    late, early = logged(5, "T: late"), logged(4, "T: early")
    assert told(following, f"{late}\n{early}\n".encode()) == ["late", "early"]
    following.resume_after_loss()
    assert following.argv[-1] == "11-21 10:00:04.000"
    assert told(following, f"{early}\n{late}\n{logged(6, 'T: next')}\n".encode()) == [
        "next"
    ]


def test_a_log_whose_device_tells_no_time_begins_with_its_newest_line() -> None:
    assert LogReader(None).argv[-2:] == ["-T", "1"]
    assert LogReader("date: bad format").argv[-2:] == ["-T", "1"]


@pytest.mark.parametrize(
    ("printed", "since"),
    [
        ("11-21 10:00:00.734912345\n", "11-21 10:00:00.734"),
        ("11-21 10:00:00.%N\n", "11-21 10:00:00.000"),
        ("11-21 10:00:00.\n", "11-21 10:00:00.000"),
    ],
)
def test_a_log_begins_at_the_millisecond_where_the_devices_date_can_print_it(
    printed: str, since: str
) -> None:
    device, heard = FakeDevice(), ReceivedMessages()
    device.answers[DEVICE_TIME] = printed
    device.answers[argv(since)] = f"{logged(1, 'T: one')}\n"
    with LogFollower(device.connection, heard.take, pause_s=0.001):
        assert heard.wait(1) == ["one"]


def test_a_line_of_the_millisecond_before_the_log_is_followed_stays_out_and_one_after_comes_in() -> (
    None
):
    device, heard = FakeDevice(), ReceivedMessages()
    device.answers[DEVICE_TIME] = "11-21 10:00:00.734912345\n"
    lines = [
        Line(f"11-21 10:00:00.{millisecond}", 1, "I", "T", text)
        for millisecond, text in ((733, "before"), (735, "after"))
    ]

    def logcat(arguments: Sequence[str]) -> CommandResult:
        shown = [
            line for line in lines if read_arguments(list(arguments)[1:]).shows(line)
        ]
        return CommandResult(0, "".join(map(str, shown)).encode())

    for since in ("11-21 10:00:00.734", "11-21 10:00:00.000", "11-21 10:00:00.735"):
        device.answers[argv(since)] = logcat
    with LogFollower(device.connection, heard.take, pause_s=0.001):
        heard.wait(1)
    assert heard.messages == ["after"]


def of(text: str) -> LogLine:
    (line,) = LogReader().lines(f"{text}\n".encode())
    return line


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("W ThermalManagerService: Thermal status changed to 3", "thermal"),
        ("I pixel-thermal: VIRTUAL-SKIN: 43.1 severity 2", "thermal"),
        (
            "I lowmemorykiller: Kill 'com.app' (4567), uid 10123, oom_score_adj 900",
            "low_memory",
        ),
        ("I lowmemorykiller: Using psi monitors", None),
        ("D thermal-engine: polling", None),
        ("I ActivityManager: Killing 4567:com.app (adj 900): empty", None),
        ("I MyApp: thermal", None),
    ],
)
def test_events_are_told_from_other_lines(text: str, kind: str | None) -> None:
    event = event_of(of(f"11-21 10:00:01.000   900   900 {text}"))
    assert (None if event is None else event.kind) == kind


def test_events_are_handed_out_once_and_a_chattering_daemon_fills_no_memory() -> None:
    log = DeviceLog()
    log.take(of(logged(1, "ThermalService: hot")))
    assert log.drain() == ["11-21 10:00:01.000 thermal: ThermalService: hot"]
    assert log.drain() == []
    for number in range(MAX_EVENTS + 3):
        log.take(of(logged(1, f"ThermalService: {number}")))
    kept = log.drain()
    assert kept[0] == "3 earlier events were not kept"
    assert kept[-1].endswith(f": {MAX_EVENTS + 2}")
    assert len(kept) == MAX_EVENTS + 1


def argv(since: str) -> tuple[str, ...]:
    return tuple(LogReader(since).argv)


class ReceivedMessages:
    """Messages as they come, and a wait for the n-th."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self._news = threading.Condition()

    def take(self, line: LogLine) -> None:
        with self._news:
            self.messages.append(line.message)
            self._news.notify_all()

    def wait(self, count: int) -> list[str]:
        with self._news:
            assert self._news.wait_for(lambda: len(self.messages) >= count, WITHIN_S), (
                self.messages
            )
            return self.messages[:count]


def test_a_log_that_ends_or_is_lost_is_taken_up_again_by_a_new_connection() -> None:
    device, heard, opened = FakeDevice(), ReceivedMessages(), []
    device.answers[DEVICE_TIME] = "11-21 10:00:00.000\n"
    device.answers[argv("11-21 10:00:00.000")] = (
        f"{logged(1, 'T: one')}\n{logged(1, 'T: two')}\n"
    )
    device.answers[argv("11-21 10:00:01.000")] = (
        f"{logged(1, 'T: one')}\n{logged(1, 'T: two')}\n{logged(2, 'T: three')}\n"
    )
    device.answers[argv("11-21 10:00:02.000")] = refusing_once(
        f"{logged(2, 'T: three')}\n{logged(3, 'T: 4')}\n"
    )

    def connection() -> FakeConnection:
        opened.append(device.connection())
        return opened[-1]

    with LogFollower(connection, heard.take, pause_s=0.001) as follower:
        assert heard.wait(4) == ["one", "two", "three", "4"]
    assert heard.messages == ["one", "two", "three", "4"]
    assert follower.gaps >= 3
    assert len(opened) == len(set(map(id, opened)))
    assert device.calls.count(list(DEVICE_TIME)) == 1


def refusing_once(text: str) -> Callable[[Sequence[str]], CommandResult]:
    answers = [
        CommandResult(1, b"", b"logcat: Unable to open log device\n"),
        CommandResult(0, text.encode()),
    ]
    return lambda _: answers.pop(0) if len(answers) > 1 else answers[0]


def test_a_device_that_is_away_at_first_is_followed_once_it_is_there() -> None:
    device, heard = FakeDevice(), ReceivedMessages()
    device.faults.absent = True
    device.answers[DEVICE_TIME] = "11-21 10:00:00.000\n"
    device.answers[argv("11-21 10:00:00.000")] = f"{logged(1, 'T: one')}\n"
    with LogFollower(device.connection, heard.take, pause_s=0.001):
        device.faults.absent = False
        assert heard.wait(1) == ["one"]


def test_the_log_of_a_peer_is_followed_through_a_cable_pull(tmp_path: Path) -> None:
    key, heard = AgentKey.load_or_create(tmp_path), ReceivedMessages()
    with Peer(tmp_path / "device", serial="SIM0001", trust="any") as peer:

        def connection() -> DirectConnection:
            return DirectConnection(peer.address, key)

        peer.log("Tag", "logged just before it is followed")
        with LogFollower(connection, heard.take, pause_s=0.01) as follower:
            assert follower.wait(WITHIN_S)
            output = PeerLog(peer, heard)
            output.until_heard("before")
            peer.cut()
            output.until_heard("after")
    assert heard.messages == ["before", "after"]
    assert follower.gaps >= 1


class PeerLog:
    """Lines a peer logs until the follower, which may be connecting, has heard one."""

    def __init__(self, peer: Peer, heard: ReceivedMessages) -> None:
        self._peer, self._heard = peer, heard

    def until_heard(self, text: str) -> None:
        count = len(self._heard.messages)
        self._peer.log("Tag", text)
        self._heard.wait(count + 1)
