"""Tests the matrix, the comparison of revisions and a run's missing cases, from ingested jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paceline_server.kernel.clock import FrozenClock
from paceline_server.reports import queries
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.history import NoiseFloor, SeriesPoint
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.testing.delivered_jobs import Lab
from paceline_server.testing.scripted_agent import LeasedJob, announce
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE, suite_manifest
from sqlalchemy import select
from sqlalchemy.exc import InvalidRequestError

pytestmark = pytest.mark.usefixtures("clock")

API = "/api/v1"
EFFECTS = {1000: -0.5, 2000: -0.6}
OLD, NEW = "1" * 40, "2" * 40


def get(lab: Lab, path: str, status: int = 200, **query: Any) -> Any:
    answer = lab.client.get(f"{API}{path}", params=query, headers=dict(lab.headers))
    assert answer.status_code == status, answer.text
    return answer.json()


def at_level(native: float) -> Callable[[list[CaseSamples]], list[CaseSamples]]:
    """Reference at 1 ms, native at `native` ms (every seed draws a level of its own)."""

    def alter(cases: list[CaseSamples]) -> list[CaseSamples]:
        drawn = {case.arm: float(np.median(case.value)) for case in cases}
        aim = {"fallback": 1e6, "native": native * 1e6}
        return [
            replace(
                case, value=np.round(case.value * (aim[case.arm] / drawn[case.arm]))
            )
            for case in cases
        ]

    return alter


def measure(
    lab: Lab, commit: str, native: float = 0.5, seed: int = 1, **spec: Any
) -> LeasedJob:
    """One concluded job of one point of the params at a commit."""
    lab.request(
        commit=commit,
        branch="main",
        launches=5,
        rounds=12,
        params={"batch": [1000]},
        **spec,
    )
    leased = lab.deliver({1000: native - 1.0}, seed=seed, alter=at_level(native))
    outbox.drain()
    return leased


# --- compare --------------------------------------------------------------------------------------
def test_two_revisions_are_shown_side_by_side_and_not_judged(lab: Lab) -> None:
    measure(lab, OLD)
    measure(lab, NEW, native=0.6, seed=2)
    comparison = get(lab, "/compare", base=OLD, head=NEW[:12])
    assert (
        comparison["suite"],
        comparison["base"]["commit"],
        comparison["head"]["commit"],
    ) == (
        SUITE,
        OLD,
        NEW,
    )
    assert comparison["note"].startswith("Shown, not judged")
    assert (comparison["same_environment"], comparison["environment"]) == (True, [])
    native, fallback = comparison["rows"]
    assert (native["arm"], native["judged"], native["verdict"]) == (
        "native",
        False,
        None,
    )
    assert native["ratio"] == pytest.approx(1.2, abs=0.02)
    assert native["lower"] < native["ratio"] < native["upper"]
    assert (native["significance"], native["magnitude"]) == ("clear", "medium")
    assert "slower" in native["words"]
    assert native["series_id"] is not None
    assert (fallback["arm"], fallback["magnitude"]) == ("fallback", "none")
    assert comparison["summary"].startswith(
        "1 of 2 measurements differs clearly: 1 slower, 0 faster"
    )


def test_uncertain_rows_can_be_left_out_and_are_counted(lab: Lab) -> None:
    measure(lab, OLD)
    measure(lab, NEW, native=0.6, seed=2)
    comparison = get(lab, "/compare", base=OLD, head=NEW, hide_uncertain=True)
    assert [row["arm"] for row in comparison["rows"]] == ["native"]
    assert comparison["hidden"] == 1


@pytest.mark.shapes("embedded")
def test_a_difference_the_target_cannot_resolve_is_below_noise(lab: Lab) -> None:
    measure(lab, OLD)
    leased = measure(lab, NEW, native=0.6, seed=2)
    with session_scope() as session:
        at = session.scalars(select(Job.created_at).limit(1)).one()
        session.add(
            NoiseFloor(
                id="nsf_1",
                target_id=lab.target_id,
                suite=SUITE,
                benchmark=BENCHMARK,
                arm="native",
                params={"batch": 1000},
                params_key='{"batch":1000}',
                metric="time",
                mde=0.25,
                lower=0.9,
                upper=1.1,
                blocks=100,
                launches=5,
                evidence={},
                run_id=leased.run_id,
                job_id=leased.job_id,
                measured_at=at,
            )
        )
    native = next(
        row
        for row in get(lab, "/compare", base=OLD, head=NEW)["rows"]
        if row["arm"] == "native"
    )
    assert (native["significance"], native["mde"]) == ("below_noise", 0.25)


def test_two_runs_are_compared_also_when_one_is_a_demonstration(lab: Lab) -> None:
    first = measure(lab, OLD)
    second = measure(lab, OLD, native=1.2, seed=2, knobs={"slowdown_percent": 140})
    comparison = get(lab, "/compare", base=first.run_id, head=second.run_id)
    assert (comparison["head"]["demonstration"], comparison["head"]["run_id"]) == (
        True,
        second.run_id,
    )
    assert comparison["rows"][0]["magnitude"] == "large"
    assert get(lab, "/compare", 404, base=OLD, head=NEW)["code"] == "not_found"


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("verdict", "decided"), [("fail", True), ("pass", True), ("inconclusive", False)]
)
def test_a_row_is_judged_only_where_an_ab_job_decided(
    lab: Lab, verdict: str, decided: bool
) -> None:
    measure(lab, OLD)
    measure(lab, NEW, native=0.6, seed=2)
    ab = measure(lab, NEW, native=0.65, seed=3)
    with session_scope() as session:
        session.get_one(Run, ab.run_id).base_commit = OLD
        row = session.scalars(
            select(Comparison).where(Comparison.run_id == ab.run_id)
        ).one()
        row.sides, row.verdict, row.ratio, row.lower, row.upper = (
            "revisions",
            verdict,
            1.3,
            1.25,
            1.35,
        )
    native = next(
        row
        for row in get(lab, "/compare", base=OLD, head=NEW)["rows"]
        if row["arm"] == "native"
    )
    assert (native["judged"], native["verdict"]) == (
        decided,
        verdict if decided else None,
    )
    assert native["verdict_job_id"] == ab.job_id, (
        "which job it was, though it could not decide"
    )
    assert native["ratio"] == pytest.approx(1.3 if decided else 1.2, abs=0.02)


@pytest.mark.shapes("embedded")
def test_an_excluded_side_is_never_clear_and_is_marked_in_the_matrix(
    lab: Lab,
) -> None:
    measure(lab, OLD)
    lab.request(
        commit=NEW, branch="main", launches=5, rounds=12, params={"batch": [1000]}
    )
    void = [{"psi_cpu_percent": 48.0}]
    lab.deliver({1000: -0.4}, seed=2, alter=at_level(0.6), conditions=void)
    outbox.drain()
    rows = get(lab, "/compare", base=OLD, head=NEW)["rows"]
    assert {row["significance"] for row in rows} == {"uncertain"}
    assert all(row["head"]["excluded"].startswith("disturbed: ") for row in rows)
    (cell,) = get(lab, "/matrix", suite=SUITE)["rows"][0]["cells"]
    assert (cell["commit"], cell["excluded"][:11]) == (NEW, "disturbed: ")


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("base", "says"), [("HEAD~1", "hexadecimal"), ("abc", "hexadecimal")]
)
def test_a_side_that_is_neither_run_nor_commit_is_refused(
    lab: Lab, base: str, says: str
) -> None:
    assert says in get(lab, "/compare", 400, base=base, head=NEW)["detail"]


@pytest.mark.shapes("embedded", "scaled")
def test_a_suite_says_when_it_was_run_last(lab: Lab, clock: FrozenClock) -> None:
    assert [suite["last_run_at"] for suite in get(lab, "/suites")["items"]] == [None]
    measure(lab, OLD)
    clock.advance(3600.0)
    lab.request(commit=NEW)
    (listed,) = get(lab, "/suites")["items"]
    newest = get(lab, "/runs")["items"][0]
    assert (newest["commit"], listed["last_run_at"]) == (NEW, newest["created_at"])
    assert get(lab, f"/suites/{SUITE}") == listed


# --- matrix ---------------------------------------------------------------------------------------
@pytest.mark.shapes("embedded", "scaled")
def test_the_matrix_shows_the_standing_of_each_benchmark_and_target(
    lab: Lab, clock: FrozenClock
) -> None:
    lab.measure(EFFECTS)
    matrix = get(lab, "/matrix", suite=SUITE)
    assert (matrix["branch"], matrix["branches"]) == ("main", ["main"])
    assert [target["name"] for target in matrix["targets"]] == ["lab-1"]
    (row,) = matrix["rows"]
    (cell,) = row["cells"]
    assert (row["benchmark"], row["declared"], row["retired"]) == (
        BENCHMARK,
        True,
        None,
    )
    assert (cell["series"], cell["of"], cell["verdict"]) == (
        4,
        "native time, batch=1000",
        "pass",
    )
    assert (cell["changes"], cell["change"], cell["mde"]) == ({}, None, None)
    assert (cell["stale"], cell["stale_words"]) == (False, None)
    clock.advance(8 * 86_400)
    (cell,) = get(lab, "/matrix", suite=SUITE)["rows"][0]["cells"]
    assert (cell["stale"], cell["stale_words"]) == (True, "not measured for 8 days")


def test_a_cell_shows_its_worst_verdict(lab: Lab) -> None:
    lab.measure({1000: 0.126, 2000: -0.6})
    (cell,) = get(lab, "/matrix", suite=SUITE)["rows"][0]["cells"]
    assert cell["verdict"] == "fail"
    assert cell["verdict_words"].startswith("native at batch=1000: ")
    assert "slower" in cell["verdict_words"]


def test_the_matrix_says_where_the_newest_job_failed_and_since_when_it_did_not(
    lab: Lab,
) -> None:
    lab.request(branch="main", commit=OLD)
    lab.agent.lease().finish(
        -1, "failed", cause="build_failed", detail="error: no such header"
    )
    outbox.drain()
    matrix = get(lab, "/matrix", suite=SUITE)
    (row,) = matrix["rows"]
    assert ([target["name"] for target in matrix["targets"]], row["cells"]) == (
        ["lab-1"],
        [],
    )
    (missed,) = row["unmeasured"]
    assert (missed["outcome"], missed["cause"]) == ("failed", "build_failed")
    assert missed["words"] == "the build failed: error: no such header"
    measure(lab, OLD)
    (row,) = get(lab, "/matrix", suite=SUITE)["rows"]
    assert (len(row["cells"]), row["unmeasured"]) == (1, [])
    cancelled = lab.request(branch="main", commit=NEW)
    lab.client.post(f"{API}/runs/{cancelled['id']}/cancel", headers=dict(lab.headers))
    (row,) = get(lab, "/matrix", suite=SUITE)["rows"]
    assert [(job["outcome"], job["run_id"]) for job in row["unmeasured"]] == [
        ("cancelled", cancelled["id"])
    ]
    assert row["cells"][0]["commit"] == OLD, "what was measured before is still shown"


def test_the_matrix_of_an_unknown_suite_is_refused(lab: Lab) -> None:
    assert get(lab, "/matrix", 404, suite="nothing")["code"] == "not_found"


# --- completeness ---------------------------------------------------------------------------------
def test_every_declared_case_is_expected_from_the_start_of_a_run(lab: Lab) -> None:
    run = lab.request()
    report = get(lab, f"/runs/{run['id']}/completeness")
    assert (report["declared"], report["arrived"], report["pending"]) == (4, 0, 4)
    assert report["words"] == "4 of 4 still to come"
    lab.deliver(EFFECTS)
    outbox.drain()
    report = get(lab, f"/runs/{run['id']}/completeness")
    assert (report["complete"], report["words"], report["missing"]) == (
        True,
        "all 4 cases arrived",
        [],
    )


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("cause", "detail", "reason", "spoken"),
    [
        ("workload_crashed", "killed by signal 11", "crash", "crash"),
        ("workload_hung", "said nothing for 60 s", "timeout", "timeout"),
        ("build_failed", "cc ended with 1", "build", "build failed"),
    ],
)
def test_how_a_job_failed_is_the_reason_of_what_is_missing(
    lab: Lab, cause: str, detail: str, reason: str, spoken: str
) -> None:
    run = lab.request()
    leased = lab.agent.lease()
    leased.report("measuring", artifact_hash="a" * 64, build={})
    leased.finish(-1, outcome="failed", cause=cause, detail=detail)
    report = get(lab, f"/runs/{run['id']}/completeness")
    assert report["words"] == f"4 of 4 missing (4 {spoken})"
    assert {(case["reason"], case["text"]) for case in report["missing"]} == {
        (reason, detail)
    }
    (group,) = report["missing_groups"]
    assert (group["words"], group["count"], group["text"]) == (
        f"4 cases: {spoken}",
        4,
        detail,
    )
    assert [target["id"] for target in group["targets"]] == [
        run["jobs"][0]["target_id"]
    ]


@pytest.mark.shapes("embedded")
def test_a_case_the_workload_left_out_is_skipped_and_an_unavailable_one_is_not_missing(
    lab: Lab,
) -> None:
    case = {
        "type": "case",
        "case": 9,
        "benchmark": BENCHMARK,
        "arm": "native",
        "params": {"batch": 2000},
        "metrics": [{"name": "time", "unit": "ns", "direction": "lower"}],
        "unavailable": "no AVX-512 here",
    }
    run = lab.request()
    lab.deliver(EFFECTS, announced=[case], alter=lambda cases: cases[:2])
    outbox.drain()
    report = get(lab, f"/runs/{run['id']}/completeness")
    assert (report["arrived"], report["unavailable"], report["missing_total"]) == (
        2,
        1,
        1,
    )
    assert (
        report["words"] == "1 of 4 missing (1 skipped); 1 not available on their target"
    )
    (missing,) = report["missing"]
    assert (missing["arm"], missing["params"], missing["reason"]) == (
        "fallback",
        {"batch": 2000},
        "skipped",
    )


@pytest.mark.shapes("embedded")
def test_a_benchmark_no_longer_declared_is_missing_until_it_is_retired(
    lab: Lab, token: Callable[..., dict[str, str]]
) -> None:
    lab.measure(EFFECTS)
    made = suite_manifest(rules=[])
    made["benchmarks"] = {"other": made["benchmarks"][BENCHMARK]}
    made["knobs"] = {}  # they name the benchmark, too
    with session_scope() as session:
        agent_id = session.scalars(select(Target.agent_id)).one()
    announce(agent_id, made)
    run = lab.request()
    (gone,) = get(lab, f"/runs/{run['id']}/completeness")["gone"]
    assert (gone["benchmark"], gone["arm"], gone["series"]) == (BENCHMARK, None, 4)
    assert "retire it, declare it again" in gone["words"]
    writer = token("alerts:write")
    path = f"{API}/suites/{SUITE}/retired/{BENCHMARK}"
    assert (
        lab.client.put(path, json={"reason": "gone"}, headers=writer).status_code == 200
    )
    assert get(lab, f"/runs/{run['id']}/completeness")["gone"] == []
    rows = get(lab, "/matrix", suite=SUITE)["rows"]
    assert [(row["benchmark"], row["declared"], row["retired"]) for row in rows] == [
        ("other", True, None),
        (BENCHMARK, False, "gone"),
    ]


@pytest.mark.shapes("embedded")
def test_a_renamed_benchmark_is_not_missing(lab: Lab) -> None:
    lab.measure(EFFECTS)
    made = suite_manifest(rules=[])
    made["benchmarks"] = {
        "other": {**made["benchmarks"][BENCHMARK], "aliases": [BENCHMARK]}
    }
    made["knobs"] = {}  # they name the benchmark, too
    with session_scope() as session:
        agent_id = session.scalars(select(Target.agent_id)).one()
    announce(agent_id, made)
    run = lab.request()
    assert get(lab, f"/runs/{run['id']}/completeness")["gone"] == []


# --- what becomes history -------------------------------------------------------------------------
def points() -> list[SeriesPoint]:
    with session_scope() as session:
        return list(session.scalars(select(SeriesPoint)))


@pytest.mark.shapes("embedded", "scaled")
def test_a_baseline_job_leaves_one_point_per_series_with_its_interval_and_conditions(
    lab: Lab,
) -> None:
    lab.request()
    leased = lab.deliver(
        EFFECTS, conditions=[{"load_1": 0.25, "cpu_frequency_mhz": [3000.0, 3200.0]}]
    )
    outbox.drain()
    stored = points()
    assert len(stored) == 4
    assert {point.job_id for point in stored} == {leased.job_id}
    assert all(point.lower < point.value < point.upper for point in stored)
    assert {
        (point.launches, point.excluded, point.artifact_hash) for point in stored
    } == {(5, None, "a" * 64)}
    assert stored[0].conditions == {
        "cpu_frequency_mhz": {"median": 3100.0, "max": 3100.0},
        "load_1": {"median": 0.25, "max": 0.25},
    }
    outbox.drain()
    assert len(points()) == 4


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("delivery", "says"),
    [
        ({"checks_ok": False}, "check sorted failed: 3 before 2"),
        ({"conditions": [{"psi_cpu_percent": 48.0}]}, "disturbed: "),
        ({"conditions": [{"thermal_status": 3}]}, "conditions void: "),
    ],
)
def test_points_of_a_void_job_are_kept_with_its_reason(
    lab: Lab, delivery: dict[str, Any], says: str
) -> None:
    lab.request()
    lab.deliver(EFFECTS, **delivery)
    outbox.drain()
    stored = points()
    assert len(stored) == 4
    assert all(
        point.excluded is not None and point.excluded.startswith(says)
        for point in stored
    )


@pytest.mark.shapes("embedded")
def test_demonstrations_and_confirmations_never_become_history(
    lab: Lab, clock: FrozenClock
) -> None:
    measure(lab, OLD, native=1.5, knobs={"slowdown_percent": 50})
    assert points() == []
    measure(lab, OLD, native=1.5)
    before = len(points())
    clock.advance(24 * 3600)
    outbox.drain()
    for seed in (5, 6):
        leased = lab.deliver({1000: 0.5}, seed=seed)
        outbox.drain()
        run = lab.client.get(
            f"{API}/runs/{leased.run_id}", headers=dict(lab.headers)
        ).json()
        assert (run["trigger"], run["state"]) == ("confirm", "done")
    assert len(points()) == before


def test_an_ab_job_of_the_compared_pair_gives_the_verdict(lab: Lab) -> None:
    measure(lab, OLD)
    measure(lab, NEW, native=0.6, seed=2)
    lab.request(base_commit=OLD, commit=NEW, params={"batch": [1000]})
    leased = lab.deliver_ab({1000: 0.2})
    outbox.drain()
    comparison = get(lab, "/compare", base=OLD, head=NEW)
    native = next(row for row in comparison["rows"] if row["arm"] == "native")
    assert (native["judged"], native["verdict"], native["verdict_job_id"]) == (
        True,
        "fail",
        leased.job_id,
    )
    assert comparison["note"].startswith("Rows marked judged")
    assert comparison["rows"][0]["judged"]
    assert len(points()) == 4
    other = get(lab, "/compare", base=NEW, head=OLD)
    assert not any(row["judged"] for row in other["rows"])
    with read_scope() as session:
        read = queries.revisions_judged(session, SUITE, OLD, NEW)
        assert [(row.arm, row.verdict) for row in read if row.arm == "native"] == [
            ("native", "fail")
        ]
        with pytest.raises(
            InvalidRequestError, match="evidence"
        ):  # long, and nobody here asks for it
            _ = read[0].evidence


def test_a_new_kernel_between_two_jobs_is_the_reason_of_a_new_segment(lab: Lab) -> None:
    def beat(kernel: str, fingerprint: str) -> None:
        heartbeat = {
            "kind": "host",
            "serial": "serial-lab-1",
            "name": "lab-1",
            "factors": {"kernel": kernel},
            "fingerprint": fingerprint * 64,
        }
        body = {"version": "1", "targets": [heartbeat]}
        answer = lab.client.post(
            f"{API}/agents/self/heartbeat", json=body, headers=dict(lab.agent.headers)
        )
        assert answer.status_code == 200, answer.text

    beat("6.1.0-12", "a")
    measure(lab, OLD)
    beat("6.1.0-13", "b")
    measure(lab, NEW, seed=2)
    series_id = get(lab, "/series", arm="native")["items"][0]["id"]
    page = get(lab, f"/series/{series_id}")
    assert [segment["starts_because"] for segment in page["segments"]] == [
        "first point",
        "kernel 6.1.0-12 → 6.1.0-13",
    ]
    assert [segment["environment"] for segment in page["segments"]] == [0, 1]
    comparison = get(lab, "/compare", base=OLD, head=NEW)
    assert comparison["same_environment"] is False
    (difference,) = comparison["environment"]
    assert (difference["factor"], difference["base"], difference["head"]) == (
        "kernel",
        "6.1.0-12",
        "6.1.0-13",
    )
    assert difference["words"] == "lab-1: kernel 6.1.0-12 → 6.1.0-13"
