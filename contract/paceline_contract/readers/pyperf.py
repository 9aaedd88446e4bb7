"""Reads the JSON of pyperf. Every value of every worker process is a sample; warm-ups and calibration are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from paceline_contract.readers.parsing import read_document, read_sample
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Sample,
    refuse_duplicates,
)
from paceline_contract.units import NS_PER, MetricUnit

TOOL = "pyperf"
_UNITS: Final = {
    "second": MetricUnit("time", "ns", "lower", NS_PER["s"]),
    "byte": MetricUnit("peak_memory", "bytes", "lower"),
    "integer": MetricUnit("count", "count", "lower"),
}
_BUILD: Final = {
    "python": "python_version",
    "implementation": "python_implementation",
    "compiler": "python_compiler",
}
_TARGET: Final = {
    "cpu": "cpu_model_name",
    "num_cpu": "cpu_count",
    "os": "platform",
    "cpu_config": "cpu_config",
    "cpu_affinity": "cpu_affinity",
    "aslr": "aslr",
}
"""What of the metadata tells builds and hosts apart, by the names that other tools' facts have."""

_Metadata = dict[str, Any]
_Loops = Annotated[int, Meta(ge=1)]


class _PyperfLoops(msgspec.Struct):
    """What of a run's metadata is the number of iterations of a value."""

    loops: _Loops = 1
    inner_loops: _Loops = 1
    unit: str = "second"


class _PyperfRun(msgspec.Struct):
    values: list[Any] = []
    metadata: _Metadata = {}


class _PyperfEntry(msgspec.Struct):
    runs: list[_PyperfRun]
    metadata: _Metadata = {}


class _PyperfDocument(msgspec.Struct):
    benchmarks: list[_PyperfEntry]
    metadata: _Metadata = {}


def read_json(data: bytes) -> Result:
    """Read a file of `--output`. Raises ResultError. Its times have no zone, so the result has none."""
    document = read_document(data, TOOL, _PyperfDocument)
    # What all benchmarks share stands in front of them, what all runs share in front of these.
    shared = document.metadata
    if len(document.benchmarks) == 1:
        shared = {**shared, **document.benchmarks[0].metadata}
    version = shared.get("perf_version")
    return Result(
        TOOL,
        refuse_duplicates(_case_of(entry, shared) for entry in document.benchmarks),
        str(version) if version else None,
        build=_facts_of(shared, _BUILD),
        target=_facts_of(shared, _TARGET),
    )


def _facts_of(metadata: _Metadata, names: Mapping[str, str]) -> dict[str, str]:
    return {
        name: str(metadata[key]) for name, key in names.items() if metadata.get(key)
    }


def _case_of(entry: _PyperfEntry, shared: _Metadata) -> MeasuredCase:
    known = {**shared, **entry.metadata}
    name = known.get("name")
    if not isinstance(name, str) or not name:
        raise ResultError("expected the name of each benchmark in its metadata")
    metrics: dict[str, MeasuredMetric] = {}
    for run in entry.runs:
        if not run.values:
            continue  # it calibrated the number of loops
        metric, samples = _read_run(name, run, known)
        own = metrics.setdefault(
            metric.name, MeasuredMetric(metric.name, metric.unit, metric.direction)
        )
        own.samples.extend(samples)
    if not metrics:
        failure = "it has no values: its runs calibrated and warmed up alone"
        return MeasuredCase(name, name, failure=failure)
    return MeasuredCase(name, name, metrics=list(metrics.values()))


def _read_run(
    name: str, run: _PyperfRun, known: _Metadata
) -> tuple[MetricUnit, list[Sample]]:
    try:
        about = msgspec.convert({**known, **run.metadata}, _PyperfLoops)
    except msgspec.ValidationError as error:
        raise ResultError(f"the metadata of {name}: {error}") from error
    if about.unit not in _UNITS:
        raise ResultError(
            f"the unit of {name}: expected {', '.join(_UNITS)}, found {about.unit!r}"
        )
    metric = _UNITS[about.unit]
    # A value is of one iteration of the inner loop; a peak is no total over them.
    iterations = about.loops * about.inner_loops if metric.unit == "ns" else 1
    where = f"a value of {name}"
    return metric, [
        read_sample(value, iterations, where, metric.scale) for value in run.values
    ]
