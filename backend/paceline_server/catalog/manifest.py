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

from paceline_server.catalog import patterns
from paceline_server.catalog.parts import (
    Benchmark,
    Derived,
    Expected,
    Gate,
    Knob,
    LogLine,
    Name,
    Param,
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
        judged = {name: benchmark.on(target_kind) for name, benchmark in self.benchmarks.items()}
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
            if rule.watches(benchmark, arm, params) and (rule.metric or primary) == metric:
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
    yield from _twice("workloads", workloads)
    for name in set(workloads) - {benchmark.workload for benchmark in manifest.benchmarks.values()}:
        yield f"workload {name}: no benchmark names it"
    for workload in manifest.workloads:
        if workload.host is None and workload.android is None:
            yield f"workload {workload.name}: expected host or android"
        if workload.android is not None:
            abis = [str(abi) for abi in workload.android.abis]
            yield from _twice(f"workload {workload.name}: android.abis", abis)
        yield from _twice(f"workload {workload.name}: checks", workload.checks)
    for name, benchmark in manifest.benchmarks.items():
        yield from _benchmark_faults(f"benchmarks.{name}", benchmark, workloads)
    yield from _alias_faults(manifest)
    yield from _twice("derived", [derived.name for derived in manifest.derived])
    yield from _twice("gates", [gate.name for gate in manifest.gates if gate.name is not None])
    yield from _twice("rules", [rule.name for rule in manifest.rules])
    for derived in manifest.derived:
        yield from _about(manifest, f"derived {derived.name}", derived, derived.every_arm)
        yield from _derived_faults(manifest, derived)
    for number, gate in enumerate(manifest.gates):
        yield from _gate_faults(manifest, f"gates[{number}]", gate)
    for rule in manifest.rules:
        yield from _rule_faults(manifest, rule)
    yield from _twice("policies", [policy.name for policy in manifest.policies])
    for policy in manifest.policies:
        yield from _policy_faults(manifest, policy)
    yield from _log_line_faults(manifest)
    for name, knob in manifest.knobs.items():
        yield from _knob_faults(f"knobs.{name}", knob, workloads)
    for name, preset in manifest.presets.items():
        yield from _preset_faults(manifest, f"presets.{name}", preset)


def _log_line_faults(manifest: Manifest) -> Iterator[str]:
    yield from _twice("logcat", [line.name for line in manifest.logcat])
    for line in manifest.logcat:
        if line.benchmark is not None and line.benchmark not in manifest.benchmarks:
            yield f"logcat {line.name}.benchmark: there is no benchmark {line.benchmark!r}"


def _benchmark_faults(where: str, benchmark: Benchmark, workloads: list[str]) -> Iterator[str]:
    if benchmark.workload not in workloads:
        yield f"{where}.workload: there is no workload {benchmark.workload!r}"
    if benchmark.reference not in benchmark.arms:
        yield f"{where}.reference: {benchmark.reference!r} is none of its arms"
    if benchmark.device_reference not in (None, *benchmark.arms):
        yield f"{where}.device_reference: {benchmark.device_reference!r} is none of its arms"
    yield from _twice(f"{where}.arms", benchmark.arms)
    for key, param in benchmark.params.items():
        yield from _param_faults(f"{where}.params.{key}", param)


def _alias_faults(manifest: Manifest) -> Iterator[str]:
    """An old name leads to one newest name, and is nobody's present one."""
    olds = [old for benchmark in manifest.benchmarks.values() for old in benchmark.aliases]
    yield from _twice("aliases", olds)
    for name in manifest.benchmarks:
        if name in olds:
            yield f"benchmarks.{name}: is an alias of another benchmark, too"
    for name, benchmark in manifest.benchmarks.items():
        where = f"benchmarks.{name}.arm_aliases"
        yield from _twice(where, [old for names in benchmark.arm_aliases.values() for old in names])
        for arm, names in benchmark.arm_aliases.items():
            if arm not in benchmark.arms:
                yield f"{where}: {name} has no arm {arm!r}"
            for old in names:
                if old in benchmark.arms:
                    yield f"{where}.{arm}: {old!r} is an arm of {name} still"


BETWEEN_ARMS = frozenset({"overhead_between_arms", "speedup_between_arms", "crossover"})
"""Kinds that pair two arms by block."""
FROM_TO = frozenset({"ratio_across_param", "degradation_across_param"})
"""Kinds that compare two values of a param."""
ACROSS_PARAM = frozenset({*FROM_TO, "slope", "crossover"})
"""Kinds that consume a param: they have one value for all its values."""


def _rule_faults(manifest: Manifest, rule: Rule) -> Iterator[str]:
    known = manifest.benchmarks.get(rule.benchmark)
    if known is None:
        yield f"rule {rule.name}: there is no benchmark {rule.benchmark!r}"
    elif not set(rule.arms) <= set(known.other_arms):
        yield f"rule {rule.name}: arms must be arms of {rule.benchmark} other than its reference"
    elif rule.metric is not None and rule.metric not in known.metrics:
        yield f"rule {rule.name}: {rule.benchmark} has no metric {rule.metric!r}"
    else:
        yield from _points_faults([known.params], f"rule {rule.name}", rule.params)


def _preset_faults(manifest: Manifest, where: str, preset: Preset) -> Iterator[str]:
    chosen = manifest.benchmarks if preset.benchmarks is None else preset.benchmarks
    for name in chosen:
        if name not in manifest.benchmarks:
            yield f"{where}: there is no benchmark {name!r}"
    known = [manifest.benchmarks[name].params for name in chosen if name in manifest.benchmarks]
    yield from _points_faults(known, where, preset.params)


def _points_faults(
    known: Sequence[Mapping[str, Param]], where: str, points: Mapping[str, Sequence[ParamValue]]
) -> Iterator[str]:
    for key, values in points.items():
        declared = [params[key] for params in known if key in params]
        if not declared:
            yield f"{where}: no benchmark it names has a param {key!r}"
        for value in values:
            if not all(_takes(param, value) for param in declared):
                yield f"{where}.params.{key}: {value!r} is not a declared value"


def _takes(param: Param, value: ParamValue) -> bool:
    """Whether a run may ask this of a param; a pattern is looked at when a run asks."""
    if value in param.values:
        return True
    if param.kind == "int" and isinstance(value, int) and (param.minimum, param.maximum) != (None, None):
        low, high = param.minimum or 0, 2**63 - 1 if param.maximum is None else param.maximum
        return low <= value <= high
    return param.kind == "regex" and isinstance(value, str)


def _twice(where: str, names: list[str]) -> Iterator[str]:
    if len(set(names)) != len(names):
        yield f"{where}: a name is used twice"


def _param_faults(where: str, param: Param) -> Iterator[str]:
    kind = int if param.kind == "int" else str
    if not all(isinstance(value, kind) for value in param.values):
        yield f"{where}.values: expected {'whole numbers' if kind is int else 'text'}"
    if param.kind == "regex" and param.pattern is None:
        yield f"{where}.pattern: expected for a param of kind regex"
    if param.pattern is not None and (why := patterns.why_not(param.pattern)) is not None:
        yield f"{where}.pattern: {why}"
    low, high = param.minimum or 0, 2**63 - 1 if param.maximum is None else param.maximum
    if low > high:
        yield f"{where}: minimum is above maximum"
    if any(isinstance(value, int) and not low <= value <= high for value in param.values):
        yield f"{where}.values: expected values from {low} to {high}"


def _knob_faults(where: str, knob: Knob, workloads: Sequence[str]) -> Iterator[str]:
    if knob.workload is not None and knob.workload not in workloads:
        yield f"{where}: there is no workload {knob.workload!r}"
    if knob.kind == "enum":
        fits = knob.default in (knob.values or [])
    else:
        low, high = knob.minimum or 0, 2**63 - 1 if knob.maximum is None else knob.maximum
        fits = isinstance(knob.default, int) and low <= knob.default <= high
    if not fits:
        yield f"{where}.default: {knob.default!r} is not one of its values"


def _policy_faults(manifest: Manifest, policy: Policy) -> Iterator[str]:
    where = f"policy {policy.name}"
    if policy.reference in (policy.arm, policy.cold_arm):
        yield f"{where}: an arm and the reference are the same"
    yield from _about(manifest, where, policy, [policy.arm, policy.reference])
    if policy.param in policy.params:
        yield f"{where}.params: {policy.param!r} is what the policy decides by"
    if policy.benchmark in manifest.benchmarks:
        yield from _decides_by(where, policy, policy.benchmark, manifest.benchmarks[policy.benchmark])
    if policy.cold_benchmark is not None:
        cold = manifest.benchmarks.get(policy.cold_benchmark)
        if cold is None:
            yield f"{where}.cold_benchmark: there is no benchmark {policy.cold_benchmark!r}"
        else:
            yield from _decides_by(where, policy, policy.cold_benchmark, cold)
            yield from _cold_faults(f"{where}.cold_benchmark", policy, cold)
    elif policy.cold_arm is not None:
        yield f"{where}.cold_arm: expected cold_benchmark, too"
    for value in (policy.in_force.minimum, policy.in_force.warmup_rounds):
        if isinstance(value, str) and (value not in manifest.knobs or manifest.knobs[value].kind != "int"):
            yield f"{where}.in_force: there is no int knob {value!r}"


def _decides_by(where: str, policy: Policy, name: str, benchmark: Benchmark) -> Iterator[str]:
    if policy.param not in benchmark.params or benchmark.params[policy.param].kind != "int":
        yield f"{where}: {name} has no int param {policy.param!r}"


def _cold_faults(where: str, policy: Policy, cold: Benchmark) -> Iterator[str]:
    for arm in (policy.cold_arm or policy.arm, policy.reference):
        if arm not in cold.arms:
            yield f"{where}: it has no arm {arm!r}"
    if policy.metric not in cold.metrics:
        yield f"{where}: it has no metric {policy.metric!r}"


def _gate_faults(manifest: Manifest, where: str, gate: Gate) -> Iterator[str]:
    if gate.stretch is not None:
        softer = gate.stretch > gate.required if gate.op in ("<", "<=") else gate.stretch < gate.required
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
    known = next((derived for derived in manifest.derived if derived.name == gate.derived), None)
    if known is None:
        yield f"{where}.derived: there is no derived metric {gate.derived!r}"
    elif gate.arm is not None and gate.arm not in known.every_arm:
        yield f"{where}.arm: the derived metric {gate.derived} has no arm {gate.arm!r}"
    if known is not None and known.benchmark in manifest.benchmarks:
        yield from _selector_faults(where, gate.params, manifest.benchmarks[known.benchmark], known.param)


def _selector_faults(
    where: str, selector: Mapping[str, ParamValue], benchmark: Benchmark, consumed: str | None
) -> Iterator[str]:
    """A selector names params and values there are; a param that a metric consumes selects nothing."""
    for key, value in selector.items():
        if key not in benchmark.params:
            yield f"{where}: there is no param {key!r}"
        elif key == consumed:
            yield f"{where}.params.{key}: is what the derived metric is computed over"
        elif not _takes(benchmark.params[key], value):
            yield f"{where}.params.{key}: {value!r} is not a declared value"


def _about(
    manifest: Manifest, where: str, part: Derived | Gate | Policy, arms: Sequence[str | None]
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
    yield from _selector_faults(where, part.params, benchmark, consumed)


def _derived_faults(manifest: Manifest, derived: Derived) -> Iterator[str]:
    benchmark = manifest.benchmarks.get(derived.benchmark)
    if benchmark is None:
        return
    where = f"derived {derived.name}"
    if (derived.arm is None) is (derived.arms is None):
        yield f"{where}: expected either arm or arms"
    yield from _twice(f"{where}: arms", derived.every_arm)
    if derived.kind in BETWEEN_ARMS and derived.base_arm not in benchmark.arms:
        yield f"{where}: base_arm must be an arm of {derived.benchmark}"
    if derived.base_arm in derived.every_arm:
        yield f"{where}: base_arm is compared with itself"
    if derived.kind == "share_between_metrics":
        if derived.part not in benchmark.metrics:
            yield f"{where}: part must be a metric of {derived.benchmark}"
        elif derived.metric in benchmark.metrics:
            units = [benchmark.metrics[name].unit for name in (derived.metric, derived.part)]
            if units[0] != units[1]:
                yield f"{where}: metric is in {units[0]}, part in {units[1]}; a share needs one unit"
    if derived.kind == "share_at_rate":
        if derived.rate_bytes_per_s is None:
            yield f"{where}: rate_bytes_per_s is missing"
        if derived.metric in benchmark.metrics and benchmark.metrics[derived.metric].unit != "ns":
            yield f"{where}: a share of a thread's time needs a metric in ns"
    if derived.kind in ACROSS_PARAM:
        yield from _across_faults(where, derived, benchmark)


def _across_faults(where: str, derived: Derived, benchmark: Benchmark) -> Iterator[str]:
    if derived.param not in benchmark.params:
        yield f"{where}: param must be a param of {derived.benchmark}"
    elif derived.kind in ("slope", "crossover") and benchmark.params[derived.param].kind != "int":
        yield f"{where}: a {derived.kind} needs an int param"
    if derived.kind in FROM_TO:
        if derived.from_ is None or derived.to is None:
            yield f"{where}: from and to are missing"
        elif derived.param in benchmark.params:
            for value in (derived.from_, derived.to):
                if not _takes(benchmark.params[derived.param], value):
                    yield f"{where}: {value!r} is not a declared value of {derived.param}"
