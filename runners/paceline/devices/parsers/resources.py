"""Parses small texts of Linux: load, pressure, uptime, boot id, memory.

What is refused is None; `/proc/pressure` is, on most phones.
Sources: proc(5); Linux Documentation/accounting/psi.rst.
"""

from __future__ import annotations

import re

from paceline.devices.parsers.text_values import integer, lines_of, number

_TOTAL = re.compile(r"^some\s+avg10=(\S+)\s+avg60=\S+\s+avg300=\S+\s+total=(\S+)\s*$")
_BOOT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def load(text: str) -> tuple[float, float] | None:
    """Tasks that ran or waited, on average over 1 and 5 minutes, of `/proc/loadavg`."""
    words = text.split()
    averages = [number(word) for word in words[:3]]
    one, five, fifteen = (*averages, None, None, None)[:3]
    if one is None or five is None or fifteen is None:
        return None
    return one, five


def stalled_us(text: str) -> int | None:
    """µs since boot in which some task waited for a resource, of `/proc/pressure/RESOURCE`."""
    for line in lines_of(text):
        match = _TOTAL.match(line)
        if match is not None and number(match[1]) is not None:
            return integer(match[2])
    return None


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
