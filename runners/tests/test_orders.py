"""Tests of ending a launch, by SIGTERM and then SIGKILL, whatever it prints and wherever it runs."""

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


def cancelled_stop() -> Stop:
    stop = Stop()
    stop.set(StopReason.CANCELLED)
    return stop


def started_launch(stop: Stop, limits: Limits | None = None) -> LaunchMonitor:
    launch = LaunchMonitor(
        SPEC, Recorder(), stop, limits or Limits(terminate_s=3.0, garbage_bytes=100)
    )
    launch.start_timeout(0.0)
    return launch


@pytest.mark.parametrize("runs_at", [-math.inf, 0.5, 100.0])
def test_a_stopped_launch_has_its_whole_grace_period(runs_at: float) -> None:
    launch = started_launch(cancelled_stop())
    given = [launch.due_signal(now, runs_at) for now in (1.0, 2.0, 3.9, 4.0)]
    assert given == [StopSignal.TERMINATE, None, None, StopSignal.KILL]


def test_a_launch_times_out_only_if_it_was_seen_running_after_its_deadline() -> None:
    launch = started_launch(Stop())
    assert launch.due_signal(50.0, 9.9) is None
    assert launch.due_signal(50.0, 10.0) is StopSignal.TERMINATE


def test_output_of_a_killed_launch_is_not_read() -> None:
    sink = Recorder()
    launch = LaunchMonitor(SPEC, sink, cancelled_stop(), Limits(terminate_s=3.0))
    launch.start_timeout(0.0)
    launch.feed("stdout", lines(START, CASE))
    assert launch.due_signal(1.0) is StopSignal.TERMINATE
    launch.feed("stdout", lines(SAMPLE))
    assert launch.due_signal(4.0) is StopSignal.KILL
    launch.feed("stdout", lines(SAMPLE) * 1000 + b"the beginning of a li")
    assert sink.bytes == len(lines(START, CASE, SAMPLE))
    assert launch.bytes_seen("stdout") > 1000 * len(lines(SAMPLE)), (
        "where to go on after a lost connection"
    )
    assert launch.outcome(ProcessEnd(signal_number=9)).cause == "cancelled"


def test_output_of_a_launch_that_timed_out_is_read_to_its_end() -> None:
    """Its samples are evidence, even if it ignored the request to end."""
    sink = Recorder()
    launch = LaunchMonitor(SPEC, sink, Stop(), Limits(terminate_s=3.0))
    launch.start_timeout(0.0)
    assert [launch.due_signal(now) for now in (10.0, 13.0)] == [
        StopSignal.TERMINATE,
        StopSignal.KILL,
    ]
    launch.feed("stdout", lines(START, CASE, SAMPLE))
    assert sink.bytes == len(lines(START, CASE, SAMPLE))
    assert launch.outcome(ProcessEnd(signal_number=9)).cause == "workload_hung"


def test_a_flood_that_follows_the_request_to_end_is_ended_at_once() -> None:
    launch = started_launch(cancelled_stop())
    assert launch.due_signal(1.0) is StopSignal.TERMINATE
    launch.feed("stdout", b"no bench stream\n" + bytes(200))
    assert launch.due_signal(1.1) is StopSignal.KILL
    assert launch.is_flooded
    assert launch.outcome(ProcessEnd(signal_number=9)).cause == "cancelled", (
        "the first reason stands"
    )


def test_a_launch_that_never_stops_printing_is_killed_on_a_device(
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
    """A process that hangs in the device's kernel, so that no signal reaches it."""

    def run(self, argv: Sequence[str], timeout_s: float = 30.0) -> CommandResult:
        return (
            CommandResult(0, b"") if "order" in argv else super().run(argv, timeout_s)
        )


def test_a_launch_that_cannot_be_killed_is_a_device_failure(
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
