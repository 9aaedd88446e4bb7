"""The typed suite manifest: `suite.toml` as JSON, as an agent announced it and as a run froze it.

Place: agents validate with the JSON schema and name lines; here the same document is read again, because what
comes over the wire is not trusted. Used by announcements, by detection and by `judge`; `parts` holds its
tables. Invariant: what `Manifest` accepts is consistent: every name it mentions exists. Home of the schema:
`native/protocol/suite.schema.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from paceline_server.catalog.consistency import (
    benchmark_faults,
    cold_faults,
    decides_by,
    derived_faults,
    knob_faults,
    points_faults,
    selector_faults,
    twice,
)
from paceline_server.catalog.parts import (
    Benchmark,
    Derived,
    Expected,
    Gate,
    Knob,
    LogLine,
    Name,
    Part,
    Policy,
    Preset,
    Rule,
    SuiteHead,
    Workload,
)
from paceline_server.catalog.schemas import ParamValue


class ManifestError(Exception):
    """The manifest cannot be used; the text says where and what was expected."""


class Manifest(Part):
    """A consistent suite manifest. Raises pydantic's ValidationError; use `read` for errors in words."""

    schema_: Literal[1] = Field(alias="schema")
    suite: SuiteHead
    workloads: list[Workload] = Field(min_length=1, max_length=200)
    benchmarks: dict[Name, Benchmark] = Field(min_length=1, max_length=500)
    knobs: dict[Name, Knob] = Field(default_factory=dict, max_length=64)
    derived: list[Derived] = Field(default_factory=list, max_length=500)
    gates: list[Gate] = Field(default_factory=list, max_length=500)
    rules: list[Rule] = Field(default_factory=list, max_length=500)
    policies: list[Policy] = Field(default_factory=list, max_length=64)
    logcat: list[LogLine] = Field(default_factory=list, max_length=64)
    presets: dict[Name, Preset] = Field(default_factory=dict, max_length=32)
    expected: Expected = Field(default_factory=Expected)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        faults = list(_faults(self))
        if faults:
            raise ValueError("; ".join(faults[:10]))
        return self

    def on(self, target_kind: str) -> Self:
        """As its benchmarks are judged on a kind of target (`Benchmark.on`)."""
        judged = {
            name: benchmark.on(target_kind)
            for name, benchmark in self.benchmarks.items()
        }
        return self.model_copy(update={"benchmarks": judged})

    def arm_rules(self) -> list[Rule]:
        """The suite's rules; without any, one for every benchmark that has an arm besides its reference."""
        if self.rules:
            return list(self.rules)
        return [
            Rule(
                name=f"{name.replace('_', '-')}-arm-slower"[:64],
                kind="arm_slower",
                benchmark=name,
                arms=benchmark.other_arms,
                text=f"An arm of {name} is slower than its reference {benchmark.reference}.",
            )
            for name, benchmark in self.benchmarks.items()
            if benchmark.other_arms
        ]

    def rule_for(
        self, benchmark: str, arm: str, metric: str, params: Mapping[str, ParamValue]
    ) -> Rule | None:
        """The first rule that watches this metric of this arm at this point: its own, else the primary
        one."""
        primary = self.benchmarks[benchmark].primary_metric
        for rule in self.arm_rules():
            if (
                rule.watches(benchmark, arm, params)
                and (rule.metric or primary) == metric
            ):
                return rule
        return None

    def is_demonstration(self, knobs: dict[str, ParamValue]) -> bool:
        """Whether a run with these knobs was made to show an alert."""
        return any(
            knob.demonstration and name in knobs and knobs[name] != knob.default
            for name, knob in self.knobs.items()
        )


def read(raw: dict[str, Any]) -> Manifest:
    """The manifest in `raw` (parsed TOML or JSON). Raises `ManifestError` with every fault, in words."""
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        lines = []
        for fault in error.errors()[:10]:
            where = ".".join(str(part) for part in fault["loc"])
            text = str(fault["msg"]).removeprefix("Value error, ")
            lines.append(f"{where}: {text}" if where else text)
        raise ManifestError("; ".join(lines)) from None


