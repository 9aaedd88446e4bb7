"""A job on a device through a lost cable: bridged to the same boot of the same serial and nothing else."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from paceline.devices import leftovers
from paceline.devices.leftovers import Journal
from paceline.executors.base import Work
from paceline.stop import Reason, Stop

from .phone import Phone
from .phone_jobs import HALF, IMPATIENT, ROUNDS, Half, build, go, launch, measured, on_device, wait_until


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return build(tmp_path / "built")


def test_a_benchmark_survives_a_cable_pull_and_no_sample_is_lost_or_doubled(
    device: Phone, built: Path
) -> None:
    def pull_and_put_back() -> None:
        device.peer.leave()
        go(device)
        wait_until(on_device(device, "said").exists)  # it went on, and ended, with nobody there
        device.peer.come_back()

    sink = Half(pull_and_put_back)
    outcome = measured(device, built, sink)
    assert outcome.ok, outcome.detail
    assert sink.rounds == list(range(ROUNDS))


def test_what_ended_while_its_device_was_away_did_not_hang(device: Phone, built: Path) -> None:
    def pull_until_its_time_is_over() -> None:
        device.peer.leave()
        go(device)
        began = time.monotonic()
        wait_until(lambda: on_device(device, "said").exists() and time.monotonic() > began + 1)
        device.peer.come_back()

    outcome = measured(device, built, Half(pull_until_its_time_is_over), timeout_s=1)
    assert outcome.ok, outcome.detail


def test_a_cable_that_is_cut_again_and_again_costs_no_byte(device: Phone, built: Path) -> None:
    at_once = (built / "workload.sh").read_text().replace(f"-eq {HALF}", "-eq -1")
    (built / "workload.sh").write_text(at_once.replace(f"-lt {ROUNDS}", "-lt 4000"))
    sink, stop = Half(lambda: None), Stop()
    with device.executor().session(Work("job:1-1", [built]), lambda _: None, stop) as session:
        device.peer.faults.drop_after_bytes = 120_000  # a quarter of what it says
        try:
            outcome = session.execute(launch(session, built), sink, stop)
        finally:
            device.peer.faults.drop_after_bytes = None
    assert outcome.ok, outcome.detail
    assert sink.rounds == list(range(4000))


def test_a_device_that_does_not_come_back_is_lost_and_cleaned_when_it_is_seen_again(
    device: Phone, built: Path
) -> None:
    sink = Half(device.peer.leave)
    outcome = measured(device, built, sink, pace=IMPATIENT)
    assert outcome.cause == "device_lost", outcome.detail
    assert len(sink.rounds) == HALF
    assert any("process" in one for one in device.left())
    device.peer.come_back()
    again = device.attached()
    cleaned = leftovers.clean(again.connection, Journal(device.state, again.serial), again.workdir)
    assert cleaned.processes >= 2
    assert cleaned.settings == ["fixed_performance_mode"]
    assert not Journal(device.state, again.serial).notes


def test_a_stop_ends_the_wait_for_a_device_that_is_away(device: Phone, built: Path) -> None:
    stop = Stop()

    def leave_and_cancel() -> None:
        device.peer.leave()
        threading.Timer(0.1, stop.set, [Reason.CANCELLED]).start()
        threading.Timer(0.3, device.peer.come_back).start()

    outcome = measured(device, built, Half(leave_and_cancel), stop)
    assert outcome.cause == "cancelled", outcome.detail


def test_another_boot_voids_what_was_measured_and_the_new_one_is_cleaned(device: Phone, built: Path) -> None:
    sink = Half(device.peer.reboot)
    outcome = measured(device, built, sink)
    assert outcome.cause == "device_rebooted", outcome.detail
    assert "restarted" in outcome.detail


def test_another_serial_at_the_route_ends_the_job_and_is_told_nothing(device: Phone, built: Path) -> None:
    said: list[int] = []

    def swap() -> None:
        device.peer.faults.other_serial = "STRANGER"
        said.append(len(device.peer.calls))
        device.peer.cut()

    outcome = measured(device, built, Half(swap), pace=IMPATIENT)
    assert outcome.cause == "device_refused", outcome.detail
    assert "STRANGER" in outcome.detail
    asked = {call[0] for call in device.peer.calls[said[0] :]}
    assert asked <= {"getprop"}, "nothing but who it is"
    assert device.left(), "it is not ours to clean"
    device.peer.faults.other_serial = None
    again = device.attached()
    assert leftovers.clean(again.connection, Journal(device.state, again.serial), again.workdir)
