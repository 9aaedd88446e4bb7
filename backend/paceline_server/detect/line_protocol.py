"""`paceline-server detect --stdin`: one JSON list of values per line in, change indexes
out.

Lets anyone score the detector without a server. There is one answer per line, in order,
flushed before the next line is read; only confirmed steps are listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TextIO

from paceline_server.kernel.errors import invalid_request
from paceline_server.stats.changepoint import detect


def answer_lines(lines: Iterable[str], out: TextIO) -> None:
    """Answer each line; a line that is no list of numbers ends the stream and is named."""
    for number, line in enumerate(lines, 1):
        found = detect(_values(number, line))
        out.write(json.dumps([change.index for change in found.changes]) + "\n")
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
