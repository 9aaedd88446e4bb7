"""Reads results of airspeed velocity: `.asv/results/MACHINE/COMMIT-ENVIRONMENT.json`, of both its formats.

The unit of a benchmark is in another file, `benchmarks.json`, and follows from the kind in its name, except of those that
begin with `track_`. A benchmark without samples is the median of them. The time is the commit's, by which asv orders its
history. A history is the whole directory; as in asv's own pages, what an older version of a benchmark measured is left out.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from paceline_contract.events import ParamValue
from paceline_contract.imported_series import MAX_SHOWN, LeftOut
from paceline_contract.readers.history import (
    HistoryEntry,
    HistoryFile,
    sort_entries,
)
from paceline_contract.readers.parsing import (
    find_commit,
    read_document,
    read_figure,
    read_milliseconds,
    read_sample,
)
from paceline_contract.results import (
    MAX_CASES,
    MAX_TEXT,
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Summary,
    join_name,
    join_params,
    refuse_duplicates,
)
from paceline_contract.text_names import append_digest
from paceline_contract.units import KNOWN, NS_PER, MetricUnit, metric_in

TOOL = "asv"
_KIND: Final = re.compile(
    r"(?P<time>time(?:raw)?_|Time(?:raw)?[A-Z_])|(?P<memory>mem_|Mem[A-Z_])|(?P<peak>peakmem_|PeakMem[A-Z_])"
)
"""Matches the beginning of the last part of a benchmark's name."""
_METRICS: Final = {
    "time": MetricUnit("time", "ns", "lower", NS_PER["s"]),
    "memory": MetricUnit("memory", "bytes", "lower"),
    "peak": MetricUnit("peak_memory", "bytes", "lower"),
}
_FACTS: Final = ("machine", "cpu", "arch", "os", "num_cpu", "ram")
DECLARATIONS, MACHINE = "benchmarks.json", "machine.json"
MAX_TARGET: Final = 100
"""Most characters of a target's name."""
MAX_COMBINATIONS: Final = 100_000
"""Most combinations of params of a benchmark."""


class _AsvDocument(msgspec.Struct):
    results: dict[str, Any]
    commit_hash: str
    date: int
    params: dict[str, Any] = {}
    python: str | None = None
    requirements: dict[str, Any] = {}
    result_columns: list[str] | None = None
    """None in format 1."""
    benchmark_version: dict[str, Any] = {}
    """Of format 1; format 2 has a column of them."""


class _DatedDocument(msgspec.Struct):
    date: int


class _Declared(msgspec.Struct):
    """A benchmark in `benchmarks.json`."""

    version: str | None = None
    unit: str | None = None


_UNDECLARED: Final = _Declared()


class _Entry(NamedTuple):
    """One benchmark: its params, and for each combination of them a figure and, where they were kept, samples."""

    params: list[list[str]]
    figures: list[Any] | None
    """None if it failed before it had any."""
    counts: Sequence[Any]
    """The number of iterations of a sample."""
    samples: Sequence[Any]
    version: Any


def read_history(files: Sequence[HistoryFile]) -> list[HistoryEntry]:
    """Return an entry for each file of results in asv's directory of them, the oldest first. A machine with several
    environments is a target for each. Raises ResultError."""
    declared: dict[str, _Declared] = {}
    environments: dict[str, set[str]] = defaultdict(set)
    named: list[tuple[HistoryFile, str, str]] = []
    for file in files:
        if file.path == DECLARATIONS:
            declared = _read_declarations(file.read())
        machine, _, name = file.path.partition("/")
        stem = name.removesuffix(".json")
        if stem == name or "/" in name or name == MACHINE:
            continue
        environment = stem.partition("-")[2]
        environments[machine].add(environment)
        named.append((file, machine, environment))
    if not named:
        raise ResultError(
            "expected asv's directory of results, such as .asv/results, with MACHINE/COMMIT-ENVIRONMENT.json in it"
        )
    return sort_entries(
        [
            HistoryEntry(
                file.path,
                _read_date(file),
                partial(_read_file, file, declared),
                _name_target(
                    machine, environment, is_only=len(environments[machine]) == 1
                ),
            )
            for file, machine, environment in named
        ]
    )


