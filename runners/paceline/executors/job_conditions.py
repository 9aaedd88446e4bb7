"""Observes a device before, between and after the launches of a job.

    before ─▶ [ window ─▶ launch ─▶ window ─▶ clean up ─▶ during ]… ─▶ after

No command is sent while a launch runs. Pressure covers the launch alone: it is read right before its start and
right after its end, by the device's clock. `devices/conditions.py` makes the readings.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable

import msgspec
from paceline_contract.items import (
    CommandOutput,
    Conditions,
    ObservationPhase,
    Observed,
)

from paceline.adb.port import Connection
from paceline.cpu_wait import SHORTEST_SHARE_S
from paceline.devices.conditions import MAX_TEXT, TIMEOUT_S, DeviceConditions
from paceline.devices.parsers import resources
from paceline.devices.parsers.text_values import files_of
from paceline.devices.reconnecting import ReconnectingDevice

RESOURCES = ("cpu", "memory", "io")
WINDOW = (
    "grep",
    "-H",
    "",
    "/proc/uptime",
    *(f"/proc/pressure/{name}" for name in RESOURCES),
)
"""Read by one small process at each end of a launch."""
CALIBRATION = "calibration_ns"


class StallTimes(msgspec.Struct, frozen=True):
    """How long some task has waited for each resource, at a time since boot."""

    at_s: float
    waited_us: dict[str, int]


class JobConditions:
    """Observes a device for one job, on the job's thread.

    `state`: the session's changes to the device, reported before and after; `gaps`: returns how often the log
    was lost.
    """

    def __init__(
        self,
        persistent: ReconnectingDevice,
        observer: DeviceConditions,
        take: Callable[[Conditions], None],
        *,
        state: dict[str, Observed],
        gaps: Callable[[], int],
    ) -> None:
        self._persistent, self._observer, self._take = persistent, observer, take
        self._state, self._gaps = state, gaps
        self._began: StallTimes | None = None
        self._ended: StallTimes | None = None
        self._windows: list[CommandOutput] = []

    def note_launch_begin(self) -> None:
        self._began, self._ended, self._windows = (
            self._read_stalls(),
            None,
            self._windows[-1:],
        )

    def note_launch_end(self) -> None:
        self._ended = self._read_stalls()

    def observe(self, phase: ObservationPhase) -> None:
        """Read the device's conditions and pass them on. Raises TargetError."""
        at_ms, full = self._observer.at_ms, phase != "during"
        reading = self._persistent.ask(
            lambda connection: self._observer.read(connection, full)
        )
        values = {
            name: value
            for name, value in reading.values.items()
            if not name.startswith("psi_")
        }
        values |= self._state if full else self._pressure()
        if gaps := self._gaps():
            values["log_gaps"] = gaps
        unknown = values.get("unknown")
        if (
            full
            and CALIBRATION not in values
            and isinstance(unknown, list)
            and CALIBRATION not in unknown
        ):
            values["unknown"] = [*unknown, CALIBRATION]
        raw, self._windows = [*self._windows, *reading.raw], []
        self._take(Conditions(phase, at_ms, values, raw))

    def _read_stalls(self) -> StallTimes | None:
        at_ms, began = self._observer.at_ms, time.monotonic()
        done = self._persistent.ask(_read_window)
        took_ms = int((time.monotonic() - began) * 1000)
        self._windows.append(
            CommandOutput(
                shlex.join(WINDOW), at_ms, took_ms, done[1][:MAX_TEXT], done[0]
            )
        )
        files = files_of(done[1])
        at_s = resources.uptime_s(files.get("/proc/uptime", ""))
        waited = {
            name: waited_us
            for name in RESOURCES
            if (
                waited_us := resources.stalled_us(
                    files.get(f"/proc/pressure/{name}", "")
                )
            )
            is not None
        }
        return None if at_s is None else StallTimes(at_s, waited)

    def _pressure(self) -> dict[str, Observed]:
        """Return the share of the launch's time in which some task waited for a resource."""
        began, ended = self._began, self._ended
        if began is None or ended is None or ended.at_s - began.at_s < SHORTEST_SHARE_S:
            return {}
        elapsed_us = (ended.at_s - began.at_s) * 1e6
        return {
            f"psi_{name}_percent": round(
                min(100 * (waited - began.waited_us[name]) / elapsed_us, 100.0), 2
            )
            for name, waited in ended.waited_us.items()
            if waited >= began.waited_us.get(name, waited + 1)
        }


def _read_window(connection: Connection) -> tuple[int, str]:
    done = connection.run(WINDOW, TIMEOUT_S)
    return done.rc, done.text.replace("\0", "\ufffd")
