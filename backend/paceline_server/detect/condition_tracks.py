"""Summarises the conditions of a job: median and maximum of each numeric track while measuring.

Judging conditions is in `stats.voids`.
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
    """Median and maximum of each track during the measurement.

    A list (cores) counts as its mean, an object (sensors) as its maximum."""
    tracks: dict[str, list[float]] = defaultdict(list)
    for reading in readings:
        if reading.phase == "during":
            for name, raw in reading.values.items():
                value = _number(raw)
                if value is not None:
                    tracks[name].append(value)
    return {
        name: {"median": float(np.median(values)), "max": max(values)}
        for name, values in sorted(tracks.items())
    }


def _number(raw: object) -> float | None:
    if isinstance(raw, list | tuple):
        numbers = [value for value in map(_number, raw) if value is not None]
        return sum(numbers) / len(numbers) if numbers else None
    if isinstance(raw, Mapping):
        numbers = [value for value in map(_number, raw.values()) if value is not None]
        return max(numbers, default=None)
    if (
        isinstance(raw, bool)
        or not isinstance(raw, int | float)
        or not math.isfinite(raw)
    ):
        return None
    return float(raw)
