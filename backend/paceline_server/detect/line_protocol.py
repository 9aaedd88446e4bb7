"""Implements `paceline-server detect --stdin`: a JSON list of values per line in, change indexes out.

Anyone can score the detector this way without a server. Each answer is flushed before the next line is read;
only confirmed changes are listed. A value that can be no measured time (zero, negative, NaN or infinite) is left
out; indexes stay those of the line as it was given. What was left out, and a series that cannot be judged, is said
on standard error, since `[]` alone would read as "no step".
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import TextIO

from paceline_server.kernel.errors import invalid_request
from paceline_server.stats.changepoint import detect


def answer_lines(lines: Iterable[str], out: TextIO, notes: TextIO) -> None:
    """Answer each line on `out`. Raises 400 naming the first line that is not a list of numbers."""
    for number, line in enumerate(lines, 1):
        values = _values(number, line)
        kept = [
            index
            for index, value in enumerate(values)
            if math.isfinite(value) and value > 0.0
        ]
        segmentation = detect([values[index] for index in kept])
        indexes = [kept[change.index] for change in segmentation.changes]
        if len(kept) < len(values):
            notes.write(
                f"line {number}: {len(values) - len(kept)} of {len(values)} values can be no measured time and were "
                f"left out, the first at index {_first_gap(kept)}\n"
            )
        if segmentation.unusable:
            notes.write(f"line {number} cannot be judged: {segmentation.unusable}\n")
        notes.flush()
        out.write(json.dumps(indexes) + "\n")
        out.flush()


def _first_gap(kept: Sequence[int]) -> int:
    """Return the first index that is not kept."""
    return next(
        (place for place, index in enumerate(kept) if place != index), len(kept)
    )


def _values(number: int, line: str) -> list[float]:
    try:
        values = json.loads(line)
    except ValueError:
        values = None
    if not isinstance(values, list) or not all(
        isinstance(value, int | float) and not isinstance(value, bool)
        for value in values
    ):
        raise invalid_request(
            f"line {number} is not a JSON list of numbers such as [1.02, 1.01, 1.3]"
        )
    return [float(value) for value in values]
