"""A manifest is read whole or refused with every contradiction named, and the schema for editors agrees."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from paceline_contract.gate_levels import (
    applicable_gates,
    feature_dependent_gates,
    requirements_text,
    unmet_requirements,
)
from paceline_contract.manifest_reader import ManifestError, read_toml
from paceline_contract.manifest_reader import read_manifest as read

PROTOCOL = Path(__file__).resolve().parents[2] / "native" / "protocol"
SUITES = sorted(PROTOCOL.parent.glob("*/suite.toml"))

GOOD: dict[str, Any] = {
    "schema": 1,
    "suite": {"name": "s", "title": "S"},
    "workloads": [
        {"name": "w", "host": {"build": [], "artifacts": ["w"], "run": ["w"]}}
    ],
    "benchmarks": {
        "b": {
            "title": "B",
            "workload": "w",
            "arms": ["old", "new"],
            "reference": "old",
            "params": {"n": {"kind": "int", "values": [1, 2]}},
            "metrics": {"time": {"unit": "ns", "direction": "lower"}},
        }
    },
    "knobs": {
        "slow": {
            "kind": "int",
            "default": 0,
            "minimum": 0,
            "maximum": 9,
            "demonstration": True,
            "description": "x",
        }
    },
}


RULE = {
    "name": "r",
    "kind": "arm_slower",
    "benchmark": "b",
    "arms": ["old"],
    "text": "t",
}
GATE = {"benchmark": "b", "arm": "old", "metric": "time", "op": "<", "required": 1}

DERIVED = {
    "name": "d",
    "kind": "slope",
    "benchmark": "b",
    "metric": "time",
    "arm": "old",
}
GROWTH = {
    "name": "d",
    "kind": "slope",
    "benchmark": "b",
    "metric": "time",
    "param": "n",
}


def changed_manifest(path: str, value: Any) -> dict[str, Any]:
    made = copy.deepcopy(GOOD)
    *parents, last = path.split(".")
    place = made
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return made


def with_host(**host: Any) -> dict[str, Any]:
    workload = GOOD["workloads"][0]
    return {**workload, "host": {**workload["host"], **host}}


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.parent.name)
def test_our_own_suites_are_accepted(path: Path) -> None:
    assert (
        read(tomllib.loads(path.read_text(encoding="utf-8"))).suite.name
        == path.parent.name
    )


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("schema", 2, "schema"),
        ("suite.name", "Bad Name", "suite.name"),
        ("unknown", 1, "unknown"),
        ("benchmarks.b.reference", "none", "benchmarks.b.reference"),
        (
            "benchmarks.b.workload",
            "none",
            "benchmarks.b.workload: expected one of the workloads (w)",
        ),
        (
            "benchmarks.b.aliases",
            ["b"],
            "aliases[0]: expected a name that no other benchmark has or had, found 'b'",
        ),
        (
            "benchmarks.b.aliases",
            ["was", "was"],
            "aliases[1]: expected a name that no other benchmark has or had, found 'was'",
        ),
        (
            "benchmarks.b.arm_aliases",
            {"newest": ["was"]},
            "arm_aliases.newest: expected one of the arms (old, new), found 'newest'",
        ),
        (
            "benchmarks.b.arm_aliases",
            {"new": ["old"]},
            "arm_aliases.new[0]: expected a name that no other arm has or had, found 'old'",
        ),
        (
            "benchmarks.b.arm_aliases",
            {"new": ["was"], "old": ["was"]},
            "arm_aliases.old[0]: expected a name that no other arm has or had, found 'was'",
        ),
        (
            "benchmarks.b.witnesses",
            {"newest": {"counter": "calls"}},
            "witnesses.newest: expected one of the arms (old, new), found 'newest'",
        ),
        (
            "benchmarks.b.witnesses",
            {"new": {"counter": "items"}},
            "witnesses.new.counter: expected a counter of its own",
        ),
        (
            "benchmarks.b.witnesses",
            {"new": {"counter": "calls", "build": "engine"}},
            "witnesses.new: expected counter or build, not both",
        ),
        (
            "benchmarks.b.witnesses",
            {"new": {"build": "engine"}},
            "witnesses.new: 'values' is missing",
        ),
        (
            "benchmarks.b.witnesses",
            {"new": {"counter": "calls", "values": ["a"]}},
            "witnesses.new.values: unknown name; only build has it",
        ),
        ("benchmarks.b.arms", ["old", "old"], "twice"),
        ("benchmarks.b.margin_percent", -1, "margin_percent"),
        ("benchmarks.b.metrics", {}, "metrics"),
        ("benchmarks.b.metrics.time.unit", "s", "unit"),
        (
            "benchmarks.b.params.n.values",
            ["a"],
            'n.values: expected a whole number, found "a"',
        ),
        ("benchmarks.b.params.n.minimum", 2, "n.values: expected at least 2, found 1"),
        ("benchmarks.b.params.n.kind", "regex", "pattern"),
        ("workloads", [{"name": "w"}], "host or android"),
        ("workloads", [with_host(artifacts=["a/w", "b/w"])], "'w' twice"),
        ("workloads", [with_host(artifacts=["../w"])], "without '..'"),
        ("workloads", [with_host(abis=["x86"])], "only android has it"),
        ("workloads", [with_host(env={"1": "x"})], "environment variable"),
        ("suite.title", "x" * 2001, "1 to 2000 characters"),
        ("suite.title", "\0", "without U+0000"),
        ("suite.name", "line\n", "suite.name"),
        ("benchmarks.b.arms", [f"a{n}" for n in range(65)], "at most 64, found 65"),
        ("benchmarks.b.margin_percent", float("nan"), "from 0"),
        ("benchmarks.b.margin_percent", True, "from 0 to 100, found true"),
        ("benchmarks.b.params.n.values", [1, 1], "no value twice, found 1"),
        ("benchmarks.b.params.n.values", [1.0], "found 1.0"),
        ("benchmarks.b.params.n.values", [True], "found true"),
        ("benchmarks.b.params.n.values", [2**63], "from 0"),
        ("benchmarks.b.params.n.pattern", "a", "unknown name for the kind int"),
        ("knobs.slow.values", ["a"], "unknown name for the kind int"),
        ("knobs.slow.maximum", None, "'maximum' is missing"),
        ("knobs.slow.slows", {"benchmark": "b", "arm": "x"}, "arms (old, new)"),
        ("expected", {}, "'checks' is missing"),
        (
            "rules",
            [RULE],
            "rules[0].arms: expected one of the arms other than the reference (new), found 'old'",
        ),
        (
            "gates",
            [{**GATE, "arm": "x"}],
            "gates[0].arm: expected one of the arms (old, new), found 'x'",
        ),
        (
            "gates",
            [{"derived": "d", "op": "<", "required": 1}],
            "gates[0].derived: expected one of the derived metrics (there are none)",
        ),
        ("gates", [{**GATE, "required": float("nan")}], "finite"),
        ("gates", [{**GATE, "measured": float("inf")}], "gates[0].measured"),
        ("gates", [{**GATE, "requires": "avx2"}], "gates[0].requires"),
        (
            "gates",
            [{**GATE, "requires": ["AVX-512"]}],
            "gates[0].requires[0]: expected a CPU feature as /proc/cpuinfo names it",
        ),
        ("gates", [{**GATE, "requires": ["avx2", "avx2"]}], "no value twice"),
        (
            "gates",
            [{**GATE, "requires": ["avx2", "!avx2"]}],
            "gates[0].requires: expected avx2 or !avx2, found both",
        ),
        (
            "gates",
            [{**GATE, "requires": ["avx2"]}, {**GATE, "requires": ["sha_ni"]}],
            "gates[1].requires: expected more or fewer features than gates[0] on the same thing, which needs avx2",
        ),
        ("derived", [DERIVED], "param"),
        (
            "derived",
            [{**DERIVED, "kind": "speedup_between_arms"}],
            "derived[0]: 'base_arm' is missing",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "crossover", "base_arm": "new", "param": "x"}],
            "derived[0].param: expected one of the params (n), found 'x'",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "crossover", "param": "n"}],
            "derived[0]: 'base_arm' is missing",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "share_between_metrics", "part": "x"}],
            "derived[0].part: expected one of the metrics (time), found 'x'",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "share_at_rate"}],
            "'rate_bytes_per_s' is missing",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "share_at_rate", "rate_bytes_per_s": 0}],
            "rate_bytes_per_s",
        ),
        (
            "derived",
            [{**GROWTH, "arms": ["old", "x"]}],
            "derived[0].arms: expected one of the arms (old, new), found 'x'",
        ),
        ("derived", [{**GROWTH, "arms": ["old", "old"]}], "twice"),
        ("derived", [{**GROWTH, "arms": []}], "arms"),
        (
            "derived",
            [{**GROWTH, "arm": "old", "arms": ["new"]}],
            "arm or arms, not both",
        ),
        ("derived", [GROWTH], "derived[0]: expected arm or arms"),
        (
            "derived",
            [{**GROWTH, "arm": "old"}, {**GROWTH, "arms": ["new"]}],
            "derived[1].name: expected a name not used before, found 'd' again",
        ),
        (
            "workloads",
            [{**GOOD["workloads"][0], "checks": ["c", "c"]}],
            'workloads[0].checks: expected no value twice, found "c" again',
        ),
        ("workloads", [{**GOOD["workloads"][0], "checks": [""]}], "checks"),
        (
            "rules",
            [{**RULE, "arms": ["new"], "metric": "x"}],
            "rules[0].metric: expected one of the metrics (time), found 'x'",
        ),
        (
            "presets",
            {"p": {"title": "P", "benchmarks": ["x"]}},
            "presets.p.benchmarks: expected one of the benchmarks (b), found 'x'",
        ),
        (
            "presets",
            {"p": {"title": "P", "params": {"m": [1]}}},
            "presets.p.params.m: expected one of the params (n), found 'm'",
        ),
        (
            "presets",
            {"p": {"title": "P", "params": {"n": [3]}}},
            "presets.p.params.n: expected one of 1, 2, found 3",
        ),
        ("presets", {"p": {"title": "P", "launches": 0}}, "launches"),
        ("presets", {"p": {}}, "title"),
    ],
)
def test_a_contradiction_is_named(path: str, value: Any, says: str) -> None:
    with pytest.raises(ManifestError, match=re.escape(says)):
        read(changed_manifest(path, value))


def test_a_share_is_of_one_unit_and_of_a_threads_time_in_ns() -> None:
    made = changed_manifest(
        "benchmarks.b.metrics.size", {"unit": "bytes", "direction": "lower"}
    )
    share = {**DERIVED, "kind": "share_between_metrics", "part": "size"}
    with pytest.raises(
        ManifestError,
        match="part: expected a metric in ns, the unit of time; found bytes",
    ):
        read({**made, "derived": [share]})
    at_rate = {
        **DERIVED,
        "kind": "share_at_rate",
        "metric": "size",
        "rate_bytes_per_s": 1,
    }
    with pytest.raises(
        ManifestError,
        match="metric: expected a metric in ns: a share of a thread's time",
    ):
        read({**made, "derived": [at_rate]})


def test_a_gate_picks_an_arm_its_derived_metric_has() -> None:
    gate = {"derived": "d", "op": "<", "required": 1}
    several = {**GOOD, "derived": [{**GROWTH, "arms": ["old", "new"]}]}
    read({**several, "gates": [gate, {**gate, "arm": "new"}]})
    one = {**GOOD, "derived": [{**GROWTH, "arm": "old"}]}
    read({**one, "gates": [{**gate, "arm": "old"}]})
    for made in (several, one):
        with pytest.raises(
            ManifestError,
            match=r"gates\[0\]\.arm: expected one of the arms of d \(.*\), found 'x'",
        ):
            read({**made, "gates": [{**gate, "arm": "x"}]})
    with pytest.raises(ManifestError, match=r"the arms of d \(old\), found 'new'"):
        read({**one, "gates": [{**gate, "arm": "new"}]})


def test_levels_of_one_gate_name_more_features_or_exclude_each_other() -> None:
    """A level for every CPU, one for AVX2, two for AVX-512 of two makers: at most one applies to any CPU."""
    classes = [
        [],
        ["avx2"],
        ["avx2", "avx512bw", "sse4a"],
        ["avx2", "avx512bw", "!sse4a"],
    ]
    gates = [{**GATE, "requires": names} for names in classes]
    elsewhere = {**GATE, "arm": "new", "requires": ["sha_ni"]}
    manifest = read({**GOOD, "gates": [*gates, elsewhere]})
    assert [gate.requires for gate in manifest.gates] == [*classes, ["sha_ni"]]
    for features, applying in (
        ((), {0}),
        (("avx2",), {1}),
        (("avx2", "avx512bw"), {3}),
        (("avx2", "avx512bw", "sse4a", "sha_ni"), {2, 4}),
    ):
        assert applicable_gates(manifest.gates, features) == applying
    assert feature_dependent_gates(manifest.gates) == {0, 1, 2, 3, 4}
    assert unmet_requirements(manifest.gates[3], ("avx2", "sse4a")) == [
        "avx512bw",
        "!sse4a",
    ]
    assert requirements_text(["avx512bw", "!sse4a"]) == "avx512bw, no sse4a"


def test_two_levels_a_cpu_may_both_have_are_refused_at_their_line() -> None:
    text = "\n".join(VECTORS["base"])
    level = """
