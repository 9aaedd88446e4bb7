"""What a JSON schema cannot say about a manifest: names refer to things that exist, values lie in range.

Place in the journey: called by `manifest.py` on a manifest its schema has accepted.
Invariant: pure; yields every broken rule as (path of the offending value, what was expected).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from paceline_contract.patterns import compile_pattern, pattern_problem

Located = tuple[tuple[str | int, ...], str]
Raw = Mapping[str, Any]


def broken_rules(raw: Raw) -> Iterator[Located]:
    """Everything in `raw` that contradicts itself."""
    yield from _workloads(raw)
    for name, benchmark in raw["benchmarks"].items():
        yield from _benchmark(raw, name, benchmark)
    yield from _aliases(raw)
    for name, knob in raw.get("knobs", {}).items():
        yield from _knob(raw, ("knobs", name), knob)
    for table in ("derived", "gates", "rules", "policies", "logcat"):
        yield from _twice(table, raw.get(table, []))
    for index, derived in enumerate(raw.get("derived", [])):
        path = ("derived", index)
        yield from _about(raw, path, derived, arms=("arm", "base_arm"))
        yield from _derived_params(raw, path, derived)
    for index, gate in enumerate(raw.get("gates", [])):
        yield from _gate(raw, ("gates", index), gate)
    for index, rule in enumerate(raw.get("rules", [])):
        yield from _rule(raw, ("rules", index), rule)
    for index, policy in enumerate(raw.get("policies", [])):
        yield from _policy(raw, ("policies", index), policy)
    for index, line in enumerate(raw.get("logcat", [])):
        if "benchmark" in line and line["benchmark"] not in raw["benchmarks"]:
            yield (
                ("logcat", index, "benchmark"),
                f"expected a benchmark, found {line['benchmark']!r}",
            )
    for name, preset in raw.get("presets", {}).items():
        yield from _preset(raw, ("presets", name), preset)


def _workloads(raw: Raw) -> Iterator[Located]:
    yield from _twice("workloads", raw["workloads"])
    used = {benchmark["workload"] for benchmark in raw["benchmarks"].values()}
    for index, workload in enumerate(raw["workloads"]):
        if workload["name"] not in used:
            yield (
                ("workloads", index, "name"),
                "expected a benchmark that names this workload, found none",
            )
        for kind in ("host", "android"):
            names = [
                PurePosixPath(item).name
                for item in workload.get(kind, {}).get("artifacts", [])
            ]
            for name in sorted({name for name in names if names.count(name) > 1}):
                path = ("workloads", index, kind, "artifacts")
                yield (
                    path,
                    f"expected different file names, found {name!r} twice: they share one directory",
                )


def _benchmark(raw: Raw, name: str, benchmark: Raw) -> Iterator[Located]:
    path = ("benchmarks", name)
    workloads = [workload["name"] for workload in raw["workloads"]]
    if benchmark["workload"] not in workloads:
        yield (
            (*path, "workload"),
            _one_of("workloads", workloads, benchmark["workload"]),
        )
    for key in ("reference", "device_reference"):
        if key in benchmark and benchmark[key] not in benchmark["arms"]:
            yield (*path, key), _one_of("arms", benchmark["arms"], benchmark[key])
    if not math.isfinite(benchmark.get("margin_percent", 2.0)):
        yield (*path, "margin_percent"), "expected a finite number"
    for key, param in benchmark.get("params", {}).items():
        yield from _param((*path, "params", key), param)


def _aliases(raw: Raw) -> Iterator[Located]:
    """An old name leads to one newest name, and is nobody's present one."""
    used: set[str] = set()
    for name, benchmark in raw["benchmarks"].items():
        for index, old in enumerate(benchmark.get("aliases", [])):
            if old in raw["benchmarks"] or old in used:
                path = ("benchmarks", name, "aliases", index)
                yield (
                    path,
                    f"expected a name no other benchmark has or had, found {old!r}",
                )
            used.add(old)
        arms: set[str] = set()
        for arm, olds in benchmark.get("arm_aliases", {}).items():
            at = ("benchmarks", name, "arm_aliases", arm)
            if arm not in benchmark["arms"]:
                yield at, _one_of("arms", benchmark["arms"], arm)
            for index, old in enumerate(olds):
                if old in benchmark["arms"] or old in arms:
                    yield (
                        (*at, index),
                        f"expected a name no other arm has or had, found {old!r}",
                    )
                arms.add(old)


