"""Runs a command line for tests in forks of one process that has imported everything.

Tests run commands hundreds of times, and most of each run were imports. Tests of starting and of signals start a
process of their own instead. Which command it is, and what it imports, a module of its own says.
"""

from __future__ import annotations

import array
import gc
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, cast

assert sys.platform != "win32", "it forks, which Windows cannot"  # noqa: S101 - and mypy stops here

DESCRIPTORS = 5
"""Descriptors of a request: standard input, output and error, the pipe for the exit status, the request."""


class CommandModule(Protocol):
    """A module that knows a command."""

    def prepare(self) -> None:
        """Import what the command imports when it runs."""

    def run_here(self, arguments: list[str]) -> None:
        """Run the command, whose environment, directory and standard streams are those of this process."""


class CommandServer:
    """A process that has imported the command line and forks for each request."""

    def __init__(self, module: str) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX)
        argv = [sys.executable, "-m", __name__, str(theirs.fileno()), module]
        self._process = subprocess.Popen(argv, pass_fds=[theirs.fileno()])
        theirs.close()

    def run(
        self,
        arguments: list[str],
        *,
        cwd: Path | None,
        env: Mapping[str, str],
        given: bytes,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command and capture its output, like `subprocess.run`."""
        file = tempfile.TemporaryFile
        with file() as stdin, file() as out, file() as err, file() as request_file:
            request = {
                "arguments": arguments,
                "cwd": str(cwd or Path.cwd()),
                "env": dict(env),
            }
            for file_to_fill, content in (
                (stdin, given),
                (request_file, json.dumps(request).encode()),
            ):
                file_to_fill.write(content)
                file_to_fill.seek(0)
            ended, status_end = os.pipe()
            with os.fdopen(ended, "rb") as answer:
                try:
                    passed = [
                        stdin.fileno(),
                        out.fileno(),
                        err.fileno(),
                        status_end,
                        request_file.fileno(),
                    ]
                    rights = (
                        socket.SOL_SOCKET,
                        socket.SCM_RIGHTS,
                        array.array("i", passed),
                    )
                    self._ours.sendmsg([b"."], [rights])
                finally:
                    os.close(status_end)
                status = answer.read()
            out.seek(0)
            err.seek(0)
            if not status:
                raise RuntimeError(
                    f"the process that forks commands ended: {err.read().decode()}"
                )
            return subprocess.CompletedProcess(
                arguments, int(status), out.read(), err.read()
            )

    def close(self) -> None:
        """End the process. A command that still runs must be ended by its caller."""
        self._ours.close()
        self._process.wait()


class ForkedCommand:
    """The command that `module` knows, in forks of a process that starts with the first of them."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._server: CommandServer | None = None

    def run(
        self,
        *arguments: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        given: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run the command. `env`: the whole environment; default: this process's."""
        done = self.run_bytes(*arguments, cwd=cwd, env=env, given=given.encode())
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    def run_bytes(
        self,
        *arguments: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        given: bytes = b"",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the command like `run`, with bytes."""
        if self._server is None:
            self._server = CommandServer(self._module)
        return self._server.run(
            list(arguments),
            cwd=cwd,
            env=os.environ if env is None else env,
            given=given,
        )

    def check_against(
        self,
        program: Sequence[str],
        *arguments: str,
        cwd: Path,
        env: Mapping[str, str],
        given: bytes,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the command in a fork and as `program`, and return what both said. Raises AssertionError where they differ."""
        forked = self.run_bytes(*arguments, cwd=cwd, env=env, given=given)
        real = subprocess.run(
            [*program, *arguments],
            cwd=cwd,
            env=env,
            input=given,
            capture_output=True,
            check=False,
        )
        for what in ("returncode", "stdout", "stderr"):
            ours, theirs = getattr(forked, what), getattr(real, what)
            if ours != theirs:
                raise AssertionError(
                    f"{what} of the fork: {ours!r}; of {program}: {theirs!r}"
                )
        return forked

    def close(self) -> None:
        """End the process behind `run`; its CPU time counts as this process's from then on."""
        if self._server is not None:
            self._server.close()
            self._server = None


def _run_in_fork(
    command: CommandModule, request: dict[str, Any], descriptors: list[int]
) -> None:
    """Run the command with the streams, directory and environment of its caller."""
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    os.closerange(3, max(descriptors) + 1)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    command.run_here(request["arguments"])


def _fork(
    command: CommandModule, request: dict[str, Any], descriptors: list[int]
) -> None:
    """Fork a child that runs the command and waits for it, so that several can run at once."""
    if os.fork():
        return
    process = os.fork()
    if process == 0:
        _run_in_fork(command, request, descriptors)
        sys.exit(0)
    _, status = os.waitpid(process, 0)
    os.write(descriptors[3], str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def main() -> None:
    """Fork for each request until the other end closes."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    command = cast(CommandModule, importlib.import_module(sys.argv[2]))
    command.prepare()
    gc.collect()
    gc.freeze()  # saves two thirds of a command's time at its end
    while True:
        data, ancillary, _, _ = requests.recvmsg(1, socket.CMSG_SPACE(4 * DESCRIPTORS))
        if not data:
            return
        descriptors = array.array("i")
        for _, _, sent in ancillary:
            descriptors.frombytes(sent)
        with os.fdopen(os.dup(descriptors[4]), "rb") as request_file:
            request = json.load(request_file)
        _fork(command, request, list(descriptors))
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


if __name__ == "__main__":
    main()