[[gates]]
benchmark = "work"
arm = "quick"
metric = "time"
op = "<"
required = 5
requires = ["NAME"]
"""
    text += level.replace("NAME", "avx2") + level.replace("NAME", "sha_ni")
    with pytest.raises(ManifestError) as caught:
        read_toml(text.encode())
    (problem,) = caught.value.problems
    assert text.splitlines()[(problem.line or 0) - 1] == 'requires = ["sha_ni"]'


def test_benchmarks_and_arms_may_declare_former_names() -> None:
    made = changed_manifest("benchmarks.b.aliases", ["was_b"])
    made["benchmarks"]["b"]["arm_aliases"] = {"new": ["jni", "native"]}
    known = read(made).benchmarks["b"]
    assert (known.aliases, known.arm_aliases) == (["was_b"], {"new": ["jni", "native"]})


def test_a_preset_may_request_any_value_that_a_run_may() -> None:
    ranged = changed_manifest("benchmarks.b.params.n.maximum", 100)
    preset = {
        "title": "First look",
        "benchmarks": ["b"],
        "params": {"n": [2, 77]},
        "launches": 3,
    }
    assert read({**ranged, "presets": {"first_look": preset}}).presets[
        "first_look"
    ].params == {"n": [2, 77]}


def test_a_rule_watches_the_primary_metric_unless_it_names_one() -> None:
    made = changed_manifest(
        "benchmarks.b.metrics.calls", {"unit": "count", "direction": "lower"}
    )
    rule = {**RULE, "arms": ["new"]}
    plain = read({**made, "rules": [rule]})
    assert plain.rule_for("b", "new", "time", {}) is not None
    assert plain.rule_for("b", "new", "calls", {}) is None
    named = read({**made, "rules": [{**rule, "metric": "calls"}]})
    assert named.rule_for("b", "new", "time", {}) is None
    assert named.rule_for("b", "new", "calls", {}) is not None


def test_a_rule_may_watch_some_points_only() -> None:
    rule = {**RULE, "arms": ["new"], "params": {"n": [2]}}
    manifest = read({**GOOD, "rules": [rule]})
    assert manifest.rule_for("b", "new", "time", {"n": 1}) is None
    assert manifest.rule_for("b", "new", "time", {"n": 2}) is not None
    with pytest.raises(
        ManifestError, match=r"rules\[0\]\.params\.n: expected one of 1, 2, found 3"
    ):
        read({**GOOD, "rules": [{**rule, "params": {"n": [3]}}]})
    with pytest.raises(
        ManifestError,
        match=r"rules\[0\]\.params\.m: expected one of the params \(n\), found 'm'",
    ):
        read({**GOOD, "rules": [{**rule, "params": {"m": [3]}}]})


def test_a_knob_may_belong_to_one_workload() -> None:
    assert (
        read(changed_manifest("knobs.slow.workload", "w")).knobs["slow"].workload == "w"
    )
    with pytest.raises(
        ManifestError,
        match=r"knobs\.slow\.workload: expected one of the workloads \(w\), found 'x'",
    ):
        read(changed_manifest("knobs.slow.workload", "x"))


def test_a_stored_knob_that_slows_an_arm_unmarked_stays_readable_and_a_file_is_refused_at_its_line() -> (
    None
):
    text = "\n".join(VECTORS["base"]).replace(
        'description = "Which engine."',
        """description = "Which engine."
