"""Runs all devices of one agent: discovery in one thread, and a driver in a thread per device.

When the agent leaves, every device finishes its job.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

from paceline.adb.port import Connection
from paceline.api import TargetReply
from paceline.config import DeviceSettings
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.backends import DeviceBackends
from paceline.devices.discovery import Discovery
from paceline.devices.driver import DeviceDriver, DriverIntervals, DriverServices
from paceline.devices.heartbeat_report import FindingEntry, finding_entry
from paceline.devices.leftovers import RunJournal, clean
from paceline.devices.self_test import find_self_test
from paceline.executors.android import AndroidExecutor
from paceline.executors.claim import TargetClaim
from paceline.lane import Lane, LaneResources
from paceline.stop import StopReason

log = logging.getLogger("paceline.devices")

MAX_ROUTE_FINDINGS = 16
"""Most routes without a device in one heartbeat; a few are enough to report a rack without power."""


class DeviceLanes:
    """Drives devices while the context is open. Leaving it waits for their jobs, even after an error."""

    def __init__(
        self,
        config: DeviceSettings,
        backends: DeviceBackends,
        root: Path,
        shared: LaneResources,
        *,
        host_serial: str,
        artifacts: Path,
        request_heartbeat: Callable[[], None],
        pace: DriverIntervals | None = None,
    ) -> None:
        self._root, self._shared, self._host_serial = root, shared, host_serial
        self._pace = pace or DriverIntervals()
        program = partial(find_self_test, config.self_test, artifacts)
        self._tools = DriverServices(backends, self._clean, program, request_heartbeat)
        self._discovery = Discovery(
            config,
            backends,
            root,
            self._start_driver,
            self._nudge,
            on_removed=self._end_driver,
            connect_s=self._pace.connect_s,
        )
        self._drivers: dict[str, DeviceDriver] = {}
        self._threads: list[threading.Thread] = []
        self._leaving = threading.Event()

    @property
    def busy(self) -> bool:
        return any(driver.lane.busy for driver in list(self._drivers.values()))

    def entries(self) -> list[dict[str, Any]]:
        """Return all devices' entries of a heartbeat."""
        return [
            driver.entry()
            for driver in list(self._drivers.values())
            if driver.is_announced
        ]

    def findings(self) -> list[FindingEntry]:
        """Return the host's findings about routes where no device was found."""
        return [
            finding_entry("device_route", f"{route}: {link.reason}", link.advice or "")
            for route, link in sorted(self._discovery.unknown.items(), key=str)[
                :MAX_ROUTE_FINDINGS
            ]
        ]

    def take_reply(self, reply: TargetReply) -> None:
        driver = self._drivers.get(reply.serial)
        if driver is not None:
            driver.take_reply(reply)

    def leave(self) -> None:
        """Make every device end after its job."""
        self._leaving.set()
        for driver in list(self._drivers.values()):
            driver.leave()

    def cancel(self, reason: StopReason) -> None:
        """Cancel the devices' jobs."""
        for driver in list(self._drivers.values()):
            driver.lane.cancel(reason)

    def __enter__(self) -> Self:
        self._start_thread("discover", self._discover)
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        # The list grows until discovery, its first thread, has ended.
        for thread in self._threads:
            thread.join()

    def _discover(self) -> None:
        while not self._leaving.is_set():
            try:
                self._discovery.look()
            except Exception:
                log.exception("looking for devices failed")
            self._leaving.wait(self._pace.discover_s)
        for driver in list(self._drivers.values()):  # also those added meanwhile
            driver.leave()

    def _start_driver(self, device: AttachedDevice) -> None:
        # The lane needs its own claim object, because a lock object is re-entrant.
        claim = TargetClaim(self._host_serial)
        executor = AndroidExecutor(device, claim, self._root)
        lane = Lane(self._shared, device.serial, executor)
        driver = DeviceDriver(
            device, lane, self._tools, self._shared.leaving, self._pace
        )
        self._drivers[device.serial] = driver
        self._start_thread(f"device-{device.serial}", driver.run)
        self._tools.request_heartbeat()

    def _end_driver(self, device: AttachedDevice) -> None:
        self._drivers.pop(device.serial).leave()

    def _nudge(self, device: AttachedDevice) -> None:
        self._drivers[device.serial].look_now()

    def _start_thread(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _clean(self, device: AttachedDevice, connection: Connection) -> list[str]:
        done = clean(connection, RunJournal(self._root, device.serial), device.workdir)
        return [f"Cleaned away: {done}"] if done else []
