"""The first process of the simulated device: enters the device's root and starts processes on request.

A child of the peer, run as a script; with namespaces of its own it is process 1. It ends with its peer,
however that ends, and nothing it started outlives it. A child gets exactly the three descriptors given to it.
Only the standard library is imported.

Messages are four bytes of length, then JSON. From the peer: {"start": id, "argv", "env", "terminal"} with
three descriptors (and "listens": names to paths of sockets, handed over as Android's init does),
{"hang_up": id}, {"kill": id}, {"kill_all": true}, {"connect": id, "to": port or path}, {"resize": bytes}. To
the peer: {"ready": …}, {"ended": id, "status"}, {"killed": true}, {"connected": id, "error"} with a
descriptor unless there is an error.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

assert sys.platform != "win32"  # noqa: S101 - tells mypy that this file exists for POSIX only

LENGTH_BYTES = 4
PR_SET_CHILD_SUBREAPER = 36
"""prctl(2): orphans among our descendants become our children."""

HOST_DIRECTORIES = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "etc")
"""Files of the host that the device may read: the shell, its tools and their libraries."""
HOST_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
"""The device files of the host that it gets; none of them is a disk."""

ANDROID_HOST_DIRECTORIES = ("usr", "lib", "lib32", "lib64")
"""Files of the host for a device with Android's shell and tools: libraries, and the files of those tools."""

READ_ONLY, REMOUNT, BIND, WITH_ALL_BELOW = 1, 32, 4096, 16384
"""mount(2): MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC."""
KEPT_FLAGS = 2 | 4 | 8 | 1024 | 2048
"""Flags of mounts with the same values in statvfs(3) and mount(2): nosuid, nodev, noexec, noatime, nodiratime. A
user namespace may not drop them.
"""

QEMU_ARM64 = ("qemu-aarch64-static", "qemu-aarch64")
ARM64_ELF = (
    r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00",
    r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff",
)
"""Magic and mask of an arm64 executable, as qemu's own registration has them."""


PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
"""prctl(2): without ambient capabilities, an unprivileged user has none after execve(2)."""

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
"""netdevice(7)."""


def mount(
    source: Path | str, target: Path, kind: str = "", flags: int = 0, options: str = ""
) -> None:
    """Mount as mount(2) does. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    data = options.encode() or None
    if libc.mount(
        os.fsencode(source), os.fsencode(target), kind.encode() or None, flags, data
    ):
        number = ctypes.get_errno()
        raise OSError(number, f"mount {source} at {target}: {os.strerror(number)}")


def lend(source: Path, target: Path) -> None:
    """Mount a directory of the host, which the device may only read."""
    target.mkdir(exist_ok=True)
    mount(source, target, flags=BIND | WITH_ALL_BELOW)
    flags = os.statvfs(target).f_flag & KEPT_FLAGS
    mount(source, target, flags=BIND | REMOUNT | READ_ONLY | flags)


def enter(root: Path, over: Path, *, arm64: bool, data_bytes: int) -> bool:
    """Make `root` the root directory, with the host's tools in it, or, when the storage of `/data` has a
    size, with no more of the host than Android's tools need. True when arm64 programs can run."""
    for name in ANDROID_HOST_DIRECTORIES if data_bytes else HOST_DIRECTORIES:
        source, target = Path("/", name), root / name
        if source.is_symlink() and not target.is_symlink():
            target.symlink_to(source.readlink())
        elif source.is_dir() and not source.is_symlink():
            lend(source, target)
    fill_devices(root / "dev", own_terminals=data_bytes > 0)
    (root / "proc").mkdir(exist_ok=True)
    mount("proc", root / "proc", "proc")
    for file in sorted(path for path in over.rglob("*") if path.is_file()):
        mount(file, root / file.relative_to(over), flags=BIND)
    runs_arm64 = os.uname().machine == "aarch64" or (arm64 and register_arm64(root))
    if data_bytes:
        mount("tmpfs", root / "data", "tmpfs", options=f"size={data_bytes},mode=0771")
        for name in ("local/tmp", "misc/adb"):
            (root / "data" / name).mkdir(parents=True)
        switch_on_loopback()
    os.chroot(root)
    os.chdir("/")
    return runs_arm64


