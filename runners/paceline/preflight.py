"""Checks whether a host is fit to measure on; each finding has a code, a level, a text and advice.

Shown by `paceline doctor` and announced with every heartbeat. `blocker` means results would be meaningless or
impossible, `warning` that they will be noisier, `info` that all is well or unknown. Checks only read, and the
functions that judge are pure.
"""

from __future__ import annotations

import enum
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec
import psutil
from paceline_contract.items import Observed
from paceline_contract.locations import LocationError, canonical_location

from paceline.conditions import CPU_DIRECTORY, HostConditions
from paceline.config import RepositoryConfig
from paceline.devices.parsers.text_values import truth, unread_text
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
    NOT_UNDERSTOOD = "not_understood"
    REPOSITORY = "repository"
    IDENTITY = "identity"
    SUITE_REFUSED = "suite_refused"


class Finding(msgspec.Struct, frozen=True):
    code: Code
    level: Level
    text: str
    advice: str | None = None


class HostState(msgspec.Struct, frozen=True):
    """The state that was read from the host; None: the system does not report it."""

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
    unread: dict[str, list[str]] = {}


def examine(
    data_dir: Path,
    disk_needed_bytes: int,
    repositories: Mapping[str, RepositoryConfig] | None = None,
) -> list[Finding]:
    """Return the findings about this host and about the repositories of its agent.toml."""
    findings = judge(observe(data_dir, disk_needed_bytes))
    repeated = list(repeated_repositories(repositories or {}))
    at = sum(finding.level != "info" for finding in findings)
    return [*findings[:at], *repeated, *findings[at:]]


def repeated_repositories(
    repositories: Mapping[str, RepositoryConfig],
) -> Iterator[Finding]:
    """Yield a finding for each location that has several names: it is one repository, with one history."""
    names: dict[str, list[str]] = {}
    for name, repository in repositories.items():
        try:
            location = canonical_location(repository.location)
        except LocationError:
            continue  # announcing it says why
        names.setdefault(location, []).append(name)
    for location, called in names.items():
        if len(called) > 1:
            listed = ", ".join(f"[repositories.{name}]" for name in called)
            yield _warning(
                Code.REPOSITORY,
                f"{location} has several names in agent.toml: {listed}. They are one repository with one history.",
                "List all of its manifests under one name.",
            )


def observe(
    data_dir: Path, disk_needed_bytes: int, cpu_directory: Path = CPU_DIRECTORY
) -> HostState:
    conditions = HostConditions(cpu_directory)
    values = conditions.read()
    existing = next(
        path for path in (data_dir, *data_dir.absolute().parents) if path.exists()
    )
    on_battery = values.get("on_battery")
    return HostState(
        governor=governor(),
        turbo=_turbo(cpu_directory),
        smt=_smt(cpu_directory),
        virtualisation=virtualisation(),
        cores=psutil.cpu_count() or 1,
        load_1m=_number(values.get("load_1m")),
        on_battery=None if on_battery is None else bool(on_battery),
        battery_percent=_number(values.get("battery_percent")),
        hottest_c=_hottest(values.get("temperature_c")),
        disk_free_bytes=shutil.disk_usage(existing).free,
        disk_needed_bytes=disk_needed_bytes,
        memory_available_bytes=psutil.virtual_memory().available,
        unread=conditions.unread,
    )


def judge(host: HostState) -> list[Finding]:
    """Return one finding per aspect of the host, worst first."""
    judges = (
        _judge_disk,
        _judge_load,
        _judge_governor,
        _judge_turbo,
        _judge_smt,
        _judge_virtualisation,
        _judge_battery,
        _judge_thermal,
        _judge_cores,
        _judge_memory,
    )
    order: list[Level] = ["blocker", "warning", "info"]
    findings = [judge_aspect(host) for judge_aspect in judges]
    if text := unread_text(host.unread):
        findings.append(_info(Code.NOT_UNDERSTOOD, text))
    return sorted(findings, key=lambda finding: order.index(finding.level))


def _info(code: Code, text: str) -> Finding:
    return Finding(code, "info", text)


def _warning(code: Code, text: str, advice: str) -> Finding:
    return Finding(code, "warning", text, advice)


def _judge_governor(host: HostState) -> Finding:
    if host.governor is None:
        text = "The system does not tell its CPU frequency policy."
        return _info(Code.GOVERNOR, text)
    if host.governor == "performance":
        return _info(Code.GOVERNOR, "The CPU frequency policy is performance.")
    return _warning(
        Code.GOVERNOR,
        f"The CPU frequency policy is {host.governor}: clocks follow load and so do timings.",
        "Use the fixed policy while measuring: sudo cpupower frequency-set -g performance",
    )


