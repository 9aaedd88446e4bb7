"""Reads the history that github-action-benchmark keeps: `data.js`, or the same as plain JSON.

A `data.js` assigns JSON to a variable. It is cut and read as JSON, and never run. Each entry is one result; its figures
are what the action took from another tool's output, so that they have no samples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import msgspec

from paceline_contract.events import Direction
from paceline_contract.imported_series import LeftOut
from paceline_contract.readers.history import (
    HistoryEntry,
    HistoryFile,
    sort_entries,
)
from paceline_contract.readers.parsing import (
    check_document,
    find_commit,
    read_document,
    read_figure,
    read_milliseconds,
)
from paceline_contract.results import (
    KEPT_DIGITS,
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Summary,
    duplicate_name_text,
)
from paceline_contract.units import GO_METRICS, KNOWN, NS_PER, MetricUnit, metric_in

TOOL = "github-action-benchmark"
FILE: Final = "data.js"
_ASSIGNMENT: Final = re.compile(rb"\s*(?:window\.)?BENCHMARK_DATA\s*=")
_OPERATIONS: Final = ("iter", "op", "ops")
_INVERSE: Final = ("pytest", "benchmarkjs")
"""The action keeps the rates of these, which are one by the mean time: it is read as this time and loses no digit."""
_MEDIANS: Final = ("cargo",)
_DIRECTIONS: Final[Mapping[str, Direction]] = MappingProxyType(
    {"customBiggerIsBetter": "higher", "customSmallerIsBetter": "lower"}
)


class _ActionBench(msgspec.Struct):
    name: str
    value: Any = None
    unit: str = ""


class _ActionCommit(msgspec.Struct):
    id: str


class _ActionEntry(msgspec.Struct):
    commit: _ActionCommit
    date: int
    benches: list[_ActionBench]
    tool: str = ""


class _ActionDocument(msgspec.Struct):
    entries: dict[str, list[_ActionEntry]]


def read_history(files: Sequence[HistoryFile]) -> list[HistoryEntry]:
    """Return the entries of a `data.js`, given itself or by its directory, the oldest first. Raises ResultError."""
    candidates = [
        file
        for file in files
        if len(files) == 1 or file.path.rpartition("/")[2] == FILE
    ]
    if len(candidates) != 1:
        found = ", ".join(file.path for file in candidates) or "none"
        raise ResultError(f"expected one {FILE}, found {found}: give the file itself")
    return sort_entries(list_entries(candidates[0].read()))


def list_entries(data: bytes) -> list[HistoryEntry]:
    """Return all entries of a file, in its order. Raises ResultError."""
    check_document(data, TOOL)
    if assigned := _ASSIGNMENT.match(data):
        data = data[assigned.end() :].rstrip().removesuffix(b";")
    try:
        # A history of years is long, and most of it, such as messages of commits, need not be kept.
        document = msgspec.json.decode(data, type=_ActionDocument)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        document = read_document(data, TOOL, _ActionDocument)
    return [
        HistoryEntry(
            f"entry {number} of {suite}, {entry.commit.id}",
            entry.date,
            partial(_result_of, suite, entry),
        )
        for suite, entries in document.entries.items()
        for number, entry in enumerate(entries, 1)
    ]


def _result_of(suite: str, entry: _ActionEntry) -> Result:
    cases: list[MeasuredCase] = []
    problems: list[LeftOut] = []
    names = Counter(bench.name for bench in entry.benches)
    for bench in entry.benches:
        # An action has several suites, whose benchmarks may have one name.
        name = f"{suite} > {bench.name}"
        try:
            if names[bench.name] > 1:
                raise ResultError(duplicate_name_text(bench.name))
            cases.append(MeasuredCase(name, name, {}, [_measure(bench, entry.tool)]))
        except ResultError as error:
            problems.append(LeftOut.of(name, entry.commit.id, str(error)))
    return Result(
        TOOL,
        cases,
        at=read_milliseconds(entry.date, f"date of {entry.commit.id}"),
        commit=find_commit(entry.commit.id),
        build={"harness": entry.tool} if entry.tool else {},
        problems=problems,
    )


def _measure(bench: _ActionBench, tool: str) -> MeasuredMetric:
    """Return the metric of a figure. Raises ResultError for what is none, and for a unit that is unknown."""
    # Early versions keep all that Go prints after the first unit.
    unit = bench.unit.partition("\t")[0].strip()
    metric = _find_metric(unit)
    if metric is None:
        raise ResultError(
            f"its unit {unit!r} is unknown: expected one of {', '.join((*KNOWN, *GO_METRICS))}, a time per iter or op, or "
            "iter or ops per time"
        )
    where = f"{unit} of {bench.name}"
    figure = read_figure(bench.value, where, metric.scale)
    if metric.unit == "op/s" and tool in _INVERSE:
        if figure == 0:
            raise ResultError(f"{where}: expected a rate above 0")
        metric = MetricUnit("time", "ns", "lower")
        figure = read_figure(NS_PER["s"] / figure, where)
    elif metric.unit.endswith("/s") and figure < KEPT_DIGITS:
        raise ResultError(f"rates below {KEPT_DIGITS} per second lose digits")
    summary = Summary("median" if tool in _MEDIANS else "mean", figure)
    direction = _DIRECTIONS.get(tool, metric.direction)
    return MeasuredMetric(metric.name, metric.unit, direction, summary=summary)


def _find_metric(unit: str) -> MetricUnit | None:
    if unit in GO_METRICS:
        return GO_METRICS[unit]
    amount, _, per = unit.replace("sec", "s").partition("/")
    if amount in _OPERATIONS and per in NS_PER:
        scale = NS_PER["s"] / NS_PER[per]
        return MetricUnit("throughput", "op/s", "higher", scale)
    return metric_in(amount if per in _OPERATIONS else unit.replace("sec", "s"))
