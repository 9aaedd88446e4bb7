"""Small texts of Linux: load, pressure, time since boot, boot id, memory.

Invariants: each reads one text alone; what is refused (`/proc/pressure` is, on most phones) is None.
Sources: proc(5); Linux Documentation/accounting/psi.rst.
"""

from __future__ import annotations

import re

import msgspec

from paceline.devices.parsers.common import integer, lines_of, number

_TOTAL = re.compile(
    r"^(some|full)\s+avg10=(\S+)\s+avg60=\S+\s+avg300=\S+\s+total=(\S+)\s*$"
)
_BOOT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_FAMILY = re.compile(r"\s*(-?\d{1,9})/(\d{1,9})\s*$", re.ASCII)


class Load(msgspec.Struct, frozen=True):
    """Tasks that ran or waited, on average; `running` of `tasks` right now."""

    one: float
    five: float
    fifteen: float
    running: int | None
    tasks: int | None


class Pressure(msgspec.Struct, frozen=True):
    """µs since boot in which some, or all, tasks waited for a resource; shares are percent over 10 s."""

    some_us: int
    some_avg10: float
    full_us: int | None
    full_avg10: float | None


def load(text: str) -> Load | None:
    """`/proc/loadavg`."""
    words = text.split()
    averages = [number(word) for word in words[:3]]
    one, five, fifteen = (*averages, None, None, None)[:3]
    if one is None or five is None or fifteen is None:
        return None
    family = _FAMILY.match(words[3]) if len(words) > 3 else None
    running, tasks = (
        (int(family[1]), int(family[2])) if family is not None else (None, None)
    )
    return Load(one, five, fifteen, running, tasks)


def pressure(text: str) -> Pressure | None:
    """`/proc/pressure/RESOURCE`; kernels before 5.13 print no `full` for the CPU."""
    lines = {
        match[1]: (share, total_us)
        for line in lines_of(text)
        if (match := _TOTAL.match(line)) is not None
        and (share := number(match[2])) is not None
        and (total_us := integer(match[3])) is not None
    }
    if "some" not in lines:
        return None
    full_avg10, full_us = lines.get("full", (None, None))
    return Pressure(lines["some"][1], lines["some"][0], full_us, full_avg10)


def uptime_s(text: str) -> float | None:
    """Seconds since boot, of `/proc/uptime`."""
    words = text.split()
    return number(words[0]) if len(words) == 2 else None


def boot_id(text: str) -> str | None:
    """`/proc/sys/kernel/random/boot_id`, in lower case."""
    value = text.strip()
    return value.lower() if _BOOT_ID.fullmatch(value) else None


def memory_bytes(text: str) -> dict[str, int]:
    """`/proc/meminfo` by name; only what it counts in kB."""
    sizes: dict[str, int] = {}
    for line in lines_of(text):
        name, colon, rest = line.partition(":")
        words = rest.split()
        if (
            colon
            and len(words) == 2
            and words[1] == "kB"
            and (value := integer(words[0])) is not None
        ):
            sizes[name.strip()] = value * 1024
    return sizes


def total_memory_bytes(text: str) -> int | None:
    """All memory of a device, of `/proc/meminfo`."""
    return memory_bytes(text).get("MemTotal")
