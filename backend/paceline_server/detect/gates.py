"""Judges the gates of a suite: one row per gate, level and point of the params.

A gate has a row even when nothing was measured for it. It is `not_applicable` where the target cannot run the
arm, the CPU lacks the features (`GatesOnCpu`) or the request leaves out a value that a derived metric needs, and
`inconclusive` where the measurement has a defect (I12). On a disturbed target no level is judged, and a ratio of paired
arms only where it clears the extra margin. A gate whose benchmark has fewer than its planned launches is judged by each of
them (`early_gates`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from paceline_contract.events import ParamValue
from paceline_contract.gate_levels import (
    applicable_gates,
    feature_dependent_gates,
    requirements_text,
    unmet_requirements,
)
from paceline_contract.manifest import Gate, Manifest

from paceline_server.detect.compare import Circumstances
from paceline_server.detect.derive import PAIRED, DerivedRow
from paceline_server.detect.early_gates import EarlyGates
from paceline_server.detect.facts import CpuFeatures, LaunchBuild
from paceline_server.detect.groups import Group
from paceline_server.detect.measure import WarmSamples
from paceline_server.detect.reasons import LEVEL_NOT_JUDGED
from paceline_server.detect.schemas import GateOut
from paceline_server.stats.derived import DerivedValue, widen_ratio
from paceline_server.stats.disturbance import Disturbance
from paceline_server.stats.gates import (
    SAMPLES_METHOD,
    GateVerdict,
    Op,
    absolute_value,
    holds_level,
    judge_gate,
    judge_level,
    share_reached,
    standing_of,
)
from paceline_server.stats.launch_effect import widen_by_launches
from paceline_server.stats.plain_words import percent
from paceline_server.stats.samples import Interval, median
from paceline_server.stats.summary import probably_optimised_away

NOTHING = Interval(None, None)


@dataclass(frozen=True)
class GatesOnCpu:
    """The gates of a manifest on one CPU. `refused`: by index, why a gate is not judged there; `other_levels`: in
    whose place a gate for CPUs with more features is."""

    refused: Mapping[int, GateVerdict]
    other_levels: frozenset[int]

    @classmethod
    def of(cls, manifest: Manifest, features: CpuFeatures) -> GatesOnCpu:
        """Return which gates apply; without known features none that needs some is judged."""
        gates = manifest.gates
        if features.names is None:
            undecided = GateVerdict("inconclusive", features.why, None, NOTHING)
            return cls(
                dict.fromkeys(feature_dependent_gates(gates), undecided), frozenset()
            )
        refused, applicable = {}, applicable_gates(gates, features.names)
        for index, gate in enumerate(gates):
            if lacking := unmet_requirements(gate, features.names):
                reason = f"not for this CPU (needs {requirements_text(lacking)})"
                refused[index] = GateVerdict("not_applicable", reason, None, NOTHING)
        others = frozenset(range(len(gates))) - applicable - refused.keys()
        return cls(refused, others)


def gate_rows(
    manifest: Manifest,
    groups: Sequence[Group],
    warm: WarmSamples,
    derived: Sequence[DerivedRow],
    known: Circumstances,
    *,
    early: EarlyGates,
) -> list[GateOut]:
    """Return one row per gate, level and point of the params, for the benchmarks that were requested.

    A gate whose CPU features are missing keeps its required level only. A gate that another level replaces on
    this CPU has no row.
    """
    rows: list[GateOut] = []
    on_cpu = GatesOnCpu.of(manifest, known.cpu)
    for index, gate in enumerate(manifest.gates):
        if index in on_cpu.other_levels:
            continue
        refused = on_cpu.refused.get(index)
        if gate.derived is not None:
            rows.extend(_derived_gate(gate, derived, refused, known, early))
            continue
        for group in groups:
            if group.benchmark == gate.benchmark and group.matches(gate.params):
                rows.extend(
                    _measured_gate(gate, group, warm, known, refused, early=early)
                )
    return rows


def with_engine(gate: GateOut, builds: Sequence[LaunchBuild]) -> GateOut:
    """Return the row, naming in its reason the engine that the arm chose, where the launches report it."""
    fact = f"engine.{gate.benchmark}.{gate.arm}"
    engines = dict.fromkeys(
        build.facts[fact] for build in builds if fact in build.facts
    )
    # A crossover that does not exist has a verdict, but no value.
    is_decided = gate.actual is not None or gate.verdict in ("pass", "fail")
    if not is_decided or not engines:
        return gate
    return gate.model_copy(
        update={"reason": f"{gate.reason}; engine {' or '.join(engines)}"}
    )


def _levels(
    gate: Gate, refused: GateVerdict | None
) -> Iterator[tuple[Literal["required", "stretch"], float]]:
    yield "required", gate.required
    if gate.stretch is not None and refused is None:
        yield "stretch", gate.stretch


def _measured_gate(
    gate: Gate,
    group: Group,
    warm: WarmSamples,
    known: Circumstances,
    refused: GateVerdict | None,
    *,
    early: EarlyGates,
) -> Iterator[GateOut]:
    arm = gate.arm or ""
    samples = warm.get(group, gate.metric or "", arm)
    case = warm.index.get(group.benchmark, group.params, gate.metric or "", arm)
    unit = "" if case is None else case.unit
    missing = known.unavailable.why(group, arm)
    defect = known.audits.why_not(group, arm) or _too_fast(
        group, gate.metric or "", arm, warm
    )
    disturbed = _level_not_judged(known.disturbance)
    for level, target in _levels(gate, refused):
        verdict = GateVerdict("inconclusive", f"{arm} was not measured", None, NOTHING)
        if refused is not None:
            verdict = refused
        elif samples is not None:
            by_launch = early.judge_statistic(gate, group, samples, target, unit)
            verdict = by_launch or judge_gate(
                samples[0],
                samples[1],
                gate.statistic,
                gate.op,
                target,
                method=known.look.gate_method,
                unit=unit,
            )
            doubt = defect or disturbed
            if doubt is not None:
                verdict = GateVerdict(
                    "inconclusive", doubt, verdict.actual, verdict.interval
                )
        elif missing is not None:
            verdict = GateVerdict("not_applicable", missing, None, NOTHING)
        identity = (
            gate.benchmark or "",
            arm,
            group.params,
            gate.metric or "",
            gate.statistic,
        )
        yield _gate_row(gate, identity, level, target, verdict)


def _level_not_judged(disturbance: Disturbance) -> str | None:
    """Explain why a level is not judged; None without a disturbance. Pairing protects ratios from it, but no level."""
    if not disturbance.conditions:
        return None
    return f"{LEVEL_NOT_JUDGED} {disturbance.phrase}: {disturbance.conditions[0].text}"


def _too_fast(group: Group, metric: str, arm: str, warm: WarmSamples) -> str | None:
    """Return a defect if the arm is so fast that the compiler probably removed the measured code, else None (§1)."""
    case = warm.index.get(group.benchmark, group.params, metric, arm)
    samples = warm.get(group, metric, arm)
    if (
        case is None
        or samples is None
        or not probably_optimised_away(case.unit, median(samples[0]))
    ):
        return None
    return f"{arm} takes {median(samples[0]):.3g} ns per operation: probably optimised away"


def _derived_gate(
    gate: Gate,
    derived: Sequence[DerivedRow],
    refused: GateVerdict | None,
    known: Circumstances,
    early: EarlyGates,
) -> Iterator[GateOut]:
    for row in derived:
        declared = row.declared
        if declared.name != gate.derived or not row.group.matches(gate.params):
            continue
        if gate.arm is not None and gate.arm != row.arm:
            continue
        for level, target in _levels(gate, refused):
            verdict = refused or _judge_derived(row, gate, target, known, early)
            identity = (
                declared.benchmark,
                row.arm,
                row.group.params,
                declared.metric,
                declared.name,
            )
            yield _gate_row(gate, identity, level, target, verdict)


def _judge_derived(
    row: DerivedRow,
    gate: Gate,
    target: float,
    known: Circumstances,
    early: EarlyGates,
) -> GateVerdict:
    disturbance = known.disturbance
    value, by_samples = row.result.value, row.result.interval
    interval = by_samples
    if value is not None and known.look.gate_method != SAMPLES_METHOD:
        interval = widen_by_launches(interval, value, row.result.by_launch)
    if row.missing is not None:
        return GateVerdict("not_applicable", row.missing, None, NOTHING)
    disturbed = _level_not_judged(disturbance)
    doubt = row.defect or row.too_few
    if row.declared.kind not in PAIRED:
        doubt = doubt or disturbed
    if doubt is not None:
        return GateVerdict("inconclusive", doubt, value, interval)
    extra_percent = 0.0 if disturbed is None else disturbance.extra_percent
    wider = ""
    if disturbed is not None:
        wider = f", {percent(extra_percent / 100)} wider {disturbance.phrase}"
    by_launch = early.judge_derived(gate, row, target, extra_percent)
    if by_launch is not None:
        return replace(by_launch, reason=by_launch.reason + wider)
    if row.result.answered and value is None:
        return _judge_absent_crossover(row.result, gate.op, target)
    if value is None:
        return GateVerdict("inconclusive", row.note(), None, interval)
    by_samples, interval = (
        widen_ratio(row.declared.kind, span, extra_percent)
        for span in (by_samples, interval)
    )
    if gate.absolute:
        _, by_samples = absolute_value(value, by_samples)
        value, interval = absolute_value(value, interval)
    verdict, reason = judge_level(
        value, interval, gate.op, target, by_samples=by_samples
    )
    size = "the size " if gate.absolute else ""
    return GateVerdict(verdict, f"{size}{reason}{wider}", value, interval)


def _judge_absent_crossover(
    crossover: DerivedValue, op: Op, target: float
) -> GateVerdict:
    """Judge a crossover that is above all measured values, or at one of the undecided values."""
    best = crossover.interval.lower
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
    undecided = "" if best is None else f"; from {best:g} on it is inconclusive"
    reason = f"there is none among the measured values{undecided}"
    return GateVerdict(verdict, reason, None, crossover.interval)


def _gate_row(
    gate: Gate,
    identity: tuple[str, str, Mapping[str, ParamValue], str, str],
    level: Literal["required", "stretch"],
    target: float,
    verdict: GateVerdict,
) -> GateOut:
    """Return the row of a gate. `identity` is benchmark, arm, params, metric, and the statistic or the derived metric's
    name."""
    benchmark, arm, params, metric, statistic = identity
    actual = verdict.actual
    return GateOut(
        name=gate.name,
        description=gate.description,
        derived=gate.derived,
        requires=gate.requires,
        benchmark=benchmark,
        arm=arm,
        params=dict(params),
        metric=metric,
        statistic=statistic,
        absolute=gate.absolute,
        op=gate.op,
        level=level,
        target=target,
        actual=actual,
        lower=verdict.interval.lower,
        upper=verdict.interval.upper,
        verdict=verdict.verdict,
        reason=verdict.reason,
        reached=None if actual is None else share_reached(actual, gate.op, target),
        standing=None if actual is None else standing_of(actual, gate.op, target),
    )
