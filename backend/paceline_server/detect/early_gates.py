"""Judges the gates of benchmarks that have fewer than their planned launches, in a job that stops when sure.

So few launches do not show how much launches differ, so each of them by itself must lie beyond the level, by what
`stats.stopping` demands. Whatever is not as certain runs on: a benchmark stops only where such a verdict is one. The
interval of a verdict is the one that holds those of all launches.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import msgspec
from paceline_contract.manifest import Gate, Manifest
from paceline_contract.params import params_key
from paceline_contract.units import quantity

from paceline_server.detect.compare import Circumstances
from paceline_server.detect.derive import DerivedRow, DerivedSources, derived_rows
from paceline_server.detect.facts import CaseIndex, JobFacts
from paceline_server.detect.groups import Group
from paceline_server.detect.measure import WarmSamples
from paceline_server.stats.derived import RATIOS, Warm, widen_ratio
from paceline_server.stats.gates import (
    SAMPLES_METHOD,
    UNDECIDED,
    GateVerdict,
    Op,
    absolute_value,
    interval_of_launch,
    judge_level,
    statistic_of,
)
from paceline_server.stats.samples import Interval
from paceline_server.stats.stopping import (
    join_launches,
    judge_by_launches,
    level_extra_percent,
)

_DerivedKey = tuple[str, str, str]
"""The name of a derived metric, its arm and the key of its params."""


class _Demand(NamedTuple):
    """What a gate demands of its value: in `unit`, of a derived metric of `kind`, of the value's size if `absolute`."""

    op: Op
    level: float
    absolute: bool
    kind: str = ""
    unit: str = ""


@dataclass(frozen=True)
class _LaunchByItself:
    """What the samples of one launch say, of the benchmarks that have fewer than their planned ones."""

    warm: WarmSamples
    derived: Mapping[_DerivedKey, Interval]

    @classmethod
    def of(
        cls,
        launch: int,
        manifest: Manifest,
        groups: Sequence[Group],
        facts: JobFacts,
        known: Circumstances,
    ) -> _LaunchByItself:
        """Return what a launch says. `manifest` declares the derived metrics that gates name; no others are computed."""
        index = CaseIndex.of([case.only(case.launch == launch) for case in facts.cases])
        warm = WarmSamples(index, by_block=True)
        sources = DerivedSources.of(index, warm, facts.announced, known)
        rows = derived_rows(manifest, groups, sources)
        return cls(warm, {_key(row): row.result.interval for row in rows})


@dataclass(frozen=True)
class EarlyGates:
    """The launches of each benchmark that has fewer than the `planned` ones, each by itself."""

    planned: int = 0
    launches: Mapping[str, Sequence[_LaunchByItself]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        groups: Sequence[Group],
        facts: JobFacts,
        known: Circumstances,
    ) -> EarlyGates:
        planned = known.request.launches
        is_former = known.look.gate_method == SAMPLES_METHOD
        if not known.request.stop_when_sure or planned is None or is_former:
            return cls()
        numbers: dict[str, set[int]] = defaultdict(set)
        for case in facts.cases:
            numbers[case.benchmark].update(case.launch.tolist())
        early = {name: of for name, of in numbers.items() if len(of) < planned}
        gated = {gate.derived for gate in manifest.gates}
        facts = replace(
            facts, cases=[case for case in facts.cases if case.benchmark in early]
        )
        declared = [
            derived
            for derived in manifest.derived
            if derived.name in gated
            and derived.benchmark in early
            and derived.kind in RATIOS
        ]
        gates_alone = msgspec.structs.replace(manifest, derived=declared)
        by_number = {
            number: _LaunchByItself.of(number, gates_alone, groups, facts, known)
            for number in sorted(set().union(*early.values()))
        }
        return cls(
            planned,
            {
                name: [by_number[number] for number in sorted(of)]
                for name, of in early.items()
            },
        )

    def judge_statistic(
        self, gate: Gate, group: Group, samples: Warm, level: float, unit: str
    ) -> GateVerdict | None:
        """Judge a gate on a statistic of samples in this unit; None where all planned launches of its benchmark ran."""
        launches = self.launches.get(group.benchmark)
        if launches is None:
            return None
        alone = [
            launch.warm.get(group, gate.metric or "", gate.arm or "")
            for launch in launches
        ]
        intervals = [
            Interval(None, None)
            if warm is None
            else interval_of_launch(warm[0], gate.statistic)
            for warm in alone
        ]
        value = statistic_of(*samples, gate.statistic)
        demand = _Demand(gate.op, level, absolute=gate.absolute, unit=unit)
        return self._judge(demand, value if math.isfinite(value) else None, intervals)

    def judge_derived(
        self, gate: Gate, row: DerivedRow, level: float, disturbed_percent: float
    ) -> GateVerdict | None:
        """Judge a gate on a derived metric, whose interval is wider by what a disturbance demands; None where all planned
        launches of its benchmark ran, or nothing was measured for it."""
        launches = self.launches.get(row.declared.benchmark)
        if launches is None or not (
            row.result.answered or row.result.value is not None
        ):
            return None
        nothing = Interval(None, None)
        intervals = [
            widen_ratio(
                row.declared.kind,
                launch.derived.get(_key(row), nothing),
                disturbed_percent,
            )
            for launch in launches
        ]
        demand = _Demand(gate.op, level, absolute=gate.absolute, kind=row.declared.kind)
        return self._judge(demand, row.result.value, intervals)

    def _judge(
        self, demand: _Demand, value: float | None, intervals: Sequence[Interval]
    ) -> GateVerdict:
        count = f"{len(intervals)} of {self.planned} launches"
        interval = join_launches(intervals)
        op, level, unit = demand.op, demand.level, demand.unit
        verdict = judge_by_launches(
            intervals, (op, level), demand.kind, absolute=demand.absolute
        )
        if demand.absolute and value is not None:
            value, interval = absolute_value(value, interval)
        if verdict == "inconclusive" or value is None:
            figure = "no value" if value is None else quantity(value, unit, 6)
            reason = f"{figure} against {op} {quantity(level, unit, 6)}: what {count} say {UNDECIDED}"
            return GateVerdict("inconclusive", reason, value, interval)
        size = "the size " if demand.absolute else ""
        _, reason = judge_level(value, interval, op, level, unit=unit)
        reason = f"{size}{reason}, by more than {level_extra_percent(len(intervals)):g} % in each of {count}"
        return GateVerdict(verdict, reason, value, interval)


def _key(row: DerivedRow) -> _DerivedKey:
    return row.declared.name, row.arm, params_key(row.group.params)
