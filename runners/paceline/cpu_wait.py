"""Measures how long the workload's threads waited for a CPU.

The kernel's pressure (PSI) counts every task, even the browser that watches the run, but a verdict is void only if
the *workload* was starved (stats/README.md §1). Linux only. Time taken by a hypervisor is not included.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
from pathlib import Path

PROC = Path("/proc")
WANTED_SHARE = 0.5
"""A thread counts if it ran or waited for at least this share of the interval, as the measuring thread does."""

ThreadTimes = dict[tuple[int, int], tuple[int, int]]
"""(pid, tid) → ns run, ns waited for a CPU, both since the thread began."""


class WorkloadWait:
    """Measures the waiting of all descendants of process `ancestor` between readings."""

    def __init__(self, ancestor: int | None = None) -> None:
        self._ancestor = os.getpid() if ancestor is None else ancestor
        self._before: ThreadTimes = {}
        self._at_ns = time.monotonic_ns()

    def read(self) -> dict[str, float]:
        """Return `workload_wait_percent`: how long the most starved thread waited since the last reading; absent if no
        thread counts."""
        if platform.system() != "Linux":
            return {}
        now_ns = time.monotonic_ns()
        elapsed_ns = now_ns - self._at_ns
        times = _read_thread_times(_descendants(self._ancestor))
        before, self._before, self._at_ns = self._before, times, now_ns
        worst = starvation(before, times, elapsed_ns)
        return {} if worst is None else {"workload_wait_percent": round(100 * worst, 2)}


def starvation(
    before: ThreadTimes, after: ThreadTimes, elapsed_ns: int
) -> float | None:
    """Return the largest share of `elapsed_ns` that a thread waited, among threads that count; None without any."""
    shares = []
    for key, (ran, waited) in after.items():
        ran_before, waited_before = before.get(key, (0, 0))
        run, wait = ran - ran_before, waited - waited_before
        if run + wait >= WANTED_SHARE * elapsed_ns:
            shares.append(min(wait / elapsed_ns, 1.0))
    return max(shares, default=None)


def _descendants(ancestor: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.scandir(PROC):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, ValueError):
                # The name in parentheses may hold anything; the parent's id is the second field after it.
                stat = Path(entry.path, "stat").read_text(errors="replace")
                children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(
                    int(entry.name)
                )
    descendants, pending = [], [ancestor]
    while pending:
        below = children.get(pending.pop(), [])
        descendants += below
        pending += below
    return descendants


def _read_thread_times(pids: list[int]) -> ThreadTimes:
    times: ThreadTimes = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for task in os.scandir(PROC / str(pid) / "task"):
                with contextlib.suppress(OSError, ValueError):
                    ran, waited, _ = Path(task.path, "schedstat").read_text().split()
                    times[pid, int(task.name)] = (int(ran), int(waited))
    return times
