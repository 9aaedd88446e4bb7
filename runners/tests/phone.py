"""A simulated device as the agent holds it, for tests of what runs on one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey
from paceline.adb.port import Connection, Route
from paceline.devices.attached import Attached
from paceline.devices.persistent import Pace
from paceline.executors.android import AndroidExecutor
from paceline.executors.claim import TargetClaim
from paceline.executors.launch import Limits
from paceline.testing.adbd import Peer

PACE = Pace(patience_s=10.0, farewell_s=10.0, look_s=0.03, silence_s=10.0)
LIMITS = Limits(garbage_bytes=1 << 20, garbage_s=0.3, terminate_s=0.3)


class Phone:
    """`wrap` may put something between the agent and each of its connections."""

    def __init__(self, peer: Peer, state: Path) -> None:
        self.peer, self.state = peer, state
        self._key = AgentKey.load_or_create(state / "key")
        self._devices: list[Attached] = []
        self.wrap: Callable[[Connection], Connection] = lambda connection: connection

    def attached(self) -> Attached:
        """As an agent finds it after its start."""
        self.let_go()
        routes = [Route("tcp", self.peer.address)]
        device = Attached(self.peer.serial, self.state / "device", self._open, routes, locks=self.state)
        self._devices.append(device)
        assert device.look(), device.link
        return device

    def let_go(self) -> None:
        """Closes what the agents before have open."""
        while self._devices:
            self._devices.pop().let_go()

    def executor(self, limits: Limits = LIMITS, pace: Pace = PACE) -> AndroidExecutor:
        host = TargetClaim("host-of-phone", self.state)
        return AndroidExecutor(self.attached(), host, self.state, pace=pace, limits=limits)

    def _open(self, route: Route) -> Connection:
        return self.wrap(DirectConnection(route.address, self._key))

    def left(self) -> list[str]:
        """Everything of a run that is on the device: processes, files, settings."""
        found = [f"process {pid}: {_command(pid)}" for pid in self.peer.processes() if _of_a_run(pid)]
        workdir = Path(f"{self.peer.files}/data/local/tmp/paceline")
        found += [f"file {path}" for path in (workdir, *workdir.rglob("*")) if path.exists()]
        return found + (["fixed performance mode"] if self.peer.fixed_performance else [])


def _of_a_run(pid: int) -> bool:
    try:
        return "PACELINE_RUN" in psutil.Process(pid).environ()
    except psutil.Error:
        return False


def _command(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return "gone"


@contextmanager
def phone(root: Path) -> Iterator[Phone]:
    with Peer(root / "phone", serial="SIM-D") as peer:
        (root / "agent").mkdir()
        running = Phone(peer, root / "agent")
        try:
            yield running
        finally:
            running.let_go()
