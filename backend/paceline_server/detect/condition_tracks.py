"""Summarises the conditions of a job: median and maximum of each track while measuring.

Readings that are no number are left out. `stats.voids` judges them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from paceline_server.ingest.cases import Conditions


def summarise_tracks(
    readings: Iterable[Conditions],
) -> dict[str, dict[Literal["median", "max"], float]]:
    """Median and maximum of everything that is a number while measuring; of several cores or sensors the
    mean of the cores (a list), the hottest of the sensors (an object)."""
    found: dict[str, list[float]] = defaultdict(list)
    for reading in readings:
        if reading.phase == "during":
            for name, raw in reading.values.items():
                value = _number(raw)
                if value is not None:
                    found[name].append(value)
    return {
        name: {"median": float(np.median(values)), "max": max(values)}
        for name, values in sorted(found.items())
    }


def _number(raw: object) -> float | None:
    if isinstance(raw, list | tuple):
        own = [value for value in map(_number, raw) if value is not None]
        return sum(own) / len(own) if own else None
    if isinstance(raw, Mapping):
        own = [value for value in map(_number, raw.values()) if value is not None]
        return max(own, default=None)
    if (
        isinstance(raw, bool)
        or not isinstance(raw, int | float)
        or not math.isfinite(raw)
    ):
        return None
    return float(raw)