[knobs.quick_slowdown_percent]
kind = "int"
default = 0
minimum = 0
maximum = 9
demonstration = false
description = "Quick is slowed.\"""",
    )
    assert "quick_slowdown_percent" in read(tomllib.loads(text)).knobs
    with pytest.raises(ManifestError, match="add demonstration = true") as caught:
        read_toml(text.encode())
    (problem,) = caught.value.problems
    assert text.splitlines()[(problem.line or 0) - 1] == "demonstration = false"


def test_every_arm_but_the_reference_has_a_rule_when_none_is_given() -> None:
    rules = read(GOOD).arm_rules()
    assert [(rule.benchmark, rule.arms, rule.fails_run) for rule in rules] == [
        ("b", ["new"], True)
    ]


@pytest.mark.parametrize(
    ("knobs", "is_one"), [({}, False), ({"slow": 0}, False), ({"slow": 3}, True)]
)
def test_a_run_with_a_demonstration_knob_off_its_default_is_a_demonstration(
    knobs: dict[str, int | str], is_one: bool
) -> None:
    assert read(GOOD).is_demonstration(knobs) is is_one


@pytest.mark.parametrize(
    ("declared", "host", "device"), [(None, 2.0, 3.0), (1.5, 1.5, 1.5), (0, 0.0, 0.0)]
)
def test_a_benchmark_without_a_margin_has_that_of_its_kind_of_target(
    declared: float | None, host: float, device: float
) -> None:
    raw = copy.deepcopy(GOOD)
    if declared is not None:
        raw["benchmarks"]["b"]["margin_percent"] = declared
    manifest = read(raw)
    assert manifest.benchmarks["b"].margin_percent == host
    assert manifest.on("device").benchmarks["b"].margin_percent == device


