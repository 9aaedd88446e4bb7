"""Tests of a device job through lost connections: it continues only on the same serial in the same boot."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import psutil
import pytest
from paceline.adb.port import Connection, TransferError
from paceline.devices import leftovers
from paceline.devices.leftovers import RunJournal
from paceline.devices.reconnecting import ReconnectingDevice, SessionTimeouts
from paceline.executors import detached
from paceline.executors.base import SessionWork, TargetError
from paceline.stop import Stop, StopReason
from paceline_contract.testing.waiting import WITHIN_S

from .phone import Phone
from .phone_jobs import (
    HALF,
    IMPATIENT,
    ROUNDS,
    Half,
    build,
    launch,
    let_workload_continue,
    measured,
    on_device,
    recorded,
    wait_until,
)


class LaunchClock:
    """The agent's clock of a launch, which a test puts forward instead of waiting."""

    def __init__(self) -> None:
        self._ahead_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self._ahead_s

    def put_forward_past(self, limit_s: float) -> None:
        self._ahead_s += limit_s + 1.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> LaunchClock:
    clock = LaunchClock()
    monkeypatch.setattr(detached, "time", clock)
    return clock


def process_of(device: Phone, name: str) -> psutil.Process:
    """The process with the pid in the file, as this host sees it."""
    wanted = recorded(device, name).read_text().strip()
    processes = [
        pid for pid in device.peer.processes() if _pid_on_device(pid) == wanted
    ]
    return psutil.Process(processes[0])


def _pid_on_device(pid: int) -> str:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it ended
        return ""
    return next(
        line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:")
    )


def let_begin_before(device: Phone, earlier_s: float) -> None:
    """Change when the launch began, by the device's clock; who follows it anew reads that."""
    began, new = recorded(device, "began"), recorded(device, "began.new")
    new.write_text(f"{float(began.read_text()) - earlier_s:.2f}\n")
    new.replace(began)


@pytest.fixture
def built_workload(tmp_path: Path) -> Path:
    return build(tmp_path / "built")


def test_a_benchmark_survives_a_cable_pull_and_no_sample_is_lost_or_doubled(
    device: Phone, built_workload: Path
) -> None:
    def pull_and_put_back() -> None:
        device.peer.leave()
        let_workload_continue(device)
        wait_until(
            on_device(device, "said").exists
        )  # it went on, and ended, with nobody there
        device.peer.come_back()

    sink = Half(pull_and_put_back)
    outcome = measured(device, built_workload, sink)
    assert outcome.ok, outcome.detail
    assert sink.rounds == list(range(ROUNDS))


def test_what_ended_while_its_device_was_away_did_not_hang(
    device: Phone, built_workload: Path, clock: LaunchClock
) -> None:
    def pull_until_its_time_is_over() -> None:
        device.peer.leave()
        let_workload_continue(device)
        wait_until(recorded(device, "end").exists)
        clock.put_forward_past(WITHIN_S)
        device.peer.come_back()

    outcome = measured(
        device, built_workload, Half(pull_until_its_time_is_over), timeout_s=WITHIN_S
    )
    assert outcome.ok, outcome.detail


def test_an_end_that_is_recorded_after_the_time_limit_was_no_hang(
    device: Phone, built_workload: Path, clock: LaunchClock
) -> None:
    """The watcher kills after the deadline, however late it is, but only a launch that still runs. Its time is over by
    the agent's clock and by the device's, which the follower reads when it begins."""

    def end_while_its_watcher_sleeps() -> None:
        watcher, ended = process_of(device, "watcher"), process_of(device, "pid")
        watcher.suspend()
        let_workload_continue(device)
        wait_until(lambda: ended.status() == psutil.STATUS_ZOMBIE)
        clock.put_forward_past(WITHIN_S)
        let_begin_before(device, WITHIN_S + 1.0)
        device.peer.cut()
        threading.Timer(0.2, watcher.resume).start()

    outcome = measured(
        device, built_workload, Half(end_while_its_watcher_sleeps), timeout_s=WITHIN_S
    )
    assert outcome.ok, outcome.detail


def test_a_launch_that_still_runs_after_its_time_limit_hangs(
    device: Phone, built_workload: Path, clock: LaunchClock
) -> None:
    """Proves that the clocks of the two tests above tell that the time is over."""

    def let_time_go_by() -> None:
        clock.put_forward_past(WITHIN_S)
        let_begin_before(device, WITHIN_S + 1.0)
        device.peer.cut()

    outcome = measured(device, built_workload, Half(let_time_go_by), timeout_s=WITHIN_S)
    assert outcome.cause == "workload_hung", outcome.detail


def test_a_watcher_that_never_records_the_end_is_the_devices_failure(
    device: Phone, built_workload: Path
) -> None:
    (built_workload / "foot").write_bytes(
        b""
    )  # it never says done: only its status would tell

    def end_while_its_watcher_hangs() -> None:
        process_of(device, "watcher").suspend()
        let_workload_continue(device)

    pace = SessionTimeouts(
        patience_s=WITHIN_S, farewell_s=WITHIN_S, look_s=0.03, silence_s=0.5
    )
    outcome = measured(
        device, built_workload, Half(end_while_its_watcher_hangs), pace=pace
    )
    assert outcome.cause == "device_lost", outcome.detail
    assert "not recorded" in outcome.detail


