"""Checks what the types of a manifest cannot: names refer to declared things, and values are in range.

`broken_rules` yields every contradiction as (path of the offending value, what was expected); it does no I/O.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from msgspec.structs import fields

from paceline_contract.events import ParamValue
from paceline_contract.gate_levels import (
    FORBIDDEN,
    contradictions,
    requirements_text,
    undecided_pairs,
)
from paceline_contract.manifest import (
    ONLY_ARM,
    Benchmark,
    Derived,
    Gate,
    Knob,
    Manifest,
    Param,
    Policy,
    Preset,
    Rule,
    Table,
    TargetBuild,
    Witness,
    Workload,
)
from paceline_contract.params import SEPARATORS
from paceline_contract.patterns import compile_pattern, pattern_problem
from paceline_contract.table_problems import Located, Path, shown

_FieldsOfKinds = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""Maps a kind to the fields that it needs and to those that it may have. Fields of every kind are not listed."""

PARAM_FIELDS: Final[_FieldsOfKinds] = {
    "int": ((), ("minimum", "maximum")),
    "enum": ((), ()),
    "regex": (("pattern",), ()),
}
KNOB_FIELDS: Final[_FieldsOfKinds] = {
    "int": (("minimum", "maximum"), ("slows",)),
    "enum": (("values",), ()),
}
DERIVED_FIELDS: Final[_FieldsOfKinds] = {
    "ratio_across_param": (("param", "from", "to"), ()),
    "degradation_across_param": (("param", "from", "to"), ()),
    "overhead_between_arms": (("base_arm",), ()),
    "speedup_between_arms": (("base_arm",), ()),
    "slope": (("param",), ()),
    "share_between_metrics": (("part",), ()),
    "share_at_rate": (("rate_bytes_per_s",), ()),
    "crossover": (("base_arm", "param"), ()),
}

HARNESS_FIELDS: Final = ("command", "arms")
"""The fields of a section that belong to a harness."""

COUNTERS_OF_WORK: Final = ("items", "prepared", "kept")
"""The counters that mean the same in every suite (C1)."""

SLOWDOWN_SUFFIX: Final = "_slowdown_percent"
"""Ends the names of the knobs by which the harnesses slow an arm: `ARM_slowdown_percent`."""


def broken_rules(manifest: Manifest) -> Iterator[Located]:
    """Yield every contradiction in `manifest`."""
    yield from _check_workloads(manifest)
    for name, benchmark in manifest.benchmarks.items():
        yield from _check_benchmark(manifest, ("benchmarks", name), benchmark)
    yield from _check_arms_of_harness(manifest)
    yield from _check_aliases(manifest)
    for name, knob in manifest.knobs.items():
        yield from _check_knob(manifest, ("knobs", name), knob)
    for table in ("derived", "gates", "rules", "policies", "logcat"):
        names = [entry.name for entry in getattr(manifest, table)]
        yield from _check_names_unique(table, names)
    for index, derived in enumerate(manifest.derived):
        yield from _check_derived(manifest, ("derived", index), derived)
    for index, gate in enumerate(manifest.gates):
        yield from _check_gate(manifest, ("gates", index), gate)
    for first, second in undecided_pairs(manifest.gates):
        words = requirements_text(manifest.gates[first].requires)
        yield (
            ("gates", second, "requires"),
            f"expected more or fewer features than gates[{first}] on the same thing, which needs {words}: a CPU "
            "with all of them has two levels; name another feature, or one that must be missing (!NAME)",
        )
    for index, rule in enumerate(manifest.rules):
        yield from _check_rule(manifest, ("rules", index), rule)
    for index, policy in enumerate(manifest.policies):
        yield from _check_policy(manifest, ("policies", index), policy)
    for index, line in enumerate(manifest.logcat):
        if line.benchmark not in (None, *manifest.benchmarks):
            path = ("logcat", index, "benchmark")
            yield (
                path,
                _expect_one_of("benchmarks", manifest.benchmarks, line.benchmark),
            )
    for name, preset in manifest.presets.items():
        yield from _check_preset(manifest, ("presets", name), preset)
    yield from _check_unique(("expected", "checks"), manifest.expected.checks)