def _param(path: tuple[str | int, ...], param: Raw) -> Iterator[Located]:
    yield from _range(path, param)
    if param["kind"] == "regex" and (refused := pattern_problem(param["pattern"])):
        yield (
            (*path, "pattern"),
            f"expected a pattern that can be matched in linear time: {refused}",
        )
        return
    for value in param["values"]:
        if reason := why_not(param, value, declared_only=False):
            yield (*path, "values"), reason


def _knob(raw: Raw, path: tuple[str | int, ...], knob: Raw) -> Iterator[Located]:
    yield from _range(path, knob)
    workloads = [workload["name"] for workload in raw["workloads"]]
    if knob.get("workload", workloads[0]) not in workloads:
        yield (*path, "workload"), _one_of("workloads", workloads, knob["workload"])
    if reason := why_not(knob, knob["default"], declared_only=True):
        yield (*path, "default"), reason
    if (slows := knob.get("slows")) is not None:
        benchmark = raw["benchmarks"].get(slows["benchmark"])
        if benchmark is None:
            yield (
                (*path, "slows"),
                _one_of("benchmarks", raw["benchmarks"], slows["benchmark"]),
            )
        elif slows["arm"] not in benchmark["arms"]:
            yield (*path, "slows"), _one_of("arms", benchmark["arms"], slows["arm"])


def why_not(declared: Raw, value: int | str, declared_only: bool) -> str | None:
    """Why `value` is not one of a param or knob, or None when it is.

    `declared_only`: without a range or pattern the value must be one of `values`.
    """
    kind = declared["kind"]
    if kind == "int":
        if not isinstance(value, int):
            return f"expected a whole number, found {value!r}"
        low, high = declared.get("minimum"), declared.get("maximum")
        if low is not None or high is not None:
            within = (low is None or value >= low) and (high is None or value <= high)
            return None if within else f"expected {_span(low, high)}, found {value}"
    elif not isinstance(value, str):
        return f"expected text, found {value!r}"
    elif kind == "regex":
        matches = compile_pattern(declared["pattern"]).matches(value)
        return None if matches else f"{value!r} does not match the pattern"
    values = declared.get("values") or []
    known = not declared_only or value in values
    return (
        None
        if known
        else f"expected one of {', '.join(map(str, values))}, found {value!r}"
    )


def not_sendable(value: int | str) -> str | None:
    """Why a param's value cannot be put into `--params k=v1|v2` or `--case …/k=v,k=v`; None when it can."""
    if isinstance(value, str) and any(separator in value for separator in "|,"):
        return f"expected text without | and , (they separate values in --params and --case), found {value!r}"
    return None


def _range(path: tuple[str | int, ...], declared: Raw) -> Iterator[Located]:
    low, high = declared.get("minimum"), declared.get("maximum")
    if low is not None and high is not None and low > high:
        yield (*path, "minimum"), f"expected at most the maximum {high}, found {low}"


def _about(
    raw: Raw, path: tuple[str | int, ...], entry: Raw, arms: Iterable[str] = ("arm",)
) -> Iterator[Located]:
    """`entry` speaks of a benchmark, its arms, metric and params: each must exist."""
    benchmark = raw["benchmarks"].get(entry["benchmark"])
    if benchmark is None:
        yield (
            (*path, "benchmark"),
            _one_of("benchmarks", raw["benchmarks"], entry["benchmark"]),
        )
        return
    for key in arms:
        if key in entry and entry[key] not in benchmark["arms"]:
            yield (*path, key), _one_of("arms", benchmark["arms"], entry[key])
    for arm in entry.get("arms", []):
        if arm not in benchmark["arms"]:
            yield (*path, "arms"), _one_of("arms", benchmark["arms"], arm)
    if "metric" in entry and entry["metric"] not in benchmark["metrics"]:
        yield (
            (*path, "metric"),
            _one_of("metrics", benchmark["metrics"], entry["metric"]),
        )
    yield from _selector(path, entry, benchmark.get("params", {}), entry.get("param"))