def _judge_switch(code: Code, name: str, on: bool | None, advice: Finding) -> Finding:
    """Return `advice` when the CPU feature `name` is on."""
    if on:
        return advice
    state = "is off." if on is False else "is not reported by the system."
    return _info(code, f"{name} {state}")


def _judge_turbo(host: HostState) -> Finding:
    advice = _warning(
        Code.TURBO,
        "Turbo is on: the clock depends on temperature and on what else runs.",
        "Switch it off while measuring: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo "
        "(or echo 0 into /sys/devices/system/cpu/cpufreq/boost).",
    )
    return _judge_switch(Code.TURBO, "Turbo", host.turbo, advice)


def _judge_smt(host: HostState) -> Finding:
    advice = _warning(
        Code.SMT,
        "SMT is on: two threads share a core, and a neighbour slows a benchmark.",
        "Switch it off while measuring: echo off | sudo tee /sys/devices/system/cpu/smt/control",
    )
    return _judge_switch(Code.SMT, "SMT", host.smt, advice)


def _judge_virtualisation(host: HostState) -> Finding:
    if host.virtualisation is None:
        return _info(Code.VIRTUALISATION, "No virtual machine was detected.")
    return _warning(
        Code.VIRTUALISATION,
        f"This runs inside {host.virtualisation}: neighbours can take CPU time (steal).",
        "Trust verdicts of paired arms here; for absolute times use a host of your own.",
    )


def _judge_load(host: HostState) -> Finding:
    if host.load_1m is None:
        return _info(Code.LOAD, "The system does not tell its load.")
    text = f"Load is {host.load_1m:.2f} on {host.cores} CPU(s)."
    if host.load_1m < 0.25 * host.cores:
        return _info(Code.LOAD, text)
    return _warning(Code.LOAD, text, "Close other programs, or wait; `top` lists them.")


def _judge_battery(host: HostState) -> Finding:
    if host.battery_percent is None and host.on_battery is None:
        return _info(Code.BATTERY, "No battery was found.")
    if host.battery_percent is None:
        text = "The system does not tell the battery's charge."
    else:
        text = f"The battery is at {host.battery_percent:.0f} %."
    if host.on_battery is None:
        text = f"{text} The system does not tell whether external power is connected."
        return _info(Code.BATTERY, text)
    if not host.on_battery:
        return _info(Code.BATTERY, f"{text} External power is connected.")
    text = f"{text} It is the only power."
    return _warning(Code.BATTERY, text, "Connect external power.")


def _judge_thermal(host: HostState) -> Finding:
    if host.hottest_c is None:
        text = "The system tells no temperatures; throttling would go unseen."
        return _info(Code.THERMAL, text)
    text = f"The hottest sensor reads {host.hottest_c:.0f} °C."
    if host.hottest_c < 80:
        return _info(Code.THERMAL, text)
    advice = "Let it cool down; check its fans."
    return _warning(Code.THERMAL, f"{text} It may throttle.", advice)


def _judge_disk(host: HostState) -> Finding:
    free = f"{host.disk_free_bytes / 2**30:.1f} GiB are free for spool and builds."
    if host.disk_free_bytes >= host.disk_needed_bytes:
        return _info(Code.DISK, free)
    needed = f"At least {host.disk_needed_bytes / 2**30:.1f} GiB are needed."
    advice = (
        "Free space in the agent's data directory, or give another one with --data."
    )
    return Finding(Code.DISK, "blocker", f"{free} {needed}", advice)


def _judge_cores(host: HostState) -> Finding:
    if host.cores >= 2:
        return _info(Code.CORES, f"{host.cores} CPUs.")
    text = "One CPU: the agent shares it with what it measures."
    return _warning(Code.CORES, text, "Use a host with at least two CPUs.")


def _judge_memory(host: HostState) -> Finding:
    available = host.memory_available_bytes
    if available is None or available >= 512 << 20:
        return _info(Code.MEMORY, "There is enough memory.")
    text = f"Only {available / 2**20:.0f} MiB of memory are available."
    advice = "Close other programs: swapping ruins measurements."
    return _warning(Code.MEMORY, text, advice)


def _turbo(cpu_directory: Path) -> bool | None:
    # The files exist on Linux only; elsewhere both are unknown.
    no_turbo = truth(read_text(cpu_directory / "intel_pstate/no_turbo"))
    if no_turbo is not None:
        return not no_turbo
    return truth(read_text(cpu_directory / "cpufreq/boost"))


def _smt(cpu_directory: Path) -> bool | None:
    if sys.platform == "linux":
        return truth(read_text(cpu_directory / "smt/active"))
    else:  # noqa: RET505 - mypy checks every platform's branch only in this form
        logical, physical = psutil.cpu_count(), psutil.cpu_count(logical=False)
        return None if not logical or not physical else logical > physical


def _hottest(value: Observed | None) -> float | None:
    return max(value.values()) if isinstance(value, dict) and value else None


def _number(value: Observed | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None
