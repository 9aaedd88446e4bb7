"""Samples the host before, during and after a job: frequency, temperature, load, pressure, memory, battery, steal.

The conditions tell a void job from a slow one (stats/README.md §1). A value that cannot be read is absent, never
zero, because unknown is not cool; one file that is not understood hides no other value. One thread samples once a
second and costs about a millisecond of one core; nothing is read inside the workload's process.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from paceline_contract.items import Conditions, ObservationPhase, Observed

from paceline import cpu_features
from paceline.cpu_wait import SHORTEST_SHARE_S, WorkloadWait
from paceline.devices.parsers.frequencies import read_khz
from paceline.devices.parsers.text_values import integer
from paceline.environment import boot_id, governor, read_text

CPU_DIRECTORY = Path("/sys/devices/system/cpu")
PERIOD_S = 1.0
CALIBRATION_BYTES = bytes(65_536)
CALIBRATION_ROUNDS = 40
"""The shortest of this many rounds changes by less than 1 % under a load of three tasks per core. All rounds together
take about 2 ms."""


class Sampler:
    """Observes this host before, once a second during, and after a job; passes each observation to `take`."""

    def __init__(
        self, take: Callable[[Conditions], None], period_s: float = PERIOD_S
    ) -> None:
        self._take = take
        self._period_s = period_s
        self._start = time.monotonic()
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="conditions", daemon=True
        )
        self._host = HostConditions()

    def __enter__(self) -> Sampler:
        self._observe("before")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self._observe("after")

    def _run(self) -> None:
        while not self._end.wait(self._period_s):
            self._observe("during")

    def _observe(self, phase: ObservationPhase) -> None:
        at_ms = int((time.monotonic() - self._start) * 1000)
        values = self._host.read(full=phase != "during")
        if phase == "before" and (features := _cpu_features()):
            values[cpu_features.KEY] = [*features]
        self._take(Conditions(phase, at_ms, values))


class HostConditions:
    """Reads this host; steal, CPU use and pressure are shares since the previous reading."""

    def __init__(self, cpu_directory: Path = CPU_DIRECTORY) -> None:
        self._cpu_directory = cpu_directory
        self._cpu_times = psutil.cpu_times()
        self._stalls = _stalls()
        self._stalls_at = time.monotonic()
        self._wait = WorkloadWait()
        self.unread: dict[str, list[str]] = {}
        """Texts that the last reading did not understand, by source."""

    def read(self, full: bool = True) -> dict[str, Observed]:
        """Return values by name, units last. `full` adds what hardly changes within a job."""
        values: dict[str, Observed] = {}
        self.unread = {}
        readers: list[Callable[[], dict[str, Observed]]] = [
            self._frequency,
            _temperatures,
            _load,
            _memory,
            _battery,
            self._pressure,
            self._cpu,
            self._waiting,
        ]
        if full:
            readers += [self._rarely_changing, _calibration]
        for reader in readers:
            try:
                values |= reader()
            except (OSError, psutil.Error, AttributeError, NotImplementedError):
                continue  # this system does not have it
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                # psutil met a text of the system that it does not understand.
                self._note_unread(reader.__name__.strip("_"), str(error))
        return {key: value for key, value in values.items() if _is_finite(value)}

    def _pressure(self) -> dict[str, Observed]:
        """Return the share of the time since the previous reading in which some task waited for the resource.

        The kernel's ten-second averages would include the build that has just ended.
        """
        before, self._stalls = self._stalls, _stalls()
        elapsed_us = (time.monotonic() - self._stalls_at) * 1e6
        self._stalls_at = time.monotonic()
        if elapsed_us < SHORTEST_SHARE_S * 1e6:
            return {}
        return {
            f"psi_{resource}_percent": _round(
                min(100 * (total - before[resource]) / elapsed_us, 100)
            )
            for resource, total in self._stalls.items()
            if resource in before
        }

    def _waiting(self) -> dict[str, Observed]:
        return {**self._wait.read()}

    def _cpu(self) -> dict[str, Observed]:
        before, self._cpu_times = self._cpu_times, psutil.cpu_times()
        elapsed = {
            name: max(getattr(self._cpu_times, name) - getattr(before, name), 0.0)
            for name in before._fields
        }
        counted = {
            key: value
            for key, value in elapsed.items()
            if key not in ("guest", "guest_nice")
        }
        total = sum(counted.values())
        if total <= 0:
            return {}
        idle = counted.get("idle", 0.0) + counted.get("iowait", 0.0)
        shares: dict[str, Observed] = {"cpu_percent": _round(100 * (1 - idle / total))}
        if "steal" in counted:
            shares["steal_percent"] = _round(100 * counted["steal"] / total)
        return shares

    def _frequency(self) -> dict[str, Observed]:
        if sys.platform == "linux":
            listed = self._clocks_mhz("scaling_cur_freq")
            if not listed:
                matches = re.findall(
                    r"^cpu MHz\s*:\s*([\d.]+)$",
                    read_text("/proc/cpuinfo") or "",
                    re.MULTILINE,
                )
                listed = [_round(float(value)) for value in matches]
            return {"cpu_frequency_mhz": [*listed]} if listed else {}
        else:  # noqa: RET505 - mypy checks every platform's branch only in this form
            return {"cpu_frequency_mhz": [_round(psutil.cpu_freq().current)]}

    def _clocks_mhz(self, name: str) -> list[float]:
        """Return the frequency in cpufreq's file `name` of each core that has one, without texts that are no frequency."""
        listed: list[float] = []
        for path, text in self._cpu_files(f"cpufreq/{name}"):
            khz = read_khz(text)
            if khz is not None:
                listed.append(_round(khz / 1000))
            else:
                self._note_unread(path, text)
        return listed

    def _cpu_files(self, name: str) -> list[tuple[str, str]]:
        """Return the files called `name` of each core; one that cannot be read, as of an offline core, is left out."""
        paths = sorted(self._cpu_directory.glob(f"cpu[0-9]*/{name}"))
        return [
            (str(path), text) for path in paths if (text := read_text(path)) is not None
        ]

    def _note_unread(self, source: str, text: str) -> None:
        self.unread.setdefault(source, []).append(text.strip())

    def _rarely_changing(self) -> dict[str, Observed]:
        values: dict[str, Observed] = {
            "boot_id": boot_id(),
            "cpus_online": psutil.cpu_count() or 0,
        }
        if (policy := governor()) is not None:
            values["governor"] = policy
        if sys.platform == "linux":
            if caps := self._clocks_mhz("scaling_max_freq"):
                values["cpu_frequency_cap_mhz"] = [*caps]
            counts = []
            for path, text in self._cpu_files("thermal_throttle/core_throttle_count"):
                if (count := integer(text)) is not None:
                    counts.append(count)
                else:
                    self._note_unread(path, text)
            if counts:
                values["throttle_count"] = sum(counts)
        return values