def _selector(
    path: tuple[str | int, ...], entry: Raw, declared: Raw, consumed: str | None
) -> Iterator[Located]:
    """A selector names params and values there are; a param that is computed over selects nothing."""
    for key, value in entry.get("params", {}).items():
        if key not in declared:
            yield (*path, "params", key), _one_of("params", declared, key)
        elif key == consumed:
            yield (
                (*path, "params", key),
                f"expected another param than {key}, which this is computed over",
            )
        elif reason := why_not(declared[key], value, declared_only=True):
            yield (*path, "params", key), reason


def _derived_params(
    raw: Raw, path: tuple[str | int, ...], derived: Raw
) -> Iterator[Located]:
    benchmark = raw["benchmarks"].get(derived["benchmark"])
    if benchmark is None:
        return
    yield from _derived_metrics(path, derived, benchmark["metrics"])
    if "base_arm" in derived and derived["base_arm"] in (
        derived.get("arms") or [derived["arm"]]
    ):
        key = "arms" if "arms" in derived else "arm"
        yield (
            (*path, key),
            f"expected arms other than base_arm, found {derived['base_arm']!r} in both",
        )
    if "param" not in derived:
        return
    param = benchmark.get("params", {}).get(derived["param"])
    if param is None:
        yield (
            (*path, "param"),
            _one_of("params", benchmark.get("params", {}), derived["param"]),
        )
        return
    if derived["kind"] in ("slope", "crossover") and param["kind"] != "int":
        yield (
            (*path, "param"),
            f"expected a param of kind int: a {derived['kind']} needs numbers",
        )
    for key in ("from", "to"):
        if key in derived and (
            reason := why_not(param, derived[key], declared_only=True)
        ):
            yield (*path, key), reason


def _derived_metrics(
    path: tuple[str | int, ...], derived: Raw, metrics: Raw
) -> Iterator[Located]:
    """Shares: of two metrics in one unit, or of a thread's time."""
    whole = metrics.get(derived["metric"])
    if "part" in derived:
        part = metrics.get(derived["part"])
        if part is None:
            yield (*path, "part"), _one_of("metrics", metrics, derived["part"])
        elif whole is not None and part["unit"] != whole["unit"]:
            text = (
                f"expected a metric in {whole['unit']}, the unit of {derived['metric']}"
            )
            yield (*path, "part"), f"{text}; found {part['unit']}"
    if (
        derived["kind"] == "share_at_rate"
        and whole is not None
        and whole["unit"] != "ns"
    ):
        yield (
            (*path, "metric"),
            f"expected a metric in ns: a share of a thread's time; found {whole['unit']}",
        )


def _preset(raw: Raw, path: tuple[str | int, ...], preset: Raw) -> Iterator[Located]:
    chosen = preset.get("benchmarks", list(raw["benchmarks"]))
    for name in chosen:
        if name not in raw["benchmarks"]:
            yield (*path, "benchmarks"), _one_of("benchmarks", raw["benchmarks"], name)
    params = [
        raw["benchmarks"][name].get("params", {})
        for name in chosen
        if name in raw["benchmarks"]
    ]
    for key, values in preset.get("params", {}).items():
        declared = [each[key] for each in params if key in each]
        if not declared:
            yield (
                (*path, "params", key),
                _one_of(
                    "params", sorted({name for each in params for name in each}), key
                ),
            )
        for param, value in itertools.product(declared, values):
            if reason := why_not(param, value, declared_only=True):
                yield (*path, "params", key), reason


