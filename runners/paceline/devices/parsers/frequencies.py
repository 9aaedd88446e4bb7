"""Parses cpufreq's files: each group of cores' limits, current frequency and time at each frequency.

Paths are `cpufreq/policyN/FILE` (Linux ≥ 4.3), `cpuN/cpufreq/FILE` or both. Cores without files (offline or
refused) have no policy. A frequency of 0, or anything but a number with or without a unit, is unknown.
Source: Linux Documentation/admin-guide/pm/cpufreq.rst, cpufreq-stats.rst.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from paceline.devices.parsers.text_values import (
    cpu_list,
    integer,
    lines_of,
    quantity,
)

TICK_MS = 10
"""time_in_state counts in USER_HZ, which is 100 on every Linux."""
KHZ_OF = {"": 1.0, "hz": 0.001, "khz": 1.0, "mhz": 1e3, "ghz": 1e6}
SLOWEST_KHZ, FASTEST_KHZ = 10_000, 50_000_000
"""Clocks of cores lie between these. A larger number without a unit is in hertz; a smaller one is unknown."""

_PATH = re.compile(
    r"(?:^|/)(?:cpu(\d{1,4})/cpufreq|cpufreq/policy(\d{1,4}))/(?:stats/)?(\w+)$"
)


class Policy(msgspec.Struct, frozen=True):
    """Cores that share one clock. `cap_khz` is the highest frequency the system allows now, `max_khz` the
    highest the silicon has; `time_in_state`: ms at each frequency since boot."""

    cpus: tuple[int, ...]
    governor: str | None = None
    now_khz: int | None = None
    cap_khz: int | None = None
    floor_khz: int | None = None
    max_khz: int | None = None
    min_khz: int | None = None
    time_in_state: dict[int, int] = {}

    @property
    def locked(self) -> bool | None:
        """Return whether its clock cannot change; None when that is not known."""
        if self.cap_khz is None or self.floor_khz is None:
            return None
        return self.cap_khz == self.floor_khz


def policies(files: Mapping[str, str]) -> list[Policy]:
    """Return the policies, each once, in the order of their first core."""
    texts: dict[int, dict[str, str]] = {}
    for path, text in files.items():
        if (split := _PATH.search(path)) is not None:
            core = int(split.group(1) or split.group(2) or 0)
            texts.setdefault(core, {}).setdefault(split.group(3), text.strip())
    merged: dict[tuple[int, ...], dict[str, str]] = {}
    for core, own in sorted(texts.items()):
        cpus = (
            cpu_list(own.get("related_cpus"))
            or cpu_list(own.get("affected_cpus"))
            or (core,)
        )
        merged[cpus] = own | merged.get(cpus, {})
    return [_policy(cpus, own) for cpus, own in sorted(merged.items())]


def _policy(cpus: tuple[int, ...], own: Mapping[str, str]) -> Policy:
    return Policy(
        cpus=cpus,
        governor=_word(own.get("scaling_governor")),
        now_khz=read_khz(own.get("scaling_cur_freq"))
        or read_khz(own.get("cpuinfo_cur_freq")),
        cap_khz=read_khz(own.get("scaling_max_freq")),
        floor_khz=read_khz(own.get("scaling_min_freq")),
        max_khz=read_khz(own.get("cpuinfo_max_freq")),
        min_khz=read_khz(own.get("cpuinfo_min_freq")),
        time_in_state=time_in_state(own.get("time_in_state", "")),
    )


def unread_frequencies(files: Mapping[str, str]) -> list[str]:
    """Return the files of frequencies that hold something else, such as the kernel's `<unsupported>`."""
    return [
        f"{split[0].lstrip('/')}: {text.strip()}"
        for path, text in files.items()
        if (split := _PATH.search(path)) is not None
        and split.group(3).endswith("_freq")
        and read_khz(text) is None
    ]


def time_in_state(text: str) -> dict[int, int]:
    """Return the ms since boot at each frequency in kHz; lines that are not two numbers are ignored."""
    times_ms: dict[int, int] = {}
    for line in lines_of(text):
        words = line.split()
        if (
            len(words) == 2
            and (khz := read_khz(words[0]))
            and (ticks := integer(words[1])) is not None
        ):
            times_ms[khz] = ticks * TICK_MS
    return times_ms


class TimeSpent(msgspec.Struct, frozen=True):
    """The time between two readings of a policy: its length, the mean frequency, and the share spent at the
    highest frequency."""

    ms: int
    mean_khz: int
    at_top: float


def time_between(before: Policy, after: Policy) -> TimeSpent | None:
    """Return the time between two readings, from `time_in_state`; None when no time passed or the counters were
    reset."""
    deltas = {
        khz: ms - before.time_in_state.get(khz, 0)
        for khz, ms in after.time_in_state.items()
    }
    total = sum(deltas.values())
    if not before.time_in_state or total <= 0 or min(deltas.values()) < 0:
        return None
    top = max(deltas)
    mean = sum(khz * ms for khz, ms in deltas.items()) / total
    return TimeSpent(
        ms=total, mean_khz=round(mean), at_top=round(deltas[top] / total, 4)
    )


def read_khz(text: str | None) -> int | None:
    """Return a frequency in kHz; None when the text states none that a core can have."""
    value, unit = quantity(text) or (0.0, "")
    khz = value * KHZ_OF.get(unit, 0.0)
    if not unit and khz >= FASTEST_KHZ:
        khz /= 1000
    return round(khz) if SLOWEST_KHZ <= khz < FASTEST_KHZ else None


def _word(text: str | None) -> str | None:
    return text if text and re.fullmatch(r"[\w.-]{1,32}", text, re.ASCII) else None
