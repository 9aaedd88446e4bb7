"""Draws what was measured of allocators, as SVG and as tables for a page, without a library.

    plots.py FOLDER INPUT… [--page PAGE]

    INPUT     JSON that `make bench SUITE=allocator JSON=…` wrote, any number of them; or the table that
              instructions.sh printed, kept as NAME.txt
    FOLDER    where pictures go: those the inputs have figures for
    PAGE      Markdown in which what stands between the marks of `pages.py` is replaced by tables

    speed.svg           how many times as fast as mimalloc v3 and as the best other, over the working set
    threads.svg         ours by the best other's with two threads, by share of frees in the other thread
    degradation.svg     how many times as slow 8,192 slots are as 256
    left.svg            what stays resident after 95 % of a burst was freed and a rest
    programs.svg        time of real programs by mimalloc v3's
    instructions.svg    instructions of an operation, from a table of instructions.sh
    misses.svg          what its loads and stores miss in the first cache, from the same with --cache

Place: after a run, for a page that people read. Invariant: every number in a picture is an input's, with the
interval the judge gave it (a whisker; its title has the digits). Judges nothing; `figures.py` reads inputs.
"""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import figures
import pages
from figures import Figure, Report

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 820, 400, 64, 44, 44, 240
LABELS, VALUES, BAR = 190, 190, 24
COLOURS = {
    "paceline": "#087f5b",
    "paceline_hardened": "#63b598",
    "system": "#555",
    "mimalloc343": "#c92a2a",
    "mimalloc": "#e8590c",
    "mimalloc2": "#f4a261",
    "jemalloc": "#1864ab",
    "tcmalloc": "#b08900",
    "gperftools": "#5c940d",
    "snmalloc": "#7b2cbf",
    "rpmalloc": "#0b7285",
    "bound": "#adb5bd",
}
BEST = "#343a40"


class Line(NamedTuple):
    """Figures of one name over whole numbers."""

    name: str
    colour: str
    points: dict[int, Figure]
    dashed: bool = False


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def stroke(
    x1: float, y1: float, x2: float, y2: float, colour: str, *, more: str = ""
) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{more}/>'


def add_tooltip(shape: str, said: str) -> str:
    """Return `shape`, which ends in `/>`, with a tooltip."""
    name = shape[1 : shape.index(" ")]
    return f"{shape[:-2]}><title>{html.escape(said)}</title></{name}>"


def picture(title: str, parts: Iterable[str], height: float = HEIGHT) -> str:
    body = "\n".join([text(12, 22, title), *parts])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="#fff"/>\n'
        f"{body}\n</svg>\n"
    )


def bounds(found: Sequence[Figure], level: float) -> tuple[float, float]:
    """Return the bottom and the top of an axis that shows all figures and the level."""
    low = min([level, *(figure.lower or figure.value for figure in found)])
    high = max([level, *(figure.upper or figure.value for figure in found)])
    room = (high - low) * 0.08 or 0.1
    return low - room, high + room


def lines(title: str, series: Sequence[Line], level: float) -> str:
    """Draw a line per name over a logarithmic axis, and `level` across it."""
    shown = [line for line in series if line.points]
    marks = sorted({x for line in shown for x in line.points})
    low, high = bounds(
        [figure for line in shown for figure in line.points.values()], level
    )
    first, span = (
        math.log(marks[0] + 1),
        max(math.log(marks[-1] + 1) - math.log(marks[0] + 1), 1e-9),
    )

    def across(x: int) -> float:
        return LEFT + (math.log(x + 1) - first) / span * (WIDTH - LEFT - RIGHT)

    def up(y: float) -> float:
        return HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    parts = [text(across(x), HEIGHT - BOTTOM + 18, f"{x:,}", "middle") for x in marks]
    for step in range(5):
        y = low + (high - low) * step / 4
        parts += [
            stroke(LEFT, up(y), WIDTH - RIGHT, up(y), "#ddd"),
            text(LEFT - 6, up(y) + 4, f"{y:.2f}", "end"),
        ]
    parts.append(
        stroke(
            LEFT,
            up(level),
            WIDTH - RIGHT,
            up(level),
            "#000",
            more=' stroke-dasharray="2 3"',
        )
    )
    for place, line in enumerate(shown):
        more = ' stroke-dasharray="6 4"' if line.dashed else ""
        path = " ".join(
            f"{across(x):.1f},{up(line.points[x].value):.1f}"
            for x in sorted(line.points)
        )
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2"{more}/>'
        )
        for x, figure in line.points.items():
            if figure.lower is not None and figure.upper is not None:
                parts.append(
                    stroke(
                        across(x),
                        up(figure.lower),
                        across(x),
                        up(figure.upper),
                        line.colour,
                    )
                )
            dot = f'<circle cx="{across(x):.1f}" cy="{up(figure.value):.1f}" r="3" fill="{line.colour}"/>'
            parts.append(add_tooltip(dot, f"{line.name} at {x:,}: {figure}"))
        at = TOP + 18 * (place + 1)
        parts += [
            stroke(
                WIDTH - RIGHT + 10,
                at - 4,
                WIDTH - RIGHT + 30,
                at - 4,
                line.colour,
                more=more,
            )
        ]
        parts.append(text(WIDTH - RIGHT + 36, at, line.name))
    return picture(title, parts)