@pytest.mark.parametrize("says_done", [True, False])
def test_a_killed_watcher_is_never_the_benchmarks_crash(
    device: Phone, built_workload: Path, *, says_done: bool
) -> None:
    if not says_done:
        (built_workload / "foot").write_bytes(b"")

    def kill_and_go() -> None:
        watcher, workload = process_of(device, "watcher"), process_of(device, "pid")
        watcher.suspend()
        let_workload_continue(device)
        wait_until(lambda: workload.status() == psutil.STATUS_ZOMBIE)
        watcher.kill()

    sink = Half(kill_and_go)
    outcome = measured(device, built_workload, sink)
    assert sink.rounds == list(range(ROUNDS))
    assert outcome.cause == (None if says_done else "device_lost"), outcome.detail


def test_a_run_that_vanishes_from_the_device_is_the_devices_failure(
    device: Phone, built_workload: Path
) -> None:
    stop = Stop()
    with device.executor().session(
        SessionWork("job:1-1", [built_workload]), lambda _: None, stop
    ) as session:
        spec = launch(session, built_workload)
        shutil.rmtree(device.outside(session.location(built_workload)))
        outcome = session.execute(spec, Half(lambda: None), stop)
    assert outcome.cause == "device_lost", outcome.detail
    assert "is not on the device any more" in outcome.detail


def test_a_cable_that_is_cut_again_and_again_costs_no_byte(
    device: Phone, built_workload: Path
) -> None:
    at_once = (
        (built_workload / "workload.sh").read_text().replace(f"-eq {HALF}", "-eq -1")
    )
    (built_workload / "workload.sh").write_text(
        at_once.replace(f"-lt {ROUNDS}", "-lt 11000")
    )
    sink, stop = Half(lambda: None), Stop()
    with device.executor().session(
        SessionWork("job:1-1", [built_workload]), lambda _: None, stop
    ) as session:
        device.peer.faults.drop_after_bytes = (
            330_000  # a quarter of what it says, and more than one packet
        )
        try:
            outcome = session.execute(launch(session, built_workload), sink, stop)
        finally:
            device.peer.faults.drop_after_bytes = None
    assert outcome.ok, outcome.detail
    assert sink.rounds == list(range(11000))


def test_a_device_that_does_not_come_back_is_lost_and_cleaned_when_it_is_seen_again(
    device: Phone, built_workload: Path
) -> None:
    sink = Half(device.peer.leave)
    outcome = measured(device, built_workload, sink, pace=IMPATIENT)
    assert outcome.cause == "device_lost", outcome.detail
    assert len(sink.rounds) == HALF
    assert any("process" in item for item in device.left())
    device.peer.come_back()
    again = device.attached()
    cleaned = leftovers.clean(
        again.connection, RunJournal(device.state, again.serial), again.workdir
    )
    assert cleaned.processes >= 2
    assert cleaned.settings == ["fixed_performance_mode"]
    assert not RunJournal(device.state, again.serial).notes


def test_a_stop_ends_the_wait_for_a_device_that_is_away(
    device: Phone, built_workload: Path
) -> None:
    stop = Stop()

    def leave_and_cancel() -> None:
        device.peer.leave()
        threading.Timer(0.1, stop.set, [StopReason.CANCELLED]).start()
        threading.Timer(0.3, device.peer.come_back).start()

    outcome = measured(device, built_workload, Half(leave_and_cancel), stop)
    assert outcome.cause == "cancelled", outcome.detail


def test_another_boot_voids_what_was_measured_and_the_new_one_is_cleaned(
    device: Phone, built_workload: Path
) -> None:
    sink = Half(device.peer.reboot)
    outcome = measured(device, built_workload, sink)
    assert outcome.cause == "device_rebooted", outcome.detail
    assert "restarted" in outcome.detail


@pytest.mark.parametrize("restarts", [True, False])
def test_what_a_restarting_device_refuses_is_its_restart(
    device: Phone, restarts: bool
) -> None:
    """Processes are killed before the connection ends, so for a moment the device seems to refuse."""

    def refuses(_: Connection) -> None:
        if restarts:
            device.peer.reboot()
        raise TransferError("It did not start (137).")

    attached = device.attached()
    with attached.hold(), pytest.raises(TargetError) as ended:
        ReconnectingDevice(attached, Stop(), SessionTimeouts()).ask(refuses)
    assert ended.value.cause == ("device_rebooted" if restarts else "device_refused")


def test_another_serial_at_the_route_ends_the_job_and_is_told_nothing(
    device: Phone, built_workload: Path
) -> None:
    output: list[int] = []

    def swap() -> None:
        device.peer.faults.other_serial = "STRANGER"
        output.append(len(device.peer.calls))
        device.peer.cut()

    outcome = measured(device, built_workload, Half(swap), pace=IMPATIENT)
    assert outcome.cause == "device_refused", outcome.detail
    assert "STRANGER" in outcome.detail
    asked = {call[0] for call in device.peer.calls[output[0] :]}
    assert asked <= {"getprop"}, "nothing but who it is"
    assert device.left(), "it is not ours to clean"
    device.peer.faults.other_serial = None
    again = device.attached()
    assert leftovers.clean(
        again.connection, RunJournal(device.state, again.serial), again.workdir
    )
