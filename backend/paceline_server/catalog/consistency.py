"""What can be wrong with one table of a suite manifest, each fault a sentence that begins with its place.

Place: under `manifest`, which knows the whole and asks table by table. Deliberately sees one table and the
benchmark it is about, never the manifest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from paceline_contract.patterns import pattern_problem

from paceline_server.catalog.parts import Benchmark, Derived, Knob, Param, Policy
from paceline_server.catalog.schemas import ParamValue

BETWEEN_ARMS = frozenset({"overhead_between_arms", "speedup_between_arms", "crossover"})
"""Kinds that pair two arms by block."""
FROM_TO = frozenset({"ratio_across_param", "degradation_across_param"})
"""Kinds that compare two values of a param."""
ACROSS_PARAM = frozenset({*FROM_TO, "slope", "crossover"})
"""Kinds that consume a param: they have one value for all its values."""


def benchmark_faults(
    where: str, benchmark: Benchmark, workloads: list[str]
) -> Iterator[str]:
    if benchmark.workload not in workloads:
        yield f"{where}.workload: there is no workload {benchmark.workload!r}"
    if benchmark.reference not in benchmark.arms:
        yield f"{where}.reference: {benchmark.reference!r} is none of its arms"
    if benchmark.device_reference not in (None, *benchmark.arms):
        yield f"{where}.device_reference: {benchmark.device_reference!r} is none of its arms"
    yield from twice(f"{where}.arms", benchmark.arms)
    for key, param in benchmark.params.items():
        yield from _param_faults(f"{where}.params.{key}", param)


def _param_faults(where: str, param: Param) -> Iterator[str]:
    kind = int if param.kind == "int" else str
    if not all(isinstance(value, kind) for value in param.values):
        yield f"{where}.values: expected {'whole numbers' if kind is int else 'text'}"
    if param.kind == "regex" and param.pattern is None:
        yield f"{where}.pattern: expected for a param of kind regex"
    if (
        param.pattern is not None
        and (why := pattern_problem(param.pattern)) is not None
    ):
        yield f"{where}.pattern: {why}"
    low, high = (
        param.minimum or 0,
        2**63 - 1 if param.maximum is None else param.maximum,
    )
    if low > high:
        yield f"{where}: minimum is above maximum"
    if any(
        isinstance(value, int) and not low <= value <= high for value in param.values
    ):
        yield f"{where}.values: expected values from {low} to {high}"


def points_faults(
    known: Sequence[Mapping[str, Param]],
    where: str,
    points: Mapping[str, Sequence[ParamValue]],
) -> Iterator[str]:
    for key, values in points.items():
        declared = [params[key] for params in known if key in params]
        if not declared:
            yield f"{where}: no benchmark it names has a param {key!r}"
        for value in values:
            if not all(_takes(param, value) for param in declared):
                yield f"{where}.params.{key}: {value!r} is not a declared value"


def selector_faults(
    where: str,
    selector: Mapping[str, ParamValue],
    benchmark: Benchmark,
    consumed: str | None,
) -> Iterator[str]:
    """A selector names params and values there are; a param that a metric consumes selects nothing."""
    for key, value in selector.items():
        if key not in benchmark.params:
            yield f"{where}: there is no param {key!r}"
        elif key == consumed:
            yield f"{where}.params.{key}: is what the derived metric is computed over"
        elif not _takes(benchmark.params[key], value):
            yield f"{where}.params.{key}: {value!r} is not a declared value"


def _takes(param: Param, value: ParamValue) -> bool:
    """Whether a run may ask this of a param; a pattern is looked at when a run asks."""
    if value in param.values:
        return True
    if (
        param.kind == "int"
        and isinstance(value, int)
        and (param.minimum, param.maximum) != (None, None)
    ):
        low, high = (
            param.minimum or 0,
            2**63 - 1 if param.maximum is None else param.maximum,
        )
        return low <= value <= high
    return param.kind == "regex" and isinstance(value, str)


def knob_faults(where: str, knob: Knob, workloads: Sequence[str]) -> Iterator[str]:
    if knob.workload is not None and knob.workload not in workloads:
        yield f"{where}: there is no workload {knob.workload!r}"
    if knob.kind == "enum":
        fits = knob.default in (knob.values or [])
    else:
        low, high = (
            knob.minimum or 0,
            2**63 - 1 if knob.maximum is None else knob.maximum,
        )
        fits = isinstance(knob.default, int) and low <= knob.default <= high
    if not fits:
        yield f"{where}.default: {knob.default!r} is not one of its values"


def decides_by(
    where: str, policy: Policy, name: str, benchmark: Benchmark
) -> Iterator[str]:
    if (
        policy.param not in benchmark.params
        or benchmark.params[policy.param].kind != "int"
    ):
        yield f"{where}: {name} has no int param {policy.param!r}"


def cold_faults(where: str, policy: Policy, cold: Benchmark) -> Iterator[str]:
    for arm in (policy.cold_arm or policy.arm, policy.reference):
        if arm not in cold.arms:
            yield f"{where}: it has no arm {arm!r}"
    if policy.metric not in cold.metrics:
        yield f"{where}: it has no metric {policy.metric!r}"


def derived_faults(where: str, derived: Derived, benchmark: Benchmark) -> Iterator[str]:
    if (derived.arm is None) is (derived.arms is None):
        yield f"{where}: expected either arm or arms"
    yield from twice(f"{where}: arms", derived.every_arm)
    if derived.kind in BETWEEN_ARMS and derived.base_arm not in benchmark.arms:
        yield f"{where}: base_arm must be an arm of {derived.benchmark}"
    if derived.base_arm in derived.every_arm:
        yield f"{where}: base_arm is compared with itself"
    if derived.kind == "share_between_metrics":
        if derived.part not in benchmark.metrics:
            yield f"{where}: part must be a metric of {derived.benchmark}"
        elif derived.metric in benchmark.metrics:
            units = [
                benchmark.metrics[name].unit for name in (derived.metric, derived.part)
            ]
            if units[0] != units[1]:
                yield f"{where}: metric is in {units[0]}, part in {units[1]}; a share needs one unit"
    if derived.kind == "share_at_rate":
        if derived.rate_bytes_per_s is None:
            yield f"{where}: rate_bytes_per_s is missing"
        if (
            derived.metric in benchmark.metrics
            and benchmark.metrics[derived.metric].unit != "ns"
        ):
            yield f"{where}: a share of a thread's time needs a metric in ns"
    if derived.kind in ACROSS_PARAM:
        yield from _across_faults(where, derived, benchmark)


def _across_faults(where: str, derived: Derived, benchmark: Benchmark) -> Iterator[str]:
    if derived.param not in benchmark.params:
        yield f"{where}: param must be a param of {derived.benchmark}"
    elif (
        derived.kind in ("slope", "crossover")
        and benchmark.params[derived.param].kind != "int"
    ):
        yield f"{where}: a {derived.kind} needs an int param"
    if derived.kind in FROM_TO:
        if derived.from_ is None or derived.to is None:
            yield f"{where}: from and to are missing"
        elif derived.param in benchmark.params:
            for value in (derived.from_, derived.to):
                if not _takes(benchmark.params[derived.param], value):
                    yield f"{where}: {value!r} is not a declared value of {derived.param}"


def twice(where: str, names: list[str]) -> Iterator[str]:
    if len(set(names)) != len(names):
        yield f"{where}: a name is used twice"
