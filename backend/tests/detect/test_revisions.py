"""Two revisions of one job: decided by the arms' rule, with the checks of both sides, honest about causes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect import service
from paceline_server.detect.analyse import Analysis
from paceline_server.detect.facts import JobFacts, JobIdentity, JobRequest, Look
from paceline_server.detect.revisions import Revision, analyse_revisions
from paceline_server.ingest.cases import Case, Check, Conditions
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.decisions import Alert, Comparison
from paceline_server.testing.delivered_jobs import Lab, open_lab
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


def _analysed(
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
    facts = [JobFacts(cases=one, checks=passed_checks(range(5))) for one in cases]
    old, new = (
        Revision(commit, artifact, replace(fact, **(changes or {})))
        for commit, artifact, fact, changes in zip(
            (OLD, WHO.revision), artifacts, facts, (base, head), strict=True
        )
    )
    return analyse_revisions(
        manifest or read_manifest(suite_manifest()), old, new, WHO, **options
    )


def _of(side: str, changes: dict[str, Any]) -> dict[str, Any]:
    return {side: changes}


def _rows(found: Analysis) -> dict[tuple[str, Any], Any]:
    return {(row.arm, row.params["batch"]): row for row in found.report.comparisons}


def test_a_slower_head_fails_where_it_is_slower_and_says_so_in_words() -> None:
    found = _analysed(SLOWER)
    rows = _rows(found)
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
    assert found.verdict == "fail"
    assert found.reason.startswith(f"{BENCHMARK} batch=1000: native at head is ")


def test_a_head_that_takes_more_bytes_is_worse_than_its_base() -> None:
    made = suite_manifest()
    made["benchmarks"][BENCHMARK]["metrics"]["time"]["unit"] = "bytes"

    found = _analysed(SLOWER, manifest=read_manifest(made))
    assert "% worse than base (99.8 % interval: " in _rows(found)["native", 1000].words
    assert "slower" not in _rows(found)["native", 1000].words


def test_a_head_that_is_no_slower_passes() -> None:
    found = _analysed(SAME)
    assert (found.verdict, found.extendable) == ("pass", False)
    assert found.reason == "head is not slower than base in 4 comparisons"


def test_a_gain_beyond_the_margin_passes_and_is_known_as_one() -> None:
    found = _analysed({1000: -0.08, 2000: 0.0})
    faster = {
        one.pair.arm + str(one.pair.group.params["batch"]): one.pair.notes["faster"]
        for one in found.ruled
    }
    assert found.verdict == "pass"
    assert [name for name, known in faster.items() if known] == ["native1000"]


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_failed_check_of_either_side_blocks_every_verdict(side: str) -> None:
    broken = {"checks": [Check(0, CHECK, False, "3 before 2")]}
    found = _analysed(SLOWER, **_of(side, broken))
    assert found.verdict == "inconclusive"
    name = "base: sorted" if side == "base" else "sorted"
    assert found.reason == f"check {name} failed: 3 before 2"
    assert {row.verdict for row in found.report.comparisons} == {"inconclusive"}


@pytest.mark.parametrize("side", ["base", "head"])
def test_an_expected_check_that_one_side_never_reported_blocks(side: str) -> None:
    assert (
        "no launch reported it" in _analysed(SAME, **_of(side, {"checks": []})).reason
    )


def test_void_conditions_void_both_sides() -> None:
    hot = [Conditions("during", 1, {"psi_cpu_percent": 48.0})]
    found = _analysed(SLOWER, head={"conditions": hot})
    assert (found.verdict, len(found.voids), found.extendable) == (
        "inconclusive",
        1,
        False,
    )


def test_the_same_artifact_that_differs_blames_the_environment_never_the_code() -> None:
    found = _analysed(SLOWER, artifacts=("1" * 64, "1" * 64))
    assert found.verdict == "fail"
    assert found.reason.endswith(
        "both sides are the same artifact: the environment differs, not the code"
    )
    assert found.report.base is not None
    assert found.report.base.same_artifact
    assert _rows(found)["native", 1000].reason.endswith(
        "; both sides are the same artifact"
    )
    assert "same artifact" not in _analysed(SLOWER).reason
    assert _analysed(SAME, artifacts=("1" * 64, "1" * 64)).verdict == "pass"


def test_an_arm_only_one_revision_has_is_not_judged_and_does_not_stand_in_the_way() -> (
    None
):
    base, _ = revision_bench_cases(1, SAME)
    without = [case for case in base if case.arm != "native"]
    found = _analysed(SAME, base={"cases": without})
    assert found.verdict == "pass"
    assert _rows(found)["native", 1000].verdict == "not_applicable"
    assert "only the head has native" in _rows(found)["native", 1000].reason


def test_an_announced_arm_that_one_side_did_not_measure_is_inconclusive() -> None:
    base, _ = revision_bench_cases(1, SAME)
    without = [case for case in base if case.arm != "native"]
    said = [
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
    found = _analysed(SAME, base={"cases": without, "announced": said})
    assert found.verdict == "inconclusive"
    assert "native at base was not measured" in found.reason
    gone = [replace(one, unavailable="no JVM here") for one in said]
    assert _analysed(SAME, base={"cases": without, "announced": gone}).verdict == "pass"


def _gone(
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


def test_revisions_of_which_no_arm_can_run_here_do_not_pass_and_say_why() -> None:
    nothing = {"cases": [], "announced": _gone()}
    found = _analysed(SAME, base=nothing, head=nothing)
    assert found.verdict == "inconclusive"
    assert (
        found.reason
        == f"nothing was measured: no arm of {BENCHMARK} is available here: no JVM here"
    )


@pytest.mark.parametrize("side", ["base", "head"])
def test_the_side_of_which_nothing_was_measured_is_named(side: str) -> None:
    announced = _analysed(SAME, **_of(side, {"cases": [], "announced": _gone()}))
    why = f"no arm of {BENCHMARK} is available here: no JVM here"
    assert announced.reason == f"nothing was measured at {side}: {why}"
    silent = _analysed(SAME, **_of(side, {"cases": []}))
    assert (silent.verdict, silent.reason) == (
        "inconclusive",
        f"nothing was measured at {side}",
    )
    other = "head" if side == "base" else "base"
    both = _analysed(
        SAME,
        **_of(side, {"cases": []}),
        **_of(other, {"cases": [], "announced": _gone()}),
    )
    assert sorted(both.blockers) == sorted(
        [f"nothing was measured at {side}", f"nothing was measured at {other}: {why}"]
    )


def _and_one_for_a_jvm() -> Manifest:
    manifest = suite_manifest()
    manifest["benchmarks"]["jvm_only"] = {
        **manifest["benchmarks"][BENCHMARK],
        "title": "Needs a JVM",
    }
    return read_manifest(manifest)


def test_a_benchmark_without_any_arm_here_is_named_beside_those_that_are_not_slower() -> (
    None
):
    gone = {"announced": _gone("jvm_only")}
    found = _analysed(SAME, manifest=_and_one_for_a_jvm(), base=gone, head=gone)
    held = "head is not slower than base in 4 comparisons"
    assert (found.verdict, found.reason) == (
        "pass",
        f"{held}; no arm of jvm_only is available here: no JVM here",
    )
    assert (
        "jvm_only"
        not in _analysed(
            SLOWER, manifest=_and_one_for_a_jvm(), base=gone, head=gone
        ).reason
    )


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_benchmark_of_which_one_side_has_no_arm_is_named_with_that_side(
    side: str,
) -> None:
    told = [replace(one, unavailable=None) for one in _gone("jvm_only")]
    whole = dict[str, Any]()
    for name, own in zip(("base", "head"), revision_bench_cases(1, SAME), strict=True):
        more = [replace(case, benchmark="jvm_only") for case in own]
        whole[name] = {"announced": told, "cases": [*own, *more]}
    whole[side] = {"announced": _gone("jvm_only")}
    found = _analysed(
        SAME, manifest=_and_one_for_a_jvm(), base=whole["base"], head=whole["head"]
    )
    why = "fallback is not available here: no JVM here"
    assert found.verdict == "pass"
    assert found.reason.endswith(
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
    found = _analysed(
        SLOWER, base={"cases": counted(base, 3)}, head={"cases": counted(head, 2)}
    )
    assert found.verdict == "inconclusive"
    assert "unequal_work" in _rows(found)["native", 1000].reason
    text = found.report.audits[0].findings[0].text
    assert "at head counted 2 items against 3" in text
    same = _analysed(
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
    found = _analysed(SAME, manifest=read_manifest(suite_manifest(gates=[gate])))
    assert found.verdict == "pass"
    assert [row.side for row in found.report.measurements] == ["base"] * 4 + [
        "head"
    ] * 4
    assert (found.report.gates, found.report.derived) == ([], [])


def test_who_waits_for_every_comparison_has_the_job_extended_past_a_first_fail() -> (
    None
):
    effects = {1000: 0.3, 2000: 0.02}
    assert not _analysed(effects, seed=2).extendable
    assert _analysed(effects, seed=2, thorough=True).extendable
    assert not _analysed(effects, seed=2, thorough=True, look=Look(2)).extendable


def test_a_quick_look_is_not_extended() -> None:
    cases = revision_bench_cases(1, SAME, launches=2, rounds=5)
    found = _analysed(
        SAME,
        base={"cases": cases[0]},
        head={"cases": cases[1]},
        asked=JobRequest(launches=2, rounds=5),
    )
    assert (found.verdict, found.extendable) == ("inconclusive", False)


# --- through the server ---


@pytest.fixture
def lab(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Lab:
    return open_lab(client, enrolled, token)


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
    medians = {one["arm"]: one["median"] for one in shown["arms"]}
    assert set(medians) == {
        f"{arm} at {side}"
        for arm in ("native", "fallback")
        for side in ("base", "head")
    }
    assert medians["native at head"] > 1.04 * medians["native at base"]


def test_an_ab_job_raises_no_alert_about_arms_and_is_no_news_of_them(lab: Lab) -> None:
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
            one
            for one in service.comparisons_of_job(session, leased.job_id)
            if one.verdict == "fail"
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
