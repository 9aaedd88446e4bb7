"""Reads the JSON of JMH. Every iteration of every fork is a sample, and in its sample mode every call.

Of calls JMH keeps a histogram for each iteration, which may stand for millions. Of more than `KEPT_CALLS` every n-th
is read, in the order of the file, so that their distribution stays. Of its profilers the allocated bytes per operation of
`-prof gc` are read, which do not follow from the time. A benchmark that failed is not in the file: `read_failures` reads
what JMH printed about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from paceline_contract.readers.parsing import ns_per, read_document, read_sample
from paceline_contract.results import (
    KEPT_DIGITS,
    MAX_TEXT,
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    join_name,
    join_params,
    refuse_duplicates,
)
from paceline_contract.units import NS_PER

TOOL = "jmh"
EXACT = KEPT_DIGITS
"""A sample has so many iterations, and a rate is at least this, because JMH gives averages."""
KEPT_CALLS = 10_000
"""At most so many calls of a benchmark are read from its histograms."""

ALLOCATED = ("gc.alloc.rate.norm", "\u00b7gc.alloc.rate.norm")
"""The allocated bytes per operation; versions before 1.36 write a dot in front of what a profiler counts."""

_BENCHMARK, _PARAMS, _MODE = _ABOUT = (
    "# Benchmark",
    "# Parameters",
    "# Benchmark mode",
)
"""What JMH prints before the iterations of a case."""
_PARAM = re.compile(r"(\w+) = (.*?)(?=, \w+ = |\Z)")
_FAILURE = re.compile(r"(?:# Warmup )?Iteration .*<failure(?:: (?P<why>.*))?>")
_MODES = {
    "Throughput": "thrpt",
    "Average time": "avgt",
    "Sampling time": "sample",
    "Single shot invocation time": "ss",
}
_SHORT_UNITS = {"sec": "s"}
"""What kotlinx-benchmark calls seconds."""

_Bin = tuple[Any, Annotated[int, Meta(ge=0)]]
"""A time, and the number of calls that took it."""


class _JmhMetric(msgspec.Struct, rename="camel"):
    score_unit: str
    raw_data: list[list[Any]] | None = None
    raw_data_histogram: list[list[list[_Bin]]] | None = None


class JmhEntry(msgspec.Struct, rename="camel"):
    """One benchmark with its params in one mode. kotlinx-benchmark writes the same without `forks`."""

    benchmark: str
    mode: str
    primary_metric: _JmhMetric
    forks: int | None = None
    secondary_metrics: dict[str, _JmhMetric] = {}
    params: dict[str, str] | None = None
    jmh_version: str | None = None


def read_json(data: bytes) -> Result:
    """Read a file of `-rf json`. Raises ResultError."""
    entries = read_document(data, "JMH", list[JmhEntry])
    if any(entry.forks is None for entry in entries):
        raise ResultError("the results of JMH have an unexpected form: expected forks")
    cases = refuse_duplicates(case_of(entry) for entry in entries)
    versions = {entry.jmh_version for entry in entries if entry.jmh_version}
    return Result(TOOL, cases, ", ".join(sorted(versions)) or None)


def read_failures(printed: bytes) -> list[MeasuredCase]:
    """Return the cases of which JMH printed that an iteration failed, each with what it printed about that."""
    failed: dict[str, MeasuredCase] = {}
    about = dict.fromkeys(_ABOUT, "")
    lines = iter(printed.decode(errors="replace").splitlines())
    for line in lines:
        key, separator, text = line.partition(": ")
        if separator and key in about:
            about[key] = text
            if key == _BENCHMARK:
                about[_PARAMS] = ""
        elif about[_BENCHMARK] and (match := _FAILURE.match(line)):
            why = match["why"] or next(filter(str.strip, lines), "")
            params = dict(_PARAM.findall(about[_PARAMS].strip("()")))
            mode = _MODES.get(about[_MODE].partition(",")[0], about[_MODE])
            benchmark, name = _names_of(about[_BENCHMARK], params, mode)
            case = MeasuredCase(
                name[:MAX_TEXT],
                benchmark[:MAX_TEXT],
                {**params},
                failure=why.strip()[:MAX_TEXT] or "an iteration failed",
            )
            failed.setdefault(case.name, case)
    return list(failed.values())


def case_of(entry: JmhEntry) -> MeasuredCase:
    """Return the case of an entry. Raises ResultError."""
    params = entry.params or {}
    name, full_name = _names_of(entry.benchmark, params, entry.mode)
    primary = entry.primary_metric
    figures = [figure for fork in primary.raw_data or [] for figure in fork]
    figures += _thin_histograms(primary.raw_data_histogram or [])
    if not figures:
        raise ResultError(f"{full_name}: expected samples in primaryMetric.rawData")
    metrics = [_metric_of(full_name, primary.score_unit, figures)]
    for key in ALLOCATED:
        if (allocated := entry.secondary_metrics.get(key)) is not None:
            metrics += _allocated_of(full_name, allocated)
    return MeasuredCase(full_name, name, {**params}, metrics)


def _names_of(benchmark: str, params: dict[str, str], mode: str) -> tuple[str, str]:
    """Return the names of a benchmark and of its case. One benchmark may run in several modes."""
    case = join_name(benchmark, join_params(params))
    if mode == "avgt":
        return benchmark, case
    return f"{benchmark}.{mode}", f"{case} ({mode})"


def _allocated_of(name: str, allocated: _JmhMetric) -> list[MeasuredMetric]:
    """Return the allocated bytes of every iteration; nothing where one allocates none, which has no ratio."""
    figures = [figure for fork in allocated.raw_data or [] for figure in fork]
    if allocated.score_unit != "B/op":
        raise ResultError(
            f"allocations of {name}: expected B/op, found {allocated.score_unit!r}"
        )
    samples = [
        read_sample(figure, EXACT, f"allocations of {name}") for figure in figures
    ]
    if not all(sample.total for sample in samples) or not samples:
        return []
    return [MeasuredMetric("allocated", "bytes", "lower", samples)]


def _thin_histograms(forks: list[list[list[_Bin]]]) -> list[Any]:
    """Return every n-th call of the histograms of all forks, at most `KEPT_CALLS`."""
    bins = [entry for fork in forks for iteration in fork for entry in iteration]
    step = -(-sum(calls for _, calls in bins) // KEPT_CALLS) or 1
    return list(_take_every(step, bins))


def _take_every(step: int, bins: list[_Bin]) -> Iterator[Any]:
    """Yield the figure of every `step`-th call without making all of them."""
    skipped = 0
    for figure, calls in bins:
        for _ in range(skipped, calls, step):
            yield figure
        skipped = (skipped - calls) % step


def _metric_of(name: str, unit: str, figures: list[Any]) -> MeasuredMetric:
    amount, _, per = (_SHORT_UNITS.get(part, part) for part in unit.partition("/"))
    where = f"a sample of {name}"
    for figure in figures:
        read_sample(figure, 1, where)
    if amount == "ops" and per in NS_PER:
        scale = NS_PER["s"] / NS_PER[per]
        if any(figure * scale < EXACT for figure in figures):
            raise ResultError(
                f"{name}: rates below {EXACT} per second lose digits; measure its time: mode avgt"
            )
        rates = [read_sample(figure, 1, where, scale) for figure in figures]
        return MeasuredMetric("throughput", "op/s", "higher", rates)
    scale = ns_per(amount, f"scoreUnit of {name}")
    times = [read_sample(figure, EXACT, where, scale) for figure in figures]
    return MeasuredMetric("time", "ns", "lower", times)
