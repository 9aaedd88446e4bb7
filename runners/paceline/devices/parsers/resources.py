"""Parses small texts of Linux: load, pressure, uptime, boot id, memory.

A refused file is None, as `/proc/pressure` is on most phones.
Sources: proc(5); Linux Documentation/accounting/psi.rst.
"""

from __future__ import annotations

import re

from paceline.devices.parsers.text_values import integer, lines_of, number

_TOTAL = re.compile(r"^some\s+avg10=(\S+)\s+avg60=\S+\s+avg300=\S+\s+total=(\S+)\s*$")
_BOOT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def load(text: str) -> tuple[float, float] | None:
    """Return the mean number of tasks that ran or waited in 1 and 5 minutes, from `/proc/loadavg`."""
    words = text.split()
    averages = [number(word) for word in words[:3]]
    load_1m, load_5m, load_15m = (*averages, None, None, None)[:3]
    if load_1m is None or load_5m is None or load_15m is None:
        return None
    return load_1m, load_5m


def stalled_us(text: str) -> int | None:
    """Return the microseconds since boot in which some task waited for a resource, from `/proc/pressure/RESOURCE`."""
    for line in lines_of(text):
        match = _TOTAL.match(line)
        if match is not None and number(match[1]) is not None:
            return integer(match[2])
    return None


def uptime_s(text: str) -> float | None:
    """Return seconds since boot, from `/proc/uptime`."""
    words = text.split()
    return number(words[0]) if words else None


def boot_id(text: str) -> str | None:
    """Return the boot id from `/proc/sys/kernel/random/boot_id`, in lower case."""
    value = text.strip()
    return value.lower() if _BOOT_ID.fullmatch(value) else None


def memory_bytes(text: str) -> dict[str, int]:
    """Return the sizes in `/proc/meminfo` by name."""
    sizes: dict[str, int] = {}
    for line in lines_of(text):
        name, colon, rest = line.partition(":")
        words = rest.split()
        if (
            colon
            and len(words) == 2
            and words[1].lower() == "kb"
            and (value := integer(words[0])) is not None
        ):
            sizes[name.strip()] = value * 1024
    return sizes
