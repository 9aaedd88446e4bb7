"""Two revisions of a job are judged by the rule of arms, with the checks of both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect import service
from paceline_server.detect.analyse import Analysis
from paceline_server.detect.facts import JobFacts, JobIdentity, JobRequest, Look
from paceline_server.detect.revisions import Revision, analyse_revisions
from paceline_server.detect.stopping import list_undecided
from paceline_server.ingest.cases import Case, Check, Conditions
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Comparison
from paceline_server.testing.delivered_jobs import Lab
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    CHECK,
    passed_checks,
    revision_bench_cases,
    suite_manifest,
)
from sqlalchemy import select

pytestmark = pytest.mark.shapes("embedded")

SLOWER = {1000: 0.061, 2000: 0.0}
SAME = {1000: 0.0, 2000: 0.0}
OLD = "f" * 40
WHO = JobIdentity("sorting", "a" * 40, "1" * 64, "lab-1", None)
Alter = Callable[[list[CaseSamples]], list[CaseSamples]]


def _analyse(
    effects: dict[int, float],
    *,
    seed: int = 1,
    manifest: Manifest | None = None,
    base: dict[str, Any] | None = None,
    head: dict[str, Any] | None = None,
    artifacts: tuple[str, str] = ("2" * 64, "1" * 64),
    **options: Any,
) -> Analysis:
    """One A/B job; `base` and `head` replace fields of that side's facts."""
    cases = revision_bench_cases(seed, effects)
    facts = [JobFacts(cases=case, checks=passed_checks(range(5))) for case in cases]
    old, new = (
        Revision(commit, artifact, replace(fact, **(changes or {})))
        for commit, artifact, fact, changes in zip(
            (OLD, WHO.revision), artifacts, facts, (base, head), strict=True
        )
    )
    return analyse_revisions(
        manifest or read_manifest(suite_manifest()), old, new, WHO, **options
    )


def _facts_of_side(side: str, changes: dict[str, Any]) -> dict[str, Any]:
    return {side: changes}


def _rows(analysis: Analysis) -> dict[tuple[str, Any], Any]:
    return {(row.arm, row.params["batch"]): row for row in analysis.report.comparisons}


def test_a_slower_head_fails_where_it_is_slower_and_says_so_in_words() -> None:
    analysis = _analyse(SLOWER)
    rows = _rows(analysis)
    assert {key: row.verdict for key, row in rows.items()} == {
        ("native", 1000): "fail",
        ("native", 2000): "pass",
        ("fallback", 1000): "pass",
        ("fallback", 2000): "pass",
    }
    slow = rows["native", 1000]
    assert (slow.reference, slow.sides, slow.blocks, slow.launches) == (
        "base",
        "revisions",
        100,
        5,
    )
    assert slow.ratio == pytest.approx(1.061, abs=0.01)
    assert slow.words.startswith("head ")
    assert "% slower than base (99.8 % interval: " in slow.words
    assert analysis.verdict == "fail"
    assert analysis.reason.startswith(f"{BENCHMARK} batch=1000: native at head is ")


def test_a_head_that_takes_more_bytes_is_worse_than_its_base() -> None:
    manifest = suite_manifest()
    manifest["benchmarks"][BENCHMARK]["metrics"]["time"]["unit"] = "bytes"

    analysis = _analyse(SLOWER, manifest=read_manifest(manifest))
    assert (
        "% worse than base (99.8 % interval: " in _rows(analysis)["native", 1000].words
    )
    assert "slower" not in _rows(analysis)["native", 1000].words


def test_a_head_that_is_no_slower_passes() -> None:
    analysis = _analyse(SAME)
    assert (analysis.verdict, analysis.extendable) == ("pass", False)
    assert analysis.reason == "head is not slower than base in 4 comparisons"


def test_a_gain_beyond_the_margin_passes_and_is_marked_as_a_gain() -> None:
    analysis = _analyse({1000: -0.08, 2000: 0.0})
    faster = {
        judged.pair.arm + str(judged.pair.group.params["batch"]): judged.pair.notes[
            "faster"
        ]
        for judged in analysis.ruled
    }
    assert analysis.verdict == "pass"
    assert [name for name, known in faster.items() if known] == ["native1000"]


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_failed_check_of_either_side_blocks_every_verdict(side: str) -> None:
    broken = {"checks": [Check(0, CHECK, False, "3 before 2")]}
    analysis = _analyse(SLOWER, **_facts_of_side(side, broken))
    assert analysis.verdict == "inconclusive"
    name = "base: sorted" if side == "base" else "sorted"
    assert analysis.reason == f"check {name} failed: 3 before 2"
    assert {row.verdict for row in analysis.report.comparisons} == {"inconclusive"}


