"""Judges the gates of a suite: one row per gate, level and point of the params.

A gate has a row even when nothing was measured for it. A level on an arm this target
cannot run is `not_applicable`, never passed; figures of a defective protocol decide
nothing (I12). Only `required` levels fail a run. Where launches report which engine an
arm chose, the reason names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from paceline_contract.manifest import Gate, Manifest

from paceline_server.detect.compare import Circumstances
from paceline_server.detect.derive import DerivedRow
from paceline_server.detect.groups import Group
from paceline_server.detect.measure import WarmSamples
from paceline_server.detect.schemas import GateOut
from paceline_server.ingest.cases import ParamValue
from paceline_server.stats.derived import DerivedValue
from paceline_server.stats.gates import (
    GateVerdict,
    Op,
    absolute_value,
    holds_level,
    judge_gate,
    judge_level,
    share_reached,
    standing_of,
)
from paceline_server.stats.samples import Interval, median
from paceline_server.stats.summary import probably_optimised_away

NOTHING = Interval(None, None)


def gate_rows(
    manifest: Manifest,
    groups: Sequence[Group],
    warm: WarmSamples,
    derived: Sequence[DerivedRow],
    known: Circumstances,
) -> list[GateOut]:
    """One row per gate, level and point of the params; gates of benchmarks not asked for have none."""
    rows: list[GateOut] = []
    for gate in manifest.gates:
        if gate.derived is not None:
            rows.extend(_derived_gate(gate, derived))
            continue
        for group in groups:
            if group.benchmark == gate.benchmark and group.matches(gate.params):
                rows.extend(_measured_gate(gate, group, warm, known))
    return rows


def with_engine(gate: GateOut, builds: Sequence[Mapping[str, str]]) -> GateOut:
    """The row with the engine its figure is of, where launches say which one the arm chose."""
    fact = f"engine.{gate.benchmark}.{gate.arm}"
    engines = dict.fromkeys(build[fact] for build in builds if fact in build)
    # A verdict may be of no figure: nothing that was measured reaches a crossover.
    decided = gate.actual is not None or gate.verdict in ("pass", "fail")
    if not decided or not engines:
        return gate
    return gate.model_copy(
        update={"reason": f"{gate.reason}; engine {' or '.join(engines)}"}
    )


def _levels(gate: Gate) -> Iterator[tuple[Literal["required", "stretch"], float]]:
    yield "required", gate.required
    if gate.stretch is not None:
        yield "stretch", gate.stretch


def _measured_gate(
    gate: Gate, group: Group, warm: WarmSamples, known: Circumstances
) -> Iterator[GateOut]:
    arm = gate.arm or ""
    samples = warm.get(group, gate.metric or "", arm)
    missing = known.unavailable.why(group, arm)
    defect = known.audits.why_not(group, arm) or _too_fast(
        group, gate.metric or "", arm, warm
    )
    for level, target in _levels(gate):
        found = GateVerdict("inconclusive", f"{arm} was not measured", None, NOTHING)
        if samples is not None:
            found = judge_gate(samples[0], samples[1], gate.statistic, gate.op, target)
            if defect is not None:
                found = GateVerdict(
                    "inconclusive", defect, found.actual, found.interval
                )
        elif missing is not None:
            found = GateVerdict("not_applicable", missing, None, NOTHING)
        where = (
            gate.benchmark or "",
            arm,
            group.params,
            gate.metric or "",
            gate.statistic,
        )
        yield _gate_row(gate, where, level, target, found)


def _too_fast(group: Group, metric: str, arm: str, warm: WarmSamples) -> str | None:
    """Why a level that holds says nothing: the code that was to be measured was probably not there (§1)."""
    case, samples = (
        warm.index.get(group.benchmark, group.params, metric, arm),
        warm.get(group, metric, arm),
    )
    if (
        case is None
        or samples is None
        or not probably_optimised_away(case.unit, median(samples[0]))
    ):
        return None
    return f"{arm} takes {median(samples[0]):.3g} ns per operation: probably optimised away"


def _derived_gate(gate: Gate, derived: Sequence[DerivedRow]) -> Iterator[GateOut]:
    for row in derived:
        declared = row.declared
        if declared.name != gate.derived or not row.group.matches(gate.params):
            continue
        if gate.arm is not None and gate.arm != row.arm:
            continue
        for level, target in _levels(gate):
            where = (
                declared.benchmark,
                row.arm,
                row.group.params,
                declared.metric,
                declared.name,
            )
            yield _gate_row(
                gate, where, level, target, _judge_derived(row, gate, target)
            )


def _judge_derived(row: DerivedRow, gate: Gate, target: float) -> GateVerdict:
    found, op = row.found, gate.op
    if row.missing is not None:
        return GateVerdict("not_applicable", row.missing, None, NOTHING)
    if row.defect is not None:
        return GateVerdict("inconclusive", row.defect, found.value, found.interval)
    if row.few is not None:
        return GateVerdict("inconclusive", row.few, found.value, found.interval)
    if found.answered and found.value is None:
        return _judge_none(found, op, target)
    if found.value is None:
        return GateVerdict("inconclusive", row.note(), None, found.interval)
    value, interval = found.value, found.interval
    if gate.absolute:
        value, interval = absolute_value(value, interval)
    verdict, reason = judge_level(value, interval, op, target)
    return GateVerdict(
        verdict, f"the size {reason}" if gate.absolute else reason, value, interval
    )


def _judge_none(found: DerivedValue, op: Op, target: float) -> GateVerdict:
    """There is no crossover among what was measured: it lies beyond every level, unless the undecided values
    leave room for one."""
    best = found.interval.lower
    if op in (">", ">="):
        verdict: Literal["pass", "inconclusive", "fail"] = (
            "pass" if best is None or holds_level(best, op, target) else "inconclusive"
        )
    else:
        verdict = (
            "inconclusive"
            if best is not None and holds_level(best, op, target)
            else "fail"
        )
    room = "" if best is None else f"; from {best:g} on it is undecided"
    return GateVerdict(
        verdict, f"there is none among the measured values{room}", None, found.interval
    )


def _gate_row(
    gate: Gate,
    where: tuple[str, str, Mapping[str, ParamValue], str, str],
    level: Literal["required", "stretch"],
    target: float,
    found: GateVerdict,
) -> GateOut:
    """`where`: benchmark, arm, params, metric, and the statistic or the derived metric's name."""
    benchmark, arm, params, metric, statistic = where
    actual = found.actual
    return GateOut(
        name=gate.name,
        description=gate.description,
        derived=gate.derived,
        benchmark=benchmark,
        arm=arm,
        params=dict(params),
        metric=metric,
        statistic=statistic,
        absolute=gate.absolute,
        op=gate.op,
        level=level,
        target=target,
        actual=found.actual,
        lower=found.interval.lower,
        upper=found.interval.upper,
        verdict=found.verdict,
        reason=found.reason,
        reached=None if actual is None else share_reached(actual, gate.op, target),
        standing=None if actual is None else standing_of(actual, gate.op, target),
    )
