"""Starts the processes to which tests send signals.

A process inherits which signals are ignored, and a shell cannot even trap them then: with `&` in a script SIGINT is
ignored, under `nohup` SIGHUP is. So such a process starts with the signals as a terminal gives them. It ends with
its test, also when the test fails, and when the process that runs the tests is killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, AnyStr

PR_SET_PDEATHSIG = 1
"""linux/prctl.h: the signal that a process gets when its parent ends."""
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def reset_signals() -> None:
    """Give the signals of a terminal and of `kill` their default effect, in a new process before its program
    starts."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def end_with_parent(sent: signal.Signals = signal.SIGTERM) -> None:
    """Let this process get a signal when its parent ends, where the system offers that."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, sent)


class ChildProcess(subprocess.Popen[AnyStr]):
    """A process in a session of its own, so that it can be ended with its children. Used as a context, it is
    ended when the block fails, and waited for otherwise."""

    def __init__(
        self,
        command: Sequence[str | bytes | Path],
        *,
        prepare: Callable[[], object] = lambda: None,
        **options: Any,
    ) -> None:
        def prepare_child() -> None:
            reset_signals()
            end_with_parent()
            prepare()

        super().__init__(
            command, start_new_session=True, preexec_fn=prepare_child, **options
        )

    def end(self) -> None:
        """Kill the process, with all others of its group, unless it was waited for: then its number may be
        another's."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.end()
        super().__exit__(kind, error, trace)
