"""Starts the simulated devices of `up --devices N`, with which everything can be tried without a phone.

One child process runs them all. It ends with the server, even a killed one, because its standard input is closed. If
it ends by itself, that is reported and it is not restarted, because its devices would have new addresses, which the
agent does not know.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from paceline_server.kernel.settings import SettingsError

MODULE = "paceline.testing.adbd.fleet"
STARTS_WITHIN_S = 60.0
"""Enough for sixteen devices to write their files on a busy host."""
ENDS_WITHIN_S = 10.0
SCENARIOS = {
    "healthy": "healthy",
    "overheats": "overheats within two minutes and cools again",
    "drops": "drops off after two minutes and comes back",
}
"""Descriptions of scenarios for the terminal, by the child's names for them."""


@dataclass(frozen=True)
class SimulatedDevice:
    """A simulated device, as its process reports it."""

    address: str
    serial: str
    scenario: str


def describe_devices(
    devices: Sequence[SimulatedDevice], config: Path, *, configured: bool
) -> list[str]:
    """Return lines about the devices for the terminal. `configured`: whether the agent's configuration has their
    addresses."""
    if not devices:
        return []
    if configured:
        return [
            f"  Simulated device:   {device.serial} ({SCENARIOS[device.scenario]})"
            for device in devices
        ]
    addresses = json.dumps([device.address for device in devices])
    return [
        f"  The simulated devices run, but {config} is your own file, so the agent does not know them. Add this",
        "  to it and restart the agent; the ports change at every start:",
        f"      [devices]\n      simulated = {addresses}",
    ]


def fleet_command(agent_data: Path, count: int) -> list[str]:
    """Return the command line that starts `count` devices for the agent with the data directory `agent_data`."""
    return [
        sys.executable,
        "-m",
        MODULE,
        "--data",
        str(agent_data),
        "--devices",
        str(count),
    ]


class SimulatedFleet:
    """Runs the process `argv` until the block ends. Raises SettingsError if the process does not list its devices in
    time, and calls `on_end` if it ends by itself."""

    def __init__(
        self,
        argv: Sequence[str],
        log: Path,
        on_end: Callable[[str], None],
        starts_within_s: float = STARTS_WITHIN_S,
    ) -> None:
        self._argv, self._log, self._on_end, self._within_s = (
            list(argv),
            log,
            on_end,
            starts_within_s,
        )
        self._first: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ready, self._ending = threading.Event(), threading.Event()
        self._follower = threading.Thread(
            target=self._follow, name="simulated-devices", daemon=True
        )
        self.devices: list[SimulatedDevice] = []

    def __enter__(self) -> Self:
        with self._log.open("ab") as errors:
            self.process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,  # so that Ctrl-C reaches only the server, and the agent ends first
            )
        self._follower.start()
        try:
            self.devices = self._read_devices()
        except BaseException:
            self._end(patience_s=0.0)
            raise
        self._ready.set()
        return self

    def __exit__(self, *_: object) -> None:
        self._end(ENDS_WITHIN_S)

    def _read_devices(self) -> list[SimulatedDevice]:
        try:
            line = self._first.get(timeout=self._within_s)
            return [SimulatedDevice(**device) for device in json.loads(line)["devices"]]
        except (queue.Empty, ValueError, KeyError, TypeError) as error:
            raise SettingsError(
                f"the simulated devices did not start; see {self._log}"
            ) from error

    def _follow(self) -> None:
        """Read the child's first line and wait for its end, in a thread, so that a child that hangs blocks nobody."""
        if self.process.stdout is not None:
            self._first.put(self.process.stdout.readline())
        status = self.process.wait()
        self._ready.wait()  # The child may end before its first line was read.
        if not self._ending.is_set():
            self._on_end(
                f"The simulated devices ended by themselves (status {status}); see {self._log}"
            )

    def _end(self, patience_s: float) -> None:
        self._ending.set()
        self._ready.set()
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._follower.join()  # It fails if its file is closed before it reads.
        if self.process.stdout is not None:
            self.process.stdout.close()