def fill_devices(directory: Path, *, own_terminals: bool) -> None:
    directory.mkdir(exist_ok=True)
    mount("tmpfs", directory, "tmpfs")
    if (
        own_terminals
    ):  # adbd opens them itself; the peer opens those of its own shells outside
        (directory / "pts").mkdir()
        (directory / "socket").mkdir()
        mount(
            "devpts",
            directory / "pts",
            "devpts",
            options="newinstance,ptmxmode=0666,mode=0620",
        )
        (directory / "ptmx").symlink_to("pts/ptmx")
    for name in HOST_DEVICES:
        source, target = Path("/dev", name), directory / name
        if target.exists():
            continue
        if source.is_dir():
            target.mkdir()
        elif source.exists():
            target.touch()
        else:
            continue
        mount(source, target, flags=BIND)
    (directory / "shm").mkdir()
    (directory / "fd").symlink_to("/proc/self/fd")


def switch_on_loopback() -> None:
    """Switch on the only interface of a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = fcntl.ioctl(
            any_socket, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0)
        )
        flags = struct.unpack("16sH14x", request)[1]
        fcntl.ioctl(
            any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP)
        )


def register_arm64(root: Path) -> bool:
    """Let qemu run arm64 programs in our user namespace alone (Linux 6.7). Returns whether they run, here or by the
    host's own registration."""
    registry = root / "proc/sys/fs/binfmt_misc"
    path = next(filter(None, map(which, QEMU_ARM64)), None)
    try:
        mount("binfmt_misc", registry, "binfmt_misc")
        if path is not None and not (registry / "qemu-aarch64").exists():
            magic, mask = ARM64_ELF
            (registry / "register").write_text(
                f":qemu-aarch64:M::{magic}:{mask}:{path}:F"
            )
    except OSError:  # an older kernel has one registry for all
        pass
    places = (
        registry,
        Path("/proc/sys/fs/binfmt_misc"),
    )  # ours, and the host's as seen from outside
    return any(list(place.glob("qemu-aarch64*")) for place in places)


def which(name: str) -> str | None:
    places = (Path(directory, name) for directory in os.get_exec_path())
    return next((str(path) for path in places if os.access(path, os.X_OK)), None)


