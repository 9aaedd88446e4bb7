"""The simulated devices that `up --devices N` starts, so that the whole loop can be tried without a phone.

Place: the embedded shape only, beside the agent. One child process of the agent's package holds them all;
the agent is told their addresses as it would be told a phone's. Invariants: they end with the server, even
one that is killed (their standard input ends); they are labelled simulated everywhere and count in no fleet
statistic; only this server's agent may use them.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from paceline_server.kernel.settings import SettingsError

MODULE = "paceline.testing.adbd.fleet"
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


class SimulatedFleet:
    """So many devices while the context lasts. Raises SettingsError with what they said when they do not
    start."""

    def __init__(self, data_dir: Path, count: int) -> None:
        self._agent_data, self._count = data_dir / "agent", count
        self._log = data_dir / "simulated.log"
        self._process: subprocess.Popen[str] | None = None
        self.devices: list[SimulatedDevice] = []

    def __enter__(self) -> Self:
        argv = [sys.executable, "-m", MODULE, "--data", str(self._agent_data), "--devices", str(self._count)]
        with self._log.open("ab") as errors:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,  # Ctrl-C reaches us only; the agent ends before its devices
            )
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line:
            self.__exit__()
            raise SettingsError(f"the simulated devices did not start; see {self._log}")
        self.devices = [SimulatedDevice(**one) for one in json.loads(line)["devices"]]
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