def unfit_to_measure(manifest: Manifest) -> Iterator[Located]:
    """Yield what is refused in a manifest that is to be measured, but not in one of an import or of a stored run."""
    for name, benchmark in manifest.benchmarks.items():
        for key, param in benchmark.params.items():
            for value in param.values:
                if reason := separator_problem(value):
                    yield ("benchmarks", name, "params", key, "values"), reason
    for name, knob in manifest.knobs.items():
        slows = knob.slows is not None or name.endswith(SLOWDOWN_SUFFIX)
        if slows and not knob.demonstration:
            yield (
                ("knobs", name, "demonstration"),
                "expected true: this knob slows an arm, and a run with it must never be taken for a measurement; "
                "add demonstration = true",
            )


def value_problem(declared: Param | Knob, value: ParamValue) -> str | None:
    """Return why a run may not ask for `value`, or None when it may."""
    if declared.kind == "int":
        if not isinstance(value, int):
            return f"expected a whole number, found {shown(value)}"
        low, high = declared.minimum, declared.maximum
        if low is not None or high is not None:
            within = (low is None or value >= low) and (high is None or value <= high)
            return (
                None if within else f"expected {_range_text(low, high)}, found {value}"
            )
    elif not isinstance(value, str):
        return f"expected text, found {value}"
    elif isinstance(declared, Param) and declared.pattern is not None:
        matches = compile_pattern(declared.pattern).matches(value)
        return None if matches else f"{shown(value)} does not match the pattern"
    values = declared.values or []
    if value in values:
        return None
    return f"expected one of {_list_names(values)}, found {shown(value)}"


def separator_problem(value: ParamValue) -> str | None:
    """Return why a param's value cannot be put into `--params k=v1|v2` or `--case …/k=v,k=v`; None when it can."""
    if isinstance(value, str) and any(separator in value for separator in SEPARATORS):
        return (
            "expected text without | and , (they separate values in --params and --case), "
            f"found {shown(value)}"
        )
    return None


def _check_workloads(manifest: Manifest) -> Iterator[Located]:
    yield from _check_names_unique(
        "workloads", [workload.name for workload in manifest.workloads]
    )
    used = {benchmark.workload for benchmark in manifest.benchmarks.values()}
    for index, workload in enumerate(manifest.workloads):
        if workload.name not in used:
            path: Path = ("workloads", index, "name")
            yield path, "expected a benchmark that names this workload, found none"
        yield from _check_workload(("workloads", index), workload)


def _check_workload(path: Path, workload: Workload) -> Iterator[Located]:
    if workload.host is None and workload.android is None:
        yield path, "expected host or android"
    yield from _check_unique((*path, "checks"), workload.checks)
    for section, build in (("host", workload.host), ("android", workload.android)):
        if build is not None:
            at = (*path, section, "artifacts")
            names = [PurePosixPath(artifact).name for artifact in build.artifacts]
            for name in _repeated_names(names):
                yield (
                    at,
                    f"expected different file names, found {name!r} twice: they share one directory",
                )
            yield from _check_start((*path, section), build)
    if workload.host is not None:
        for name in ("abis", "calibrate"):
            if getattr(workload.host, name):
                yield (*path, "host", name), "unknown name; only android has it"
    if workload.android is not None:
        yield from _check_unique((*path, "android", "abis"), workload.android.abis)


def _check_start(path: Path, build: TargetBuild) -> Iterator[Located]:
    """Check that a section says how the workload is started: by its own program, or by a harness of a host."""
    if build.harness is None:
        if not build.run:
            yield path, "'run' is missing, or a 'harness' with its 'command'"
        for name in HARNESS_FIELDS:
            if getattr(build, name):
                yield (*path, name), "unknown name; only a section with harness has it"
        return
    if path[-1] == "android":
        yield (
            (*path, "harness"),
            "unknown name; only host has it: a harness cannot be started on devices",
        )
        return
    if build.run:
        yield (*path, "run"), "expected run or harness, not both"
    if not build.command:
        yield path, "'command' is missing: what starts the benchmarks of the harness"


def _check_arms_of_harness(manifest: Manifest) -> Iterator[Located]:
    """Check that each arm of a benchmark that a harness measures is one that the workload maps."""
    mapped = {
        workload.name: [*workload.host.arms] or [ONLY_ARM]
        for workload in manifest.workloads
        if workload.host is not None and workload.host.harness is not None
    }
    for name, benchmark in manifest.benchmarks.items():
        arms = mapped.get(benchmark.workload, benchmark.arms)
        for arm in benchmark.arms:
            if arm not in arms:
                text = _expect_one_of("arms of its workload", arms, arm)
                yield ("benchmarks", name, "arms"), text


