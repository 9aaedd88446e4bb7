"""The simulated device: a scratch root, and the processes that run in it.

A command runs in the scratch root as on a device (`namespace`), or, where the kernel allows no namespaces,
with the device's directories as absolute paths of the host (`prefix`). No process outlives `stop`. The ADB
protocol is elsewhere.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import psutil

Mode = Literal["namespace", "prefix"]
NAMESPACES = (
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
)
AS_SHELL = ("unshare", "--user", "--map-user=2000", "--map-group=2000", "--keep-caps")
IN_ITS_OWN_NETWORK = ("--mount", "--net", "--pid", "--fork", "--kill-child")
"""Options of unshare for a device with Android's user `shell`. The first process needs the capabilities; its children have
none."""
START_TIMEOUT_S = 30.0
FIRST_PROCESS = Path(__file__).with_name("init.py")
LENGTH_BYTES = 4
"""Length field before each message in both directions."""
KILLED = -9
SHELL = "/bin/sh"
ANDROIDS_PATH = (
    "/product/bin:/system/bin:/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin"
)
"""The PATH that Android's init gives its services (_PATH_DEFPATH of bionic)."""


class Child:
    """A command that runs on the device."""

    def __init__(self, device: Device, number: int) -> None:
        self._device, self._number = device, number
        self._status: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def record_end(self, status: int) -> None:
        if not self._status.done():
            self._status.set_result(status)

    async def wait(self) -> int:
        """Wait for the exit code; a signal's number is negative."""
        return await asyncio.shield(self._status)

    def hang_up(self) -> None:
        """Send SIGHUP to the command itself, as adbd does; its background processes continue."""
        if not self._status.done():
            self._device.tell({"hang_up": self._number})

    def kill(self) -> None:
        """Send SIGKILL to the command itself."""
        if not self._status.done():
            self._device.tell({"kill": self._number})