def _gate(raw: Raw, path: tuple[str | int, ...], gate: Raw) -> Iterator[Located]:
    if "derived" in gate:
        known = {derived["name"]: derived for derived in raw.get("derived", [])}
        derived = known.get(gate["derived"])
        if derived is None:
            yield (*path, "derived"), _one_of("derived metrics", known, gate["derived"])
        elif "arm" in gate and gate["arm"] not in (
            arms := derived.get("arms") or [derived["arm"]]
        ):
            yield (
                (*path, "arm"),
                _one_of(f"arms of {gate['derived']}", arms, gate["arm"]),
            )
        about = (
            raw["benchmarks"].get(derived["benchmark"]) if derived is not None else None
        )
        if derived is not None and about is not None:
            yield from _selector(
                path, gate, about.get("params", {}), derived.get("param")
            )
    else:
        yield from _about(raw, path, gate)
    required, stretch = gate["required"], gate.get("stretch")
    for key, value in (("required", required), ("stretch", stretch)):
        if value is not None and not math.isfinite(value):
            yield (*path, key), "expected a finite number"
    if stretch is not None:
        softer = stretch > required if gate["op"] in ("<", "<=") else stretch < required
        if softer:
            yield (
                (*path, "stretch"),
                f"expected a level stricter than required ({required}), found {stretch}",
            )


def _rule(raw: Raw, path: tuple[str | int, ...], rule: Raw) -> Iterator[Located]:
    benchmark = raw["benchmarks"].get(rule["benchmark"])
    if benchmark is None:
        yield (
            (*path, "benchmark"),
            _one_of("benchmarks", raw["benchmarks"], rule["benchmark"]),
        )
        return
    if "metric" in rule and rule["metric"] not in benchmark["metrics"]:
        yield (
            (*path, "metric"),
            _one_of("metrics", benchmark["metrics"], rule["metric"]),
        )
    others = [arm for arm in benchmark["arms"] if arm != benchmark["reference"]]
    for arm in rule["arms"]:
        if arm not in others:
            yield (*path, "arms"), _one_of("arms other than the reference", others, arm)
    params = benchmark.get("params", {})
    for name, values in rule.get("params", {}).items():
        if name not in params:
            yield (*path, "params", name), _one_of("params", params, name)
            continue
        reasons = [why_not(params[name], value, declared_only=True) for value in values]
        if reason := next(filter(None, reasons), None):
            yield (*path, "params", name), reason


def _policy(raw: Raw, path: tuple[str | int, ...], policy: Raw) -> Iterator[Located]:
    yield from _about(raw, path, policy, arms=("arm", "reference"))
    if policy["reference"] in (policy["arm"], policy.get("cold_arm")):
        yield (*path, "reference"), f"expected another arm than {policy['reference']}"
    for key in ("benchmark", "cold_benchmark"):
        benchmark = raw["benchmarks"].get(policy.get(key, ""))
        if benchmark is None:
            if key in policy and key != "benchmark":
                yield (
                    (*path, key),
                    _one_of("benchmarks", raw["benchmarks"], policy[key]),
                )
            continue
        param = benchmark.get("params", {}).get(policy["param"])
        if param is None or param["kind"] != "int":
            ints = [
                name
                for name, one in benchmark.get("params", {}).items()
                if one["kind"] == "int"
            ]
            yield (
                (*path, "param"),
                _one_of(f"int params of {policy[key]}", ints, policy["param"]),
            )
        if key == "cold_benchmark":
            own = {
                "benchmark": policy[key],
                **{name: policy[name] for name in ("arm", "reference", "metric")},
            }
            own["arm"] = policy.get("cold_arm", policy["arm"])
            yield from _about(raw, path, own, arms=("arm", "reference"))
    knobs = [
        name for name, knob in raw.get("knobs", {}).items() if knob["kind"] == "int"
    ]
    for key, value in policy["in_force"].items():
        if isinstance(value, str) and value not in knobs:
            yield (*path, "in_force", key), _one_of("int knobs", knobs, value)


def _twice(table: str, entries: list[Raw]) -> Iterator[Located]:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        name = entry.get("name")
        if name is None:
            continue
        if name in seen:
            yield (
                (table, index, "name"),
                f"expected a name not used before, found {name!r} again",
            )
        seen.add(name)


def _one_of(what: str, names: Iterable[str], found: object) -> str:
    return f"expected one of the {what} ({', '.join(names) or 'there are none'}), found {found!r}"


def _span(low: int | None, high: int | None) -> str:
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} to {high}"
