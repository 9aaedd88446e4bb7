"""Looks up what the manifest of a run declares: benchmarks, arms, params, metrics and knobs.

`jobs` checks requests against it and ingest checks every sample, so look-ups are fast and cached per run. The
cache cannot be stale, because `Run.manifest` changes once at most, when an agent reports that of the commit.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from paceline_contract.events import ParamValue
from paceline_contract.manifest import Knob, Param
from paceline_contract.manifest_reader import read_manifest
from paceline_contract.manifest_rules import value_problem
from sqlalchemy.orm import Session

from paceline_server.store.tables.jobs import Run

Metric = tuple[str, str, str]
"""(name, unit, direction)."""

MAX_TEXT_VALUE = 200
"""Characters of a param or knob that is given as text, a limit on the work of matching a pattern."""

DEVICE_SECTION = {"host": "host", "device": "android"}
"""The section of a workload for each kind of target."""


def value_fault(declared: Param | Knob, value: object) -> str | None:
    """Return why `value` is not allowed for this param or knob, or None."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return "expected a whole number or text"
    if isinstance(value, str) and len(value) > MAX_TEXT_VALUE:
        return f"text longer than {MAX_TEXT_VALUE} characters"
    return value_problem(declared, value)


@dataclass(frozen=True, slots=True)
class BenchmarkDeclaration:
    name: str
    workload: str
    arms: tuple[str, ...]
    reference: str
    params: Mapping[str, Param]
    metrics: Mapping[str, tuple[str, str]]
    """Metric → (unit, direction)."""

    def refuses_params(self, params: Mapping[str, object]) -> tuple[str, str] | None:
        """Return (param, reason) of the first param that is missing, unknown or has an undeclared value, else None."""
        for name, value in params.items():
            if name not in self.params:
                return (
                    name,
                    f"{self.name} has no such param; it has {_join_names(self.params)}",
                )
            if (why := value_fault(self.params[name], value)) is not None:
                return name, why
        absent = next((name for name in self.params if name not in params), None)
        return (
            None
            if absent is None
            else (absent, f"every sample of {self.name} has this param")
        )


@dataclass(frozen=True, slots=True)
class SuiteDeclaration:
    """The declarations of one manifest."""

    suite: str
    benchmarks: Mapping[str, BenchmarkDeclaration]
    knobs: Mapping[str, Knob]
    launch_timeouts: Mapping[tuple[str, str], float]
    """(workload, `host` | `android`) → seconds one launch may take."""
    known: dict[tuple[str, str, Metric, tuple[tuple[str, ParamValue], ...]], None] = (
        field(default_factory=dict)
    )
    """Series that are known to be declared, so that a repeated look-up is cheap."""

    def runs_on(self, benchmark: str, target_kind: str) -> bool:
        """Return whether the benchmark's workload has a section for this kind of target."""
        return (
            self.benchmarks[benchmark].workload,
            DEVICE_SECTION[target_kind],
        ) in self.launch_timeouts

    def launch_timeout_s(self, benchmarks: Iterable[str], target_kind: str) -> float:
        """Return the longest launch timeout among the workloads of `benchmarks` that run on this kind of target."""
        section = DEVICE_SECTION[target_kind]
        keys = {
            (self.benchmarks[name].workload, section)
            for name in benchmarks
            if name in self.benchmarks
        }
        return max((self.launch_timeouts.get(key, 0.0) for key in keys), default=0.0)

    def refuses_series(
        self, benchmark: str, arm: str, metric: Metric, params: Mapping[str, ParamValue]
    ) -> tuple[str, str] | None:
        """Return (field, reason) if the manifest does not declare such samples, else None; declared series are cached."""
        key = (benchmark, arm, metric, tuple(params.items()))
        if key in self.known:
            return None
        refused = self.refuses_case(benchmark, arm, [metric], params)
        if refused is None and len(self.known) < MAX_KNOWN:
            self.known[key] = None
        return refused

    def refuses_case(
        self,
        name: str,
        arm: str,
        metrics: Iterable[Metric],
        params: Mapping[str, ParamValue],
    ) -> tuple[str, str] | None:
        """Return (field, reason) if the manifest does not declare such a case, else None."""
        benchmark = self.benchmarks.get(name)
        if benchmark is None:
            return (
                "benchmark",
                f"{name[:80]!r} is not declared; {self.suite} has {_join_names(self.benchmarks)}",
            )
        if arm not in benchmark.arms:
            return (
                "arm",
                f"{arm[:80]!r} is not declared; {name} has {_join_names(benchmark.arms)}",
            )
        for metric, unit, direction in metrics:
            declared = benchmark.metrics.get(metric)
            if declared is None:
                return (
                    "metric",
                    f"{metric[:80]!r} is not declared; {name} has {_join_names(benchmark.metrics)}",
                )
            if unit != declared[0]:
                return (
                    "unit",
                    f"{unit!r}, but {name} declares {metric} in {declared[0]}",
                )
            if direction != declared[1]:
                return (
                    "direction",
                    f"{direction!r}, but {name} declares {metric} as {declared[1]} is better",
                )
        refused = benchmark.refuses_params(params)
        return None if refused is None else (f"params.{refused[0]}", refused[1])