@pytest.mark.parametrize("side", ["base", "head"])
def test_an_expected_check_that_one_side_never_reported_blocks(side: str) -> None:
    assert (
        "no launch reported it"
        in _analyse(SAME, **_facts_of_side(side, {"checks": []})).reason
    )


def test_void_conditions_void_both_sides() -> None:
    hot = [Conditions("during", 1, {"thermal_status": 3})]
    analysis = _analyse(SLOWER, head={"conditions": hot})
    assert (analysis.verdict, len(analysis.voids), analysis.extendable) == (
        "inconclusive",
        1,
        False,
    )


def test_a_busy_host_makes_the_comparison_of_revisions_harder() -> None:
    busy = [Conditions("during", 1, {"psi_cpu_percent": 48.0})]
    little = {1000: 0.04, 2000: 0.0}
    assert _analyse(little).verdict == "fail"
    assert _analyse(little, head={"conditions": busy}).verdict == "inconclusive"
    analysis = _analyse({1000: 0.15, 2000: 0.0}, head={"conditions": busy})
    assert (analysis.verdict, analysis.voids) == ("fail", ())
    assert analysis.reason.endswith(", on a busy host")
    extras = {round(row.extra_percent, 3) for row in analysis.report.comparisons}
    assert extras == {3.045}, "of equal code: exp(0.03) - 1, whatever it waited"


def test_the_same_artifact_that_differs_blames_the_environment_never_the_code() -> None:
    analysis = _analyse(SLOWER, artifacts=("1" * 64, "1" * 64))
    assert analysis.verdict == "fail"
    assert analysis.reason.endswith(
        "both sides are the same artifact: the environment differs, not the code"
    )
    assert analysis.report.base is not None
    assert analysis.report.base.same_artifact
    assert _rows(analysis)["native", 1000].reason.endswith(
        "; both sides are the same artifact"
    )
    assert "same artifact" not in _analyse(SLOWER).reason
    assert _analyse(SAME, artifacts=("1" * 64, "1" * 64)).verdict == "pass"


def test_an_arm_that_only_one_revision_has_is_not_judged_and_blocks_nothing() -> None:
    base, _ = revision_bench_cases(1, SAME)
    without = [case for case in base if case.arm != "native"]
    analysis = _analyse(SAME, base={"cases": without})
    assert analysis.verdict == "pass"
    assert _rows(analysis)["native", 1000].verdict == "not_applicable"
    assert "only the head has native" in _rows(analysis)["native", 1000].reason


def test_an_announced_arm_that_one_side_did_not_measure_is_inconclusive() -> None:
    base, _ = revision_bench_cases(1, SAME)
    without = [case for case in base if case.arm != "native"]
    announcements = [
        Case(
            0,
            BENCHMARK,
            "native",
            {"batch": batch},
            (("time", "ns", "lower"),),
            None,
            None,
        )
        for batch in SAME
    ]
    analysis = _analyse(SAME, base={"cases": without, "announced": announcements})
    assert analysis.verdict == "inconclusive"
    assert "native at base was not measured" in analysis.reason
    unavailable = [
        replace(announced, unavailable="no JVM here") for announced in announcements
    ]
    assert (
        _analyse(SAME, base={"cases": without, "announced": unavailable}).verdict
        == "pass"
    )


def _unavailable_cases(
    benchmark: str = BENCHMARK, arms: tuple[str, ...] = ("native", "fallback")
) -> list[Case]:
    return [
        Case(
            0,
            benchmark,
            arm,
            {"batch": batch},
            (("time", "ns", "lower"),),
            None,
            None,
            "no JVM here",
        )
        for batch in SAME
        for arm in arms
    ]


