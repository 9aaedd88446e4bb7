"""Servers made to be killed: one process imports everything once and forks a real uvicorn for each life.

Place: crash tests, which kill −9 a server dozens of times and cannot wait for Python to start each time. Run
as `python -m paceline_server.testing.lives PORT`: a line on stdin starts the next life and prints its pid,
the end of stdin ends everything. Settings come from the environment, as for any API process.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx
from fastapi import FastAPI

READY_WITHIN_S = 180.0


def _serve(app: FastAPI, port: int) -> None:
    import uvicorn  # noqa: PLC0415 - loaded by the parent before it forks

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(
            1, signal.SIGKILL
        )  # PR_SET_PDEATHSIG: no life outlasts the tests
    uvicorn.run(app, port=port, log_level="warning", lifespan="on")


def main() -> None:
    """The parent of all lives: single-threaded (building an app starts nothing), so it may fork."""
    import celery  # noqa: F401, PLC0415
    import uvicorn  # noqa: F401, PLC0415

    from paceline_server.main import create  # noqa: PLC0415
    from paceline_server.runtime import embedded, handlers  # noqa: F401, PLC0415

    app = create()
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _serve(app, int(sys.argv[1]))
            os._exit(0)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


class Lives:
    """Starts and kills servers on one port."""

    def __init__(self, port: int, parent: subprocess.Popen[str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.pid = 0
        self._parent = parent

    def start(self) -> None:
        """Begin a life and wait until it answers."""
        assert self._parent.stdin is not None  # noqa: S101 - PIPE below
        assert self._parent.stdout is not None  # noqa: S101 - PIPE below
        self._parent.stdin.write("start\n")
        self._parent.stdin.flush()
        self.pid = int(self._parent.stdout.readline())
        deadline, pause = time.monotonic() + READY_WITHIN_S, threading.Event()
        while True:
            try:
                httpx.get(f"{self.url}/healthz", timeout=5)
            except httpx.TransportError:
                if time.monotonic() > deadline:
                    raise
                pause.wait(0.01)
            else:
                return

    def kill(self) -> None:
        """kill −9, and wait until the process is gone (its parent is told not to keep the dead)."""
        os.kill(self.pid, signal.SIGKILL)
        deadline, pause = time.monotonic() + READY_WITHIN_S, threading.Event()
        while time.monotonic() < deadline:
            try:
                os.kill(self.pid, 0)
            except ProcessLookupError:
                return
            pause.wait(0.002)
        raise TimeoutError(f"process {self.pid} does not die")


@contextmanager
def lives(port: int, settings: Mapping[str, str]) -> Iterator[Lives]:
    """Lives of a server with these `PACELINE_*` settings; none outlasts the block."""
    parent = subprocess.Popen(
        [sys.executable, "-m", "paceline_server.testing.lives", str(port)],
        env={**os.environ, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Lives(port, parent)
    finally:
        parent.kill()
        parent.wait()
        for pipe in (parent.stdin, parent.stdout):
            if pipe is not None:
                pipe.close()


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    main()