class Device:
    """`start` before anything else, in the event loop; `stop` at the end, from any thread."""

    def __init__(
        self,
        root: Path,
        over: Path,
        abi: str,
        mode: Mode | None,
        *,
        data_bytes: int = 0,
    ) -> None:
        """Prepare the device. With `data_bytes` it has Android's shell and tools instead of the host's, its own network,
        and that much storage below `/data`."""
        self.root, self._over, self._abi, self._data_bytes = root, over, abi, data_bytes
        self._wanted = mode
        self.mode: Mode = "prefix"
        self.why_prefix = ""
        """The error of this machine when it was asked for namespaces."""
        self.runs_arm64 = False
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._children: dict[int, Child] = {}
        self._numbers = itertools.count(1)
        self._killed: asyncio.Future[None] | None = None
        self._connecting: dict[int, asyncio.Future[socket.socket]] = {}

    def start(self) -> None:
        """Start the first process: in namespaces, else without."""
        modes: list[Mode] = [self._wanted] if self._wanted else ["namespace", "prefix"]
        for mode in modes:
            try:
                ready = self._launch(mode)
            except OSError as error:
                self.why_prefix = str(error)
                continue
            self.mode, self.runs_arm64 = mode, ready["runs_arm64"]
            asyncio.get_running_loop().add_reader(self._socket, self._read_message)
            return
        raise OSError(f"the device did not start: {self.why_prefix}")

    def spawn(
        self,
        argv: Sequence[str],
        environment: dict[str, str],
        descriptors: Sequence[int],
        *,
        terminal: bool,
        listens: Mapping[str, str] | None = None,
    ) -> Child:
        """Start a command with these three descriptors, which stay the caller's to close. `listens`: names
        of sockets to hand over, to their paths on the device."""
        number = next(self._numbers)
        child = self._children[number] = Child(self, number)
        message = {
            "start": number,
            "argv": list(argv),
            "env": environment,
            "terminal": terminal,
        }
        message["listens"] = dict(listens or {})
        self.tell(message, descriptors)
        return child

    def tell(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send a message to the first process."""
        text = json.dumps(message).encode()
        head = len(text).to_bytes(LENGTH_BYTES, "big")
        if descriptors and sys.platform != "win32":
            socket.send_fds(self._socket, [head], list(descriptors))
        else:
            self._socket.sendall(head)
        self._socket.sendall(text)

    async def connect(self, to: int | str) -> socket.socket:
        """Connect to a port of the device or to the path of a socket. Raises OSError."""
        number = next(self._numbers)
        connected: asyncio.Future[socket.socket] = (
            asyncio.get_running_loop().create_future()
        )
        self._connecting[number] = connected
        self.tell({"connect": number, "to": to})
        return await connected

    async def kill_all(self) -> None:
        """End every process of the device, as a reboot does."""
        self._killed = asyncio.get_running_loop().create_future()
        self.tell({"kill_all": True})
        await self._killed

    def processes(self) -> list[int]:
        """Return the host's process ids of everything that runs on the device."""
        first = (
            1 if self.mode == "namespace" else 0
        )  # unshare's child is the first process itself
        return [process.pid for process in self._family()[first:] if _is_alive(process)]

    @property
    def has_androids_tools(self) -> bool:
        return self._data_bytes > 0

    @property
    def files(self) -> Path:
        """Return its root directory as this host sees it, including mounts."""
        family = self._family()
        return (
            Path(f"/proc/{family[0].pid}/root")
            if self._data_bytes and family
            else self.root
        )

    def _family(self) -> list[psutil.Process]:
        if self._process is None:
            return []
        try:
            return psutil.Process(self._process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def stop(self) -> None:
        """End the first process and with it everything on the device."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.communicate(timeout=START_TIMEOUT_S)
        self._control = self._process = None

    @property
    def _socket(self) -> socket.socket:
        if self._control is None:
            raise OSError("the device does not run")
        return self._control

    def _launch(self, mode: Mode) -> dict[str, Any]:
        prefix: tuple[str, ...] = ()
        if mode == "namespace":
            prefix = (
                (*AS_SHELL, *IN_ITS_OWN_NETWORK) if self._data_bytes else NAMESPACES
            )
        if prefix and shutil.which(prefix[0]) is None:
            raise OSError("no unshare here (Linux has it)")
        ours, theirs = socket.socketpair()
        command = [
            *prefix,
            sys.executable,
            "-I",
            "-S",
            str(FIRST_PROCESS),
            str(self.root),
            str(self._over),
        ]
        command += [str(theirs.fileno()), mode, self._abi, str(self._data_bytes)]
        with theirs:
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        self._control = ours
        ours.settimeout(START_TIMEOUT_S)
        message, _ = self._message()
        ours.settimeout(None)
        if message is None:
            _, complaint = self._process.communicate(timeout=START_TIMEOUT_S)
            ours.close()
            self._control = self._process = None
            raise OSError(
                (
                    complaint.decode("utf-8", "replace").strip().splitlines()
                    or ["it ended"]
                )[-1]
            )
        return message

    def _message(self) -> tuple[dict[str, Any] | None, list[int]]:
        """Receive a message with its descriptors."""
        head, descriptors = b"", list[int]()
        if sys.platform != "win32":
            head, descriptors, _, _ = socket.recv_fds(self._socket, LENGTH_BYTES, 1)
        if len(head) < LENGTH_BYTES:
            return None, []
        text = self._socket.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
        return json.loads(text), descriptors

    def _read_message(self) -> None:
        message, descriptors = self._message()
        if message is None:
            asyncio.get_running_loop().remove_reader(self._socket)
            for child in self._children.values():
                child.record_end(KILLED)
            for made in self._connecting.values():
                made.set_exception(ConnectionAbortedError("the device ended"))
        elif "ended" in message:
            child = self._children.pop(message["ended"])
            child.record_end(message["status"])
        elif "connected" in message:
            made = self._connecting.pop(message["connected"])
            if descriptors:
                made.set_result(socket.socket(fileno=descriptors[0]))
            else:
                made.set_exception(ConnectionRefusedError(message["error"]))
        elif "killed" in message and self._killed is not None:
            self._killed.set_result(None)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def environment_of(device: Device) -> dict[str, str]:
    """Return the environment that adbd gives a shell; `PATH` begins with the device's own tools."""
    if device.has_androids_tools:
        return {
            "PATH": ANDROIDS_PATH,
            "ANDROID_DATA": "/data",
            "ANDROID_ROOT": "/system",
            "TMPDIR": "/data/local/tmp",
        }
    base = "" if device.mode == "namespace" else str(device.root)
    host_path = os.environ.get("PATH", "/usr/bin:/bin")
    return {
        "PATH": f"{base}/system/bin:{host_path if base else '/usr/bin:/bin:/usr/sbin:/sbin'}",
        "HOME": f"{base}/data/local/tmp" if base else "/",
        "TMPDIR": f"{base}/data/local/tmp",
        "ANDROID_DATA": f"{base}/data",
        "ANDROID_ROOT": f"{base}/system",
        "LANG": "C.UTF-8",
        "USER": "shell",
        "LOGNAME": "shell",
        "HOSTNAME": "localhost",
        "SHELL": SHELL,
        "TERM": "dumb",
    }
