"""From criterion's names to a suite's: which benchmark, arm and params a series is of, and their manifest.

Place: pure, under `service`. Invariants: criterion's group is the benchmark, its function the arm, its value
the one param; two groups never share a name. Where the announced suite has a benchmark of that name with one
param, the param is called and typed as there, and that suite's gates on measured times apply to every
imported arm: a level says what the work may take, whoever does it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from paceline_server.catalog.manifest import Manifest
from paceline_server.catalog.schemas import ParamValue
from paceline_server.imports.criterion.schemas import SeriesIn

METRIC = "time"
NO_ARM, NO_SUITE = "criterion", "criterion"
PARAM = "value"
MAX_NAME = 64


@dataclass(frozen=True)
class Case:
    """A series under the names it is stored with; `id` is what criterion calls it."""

    id: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    said: SeriesIn


@dataclass
class Names:
    """Texts → names as manifests have them, each text its own."""

    taken: dict[str, str] = field(default_factory=dict)

    def of(self, text: str) -> str:
        """`Ed25519 / Sign` → `ed25519_sign`; a second text that would be called so is `ed25519_sign_2`."""
        if text not in self.taken:
            plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
            plain = (plain if plain[:1].isalpha() else f"b_{plain}".rstrip("_"))[:MAX_NAME]
            name, number = plain, 1
            while name in self.taken.values():
                number += 1
                name = f"{plain[: MAX_NAME - len(str(number)) - 1]}_{number}"
            self.taken[text] = name
        return self.taken[text]


def cases_of(series: Sequence[SeriesIn], suite: Manifest | None) -> list[Case]:
    """The series of one baseline, in order."""
    groups, arms = Names(), dict[str, Names]()
    found = []
    for one in series:
        benchmark = groups.of(one.benchmark)
        arm = arms.setdefault(benchmark, Names()).of(one.arm or NO_ARM)
        parts = [part for part in (one.benchmark, one.arm, one.value) if part]
        found.append(Case("/".join(parts), benchmark, arm, _params(one.value, benchmark, suite), one))
    return found


def _params(value: str | None, benchmark: str, suite: Manifest | None) -> dict[str, ParamValue]:
    if not value:
        return {}
    declared = None if suite is None else suite.benchmarks.get(benchmark)
    if declared is None or len(declared.params) != 1:
        return {PARAM: value}
    ((name, param),) = declared.params.items()
    return {name: int(value) if param.kind == "int" and re.fullmatch("[0-9]{1,18}", value) else value}


def manifest_of(cases: Sequence[Case], name: str | None, suite: Manifest | None) -> dict[str, Any]:
    """The manifest that an imported run freezes: what was measured, and the levels it is held against."""
    benchmarks: dict[str, Any] = {}
    for case in cases:
        one = benchmarks.setdefault(case.benchmark, _benchmark(case))
        if case.arm not in one["arms"]:
            one["arms"].append(case.arm)
        for key, value in case.params.items():
            kind = "int" if isinstance(value, int) else "enum"
            values = one["params"].setdefault(key, {"kind": kind, "values": []})["values"]
            if value not in values:
                values.append(value)
    return {
        "schema": 1,
        "suite": {"name": name or NO_SUITE, "title": "Imported from criterion"},
        "workloads": [{"name": "criterion", "host": {
            "build": [], "artifacts": ["target/criterion"], "run": ["cargo", "bench"],
        }}],
        "benchmarks": benchmarks,
        "gates": [] if suite is None else list(_gates(benchmarks, suite)),
    }  # fmt: skip


def _benchmark(case: Case) -> dict[str, Any]:
    return {
        "title": case.said.benchmark,
        "workload": "criterion",
        "arms": [],
        "reference": case.arm,
        "params": {},
        "metrics": {METRIC: {"unit": "ns", "direction": "lower"}},
    }


def _gates(benchmarks: dict[str, Any], suite: Manifest) -> Iterator[dict[str, Any]]:
    """Levels of the suite on times of these benchmarks, for every imported arm, where the point was
    imported."""
    for gate in suite.gates:
        known = benchmarks.get(gate.benchmark or "")
        if known is None or gate.metric != METRIC:
            continue
        params = known["params"]
        if any(
            name not in params or value not in params[name]["values"] for name, value in gate.params.items()
        ):
            continue
        for arm in known["arms"]:
            own = gate.model_dump(exclude_none=True, exclude={"name", "absolute"})
            yield {**own, "arm": arm}
