"""Reads what a CPU can do from `/proc/cpuinfo`, by the kernel's own names.

Gates may hold on CPUs with some features only (`requires` of a suite's manifest). Recorded in the `before` reading
of a job's conditions, of a host and of a device.
Sources: Linux arch/x86/kernel/cpu/proc.c (`flags`), arch/arm64/kernel/cpuinfo.c and arch/arm/kernel/setup.c
(`Features`).
"""

from __future__ import annotations

import re

KEY = "cpu_features"
"""The name of the features among the values of a reading."""
_LINE = re.compile(r"^(?:flags|Features)[ \t]*:(.*)$", re.MULTILINE)


def cpu_features(cpuinfo: str) -> list[str]:
    """Return the features of all listed CPUs, sorted; empty if the text names none."""
    named = [frozenset(line.split()) for line in _LINE.findall(cpuinfo)]
    return sorted(named[0].intersection(*named[1:])) if named else []
