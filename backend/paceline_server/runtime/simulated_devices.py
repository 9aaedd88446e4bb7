"""The simulated devices that `up --devices N` starts, so that the whole loop can be tried without a phone.

Place: the embedded shape only, beside the agent. One child process of the agent's package holds them all;
the agent is told their addresses as it would be told a phone's. Invariants: they end with the server, even
one that is killed (their standard input ends); they are labelled simulated everywhere and count in no fleet
statistic; only this server's agent may use them. One that ends by itself is said, not started again: its
devices would listen elsewhere than the running agent was told.
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
"""Sixteen devices lay out their files; a loaded host takes its time."""
ENDS_WITHIN_S = 10.0
SCENARIOS = {
    "healthy": "healthy",
    "overheats": "overheats within two minutes and cools again",
    "drops": "drops off after two minutes and comes back",
}
"""In words for the terminal, by the name the peer gives them."""


@dataclass(frozen=True)
class SimulatedDevice:
    """One of them, as it was started."""

    address: str
    serial: str
    scenario: str


def announced(
    devices: Sequence[SimulatedDevice], config: Path, *, told: bool
) -> list[str]:
    """Lines for the terminal; `told`: whether the agent's configuration is ours to write, so that it knows
    their addresses."""
    if not devices:
        return []
    if told:
        return [
            f"  Simulated device:   {device.serial} ({SCENARIOS[device.scenario]})"
            for device in devices
        ]
    addresses = json.dumps([device.address for device in devices])
    return [
        f"  The simulated devices run, but {config} is your own, so the agent was not told of them. To see",
        "  them, write this into it and restart the agent; their ports are others at every start:",
        f"      [devices]\n      simulated = {addresses}",
    ]


def command(agent_data: Path, count: int) -> list[str]:
    """The peers of the agent's package, for the agent with this data directory."""
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
    """What `argv` starts, while the context lasts. Raises SettingsError with where to look when it does not
    say its devices in time; `on_end` is told once when it ends by itself later."""

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
        self.devices: list[SimulatedDevice] = []

    def __enter__(self) -> Self:
        with self._log.open("ab") as errors:
            self.process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,  # Ctrl-C reaches us only; the agent ends before its devices
            )
        threading.Thread(
            target=self._follow, name="simulated-devices", daemon=True
        ).start()
        try:
            self.devices = self._said()
        except BaseException:
            self._end(patience_s=0.0)
            raise
        self._ready.set()
        return self

    def __exit__(self, *_: object) -> None:
        self._end(ENDS_WITHIN_S)

    def _said(self) -> list[SimulatedDevice]:
        try:
            line = self._first.get(timeout=self._within_s)
            return [SimulatedDevice(**device) for device in json.loads(line)["devices"]]
        except (queue.Empty, ValueError, KeyError, TypeError) as error:
            raise SettingsError(
                f"the simulated devices did not start; see {self._log}"
            ) from error

    def _follow(self) -> None:
        """Reads what it says, so that nobody waits for a peer that hangs; then waits for its end."""
        if self.process.stdout is not None:
            self._first.put(self.process.stdout.readline())
        status = self.process.wait()
        self._ready.wait()  # it may have ended before anybody had read its first line
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
        if self.process.stdout is not None:
            self.process.stdout.close()  # last: closing waits for whoever still reads
