"""Checks whether a host is fit to measure on; each finding has a code, a level, a text and advice.

Shown by `paceline doctor` and announced with every heartbeat. `blocker` means results would be meaningless or
impossible, `warning` that they will be noisier, `info` that all is well or unknown. Checks only read, and the
functions that judge are pure.
"""

from __future__ import annotations

import enum
import shutil
import sys
from pathlib import Path
from typing import Literal

import msgspec
import psutil

from paceline.conditions import HostConditions, Value
from paceline.environment import governor, read_text, virtualisation

Level = Literal["info", "warning", "blocker"]


class Code(enum.StrEnum):
    GOVERNOR = "governor"
    TURBO = "turbo"
    SMT = "smt"
    VIRTUALISATION = "virtualisation"
    LOAD = "load"
    BATTERY = "battery"
    THERMAL = "thermal"
    DISK = "disk"
    CORES = "cores"
    MEMORY = "memory"


class Finding(msgspec.Struct, frozen=True):
    code: Code
    level: Level
    text: str
    advice: str | None = None


class HostState(msgspec.Struct, frozen=True):
    """What the judging functions look at; None means the system does not tell."""

    governor: str | None = None
    turbo: bool | None = None
    smt: bool | None = None
    virtualisation: str | None = None
    cores: int = 1
    load_1m: float | None = None
    on_battery: bool | None = None
    battery_percent: float | None = None
    hottest_c: float | None = None
    disk_free_bytes: int = 0
    disk_needed_bytes: int = 0
    memory_available_bytes: int | None = None


def examine(data_dir: Path, disk_needed_bytes: int) -> list[Finding]:
    """All findings about this host."""
    return judge(observe(data_dir, disk_needed_bytes))


def observe(data_dir: Path, disk_needed_bytes: int) -> HostState:
    values = HostConditions().read()
    existing = next(
        path for path in (data_dir, *data_dir.absolute().parents) if path.exists()
    )
    on_battery = values.get("on_battery")
    return HostState(
        governor=governor(),
        turbo=_turbo(),
        smt=_smt(),
        virtualisation=virtualisation(),
        cores=psutil.cpu_count() or 1,
        load_1m=_number(values.get("load_1m")),
        on_battery=None if on_battery is None else bool(on_battery),
        battery_percent=_number(values.get("battery_percent")),
        hottest_c=_hottest(values.get("temperature_c")),
        disk_free_bytes=shutil.disk_usage(existing).free,
        disk_needed_bytes=disk_needed_bytes,
        memory_available_bytes=psutil.virtual_memory().available,
    )


def judge(seen: HostState) -> list[Finding]:
    """One finding per thing looked at, worst first."""
    findings = [
        _judge_disk(seen),
        _judge_load(seen),
        _judge_governor(seen),
        _judge_turbo(seen),
        _judge_smt(seen),
        _judge_virtualisation(seen),
        _judge_battery(seen),
        _judge_thermal(seen),
        _judge_cores(seen),
        _judge_memory(seen),
    ]
    order: list[Level] = ["blocker", "warning", "info"]
    return sorted(findings, key=lambda finding: order.index(finding.level))


def _judge_governor(seen: HostState) -> Finding:
    if seen.governor is None:
        return Finding(
            Code.GOVERNOR, "info", "The system does not tell its CPU frequency policy."
        )
    if seen.governor == "performance":
        return Finding(
            Code.GOVERNOR, "info", "The CPU frequency policy is performance."
        )
    return Finding(
        Code.GOVERNOR,
        "warning",
        f"The CPU frequency policy is {seen.governor}: clocks follow load and so do timings.",
        "Choose the fixed policy while measuring: sudo cpupower frequency-set -g performance",
    )


def _judge_turbo(seen: HostState) -> Finding:
    if not seen.turbo:
        text = (
            "Turbo is off."
            if seen.turbo is False
            else "The system does not tell whether turbo is on."
        )
        return Finding(Code.TURBO, "info", text)
    return Finding(
        Code.TURBO,
        "warning",
        "Turbo is on: the clock depends on temperature and on what else runs.",
        "Switch it off while measuring: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo "
        "(or echo 0 into /sys/devices/system/cpu/cpufreq/boost).",
    )


