"""Draws the table that opens each suite's README as `docs/headline.svg` beside it.

    python scripts/headlines.py            writes the pictures
    python scripts/headlines.py --check    writes nothing; exit 1 when a picture is stale

A row of the table is a ratio, a column a CPU. A cell is empty or has estimates: `2.46`, `2.46 (2.44 to 2.50)` with an
interval, `1.02 to 1.92` for several points; `and` and commas separate them. The README alone has the numbers.
"""

from __future__ import annotations

import html
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

NATIVE = Path(__file__).resolve().parents[1] / "native"
PICTURE = "docs/headline.svg"
WIDTH, LEFT, RIGHT = 820, 190, 610
TOP, LABEL, LANE, GAP = 20, 20, 18, 10
NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
ESTIMATE = re.compile(rf"{NUMBER}(?: \({NUMBER} to {NUMBER}\)| to {NUMBER})?")
SEPARATOR = re.compile(r"(?:times|and|,|\s)*")
TICKS = [base * 10**power for power in range(-2, 5) for base in (1, 2, 5)]
STYLE = """\
text { fill: #24292f; stroke: #fff; stroke-width: 3px; paint-order: stroke } .grid { stroke: #d0d7de } .even { stroke: #57606a } .page { fill: #fff }
.cpu0 { stroke: #1c7ed6; fill: #1c7ed6 } .cpu1 { stroke: #d9480f; fill: #d9480f }
.cpu2 { stroke: #2b8a3e; fill: #2b8a3e } .cpu3 { stroke: #ae3ec9; fill: #ae3ec9 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; stroke: #0d1117 } .grid { stroke: #30363d } .even { stroke: #9198a1 } .page { fill: #0d1117 }
.cpu0 { stroke: #4dabf7; fill: #4dabf7 } .cpu1 { stroke: #ff922b; fill: #ff922b }
.cpu2 { stroke: #51cf66; fill: #51cf66 } .cpu3 { stroke: #da77f2; fill: #da77f2 }
}"""


class InvalidTableError(Exception):
    """A README has no table that can be drawn; the message says where and what was expected."""


class Estimate(NamedTuple):
    """A ratio with its interval, or the ends of a range without a value."""

    value: float | None
    lower: float
    upper: float


class Row(NamedTuple):
    label: str
    cells: list[str]


class Headline(NamedTuple):
    cpus: list[str]
    rows: list[Row]


def read_headline(readme: Path) -> Headline:
    """Return the first table of a README. Raises `InvalidTableError`."""
    lines = readme.read_text(encoding="utf-8").splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("|")), None)
    if first is None:
        raise InvalidTableError("a table of ratios was expected")
    table = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    head, _, *rows = table
    return Headline(head[1:], [Row(label, cells) for label, *cells in rows])


def read_estimates(cell: str) -> Iterator[Estimate]:
    """Yield the estimates in a cell. Raises `InvalidTableError` for anything else in it."""
    if SEPARATOR.fullmatch(ESTIMATE.sub("", cell)) is None:
        raise InvalidTableError(
            f"{cell!r}: estimates such as '2.46 (2.44 to 2.50)' or '1.02 to 1.92' were expected"
        )
    for found in ESTIMATE.finditer(cell):
        value, lower, upper, end = (
            float(number.replace(",", "")) if number else 0.0
            for number in found.groups()
        )
        if value <= 0:
            raise InvalidTableError(f"{cell!r}: ratios above 0 were expected")
        if end:
            yield Estimate(None, value, end)
        else:
            yield Estimate(value, lower or value, upper or value)


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{html.escape(words)}</text>'


def draw_estimate(
    one: Estimate, cpu: int, y: float, across: Callable[[float], float]
) -> Iterator[str]:
    """Yield a dot with its interval, or a bar from the least to the greatest of several points."""
    width = 2 if one.value is not None else 6
    ends = (
        f'x1="{across(one.lower):.1f}" y1="{y}" x2="{across(one.upper):.1f}" y2="{y}"'
    )
    if one.lower < one.upper:
        yield f'<line {ends} stroke-width="{width}" class="cpu{cpu}"/>'
    if one.value is not None:
        yield f'<circle cx="{across(one.value):.1f}" cy="{y}" r="4" class="cpu{cpu}"/>'


def draw_headline(suite: str, headline: Headline) -> str:
    """Return the picture of a table: a lane per row and CPU, over one logarithmic axis."""
    found = {
        (row, cpu): [*read_estimates(cell)]
        for row, about in enumerate(headline.rows)
        for cpu, cell in enumerate(about.cells)
    }
    bounds = [1.0]
    for estimates in found.values():
        bounds += [end for one in estimates for end in (one.lower, one.upper)]
    low, high = math.log(min(bounds)), math.log(max(bounds))
    room = (high - low) * 0.04
    low, high = low - room, high + room

    def across(ratio: float) -> float:
        return LEFT + (math.log(ratio) - low) / (high - low) * (RIGHT - LEFT)

    y, marks = TOP, []
    for place, row in enumerate(headline.rows):
        label = row.label.replace("`", "")
        marks.append(text(16, y + 12, label, ' font-weight="600"'))
        y += LABEL
        for cpu, name in enumerate(headline.cpus):
            if not found[place, cpu]:
                continue
            shown = row.cells[cpu].replace(" times", "")
            marks.append(text(28, y + 12, name))
            marks.append(text(RIGHT + 14, y + 12, shown))
            for one in found[place, cpu]:
                marks += draw_estimate(one, cpu, y + 8, across)
            y += LANE
        y += GAP
    grid = []
    for tick in TICKS:
        if low <= math.log(tick) <= high:
            line = (
                f'x1="{across(tick):.1f}" y1="{TOP}" x2="{across(tick):.1f}" y2="{y}"'
            )
            even = tick == 1
            grid.append(f'<line {line} class="{"even" if even else "grid"}"/>')
            grid.append(
                text(across(tick), y + 16, f"{tick:g}", ' text-anchor="middle"')
            )
    title = f"Headline ratios of the {suite} suite, as in the table"
    body = "\n".join([*grid, *marks])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 28}" role="img" '
        f'font-family="sans-serif" font-size="12">\n<title>{title}</title>\n<style>\n{STYLE}\n</style>\n'
        f'<rect width="100%" height="100%" class="page"/>\n{body}\n</svg>\n'
    )


def main(arguments: Sequence[str]) -> int:
    stale = []
    for manifest in sorted(NATIVE.glob("*/suite.toml")):
        readme, picture = manifest.with_name("README.md"), manifest.parent / PICTURE
        try:
            drawn = draw_headline(manifest.parent.name, read_headline(readme))
        except InvalidTableError as error:
            sys.stderr.write(f"{readme}: {error}\n")
            return 1
        if [*arguments] != ["--check"]:
            picture.parent.mkdir(exist_ok=True)
            picture.write_text(drawn, encoding="utf-8")
        elif not picture.exists() or picture.read_text(encoding="utf-8") != drawn:
            stale.append(str(picture.relative_to(NATIVE.parent)))
    if stale:
        sys.stderr.write(f"stale: {', '.join(stale)}; run: make openapi\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