def bars(
    title: str, rows: Sequence[tuple[str, str, Figure]], level: float | None = None
) -> str:
    """Draw a bar per (name, colour, figure) from zero, in the given order, and `level` down it."""
    high = max([level or 0.0, *(figure.upper or figure.value for *_, figure in rows)])
    scale = (WIDTH - LABELS - VALUES) / high
    parts = []
    for place, (name, colour, figure) in enumerate(rows):
        y = TOP + place * BAR
        box = f'x="{LABELS}" y="{y}" width="{figure.value * scale:.1f}" height="{BAR * 0.7:.1f}"'
        parts.append(text(LABELS - 8, y + 13, name, "end"))
        parts.append(add_tooltip(f'<rect {box} fill="{colour}"/>', f"{name}: {figure}"))
        if figure.lower is not None and figure.upper is not None:
            ends = [LABELS + bound * scale for bound in (figure.lower, figure.upper)]
            parts.append(stroke(ends[0], y + 8, ends[1], y + 8, "#000"))
        parts.append(
            text(
                LABELS + max(figure.value, figure.upper or 0) * scale + 8,
                y + 13,
                str(figure),
            )
        )
    height = TOP + len(rows) * BAR + 12
    if level is not None:
        down = LABELS + level * scale
        parts.append(
            stroke(
                down, TOP - 6, down, height - 10, "#000", more=' stroke-dasharray="2 3"'
            )
        )
    return picture(title, parts, height)


def speed(report: Report) -> str | None:
    """Draw the speed in both modes: compat solid, independent dashed."""
    series = []
    for mode, dashed in (("compat", False), ("independent", True)):
        at = {"mode": mode, "setup": "preload"}
        for arm in ("paceline", "paceline_hardened"):
            found = report.by_value("vs_mimalloc343", arm, "working_set", at)
            series.append(Line(f"{arm}, {mode}", COLOURS[arm], found, dashed))
        best = {
            x: figure
            for x, (figure, _) in report.by_best("field", "working_set", at).items()
        }
        series.append(Line(f"by the best, {mode}", BEST, best, dashed))
    if not any(line.points for line in series):
        return None
    return lines(
        "random_mixed: times as fast as mimalloc 3.4.3, and as the best of the field",
        series,
        1.0,
    )


def threads(report: Report) -> str | None:
    series = []
    for mode, dashed in (("compat", False), ("independent", True)):
        for remote, colour in ((0, "#087f5b"), (1, "#b08900"), (50, "#1864ab")):
            at = {"mode": mode, "remote_percent": remote}
            best = report.by_best("threads_field", "working_set", at)
            points = {x: figure for x, (figure, _) in best.items()}
            series.append(Line(f"{remote} % remote, {mode}", colour, points, dashed))
    if not any(line.points for line in series):
        return None
    return lines("Two threads: times as fast as the best of the field", series, 1.0)


def by_arm(found: dict[str, Figure]) -> list[tuple[str, str, Figure]]:
    return [
        (arm, colour, found[arm]) for arm, colour in COLOURS.items() if arm in found
    ]


def degradation(report: Report) -> str | None:
    rows = by_arm(report.by_arm("degradation", {"mode": "compat", "setup": "preload"}))
    return (
        bars("Time at 8,192 slots by time at 256 (compat)", rows, 1.1) if rows else None
    )


def left(report: Report) -> str | None:
    rows = by_arm(report.medians("fragmentation", "rss_idle", 2**20))
    return (
        bars("MiB resident two seconds after 95 % of 128 MiB were freed", rows)
        if rows
        else None
    )


def programs(report: Report) -> str | None:
    rows = [
        (f"{name}{' hardened' if arm != 'paceline' else ''}", COLOURS[arm], figure)
        for name, arm, figure in report.programs(("paceline", "paceline_hardened"))
    ]
    return (
        bars("Processor time of real programs by mimalloc 3.4.3's", rows, 1.0)
        if rows
        else None
    )


def draw_counts(tables: Sequence[figures.Table], misses: bool) -> str | None:
    """Draw the instructions or misses of an operation. Counts have no interval."""
    rows = []
    for table in tables:
        for column in table.columns:
            if column.endswith(".LL") or column.endswith(".D1") != misses:
                continue
            rows += [
                (
                    f"{arm}, {int(column.removesuffix('.D1')):,}",
                    colour,
                    Figure(table.rows[arm][column]),
                )
                for arm, colour in COLOURS.items()
                if table.rows.get(arm, {}).get(column)
            ]
    what = "Misses in a first cache of 32 KiB" if misses else "Instructions"
    return (
        bars(f"{what}, of an operation of random_mixed, by callgrind", rows)
        if rows
        else None
    )


def draw_all(report: Report, tables: Sequence[figures.Table]) -> dict[str, str]:
    """Draw every picture that the inputs have figures for, by file name."""
    made = {
        "speed.svg": speed(report),
        "threads.svg": threads(report),
        "degradation.svg": degradation(report),
        "left.svg": left(report),
        "programs.svg": programs(report),
        "instructions.svg": draw_counts(tables, misses=False),
        "misses.svg": draw_counts(tables, misses=True),
    }
    return {name: body for name, body in made.items() if body is not None}


def main(arguments: Sequence[str]) -> int:
    """Run the command line. Returns 1 when nothing could be drawn."""
    words = list(arguments)
    page = None
    if "--page" in words:
        at = words.index("--page")
        page = Path(words[at + 1])
        del words[at : at + 2]
    folder, *inputs = map(Path, words)
    report = figures.read_reports([path for path in inputs if path.suffix == ".json"])
    tables = [figures.read_table(path) for path in inputs if path.suffix == ".txt"]
    made = draw_all(report, tables)
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in made.items():
        (folder / name).write_text(body, encoding="utf-8")
        sys.stdout.write(f"{folder / name}\n")
    if page is not None:
        pages.update(page, folder, sorted(made), report)
    return 0 if made else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
