"""What only base or only head declares is named, and keeps no pull request from passing."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import Analysis
from paceline_server.detect.facts import JobFacts, JobIdentity, JobRequest
from paceline_server.detect.judge import judge
from paceline_server.detect.pull_requests import analyse_pull_request
from paceline_server.detect.revisions import Revision, analyse_revisions
from paceline_server.detect.side_differences import NEW
from paceline_server.stats.samples import CaseSamples
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    CHECK,
    passed_checks,
    revision_bench_cases,
    suite_manifest,
    write_ab_directory,
)

pytestmark = pytest.mark.shapes("embedded")

SAME = {1000: 0.0, 2000: 0.0}
WHO = JobIdentity("sorting", "a" * 40, "1" * 64, "lab-1", None)
Raw = dict[str, Any]
Cases = list[CaseSamples]


def declare(**fields: Any) -> Raw:
    """The suite with other fields of its benchmark."""
    manifest = suite_manifest(rules=[], knobs={})
    manifest["benchmarks"][BENCHMARK] |= fields
    return manifest


def beside(name: str) -> Raw:
    """The suite with another benchmark beside its own."""
    manifest = declare()
    manifest["benchmarks"][name] = copy.deepcopy(manifest["benchmarks"][BENCHMARK])
    return manifest


def rename(benchmark: str, *aliases: str, arms: dict[str, str] | None = None) -> Raw:
    """The suite with its benchmark, and perhaps its arms, under other names."""
    manifest = declare()
    own = manifest["benchmarks"].pop(BENCHMARK)
    known = arms or {}
    own["arms"] = [known.get(arm, arm) for arm in own["arms"]]
    own["reference"] = own["arms"][0]
    if aliases:
        own["aliases"] = list(aliases)
        own["arm_aliases"] = {new: [old] for old, new in known.items()}
    manifest["benchmarks"][benchmark] = own
    return manifest


ONE_VALUE = {"batch": {"kind": "int", "values": [1000]}}
TWO_METRICS = {
    "time": {"unit": "ns", "direction": "lower"},
    "space": {"unit": "bytes", "direction": "lower"},
}


def measured(cases: Cases, manifest: Raw) -> Cases:
    """What a revision with this manifest measures: each case of each of its benchmarks, under its own names."""
    found = []
    for name, benchmark in manifest["benchmarks"].items():
        for case in cases:
            index = ("fallback", "native").index(case.arm)
            arms = benchmark["arms"]
            names = [arms[index]] if index < len(arms) else []
            names += arms[2:] if index == 1 else []
            if case.params["batch"] in benchmark["params"]["batch"]["values"]:
                found += [replace(case, benchmark=name, arm=arm) for arm in names]
    return found


def analyse(
    base: Raw,
    head: Raw,
    effects: dict[int, float] | None = None,
    request: JobRequest | None = None,
    judge_by: Callable[..., Analysis] = analyse_revisions,
) -> Analysis:
    sides = revision_bench_cases(1, effects or SAME)
    old, new = (
        Revision(
            commit,
            commit[0] * 64,
            JobFacts(cases=measured(cases, manifest), checks=passed_checks(range(5))),
            read_manifest(manifest),
        )
        for commit, cases, manifest in zip(
            ("f" * 40, WHO.revision), sides, (base, head), strict=True
        )
    )
    return judge_by(read_manifest(head), old, new, WHO, request=request)


@pytest.mark.parametrize(
    ("base", "head", "added", "removed"),
    [
        (declare(), beside("search"), ["search"], []),
        (beside("search"), declare(), [], ["search"]),
        (
            declare(),
            declare(arms=["fallback", "native", "vector"]),
            [f"{BENCHMARK} vector"],
            [],
        ),
        (declare(), declare(arms=["fallback"]), [], [f"{BENCHMARK} native"]),
        (declare(params=ONE_VALUE), declare(), [f"{BENCHMARK} batch=2000"], []),
        (declare(), declare(params=ONE_VALUE), [], [f"{BENCHMARK} batch=2000"]),
        (declare(), declare(metrics=TWO_METRICS), [f"{BENCHMARK} space"], []),
        (declare(metrics=TWO_METRICS), declare(), [], [f"{BENCHMARK} space"]),
        (beside("old_one"), beside("new_one"), ["new_one"], ["old_one"]),
    ],
)
@pytest.mark.parametrize("judge_by", [analyse_revisions, analyse_pull_request])
def test_what_one_side_has_is_named_and_the_rest_passes(
    base: Raw,
    head: Raw,
    added: Sequence[str],
    removed: Sequence[str],
    judge_by: Callable[..., Analysis],
) -> None:
    analysis = analyse(base, head, judge_by=judge_by)
    assert analysis.verdict == "pass", analysis.reason
    assert (analysis.report.added, analysis.report.removed) == (added, removed)
    for what, names in (("new in head", added), ("removed in head", removed)):
        assert (f"{what}: {', '.join(names)}" in analysis.reason) == bool(names)
    new = [row for row in analysis.report.comparisons if row.reason == NEW]
    assert {row.verdict for row in new} <= {"not_applicable"}
    assert bool(new) == bool([name for name in added if not name.endswith("space")])


def expect(
    of_suite: Sequence[str], of_workload: Sequence[str] = (), **fields: Any
) -> Raw:
    """The suite with these correctness checks."""
    manifest = declare() | {"expected": {"checks": list(of_suite)}, **fields}
    manifest["workloads"][0]["checks"] = list(of_workload)
    return manifest


def derive(*arms: str) -> Raw:
    """The suite with a metric derived for these arms."""
    growth = {
        "name": "growth",
        "kind": "degradation_across_param",
        "benchmark": BENCHMARK,
        "metric": "time",
        "param": "batch",
        "from": 1000,
        "to": 2000,
    }
    return expect([CHECK], derived=[growth | {"arms": list(arms)}] if arms else [])


@pytest.mark.parametrize(
    ("base", "head", "removed"),
    [
        (expect([CHECK]), expect([], [CHECK]), []),
        (expect([CHECK]), expect([]), [f"check {CHECK}"]),
        (expect([CHECK]), expect([CHECK]), []),
        (derive("native"), derive("native", "fallback"), []),
        (derive("native", "fallback"), derive(), ["derived metric growth"]),
        (
            derive("native", "fallback"),
            derive("native"),
            ["derived metric growth of fallback"],
        ),
    ],
)
@pytest.mark.parametrize("judge_by", [analyse_revisions, analyse_pull_request])
def test_what_head_no_longer_expects_is_named(
    base: Raw, head: Raw, removed: list[str], judge_by: Callable[..., Analysis]
) -> None:
    analysis = analyse(base, head, judge_by=judge_by)
    assert analysis.report.removed == removed
    sentence = f"removed in head: {', '.join(removed)}"
    assert (sentence in analysis.reason) == bool(removed), analysis.reason


@pytest.mark.parametrize(
    ("base", "head", "name", "arm"),
    [
        (declare(), rename("order", BENCHMARK), "order", "native"),
        (rename("order", BENCHMARK), declare(), BENCHMARK, "native"),
        (
            declare(),
            rename("order", BENCHMARK, arms={"native": "fast", "fallback": "plain"}),
            "order",
            "fast",
        ),
        (
            declare(),
            rename(BENCHMARK, "never_seen", arms={"native": "fast"}),
            BENCHMARK,
            "fast",
        ),
    ],
)
def test_a_renamed_benchmark_or_arm_is_compared_under_the_name_of_head(
    base: Raw, head: Raw, name: str, arm: str
) -> None:
    analysis = analyse(base, head, {1000: 0.061, 2000: 0.0})
    assert analysis.verdict == "fail"
    assert analysis.reason.startswith(f"{name} batch=1000: {arm} at head is ")
    assert (analysis.report.added, analysis.report.removed) == ([], [])
    both = {(row.benchmark, row.side) for row in analysis.report.measurements}
    assert both == {(name, "base"), (name, "head")}


def test_a_rename_without_an_alias_compares_nothing_and_names_both() -> None:
    analysis = analyse(declare(), rename("order"))
    assert analysis.verdict == "inconclusive"
    assert analysis.reason == (
        "the two revisions have no requested benchmark in common; new in head: order; "
        f"removed in head: {BENCHMARK}"
    )


def test_what_was_not_asked_for_is_not_named() -> None:
    asked = JobRequest(benchmarks=[BENCHMARK], params={"batch": [1000]})
    analysis = analyse(beside("old_one"), beside("new_one"), {1000: 0.0}, asked)
    assert (analysis.report.added, analysis.report.removed) == ([], [])
    assert analysis.reason == "head is not slower than base in 2 comparisons"


def test_a_check_that_head_adds_is_not_expected_of_base() -> None:
    head = declare() | {"expected": {"checks": ["sorted", "stable"]}}
    checks = [*passed_checks(range(5))]
    more = [replace(check, name="stable") for check in checks]
    sides = revision_bench_cases(1, SAME)
    old = Revision(
        "f" * 40, "2" * 64, JobFacts(sides[0], checks), read_manifest(declare())
    )
    new = Revision(WHO.revision, "1" * 64, JobFacts(sides[1], [*checks, *more]))
    assert analyse_revisions(read_manifest(head), old, new, WHO).verdict == "pass"


def test_a_recording_of_two_commits_is_judged_by_both_manifests(tmp_path: Path) -> None:
    sides = revision_bench_cases(1, SAME)
    head = rename("order", BENCHMARK)
    named = (list(sides[0]), measured(list(sides[1]), head))
    write_ab_directory(tmp_path, named, manifest=head)
    path = tmp_path / "run.json"
    run = json.loads(path.read_text())
    run["base"]["manifest"] = beside("search")
    run["options"]["benchmarks"] = []
    path.write_text(json.dumps(run))
    out = io.StringIO()
    assert judge(tmp_path, out) == 0, out.getvalue()
    assert "removed    search (only base declares it)" in out.getvalue().splitlines()
    assert out.getvalue().splitlines()[-1] == (
        "verdict: PASS - head is not slower than base in 4 comparisons; removed in head: search"
    )
