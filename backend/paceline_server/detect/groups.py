"""Lists the (benchmark, params) groups of a job: those requested, and any others that were measured.

Requested groups without samples are listed too, so that they show as not measured (I12).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paceline_contract.events import ParamValue
from paceline_contract.manifest import Benchmark, Manifest
from paceline_contract.params import params_key, params_text

from paceline_server.detect.facts import JobFacts, JobRequest
from paceline_server.ingest.cases import Case

MANIFEST_SAYS = "the manifest says"
"""Begins the reason where a workload announced other values than its manifest."""


@dataclass(frozen=True)
class Group:
    """A benchmark with a value for each of its params."""

    benchmark: str
    params: Mapping[str, ParamValue]

    def matches(self, selector: Mapping[str, ParamValue]) -> bool:
        """Return whether every param of the selector has the same value in this group."""
        return all(self.params.get(name) == value for name, value in selector.items())

    def words(self) -> str:
        """Return the group in words, such as `ledger_batch batch=1000`."""
        return f"{self.benchmark} {params_text(self.params, ' ')}".rstrip()


def expected_groups(
    manifest: Manifest, request: JobRequest, facts: JobFacts
) -> list[Group]:
    """Return every group once, in declared order, with undeclared params last."""
    groups: dict[tuple[str, str], Group] = {}
    measured = {(case.benchmark, params_key(case.params)): case for case in facts.cases}
    for name, benchmark in manifest.benchmarks.items():
        if request.benchmarks is not None and name not in request.benchmarks:
            continue
        for params in _declared_points(benchmark, request):
            groups.setdefault((name, params_key(params)), Group(name, params))
        for (measured_benchmark, key), case in measured.items():
            if measured_benchmark == name:
                groups.setdefault(
                    (measured_benchmark, key), Group(name, dict(case.params))
                )
    return list(groups.values())


def unannounced_value(group: Group, announced: Sequence[Case]) -> str | None:
    """Explain how a manifest and its workload disagree about the params of a group; None if they agree, or if the
    workload announced nothing of its benchmark."""
    for name, value in group.params.items():
        values = dict.fromkeys(
            case.params[name]
            for case in announced
            if case.benchmark == group.benchmark and name in case.params
        )
        if values and value not in values:
            announced_text = ", ".join(map(str, values))
            return f"{MANIFEST_SAYS} {name} {value}, the workload announced {announced_text}"
    return None


def _declared_points(
    benchmark: Benchmark, request: JobRequest
) -> Iterator[dict[str, ParamValue]]:
    """Yield all combinations of the requested values, or of the declared ones."""
    names = list(benchmark.params)
    values = [
        list(request.params.get(name) or benchmark.params[name].values)
        for name in names
    ]
    for point in itertools.product(*values):
        yield dict(zip(names, point, strict=True))
