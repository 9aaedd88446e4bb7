"""Runs one workload as its parent, so that no process outlives the agent. Started by path, standard library only.

When the control socket closes, which it does however the agent ends, every descendant is killed. When the
workload ends, its remaining processes are killed before the end is reported. The guard sleeps in `waitpid`, so
it takes no time from a measurement. If the guard alone is killed, the agent kills the workload's process group; if both
are killed at once, the workload goes on.

    guard → agent: JSON lines: {"pid"} once, then {"exit" | "signal" | "error", "left_behind", "rss_peak_bytes",
                   "wall_ns", "user_ns", "system_ns"}
    agent → guard: b"T" terminate, b"K" kill
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal`, `socket`, … cost more time than all of this file
import _socket
import _thread
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

assert sys.platform != "win32"  # noqa: S101 - tells mypy that this file exists for POSIX only

PR_SET_CHILD_SUBREAPER = 36


def main(arguments: list[str]) -> None:
    control = _socket.socket(fileno=int(arguments[0]))
    cwd, argv = arguments[1], arguments[3:]
    os.set_inheritable(control.fileno(), False)
    _adopt_orphans()
    began_ns = time.monotonic_ns()
    try:
        pid = _start_workload(argv, cwd)
    except OSError as error:
        _send(control, {"error": f"{argv[0]}: {error.strerror}"})
        return
    _close_pipes()
    _send(control, {"pid": pid})
    _thread.start_new_thread(_carry_out_orders, (control, pid))
    _send(control, _wait(pid, began_ns))


def _start_workload(argv: list[str], cwd: str) -> int:
    """Start the workload in a process group of its own and return its number. Raises OSError.

    It is not forked: a copy of this process would take CPU time that counts as the workload's.
    """
    os.chdir(cwd)
    defaults = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGPIPE, _signal.SIGXFSZ)
    return os.posix_spawnp(argv[0], argv, os.environ, setpgroup=0, setsigdef=defaults)


def _close_pipes() -> None:
    """Close the guard's copies of the workload's pipes and ignore signals."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        _signal.signal(number, _signal.SIG_IGN)


def _wait(pid: int, began_ns: int) -> dict[str, int | str]:
    """Sleep until the workload ends, kill what it left, and return how it ended and what it took.

    Only this thread reaps, so the process it waits for cannot be reaped by another.
    """
    if hasattr(os, "waitid"):
        # The workload is not reaped yet, so its process group cannot belong to another process.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        ended_ns = time.monotonic_ns()
        _kill(os.killpg, pid, _signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    if not hasattr(os, "waitid"):
        ended_ns = time.monotonic_ns()
        _kill(os.killpg, pid, _signal.SIGKILL)
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    how = "signal" if os.WIFSIGNALED(status) else "exit"
    number = os.WTERMSIG(status) if how == "signal" else os.WEXITSTATUS(status)
    return {
        how: number,
        "left_behind": _reap_adopted(),
        "rss_peak_bytes": peak,
        "wall_ns": ended_ns - began_ns,
        "user_ns": round(usage.ru_utime * 1e9),
        "system_ns": round(usage.ru_stime * 1e9),
    }


def _carry_out_orders(control: _socket.socket, pid: int) -> None:
    """Carry out the agent's orders; the end of the socket means kill."""
    while True:
        try:
            order = control.recv(1)
        except OSError:
            order = b""
        if order == b"T":
            _kill(os.killpg, pid, _signal.SIGTERM)
            continue
        for how in (os.killpg, os.kill):  # the workload may have left its process group
            _kill(how, pid, _signal.SIGKILL)
        if not order:
            return  # `_wait` wakes up, kills and reaps the rest, and ends


def _reap_adopted() -> int:
    """Kill and reap adopted processes until none is left. Killing one may make us adopt its children."""
    count = 0
    while True:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                # The kernel's list may miss a child that was just adopted.
                for child in _children() or _children_by_search():
                    _kill(os.kill, child, _signal.SIGKILL)
                os.waitpid(-1, 0)
        except ChildProcessError:
            return count
        count += 1


def _children() -> list[int]:
    """Return direct children of this process. Linux only: elsewhere init adopts orphans."""
    children: list[int] = []
    try:
        for task in os.listdir("/proc/self/task"):  # noqa: PTH208 - pathlib costs start-up time here
            with open(f"/proc/self/task/{task}/children") as file:  # noqa: PTH123 - as above
                children += map(int, file.read().split())
    except OSError:
        return _children_by_search()
    return children


def _children_by_search() -> list[int]:
    """Return direct children of this process, where the kernel keeps no list of them."""
    me, children = str(os.getpid()), []
    try:
        entries = os.listdir("/proc")  # noqa: PTH208 - as above
    except OSError:
        return []
    for entry in entries:
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:  # noqa: PTH123 - as above
                    parent = file.read().rpartition(")")[2].split()[1]
            except (OSError, IndexError):
                continue
            if parent == me:
                children.append(int(entry))
    return children


def _adopt_orphans() -> None:
    """Become the parent of descendants whose own parents end, on Linux."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - costs start-up time where it is of no use

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)


def _kill(kill: Callable[[int, int], None], target: int, number: int) -> None:
    try:  # noqa: SIM105 - contextlib costs start-up time here
        kill(target, number)
    except (ProcessLookupError, PermissionError):
        pass


def _send(control: _socket.socket, fact: dict[str, int | str]) -> None:
    """Send one JSON object and a newline. The texts need no more than these two escapes."""
    pairs = []
    for key, value in fact.items():
        escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
        pairs.append(
            f'"{key}": {value}' if isinstance(value, int) else f'"{key}": "{escaped}"'
        )
    try:  # noqa: SIM105 - as above
        control.sendall(("{" + ", ".join(pairs) + "}\n").encode())
    except OSError:
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