def _temperatures() -> dict[str, Observed]:
    celsius: dict[str, float] = {}
    if sys.platform == "linux":
        celsius = {
            f"{chip}.{sensor.label or index}": _round(sensor.current)
            for chip, sensors in psutil.sensors_temperatures().items()
            for index, sensor in enumerate(sensors)
            if sensor.current and -50 < sensor.current < 150
        }
    return {"temperature_c": celsius} if celsius else {}


def _load() -> dict[str, Observed]:
    load_1m, load_5m, _ = psutil.getloadavg()
    return {"load_1m": _round(load_1m), "load_5m": _round(load_5m)}


def _stalls() -> dict[str, int]:
    """Return the µs since boot in which some task waited, by resource (Linux PSI); empty elsewhere."""
    stalled_us: dict[str, int] = {}
    if sys.platform == "linux":
        for resource in ("cpu", "memory", "io"):
            text = read_text(f"/proc/pressure/{resource}") or ""
            if match := re.search(r"^some .*total=(\d+)", text):
                stalled_us[resource] = int(match[1])
    return stalled_us


def _memory() -> dict[str, Observed]:
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    return {"memory_available_bytes": memory.available, "swap_used_bytes": swap.used}


def _battery() -> dict[str, Observed]:
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if battery is None:
        return {}
    values: dict[str, Observed] = {}
    if 0 <= battery.percent <= 100:
        values["battery_percent"] = _round(battery.percent)
    if battery.power_plugged is not None:
        values["on_battery"] = int(not battery.power_plugged)
    return values


def _cpu_features() -> list[str]:
    """Return the features of this host's CPU by their names in manifests; only Linux reports them."""
    if sys.platform == "linux":
        return cpu_features.cpu_features(read_text("/proc/cpuinfo") or "")
    else:  # noqa: RET505 - mypy checks every platform's branch only in this form
        return []


def _calibration() -> dict[str, Observed]:
    """Return the time of a fixed piece of work, which shows whether the target itself became faster or slower."""
    shortest_ns = min(_time_digest_ns() for _ in range(CALIBRATION_ROUNDS))
    return {"calibration_ns": shortest_ns}


def _time_digest_ns() -> int:
    start = time.perf_counter_ns()
    hashlib.sha256(CALIBRATION_BYTES).digest()
    return time.perf_counter_ns() - start


def _is_finite(value: Observed) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _round(value: float) -> float:
    return round(float(value), 2)