def digest(raw: dict[str, Any]) -> str:
    """SHA-256 of the manifest's canonical JSON: equal for equal content, however it was written."""
    text = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _faults(manifest: Manifest) -> Iterator[str]:
    workloads = [workload.name for workload in manifest.workloads]
    yield from twice("workloads", workloads)
    for name in set(workloads) - {
        benchmark.workload for benchmark in manifest.benchmarks.values()
    }:
        yield f"workload {name}: no benchmark names it"
    for workload in manifest.workloads:
        if workload.host is None and workload.android is None:
            yield f"workload {workload.name}: expected host or android"
        if workload.android is not None:
            abis = [str(abi) for abi in workload.android.abis]
            yield from twice(f"workload {workload.name}: android.abis", abis)
        yield from twice(f"workload {workload.name}: checks", workload.checks)
    for name, benchmark in manifest.benchmarks.items():
        yield from benchmark_faults(f"benchmarks.{name}", benchmark, workloads)
    yield from _alias_faults(manifest)
    yield from twice("derived", [derived.name for derived in manifest.derived])
    yield from twice(
        "gates", [gate.name for gate in manifest.gates if gate.name is not None]
    )
    yield from twice("rules", [rule.name for rule in manifest.rules])
    for derived in manifest.derived:
        where = f"derived {derived.name}"
        yield from _about(manifest, where, derived, derived.every_arm)
        if derived.benchmark in manifest.benchmarks:
            yield from derived_faults(
                where, derived, manifest.benchmarks[derived.benchmark]
            )
    for number, gate in enumerate(manifest.gates):
        yield from _gate_faults(manifest, f"gates[{number}]", gate)
    for rule in manifest.rules:
        yield from _rule_faults(manifest, rule)
    yield from twice("policies", [policy.name for policy in manifest.policies])
    for policy in manifest.policies:
        yield from _policy_faults(manifest, policy)
    yield from _log_line_faults(manifest)
    for name, knob in manifest.knobs.items():
        yield from knob_faults(f"knobs.{name}", knob, workloads)
        yield from _slows_faults(manifest, f"knobs.{name}.slows", knob)
    for name, preset in manifest.presets.items():
        yield from _preset_faults(manifest, f"presets.{name}", preset)


def _slows_faults(manifest: Manifest, where: str, knob: Knob) -> Iterator[str]:
    if knob.slows is None:
        return
    benchmark = manifest.benchmarks.get(knob.slows.benchmark)
    if knob.kind != "int":
        yield f"{where}: only an int knob slows an arm, by so many percent"
    if benchmark is None:
        yield f"{where}: there is no benchmark {knob.slows.benchmark!r}"
    elif knob.slows.arm not in benchmark.arms:
        yield f"{where}: {knob.slows.benchmark} has no arm {knob.slows.arm!r}"


def _log_line_faults(manifest: Manifest) -> Iterator[str]:
    yield from twice("logcat", [line.name for line in manifest.logcat])
    for line in manifest.logcat:
        if line.benchmark is not None and line.benchmark not in manifest.benchmarks:
            yield f"logcat {line.name}.benchmark: there is no benchmark {line.benchmark!r}"


def _alias_faults(manifest: Manifest) -> Iterator[str]:
    """An old name leads to one newest name, and is nobody's present one."""
    olds = [
        old for benchmark in manifest.benchmarks.values() for old in benchmark.aliases
    ]
    yield from twice("aliases", olds)
    for name in manifest.benchmarks:
        if name in olds:
            yield f"benchmarks.{name}: is an alias of another benchmark, too"
    for name, benchmark in manifest.benchmarks.items():
        where = f"benchmarks.{name}.arm_aliases"
        yield from twice(
            where, [old for names in benchmark.arm_aliases.values() for old in names]
        )
        for arm, names in benchmark.arm_aliases.items():
            if arm not in benchmark.arms:
                yield f"{where}: {name} has no arm {arm!r}"
            for old in names:
                if old in benchmark.arms:
                    yield f"{where}.{arm}: {old!r} is an arm of {name} still"