def test_revisions_without_an_available_arm_do_not_pass_and_give_the_reason() -> None:
    nothing = {"cases": [], "announced": _unavailable_cases()}
    analysis = _analyse(SAME, base=nothing, head=nothing)
    assert analysis.verdict == "inconclusive"
    assert (
        analysis.reason
        == f"nothing was measured: no arm of {BENCHMARK} is available here: no JVM here"
    )


@pytest.mark.parametrize("side", ["base", "head"])
def test_the_side_without_measurements_is_named(side: str) -> None:
    announced = _analyse(
        SAME, **_facts_of_side(side, {"cases": [], "announced": _unavailable_cases()})
    )
    why = f"no arm of {BENCHMARK} is available here: no JVM here"
    assert announced.reason == f"nothing was measured at {side}: {why}"
    silent = _analyse(SAME, **_facts_of_side(side, {"cases": []}))
    assert (silent.verdict, silent.reason) == (
        "inconclusive",
        f"nothing was measured at {side}",
    )
    other = "head" if side == "base" else "base"
    both = _analyse(
        SAME,
        **_facts_of_side(side, {"cases": []}),
        **_facts_of_side(other, {"cases": [], "announced": _unavailable_cases()}),
    )
    assert sorted(both.blockers) == sorted(
        [f"nothing was measured at {side}", f"nothing was measured at {other}: {why}"]
    )


def _with_jvm_arm() -> Manifest:
    manifest = suite_manifest()
    manifest["benchmarks"]["jvm_only"] = {
        **manifest["benchmarks"][BENCHMARK],
        "title": "Needs a JVM",
    }
    return read_manifest(manifest)


def test_a_benchmark_without_any_arm_here_is_named_beside_those_that_are_not_slower() -> (
    None
):
    without_jvm = {"announced": _unavailable_cases("jvm_only")}
    analysis = _analyse(
        SAME, manifest=_with_jvm_arm(), base=without_jvm, head=without_jvm
    )
    held = "head is not slower than base in 4 comparisons"
    assert (analysis.verdict, analysis.reason) == (
        "pass",
        f"{held}; no arm of jvm_only is available here: no JVM here",
    )
    assert (
        "jvm_only"
        not in _analyse(
            SLOWER, manifest=_with_jvm_arm(), base=without_jvm, head=without_jvm
        ).reason
    )


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_benchmark_of_which_one_side_has_no_arm_is_named_with_that_side(
    side: str,
) -> None:
    announced_arms = [
        replace(announced, unavailable=None)
        for announced in _unavailable_cases("jvm_only")
    ]
    whole = dict[str, Any]()
    for name, own in zip(("base", "head"), revision_bench_cases(1, SAME), strict=True):
        more = [replace(case, benchmark="jvm_only") for case in own]
        whole[name] = {"announced": announced_arms, "cases": [*own, *more]}
    whole[side] = {"announced": _unavailable_cases("jvm_only")}
    analysis = _analyse(
        SAME, manifest=_with_jvm_arm(), base=whole["base"], head=whole["head"]
    )
    why = "fallback is not available here: no JVM here"
    assert analysis.verdict == "pass"
    assert analysis.reason.endswith(
        f"; nothing of jvm_only was compared: at {side}, {why}"
    )


def test_revisions_that_did_other_work_do_not_compare() -> None:
    def counted(cases: list[CaseSamples], items: int) -> list[CaseSamples]:
        ones = np.ones(cases[0].value.size, dtype=np.int64)
        return [
            replace(case, iterations=ones, work={"items": ones * items})
            for case in cases
        ]

    base, head = revision_bench_cases(1, SLOWER)
    analysis = _analyse(
        SLOWER, base={"cases": counted(base, 3)}, head={"cases": counted(head, 2)}
    )
    assert analysis.verdict == "inconclusive"
    assert "unequal_work" in _rows(analysis)["native", 1000].reason
    text = analysis.report.audits[0].findings[0].text
    assert "at head counted 2 items against 3" in text
    same = _analyse(
        SLOWER, base={"cases": counted(base, 2)}, head={"cases": counted(head, 2)}
    )
    assert same.verdict == "fail"


