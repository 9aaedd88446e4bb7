"""Reads a CSV file whose columns somebody declares: which names the benchmark, the arm and params, and the unit of figures.

Every row is one sample of each of its figures. A row with a text in the column of failures has none. `declared_lines.py`
reads other lines by columns that a pattern finds.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from paceline_contract.events import ParamValue
from paceline_contract.params import params_key
from paceline_contract.readers.parsing import LEAST_RATE, check_document, read_sample
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
BENCHMARK, ARM, PARAM, FAILURE, VALUE, UNIT = ROLES = (
    *("benchmark", "arm", "param", "failure", "value", "unit"),
)
"""What a column may be besides figures, for which their unit is declared. That of a value is in the row."""
_DELIMITERS: Final = ",;\t|"


class DeclaredColumns(NamedTuple):
    """The columns that are read, by their names in the first line. Others are ignored."""

    benchmark: str
    arm: str | None
    params: Sequence[str]
    failure: str | None
    figures: Mapping[str, MetricUnit]
    value: str | None
    unit: str | None

    @property
    def names(self) -> list[str]:
        """Return the names of all declared columns."""
        single = (self.arm, self.failure, self.value, self.unit)
        given = [name for name in single if name is not None]
        return [self.benchmark, *given, *self.params, *self.figures]

    def figures_of(
        self, row: Mapping[str, str | None], where: str
    ) -> Mapping[str, MetricUnit]:
        """Return the columns of the figures of a row. Raises ResultError, which says `where`, for an unknown unit."""
        if self.value is None or self.unit is None:
            return self.figures
        unit = metric_in(row[self.unit] or "")
        if unit is None:
            found = repr(row[self.unit])
            raise ResultError(
                f"{where}: expected a unit ({', '.join(KNOWN)}), found {found}"
            )
        return {**self.figures, self.value: unit}


def parse_columns(options: Sequence[str], named: Sequence[str] = ()) -> DeclaredColumns:
    """Return the columns that `COLUMN=ROLE` declares, where a role is one of `ROLES` or a unit. Of those `named`, which
    alone are there, one that no option declares is what it is called, else a param. Raises ResultError."""
    columns: dict[str, str] = {}
    figures: dict[str, MetricUnit] = {}
    for option in options:
        column, separator, role = option.rpartition("=")
        if not separator or not column:
            raise ResultError(f"expected COLUMN=ROLE, found {option!r}")
        if column in columns:
            raise ResultError(f"the column {column} is declared twice")
        if named and column not in named:
            raise ResultError(
                f"expected a column of {', '.join(named)}, found {column}"
            )
        columns[column] = role
        if role not in ROLES:
            unit = metric_in(role)
            if unit is None:
                raise ResultError(
                    f"the column {column}: expected {', '.join(ROLES)} or a unit ({', '.join(KNOWN)}), found {role!r}"
                )
            figures[column] = unit._replace(name=make_name(column))
    for column in named:
        columns.setdefault(column, column if column in ROLES else PARAM)
    return _by_role(columns, figures)


def _by_role(
    columns: Mapping[str, str], figures: Mapping[str, MetricUnit]
) -> DeclaredColumns:
    by_role = {
        role: [column for column, its_role in columns.items() if its_role == role]
        for role in ROLES
    }
    for role in ROLES:
        if role != PARAM and len(by_role[role]) > 1:
            raise ResultError(f"expected one column for {role}, found several")
    if bool(by_role[VALUE]) != bool(by_role[UNIT]):
        raise ResultError(
            f"expected a column for {VALUE} and one for {UNIT}, found one of them"
        )
    if not by_role[BENCHMARK] or not (figures or by_role[VALUE]):
        raise ResultError(
            "expected a column for the benchmark and one with figures, such as name=benchmark and elapsed=ms"
        )
    if len({unit.name for unit in figures.values()}) < len(figures):
        raise ResultError(
            "two columns of figures have names that differ in signs alone"
        )
    single = {
        role: next(iter(by_role[role]), None) for role in (ARM, FAILURE, VALUE, UNIT)
    }
    return DeclaredColumns(
        by_role[BENCHMARK][0],
        single[ARM],
        by_role[PARAM],
        single[FAILURE],
        figures,
        single[VALUE],
        single[UNIT],
    )


CasesByKey = dict[tuple[str, str | None, str], MeasuredCase]
"""Cases by benchmark, arm and params."""


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
    cases: CasesByKey = {}
    try:
        found = rows.fieldnames or []
        for name in columns.names:
            if found.count(name) != 1:
                raise ResultError(
                    f"expected one column {name!r} in the first line, found {', '.join(found)[:MAX_TEXT]}"
                )
        for row in rows:
            take_row(row, f"line {rows.line_num}", columns, cases)
    except csv.Error as error:
        raise ResultError(f"line {rows.reader.line_num}: {error}") from error
    return Result(TOOL, refuse_duplicates(cases.values()))


def take_row(
    row: Mapping[str, str | None],
    where: str,
    columns: DeclaredColumns,
    cases: CasesByKey,
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
    key = benchmark, arm, params_key(params)
    failure = row[columns.failure] if columns.failure is not None else None
    case = cases.get(key)
    if case is None or (failure and case.failure is None):
        name = join_name(benchmark, value)
        name = name if arm is None else f"{name} ({arm})"
        why = failure[:MAX_TEXT] if failure else None
        # Its metrics are a list of its own, to which each row adds.
        case = MeasuredCase(name, benchmark, params, [], why, arm=arm)
        cases[key] = case
    if case.failure is not None:
        return
    for column, unit in columns.figures_of(row, where).items():
        sample = _read_cell(row[column], f"{where}, {column}", unit)
        _metric_of(case, unit).samples.append(sample)


def _metric_of(case: MeasuredCase, unit: MetricUnit) -> MeasuredMetric:
    """Return the metric of a case, which has few; a new one where it has none of this name."""
    for metric in case.metrics:
        if metric.name == unit.name:
            return metric
    metric = MeasuredMetric(unit.name, unit.unit, unit.direction, [])
    case.metrics.append(metric)
    return metric


def _read_cell(cell: str | None, where: str, unit: MetricUnit) -> Sample:
    try:
        figure = float(cell or "")
    except ValueError:
        raise ResultError(f"{where}: expected a number, found {cell!r}") from None
    iterations = KEPT_DIGITS if unit.unit in PER_ITERATION else 1
    sample = read_sample(figure, iterations, where, unit.scale)
    if unit.unit not in PER_ITERATION and sample.total < LEAST_RATE:
        raise ResultError(
            f"{where}: expected a rate from {LEAST_RATE:,} (of fewer, digits would be lost), found {cell}"
        )
    return sample
