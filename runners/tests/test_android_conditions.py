"""Tests of the conditions of a device job: read before, between and after launches, never during one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from paceline.adb.port import CommandResult, Connection
from paceline.executors.android import AndroidSession
from paceline.executors.base import Calibration, SessionWork
from paceline.executors.job_conditions import WINDOW
from paceline.stop import Stop
from paceline_contract.events import AnyEvent, CaseEvent
from paceline_contract.items import Conditions

from .phone import Phone, Through
from .phone_jobs import (
    ROUNDS,
    Half,
    build,
    launch,
    let_workload_continue,
    recorded,
    wait_until,
)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return build(tmp_path / "built")


def test_conditions_are_read_before_and_after_and_after_each_launch_and_never_in_one(
    device: Phone, built: Path
) -> None:
    seen: list[Conditions] = []
    ran: list[Sequence[str]] = []
    asked: list[int] = []

    class Counting(Half):
        def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
            super().event(event, case)
            asked.append(len(ran))

    stop = Stop()
    device.wrap = lambda inner: Through(inner, ran=ran.append)
    with device.executor().session(
        SessionWork("j", [built]), seen.append, stop
    ) as session:
        for number in range(3):
            asked.clear()
            assert session.execute(
                launch(session, built, number),
                Counting(lambda: let_workload_continue(device)),
                stop,
            ).ok
            assert len(set(asked)) == 1, (
                "the device was asked for nothing at all while the launch ran"
            )
    assert [item.phase for item in seen] == [
        "before",
        "during",
        "during",
        "during",
        "after",
    ]
    assert [item.at_ms for item in seen] == sorted(item.at_ms for item in seen)
    assert all(item.raw for item in seen)


def test_the_log_is_followed_off_the_launches_cores_before_the_first_of_them(
    device: Phone, built: Path
) -> None:
    ran: list[Sequence[str]] = []
    stop = Stop()
    device.wrap = lambda inner: Through(inner, ran=ran.append)
    with device.executor().session(
        SessionWork("j", [built]), lambda _: None, stop
    ) as session:
        assert session.execute(
            launch(session, built), Half(lambda: let_workload_continue(device)), stop
        ).ok
    (followed,) = [number for number, argv in enumerate(ran) if "logcat" in argv]
    (started,) = [number for number, argv in enumerate(ran) if "start" in argv]
    assert followed < started
    assert list(ran[followed][:2]) == ["taskset", "f"]


def test_a_log_that_is_lost_in_a_launch_is_taken_up_again_after_it_and_the_gap_is_said(
    device: Phone, built: Path
) -> None:
    seen: list[Conditions] = []
    ran: list[Sequence[str]] = []
    logs: list[int] = []

    def begun() -> int:
        return sum("logcat" in argv for argv in ran)

    def cut_and_go_on() -> None:
        device.peer.cut()
        let_workload_continue(device)
        wait_until(recorded(device, "end").exists)

    class Watching(Half):
        def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
            super().event(event, case)
            logs.append(begun())

    stop, sink = Stop(), Watching(cut_and_go_on)
    device.wrap = lambda inner: Through(inner, ran=ran.append)
    with device.executor().session(
        SessionWork("j", [built]), seen.append, stop
    ) as session:
        assert session.execute(launch(session, built), sink, stop).ok
        assert sink.rounds == list(range(ROUNDS))
        assert set(logs) == {1}, (
            "nothing but the launch itself was taken up again in it"
        )
        wait_until(lambda: begun() == 2)
    assert seen[-1].values["log_gaps"] == 1


def test_what_the_devices_log_tells_stands_in_the_conditions_that_follow(
    device: Phone, built: Path
) -> None:
    seen: list[Conditions] = []

    def throttle() -> None:
        assert isinstance(session, AndroidSession)
        followed = session.device_log
        lines = followed.lines
        device.peer.log("android.hardware.thermal", "throttling SKIN to 3", level="W")
        wait_until(lambda: followed.lines > lines)
        let_workload_continue(device)

    stop = Stop()
    with device.executor().session(
        SessionWork("j", [built]), seen.append, stop
    ) as session:
        for number in range(2):
            assert session.execute(
                launch(session, built, number), Half(throttle), stop
            ).ok
    events = [event for item in seen[1:] for event in item.values.get("events", [])]  # type: ignore[union-attr]
    assert any("throttling SKIN to 3" in str(event) for event in events), events


class Pressed(Through):
    """Answers of a kernel whose counters say that tasks waited for `share` of each launch's time."""

    def __init__(self, inner: Connection, share: float) -> None:
        super().__init__(inner)
        self._share, self._windows = share, 0

    def run(self, argv: Sequence[str], timeout_s: float = 30.0) -> CommandResult:
        if tuple(argv) != WINDOW:
            return super().run(argv, timeout_s)
        at_s = 1000.0 + 10.0 * self._windows
        waited_us = int(self._windows * 10.0 * self._share * 1e6)
        self._windows += 1
        lines = [f"/proc/uptime:{at_s:.2f} 1.00"]
        for name in ("cpu", "memory", "io"):
            lines += [
                f"/proc/pressure/{name}:some avg10=0.00 avg60=0.00 avg300=0.00 total={waited_us}"
            ]
        return CommandResult(0, "\n".join(lines).encode())


def test_a_single_launch_has_the_pressure_of_its_own_time_and_nobody_elses(
    device: Phone, built: Path
) -> None:
    seen: list[Conditions] = []
    stop = Stop()
    device.wrap = lambda inner: Pressed(inner, 0.25)
    with device.executor().session(
        SessionWork("j", [built]), seen.append, stop
    ) as session:
        assert session.execute(
            launch(session, built), Half(lambda: let_workload_continue(device)), stop
        ).ok
    shares = [item.values.get("psi_cpu_percent") for item in seen]
    assert shares == [None, 25.0, None], "before, of the launch, after"
    assert [item.values.get("psi_memory_percent") for item in seen] == [
        None,
        25.0,
        None,
    ]


@pytest.mark.parametrize("able", [True, False])
def test_how_quick_the_cpu_is_is_read_before_and_after_on_the_launches_cores(
    device: Phone, built: Path, *, able: bool
) -> None:
    (built / "calibrate.sh").write_text(
        'echo "{\\"calibration_ns\\": $((1000 + $(cat $1)))}"\n'
    )
    seen: list[Conditions] = []
    ran: list[Sequence[str]] = []
    argv = ["sh", "{artifacts}/calibrate.sh", "{artifacts}/tick"]
    (built / "tick").write_text("0\n")
    stop, work = (
        Stop(),
        SessionWork("j", [built], Calibration(built, argv) if able else None),
    )
    device.wrap = lambda inner: Through(inner, ran=ran.append)
    with device.executor().session(work, seen.append, stop) as session:
        assert session.execute(
            launch(session, built), Half(lambda: let_workload_continue(device)), stop
        ).ok
        (device.outside(session.location(built)) / "tick").write_text("60\n")
    told = [item.values.get("calibration_ns") for item in seen]
    assert told == ([1000, None, 1060] if able else [None, None, None])
    unknown = [item.values["unknown"] for item in (seen[0], seen[-1])]
    assert all(
        ("calibration_ns" in item) != able for item in unknown if isinstance(item, list)
    )
    pinned = [
        list(argv[:2]) for argv in ran if any("calibrate.sh" in word for word in argv)
    ]
    assert pinned == ([["taskset", "c0"]] * 2 if able else [])
