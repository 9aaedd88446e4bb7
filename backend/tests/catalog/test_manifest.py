"""The typed manifest accepts what the schema accepts and refuses contradictions in words."""

from __future__ import annotations

import copy
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from paceline_server.catalog.manifest import ManifestError, digest, read
from paceline_server.catalog.service import suite_out
from paceline_server.store.tables.catalog import Suite
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE, suite_manifest

SUITES = sorted((Path(__file__).resolve().parents[3] / "native").glob("*/suite.toml"))

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


def changed(path: str, value: Any) -> dict[str, Any]:
    made = copy.deepcopy(GOOD)
    *parents, last = path.split(".")
    place = made
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return made


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
        ("benchmarks.b.workload", "none", "no workload"),
        ("benchmarks.b.aliases", ["b"], "benchmarks.b: is an alias"),
        ("benchmarks.b.aliases", ["was", "was"], "aliases: a name is used twice"),
        ("benchmarks.b.arm_aliases", {"newest": ["was"]}, "no arm 'newest'"),
        ("benchmarks.b.arm_aliases", {"new": ["old"]}, "'old' is an arm of b still"),
        (
            "benchmarks.b.arm_aliases",
            {"new": ["was"], "old": ["was"]},
            "arm_aliases: a name is used twice",
        ),
        ("benchmarks.b.arms", ["old", "old"], "twice"),
        ("benchmarks.b.margin_percent", -1, "margin_percent"),
        ("benchmarks.b.metrics", {}, "metrics"),
        ("benchmarks.b.metrics.time.unit", "s", "unit"),
        ("benchmarks.b.params.n.values", ["a"], "whole numbers"),
        ("benchmarks.b.params.n.minimum", 2, "from 2"),
        ("benchmarks.b.params.n.kind", "regex", "pattern"),
        ("workloads", [{"name": "w"}], "host or android"),
        ("rules", [RULE], "rule r"),
        ("gates", [{**GATE, "arm": "x"}], "no arm"),
        ("gates", [{"derived": "d", "op": "<", "required": 1}], "no derived"),
        ("gates", [{**GATE, "required": float("nan")}], "finite"),
        ("derived", [DERIVED], "param"),
        (
            "derived",
            [{**DERIVED, "kind": "speedup_between_arms"}],
            "base_arm must be an arm",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "crossover", "base_arm": "new", "param": "x"}],
            "param of b",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "crossover", "param": "n"}],
            "base_arm must be an arm",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "share_between_metrics", "part": "x"}],
            "part must be a metric",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "share_at_rate"}],
            "rate_bytes_per_s is missing",
        ),
        (
            "derived",
            [{**DERIVED, "kind": "share_at_rate", "rate_bytes_per_s": 0}],
            "rate_bytes_per_s",
        ),
        ("derived", [{**GROWTH, "arms": ["old", "x"]}], "b has no arm 'x'"),
        ("derived", [{**GROWTH, "arms": ["old", "old"]}], "twice"),
        ("derived", [{**GROWTH, "arms": []}], "arms"),
        ("derived", [{**GROWTH, "arm": "old", "arms": ["new"]}], "either arm or arms"),
        ("derived", [GROWTH], "either arm or arms"),
        (
            "derived",
            [{**GROWTH, "arm": "old"}, {**GROWTH, "arms": ["new"]}],
            "derived: a name is used twice",
        ),
        (
            "workloads",
            [{**GOOD["workloads"][0], "checks": ["c", "c"]}],
            "workload w: checks: a name is used",
        ),
        ("workloads", [{**GOOD["workloads"][0], "checks": [""]}], "checks"),
        ("rules", [{**RULE, "arms": ["new"], "metric": "x"}], "no metric 'x'"),
        (
            "presets",
            {"p": {"title": "P", "benchmarks": ["x"]}},
            "presets.p: there is no benchmark 'x'",
        ),
        ("presets", {"p": {"title": "P", "params": {"m": [1]}}}, "param 'm'"),
        (
            "presets",
            {"p": {"title": "P", "params": {"n": [3]}}},
            "3 is not a declared value",
        ),
        ("presets", {"p": {"title": "P", "launches": 0}}, "launches"),
        ("presets", {"p": {}}, "title"),
    ],
)
def test_a_contradiction_is_named(path: str, value: Any, says: str) -> None:
    with pytest.raises(ManifestError, match=says):
        read(changed(path, value))


