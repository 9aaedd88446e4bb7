"""Reads the JSON of hyperfine, which has every run."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from paceline_contract.readers.parsing import read_document, read_sample
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    refuse_duplicates,
)
from paceline_contract.units import NS_PER

TOOL = "hyperfine"


class _HyperfineEntry(msgspec.Struct):
    command: Annotated[str, Meta(min_length=1)]
    times: list[Any] | None = None
    exit_codes: list[int | None] | None = None
    memory_usage_byte: list[Any] | None = None


class _HyperfineDocument(msgspec.Struct):
    results: list[_HyperfineEntry]


def read_json(data: bytes) -> Result:
    """Read a file of `--export-json`. Raises ResultError."""
    document = read_document(data, TOOL, _HyperfineDocument)
    return Result(
        TOOL, refuse_duplicates(_case_of(entry) for entry in document.results)
    )


def _case_of(entry: _HyperfineEntry) -> MeasuredCase:
    name = entry.command
    failures = [code for code in entry.exit_codes or [] if code != 0]
    if failures:
        failure = f"it exited with status {failures[0]}"
        return MeasuredCase(name, name, failure=failure)
    if not entry.times:
        raise ResultError(f"{name}: expected every run in times")
    where = f"a run of {name}"
    times = [read_sample(time, 1, where, NS_PER["s"]) for time in entry.times]
    metrics = [MeasuredMetric("time", "ns", "lower", times)]
    peaks = entry.memory_usage_byte
    if peaks and all(peaks):
        where = f"the memory of {name}"
        samples = [read_sample(peak, 1, where) for peak in peaks]
        metrics.append(MeasuredMetric("peak_memory", "bytes", "lower", samples))
    return MeasuredCase(name, name, metrics=metrics)
