"""Lists the (benchmark, params) groups of a job: requested and declared, or measured
anyway.

A group that was requested and never measured is listed too, so that it shows as not
measured (I12).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paceline_contract.manifest import Benchmark, Manifest

from paceline_server.detect.facts import JobFacts, JobRequest
from paceline_server.ingest.cases import ParamValue, params_key


@dataclass(frozen=True)
class Group:
    """One benchmark at one point of its params."""

    benchmark: str
    params: Mapping[str, ParamValue]

    def matches(self, selector: Mapping[str, ParamValue]) -> bool:
        """Whether every param the selector names has its value here."""
        return all(self.params.get(name) == value for name, value in selector.items())

    def words(self) -> str:
        """`ledger_batch batch=1000`."""
        return " ".join(
            [
                self.benchmark,
                *(f"{name}={value}" for name, value in self.params.items()),
            ]
        )


def expected_groups(
    manifest: Manifest, asked: JobRequest, facts: JobFacts
) -> list[Group]:
    """Every group, benchmarks in declared order, declared params before others, each once."""
    groups: dict[tuple[str, str], Group] = {}
    measured = {(case.benchmark, params_key(case.params)): case for case in facts.cases}
    for name, benchmark in manifest.benchmarks.items():
        if asked.benchmarks is not None and name not in asked.benchmarks:
            continue
        for params in _declared_points(benchmark, asked):
            groups.setdefault((name, params_key(params)), Group(name, params))
        for (of, key), case in measured.items():
            if of == name:
                groups.setdefault((of, key), Group(name, dict(case.params)))
    return list(groups.values())


def _declared_points(
    benchmark: Benchmark, asked: JobRequest
) -> Iterator[dict[str, ParamValue]]:
    """The cross product of the values asked for, else declared."""
    names = list(benchmark.params)
    values = [
        list(asked.params.get(name) or benchmark.params[name].values) for name in names
    ]
    for point in itertools.product(*values):
        yield dict(zip(names, point, strict=True))