def _check_benchmark(
    manifest: Manifest, path: Path, benchmark: Benchmark
) -> Iterator[Located]:
    workloads = [workload.name for workload in manifest.workloads]
    if benchmark.workload not in workloads:
        yield (
            (*path, "workload"),
            _expect_one_of("workloads", workloads, benchmark.workload),
        )
    for key in ("reference", "device_reference"):
        if (arm := getattr(benchmark, key)) not in (None, *benchmark.arms):
            yield (*path, key), _expect_one_of("arms", benchmark.arms, arm)
    yield from _check_unique((*path, "arms"), benchmark.arms)
    for key, param in benchmark.params.items():
        yield from _check_param((*path, "params", key), param)
    for arm, witness in benchmark.witnesses.items():
        at = (*path, "witnesses", arm)
        if arm not in benchmark.arms:
            yield at, _expect_one_of("arms", benchmark.arms, arm)
        yield from _check_witness(at, witness)


def _check_witness(path: Path, witness: Witness) -> Iterator[Located]:
    if (witness.counter is None) == (witness.build is None):
        yield path, "expected counter or build, not both"
    elif witness.build is not None and witness.values is None:
        yield path, "'values' is missing: what build says where the arm ran"
    elif witness.build is None and witness.values is not None:
        yield (*path, "values"), "unknown name; only build has it"
    yield from _check_unique((*path, "values"), witness.values or [])
    yield from _check_requires(path, witness)
    if witness.counter in COUNTERS_OF_WORK:
        yield (
            (*path, "counter"),
            f"expected a counter of its own: {witness.counter} says how much work was done, not by which code",
        )


def _check_requires(path: Path, declared: Gate | Witness) -> Iterator[Located]:
    yield from _check_unique((*path, "requires"), declared.requires)
    for feature in contradictions(declared.requires):
        yield (
            (*path, "requires"),
            f"expected {feature} or {FORBIDDEN}{feature}, found both: no CPU has such features",
        )


def _check_param(path: Path, param: Param) -> Iterator[Located]:
    if wrong := [
        *_check_fields(path, param, param.kind, PARAM_FIELDS),
        *_check_range(path, param),
    ]:
        yield from wrong
        return
    yield from _check_unique((*path, "values"), param.values)
    if param.pattern is not None and (refused := pattern_problem(param.pattern)):
        yield (
            (*path, "pattern"),
            f"expected a pattern that can be matched in linear time: {refused}",
        )
        return
    for value in param.values:
        if reason := value_problem(param, value):
            yield (*path, "values"), reason


def _check_aliases(manifest: Manifest) -> Iterator[Located]:
    """Check that each old name leads to exactly one present name and is not a present name itself."""
    used: set[str] = set()
    for name, benchmark in manifest.benchmarks.items():
        path: Path = ("benchmarks", name)
        for index, old in enumerate(benchmark.aliases):
            if old in manifest.benchmarks or old in used:
                yield (
                    (*path, "aliases", index),
                    f"expected a name that no other benchmark has or had, found {old!r}",
                )
            used.add(old)
        old_arms: set[str] = set()
        for arm, old_names in benchmark.arm_aliases.items():
            if arm not in benchmark.arms:
                at = (*path, "arm_aliases", arm)
                yield at, _expect_one_of("arms", benchmark.arms, arm)
            for index, old in enumerate(old_names):
                if old in benchmark.arms or old in old_arms:
                    yield (
                        (*path, "arm_aliases", arm, index),
                        f"expected a name that no other arm has or had, found {old!r}",
                    )
                old_arms.add(old)


def _check_knob(manifest: Manifest, path: Path, knob: Knob) -> Iterator[Located]:
    workloads = [workload.name for workload in manifest.workloads]
    if knob.workload not in (None, *workloads):
        yield (*path, "workload"), _expect_one_of("workloads", workloads, knob.workload)
    elif not any(
        workload.takes_knobs
        for workload in manifest.workloads
        if knob.workload in (None, workload.name)
    ):
        yield path, "expected a workload that takes it: a harness takes no knobs"
    if wrong := [
        *_check_fields(path, knob, knob.kind, KNOB_FIELDS),
        *_check_range(path, knob),
    ]:
        yield from wrong
        return
    yield from _check_unique((*path, "values"), knob.values or [])
    if reason := value_problem(knob, knob.default):
        yield (*path, "default"), reason
    if knob.slows is not None:
        slowed = manifest.benchmarks.get(knob.slows.benchmark)
        if slowed is None:
            yield (
                (*path, "slows"),
                _expect_one_of("benchmarks", manifest.benchmarks, knob.slows.benchmark),
            )
        elif knob.slows.arm not in slowed.arms:
            yield (*path, "slows"), _expect_one_of("arms", slowed.arms, knob.slows.arm)


