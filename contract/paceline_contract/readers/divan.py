"""Reads the tables that Divan prints (Rust), which have no samples: a benchmark is its median.

Lines outside of a table are left out: cargo, tests and benchmarks print between them. A table does not tell a benchmark's
arguments from a module's benchmarks, so that the names of all levels together are its name, as Divan's filter takes them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from paceline_contract.readers.parsing import LEAST_RATE, check_document, read_figure
from paceline_contract.results import (
    MAX_TEXT,
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Summary,
    refuse_duplicates,
)
from paceline_contract.units import GO_METRICS, NS_PER, MetricUnit

TOOL = "divan"
SEPARATOR: Final = "::"
"""Stands between the names of the levels."""
_HEADINGS: Final = ("fastest", "slowest", "median", "mean", "samples", "iters")
_MEDIAN, _SAMPLES = _HEADINGS.index("median"), _HEADINGS.index("samples")
_BRANCHES: Final = ("├─ ", "╰─ ")
_INDENTS: Final = ("│  ", "   ")
_IGNORED: Final = "(ignored)"

Units = Mapping[str, MetricUnit]
_PREFIXES: Final = ("", "K", "M", "G", "T", "P")
_BYTES: Final = {
    **{f"{prefix}B": 1000.0**power for power, prefix in enumerate(_PREFIXES)},
    **{f"{prefix}iB": 1024.0**power for power, prefix in enumerate(_PREFIXES) if power},
}
_TIMES: Final[Units] = MappingProxyType(
    {
        unit: MetricUnit("time", "ns", "lower", scale)
        for unit, scale in {**NS_PER, "m": 60e9, "h": 3600e9, "d": 86_400e9}.items()
    }
)
_RATES: Final[Units] = MappingProxyType(
    {
        **{
            f"{unit}/s": MetricUnit("throughput", "bytes/s", "higher", scale)
            for unit, scale in _BYTES.items()
        },
        **{
            f"{prefix}{unit}": MetricUnit(name, "op/s", "higher", 1000.0**power)
            for unit, name in (
                ("item/s", "items"),
                ("char/s", "chars"),
                ("Hz", "cycles"),
            )
            for power, prefix in enumerate(_PREFIXES)
        },
    }
)
_COUNT: Final[Units] = MappingProxyType({"": GO_METRICS["allocs/op"]})
_ALLOCATED: Final[Units] = MappingProxyType(
    {unit: GO_METRICS["B/op"]._replace(scale=scale) for unit, scale in _BYTES.items()}
)
_PEAK: Final[Units] = MappingProxyType(
    {
        unit: MetricUnit("peak_memory", "bytes", "lower", scale)
        for unit, scale in _BYTES.items()
    }
)
_SECTIONS: Final = MappingProxyType(
    {"alloc:": (_COUNT, _ALLOCATED), "max alloc:": (None, _PEAK)}
)
"""The units of the two rows below these. What is freed, grown and shrunk is left out, and how much is held in number."""


class _DivanBenchmark:
    """A benchmark whose rows are read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_ignored = False
        self.metrics: list[MeasuredMetric] = []
        self._section: list[Units | None] | None = None
        """The units of the rows to come in a section; none before the first."""

    def take_times(self, cells: list[str], where: str) -> None:
        """Take the row of times. Raises ResultError."""
        samples = cells[_SAMPLES]
        count = int(samples) if samples.isdecimal() and samples.strip("0") else None
        self._take(cells[_MEDIAN], _TIMES, count, where)

    def take_row(self, cells: list[str], where: str) -> None:
        """Take a row below that of times: the title of a section, one of its rows, or a throughput. Raises ResultError."""
        if cells[0].endswith(":"):
            self._section = list(_SECTIONS.get(cells[0], ()))
        elif self._section is None:
            self._take(cells[_MEDIAN], _RATES, None, where)
        elif self._section and (units := self._section.pop(0)) is not None:
            self._take(cells[_MEDIAN], units, None, where)

    def _take(self, cell: str, units: Units, count: int | None, where: str) -> None:
        """Take a figure. Raises ResultError. But for times, none is taken that has no ratio or would lose digits."""
        number, _, unit = cell.partition(" ")
        metric = units.get(unit)
        try:
            figure = float(number)
        except ValueError:
            figure = -1
        if metric is None or figure < 0:
            found = repr(cell[:MAX_TEXT])
            raise ResultError(f"{where}: expected a figure of Divan, found {found}")
        if math.isinf(figure) and units is _RATES:
            return  # It took no time.
        value = read_figure(figure, where, metric.scale)
        if units is not _TIMES and value < (LEAST_RATE if units is _RATES else 1):
            return
        summary = Summary("median", value, count)
        self.metrics.append(
            MeasuredMetric(metric.name, metric.unit, metric.direction, summary=summary)
        )

    def make_case(self) -> MeasuredCase:
        """Return its case. One whose row of times never came has failed."""
        failure = unavailable = None
        if self.is_ignored:
            unavailable = "it is ignored"
        elif not self.metrics:
            failure = "it printed no figures: it failed, or it measures nothing"
        return MeasuredCase(
            self.name, self.name, {}, self.metrics, failure, unavailable
        )


