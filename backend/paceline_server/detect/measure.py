"""What was measured, and what follows from single measurements: rows, derived metrics, gates.

Place: `analyse` calls it after `groups`; it calls `stats`. Invariant: only warm samples are described
(§1), and a gate that was asked for has a row even when nothing arrived for it. Deliberately compares no
arms (`compare`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from paceline_server.catalog.manifest import Derived, Gate, Manifest
from paceline_server.catalog.schemas import Unit
from paceline_server.detect.facts import CaseIndex
from paceline_server.detect.groups import Group
from paceline_server.detect.schemas import DerivedOut, GateOut, MeasurementOut
from paceline_server.ingest.cases import ParamValue, params_key
from paceline_server.stats.blocks import warm_samples
from paceline_server.stats.derived import (
    DerivedValue,
    Warm,
    overhead_between_arms,
    ratio_across_param,
    slope,
)
from paceline_server.stats.gates import GateVerdict, judge_gate, judge_level
from paceline_server.stats.samples import CaseSamples, Floats, Interval, Ints
from paceline_server.stats.summary import probably_optimised_away, summarise


@dataclass
class WarmSamples:
    """The warm samples of every case, found once per job."""

    index: CaseIndex
    _found: dict[tuple[str, str, str, str], tuple[Floats, Ints, tuple[int, ...]]] = field(
        default_factory=dict
    )

    def of(self, case: CaseSamples) -> tuple[Floats, Ints, tuple[int, ...]]:
        """(values, launch, launches that are unsteady), shape (n,) each."""
        key = (case.benchmark, params_key(case.params), case.metric, case.arm)
        if key not in self._found:
            keep, unsteady = warm_samples(case)
            self._found[key] = case.value[keep], case.launch[keep], unsteady
        return self._found[key]

    def get(self, group: Group, metric: str, arm: str) -> Warm | None:
        """The warm samples of a case, None when there are none."""
        case = self.index.get(group.benchmark, group.params, metric, arm)
        if case is None:
            return None
        values, launch, _ = self.of(case)
        return (values, launch) if values.size else None


def measurements(
    manifest: Manifest, groups: Sequence[Group], index: CaseIndex, warm: WarmSamples
) -> list[MeasurementOut]:
    """One row per case with warm samples: groups in order, then declared metrics, then declared arms."""
    rows = []
    for group in groups:
        benchmark = manifest.benchmarks[group.benchmark]
        for metric in benchmark.metrics:
            for arm in benchmark.arms:
                case = index.get(group.benchmark, group.params, metric, arm)
                row = None if case is None else _measurement(case, group, warm)
                if row is not None:
                    rows.append(row)
    return rows


def _measurement(case: CaseSamples, group: Group, warm: WarmSamples) -> MeasurementOut | None:
    values, launch, unsteady = warm.of(case)
    if not values.size:
        return None
    found = summarise(values, launch)
    flags = []
    if unsteady:
        flags.append(f"unsteady in {len(unsteady)} of {found.launches} launches")
    if probably_optimised_away(case.unit, found.median):
        flags.append("probably optimised away")
    return MeasurementOut(
        benchmark=group.benchmark, arm=case.arm, params=dict(group.params), metric=case.metric,
        unit=cast(Unit, case.unit), direction=case.direction, launches=found.launches, n=found.n,
        median=found.median, mean=found.mean, p99=found.p99, min=found.min, max=found.max, sd=found.sd,
        flags=flags,
    )  # fmt: skip


@dataclass(frozen=True)
class DerivedRow:
    """One derived number, where it comes from, and what it is called."""

    declared: Derived
    group: Group
    found: DerivedValue

    def out(self) -> DerivedOut:
        """The wire shape."""
        return DerivedOut(
            name=self.declared.name,
            benchmark=self.declared.benchmark,
            arm=self.declared.arm,
            params=dict(self.group.params),
            value=self.found.value,
            lower=self.found.interval.lower,
            upper=self.found.interval.upper,
        )


def derived_rows(
    manifest: Manifest, groups: Sequence[Group], index: CaseIndex, warm: WarmSamples
) -> list[DerivedRow]:
    """Every declared derived metric at every point of the params it does not consume."""
    rows: list[DerivedRow] = []
    for declared in manifest.derived:
        own = [group for group in groups if group.benchmark == declared.benchmark]
        fitting = [group for group in own if group.matches(declared.params)]
        rows.extend(_derive(declared, fitting, index, warm))
    return rows


def _derive(
    declared: Derived, groups: Sequence[Group], index: CaseIndex, warm: WarmSamples
) -> Iterator[DerivedRow]:
    if declared.kind == "overhead_between_arms":
        for group in groups:
            cases = [
                index.get(group.benchmark, group.params, declared.metric, arm)
                for arm in (declared.arm, declared.base_arm or "")
            ]
            found = DerivedValue(None)
            if cases[0] is not None and cases[1] is not None:
                found = overhead_between_arms(cases[0], cases[1])
            yield DerivedRow(declared, group, found)
        return
    param = declared.param or ""
    rest: dict[str, tuple[Group, list[Group]]] = {}
    for group in groups:
        others = {name: value for name, value in group.params.items() if name != param}
        rest.setdefault(params_key(others), (Group(group.benchmark, others), []))[1].append(group)
    for at, members in rest.values():
        yield DerivedRow(declared, at, _across(declared, param, members, warm))


def _across(declared: Derived, param: str, members: Sequence[Group], warm: WarmSamples) -> DerivedValue:
    points: dict[ParamValue, Warm] = {}
    for group in members:
        samples = warm.get(group, declared.metric, declared.arm)
        if samples is not None and param in group.params:
            points[group.params[param]] = samples
    if declared.kind == "slope":
        return slope([(float(at), samples) for at, samples in points.items() if isinstance(at, int)])
    start = points.get(declared.from_) if declared.from_ is not None else None
    end = points.get(declared.to) if declared.to is not None else None
    return ratio_across_param(start, end) if start is not None and end is not None else DerivedValue(None)


def gate_rows(
    manifest: Manifest, groups: Sequence[Group], warm: WarmSamples, derived: Sequence[DerivedRow]
) -> list[GateOut]:
    """One row per gate, level and point of the params; gates of benchmarks not asked for have none."""
    rows: list[GateOut] = []
    for gate in manifest.gates:
        if gate.derived is not None:
            rows.extend(_derived_gate(gate, derived))
            continue
        for group in groups:
            if group.benchmark == gate.benchmark and group.matches(gate.params):
                rows.extend(_measured_gate(gate, group, warm))
    return rows


def _levels(gate: Gate) -> Iterator[tuple[Literal["required", "stretch"], float]]:
    yield "required", gate.required
    if gate.stretch is not None:
        yield "stretch", gate.stretch


def _measured_gate(gate: Gate, group: Group, warm: WarmSamples) -> Iterator[GateOut]:
    samples = warm.get(group, gate.metric or "", gate.arm or "")
    for level, target in _levels(gate):
        found = GateVerdict("inconclusive", f"{gate.arm} was not measured", None, Interval(None, None))
        if samples is not None:
            found = judge_gate(samples[0], samples[1], gate.statistic, gate.op, target)
        where = (gate.benchmark or "", gate.arm or "", group.params, gate.metric or "", gate.statistic)
        yield _gate_row(gate, where, level, target, found)


def _derived_gate(gate: Gate, derived: Sequence[DerivedRow]) -> Iterator[GateOut]:
    for row in derived:
        declared, value = row.declared, row.found.value
        if declared.name != gate.derived or not row.group.matches(gate.params):
            continue
        for level, target in _levels(gate):
            found = GateVerdict("inconclusive", "its samples are missing", None, row.found.interval)
            if value is not None:
                verdict, reason = judge_level(value, row.found.interval, gate.op, target)
                found = GateVerdict(verdict, reason, value, row.found.interval)
            where = (declared.benchmark, declared.arm, row.group.params, declared.metric, declared.name)
            yield _gate_row(gate, where, level, target, found)


def _gate_row(
    gate: Gate,
    where: tuple[str, str, Mapping[str, ParamValue], str, str],
    level: Literal["required", "stretch"],
    target: float,
    found: GateVerdict,
) -> GateOut:
    """`where`: benchmark, arm, params, metric, and the statistic or the derived metric's name."""
    benchmark, arm, params, metric, statistic = where
    return GateOut(
        benchmark=benchmark, arm=arm, params=dict(params), metric=metric, statistic=statistic, op=gate.op,
        level=level, target=target, actual=found.actual, verdict=found.verdict, reason=found.reason,
    )  # fmt: skip
