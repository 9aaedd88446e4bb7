"""Tests of measuring how long a workload waited for a CPU, and how long others ran."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
from paceline.cpu_wait import WorkloadWait, starvation
from paceline_contract.testing.child_process import ChildProcess

SECOND = 1_000_000_000
LINUX = pytest.mark.skipif(
    sys.platform != "linux", reason="needs Linux /proc/PID/task/TID/schedstat"
)


def test_only_threads_in_demand_count() -> None:
    before = {(1, 1): (0, 0), (1, 2): (0, 0)}
    after = {(1, 1): (900_000_000, 20_000_000), (1, 2): (1_000_000, 300_000_000)}
    assert starvation(before, after, SECOND) == pytest.approx(0.02)


def test_the_worst_thread_in_demand_speaks_for_the_workload() -> None:
    after = {(1, 1): (950_000_000, 0), (1, 2): (400_000_000, 500_000_000)}
    assert starvation({}, after, SECOND) == pytest.approx(0.5)


def test_a_thread_counts_from_the_last_reading_on() -> None:
    before = {(1, 1): (5 * SECOND, 4 * SECOND)}
    after = {(1, 1): (5 * SECOND + 990_000_000, 4 * SECOND + 10_000_000)}
    assert starvation(before, after, SECOND) == pytest.approx(0.01)


def test_an_idle_workload_says_nothing() -> None:
    assert starvation({}, {(1, 1): (1000, 1000)}, SECOND) is None
    assert starvation({}, {}, SECOND) is None


@LINUX
def test_two_spinning_threads_on_one_cpu_are_seen_as_starved() -> None:
    spin = "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    spin += "os.fork()\nprint(flush=True)\nwhile True: pass"
    child = ChildProcess[bytes]([sys.executable, "-c", spin], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        child.stdout.readline()
        wait, pause = WorkloadWait(), threading.Event()
        assert any(
            wait.read().get("workload_wait_percent", 0.0) > 20
            for _ in range(100)
            if not pause.wait(0.1)
        ), "two threads that always want one CPU wait for it half the time"
    finally:
        child.end()


@LINUX
def test_what_ended_children_ran_is_not_the_others() -> None:
    stranger = ChildProcess[bytes](
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE
    )
    try:
        began, ours = time.monotonic(), WorkloadWait()
        of_stranger = WorkloadWait(stranger.pid)
        burn = "import time\nwhile time.process_time() < 1: pass"
        subprocess.run([sys.executable, "-c", burn], check=True)
        shares = [wait.read()["others_cpu_percent"] for wait in (of_stranger, ours)]
        elapsed = time.monotonic() - began
        assert (shares[0] - shares[1]) / 100 * elapsed > 0.5, (
            "one second of a child is of others only for a process that is not its parent"
        )
    finally:
        stranger.end()
