"""Reads the JSON of pytest-benchmark, which has every round."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import msgspec

from paceline_contract.readers.parsing import (
    find_commit,
    read_document,
    read_sample,
    read_time,
)
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    make_params,
    refuse_duplicates,
)
from paceline_contract.units import NS_PER

TOOL = "pytest-benchmark"
DETACHED = "(detached head)"
"""Stands for a branch where none is checked out."""


class _PytestStats(msgspec.Struct):
    iterations: int
    data: list[Any] = []


class _PytestEntry(msgspec.Struct):
    fullname: str
    stats: _PytestStats


class _PytestCommit(msgspec.Struct):
    id: str | None = None
    branch: str | None = None
    dirty: bool = False


class _PytestDocument(msgspec.Struct):
    benchmarks: list[_PytestEntry]
    version: str | None = None
    datetime: str | None = None
    commit_info: _PytestCommit | None = None


def read_json(data: bytes) -> Result:
    """Read a file of `--benchmark-json`. Raises ResultError."""
    document = read_document(data, TOOL, _PytestDocument)
    cases = refuse_duplicates(_case_of(entry) for entry in document.benchmarks)
    # Its time is in UTC; version 4 does not say so.
    at = read_time(document.datetime, UTC)
    info = document.commit_info or _PytestCommit()
    commit = find_commit(info.id)
    if commit is None or info.dirty:
        # Changes that were not committed are not what the commit has.
        return Result(TOOL, cases, document.version, at)
    branch = None if info.branch == DETACHED else info.branch
    return Result(TOOL, cases, document.version, at, commit, branch or None)


def _case_of(entry: _PytestEntry) -> MeasuredCase:
    name, stats = entry.fullname, entry.stats
    if not stats.data:
        raise ResultError(
            f"{name}: expected every round in stats.data, as --benchmark-json writes it"
        )
    where = f"a round of {name}"
    samples = [
        read_sample(time, stats.iterations, where, NS_PER["s"]) for time in stats.data
    ]
    benchmark, _, value = name.removesuffix("]").partition("[")
    metric = MeasuredMetric("time", "ns", "lower", samples)
    return MeasuredCase(name, benchmark, make_params(value), [metric])
