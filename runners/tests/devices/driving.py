"""Runs a device, its driver and its heartbeats in one thread, for tests of the driver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from paceline.adb.port import CommandResult, Connection, Route
from paceline.api import ApiClient
from paceline.artifacts import ArtifactCache
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.driver import DeviceDriver, DriverIntervals, DriverServices
from paceline.devices.leftovers import LeftOverError
from paceline.executors.fake import FakeExecutor, LaunchScript
from paceline.lane import Lane, LaneResources
from paceline.spool import Spool
from paceline.testing.fake_device import FakeDevice
from paceline.testing.fake_device_shell import Execution
from paceline.testing.fake_server import FakeServer

from .support import FakeBackends

SERIAL = "PHONE0001"
QUICK = DriverIntervals(
    look_s=0.0,
    others_s=0.0,
    retry_s=0.0,
    readings_s=0.0,
    rung_s=0.0,
    boot_look_s=0.0,
    claim_s=0.0,
)

WORK = {
    "suite": "mine",
    "repository": "theirs",
    "manifest_path": "suite.toml",
    "commit": "0" * 40,
    "benchmarks": ["sort"],
    "params": {},
    "knobs": {},
    "first_launch": 0,
    "launches": 1,
    "rounds": 1,
    "min_time_ns": 1000,
    "seed": 1,
    "launch_timeout_s": 1.0,
}


class Broken(FakeDevice):
    """Answers, and computes wrong digests while `wrong`."""

    wrong = True

    def execute(self, argv: Sequence[str]) -> Execution:
        lies = self.wrong and argv[0] == "sha256sum"
        return CommandResult(0, b"0" * 64) if lies else super().execute(argv)


class Mended(Broken):
    """A restart mends it."""

    def reboot(self) -> None:
        self.wrong = False
        super().reboot()


class BrokenEcho(FakeDevice):
    """A broken `echo`: it prints something else."""

    def execute(self, argv: Sequence[str]) -> Execution:
        return (
            CommandResult(0, b"\0\xff" * 3000)
            if argv[0] == "echo"
            else super().execute(argv)
        )


class Drive:
    """One device, its driver, and the heartbeat between it and the server; everything in one thread."""

    def __init__(
        self,
        server: FakeServer,
        api: ApiClient,
        root: Path,
        there: FakeDevice,
        *routes: Route,
    ) -> None:
        self.server, self.there = server, there
        used = routes or (Route("tcp", "home"),)
        self.backends = FakeBackends(
            **{route.name or route.address: there for route in used}
        )
        self.device = AttachedDevice(
            there.serial, root / there.serial, self.backends.open, used, locks=root
        )
        self.leaving = threading.Event()
        self.cleaned: list[str] = []
        self.left_over: LeftOverError | None = None
        """The error with which cleaning ends, if it fails."""
        self.self_test: Path | None = None
        """The program that a check runs on the device."""
        shared = LaneResources(
            api=api,
            repositories={},
            open_cache=lambda: ArtifactCache(root / "a", 1 << 20),
            spool=Spool(root / "spool"),
            leaving=self.leaving,
            ends_agent=lambda _: False,
            poll_s=0.0,
        )
        lane = Lane(shared, there.serial, FakeExecutor(lambda _: LaunchScript()))
        tools = DriverServices(self.backends, self._clean, lambda _: self.self_test)
        self.driver = DeviceDriver(self.device, lane, tools, self.leaving, QUICK)
        self.api = api

    def _clean(self, device: AttachedDevice, connection: Connection) -> list[str]:
        assert connection.route in device.routes
        self.cleaned.append(device.serial)
        if self.left_over is not None:
            raise self.left_over
        return []

    def beat(self) -> dict[str, Any]:
        """Sends one heartbeat; returns what it reported of the device."""
        for heard in self.api.heartbeat([self.driver.entry()], []).targets:
            self.driver.take_reply(heard)
        return dict(self.server.heartbeats[-1]["targets"][0])

    def turns(self, until: Callable[[], object], limit: int = 40) -> None:
        for _ in range(limit):
            self.driver.take_turn_safely()
            self.beat()
            if until():
                return
        raise AssertionError("the condition did not come true")


Making = Callable[..., Drive]
