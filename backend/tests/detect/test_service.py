"""Tests what happens between the last sample and the stored verdict, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.detect import service
from paceline_server.detect.queries import baseline_jobs
from paceline_server.ingest import service as ingest
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import outbox
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.decisions import Comparison, JobReport
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.history import Series, SeriesPoint
from paceline_server.store.tables.jobs import Run
from paceline_server.store.tables.messages import Incident
from paceline_server.testing.delivered_jobs import Lab, open_lab, samples_items
from paceline_server.testing.scripted_agent import LeasedJob, announce, event_item
from paceline_server.testing.sorting_suite import CHECK, bench_cases, suite_manifest
from sqlalchemy import event, func, select, update

pytestmark = pytest.mark.shapes("embedded")

FASTER = {1000: -0.5, 2000: -0.6}
SLOWER = {1000: 0.126, 2000: -0.6}
UNDECIDED = {1000: 0.02, 2000: -0.6}


def _job(lab: Lab, job_id: str) -> dict[str, Any]:
    return dict(
        lab.client.get(f"/api/v1/jobs/{job_id}", headers=dict(lab.headers)).json()
    )


def _count(table: type[Comparison] | type[JobReport], job_id: str) -> int:
    with read_scope() as session:
        return (
            session.scalar(
                select(func.count()).select_from(table).where(table.job_id == job_id)
            )
            or 0
        )


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.parametrize(("effects", "verdict"), [(FASTER, "pass"), (SLOWER, "fail")])
def test_a_delivered_job_gets_its_verdict(
    lab: Lab, effects: dict[int, float], verdict: str
) -> None:
    leased = lab.measure(effects)
    job = _job(lab, leased.job_id)
    assert (job["state"], job["verdict"], job["batch"]) == ("done", verdict, 0)
    assert _count(Comparison, leased.job_id) == 2
    run = lab.client.get(
        f"/api/v1/runs/{leased.run_id}", headers=dict(lab.headers)
    ).json()
    assert (run["state"], run["verdict"]) == ("done", verdict)


@pytest.mark.parametrize(
    ("effects", "spec", "undecided", "verdict"),
    [
        (FASTER, {"stop_when_sure": True}, [], "pass"),
        ({1000: -0.02, 2000: -0.6}, {"stop_when_sure": True}, ["sort_batch"], None),
        (FASTER, {}, ["sort_batch"], None),
    ],
)
def test_a_job_that_stops_when_sure_is_complete_without_the_launches_it_spared(
    lab: Lab,
    effects: dict[int, float],
    spec: dict[str, Any],
    undecided: list[str],
    verdict: str | None,
) -> None:
    """The agent asks after two of five launches; a run for the history measures all of them."""
    lab.request(**spec)
    leased, last = _deliver_two_launches(lab, effects)
    assert leased.lease["work"]["stop_when_sure"] is bool(spec)
    assert leased.post("undecided").json() == {"benchmarks": undecided}
    assert leased.finish(last).status_code == 204
    outbox.drain()
    job = _job(lab, leased.job_id)
    assert job["verdict"] == verdict, "what is not certain is measured once more"
    sentence = "1 of 1 benchmark stopped when certain, after 2 of 5 launches"
    run = lab.client.get(f"/api/v1/runs/{leased.run_id}", headers=dict(lab.headers))
    assert (sentence in str(run.json()["reason"])) is (verdict == "pass")
    report = lab.client.get(
        f"/api/v1/jobs/{leased.job_id}/report", headers=dict(lab.headers)
    )
    saved = report.json()["saved"]
    assert (saved is not None) is (verdict == "pass")
    if saved is not None:
        assert (saved["launches"], saved["planned"]) == (2, 5)
        assert saved["saved_percent"] == pytest.approx(60.0)


def test_a_gate_that_two_launches_decided_is_the_same_in_the_report(lab: Lab) -> None:
    """The launches that were spared leave it as decided as it was when the agent asked."""
    gain = {"name": "gain", "kind": "speedup_between_arms", "benchmark": "sort_batch"}
    between = {"metric": "time", "arm": "native", "base_arm": "fallback"}
    gates = [{"derived": "gain", "op": ">", "required": 1.5}]
    with session_scope() as session:
        agent_id = session.get_one(Target, lab.target_id).agent_id
    announce(agent_id, suite_manifest(derived=[gain | between], gates=gates))
    lab.request(stop_when_sure=True)
    leased, last = _deliver_two_launches(lab, FASTER)
    assert leased.post("undecided").json() == {"benchmarks": []}
    assert leased.finish(last).status_code == 204
    outbox.drain()
    assert _job(lab, leased.job_id)["verdict"] == "pass"
    report = lab.client.get(
        f"/api/v1/jobs/{leased.job_id}/report", headers=dict(lab.headers)
    ).json()
    assert {gate["verdict"] for gate in report["gates"]} == {"pass"}
    assert all(
        gate["reason"].endswith("by more than 12 % in each of 2 of 5 launches")
        and gate["lower"] < gate["actual"] < gate["upper"]
        for gate in report["gates"]
    )
    assert report["saved"]["launches"] == 2


def _deliver_two_launches(lab: Lab, effects: dict[int, float]) -> tuple[LeasedJob, int]:
    """Return the next job, with two launches delivered, and the number of the last item."""
    leased = lab.agent.lease()
    leased.report("measuring")
    items = samples_items(bench_cases(1, effects, launches=2))
    check = {"type": "check", "name": CHECK, "ok": True, "detail": ""}
    items.append(event_item(len(items), check, launch=0))
    assert leased.send(*items).status_code == 200
    return leased, len(items) - 1


@pytest.mark.parametrize(
    ("trigger", "undecided"), [("manual", []), ("confirm", ["sort_batch"])]
)
def test_a_confirmation_goes_on_until_what_fails_no_run_is_decided(
    lab: Lab, trigger: str, undecided: list[str]
) -> None:
    """An alert may be about it: the rule at batch=2000 fails no run."""
    (rule,) = suite_manifest()["rules"]
    rules = [
        rule | {"name": f"at-{batch}", "params": {"batch": [batch]}, "fails_run": fails}
        for batch, fails in ((1000, True), (2000, False))
    ]
    with session_scope() as session:
        agent_id = session.get_one(Target, lab.target_id).agent_id
    announce(agent_id, suite_manifest(rules=rules))
    lab.request(stop_when_sure=True)
    with session_scope() as session:
        session.execute(update(Run).values(trigger=trigger))
    leased, _ = _deliver_two_launches(lab, {1000: -0.5, 2000: -0.02})
    assert leased.post("undecided").json() == {"benchmarks": undecided}


@pytest.mark.parametrize(
    ("spec", "stops"),
    [
        ({"base_commit": "0" * 40}, True),
        ({"base_commit": "f" * 40}, False),
        ({"base_commit": "0" * 40, "stop_when_sure": False}, False),
        ({"head": "f" * 40, "base_branch": "main"}, True),
        ({}, False),
    ],
)
def test_only_comparisons_of_two_revisions_stop_when_sure_by_default(
    lab: Lab, spec: dict[str, Any], stops: bool
) -> None:
    commit = {} if "head" in spec else {"commit": "f" * 40}
    assert lab.request(**commit, **spec)["stop_when_sure"] is stops


@pytest.mark.parametrize(
    ("fields", "branches"),
    [({}, {"main"}), ({"branch": "release"}, {"release"}), ({"branch": None}, set())],
)
def test_only_a_run_of_a_branch_becomes_history(
    lab: Lab, fields: dict[str, Any], branches: set[str]
) -> None:
    fields_of_run: dict[str, Any] = {"commit": "f" * 40, **fields} if fields else {}
    lab.measure(FASTER, trigger="ci", **fields_of_run)
    outbox.drain()
    with read_scope() as session:
        rows = session.execute(
            select(Series.branch).join(SeriesPoint, SeriesPoint.series_id == Series.id)
        )
        assert set(rows.scalars()) == branches
        assert len(baseline_jobs(session, None)) == len(branches)


def test_the_stored_numbers_are_those_of_the_pure_analysis(lab: Lab) -> None:
    leased = lab.measure(SLOWER)
    with read_scope() as session:
        report = service.report_of(session, leased.job_id)
        stored = service.comparisons_of_job(session, leased.job_id)
        cases = ingest.read_samples(session, leased.job_id)
    assert len(cases) == 4
    assert {(row.params["batch"], row.ratio) for row in report.comparisons} == {
        (row.params["batch"], row.ratio) for row in stored
    }
    assert report.revision == "0123456789abcdef0123456789abcdef01234567"
    assert report.artifact_hash == "a" * 64
    assert report.target == "lab-1"


@pytest.mark.shapes("embedded", "scaled")
def test_an_undecided_job_is_extended_twice_then_concluded(lab: Lab) -> None:
    lab.request()
    for batch in range(3):
        leased = lab.deliver(UNDECIDED, seed=batch + 10)
        outbox.drain()
        job = _job(lab, leased.job_id)
        assert job["batch"] == min(batch + 1, 2)
        assert job["state"] == ("done" if batch == 2 else "queued")
    assert job["verdict"] == "inconclusive"
    assert "the interval crosses the 2 % margin" in job["reason"]
    with read_scope() as session:
        first = service.comparisons_of_job(session, leased.job_id)[0]
    assert (first.launches, first.blocks > 200) == (15, True)
    assert _count(JobReport, leased.job_id) == 3


def test_a_fail_beside_an_undecided_point_ends_the_job_at_its_first_look(
    lab: Lab,
) -> None:
    leased = lab.measure({1000: 0.3, 2000: 0.02}, seed=4)
    job = _job(lab, leased.job_id)
    assert (job["state"], job["verdict"], job["batch"]) == ("done", "fail", 0)
    with read_scope() as session:
        verdicts = {
            row.verdict for row in service.comparisons_of_job(session, leased.job_id)
        }
    assert verdicts == {"fail", "inconclusive"}


def test_a_quick_look_is_not_extended(lab: Lab) -> None:
    leased = lab.measure(FASTER, launches=2, rounds=5)
    job = _job(lab, leased.job_id)
    assert (job["state"], job["verdict"], job["batch"]) == ("done", "inconclusive", 0)
    assert "insufficient" in job["reason"]


@pytest.mark.shapes("embedded", "scaled")
def test_analysing_the_same_batch_again_changes_nothing(lab: Lab) -> None:
    lab.request()
    leased = lab.deliver(SLOWER)
    with read_scope() as session:
        analysis = service.analyse_job(session, f"{leased.job_id}:0")
    assert analysis is not None
    for _ in range(2):
        with session_scope() as session:
            service.conclude_job(session, analysis)
    assert outbox.drain() > 0
    assert _count(Comparison, leased.job_id) == 2
    assert _count(JobReport, leased.job_id) == 1


@pytest.mark.shapes("embedded", "scaled")
def test_an_analysis_overtaken_by_a_cancel_stores_nothing(lab: Lab) -> None:
    run = lab.request()
    leased = lab.deliver(SLOWER)
    with read_scope() as session:
        analysis = service.analyse_job(session, f"{leased.job_id}:0")
    lab.client.post(f"/api/v1/runs/{run['id']}/cancel", headers=dict(lab.headers))
    with session_scope() as session:
        service.conclude_job(session, analysis)
    assert _count(Comparison, leased.job_id) == 0
    assert _job(lab, leased.job_id)["state"] == "cancelled"
    assert outbox.drain() >= 1


def test_a_failed_check_makes_the_job_inconclusive(lab: Lab) -> None:
    lab.request()
    leased = lab.deliver(SLOWER, checks_ok=False)
    outbox.drain()
    job = _job(lab, leased.job_id)
    assert (job["verdict"], job["reason"]) == (
        "inconclusive",
        "check sorted failed: 3 before 2",
    )


def test_conditions_that_arrived_disturb_the_job(lab: Lab) -> None:
    lab.request()
    # Beyond what such neighbours may do to arms of different code.
    clear = {1000: 0.5, 2000: -0.6}
    leased = lab.deliver(clear, conditions=[{"psi_cpu_percent": 48.0}])
    outbox.drain()
    assert _job(lab, leased.job_id)["reason"].endswith(", on a busy host")
    with read_scope() as session:
        report = service.report_of(session, leased.job_id)
    (sentence,) = report.disturbances
    assert "48.0 % of the time, limit 5 %" in sentence
    assert "PACELINE_PRESSURE_LIMIT_PERCENT" in report.next_steps[sentence]
    assert [reason.verdict for reason in report.reasons] == ["fail"]


def test_an_operator_may_raise_the_pressure_limit(lab: Lab) -> None:
    process_settings.set_current(
        process_settings.current().model_copy(update={"pressure_limit_percent": 60.0})
    )
    lab.request()
    leased = lab.deliver(SLOWER, conditions=[{"psi_cpu_percent": 48.0}])
    outbox.drain()
    assert _job(lab, leased.job_id)["verdict"] == "fail"


def test_an_operator_may_raise_the_drift_limit(lab: Lab) -> None:
    process_settings.set_current(
        process_settings.current().model_copy(update={"drift_limit_percent": 30.0})
    )
    lab.request()
    drifting = [
        {"phase": phase, "calibration_ns": ns}
        for phase, ns in (("before", 1000), ("after", 1200))
    ]
    leased = lab.deliver(SLOWER, conditions=drifting)
    outbox.drain()
    assert _job(lab, leased.job_id)["verdict"] == "fail"


@pytest.mark.shapes("embedded", "scaled")
def test_a_job_whose_analysis_keeps_failing_ends_as_failed(
    lab: Lab, clock: FrozenClock
) -> None:
    run = lab.request()
    leased = lab.deliver(SLOWER)
    with session_scope() as session:
        session.execute(update(Run).values(manifest={}))
    for _ in range(outbox.INCIDENT_AFTER - 1):
        outbox.drain()
        clock.advance(60)
    assert _job(lab, leased.job_id)["state"] == "analysing"
    outbox.drain()
    job = _job(lab, leased.job_id)
    assert (job["state"], job["cause"], job["partial"]) == (
        "failed",
        "analysis_failed",
        False,
    )
    assert "ManifestError" in job["cause_detail"]
    assert job["samples"] > 0
    ended_run = lab.client.get(
        f"/api/v1/runs/{run['id']}", headers=dict(lab.headers)
    ).json()
    assert (ended_run["state"], ended_run["outcome"], ended_run["verdict"]) == (
        "failed",
        "failed",
        None,
    )
    with read_scope() as session:
        assert outbox.count_pending(session)[0] == 0
        assert session.scalars(select(Incident.code)).all() == ["outbox_stuck"]


def test_a_report_before_the_analysis_says_so(lab: Lab) -> None:
    lab.request()
    leased = lab.deliver(FASTER)
    with read_scope() as session, pytest.raises(Exception, match="not_analysed"):
        service.report_of(session, leased.job_id)
    with read_scope() as session, pytest.raises(Exception, match="not_found"):
        service.report_of(session, "job_none")


@pytest.mark.shapes("embedded", "scaled")
def test_pairs_of_the_runs_other_jobs_are_counted(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    lab = open_lab(client, enrolled, token)
    other = open_lab(client, enrolled, token, name="lab-2")
    lab.request(targets=[lab.target_id, other.target_id])
    for deliverer in (lab, other):
        leased = deliverer.deliver(SLOWER)
        outbox.drain()
        with read_scope() as session:
            rows = service.comparisons_of_job(session, leased.job_id)
        assert {len(row.evidence["parameters"]["family_p_values"]) for row in rows} == {
            3
        }


def test_a_stored_finding_is_recomputed_with_identical_numbers(lab: Lab) -> None:
    leased = lab.measure(SLOWER)
    with read_scope() as session:
        rows = service.comparisons_of_job(session, leased.job_id)
        finding_ids = [
            finding.id
            for row in rows
            for finding, comparison in service.findings_of(session, _alert_ids(session))
            if comparison.id == row.id
        ]
        assert len(finding_ids) == 1
        row = next(row for row in rows if row.verdict == "fail")
        again = service.rederive_finding(session, finding_ids[0])
    assert (again.ratio, again.lower, again.upper) == (row.ratio, row.lower, row.upper)
    assert (again.share_slower, again.launches, again.blocks) == (
        row.share_slower,
        row.launches,
        row.blocks,
    )
    assert (again.verdict, again.reason) == (row.verdict, row.reason)
    assert again.p_slow == row.evidence["statistic"]["p_slow"]
    assert list(again.launch_ratios) == row.evidence["launch_ratios"]
    assert [check.value for check in again.filters] == [
        check["value"] for check in row.evidence["filters"]
    ]


def _alert_ids(session: Any) -> list[str]:
    from paceline_server.store.tables.alerts import Alert  # noqa: PLC0415 - only this test looks at alerts

    return list(session.scalars(select(Alert.id)))


def test_a_job_of_ten_times_the_samples_is_judged_by_as_many_statements(
    lab: Lab, database: Database
) -> None:
    """So the verdict comes within two seconds of the last sample, which `benchmarks/` measures: samples are
    read in chunks and judged by numpy, and no query runs once per launch or round."""

    def count_statements(launches: int, rounds: int) -> int:
        lab.request(launches=launches, rounds=rounds)
        lab.deliver(SLOWER)
        statements: list[str] = []

        def note_statement(*arguments: Any) -> None:
            statements.append(arguments[2])

        event.listen(database.engine, "before_cursor_execute", note_statement)
        try:
            outbox.drain()
        finally:
            event.remove(database.engine, "before_cursor_execute", note_statement)
        return len(statements)

    count_statements(5, 20)  # the first job of a series needs more
    small, large = count_statements(5, 20), count_statements(10, 100)
    assert large == small > 0
