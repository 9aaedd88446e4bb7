"""Reads `benchmarkData.json` of androidx.benchmark, of its micro- and macrobenchmarks.

Every run is a sample. The unit of a metric is the end of its name. A test that failed is not in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from paceline_contract.events import ParamValue
from paceline_contract.imported_series import MAX_SHOWN, LeftOut
from paceline_contract.readers.parsing import read_document, read_sample
from paceline_contract.results import (
    KEPT_DIGITS,
    MAX_CASES,
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    join_name,
    join_params,
    make_params,
    refuse_duplicates,
)
from paceline_contract.text_names import make_name
from paceline_contract.units import NS_PER, MetricUnit

TOOL = "androidx.benchmark"
_METRIC: Final = re.compile(r"(.+?)(Ns|Us|Ms|Count|Kb|Bytes)", re.DOTALL)
_UNITS: Final = {
    "Ns": MetricUnit("time", "ns", "lower"),
    "Us": MetricUnit("time", "ns", "lower", NS_PER["us"]),
    "Ms": MetricUnit("time", "ns", "lower", NS_PER["ms"]),
    "Count": MetricUnit("count", "count", "lower"),
    "Kb": MetricUnit("bytes", "bytes", "lower", 1024),
    "Bytes": MetricUnit("bytes", "bytes", "lower"),
}
_NAMES: Final = {"allocationCount": "allocations"}
"""Metrics that other tools have, too."""


class _AndroidMetric(msgspec.Struct):
    runs: list[Any] = []


class _AndroidEntry(msgspec.Struct, rename="camel"):
    name: str
    class_name: str
    metrics: dict[str, _AndroidMetric]
    sampled_metrics: dict[str, _AndroidMetric] = {}
    params: dict[str, str] = {}


class _AndroidVersion(msgspec.Struct):
    sdk: int | None = None


class _AndroidBuild(msgspec.Struct):
    brand: str = ""
    model: str = ""
    fingerprint: str = ""
    version: _AndroidVersion | None = None


class _AndroidContext(msgspec.Struct, rename="camel"):
    build: _AndroidBuild
    cpu_core_count: int | None = None
    cpu_locked: bool | None = None
    compilation_mode: str | None = None


class _AndroidDocument(msgspec.Struct):
    context: _AndroidContext
    benchmarks: list[_AndroidEntry]


def read_json(data: bytes) -> Result:
    """Read a file of results. Raises ResultError."""
    document = read_document(data, TOOL, _AndroidDocument)
    problems: list[LeftOut] = []
    cases = refuse_duplicates(_cases_of(document.benchmarks, problems))
    mode = document.context.compilation_mode
    build = {"compilation": mode} if mode else {}
    target = dict(_facts_of(document.context))
    return Result(TOOL, cases, build=build, target=target, problems=problems)


def _facts_of(context: _AndroidContext) -> Iterator[tuple[str, str]]:
    build = context.build
    sdk = None if build.version is None else build.version.sdk
    locked = {True: "locked", False: "not locked", None: None}[context.cpu_locked]
    facts = {
        "device": f"{build.brand} {build.model}".strip(),
        "fingerprint": build.fingerprint,
        "sdk": sdk,
        "cores": context.cpu_core_count,
        "clocks": locked,
    }
    yield from ((name, str(fact)) for name, fact in facts.items() if fact)


def _cases_of(
    entries: list[_AndroidEntry], problems: list[LeftOut]
) -> Iterator[MeasuredCase]:
    """Yield the cases that have a metric; what is left out is added to `problems`."""
    for entry in entries:
        method, _, value = entry.name.removesuffix("]").partition("[")
        benchmark = f"{entry.class_name}.{method}"
        params: dict[str, ParamValue] = {**entry.params} or make_params(value)
        name = join_name(benchmark, join_params(params))
        metrics = []
        for key, metric in (entry.metrics | entry.sampled_metrics).items():
            try:
                metrics.append(_metric_of(key, metric.runs))
            except ResultError as error:
                problems.append(LeftOut.of(name, key, str(error)))
            if len(problems) > MAX_CASES:
                raise ResultError(
                    f"more than {MAX_CASES:,} metrics cannot be read: look at {name[:MAX_SHOWN]}"
                )
        if metrics:
            yield MeasuredCase(name, benchmark, params, metrics)


def _metric_of(key: str, runs: list[Any]) -> MeasuredMetric:
    matched = _METRIC.fullmatch(key)
    if matched is None:
        raise ResultError(
            f"the unit of {key} is unknown: expected a name that ends in {', '.join(_UNITS)}"
        )
    # Of sampled metrics, a run has several figures.
    figures = [
        figure for run in runs for figure in (run if isinstance(run, list) else [run])
    ]
    if not figures:
        raise ResultError(f"{key}: expected figures in runs")
    unit = _UNITS[matched[2]]
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", matched[1]).lower()
    samples = [read_sample(figure, KEPT_DIGITS, key, unit.scale) for figure in figures]
    return MeasuredMetric(
        _NAMES.get(key) or make_name(snake), unit.unit, unit.direction, samples
    )