def test_a_share_is_of_one_unit_and_of_a_threads_time_in_ns() -> None:
    made = changed("benchmarks.b.metrics.size", {"unit": "bytes", "direction": "lower"})
    share = {**DERIVED, "kind": "share_between_metrics", "part": "size"}
    with pytest.raises(ManifestError, match="metric is in ns, part in bytes"):
        read({**made, "derived": [share]})
    at_rate = {
        **DERIVED,
        "kind": "share_at_rate",
        "metric": "size",
        "rate_bytes_per_s": 1,
    }
    with pytest.raises(ManifestError, match="needs a metric in ns"):
        read({**made, "derived": [at_rate]})


def test_a_gate_picks_an_arm_its_derived_metric_has() -> None:
    gate = {"derived": "d", "op": "<", "required": 1}
    several = {**GOOD, "derived": [{**GROWTH, "arms": ["old", "new"]}]}
    read({**several, "gates": [gate, {**gate, "arm": "new"}]})
    one = {**GOOD, "derived": [{**GROWTH, "arm": "old"}]}
    read({**one, "gates": [{**gate, "arm": "old"}]})
    for made in (several, one):
        with pytest.raises(
            ManifestError, match=r"gates\[0\]\.arm: the derived metric d has no arm 'x'"
        ):
            read({**made, "gates": [{**gate, "arm": "x"}]})
    with pytest.raises(ManifestError, match="d has no arm 'new'"):
        read({**one, "gates": [{**gate, "arm": "new"}]})


def test_a_benchmark_and_its_arms_may_say_what_they_were_called_before() -> None:
    made = changed("benchmarks.b.aliases", ["was_b"])
    made["benchmarks"]["b"]["arm_aliases"] = {"new": ["jni", "native"]}
    known = read(made).benchmarks["b"]
    assert (known.aliases, known.arm_aliases) == (["was_b"], {"new": ["jni", "native"]})


def test_a_preset_may_ask_for_any_value_a_run_may_ask_for() -> None:
    ranged = changed("benchmarks.b.params.n.maximum", 100)
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
    made = changed(
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
        ManifestError, match=r"rule r\.params\.n: 3 is not a declared value"
    ):
        read({**GOOD, "rules": [{**rule, "params": {"n": [3]}}]})
    with pytest.raises(
        ManifestError, match="rule r: no benchmark it names has a param 'm'"
    ):
        read({**GOOD, "rules": [{**rule, "params": {"m": [3]}}]})


def test_a_knob_may_belong_to_one_workload() -> None:
    assert read(changed("knobs.slow.workload", "w")).knobs["slow"].workload == "w"
    with pytest.raises(ManifestError, match=r"knobs\.slow: there is no workload 'x'"):
        read(changed("knobs.slow.workload", "x"))


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


def test_the_digest_ignores_the_order_of_keys() -> None:
    assert digest(GOOD) == digest(dict(reversed(GOOD.items())))
    assert digest(GOOD) != digest(changed("suite.title", "T"))


@pytest.mark.parametrize(
    ("own", "reference", "margin"),
    [
        ({}, "fallback", 3.0),
        ({"margin_percent": 2.0}, "fallback", 2.0),
        ({"device_reference": "native", "margin_percent": 5.0}, "native", 5.0),
    ],
)
def test_a_suite_says_what_its_benchmarks_are_compared_with_on_devices(
    own: dict[str, Any], reference: str, margin: float
) -> None:
    raw = suite_manifest()
    del raw["benchmarks"][BENCHMARK]["margin_percent"]
    raw["benchmarks"][BENCHMARK] |= own
    (shown,) = suite_out(
        Suite(
            name=SUITE,
            repository="r",
            manifest_path="m",
            manifest=raw,
            manifest_hash="h",
            commit="c",
            branch=None,
            updated_at=datetime.now(UTC),
        ),
        None,
    ).benchmarks
    assert (shown.reference, shown.margin_percent) == (
        "fallback",
        own.get("margin_percent", 2.0),
    )
    assert (shown.device_reference, shown.device_margin_percent) == (reference, margin)
    judged = read(raw)
    assert judged.on("host") == judged
    assert judged.on("device").benchmarks[BENCHMARK].other_arms == [
        arm for arm in ("fallback", "native") if arm != reference
    ]