def _check_references(
    manifest: Manifest,
    path: Path,
    entry: Derived | Gate | Policy,
    benchmark_name: str,
    arms: Mapping[str, str | None],
) -> Iterator[Located]:
    """Check that the benchmark, arms, metric and params that `entry` names exist. `arms` maps a field to its arm."""
    benchmark = manifest.benchmarks.get(benchmark_name)
    if benchmark is None:
        yield (
            (*path, "benchmark"),
            _expect_one_of("benchmarks", manifest.benchmarks, benchmark_name),
        )
        return
    for key, arm in arms.items():
        if arm not in (None, *benchmark.arms):
            yield (*path, key), _expect_one_of("arms", benchmark.arms, arm)
    if entry.metric not in benchmark.metrics:
        yield (
            (*path, "metric"),
            _expect_one_of("metrics", benchmark.metrics, entry.metric),
        )
    consumed = None if isinstance(entry, Gate) else entry.param
    yield from _check_selector(path, entry.params, benchmark.params, consumed)


def _check_selector(
    path: Path,
    selector: Mapping[str, ParamValue],
    declared: Mapping[str, Param],
    consumed: str | None,
) -> Iterator[Located]:
    """Check that a selector names existing params and values, and not the param that is computed over (`consumed`)."""
    for key, value in selector.items():
        at = (*path, "params", key)
        if key == consumed:
            yield at, f"expected another param than {key}, which this is computed over"
        else:
            yield from _check_param_values(at, [declared], key, [value])


def _check_param_values(
    path: Path,
    params: Sequence[Mapping[str, Param]],
    name: str,
    values: Sequence[ParamValue],
) -> Iterator[Located]:
    """Check `values` of the param `name` in every benchmark that has it. At least one must have it."""
    declared = [known[name] for known in params if name in known]
    if not declared:
        names = sorted({name for known in params for name in known})
        yield path, _expect_one_of("params", names, name)
    yield from _check_unique(path, values)
    for param, value in itertools.product(declared, values):
        if reason := _usable_value_problem(param, value):
            yield path, reason


def _usable_value_problem(param: Param, value: ParamValue) -> str | None:
    """Return `value_problem`, or None for a param whose pattern is invalid, which is reported elsewhere."""
    if param.pattern is not None and pattern_problem(param.pattern):
        return None
    return value_problem(param, value)


def _check_derived(
    manifest: Manifest, path: Path, derived: Derived
) -> Iterator[Located]:
    yield from _check_fields(path, derived, derived.kind, DERIVED_FIELDS)
    if derived.arm is None and derived.arms is None:
        yield path, "expected arm or arms"
    if derived.arm is not None and derived.arms is not None:
        yield path, "expected arm or arms, not both"
    arms = {"arm": derived.arm, "base_arm": derived.base_arm}
    yield from _check_references(manifest, path, derived, derived.benchmark, arms)
    benchmark = manifest.benchmarks.get(derived.benchmark)
    if benchmark is None:
        return
    yield from _check_unique((*path, "arms"), derived.arms or [])
    for arm in derived.arms or []:
        if arm not in benchmark.arms:
            yield (*path, "arms"), _expect_one_of("arms", benchmark.arms, arm)
    if derived.base_arm is not None and derived.base_arm in derived.every_arm:
        key = "arm" if derived.arms is None else "arms"
        yield (
            (*path, key),
            f"expected arms other than base_arm, found {derived.base_arm!r} in both",
        )
    yield from _check_share_units(path, derived, benchmark)
    if derived.param is not None:
        yield from _check_computed_param(path, derived, derived.param, benchmark.params)


def _check_computed_param(
    path: Path, derived: Derived, name: str, params: Mapping[str, Param]
) -> Iterator[Located]:
    param = params.get(name)
    if param is None:
        yield (*path, "param"), _expect_one_of("params", params, name)
        return
    if derived.kind in ("slope", "crossover") and param.kind != "int":
        yield (
            (*path, "param"),
            f"expected a param of kind int: a {derived.kind} needs numbers",
        )
    for key, value in (("from", derived.from_), ("to", derived.to)):
        if value is not None and (reason := _usable_value_problem(param, value)):
            yield (*path, key), reason