def test_measurements_show_both_sides_and_gates_none() -> None:
    gate = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "op": "<=",
        "required": 1.0,
    }
    analysis = _analyse(SAME, manifest=read_manifest(suite_manifest(gates=[gate])))
    assert analysis.verdict == "pass"
    assert [row.side for row in analysis.report.measurements] == ["base"] * 4 + [
        "head"
    ] * 4
    assert (analysis.report.gates, analysis.report.derived) == ([], [])


def test_a_run_that_wants_every_comparison_is_extended_after_a_first_fail() -> None:
    effects = {1000: 0.3, 2000: 0.02}
    assert not _analyse(effects, seed=2).extendable
    assert _analyse(effects, seed=2, thorough=True).extendable
    assert not _analyse(effects, seed=2, thorough=True, look=Look(2)).extendable


@pytest.mark.parametrize("thorough", [False, True])
def test_a_thorough_job_stops_when_every_metric_is_decided(thorough: bool) -> None:
    """Time is far slower after two of five launches; `cpu` is the same, which only all of them show."""
    manifest = suite_manifest()
    cpu = {"unit": "ns", "direction": "lower"}
    manifest["benchmarks"][BENCHMARK]["metrics"]["cpu"] = cpu
    base, head = revision_bench_cases(1, SAME, launches=2)
    slower = [replace(case, value=case.value * 2.0) for case in head]
    analysis = _analyse(
        SAME,
        manifest=read_manifest(manifest),
        base={"cases": [*base, *(replace(case, metric="cpu") for case in base)]},
        head={"cases": [*slower, *(replace(case, metric="cpu") for case in head)]},
        request=JobRequest(launches=5, rounds=20, stop_when_sure=True),
        thorough=thorough,
    )
    undecided = list_undecided(
        analysis, [BENCHMARK], batch_is_over=False, thorough=thorough
    )
    assert undecided == ([BENCHMARK] if thorough else [])
    saved = analysis.report.saved
    assert saved is not None
    assert (saved.launches, saved.planned) == (2, 5), "of both sides together"


def test_a_quick_look_is_not_extended() -> None:
    cases = revision_bench_cases(1, SAME, launches=2, rounds=5)
    analysis = _analyse(
        SAME,
        base={"cases": cases[0]},
        head={"cases": cases[1]},
        request=JobRequest(launches=2, rounds=5),
    )
    assert (analysis.verdict, analysis.extendable) == ("inconclusive", False)


def _declared(
    unit: str = "ns",
    direction: str = "lower",
    items: int | None = 100,
    size: int | None = None,
) -> dict[str, Any]:
    """The facts of a side that announces every case so."""
    return {
        "announced": [
            Case(
                0,
                BENCHMARK,
                arm,
                {"batch": batch},
                (("time", unit, direction),),
                items,
                size,
            )
            for arm in ("native", "fallback")
            for batch in (1000, 2000)
        ]
    }


@pytest.mark.parametrize(
    ("head", "change"),
    [
        ({"unit": "bytes"}, "time is in ns at base and in bytes at head"),
        ({"unit": "count"}, "time is in ns at base and in count at head"),
        (
            {"direction": "higher"},
            "lower is better for time at base, and higher at head",
        ),
        ({"items": 1}, "an iteration is 100 items at base and 1 at head"),
    ],
)
def test_a_metric_that_means_something_else_at_head_is_not_comparable(
    head: dict[str, Any], change: str
) -> None:
    """A change of the unit was a pass, 99.9 % better."""
    analysis = _analyse(SLOWER, base=_declared(), head=_declared(**head))
    for row in analysis.report.comparisons:
        assert (row.verdict, row.ratio, row.lower, row.upper) == (
            "inconclusive",
            None,
            None,
            None,
        )
        assert row.reason == f"not comparable: {change}"
    assert (analysis.verdict, analysis.extendable) == ("inconclusive", False)
    assert f"not comparable: {change}" in analysis.reason


@pytest.mark.parametrize("head", [{}, {"items": None}])
def test_what_a_side_does_not_declare_changes_nothing(head: dict[str, Any]) -> None:
    analysis = _analyse(SAME, base=_declared(), head=_declared(**head))
    assert analysis.verdict == "pass"


# --- through the server ---