class Init:
    """Starts, reaps and kills processes on request of the peer."""

    def __init__(self, control: socket.socket, *, first: bool) -> None:
        self._control, self._first = control, first
        self._running: dict[int, int] = {}
        """Process id → the peer's number for the command."""

    def serve(self) -> None:
        """Serve requests until the peer closes its end."""
        wake, woken = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ready, _, _ = select.select([self._control.fileno(), wake], [], [])
            if wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake, 4096)
                self._reap()
            if self._control.fileno() in ready:
                message, descriptors = self._receive()
                if message is None:
                    return
                self._carry_out(message, descriptors)

    def kill_all(self) -> None:
        """Kill every process of the device, even orphans; return once none is left."""
        while True:
            for pid in self._children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                return
            self._report_end(pid, status)

    def _children(self) -> list[int]:
        if self._first:
            return [-1]
        try:
            return [
                int(pid)
                for pid in Path("/proc/self/task", str(os.getpid()), "children")
                .read_text()
                .split()
            ]
        except OSError:  # no /proc: macOS, where orphans are not ours to find
            return list(self._running)

    def _carry_out(self, message: dict[str, Any], descriptors: list[int]) -> None:
        if "start" in message:
            self._start(message, descriptors)
        elif "hang_up" in message:
            for pid in [
                pid
                for pid, number in self._running.items()
                if number == message["hang_up"]
            ]:
                os.kill(pid, signal.SIGHUP)
        elif "kill" in message:
            for pid in [
                pid
                for pid, number in self._running.items()
                if number == message["kill"]
            ]:
                os.kill(pid, signal.SIGKILL)
        elif "connect" in message:
            self._connect(message["connect"], message["to"])
        elif "resize" in message:
            mount(
                "tmpfs",
                Path("/data"),
                flags=REMOUNT,
                options=f"size={message['resize']}",
            )
        elif "kill_all" in message:
            self.kill_all()
            self.tell({"killed": True})

    def _start(self, message: dict[str, Any], descriptors: list[int]) -> None:
        pid = os.fork()
        if pid == 0:
            try:
                become(message, descriptors)
            finally:
                os._exit(127)
        for descriptor in descriptors:
            os.close(descriptor)
        self._running[pid] = message["start"]

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._report_end(*ended)

    def _report_end(self, pid: int, status: int) -> None:
        number = self._running.pop(pid, None)
        if number is not None:
            self.tell({"ended": number, "status": os.waitstatus_to_exitcode(status)})

    def _connect(self, number: int, to: int | str) -> None:
        """Connect within the device's network or file system, which the peer cannot reach itself."""
        family, kind = socket.AF_INET, socket.SOCK_STREAM
        if isinstance(to, str):
            family, kind = socket.AF_UNIX, socket.SOCK_SEQPACKET
        with socket.socket(family, kind) as made:
            try:
                made.connect(to if isinstance(to, str) else ("127.0.0.1", to))
            except OSError as error:
                self.tell({"connected": number, "error": str(error)})
            else:
                self.tell({"connected": number, "error": None}, [made.fileno()])

    def tell(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        text = json.dumps(message).encode()
        head = len(text).to_bytes(LENGTH_BYTES, "big")
        with contextlib.suppress(
            BrokenPipeError
        ):  # the peer is gone; `serve` sees it next
            if descriptors:
                socket.send_fds(self._control, [head], descriptors)
            else:
                self._control.sendall(head)
            self._control.sendall(text)

    def _receive(self) -> tuple[dict[str, Any] | None, list[int]]:
        head, descriptors, _, _ = socket.recv_fds(self._control, LENGTH_BYTES, 3)
        if len(head) < LENGTH_BYTES:
            return None, []
        text = self._control.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
        return json.loads(text), descriptors


def become(message: dict[str, Any], descriptors: list[int]) -> None:
    """Become the requested command; called in the child."""
    os.setsid()
    if message["terminal"]:
        fcntl.ioctl(descriptors[0], termios.TIOCSCTTY, 0)
    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
    os.closerange(3, 256)
    signal.set_wakeup_fd(-1)
    # SIGHUP too: under `nohup` it is inherited ignored, and then no shell could set its trap.
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux" and os.getuid() != 0:
        ctypes.CDLL(None).prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    listening = {
        name: listener(path) for name, path in message.get("listens", {}).items()
    }
    environment = message["env"] | {
        f"ANDROID_SOCKET_{name}": str(made.fileno()) for name, made in listening.items()
    }
    try:
        os.execve(message["argv"][0], message["argv"], environment)  # noqa: S606 - it is the shell
    except OSError as error:
        os.write(2, f"{message['argv'][0]}: {error.strerror}\n".encode())


def listener(path: str) -> socket.socket:
    """Return a socket of a service that Android's init starts: bound, inherited, and the service's to listen on."""
    Path(path).unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.bind(path)
    made.set_inheritable(True)
    return made


def main(
    root: Path, over: Path, descriptor: int, mode: str, *, abi: str, data_bytes: int
) -> None:
    control = socket.socket(fileno=descriptor)
    first = mode == "namespace"
    runs_arm64 = os.uname().machine in ("aarch64", "arm64")
    if first:
        runs_arm64 = enter(root, over, arm64=abi == "arm64-v8a", data_bytes=data_bytes)
    elif sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    init = Init(control, first=first)
    init.tell({"ready": True, "runs_arm64": runs_arm64})
    init.serve()
    init.kill_all()


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        Path(sys.argv[2]),
        int(sys.argv[3]),
        sys.argv[4],
        abi=sys.argv[5],
        data_bytes=int(sys.argv[6]),
    )
