"""How a launch that must end is ended: asked, then made to, whatever it prints and wherever it runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest
from paceline.adb.port import CommandResult
from paceline.executors.base import LaunchSpec, SessionWork
from paceline.executors.launch import LaunchMonitor, Limits, StopSignal
from paceline.executors.process import ProcessEnd
from paceline.stop import Stop, StopReason

from .phone import LIMITS, Phone, Through
from .test_executors import CASE, SAMPLE, START, Recorder, lines

SPEC = LaunchSpec("w", 0, ["w"], PurePosixPath("/"), {}, 10.0)


def cancelled() -> Stop:
    stop = Stop()
    stop.set(StopReason.CANCELLED)
    return stop


def launched(stop: Stop, limits: Limits | None = None) -> LaunchMonitor:
    launch = LaunchMonitor(
        SPEC, Recorder(), stop, limits or Limits(terminate_s=3.0, garbage_bytes=100)
    )
    launch.begun(0.0)
    return launch


@pytest.mark.parametrize("runs_at", [-math.inf, 0.5, 100.0])
def test_it_has_its_time_to_end_whatever_was_seen_of_it(runs_at: float) -> None:
    launch = launched(cancelled())
    given = [launch.order(now, runs_at) for now in (1.0, 2.0, 3.9, 4.0)]
    assert given == [StopSignal.TERMINATE, None, None, StopSignal.KILL]


def test_its_time_is_over_only_when_it_was_seen_to_run_then() -> None:
    launch = launched(Stop())
    assert launch.order(50.0, 9.9) is None
    assert launch.order(50.0, 10.0) is StopSignal.TERMINATE


def test_of_what_was_stopped_and_killed_no_more_is_read() -> None:
    sink = Recorder()
    launch = LaunchMonitor(SPEC, sink, cancelled(), Limits(terminate_s=3.0))
    launch.begun(0.0)
    launch.took("stdout", lines(START, CASE))
    assert launch.order(1.0) is StopSignal.TERMINATE
    launch.took("stdout", lines(SAMPLE))
    assert launch.order(4.0) is StopSignal.KILL
    launch.took("stdout", lines(SAMPLE) * 1000 + b"the beginning of a li")
    assert sink.bytes == len(lines(START, CASE, SAMPLE))
    assert launch.taken("stdout") > 1000 * len(lines(SAMPLE)), (
        "where to go on after a lost connection"
    )
    assert launch.outcome(ProcessEnd(signal_number=9)).cause == "cancelled"


def test_what_ran_out_of_time_is_read_to_its_end() -> None:
    """Its samples are evidence, whatever it did after it was asked to end."""
    sink = Recorder()
    launch = LaunchMonitor(SPEC, sink, Stop(), Limits(terminate_s=3.0))
    launch.begun(0.0)
    assert [launch.order(now) for now in (10.0, 13.0)] == [
        StopSignal.TERMINATE,
        StopSignal.KILL,
    ]
    launch.took("stdout", lines(START, CASE, SAMPLE))
    assert sink.bytes == len(lines(START, CASE, SAMPLE))
    assert launch.outcome(ProcessEnd(signal_number=9)).cause == "workload_hung"


def test_a_flood_that_follows_the_request_to_end_is_ended_at_once() -> None:
    launch = launched(cancelled())
    assert launch.order(1.0) is StopSignal.TERMINATE
    launch.took("stdout", b"no bench stream\n" + bytes(200))
    assert launch.order(1.1) is StopSignal.KILL
    assert launch.flooded
    assert launch.outcome(ProcessEnd(signal_number=9)).cause == "cancelled", (
        "the first reason stands"
    )


def test_on_a_device_it_is_killed_though_it_never_stops_printing(
    device: Phone, tmp_path: Path
) -> None:
    """More than the follower reads in a round, and all of it a valid stream."""
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "head").write_bytes(lines(START, CASE))
    (tmp_path / "built" / "more").write_bytes(lines(SAMPLE) * 4000)
    stop = Stop()

    class Stopping(Recorder):
        def raw(self, data: bytes) -> None:
            super().raw(data)
            if self.bytes > 1 << 20:
                stop.set(StopReason.CANCELLED)

    with device.executor().session(
        SessionWork("job:1-1", [tmp_path / "built"]), lambda _: None, stop
    ) as session:
        there = session.location(tmp_path / "built")
        argv = ["sh", "-c", "trap '' TERM; cat head; while :; do cat more; done"]
        job = LaunchSpec("w", 0, argv, there, session.environment({}), 60.0)
        outcome = session.execute(job, Stopping(), stop)
    assert outcome.cause == "cancelled", outcome.detail


class Unkillable(Through):
    """Stands for a process that hangs in the device's kernel: no signal reaches it."""

    def run(self, argv: Sequence[str], timeout_s: float = 30.0) -> CommandResult:
        return (
            CommandResult(0, b"") if "order" in argv else super().run(argv, timeout_s)
        )


def test_what_cannot_be_killed_ends_the_job_and_is_the_devices_failure(
    device: Phone,
) -> None:
    limits = Limits(terminate_s=0.1, kill_s=0.3, garbage_s=LIMITS.garbage_s)
    device.wrap = Unkillable
    with device.executor(limits).session(
        SessionWork("job:1-1", []), lambda _: None, Stop()
    ) as session:
        job = LaunchSpec(
            "w", 0, ["sleep", "600"], PurePosixPath("/"), session.environment({}), 0.1
        )
        outcome = session.execute(job, Recorder(), Stop())
    assert outcome.cause == "device_lost"
    assert "cannot be killed" in outcome.detail
