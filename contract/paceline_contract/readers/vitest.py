"""Reads the JSON of `vitest bench`, which has no samples: a benchmark is its median. One that threw is there without it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from paceline_contract.readers.parsing import read_document, read_figure
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    Summary,
    refuse_duplicates,
)
from paceline_contract.units import NS_PER

TOOL = "vitest"


class _VitestEntry(msgspec.Struct, rename="camel"):
    name: str
    median: Any = None
    sample_count: Annotated[int, Meta(ge=0)] = 0


class _VitestGroup(msgspec.Struct, rename="camel"):
    full_name: str
    benchmarks: list[_VitestEntry]


class _VitestFile(msgspec.Struct):
    groups: list[_VitestGroup]


class _VitestDocument(msgspec.Struct):
    files: list[_VitestFile]


def read_json(data: bytes) -> Result:
    """Read a file of `--outputJson`. Raises ResultError."""
    document = read_document(data, "Vitest", _VitestDocument)
    cases = refuse_duplicates(
        _case_of(group, benchmark)
        for file in document.files
        for group in file.groups
        for benchmark in group.benchmarks
    )
    return Result(TOOL, cases)


def _case_of(group: _VitestGroup, benchmark: _VitestEntry) -> MeasuredCase:
    name = f"{group.full_name} > {benchmark.name}"
    if not benchmark.sample_count:
        return MeasuredCase(name, name, failure="it failed: it has no samples")
    median = read_figure(benchmark.median, f"the median of {name}", NS_PER["ms"])
    summary = Summary("median", median, benchmark.sample_count)
    metric = MeasuredMetric("time", "ns", "lower", summary=summary)
    return MeasuredCase(name, name, metrics=[metric])