def _check_share_units(
    path: Path, derived: Derived, benchmark: Benchmark
) -> Iterator[Located]:
    """Check that a share divides two metrics in one unit, or a time in nanoseconds."""
    whole = benchmark.metrics.get(derived.metric)
    if derived.part is not None:
        part = benchmark.metrics.get(derived.part)
        if part is None:
            yield (
                (*path, "part"),
                _expect_one_of("metrics", benchmark.metrics, derived.part),
            )
        elif whole is not None and part.unit != whole.unit:
            yield (
                (*path, "part"),
                f"expected a metric in {whole.unit}, the unit of {derived.metric}; found {part.unit}",
            )
    if derived.kind == "share_at_rate" and whole is not None and whole.unit != "ns":
        yield (
            (*path, "metric"),
            f"expected a metric in ns: a share of a thread's time; found {whole.unit}",
        )


def _check_gate(manifest: Manifest, path: Path, gate: Gate) -> Iterator[Located]:
    if gate.derived is not None:
        yield from _check_derived_gate(manifest, path, gate, gate.derived)
    elif gate.benchmark is None or gate.arm is None or gate.metric is None:
        yield path, "expected benchmark, arm, metric or derived"
    else:
        yield from _check_references(
            manifest, path, gate, gate.benchmark, {"arm": gate.arm}
        )
        if gate.absolute:
            yield (*path, "absolute"), "expected it only in a gate on a derived metric"
    yield from _check_requires(path, gate)
    levels = {
        "required": gate.required,
        "stretch": gate.stretch,
        "measured": gate.measured,
    }
    for key, value in levels.items():
        if value is not None and not math.isfinite(value):
            yield (*path, key), "expected a finite number"
    if gate.stretch is not None:
        upper = gate.op in ("<", "<=")
        if gate.stretch > gate.required if upper else gate.stretch < gate.required:
            yield (
                (*path, "stretch"),
                f"expected a level stricter than required ({gate.required:g}), found {gate.stretch:g}",
            )


def _check_derived_gate(
    manifest: Manifest, path: Path, gate: Gate, name: str
) -> Iterator[Located]:
    if gate.benchmark is not None or gate.metric is not None:
        yield path, "expected benchmark, arm, metric or derived, not both"
    if gate.declared_statistic is not None:
        yield (*path, "statistic"), "expected it only in a gate on a measured metric"
    known = {derived.name: derived for derived in manifest.derived}
    derived = known.get(name)
    if derived is None:
        yield (*path, "derived"), _expect_one_of("derived metrics", known, name)
        return
    if gate.arm not in (None, *derived.every_arm):
        yield (
            (*path, "arm"),
            _expect_one_of(f"arms of {name}", derived.every_arm, gate.arm),
        )
    benchmark = manifest.benchmarks.get(derived.benchmark)
    if benchmark is not None:
        yield from _check_selector(path, gate.params, benchmark.params, derived.param)


def _check_rule(manifest: Manifest, path: Path, rule: Rule) -> Iterator[Located]:
    benchmark = manifest.benchmarks.get(rule.benchmark)
    if benchmark is None:
        yield (
            (*path, "benchmark"),
            _expect_one_of("benchmarks", manifest.benchmarks, rule.benchmark),
        )
        return
    if rule.metric not in (None, *benchmark.metrics):
        yield (
            (*path, "metric"),
            _expect_one_of("metrics", benchmark.metrics, rule.metric),
        )
    yield from _check_unique((*path, "arms"), rule.arms)
    for arm in rule.arms:
        if arm not in benchmark.other_arms:
            expected = _expect_one_of(
                "arms other than the reference", benchmark.other_arms, arm
            )
            yield (*path, "arms"), expected
    for name, values in rule.params.items():
        yield from _check_param_values(
            (*path, "params", name), [benchmark.params], name, values
        )


