"""A simulated device attached to an agent, for tests of jobs on it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING

import psutil
from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey
from paceline.adb.port import Banner, CommandResult, Connection, Route, Stream
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.reconnecting import SessionTimeouts
from paceline.executors.android import AndroidExecutor
from paceline.executors.claim import TargetClaim
from paceline.executors.launch import Limits
from paceline.testing.adbd import Peer
from paceline_contract.testing.waiting import WITHIN_S

if TYPE_CHECKING:  # a test starts agents of its own, which have no path to it
    from device_providers import DeviceProvider

PACE = SessionTimeouts(
    patience_s=WITHIN_S, farewell_s=WITHIN_S, look_s=0.03, silence_s=WITHIN_S
)
CLOSING_S = WITHIN_S
"""Time for processes of a closed connection to end."""
LIMITS = Limits(garbage_bytes=1 << 20, garbage_s=0.3, terminate_s=0.3)


class Through:
    """A connection that passes everything on; `push` may change or refuse what is sent; `called` sees every use
    and `ran` every command before it is made.
    """

    def __init__(
        self,
        inner: Connection,
        *,
        push: Callable[[str, bytes], bytes] = lambda _, data: data,
        pushed: Callable[[str], None] = lambda _: None,
        called: Callable[[Connection], None] = lambda _: None,
        ran: Callable[[Sequence[str]], None] = lambda _: None,
    ) -> None:
        self._inner, self._push, self._pushed, self._called = (
            inner,
            push,
            pushed,
            called,
        )
        self._ran = ran

    @property
    def route(self) -> Route:
        return self._inner.route

    def connect(self, timeout_s: float = 10.0) -> Banner:
        self._called(self._inner)
        return self._inner.connect(timeout_s)

    def run(self, argv: Sequence[str], timeout_s: float = 30.0) -> CommandResult:
        self._called(self._inner)
        self._ran(argv)
        return self._inner.run(argv, timeout_s)

    def stream(self, argv: Sequence[str]) -> Stream:
        self._called(self._inner)
        self._ran(argv)
        return self._inner.stream(argv)

    def push(
        self,
        source: Path | bytes,
        remote: str,
        mode: int = 0o644,
        timeout_s: float = 300.0,
    ) -> int:
        self._called(self._inner)
        self._pushed(remote)
        data = source if isinstance(source, bytes) else source.read_bytes()
        return self._inner.push(self._push(remote, data), remote, mode, timeout_s)

    def pull(
        self, remote: str, target: Path | None = None, timeout_s: float = 300.0
    ) -> bytes:
        self._called(self._inner)
        return self._inner.pull(remote, target, timeout_s)

    def props(self) -> dict[str, str]:
        self._called(self._inner)
        return self._inner.props()

    def reboot(self) -> None:
        self._inner.reboot()

    def close(self) -> None:
        self._inner.close()


class Phone:
    """`wrap` may put something between the agent and each of its connections."""

    def __init__(self, peer: Peer, state: Path) -> None:
        self.peer, self.state = peer, state
        self._key = AgentKey.load_or_create(state / "key")
        self._devices: list[AttachedDevice] = []
        self.wrap: Callable[[Connection], Connection] = lambda connection: connection

    def attached(self) -> AttachedDevice:
        """The device as an agent finds it after its start."""
        self.let_go()
        routes = [Route("tcp", self.peer.address)]
        device = AttachedDevice(
            self.peer.serial,
            self.state / "device",
            self._open,
            routes,
            simulated=True,
            locks=self.state,
        )
        self._devices.append(device)
        assert device.look(), device.link
        return device

    def let_go(self) -> None:
        """Closes connections that earlier agents left open."""
        for device in self._devices:
            device.disconnect()

    def executor(
        self, limits: Limits = LIMITS, pace: SessionTimeouts = PACE
    ) -> AndroidExecutor:
        host = TargetClaim("host-of-phone", self.state)
        return AndroidExecutor(
            self.attached(), host, self.state, pace=pace, limits=limits
        )

    def _open(self, route: Route) -> Connection:
        return self.wrap(DirectConnection(route.address, self._key))

    @property
    def workdir(self) -> Path:
        """The directory of runs, seen from outside of the device."""
        return self.outside(PurePosixPath(self.peer.workdir))

    def outside(self, path: PurePath) -> Path:
        """A path of the device as this host sees it."""
        return Path(
            f"{self.peer.files}{path}" if self.peer.device.mode == "namespace" else path
        )

    def _strays(self) -> list[int]:
        """Processes without a connection that still run: a logcat, a follower, a shell."""
        over, waiter = time.monotonic() + CLOSING_S, threading.Event()
        while True:
            strays = [pid for pid in self.peer.processes() if not self.of_a_run(pid)]
            if not strays or time.monotonic() > over:
                return strays
            waiter.wait(0.02)

    @staticmethod
    def of_a_run(pid: int) -> bool:
        """Whether Paceline started it, or something that it started did."""
        try:
            return "PACELINE_RUN" in psutil.Process(pid).environ()
        except psutil.Error:
            return False

    def left(self) -> list[str]:
        """Everything of ours on the device: processes, files, settings. Processes of a closed connection have a
        moment to end; those of a run have none.
        """
        processes = [
            f"process {pid}: {_command(pid)}"
            for pid in self.peer.processes()
            if self.of_a_run(pid)
        ]
        processes += [
            f"file {path}"
            for path in (self.workdir, *self.workdir.rglob("*"))
            if path.exists()
        ]
        processes += ["fixed performance mode"] if self.peer.fixed_performance else []
        return processes or [f"stray {pid}: {_command(pid)}" for pid in self._strays()]


def _command(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return "gone"


@contextmanager
def phone(root: Path, provider: DeviceProvider) -> Iterator[Phone]:
    with provider.running(root / "phone", "SIM-D") as peer:
        (root / "agent").mkdir()
        running = Phone(peer, root / "agent")
        try:
            yield running
        finally:
            running.let_go()
