"""Starts a process that cannot outlive the agent and reports how it ended.

For launches on the host and for build steps. On POSIX `guard.py` is the parent of the process, so that a
kill −9 of the agent kills it too; on Windows psutil kills the process tree.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO

import msgspec

from paceline.exit_descriptions import count_memory_kills, has_counts, memory_sentence

GUARD = Path(__file__).with_name("guard.py")

SECRET_PREFIXES = ("PACELINE_", "GIT_")
"""Environment variables of the agent that no workload or build step may see."""


class ProcessEnd(
    msgspec.Struct,
    frozen=True,
    rename={"exit_code": "exit", "signal_number": "signal", "start_error": "error"},
):
    """How a process ended; exactly one of the first three is set."""

    exit_code: int | None = None
    signal_number: int | None = None
    start_error: str | None = None
    left_behind: int = 0
    rss_peak_bytes: int | None = None
    """The peak memory; at least the guard's at its fork, about 8 MB, because a program inherits it."""
    wall_ns: int | None = None
    user_ns: int | None = None
    system_ns: int | None = None
    """Wall and CPU time by its parent's clock; CPU time includes children that it waited for."""
    memory: str | None = None
    """A sentence about kills for lack of memory while it ran; None when the kernel counted none."""
    memory_is_watched: bool = False
    """Whether the kernel counts such kills."""


def inherited_environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """Return the agent's environment without its own settings and secrets, plus `extra`."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(SECRET_PREFIXES)
    }
    return {**kept, **(extra or {})}


class GuardedProcess:
    """A running process with piped output. Leaving the context kills what is left of it."""

    def __init__(
        self,
        argv: list[str],
        cwd: Path,
        env: dict[str, str],
        *,
        discards_stdout: bool = False,
    ) -> None:
        """Start the process. `discards_stdout`: nobody reads its standard output, so that writing it costs no time."""
        self._end: ProcessEnd | None = None
        self._memory_kills = count_memory_kills()
        self._received = b""
        self.pid: int | None = None
        self._control: socket.socket | None = None
        self._popen: subprocess.Popen[bytes] | None = None
        stdout = subprocess.DEVNULL if discards_stdout else subprocess.PIPE
        if sys.platform == "win32":
            self._start_windows(argv, cwd, env, stdout)
        else:
            ours, theirs = socket.socketpair()
            with theirs:
                command = [
                    sys.executable,
                    "-I",
                    "-S",
                    str(GUARD),
                    str(theirs.fileno()),
                    str(cwd),
                    "--",
                    *argv,
                ]
                self._popen = subprocess.Popen(
                    command,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=subprocess.PIPE,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    bufsize=0,
                )
            self._control = ours

    def _start_windows(
        self, argv: list[str], cwd: Path, env: dict[str, str], stdout: int
    ) -> None:
        flags = 0
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP
        try:
            self._popen = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=subprocess.PIPE,
                creationflags=flags,
                bufsize=0,
            )
            self.pid = self._popen.pid
        except OSError as error:
            self._end = ProcessEnd(start_error=f"{argv[0]}: {error.strerror}")

    @property
    def stdout(self) -> IO[bytes] | None:
        return self._popen.stdout if self._popen else None

    @property
    def stderr(self) -> IO[bytes] | None:
        return self._popen.stderr if self._popen else None

    def poll(self, timeout_s: float) -> ProcessEnd | None:
        """Return how it ended, or None when it still runs after `timeout_s`."""
        if self._end is None and self._control is not None:
            self._read_control(self._control, timeout_s)
        elif self._end is None and self._popen is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._end = ProcessEnd(exit_code=self._popen.wait(timeout_s))
        return self._end

    def _read_control(self, control: socket.socket, timeout_s: float | None) -> None:
        if not select.select([control], [], [], timeout_s)[0]:
            return
        data = control.recv(4096)
        self._received += data
        *lines, self._received = self._received.split(b"\n")
        for line in lines:
            fact = json.loads(line)
            if "pid" in fact:
                self.pid = fact["pid"]
            else:
                self._end = self._with_memory(msgspec.convert(fact, ProcessEnd))
        if not data and self._end is None:
            if sys.platform != "win32" and self.pid is not None:
                # Nobody else ends it now: the kernel can end a process with its parent only where the parent forked.
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)
            self._end = ProcessEnd(start_error="its guard process was killed")

    def _with_memory(self, end: ProcessEnd) -> ProcessEnd:
        now = count_memory_kills()
        return msgspec.structs.replace(
            end,
            memory=memory_sentence(self._memory_kills, now),
            memory_is_watched=has_counts(now),
        )

    def terminate(self) -> None:
        """Ask the process to end."""
        self._order(b"T")

    def kill(self) -> None:
        """Kill the process and everything it started."""
        self._order(b"K")

    def _order(self, order: bytes) -> None:
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.sendall(order)
        elif self.pid is not None and self._end is None:
            import psutil  # noqa: PLC0415 - Windows alone needs it, and each launch would import it

            with contextlib.suppress(psutil.NoSuchProcess):
                tree = psutil.Process(self.pid)
                for process in [*tree.children(recursive=True), tree]:
                    process.kill()

    def __enter__(self) -> GuardedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self._control is not None:
            with self._control, contextlib.suppress(OSError):
                self._control.shutdown(socket.SHUT_WR)
                while self._end is None:
                    self._read_control(self._control, None)
        elif self._end is None:
            self.kill()
        if self._popen is not None:
            self._popen.wait()
            for pipe in (self._popen.stdout, self._popen.stderr):
                if pipe is not None:
                    pipe.close()
