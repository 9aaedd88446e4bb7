"""Finds what only one revision of an A/B job declares, by the names of head.

What is new in head has nothing to be compared with, and what head removed is never measured again: neither may keep a
job from passing, and neither may vanish in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from paceline_contract.manifest import Manifest
from paceline_contract.names import SidePairing, select_at_base
from paceline_contract.params import params_key

from paceline_server.detect.checks import expected_checks
from paceline_server.detect.facts import JobFacts, JobRequest
from paceline_server.detect.groups import Group, expected_groups
from paceline_server.detect.unavailable import list_some

NEW = "new in head: base does not declare it"


class DeclaredValue(NamedTuple):
    """A metric of an arm at a point, by the names of head; `point` is its group in words."""

    benchmark: str
    params_key: str
    arm: str
    metric: str
    point: str


@dataclass(frozen=True)
class SideDifferences:
    """The declarations of both sides, as far as a job was asked for them."""

    head: frozenset[DeclaredValue]
    base: frozenset[DeclaredValue]
    added: tuple[str, ...]
    """The declarations of head alone, in words: whole benchmarks, arms, metrics or points."""
    removed: tuple[str, ...]
    """The declarations of base alone, correctness checks and derived metrics among them."""

    @classmethod
    def of(cls, base: Manifest, head: Manifest, request: JobRequest) -> SideDifferences:
        """Compare two manifests as they apply on the kind of target of the request."""
        at_head = _declared_values(head, expected_groups(head, request, NOTHING))
        groups = expected_groups(base, request_at_base(base, head, request), NOTHING)
        at_base = _declared_values(base, groups, SidePairing.of(base, head))
        return cls(
            frozenset(at_head),
            frozenset(at_base),
            _only_in(at_head, at_base),
            (*_only_in(at_base, at_head), *_removed_demands(base, head, request)),
        )

    def is_new(self, group: Group, arm: str, metric: str) -> bool:
        """Return whether head declares this and base does not."""
        value = _declared_value(group, arm, metric)
        return value in self.head and value not in self.base

    def is_removed(self, group: Group) -> bool:
        """Return whether base declares something at this point, and head nothing."""
        point = (group.benchmark, params_key(group.params))
        return point in _points(self.base) and point not in _points(self.head)

    def sentence(self) -> str:
        """Describe what is new and what was removed, for the end of a verdict's reason; empty if nothing is."""
        parts = ("new in head", self.added), ("removed in head", self.removed)
        return "; ".join(
            f"{what}: {list_some(names)}" for what, names in parts if names
        )


NOTHING = JobFacts(cases=())


def request_at_base(base: Manifest, head: Manifest, request: JobRequest) -> JobRequest:
    """Return what is asked of the base, by its own names; what head removed stays in it."""
    pairing = SidePairing.of(base, head)
    asked = request.benchmarks
    at_head = [name for name in head.benchmarks if asked is None or name in asked]
    names, params = select_at_base(base, head, at_head, request.params)
    removed = [
        name
        for name in base.benchmarks
        if name not in pairing.benchmarks.values() and (asked is None or name in asked)
    ]
    return replace(request, benchmarks=[*names, *removed], params=params)


def _declared_values(
    manifest: Manifest, groups: Sequence[Group], pairing: SidePairing | None = None
) -> list[DeclaredValue]:
    values = []
    for group in groups:
        benchmark = manifest.benchmarks[group.benchmark]
        for arm in benchmark.arms:
            name, arm_name = (
                (group.benchmark, arm)
                if pairing is None
                else pairing.in_head(group.benchmark, arm)
            )
            renamed = Group(name, group.params)
            values += [
                _declared_value(renamed, arm_name, metric)
                for metric in benchmark.metrics
            ]
    return values


def _removed_demands(
    base: Manifest, head: Manifest, request: JobRequest
) -> Iterator[str]:
    """Yield the correctness checks and derived metrics that base expects and head does not. Gates and rules of base
    hold without being declared again (`pull_requests.py`), unless what they are about is gone, which is named."""
    request_of_base = request_at_base(base, head, request)
    at_head = expected_checks(head, request)
    workloads = {workload.name for workload in head.workloads}
    for check, at_base in expected_checks(base, request_of_base).items():
        if check not in at_head:
            yield f"check {check}"
            continue
        for workload in at_base if at_head[check] else ():
            if workload in workloads and workload not in at_head[check]:
                yield f"check {check} of workload {workload}"
    derived = {metric.name: metric.every_arm for metric in head.derived}
    pairing = SidePairing.of(base, head)
    for metric in base.derived:
        if metric.benchmark not in (request_of_base.benchmarks or ()):
            continue
        if metric.name not in derived:
            yield f"derived metric {metric.name}"
            continue
        for base_arm in metric.every_arm:
            benchmark, arm = pairing.in_head(metric.benchmark, base_arm)
            declared = head.benchmarks.get(benchmark)
            if (
                declared is not None
                and arm in declared.arms
                and arm not in derived[metric.name]
            ):
                yield f"derived metric {metric.name} of {arm}"


def _declared_value(group: Group, arm: str, metric: str) -> DeclaredValue:
    return DeclaredValue(
        group.benchmark, params_key(group.params), arm, metric, group.words()
    )


def _points(values: Collection[DeclaredValue]) -> set[tuple[str, str]]:
    return {(value.benchmark, value.params_key) for value in values}


def _only_in(
    these: Sequence[DeclaredValue], others: Sequence[DeclaredValue]
) -> tuple[str, ...]:
    """Return in words what of `these` is not in `others`: a whole benchmark if all of it is missing, else its arms,
    metrics or points."""
    known = set(others)
    benchmarks = {value.benchmark for value in others}
    arms = {(value.benchmark, value.arm) for value in others}
    metrics = {(value.benchmark, value.metric) for value in others}
    points = _points(others)
    named: dict[str, None] = {}
    for value in these:
        if value in known:
            continue
        name = value.benchmark
        if name not in benchmarks:
            named[name] = None
        elif (name, value.arm) not in arms:
            named[f"{name} {value.arm}"] = None
        elif (name, value.metric) not in metrics:
            named[f"{name} {value.metric}"] = None
        elif (name, value.params_key) not in points:
            named[value.point] = None
        else:
            named[f"{value.point} {value.arm} {value.metric}"] = None
    return tuple(named)
