"""Reads a CSV file whose columns somebody declares: which names the benchmark, the arm and params, and the unit of figures.

Every row is one sample of each of its figures. A row with a text in the column of failures has none.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from paceline_contract.events import ParamValue
from paceline_contract.readers.parsing import check_document, read_sample
from paceline_contract.results import (
    KEPT_DIGITS,
    MAX_TEXT,
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Sample,
    join_name,
    join_params,
    refuse_duplicates,
)
from paceline_contract.text_names import make_name
from paceline_contract.units import KNOWN, PER_ITERATION, MetricUnit, metric_in

TOOL = "csv"
BENCHMARK, ARM, PARAM, FAILURE = ROLES = ("benchmark", "arm", "param", "failure")
"""What a column may be besides figures, for which their unit is declared."""
_DELIMITERS: Final = ",;\t|"


class DeclaredColumns(NamedTuple):
    """The columns that are read, by their names in the first line. Others are ignored."""

    benchmark: str
    arm: str | None
    params: Sequence[str]
    failure: str | None
    figures: Mapping[str, MetricUnit]

    @property
    def names(self) -> list[str]:
        """Return the names of all declared columns."""
        single = [name for name in (self.arm, self.failure) if name is not None]
        return [self.benchmark, *single, *self.params, *self.figures]


def parse_columns(options: Sequence[str]) -> DeclaredColumns:
    """Return the columns that `COLUMN=ROLE` declares, where a role is one of `ROLES` or a unit. Raises ResultError."""
    columns: dict[str, str] = {}
    figures: dict[str, MetricUnit] = {}
    for option in options:
        column, separator, role = option.rpartition("=")
        if not separator or not column:
            raise ResultError(f"expected COLUMN=ROLE, found {option!r}")
        if column in columns:
            raise ResultError(f"the column {column} is declared twice")
        columns[column] = role
        if role not in ROLES:
            unit = metric_in(role)
            if unit is None:
                raise ResultError(
                    f"the column {column}: expected {', '.join(ROLES)} or a unit ({', '.join(KNOWN)}), found {role!r}"
                )
            figures[column] = unit._replace(name=make_name(column))
    by_role = {
        role: [column for column, its_role in columns.items() if its_role == role]
        for role in ROLES
    }
    for role in (BENCHMARK, ARM, FAILURE):
        if len(by_role[role]) > 1:
            raise ResultError(f"expected one column for {role}, found several")
    if not by_role[BENCHMARK] or not figures:
        raise ResultError(
            "expected a column for the benchmark and one with figures, such as name=benchmark and elapsed=ms"
        )
    if len({unit.name for unit in figures.values()}) < len(figures):
        raise ResultError(
            "two columns of figures have names that differ in signs alone"
        )
    return DeclaredColumns(
        by_role[BENCHMARK][0],
        next(iter(by_role[ARM]), None),
        by_role[PARAM],
        next(iter(by_role[FAILURE]), None),
        figures,
    )


def read_csv(data: bytes, columns: DeclaredColumns) -> Result:
    """Read a file whose first line names its columns. Raises ResultError, which says the line."""
    check_document(data, TOOL)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ResultError(f"the file is not UTF-8: {error}") from error
    header = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    cases: dict[tuple[str, str | None, str | None], MeasuredCase] = {}
    try:
        found = rows.fieldnames or []
        for name in columns.names:
            if found.count(name) != 1:
                raise ResultError(
                    f"expected one column {name!r} in the first line, found {', '.join(found)[:MAX_TEXT]}"
                )
        for row in rows:
            _take_row(row, f"line {rows.line_num}", columns, cases)
    except csv.Error as error:
        raise ResultError(f"line {rows.line_num}: {error}") from error
    return Result(TOOL, refuse_duplicates(cases.values()))


def _take_row(
    row: Mapping[str, str | None],
    where: str,
    columns: DeclaredColumns,
    cases: dict[tuple[str, str | None, str | None], MeasuredCase],
) -> None:
    """Add the figures of a row to its case. Raises ResultError, which says `where`."""
    benchmark = row[columns.benchmark]
    if not benchmark:
        raise ResultError(f"{where}: expected a benchmark in {columns.benchmark}")
    arm = (row[columns.arm] or None) if columns.arm is not None else None
    params: dict[str, ParamValue] = {
        name: row[name] or "" for name in columns.params if row[name]
    }
    value = join_params(params)
    key = benchmark, arm, value
    case = cases.get(key)
    if case is None:
        name = join_name(benchmark, value)
        metrics = [
            MeasuredMetric(unit.name, unit.unit, unit.direction)
            for unit in columns.figures.values()
        ]
        name = name if arm is None else f"{name} ({arm})"
        case = cases[key] = MeasuredCase(name, benchmark, params, metrics, arm=arm)
    failure = row[columns.failure] if columns.failure is not None else None
    if failure:
        if case.failure is None:
            cases[key] = MeasuredCase(
                case.name, benchmark, params, failure=failure[:MAX_TEXT], arm=arm
            )
        return
    for metric, (column, unit) in zip(
        case.metrics, columns.figures.items(), strict=False
    ):
        metric.samples.append(_read_cell(row[column], f"{where}, {column}", unit))


def _read_cell(cell: str | None, where: str, unit: MetricUnit) -> Sample:
    try:
        figure = float(cell or "")
    except ValueError:
        raise ResultError(f"{where}: expected a number, found {cell!r}") from None
    iterations = KEPT_DIGITS if unit.unit in PER_ITERATION else 1
    return read_sample(figure, iterations, where, unit.scale)