def _rule_faults(manifest: Manifest, rule: Rule) -> Iterator[str]:
    known = manifest.benchmarks.get(rule.benchmark)
    if known is None:
        yield f"rule {rule.name}: there is no benchmark {rule.benchmark!r}"
    elif not set(rule.arms) <= set(known.other_arms):
        yield f"rule {rule.name}: arms must be arms of {rule.benchmark} other than its reference"
    elif rule.metric is not None and rule.metric not in known.metrics:
        yield f"rule {rule.name}: {rule.benchmark} has no metric {rule.metric!r}"
    else:
        yield from points_faults([known.params], f"rule {rule.name}", rule.params)


def _preset_faults(manifest: Manifest, where: str, preset: Preset) -> Iterator[str]:
    chosen = manifest.benchmarks if preset.benchmarks is None else preset.benchmarks
    for name in chosen:
        if name not in manifest.benchmarks:
            yield f"{where}: there is no benchmark {name!r}"
    known = [
        manifest.benchmarks[name].params
        for name in chosen
        if name in manifest.benchmarks
    ]
    yield from points_faults(known, where, preset.params)


def _policy_faults(manifest: Manifest, policy: Policy) -> Iterator[str]:
    where = f"policy {policy.name}"
    if policy.reference in (policy.arm, policy.cold_arm):
        yield f"{where}: an arm and the reference are the same"
    yield from _about(manifest, where, policy, [policy.arm, policy.reference])
    if policy.param in policy.params:
        yield f"{where}.params: {policy.param!r} is what the policy decides by"
    if policy.benchmark in manifest.benchmarks:
        yield from decides_by(
            where, policy, policy.benchmark, manifest.benchmarks[policy.benchmark]
        )
    if policy.cold_benchmark is not None:
        cold = manifest.benchmarks.get(policy.cold_benchmark)
        if cold is None:
            yield f"{where}.cold_benchmark: there is no benchmark {policy.cold_benchmark!r}"
        else:
            yield from decides_by(where, policy, policy.cold_benchmark, cold)
            yield from cold_faults(f"{where}.cold_benchmark", policy, cold)
    elif policy.cold_arm is not None:
        yield f"{where}.cold_arm: expected cold_benchmark, too"
    for value in (policy.in_force.minimum, policy.in_force.warmup_rounds):
        if isinstance(value, str) and (
            value not in manifest.knobs or manifest.knobs[value].kind != "int"
        ):
            yield f"{where}.in_force: there is no int knob {value!r}"


def _gate_faults(manifest: Manifest, where: str, gate: Gate) -> Iterator[str]:
    if gate.stretch is not None:
        softer = (
            gate.stretch > gate.required
            if gate.op in ("<", "<=")
            else gate.stretch < gate.required
        )
        if softer:
            yield f"{where}.stretch: is softer than required"
    if gate.derived is None:
        yield from _about(manifest, where, gate, [gate.arm])
        if gate.absolute:
            yield f"{where}.absolute: is for derived metrics"
        return
    for key in ("benchmark", "metric", "statistic"):
        if key in gate.model_fields_set:
            yield f"{where}.{key}: is not for a gate on a derived metric"
    known = next(
        (derived for derived in manifest.derived if derived.name == gate.derived), None
    )
    if known is None:
        yield f"{where}.derived: there is no derived metric {gate.derived!r}"
    elif gate.arm is not None and gate.arm not in known.every_arm:
        yield f"{where}.arm: the derived metric {gate.derived} has no arm {gate.arm!r}"
    if known is not None and known.benchmark in manifest.benchmarks:
        yield from selector_faults(
            where, gate.params, manifest.benchmarks[known.benchmark], known.param
        )


def _about(
    manifest: Manifest,
    where: str,
    part: Derived | Gate | Policy,
    arms: Sequence[str | None],
) -> Iterator[str]:
    benchmark = manifest.benchmarks.get(part.benchmark or "")
    if benchmark is None:
        yield f"{where}: there is no benchmark {part.benchmark!r}"
        return
    for arm in arms:
        if arm not in benchmark.arms:
            yield f"{where}: {part.benchmark} has no arm {arm!r}"
    if part.metric not in benchmark.metrics:
        yield f"{where}: {part.benchmark} has no metric {part.metric!r}"
    consumed = part.param if isinstance(part, Derived) else None
    yield from selector_faults(where, part.params, benchmark, consumed)
