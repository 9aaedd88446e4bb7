"""From criterion's names to a suite's: which benchmark, arm and params a series is of, and their manifest.

Place: pure, under `service`. Invariants: criterion's group is the benchmark, its function the arm, its value
the one param, or several as `batch=256,keys=16`; two groups never share a name. Where the announced suite has
a benchmark of that name with these params, they are called and typed as there, and that suite's gates on
measured times apply to every imported arm: a level says what the work may take, whoever does it.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from paceline_server.catalog.manifest import Manifest
from paceline_server.catalog.parts import Benchmark
from paceline_server.catalog.schemas import ParamValue
from paceline_server.imports.criterion.schemas import SeriesIn

METRIC = "time"
NO_ARM, NO_SUITE = "criterion", "criterion"
PARAM = "value"
MAX_NAME = 64
DIGITS = 6
WHOLE = "0|[1-9][0-9]{0,17}"


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
    texts: dict[str, str] = field(default_factory=dict)
    """The same the other way round."""

    def of(self, text: str) -> str:
        """`Ed25519 / Sign` → `ed25519_sign`. A second text that would be called so gets six digits of its own
        digest after it: no count, which would depend on how many others there are."""
        if text not in self.taken:
            plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
            plain = (plain if plain[:1].isalpha() else f"b_{plain}".rstrip("_"))[
                :MAX_NAME
            ]
            digest = hashlib.sha256(text.encode()).hexdigest()
            name, digits = plain, DIGITS
            while self.texts.get(name, text) != text:
                name = f"{plain[: MAX_NAME - digits - 1]}_{digest[:digits]}"
                digits += 1
            self.taken[text], self.texts[name] = name, text
        return self.taken[text]


def cases_of(series: Sequence[SeriesIn], suite: Manifest | None) -> list[Case]:
    """The series of one baseline, in order."""
    groups, arms = Names(), dict[str, Names]()
    values: dict[str, set[str]] = defaultdict(set)
    for one in series:
        values[groups.of(one.benchmark)].add(one.value or "")
    found = []
    for one in series:
        benchmark = groups.of(one.benchmark)
        arm = arms.setdefault(benchmark, Names()).of(one.arm or NO_ARM)
        parts = [part for part in (one.benchmark, one.arm, one.value) if part]
        params = _params(
            one.value,
            values[benchmark],
            None if suite is None else suite.benchmarks.get(benchmark),
        )
        found.append(Case("/".join(parts), benchmark, arm, params, one))
    return found


def _params(
    value: str | None, beside: Collection[str], declared: Benchmark | None
) -> dict[str, ParamValue]:
    """A value as the declared params have it. Numbers only where all of the benchmark's values are some, as
    people write them: one param has one kind, and `01000` is not `1000`."""
    if not value:
        return {}
    if declared is None or not declared.params:
        return {PARAM: value}
    several = len(declared.params) > 1
    points = {
        one: _named(one) if several else dict.fromkeys(declared.params, one)
        for one in beside
    }
    if any(point.keys() != declared.params.keys() for point in points.values()):
        return {PARAM: value}
    whole = {
        name: param.kind == "int"
        and all(re.fullmatch(WHOLE, point[name]) for point in points.values())
        for name, param in declared.params.items()
    }
    return {
        name: int(points[value][name]) if whole[name] else points[value][name]
        for name in whole
    }


def _named(value: str) -> dict[str, str]:
    """`batch=256,keys=16`, as `--case` writes params. Whatever is no such list has no names."""
    pairs = [part.partition("=") for part in value.split(",")]
    return {name: text for name, _, text in pairs if text}


def manifest_of(
    cases: Sequence[Case], name: str | None, suite: Manifest | None
) -> dict[str, Any]:
    """The manifest that an imported run freezes: what was measured, and the levels it is held against."""
    benchmarks: dict[str, Any] = {}
    for case in cases:
        one = benchmarks.setdefault(case.benchmark, _benchmark(case))
        if case.arm not in one["arms"]:
            one["arms"].append(case.arm)
        for key, value in case.params.items():
            kind = "int" if isinstance(value, int) else "enum"
            values = one["params"].setdefault(key, {"kind": kind, "values": []})[
                "values"
            ]
            if value not in values:
                values.append(value)
    return {
        "schema": 1,
        "suite": {"name": name or NO_SUITE, "title": "Imported from criterion"},
        "workloads": [
            {
                "name": "criterion",
                "host": {
                    "build": [],
                    "artifacts": ["target/criterion"],
                    "run": ["cargo", "bench"],
                },
            }
        ],
        "benchmarks": benchmarks,
        "gates": [] if suite is None else list(_gates(benchmarks, suite)),
    }


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
            name not in params or value not in params[name]["values"]
            for name, value in gate.params.items()
        ):
            continue
        for arm in known["arms"]:
            own = gate.model_dump(exclude_none=True, exclude={"name", "absolute"})
            yield {**own, "arm": arm}