def _check_policy(manifest: Manifest, path: Path, policy: Policy) -> Iterator[Located]:
    arms = {"arm": policy.arm, "reference": policy.reference}
    yield from _check_references(manifest, path, policy, policy.benchmark, arms)
    if policy.reference in (policy.arm, policy.cold_arm):
        yield (*path, "reference"), f"expected another arm than {policy.reference}"
    if policy.benchmark in manifest.benchmarks:
        yield from _check_policy_param(manifest, path, policy, policy.benchmark)
    if policy.cold_benchmark is not None:
        yield from _check_cold_benchmark(manifest, path, policy, policy.cold_benchmark)
    elif policy.cold_arm is not None:
        yield (*path, "cold_arm"), "expected cold_benchmark, too"
    knobs = [name for name, knob in manifest.knobs.items() if knob.kind == "int"]
    for key in ("minimum", "warmup_rounds"):
        value = getattr(policy.in_force, key)
        if isinstance(value, str) and value not in knobs:
            yield (*path, "in_force", key), _expect_one_of("int knobs", knobs, value)


def _check_policy_param(
    manifest: Manifest, path: Path, policy: Policy, benchmark: str
) -> Iterator[Located]:
    params = manifest.benchmarks[benchmark].params
    ints = [name for name, param in params.items() if param.kind == "int"]
    if policy.param not in ints:
        expected = _expect_one_of(f"int params of {benchmark}", ints, policy.param)
        yield (*path, "param"), expected


def _check_cold_benchmark(
    manifest: Manifest, path: Path, policy: Policy, benchmark: str
) -> Iterator[Located]:
    cold = manifest.benchmarks.get(benchmark)
    if cold is None:
        expected = _expect_one_of("benchmarks", manifest.benchmarks, benchmark)
        yield (*path, "cold_benchmark"), expected
        return
    yield from _check_policy_param(manifest, path, policy, benchmark)
    key = "arm" if policy.cold_arm is None else "cold_arm"
    for field, arm in (
        (key, policy.cold_arm or policy.arm),
        ("reference", policy.reference),
    ):
        if arm not in cold.arms:
            yield (*path, field), _expect_one_of(f"arms of {benchmark}", cold.arms, arm)
    if policy.metric not in cold.metrics:
        expected = _expect_one_of(
            f"metrics of {benchmark}", cold.metrics, policy.metric
        )
        yield (*path, "metric"), expected


def _check_preset(manifest: Manifest, path: Path, preset: Preset) -> Iterator[Located]:
    chosen = [*manifest.benchmarks] if preset.benchmarks is None else preset.benchmarks
    yield from _check_unique((*path, "benchmarks"), chosen)
    for name in chosen:
        if name not in manifest.benchmarks:
            expected = _expect_one_of("benchmarks", manifest.benchmarks, name)
            yield (*path, "benchmarks"), expected
    known = [
        manifest.benchmarks[name].params
        for name in chosen
        if name in manifest.benchmarks
    ]
    for key, values in preset.params.items():
        yield from _check_param_values((*path, "params", key), known, key, values)


def _check_fields(
    path: Path, table: Table, kind: str, kinds: _FieldsOfKinds
) -> Iterator[Located]:
    """Yield fields that this kind needs and lacks, and fields that only other kinds may have."""
    needed, optional = kinds[kind]
    kind_fields = {
        name for needs in kinds.values() for names in needs for name in names
    }
    present = {
        field.encode_name
        for field in fields(table)
        if getattr(table, field.name) is not None
    }
    for name in needed:
        if name not in present:
            yield path, f"{name!r} is missing"
    for name in sorted(kind_fields & present - {*needed, *optional}):
        yield (*path, name), f"unknown name for the kind {kind}"


def _check_range(path: Path, declared: Param | Knob) -> Iterator[Located]:
    low, high = declared.minimum, declared.maximum
    if low is not None and high is not None and low > high:
        yield (*path, "minimum"), f"expected at most the maximum {high}, found {low}"


def _check_names_unique(table: str, names: Sequence[str | None]) -> Iterator[Located]:
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            yield (
                (table, index, "name"),
                f"expected a name not used before, found {name!r} again",
            )


def _check_unique(path: Path, values: Sequence[Hashable]) -> Iterator[Located]:
    for value in _repeated_names(values):
        yield path, f"expected no value twice, found {shown(value)} again"


def _repeated_names(values: Sequence[Hashable]) -> list[Hashable]:
    return [value for value, times in Counter(values).items() if times > 1]


def _expect_one_of(what: str, names: Iterable[str], found: object) -> str:
    return f"expected one of the {what} ({', '.join(names) or 'there are none'}), found {found!r}"


def _list_names(values: Sequence[object]) -> str:
    more = f" and {len(values) - 12} more" if len(values) > 12 else ""
    return ", ".join(map(str, values[:12])) + more or "none"


def _range_text(low: int | None, high: int | None) -> str:
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} to {high}"
