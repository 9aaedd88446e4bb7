"""Reads the JSON of Google Benchmark. Aggregates (mean, median, complexity) are no samples and left out."""

from __future__ import annotations

from typing import Any

import msgspec

from paceline_contract.readers.parsing import (
    ns_per,
    read_document,
    read_sample,
    read_time,
)
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    duplicate_name_text,
    make_params,
    refuse_duplicates,
    split_name,
)

TOOL = "google-benchmark"


class _GoogleEntry(msgspec.Struct):
    name: str
    run_type: str = "iteration"
    aggregate_name: str | None = None
    rms: Any = None
    repetition_index: int | None = None
    iterations: int | None = None
    real_time: Any = None
    cpu_time: Any = None
    time_unit: str = "ns"
    allocs_per_iter: Any = None
    max_bytes_used: Any = None
    error_occurred: bool = False
    error_message: str | None = None
    skipped: bool = False
    skip_message: str | None = None

    @property
    def is_summary(self) -> bool:
        """Return whether it is an aggregate, also in versions without run_type."""
        return (
            self.run_type != "iteration"
            or self.aggregate_name is not None
            or (self.iterations is None and self.rms is not None)
        )


class _GoogleContext(msgspec.Struct):
    library_version: str | None = None
    date: str | None = None


class _GoogleDocument(msgspec.Struct):
    benchmarks: list[_GoogleEntry]
    context: _GoogleContext | None = None


def read_json(data: bytes) -> Result:
    """Read a file of `--benchmark_out_format=json`. Raises ResultError."""
    document = read_document(data, "Google Benchmark", _GoogleDocument)
    runs: dict[str, list[_GoogleEntry]] = {}
    for entry in document.benchmarks:
        if not entry.is_summary:
            runs.setdefault(entry.name, []).append(entry)
    context = document.context or _GoogleContext()
    cases = refuse_duplicates(_case_of(name, entries) for name, entries in runs.items())
    # Early versions write a time without its zone.
    return Result(TOOL, cases, context.library_version, read_time(context.date))


def _case_of(name: str, entries: list[_GoogleEntry]) -> MeasuredCase:
    """Return the case of this name. Raises ResultError for a repetition that is there twice: then two benchmarks have
    one name."""
    indexes = [entry.repetition_index for entry in entries]
    if None not in indexes and len(set(indexes)) < len(indexes):
        raise ResultError(duplicate_name_text(name))
    failed = next((entry for entry in entries if entry.error_occurred), None)
    skipped = next((entry for entry in entries if entry.skipped), None)
    failure = unavailable = None
    metrics: list[MeasuredMetric] = []
    if failed is not None:
        failure = failed.error_message or "it failed"
    elif skipped is not None:
        unavailable = skipped.skip_message or "it was skipped"
    else:
        metrics = _metrics_of(name, entries)
    benchmark, value = split_name(name)
    return MeasuredCase(
        name, benchmark, make_params(value), metrics, failure, unavailable
    )


def _metrics_of(name: str, entries: list[_GoogleEntry]) -> list[MeasuredMetric]:
    metrics = []
    for metric, key in (("time", "real_time"), ("cpu_time", "cpu_time")):
        where = f"{key} of {name}"
        samples = [
            read_sample(
                getattr(entry, key),
                entry.iterations or 0,
                where,
                ns_per(entry.time_unit, where),
            )
            for entry in entries
        ]
        if metric == "time" or all(sample.total for sample in samples):
            metrics.append(MeasuredMetric(metric, "ns", "lower", samples))
    if all(entry.allocs_per_iter for entry in entries):
        where = f"allocs_per_iter of {name}"
        samples = [
            read_sample(entry.allocs_per_iter, entry.iterations or 0, where)
            for entry in entries
        ]
        metrics.append(MeasuredMetric("allocations", "count", "lower", samples))
    if all(entry.max_bytes_used for entry in entries):
        where = f"max_bytes_used of {name}"
        peaks = [read_sample(entry.max_bytes_used, 1, where) for entry in entries]
        metrics.append(MeasuredMetric("peak_memory", "bytes", "lower", peaks))
    return metrics
