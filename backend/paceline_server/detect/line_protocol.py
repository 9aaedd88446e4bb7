"""Implements `paceline-server detect --stdin`: a JSON list of values per line in, change indexes out.

Anyone can score the detector this way without a server. Each answer is flushed before the next line is read;
only confirmed changes are listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TextIO

from paceline_server.kernel.errors import invalid_request
from paceline_server.stats.changepoint import detect


def answer_lines(lines: Iterable[str], out: TextIO) -> None:
    """Answer each line. Raises 400 naming the first line that is not a list of numbers."""
    for number, line in enumerate(lines, 1):
        segmentation = detect(_values(number, line))
        indexes = [change.index for change in segmentation.changes]
        out.write(json.dumps(indexes) + "\n")
        out.flush()


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