def _judge_smt(seen: HostState) -> Finding:
    if not seen.smt:
        text = (
            "SMT is off."
            if seen.smt is False
            else "The system does not tell whether SMT is on."
        )
        return Finding(Code.SMT, "info", text)
    return Finding(
        Code.SMT,
        "warning",
        "SMT is on: two threads share a core, and a neighbour slows a benchmark.",
        "Switch it off while measuring: echo off | sudo tee /sys/devices/system/cpu/smt/control",
    )


def _judge_virtualisation(seen: HostState) -> Finding:
    if seen.virtualisation is None:
        return Finding(
            Code.VIRTUALISATION,
            "info",
            "This is no virtual machine, as far as it tells.",
        )
    return Finding(
        Code.VIRTUALISATION,
        "warning",
        f"This runs inside {seen.virtualisation}: neighbours can take CPU time (steal).",
        "Trust verdicts of paired arms here; for absolute times use a host of your own.",
    )


def _judge_load(seen: HostState) -> Finding:
    if seen.load_1m is None:
        return Finding(Code.LOAD, "info", "The system does not tell its load.")
    text = f"Load is {seen.load_1m:.2f} on {seen.cores} CPU(s)."
    if seen.load_1m < 0.25 * seen.cores:
        return Finding(Code.LOAD, "info", text)
    return Finding(
        Code.LOAD,
        "warning",
        text,
        "Close what else runs, or wait; see `top` for what it is.",
    )


def _judge_battery(seen: HostState) -> Finding:
    if seen.battery_percent is None:
        return Finding(Code.BATTERY, "info", "There is no battery.")
    text = f"The battery is at {seen.battery_percent:.0f} %."
    if not seen.on_battery:
        return Finding(Code.BATTERY, "info", text + " External power is connected.")
    return Finding(
        Code.BATTERY,
        "warning",
        text + " It is the only power.",
        "Connect external power.",
    )


def _judge_thermal(seen: HostState) -> Finding:
    if seen.hottest_c is None:
        return Finding(
            Code.THERMAL,
            "info",
            "The system tells no temperatures; throttling would go unseen.",
        )
    text = f"The hottest sensor reads {seen.hottest_c:.0f} °C."
    if seen.hottest_c < 80:
        return Finding(Code.THERMAL, "info", text)
    return Finding(
        Code.THERMAL,
        "warning",
        text + " It may throttle.",
        "Let it cool down; check its fans.",
    )


def _judge_disk(seen: HostState) -> Finding:
    free = f"{seen.disk_free_bytes / 2**30:.1f} GiB are free for spool and builds."
    if seen.disk_free_bytes >= seen.disk_needed_bytes:
        return Finding(Code.DISK, "info", free)
    return Finding(
        Code.DISK,
        "blocker",
        f"{free} At least {seen.disk_needed_bytes / 2**30:.1f} GiB are needed.",
        "Free space in the agent's data directory, or give another one with --data.",
    )


def _judge_cores(seen: HostState) -> Finding:
    if seen.cores >= 2:
        return Finding(Code.CORES, "info", f"{seen.cores} CPUs.")
    text = "One CPU: the agent shares it with what it measures."
    return Finding(Code.CORES, "warning", text, "Use a host with at least two CPUs.")


def _judge_memory(seen: HostState) -> Finding:
    if seen.memory_available_bytes is None or seen.memory_available_bytes >= 512 << 20:
        return Finding(Code.MEMORY, "info", "Memory suffices.")
    text = (
        f"Only {seen.memory_available_bytes / 2**20:.0f} MiB of memory are available."
    )
    return Finding(
        Code.MEMORY, "warning", text, "Close what uses it: swapping ruins measurements."
    )


def _turbo() -> bool | None:
    # The files exist on Linux only; elsewhere both are unknown.
    if (text := read_text("/sys/devices/system/cpu/intel_pstate/no_turbo")) is not None:
        return text.strip() == "0"
    text = read_text("/sys/devices/system/cpu/cpufreq/boost")
    return None if text is None else text.strip() == "1"


def _smt() -> bool | None:
    if sys.platform == "linux":
        text = read_text("/sys/devices/system/cpu/smt/active")
        return None if text is None else text.strip() == "1"
    else:  # noqa: RET505 - mypy checks every platform's branch only in this form
        logical, physical = psutil.cpu_count(), psutil.cpu_count(logical=False)
        return None if not logical or not physical else logical > physical


def _hottest(value: Value | None) -> float | None:
    return max(value.values()) if isinstance(value, dict) and value else None


def _number(value: Value | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None
