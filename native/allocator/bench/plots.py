"""Draws what a run of the allocator suite measured, as SVG and without a library.

    plots.py RUN FOLDER      RUN: what `paceline run --out` or `make bench` (build/bench/allocator) left;
                             FOLDER: where the pictures go

    FOLDER/random_mixed.svg    time of an operation over the working set, a line per arm (preload, compat)
    FOLDER/fragmentation.svg   what stays resident after a burst, a bar per arm

Place: after a run, for a page that people read. Reads streams only: values are medians over the measured
rounds of all launches. Does not judge and draws no intervals; the server's table has them.
"""

from __future__ import annotations

import html
import json
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 760, 420, 70, 50, 40, 170
COLOURS = ["#0b6", "#095", "#666", "#d33", "#e88", "#36c", "#b80", "#808", "#0aa", "#bbb"]


class Case(NamedTuple):
    """Which arm of what."""

    benchmark: str
    arm: str
    params: tuple[tuple[str, Any], ...]
    metric: str


def medians(run: Path) -> dict[Case, float]:
    """Median value per iteration of every case and metric of the streams in `run`."""
    values: dict[Case, list[float]] = defaultdict(list)
    for stream in sorted(run.glob("launch-*.jsonl")):
        cases: dict[int, dict[str, Any]] = {}
        for line in stream.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["type"] == "case":
                cases[event["case"]] = event
            elif event["type"] == "samples" and event["phase"] == "measure":
                case = cases[event["case"]]
                key = Case(case["benchmark"], case["arm"], tuple(case["params"].items()), event["metric"])
                values[key] += [value / event["iterations"] for value in event["values"]]
    return {case: statistics.median(found) for case, found in values.items()}


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def picture(title: str, parts: Iterable[str]) -> str:
    body = "\n".join([text(LEFT, 22, title), *parts])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
        f'font-size="12">\n<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'
    )


def lines(title: str, series: dict[str, dict[int, float]], unit: str) -> str:
    """A line per name over a logarithmic axis of whole numbers."""
    marks = sorted({x for points in series.values() for x in points})
    top = max(y for points in series.values() for y in points.values()) * 1.05
    low, span = math.log(marks[0]), max(math.log(marks[-1]) - math.log(marks[0]), 1e-9)

    def at(x: int, y: float) -> tuple[float, float]:
        across = LEFT + (math.log(x) - low) / span * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - y / top * (HEIGHT - BOTTOM - TOP)

    parts = [text(at(x, 0)[0], HEIGHT - BOTTOM + 18, f"{x:,}", "middle") for x in marks]
    for step in range(5):
        y = top * step / 4
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at(marks[0], y)[1]:.1f}" '
            f'y2="{at(marks[0], y)[1]:.1f}" stroke="#ddd"/>'
        )
        parts.append(text(LEFT - 6, at(marks[0], y)[1] + 4, f"{y:.0f} {unit}", "end"))
    ends = sorted(series.items(), key=lambda one: -one[1][max(one[1])])
    for place, (name, points) in enumerate(ends):
        colour = COLOURS[list(series).index(name) % len(COLOURS)]
        path = " ".join(f"{at(x, points[x])[0]:.1f},{at(x, points[x])[1]:.1f}" for x in sorted(points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<g fill="{colour}">{text(WIDTH - RIGHT + 12, TOP + 18 * (place + 1), name)}</g>')
    return picture(title, parts)


def bars(title: str, values: dict[str, float], unit: str) -> str:
    """A bar per name, in the order given."""
    top = max(values.values())
    room = (HEIGHT - TOP - 20) / len(values)
    parts = []
    for place, (name, value) in enumerate(values.items()):
        y = TOP + place * room
        length = value / top * (WIDTH - LEFT - RIGHT - 60)
        parts.append(text(LEFT + 54, y + room / 2 + 4, name, "end"))
        parts.append(
            f'<rect x="{LEFT + 60}" y="{y:.1f}" width="{length:.1f}" height="{room * 0.8:.1f}" '
            f'fill="{COLOURS[place % len(COLOURS)]}"/>'
        )
        parts.append(text(LEFT + 66 + length, y + room / 2 + 4, f"{value:.1f} {unit}"))
    return picture(title, parts)


def drawn(found: dict[Case, float]) -> dict[str, str]:
    """Pictures by file name, of what was measured."""
    mixed: dict[str, dict[int, float]] = defaultdict(dict)
    left: dict[str, float] = {}
    for case, value in found.items():
        params = dict(case.params)
        plain = params.get("mode") == "compat" and params.get("setup") == "preload"
        if case.benchmark == "random_mixed" and case.metric == "time" and plain:
            mixed[case.arm][params["working_set"]] = value
        elif case.benchmark == "fragmentation" and case.metric == "rss_idle":
            left[case.arm] = value / 2**20
    pictures = {}
    if mixed:
        pictures["random_mixed.svg"] = lines("random_mixed: one operation, by working set", mixed, "ns")
    if left:
        pictures["fragmentation.svg"] = bars("Resident after 95 % of a burst was freed", left, "MiB")
    return pictures


def main(run: str, folder: str) -> int:
    """The command line; 1 when nothing could be drawn."""
    pictures = drawn(medians(Path(run)))
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, body in pictures.items():
        (Path(folder) / name).write_text(body, encoding="utf-8")
        sys.stdout.write(f"{Path(folder) / name}\n")
    return 0 if pictures else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
