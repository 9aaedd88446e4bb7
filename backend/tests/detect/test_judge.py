"""`judge`: exit codes, the agreed JSON, the table, and errors with advice."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paceline_contract.outputs import BRACKETS
from paceline_server.detect.judge import judge, list_undecided_in
from paceline_server.stats.voids import VoidLimits
from paceline_server.testing.sorting_suite import (
    bench_cases,
    stream_events,
    suite_manifest,
    write_directory,
)

FASTER = {1000: -0.5, 2000: -0.6}
SLOWER = {1000: 0.126, 2000: -0.6}
HEAD = {"suite", "revision", "artifact_hash", "target", "started_at"}


def _judge(directory: Path, **options: Any) -> tuple[int, str]:
    out = io.StringIO()
    return judge(directory, out, **options), out.getvalue()


@pytest.mark.parametrize(
    ("effects", "launches", "code"), [(FASTER, 5, 0), (SLOWER, 5, 2), (FASTER, 2, 3)]
)
def test_exit_codes_of_the_three_verdicts(
    tmp_path: Path, effects: dict[int, float], launches: int, code: int
) -> None:
    write_directory(tmp_path, bench_cases(1, effects, launches=launches))
    assert _judge(tmp_path)[0] == code


def test_the_table_says_direction_interval_and_verdict(tmp_path: Path) -> None:
    write_directory(tmp_path, bench_cases(1, SLOWER))
    _, text = _judge(tmp_path)
    assert "batch=1000" in text
    assert "% slower (99.8 % interval: " in text
    assert "% faster (99.8 % interval: " in text
    assert "sorted ok" in text
    assert (
        text.rstrip()
        .splitlines()[-1]
        .startswith("verdict: FAIL - sort_batch batch=1000: native is 12.")
    )
    assert max(len(line) for line in text.splitlines()) < 200


def test_a_benchmark_of_several_metrics_and_params_is_one_table_per_metric(
    tmp_path: Path,
) -> None:
    manifest = suite_manifest()
    benchmark = manifest["benchmarks"]["sort_batch"]
    benchmark["params"]["order"] = {"kind": "enum", "values": ["random"]}
    benchmark["metrics"]["copied"] = {"unit": "ns", "direction": "lower"}
    cases = [
        replace(case, params={**case.params, "order": "random"})
        for case in bench_cases(1, FASTER)
    ]
    write_directory(tmp_path, cases, manifest)
    for path in tmp_path.glob("launch-*.jsonl"):
        lines = []
        for line in path.read_text().splitlines():
            event = json.loads(line)
            if event["type"] == "case":
                event["metrics"].append(
                    {"name": "copied", "unit": "ns", "direction": "lower"}
                )
            lines.append(json.dumps(event))
            if event["type"] == "samples":
                lines.append(json.dumps({**event, "metric": "copied"}))
        path.write_text("\n".join(lines) + "\n")
    _, text = _judge(tmp_path)
    heads = [line for line in text.splitlines() if line.startswith("sort_batch: ")]
    assert [head.split(",")[0] for head in heads] == [
        "sort_batch: time",
        "sort_batch: copied",
    ]
    columns = [
        line.split()
        for line in text.splitlines()
        if line.split()[:3] == ["batch", "order", "arm"]
    ]
    assert len(columns) == 2
    assert ["1000", "random", "native"] in [
        line.split()[:3] for line in text.splitlines()
    ]
    assert "(pass)" in text, "no rule speaks of the second metric"
    assert text.count(BRACKETS) == 1


def test_a_quick_look_says_insufficient(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "launches": 2,
        "rounds": 5,
        "benchmarks": None,
        "params": {},
        "knobs": {},
    }
    write_directory(
        tmp_path, bench_cases(1, FASTER, launches=2, rounds=5), options=options
    )
    code, text = _judge(tmp_path)
    assert code == 3
    assert (
        "insufficient: 10 blocks in 2 launches; a verdict needs at least 30 blocks in 3 launches"
        in text
    )


def test_the_json_has_exactly_the_agreed_shape(tmp_path: Path) -> None:
    gate = {
        "benchmark": "sort_batch",
        "arm": "native",
        "metric": "time",
        "op": "<=",
        "required": 1e15,
    }
    derived = {
        "name": "extra",
        "kind": "overhead_between_arms",
        "benchmark": "sort_batch",
        "metric": "time",
        "arm": "native",
        "base_arm": "fallback",
    }
    write_directory(
        tmp_path,
        bench_cases(1, SLOWER),
        suite_manifest(gates=[gate], derived=[derived]),
    )
    path = tmp_path / "out.json"
    _judge(tmp_path, json_path=path)
    report = json.loads(path.read_text())
    rows = {
        "checks",
        "measurements",
        "comparisons",
        "derived",
        "gates",
        "audits",
        "unavailable",
        "witnesses",
    }
    assert set(report) == HEAD | rows
    assert (report["audits"], report["unavailable"]) == ([], [])
    fields = {
        name: set(report[name][0])
        for name in ("checks", "measurements", "comparisons", "derived", "gates")
    }
    assert fields == {
        "checks": {"name", "ok", "detail"},
        "measurements": {
            "benchmark",
            "arm",
            "params",
            "metric",
            "unit",
            "direction",
            "launches",
            "n",
            "median",
            "mean",
            "p99",
            "min",
            "max",
            "sd",
        },
        "comparisons": {
            "benchmark",
            "params",
            "metric",
            "arm",
            "reference",
            "launches",
            "blocks",
            "ratio",
            "lower",
            "upper",
            "share_slower",
            "verdict",
            "reason",
        },
        "derived": {
            "name",
            "benchmark",
            "arm",
            "params",
            "value",
            "lower",
            "upper",
            "note",
        },
        "gates": {
            "benchmark",
            "arm",
            "params",
            "metric",
            "statistic",
            "op",
            "level",
            "target",
            "actual",
            "verdict",
            "reason",
        },
    }
    slower = report["comparisons"][0]
    assert slower["ratio"] > 1 > report["comparisons"][1]["ratio"]
    assert slower["lower"] <= slower["ratio"] <= slower["upper"]


def test_a_gate_names_the_engine_that_an_arm_chose(tmp_path: Path) -> None:
    """The reason names the engine of that arm and benchmark only; if launches chose different ones, it names both."""
    gates = [
        {
            "benchmark": "sort_batch",
            "arm": arm,
            "metric": "time",
            "op": "<=",
            "required": 1.0,
        }
        for arm in ("native", "fallback")
    ]
    write_directory(tmp_path, bench_cases(1, FASTER), suite_manifest(gates=gates))

    def lines_of(*engines: str) -> list[str]:
        for number, path in enumerate(sorted(tmp_path.glob("launch-*.jsonl"))):
            start, *rest = path.read_text().splitlines()
            build = {
                "engine.sort_batch.native": engines[number % len(engines)],
                "engine.other.fallback": "x",
            }
            path.write_text(
                "\n".join([json.dumps({**json.loads(start), "build": build}), *rest])
                + "\n"
            )
        code, text = _judge(tmp_path, json_path=tmp_path / "report.json")
        assert code == 2
        assert f"; engine {' or '.join(engines)}" in text, "it says who missed it"
        report = json.loads((tmp_path / "report.json").read_text())
        rows = [gate for gate in report["gates"] if gate["params"]["batch"] == 1000]
        return [gate["reason"].rpartition("]")[2] for gate in rows]

    assert lines_of("portable") == ["; engine portable", ""]
    assert lines_of("portable", "ifma") == ["; engine portable or ifma", ""]


def test_a_failed_crossover_gate_names_the_engine(tmp_path: Path) -> None:
    derived = {
        "name": "reaches",
        "kind": "crossover",
        "benchmark": "sort_batch",
        "metric": "time",
        "arm": "native",
        "base_arm": "fallback",
        "param": "batch",
    }
    gate = {"derived": "reaches", "op": "<=", "required": 2000}
    never = {1000: 0.3, 2000: 0.2}
    write_directory(
        tmp_path, bench_cases(1, never), suite_manifest(gates=[gate], derived=[derived])
    )
    for path in tmp_path.glob("launch-*.jsonl"):
        start, *rest = path.read_text().splitlines()
        build = {"engine.sort_batch.native": "portable"}
        path.write_text(
            "\n".join([json.dumps({**json.loads(start), "build": build}), *rest]) + "\n"
        )
    path = tmp_path / "report.json"
    _judge(tmp_path, json_path=path)
    (row,) = json.loads(path.read_text())["gates"]
    assert (row["actual"], row["verdict"]) == (None, "fail")
    assert row["reason"].endswith("among the measured values; engine portable")


def test_the_table_names_the_arm_of_every_derived_row_and_gate(tmp_path: Path) -> None:
    derived = {
        "name": "growth",
        "kind": "slope",
        "benchmark": "sort_batch",
        "metric": "time",
        "arms": ["native", "fallback"],
        "param": "batch",
    }
    gate = {"derived": "growth", "op": "<=", "required": 1e15}
    write_directory(
        tmp_path,
        bench_cases(1, FASTER),
        suite_manifest(gates=[gate], derived=[derived]),
    )
    path = tmp_path / "out.json"
    _, text = _judge(tmp_path, json_path=path)
    lines = [line.split() for line in text.splitlines()]
    assert [line[2] for line in lines if line[:2] == ["growth", "sort_batch"]] == [
        "native",
        "fallback",
    ]
    gated = [
        line[1] for line in lines if line[:1] == ["sort_batch"] and "growth" in line
    ]
    assert gated == ["native", "fallback"]
    report = json.loads(path.read_text())
    assert [row["arm"] for row in report["derived"]] == ["native", "fallback"]
    assert [row["arm"] for row in report["gates"]] == ["native", "fallback"]


def _two_workloads(**own: Any) -> dict[str, Any]:
    manifest = suite_manifest(expected={"checks": []})
    (sorter,) = manifest["workloads"]
    manifest["workloads"] = [
        {**sorter, **own},
        {**sorter, "name": "hasher", "checks": ["vectors"]},
    ]
    hashing = {
        **manifest["benchmarks"]["sort_batch"],
        "workload": "hasher",
        "params": {},
    }
    manifest["benchmarks"]["hash_batch"] = hashing
    return manifest


def test_checks_of_workloads_that_were_not_requested_are_not_expected(
    tmp_path: Path,
) -> None:
    write_directory(tmp_path, bench_cases(1, FASTER), _two_workloads(checks=["sorted"]))
    code, text = _judge(tmp_path)
    assert code == 0, text
    assert "vectors" not in text


def test_a_job_must_report_the_checks_of_every_requested_workload(
    tmp_path: Path,
) -> None:
    everything: dict[str, Any] = {
        "launches": 5,
        "rounds": 20,
        "benchmarks": None,
        "params": {},
        "knobs": {},
    }
    write_directory(
        tmp_path, bench_cases(1, FASTER), _two_workloads(), options=everything
    )
    code, text = _judge(tmp_path)
    assert code == 3
    reason = "check vectors failed: expected of workload hasher, but no launch of it reported it"
    assert text.rstrip().splitlines()[-1] == f"verdict: INCONCLUSIVE - {reason}"


def test_the_revision_option_overrides_the_directory(tmp_path: Path) -> None:
    write_directory(tmp_path, bench_cases(1, FASTER))
    path = tmp_path / "out.json"
    _judge(tmp_path, json_path=path, revision="abc1234")
    assert json.loads(path.read_text())["revision"] == "abc1234"


def test_the_manifest_option_overrides_the_directory(tmp_path: Path) -> None:
    write_directory(
        tmp_path, bench_cases(1, {1000: 0.05, 2000: 0.05}), manifest={"schema": 1}
    )
    assert _judge(tmp_path)[0] == 1
    toml = tmp_path / "suite.toml"
    toml.write_text(
        'schema = 1\n[suite]\nname = "sorting"\ntitle = "Sorting"\n[[workloads]]\nname = "sorter"\n'
        '[workloads.host]\nbuild = []\nartifacts = ["a"]\nrun = ["a"]\n[benchmarks.sort_batch]\n'
        'title = "Sort"\nworkload = "sorter"\narms = ["fallback", "native"]\nreference = "fallback"\n'
        'margin_percent = 10.0\n[benchmarks.sort_batch.params.batch]\nkind = "int"\nvalues = [1000, 2000]\n'
        '[benchmarks.sort_batch.metrics.time]\nunit = "ns"\ndirection = "lower"\n'
    )
    assert _judge(tmp_path, manifest_path=toml)[0] == 0


def test_a_stream_that_broke_off_is_an_error_with_its_line(tmp_path: Path) -> None:
    cases = bench_cases(1, FASTER)
    write_directory(tmp_path, cases)
    lines = [json.dumps(event) for event in stream_events(cases, 3)]
    (tmp_path / "launch-003.sorter.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    code, text = _judge(tmp_path)
    assert code == 1
    assert (
        text.rstrip()
        .splitlines()[-1]
        .startswith(
            f"verdict: NONE - launch-003.sorter.jsonl line {len(lines)}: truncated"
        )
    )
    assert "INCONCLUSIVE" not in text


def test_a_failed_measurement_is_an_error(tmp_path: Path) -> None:
    failure = {"cause": "workload_crashed", "detail": "SIGSEGV in launch 2"}
    write_directory(tmp_path, bench_cases(1, FASTER), failure=failure)
    code, text = _judge(tmp_path)
    assert code == 1
    assert "workload_crashed: SIGSEGV in launch 2" in text


def test_an_empty_or_foreign_directory_is_an_error_with_advice(tmp_path: Path) -> None:
    code, text = _judge(tmp_path)
    assert code == 1
    assert "paceline run --out DIR" in text
    (tmp_path / "run.json").write_text("{nonsense")
    assert "measure again" in _judge(tmp_path)[1]
    (tmp_path / "run.json").write_text("[]")
    assert _judge(tmp_path)[0] == 1
    (tmp_path / "run.json").write_text("{}")
    assert "--manifest suite.toml" in _judge(tmp_path)[1]


def test_streams_of_another_suite_are_refused(tmp_path: Path) -> None:
    other = suite_manifest(suite={"name": "other", "title": "Other"})
    write_directory(tmp_path, bench_cases(1, FASTER), other)
    code, text = _judge(tmp_path)
    assert code == 1
    assert "is of suite 'sorting'" in text


def test_void_conditions_are_named(tmp_path: Path) -> None:
    conditions = [
        {"phase": "before", "at_ms": 0, "values": {"boot_id": "a"}},
        {"phase": "after", "at_ms": 9, "values": {"boot_id": "b"}},
    ]
    write_directory(tmp_path, bench_cases(1, SLOWER), conditions=conditions)
    code, text = _judge(tmp_path)
    assert code == 3
    assert (
        "undecided  conditions void: the target restarted while it was measuring"
        in text
    )
    assert "    next   Repeat on a host that stays as it is" in text


def test_a_second_batch_is_judged_at_the_second_look(tmp_path: Path) -> None:
    write_directory(tmp_path, bench_cases(1, SLOWER, launches=10))
    code, text = _judge(tmp_path)
    assert code == 2
    assert "in 10" in text


def test_a_demonstration_says_so_first(tmp_path: Path) -> None:
    options = {"launches": 5, "rounds": 20, "knobs": {"slowdown_percent": 50}}
    write_directory(tmp_path, bench_cases(1, SLOWER), options=options)
    assert "DEMONSTRATION" in _judge(tmp_path)[1].splitlines()[2]


@pytest.mark.parametrize(
    ("effects", "launches", "gate_at", "undecided"),
    [
        (FASTER, 2, None, []),
        ({1000: 0.5, 2000: -0.6}, 2, None, []),
        ({1000: -0.02, 2000: -0.6}, 2, None, ["sort_batch"]),
        (FASTER, 1, None, ["sort_batch"]),
        (FASTER, 1, 1.5, ["sort_batch"]),
        (FASTER, 2, 1.5, []),
        (FASTER, 2, 0.5, []),
        (FASTER, 2, 1.11, ["sort_batch"]),
        (FASTER, 3, 1.11, []),
        (FASTER, 3, 0.89, []),
        (FASTER, 3, 1.05, ["sort_batch"]),
        (FASTER, 3, 0.95, ["sort_batch"]),
        (FASTER, 4, 1.05, []),
        (FASTER, 4, 1.02, ["sort_batch"]),
        ({1000: 0.02, 2000: -0.6}, 5, None, ["sort_batch"]),
        (FASTER, 5, None, []),
        ({1000: 0.02, 2000: -0.6}, 15, None, []),
    ],
)
def test_what_is_undecided_between_launches(
    tmp_path: Path,
    effects: dict[int, float],
    launches: int,
    gate_at: float | None,
    undecided: list[str],
) -> None:
    """Both batches must be certain, beyond margin and gate the farther the fewer of the five launches ran."""
    manifest = suite_manifest()
    if gate_at is not None:
        manifest["gates"] = [_gate(op="<", required=_TRUE_NS * gate_at)]
    assert _list_undecided(tmp_path, effects, launches, manifest) == undecided


_TRUE_NS = 1e6
"""What a sample of the native arm takes at batch=1000, give or take what a launch differs."""


def _gate(**of_gate: Any) -> dict[str, Any]:
    gate = {"benchmark": "sort_batch", "arm": "native", "metric": "time"}
    return {**gate, "params": {"batch": 1000}, **of_gate}


def _list_undecided(
    directory: Path,
    effects: dict[int, float],
    launches: int,
    manifest: dict[str, Any],
) -> list[str]:
    """Return what is undecided in a job under way of five launches that differ by no more than 1 %."""
    cases = bench_cases(1, effects, launches=launches)
    level = {case.arm: float(np.median(case.value)) for case in cases[:2]}["native"]
    cases = [replace(case, value=case.value * _TRUE_NS / level) for case in cases]
    write_directory(
        directory,
        cases,
        manifest,
        options={"launches": 5, "rounds": 20, "stop_when_sure": True},
        failure={"cause": "agent_error", "detail": "Interrupted before its end."},
    )
    return list_undecided_in(directory, VoidLimits())


_BETWEEN_ARMS = {"arm": "native", "base_arm": "fallback"}
_ACROSS_BATCHES = {"arm": "native", "param": "batch"}
_ENDS = {"from": 1000, "to": 2000}


@pytest.mark.parametrize(
    ("derived", "op", "sure", "unsure"),
    [
        ({"kind": "speedup_between_arms", **_BETWEEN_ARMS}, ">=", 1.7, 1.95),
        ({"kind": "overhead_between_arms", **_BETWEEN_ARMS}, "<=", -0.4, -0.49),
        ({"kind": "ratio_across_param", **_ACROSS_BATCHES, **_ENDS}, ">=", 1.0, 0.55),
        ({"kind": "slope", **_ACROSS_BATCHES}, ">=", None, -9.0),
        ({"kind": "crossover", **_BETWEEN_ARMS, "param": "batch"}, "<=", None, 1e9),
    ],
)
def test_a_gate_on_a_ratio_stops_early_and_one_on_an_exponent_or_a_place_does_not(
    tmp_path: Path,
    derived: dict[str, Any],
    op: str,
    sure: float | None,
    unsure: float,
) -> None:
    of = {"name": "gain", "benchmark": "sort_batch", "metric": "time", **derived}
    for level, undecided in ((sure, []), (unsure, ["sort_batch"])):
        if level is not None:
            gate = {"derived": "gain", "op": op, "required": level}
            manifest = suite_manifest(derived=[of], gates=[gate])
            effects = {1000: -0.5, 2000: -0.5}
            assert _list_undecided(tmp_path, effects, 2, manifest) == undecided


@pytest.mark.parametrize(
    ("statistic", "undecided"),
    [
        ("mean", []),
        ("p60", []),
        ("p99", ["sort_batch"]),
        ("max", ["sort_batch"]),
        ("sd_percent", ["sort_batch"]),
        ("launch_sd_percent", ["sort_batch"]),
    ],
)
def test_a_gate_on_what_two_launches_do_not_show_has_all_of_them(
    tmp_path: Path, statistic: str, undecided: list[str]
) -> None:
    gate = _gate(op="<", required=1e12, statistic=statistic)
    manifest = suite_manifest(gates=[gate])
    assert _list_undecided(tmp_path, FASTER, 2, manifest) == undecided


def test_a_gate_that_nothing_measures_keeps_no_benchmark_running(
    tmp_path: Path,
) -> None:
    """A metric that no launch sent, and a derived one of which a part was not sent."""
    gate = _gate(metric="inside", op="<", required=9.0)
    share = {"kind": "share_between_metrics", "arm": "native", "part": "inside"}
    of = {"name": "rest", "benchmark": "sort_batch", "metric": "time", **share}
    gates = [gate, {"derived": "rest", "op": "<", "required": 0.5}]
    manifest = suite_manifest(derived=[of], gates=gates)
    inside = {"unit": "ns", "direction": "lower"}
    manifest["benchmarks"]["sort_batch"]["metrics"]["inside"] = inside
    assert _list_undecided(tmp_path, FASTER, 2, manifest) == []


@pytest.mark.parametrize(
    ("effects", "launches", "undecided"),
    [
        (FASTER, 2, ["sort_batch"]),
        (FASTER, 3, []),
        ({1000: 0.5, 2000: 0.6}, 3, []),
        ({1000: 0.5, 2000: -0.6}, 3, ["sort_batch"]),
        ({1000: -0.05, 2000: -0.6}, 3, ["sort_batch"]),
    ],
)
def test_a_usage_policy_has_all_launches_unless_one_side_wins_at_all_of_its_values(
    tmp_path: Path, effects: dict[int, float], launches: int, undecided: list[str]
) -> None:
    """Its advice takes three launches. No rule here demands a verdict of what it compares."""
    policy = {"name": "native", "benchmark": "sort_batch", "arm": "native"}
    about = {"reference": "fallback", "metric": "time", "param": "batch"}
    policies = [{**policy, **about, "in_force": {"minimum": 1000}}]
    (rule,) = suite_manifest()["rules"]
    rule["params"] = {"batch": [2000]}
    manifest = suite_manifest(policies=policies, rules=[rule])
    assert _list_undecided(tmp_path, effects, launches, manifest) == undecided


@pytest.mark.parametrize(
    ("effects", "stops", "code"),
    [(FASTER, True, 0), (FASTER, False, 3), ({1000: -0.02}, True, 3)],
)
def test_a_job_that_stopped_when_sure_is_judged_by_what_it_has_and_says_so(
    tmp_path: Path, effects: dict[int, float], stops: bool, code: int
) -> None:
    write_directory(
        tmp_path,
        bench_cases(1, effects, launches=2),
        options={"launches": 5, "rounds": 20, "stop_when_sure": stops},
    )
    status, text = _judge(tmp_path)
    assert status == code
    said = "1 of 1 benchmark stopped when certain, after 2 of 5 launches"
    assert (said in text.splitlines()[-1]) is (code == 0)
    saved = (
        "Measured 2 of 5 launches (60.0 % of the planned device time saved). "
        "Certain after 2: sort_batch."
    )
    assert (saved in text.splitlines()) is (code == 0)
    assert ("too_few" in text) is not stops


@pytest.mark.parametrize(("planned", "verdict"), [(5, "pass"), (2, "inconclusive")])
def test_two_launches_decide_a_derived_gate_only_where_more_were_planned(
    tmp_path: Path, planned: int, verdict: str
) -> None:
    """Then its benchmark stopped; else two are too few, whether or not the job stops when sure."""
    gain = {"name": "gain", "kind": "speedup_between_arms", "benchmark": "sort_batch"}
    between = {"metric": "time", "arm": "fallback", "base_arm": "native"}
    gate = {"derived": "gain", "op": ">", "required": 0.1}
    write_directory(
        tmp_path,
        bench_cases(1, FASTER, launches=2),
        suite_manifest(derived=[gain | between], gates=[gate]),
        options={"launches": planned, "rounds": 20, "stop_when_sure": True},
    )
    _judge(tmp_path, json_path=tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    assert {row["verdict"] for row in report["gates"]} == {verdict}