MAX_KNOWN = 10_000
"""Series cached per manifest; params with a pattern have any number of values."""


def _join_names(names: Iterable[object]) -> str:
    texts = [str(name) for name in names]
    return (
        ", ".join(texts[:12])
        + (f" and {len(texts) - 12} more" if len(texts) > 12 else "")
        or "none"
    )


def suite_declaration(raw: dict[str, Any]) -> SuiteDeclaration:
    """Return the declarations of a manifest as `Run.manifest` stores it. Raises `ManifestError`."""
    manifest = read_manifest(raw)
    benchmarks = {
        name: BenchmarkDeclaration(
            name=name,
            workload=about.workload,
            arms=tuple(about.arms),
            reference=about.reference,
            params=about.params,
            metrics={
                metric: (declared.unit, declared.direction)
                for metric, declared in about.metrics.items()
            },
        )
        for name, about in manifest.benchmarks.items()
    }
    timeouts: dict[tuple[str, str], float] = {}
    for workload in manifest.workloads:
        for section, steps in (("host", workload.host), ("android", workload.android)):
            if steps is not None:
                timeouts[workload.name, section] = float(steps.launch_timeout_s)
    return SuiteDeclaration(manifest.suite.name, benchmarks, manifest.knobs, timeouts)


MAX_PLANS = 256
"""Runs whose plans are cached; the least recently used one is dropped first."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The declarations of a run and whether it has two sides."""

    declared: SuiteDeclaration
    two_sided: bool = False
    """An A/B run: every sample names its side."""
    declared_at_base: SuiteDeclaration | None = None
    """The declarations at the base. Until an agent has reported them (None), those of the head count."""

    def declared_at(self, side: str | None) -> SuiteDeclaration:
        """Return the declarations against which samples of a side are checked."""
        return (
            self.declared
            if side != "base" or self.declared_at_base is None
            else self.declared_at_base
        )


_plans: OrderedDict[tuple[str, bool], RunPlan] = OrderedDict()
_lock = threading.Lock()


def plan_of(session: Session, run_id: str) -> RunPlan:
    """Return the declarations of an existing run, cached."""
    run = session.get_one(Run, run_id)
    key = (run_id, run.manifest_of_commit)
    with _lock:
        plan = _plans.get(key)
        if plan is not None:
            _plans.move_to_end(key)
            return plan
    base = run.base_manifest
    plan = RunPlan(
        suite_declaration(run.manifest),
        run.compares_revisions,
        None if base is None else suite_declaration(base),
    )
    with _lock:
        _plans[key] = plan
        while len(_plans) > MAX_PLANS:
            _plans.popitem(last=False)
    return plan