class _Table:
    """State of reading one table, which begins with its heading."""

    def __init__(self, heading: str) -> None:
        self.column = heading.rindex(_HEADINGS[0])
        """The column behind the names, unless a longer name came, which moved it."""
        self._path = [heading[: self.column].rstrip()]
        self.benchmarks: list[_DivanBenchmark] = []

    def take(self, line: str, where: str) -> None:
        """Take a line. Raises ResultError."""
        cells = line.rsplit("│", len(_HEADINGS) - 1)
        is_row = len(cells) == len(_HEADINGS)
        start = 0
        while line.startswith(_INDENTS, start):
            start += 3
        if line.startswith(_BRANCHES, start):
            self._enter(line, start, cells if is_row else None, where)
        elif is_row and self.benchmarks:
            last = self.benchmarks[-1]
            cells = [cell.strip("│ ") for cell in cells]
            if cells[_SAMPLES]:
                # It printed a line itself between its name and its figures.
                last.take_times(cells, where)
            elif last.metrics:
                last.take_row(cells, where)

    def _enter(
        self, line: str, start: int, cells: list[str] | None, where: str
    ) -> None:
        """Take the first row of a benchmark, or the row of what is above some."""
        name = self._name_in(line[start + 3 :], self.column - start - 3, cells)
        level = start // 3 + 1
        path = [*self._path[:level], name]
        if sum(map(len, path)) > MAX_TEXT:
            raise ResultError(
                f"{where}: expected a name of at most {MAX_TEXT:,} characters"
            )
        stripped = None if cells is None else [cell.strip() for cell in cells]
        is_ignored = stripped is not None and stripped[0].endswith(_IGNORED)
        if stripped is not None and not is_ignored and not stripped[_SAMPLES]:
            self._path = path
            return
        benchmark = _DivanBenchmark(SEPARATOR.join(path))
        benchmark.is_ignored = is_ignored
        self.benchmarks.append(benchmark)
        if stripped is not None and not is_ignored:
            benchmark.take_times(stripped, where)

    @staticmethod
    def _name_in(text: str, width: int, cells: list[str] | None) -> str:
        """Return the name at the start of a row, before a figure, or before what the benchmark itself printed."""
        name = text[: max(width, 0)]
        if cells is None or name.endswith("  "):
            return name.rstrip()
        # A longer one than its heading's column has room for, such as of a number of threads.
        text = text[: len(text) - sum(len(cell) + 1 for cell in cells[1:])].rstrip()
        if text.endswith(_IGNORED):
            text = text.removesuffix(_IGNORED)
        elif cells[_SAMPLES].strip():
            text = text.rpartition(" ")[0].rpartition(" ")[0]
        return text.rstrip()


def read_text(data: bytes) -> Result:
    """Read what `cargo bench` printed, of one or several programs. Raises ResultError."""
    check_document(data, "Divan")
    tables: list[_Table] = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        where = f"line {number}"
        headings = tuple(cell.strip() for cell in line.split("│"))
        if headings[1:] == _HEADINGS[1:] and headings[0].endswith(_HEADINGS[0]):
            if tables and line.startswith((*_INDENTS, *_BRANCHES)):
                # The program before ended behind the name of a benchmark that failed.
                tables[-1].take(line[: tables[-1].column], where)
                line = line[tables[-1].column :]  # noqa: PLW2901 - the rest is a line of its own
            tables.append(_Table(line))
        elif tables:
            tables[-1].take(line.rstrip("\r"), where)
    cases = (of.make_case() for table in tables for of in table.benchmarks)
    return Result(TOOL, refuse_duplicates(cases))
