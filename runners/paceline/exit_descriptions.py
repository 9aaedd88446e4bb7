"""Describes how a process ended: exit status, signal, and whether the system was out of memory.

Lack of memory is reported only if the kernel counted a kill while the process ran.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import NamedTuple

SIGNAL_WORDS = {
    "SIGABRT": "it gave up by itself: a failed assertion, abort(), a fatal error of its runtime",
    "SIGBUS": "it accessed mapped memory that has nothing behind it, such as a file that was truncated",
    "SIGFPE": "it divided an integer by zero or overflowed",
    "SIGHUP": "its terminal or session went away",
    "SIGILL": "it executed an instruction that this CPU does not have",
    "SIGINT": "it was interrupted",
    "SIGKILL": "something outside it ended it at once",
    "SIGPIPE": "it wrote to a program that was no longer there",
    "SIGQUIT": "it was told to quit",
    "SIGSEGV": "it accessed memory that is not its own",
    "SIGSYS": "it made a system call that is forbidden here",
    "SIGTERM": "it was asked to end",
    "SIGTRAP": "it ran into a trap, such as a failed check its compiler put in",
    "SIGXCPU": "it used up the CPU time it may use",
    "SIGXFSZ": "it wrote a file larger than it may",
}
STATUS_WORDS = {
    126: "a command was found but may not be executed",
    127: "a command was not found",
}
SHELL_SIGNAL_STATUS = 128
"""A shell exits with 128 + n when signal n killed what it ran."""
_COUNT = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


def describe_signal(number: int) -> str:
    """Return `SIGSEGV (it accessed memory that is not its own)`."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    words = SIGNAL_WORDS.get(name)
    return f"{name} ({words})" if words else name


def describe_status(status: int) -> str:
    """Return `exited with status 127 (a command was not found)`."""
    words = STATUS_WORDS.get(status)
    number = status - SHELL_SIGNAL_STATUS
    if words is None and number in {known.value for known in signal.Signals}:
        words = f"what it ran was killed by {describe_signal(number)}"
    return f"exited with status {status}" + (f" ({words})" if words else "")


class MemoryKills(NamedTuple):
    """How often the kernel has killed a process for lack of memory, in our cgroup and on the whole system.

    None means that the kernel does not report a count.
    """

    cgroup: int | None
    system: int | None


def count_memory_kills(root: Path = Path("/")) -> MemoryKills:
    """Return the kernel's current counters; `root` is the directory of proc and sys."""
    text = _read(root / "proc/self/cgroup")
    counts = [_count(_read(path)) for path in _cgroup_files(root, text)]
    reported = [count for count in counts if count is not None]
    return MemoryKills(
        max(reported) if reported else None, _count(_read(root / "proc/vmstat"))
    )


def has_counts(kills: MemoryKills) -> bool:
    return kills.cgroup is not None or kills.system is not None


def memory_sentence(before: MemoryKills, after: MemoryKills) -> str | None:
    """Return a sentence about kills between two readings; None if there were none."""
    if (
        before.cgroup is not None
        and after.cgroup is not None
        and after.cgroup > before.cgroup
    ):
        return (
            "Out of memory: the kernel killed a process because the memory limit of the agent's cgroup was "
            "reached. Raise the limit, or use less memory (fewer parallel jobs)."
        )
    if (
        before.system is not None
        and after.system is not None
        and after.system > before.system
    ):
        return (
            "The host's kernel killed a process for lack of memory meanwhile (dmesg says which). Use less "
            "memory (fewer parallel jobs), or free some."
        )
    return None


def _cgroup_files(root: Path, text: str) -> list[Path]:
    """Return the files in which the kernel counts kills in our cgroup; versions 1 and 2 may both be mounted."""
    files = []
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        base = root / "sys/fs/cgroup"
        below = path.lstrip("/")
        if number == "0":
            files.append(base / below / "memory.events")
        elif "memory" in controllers.split(","):
            files.append(base / "memory" / below / "memory.oom_control")
    return files


def _count(text: str) -> int | None:
    match = _COUNT.search(text)
    return int(match[1]) if match else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
