"""Starts and kills a real server process quickly, for crash tests.

Python takes seconds to import everything, and these tests kill -9 a server dozens of times. So one parent process
imports everything once and forks a uvicorn server for each start. Run as
`python -m paceline_server.testing.server_process PORT`: a line on stdin starts a server and prints its pid; the
end of stdin ends everything. Settings come from the environment.
"""

from __future__ import annotations

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
from paceline_contract.testing.child_process import ChildProcess, end_with_parent
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S


def _serve(app: FastAPI, port: int) -> None:
    import uvicorn  # noqa: PLC0415 - loaded by the parent before it forks

    end_with_parent(signal.SIGKILL)  # no server outlives the tests
    uvicorn.run(app, port=port, log_level="warning", lifespan="on")


def main() -> None:
    """Fork a server for each line of stdin. Forking is safe, because building an app starts no threads."""
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


class ServerProcess:
    """A server on one port that can be started and killed again and again."""

    def __init__(self, port: int, parent: ChildProcess[str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.pid = 0
        self._parent = parent

    def start(self) -> None:
        """Start a server and wait until it answers."""
        assert self._parent.stdin is not None  # noqa: S101 - PIPE below
        assert self._parent.stdout is not None  # noqa: S101 - PIPE below
        self._parent.stdin.write("start\n")
        self._parent.stdin.flush()
        self.pid = int(self._parent.stdout.readline())
        deadline, pause = time.monotonic() + WITHIN_S, threading.Event()
        while True:
            try:
                httpx.get(f"{self.url}/healthz", timeout=WITHIN_S)
            except httpx.TransportError:
                if time.monotonic() > deadline:
                    raise
                pause.wait(0.01)
            else:
                return

    def kill(self) -> None:
        """Kill -9 the server and wait until its process is gone."""
        os.kill(self.pid, signal.SIGKILL)
        deadline, pause = time.monotonic() + WITHIN_S, threading.Event()
        while time.monotonic() < deadline:
            try:
                os.kill(self.pid, 0)
            except ProcessLookupError:
                return
            pause.wait(0.002)
        raise TimeoutError(f"process {self.pid} does not end")


@contextmanager
def server_process(settings: Mapping[str, str]) -> Iterator[ServerProcess]:
    """ServerProcess of a server with these `PACELINE_*` settings; it ends with the block."""
    with reserved_port() as port:
        parent = ChildProcess[str](
            [sys.executable, "-m", "paceline_server.testing.server_process", str(port)],
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield ServerProcess(port, parent)
        finally:
            parent.end()


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    main()