def _get(lab: Lab, path: str) -> Any:
    return lab.client.get(f"/api/v1{path}", headers=dict(lab.headers)).json()


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.parametrize(("effects", "verdict"), [(SLOWER, "fail"), (SAME, "pass")])
def test_a_delivered_ab_job_is_judged_by_its_revisions(
    lab: Lab, effects: dict[int, float], verdict: str
) -> None:
    run = lab.request(base_commit=OLD)
    leased = lab.deliver_ab(effects)
    outbox.drain()
    job = _get(lab, f"/jobs/{leased.job_id}")
    assert (job["state"], job["verdict"]) == ("done", verdict)
    report = _get(lab, f"/jobs/{leased.job_id}/report")
    assert report["base"] == {
        "revision": OLD,
        "artifact_hash": "b" * 64,
        "same_artifact": False,
    }
    rows = _get(lab, f"/runs/{run['id']}/comparisons")["items"]
    assert {(row["sides"], row["reference"]) for row in rows} == {("revisions", "base")}
    assert sum(row["verdict"] == "fail" for row in rows) == (verdict == "fail")


def test_the_distributions_of_an_ab_job_are_shown_by_arm_and_side(lab: Lab) -> None:
    lab.request(base_commit=OLD)
    leased = lab.deliver_ab(SLOWER)
    outbox.drain()
    query = f"benchmark={BENCHMARK}&metric=time&params=%7B%22batch%22%3A1000%7D"
    shown = _get(lab, f"/jobs/{leased.job_id}/distribution?{query}")
    medians = {arm["arm"]: arm["median"] for arm in shown["arms"]}
    assert set(medians) == {
        f"{arm} at {side}"
        for arm in ("native", "fallback")
        for side in ("base", "head")
    }
    assert medians["native at head"] > 1.04 * medians["native at base"]


def test_an_ab_job_neither_raises_nor_updates_alerts_about_arms(lab: Lab) -> None:
    lab.measure({1000: -0.5, 2000: -0.6})
    before = _get(lab, f"/arms?suite=sorting&benchmark={BENCHMARK}")
    lab.request(base_commit=OLD)
    lab.deliver_ab({1000: 0.5, 2000: 0.5})
    outbox.drain()
    with read_scope() as session:
        assert session.scalars(select(Alert)).all() == []
    assert _get(lab, f"/arms?suite=sorting&benchmark={BENCHMARK}") == before


def test_an_undecided_ab_job_is_extended_and_judged_over_all_its_launches(
    lab: Lab,
) -> None:
    lab.request(base_commit=OLD)
    for batch in range(3):
        leased = lab.deliver_ab(
            {1000: 0.02, 2000: 0.0}, seed=20 + batch, launch_sigma=0.02
        )
        outbox.drain()
    job = _get(lab, f"/jobs/{leased.job_id}")
    assert (job["state"], job["batch"]) == ("done", 2)
    row = next(
        r
        for r in _get(lab, f"/runs/{leased.run_id}/comparisons")["items"]
        if r["arm"] == "native"
    )
    assert (row["launches"], row["blocks"]) == (15, 300)


def test_a_stored_comparison_of_revisions_is_judged_again_to_the_same_numbers(
    lab: Lab,
) -> None:
    lab.request(base_commit=OLD)
    leased = lab.deliver_ab(SLOWER)
    outbox.drain()
    with session_scope() as session:
        stored = [
            comparison
            for comparison in service.comparisons_of_job(session, leased.job_id)
            if comparison.verdict == "fail"
        ]
        finding = service.record_finding(
            session, stored[0], "confirmation", _alert(session, stored[0])
        )
        again = service.rederive_finding(session, finding.id)
        assert (again.verdict, again.ratio, again.lower, again.upper) == (
            "fail",
            stored[0].ratio,
            stored[0].lower,
            stored[0].upper,
        )


def _alert(session: Any, comparison: Comparison) -> str:
    """An alert for a finding to belong to."""
    at = comparison.measured_at
    row = Alert(
        id="alt_1",
        cause_key="k",
        state="open",
        title="t",
        suite="sorting",
        kind="history",
        cause=None,
        benchmark=BENCHMARK,
        arm="native",
        reference="base",
        metric="time",
        target_id=comparison.target_id,
        demonstration=False,
        shadow=False,
        rule={},
        words="",
        run_id=comparison.run_id,
        created_at=at,
        updated_at=at,
    )
    session.add(row)
    session.flush()
    return row.id