def _read_declarations(data: bytes) -> dict[str, _Declared]:
    """Return the benchmarks of a `benchmarks.json`. Raises ResultError."""
    document = read_document(data, f"{TOOL} in {DECLARATIONS}", dict[str, Any])
    declared: dict[str, _Declared] = {}
    for name, value in document.items():
        # Beside the benchmarks it has its own version, a number.
        if isinstance(value, dict):
            with suppress(msgspec.ValidationError):
                declared[name] = msgspec.convert(value, _Declared)
    return declared


def _read_date(file: HistoryFile) -> int:
    """Return the date of a file; 0 if it cannot be read, which reading it says then."""
    try:
        return read_document(file.read(), TOOL, _DatedDocument).date
    except ResultError:
        return 0


def _read_file(file: HistoryFile, declared: Mapping[str, _Declared]) -> Result:
    return _read_results(file.read(), declared)


def _name_target(machine: str, environment: str, *, is_only: bool) -> str:
    name = machine if is_only else f"{machine} {environment}"
    return name if len(name) <= MAX_TARGET else append_digest(name, name)


def read_json(data: bytes) -> Result:
    """Read a file of results. Raises ResultError."""
    return _read_results(data, {})


def _read_results(data: bytes, declared: Mapping[str, _Declared]) -> Result:
    document = read_document(data, TOOL, _AsvDocument)
    problems: list[LeftOut] = []
    cases = refuse_duplicates(_read_cases(document, declared, problems))
    build = {
        f"requirement {name}": str(text) for name, text in document.requirements.items()
    }
    if document.python:
        build["python"] = document.python
    return Result(
        TOOL,
        cases,
        at=read_milliseconds(document.date, "date"),
        commit=find_commit(document.commit_hash),
        build={name: text for name, text in build.items() if text},
        target={
            name: str(document.params[name])
            for name in _FACTS
            if document.params.get(name)
        },
        problems=problems,
    )


def _read_cases(
    document: _AsvDocument,
    declared: Mapping[str, _Declared],
    problems: list[LeftOut],
) -> Iterator[MeasuredCase]:
    """Yield the cases whose unit is known; what is left out is added to `problems`."""
    for name, value in document.results.items():
        own = declared.get(name, _UNDECLARED)
        metric = _find_metric(name, own)
        if metric is None:
            problems.append(LeftOut.of(name, None, _describe_missing_unit(own)))
            continue
        try:
            entry = _read_entry(name, value, document)
        except ResultError as error:
            problems.append(LeftOut.of(name, None, str(error)))
            continue
        if own.version and entry.version and own.version != entry.version:
            older = f"an older version of the benchmark measured it, not that of {DECLARATIONS}"
            problems.append(LeftOut.of(name, None, older))
        else:
            yield from _cases_of(name, entry, metric, problems)
        if len(problems) > MAX_CASES:
            raise ResultError(
                f"more than {MAX_CASES:,} benchmarks cannot be read: look at {name[:MAX_SHOWN]}"
            )


def _find_metric(name: str, declared: _Declared) -> MetricUnit | None:
    """Return the metric of a benchmark by the kind in its name, else by its declared unit; None if neither tells it."""
    kind = _KIND.match(name.rpartition(".")[2])
    if kind is not None and kind.lastgroup is not None:
        return _METRICS[kind.lastgroup]
    unit = declared.unit
    return None if unit is None else metric_in("s" if unit == "seconds" else unit)


def _describe_missing_unit(declared: _Declared) -> str:
    if declared.unit is None:
        return "its unit is not in this file: expected time_, timeraw_, mem_ or peakmem_ in its name"
    return (
        f"its unit {declared.unit!r} is unknown: expected seconds or {', '.join(KNOWN)}"
    )


