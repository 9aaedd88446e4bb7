"""Starts the agent of this host for `up`, and restarts it when it ends, unless the server does not accept it.

The agent never outlives the server, even a killed one (on Linux, by the parent-death signal). It is stopped before the
server, so that it can still report. Its output goes to a file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import structlog

log = structlog.get_logger("paceline.agent_child")

RESTART_AFTER_S = (1.0, 2.0, 5.0, 15.0, 30.0)
"""Pauses before restarting an agent that ended by itself; the last one repeats."""
CANCEL_AFTER_S = 2.0
"""An idle agent ends within this time. A measuring agent then gets a second signal, which cancels its job."""
ENDS_WITHIN_S = 15.0
"""An agent that cancels its job ends within this time, else it is killed."""
NOT_ACCEPTED_STATUS = 77
"""The exit status of an agent that the server does not accept (`paceline/enrolment.py`)."""
PR_SET_PDEATHSIG = 1


class AgentMissingError(Exception):
    """The agent is not installed beside the server."""


def agent_command() -> list[str]:
    """Return the command line of the agent in the same installation. Raises `AgentMissingError`."""
    program = Path(sys.executable).with_name(
        "paceline.exe" if os.name == "nt" else "paceline"
    )
    if not program.is_file():
        raise AgentMissingError(
            f"there is no {program}: install the agent with `pip install ./runners`, or start with --no-agent"
        )
    return [str(program), "agent"]


class AgentChild:
    """Keeps an agent process running until stopped."""

    def __init__(
        self,
        server_url: str,
        data_dir: Path,
        config: Path,
        new_code: Callable[[], str | None],
        say: Callable[[str], None],
    ) -> None:
        self._url = server_url
        self._data = data_dir / "agent"
        self._config = config
        self._new_code, self._say = new_code, say
        self.log_file = data_dir / "agent.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="agent-child", daemon=True
        )
        """The thread that starts every process. It lives as long as the server, because the kernel sends the
        parent-death signal when the forking thread ends."""

    def start(self) -> None:
        self._thread.start()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def stop(self) -> None:
        """End the agent: signal it, signal it again (which cancels its job), then kill it and its children."""
        self._stopping.set()
        with self._lock:
            process = self._process
        if process is not None and process.poll() is None:
            for patience in (CANCEL_AFTER_S, ENDS_WITHIN_S):
                process.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(patience)
                    break
            else:
                log.warning("agent_killed", pid=process.pid)
                _kill_group(process)
        if self._thread.is_alive():
            self._thread.join(5)

    def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            try:
                self._run_once()
            except Exception:
                log.exception("agent_not_started")
            if self._stopping.is_set():
                return
            if self._is_refused():
                log.error("agent_refused", log=str(self.log_file))
                self._say(
                    "The server does not accept the agent of this host, which is not started again: the end of "
                    f"{self.log_file} says what to do"
                )
                return
            pause = RESTART_AFTER_S[min(failures, len(RESTART_AFTER_S) - 1)]
            failures += 1
            log.warning("agent_ended", again_in_s=pause, log=str(self.log_file))
            self._stopping.wait(pause)

    def _is_refused(self) -> bool:
        return self._process is not None and self._process.poll() == NOT_ACCEPTED_STATUS

    def _run_once(self) -> None:
        argv = [
            *agent_command(),
            "--server",
            self._url,
            "--data",
            str(self._data),
            "--config",
            str(self._config),
        ]
        code = self._new_code()
        # The code is passed in the environment, because `ps` shows command lines.
        environment = {
            **os.environ,
            **({} if code is None else {"PACELINE_ENROL": code}),
        }
        with self.log_file.open("ab") as output:
            with self._lock:
                if self._stopping.is_set():
                    return
                self._process = subprocess.Popen(
                    argv,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # so that Ctrl-C reaches only the server
                    preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - one prctl
                )
            self._process.wait()


def _end_with_parent() -> None:
    import ctypes  # noqa: PLC0415 - in the child only

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
