"""Measures how long the workload's threads waited for a CPU, and how much of the CPUs other processes used.

The kernel's pressure (PSI) counts every task, even the browser that watches the run, but a verdict is void only if
the *workload* was starved (stats/README.md §1). A workload that ends between two readings leaves no thread to ask: then
its waiting is at most the pressure, and at most as long as others ran, because without them it waits only for itself.
Linux only. Time taken by a hypervisor is not included.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")
LINUX = sys.platform == "linux"
SHORTEST_SHARE_S = 0.05
"""Shortest time over which shares are meaningful."""
WANTED_SHARE = 0.5
"""A thread counts if it ran or waited for at least this share of the interval, as the measuring thread does."""

ThreadTimes = dict[tuple[int, int], tuple[int, int]]
"""(pid, tid) → ns run, ns waited for a CPU, both since the thread began."""


class WorkloadWait:
    """Measures all descendants of process `ancestor` between readings."""

    def __init__(self, ancestor: int | None = None) -> None:
        self._ancestor = os.getpid() if ancestor is None else ancestor
        self._before: ThreadTimes = {}
        self._at_ns = time.monotonic_ns()
        self._others_s = 0.0
        self.read()

    def read(self) -> dict[str, float]:
        """Return shares of the time since the last reading, in percent.

        `workload_wait_percent` is how long the most starved thread waited; absent if no thread counts.
        `others_cpu_percent` is how long processes other than `ancestor` and its descendants ran, of one CPU; absent
        below 0.05 s.
        """
        if not LINUX:
            return {}
        now_ns = time.monotonic_ns()
        elapsed_ns = now_ns - self._at_ns
        before, others_before_s = self._before, self._others_s
        family = _read_family(self._ancestor)
        self._before = _read_thread_times(family.keys() - {self._ancestor})
        self._others_s = _read_busy_s() - sum(family.values())
        self._at_ns = now_ns
        shares = {}
        if elapsed_ns >= SHORTEST_SHARE_S * 1e9:
            ran = max(self._others_s - others_before_s, 0.0) * 1e9 / elapsed_ns
            shares["others_cpu_percent"] = round(100 * ran, 2)
        worst = starvation(before, self._before, elapsed_ns)
        if worst is not None:
            shares["workload_wait_percent"] = round(100 * worst, 2)
        return shares


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


def _read_family(ancestor: int) -> dict[int, float]:
    """Return the seconds of CPU that `ancestor` and each descendant used, with those of the children that it reaped."""
    children: dict[int, list[int]] = {}
    used_s: dict[int, float] = {}
    for entry in os.scandir(PROC):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, ValueError):
                # The name in parentheses may hold anything; the parent's id is the second field after it.
                stat = Path(entry.path, "stat").read_text(errors="replace")
                fields = stat.rpartition(")")[2].split()
                pid = int(entry.name)
                children.setdefault(int(fields[1]), []).append(pid)
                used_s[pid] = sum(map(int, fields[11:15])) / _ticks_per_s()
    family, pending = {}, [ancestor]
    while pending:
        pid = pending.pop()
        family[pid] = used_s.get(pid, 0.0)
        pending += children.get(pid, [])
    return family


def _read_busy_s() -> float:
    """Return the seconds since boot in which a CPU ran a process or the kernel; a hypervisor's are not among them."""
    ticks = [int(field) for field in Path(PROC, "stat").read_text().split()[1:8]]
    user, nice, system, _idle, _iowait, irq, softirq = ticks
    return (user + nice + system + irq + softirq) / _ticks_per_s()


def _ticks_per_s() -> int:
    if sys.platform != "linux":
        raise NotImplementedError
    else:  # noqa: RET506 - mypy checks every platform's branch only in this form
        return os.sysconf("SC_CLK_TCK")


def _read_thread_times(pids: Iterable[int]) -> ThreadTimes:
    times: ThreadTimes = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for task in os.scandir(PROC / str(pid) / "task"):
                with contextlib.suppress(OSError, ValueError):
                    ran, waited, _ = Path(task.path, "schedstat").read_text().split()
                    times[pid, int(task.name)] = (int(ran), int(waited))
    return times