def _read_entry(name: str, value: Any, document: _AsvDocument) -> _Entry:
    """Return the entry in a value of either format. Raises ResultError."""
    columns = document.result_columns
    if columns is not None:
        if not isinstance(value, list):
            raise ResultError(f"{name}: expected the columns in result_columns")
        row = dict(zip(columns, value, strict=False))
        counts, samples = row.get("stats_number"), row.get("samples")
        version = row.get("version")
    else:
        row = value if isinstance(value, dict) else {"result": value}
        stats = _as_list(row.get("stats"))
        counts = [
            each.get("number") if isinstance(each, dict) else None
            for each in stats or []
        ]
        samples = row.get("samples")
        version = document.benchmark_version.get(name)
    params = row.get("params") or []
    if not isinstance(params, list) or not all(
        isinstance(values, list) and all(isinstance(text, str) for text in values)
        for values in params
    ):
        raise ResultError(f"{name}: expected lists of texts in params")
    if math.prod(map(len, params)) > MAX_COMBINATIONS:
        raise ResultError(
            f"{name}: expected at most {MAX_COMBINATIONS:,} combinations of params"
        )
    figures = _as_list(row.get("result"))
    samples = samples if isinstance(samples, list) else []
    if columns is None and samples and not isinstance(samples[0], list | None):
        # Without params format 1 has no list of lists.
        samples = [samples]
    numbers = counts if isinstance(counts, list) else []
    return _Entry(params, figures, numbers, samples, version)


def _as_list(value: Any) -> list[Any] | None:
    return value if value is None or isinstance(value, list) else [value]


def _cases_of(
    name: str, entry: _Entry, metric: MetricUnit, problems: list[LeftOut]
) -> Iterator[MeasuredCase]:
    """Yield the cases of a benchmark; those whose figures cannot be read are added to `problems`."""
    combinations = list(itertools.product(*entry.params))
    figures = entry.figures
    if figures is not None and len(figures) != len(combinations):
        why = f"expected {len(combinations)} results, found {len(figures)}"
        problems.append(LeftOut.of(name, None, why))
        return
    for at, values in enumerate(combinations):
        params: dict[str, ParamValue] = {
            f"param{number}": _text_of(value) for number, value in enumerate(values, 1)
        }
        full_name = join_name(name, join_params(params))
        figure = None if figures is None else figures[at]
        if figure is None:
            yield MeasuredCase(full_name, name, params, failure="it failed")
        elif isinstance(figure, float) and math.isnan(figure):
            yield MeasuredCase(
                full_name, name, params, unavailable="its setup skipped it"
            )
        else:
            samples = entry.samples[at] if at < len(entry.samples) else None
            count = entry.counts[at] if at < len(entry.counts) else None
            try:
                measured = _measure(full_name, metric, figure, samples, count)
            except ResultError as error:
                problems.append(LeftOut.of(full_name, None, str(error)))
                continue
            yield MeasuredCase(full_name, name, params, [measured])


def _measure(
    name: str, metric: MetricUnit, figure: Any, samples: Any, count: Any
) -> MeasuredMetric:
    """Return the metric with its samples, or its median where there are none. A size is measured once."""
    where = f"a sample of {name}"
    head = metric.name, metric.unit, metric.direction
    if metric.unit == "bytes":
        return MeasuredMetric(*head, [read_sample(figure, 1, where, metric.scale)])
    if isinstance(samples, list) and samples:
        iterations = count if isinstance(count, int) else 1
        return MeasuredMetric(
            *head,
            [read_sample(each, iterations, where, metric.scale) for each in samples],
        )
    median = read_figure(figure, f"the result of {name}", metric.scale)
    return MeasuredMetric(*head, summary=Summary("median", median))


def _text_of(value: str) -> str:
    """Return the text of a param, which asv writes as Python does. A longer one than a result holds stays as it is."""
    if value[:1] not in "'\"" or len(value) > MAX_TEXT:
        return value
    try:
        read = ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return value
    return read if isinstance(read, str) else value