VECTORS: dict[str, Any] = json.loads(
    (PROTOCOL / "vectors" / "manifests.golden.json").read_text(encoding="utf-8")
)
SCHEMA = Draft202012Validator(
    json.loads((PROTOCOL / "suite.schema.json").read_text(encoding="utf-8"))
)


@pytest.mark.parametrize(
    "vector", VECTORS["manifests"], ids=lambda vector: vector["says"]
)
def test_golden_manifests_are_accepted_or_refused_as_declared(
    vector: dict[str, Any],
) -> None:
    text = "\n".join(VECTORS["base"]) + "\n"
    for old, new in vector["replace"]:
        assert old in text
        text = text.replace(old, new, 1)
    if vector["ok"]:
        manifest, raw = read_toml(text.encode())
        assert read(raw) == manifest
        assert SCHEMA.is_valid(raw)
        return
    with pytest.raises(ManifestError) as caught:
        read_toml(text.encode())
    assert all(problem.line for problem in caught.value.problems)


def test_the_reader_refuses_what_the_schema_refuses() -> None:
    """Each value of a manifest is removed, and replaced by values of other types and beyond limits."""
    whole = tomllib.loads("\n".join(VECTORS["base"]) + "\n")
    refused = 0
    for place in all_paths(whole):
        for value in (
            LEAVE_OUT,
            True,
            -1,
            1.5,
            2**63,
            "",
            "\n",
            "\0",
            "x" * 2001,
            [],
            ["x"],
            [f"x{number}" for number in range(1001)],
            {"x": 1},
        ):
            made = with_value(whole, place, value)
            if not SCHEMA.is_valid(made):
                refused += 1
                with pytest.raises(ManifestError):
                    read(made)
    assert refused > 100


LEAVE_OUT = object()


def all_paths(
    value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside `value`."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value[:1])
    for key, item in items:
        yield (*path, key)
        yield from all_paths(item, (*path, key))


def with_value(whole: Any, path: Sequence[Any], value: Any) -> Any:
    made = copy.deepcopy(whole)
    place = made
    for part in path[:-1]:
        place = place[part]
    if value is LEAVE_OUT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return made
