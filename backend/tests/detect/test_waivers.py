"""What fails may pass by a waiver or because people know it: visibly, for a time, and only while it gets no worse."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.projects import service as projects
from paceline_server.projects.schemas import ProjectIn
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import database, session_scope
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Finding
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    SUITE,
    bench_cases,
    suite_manifest,
)
from sqlalchemy import select, text, update

PREFIX = "/api/v1"
FASTER = {1000: -0.5, 2000: -0.6}
SLOWER = {1000: 0.1, 2000: -0.6}
MUCH_SLOWER = {1000: 0.3, 2000: -0.6}
Make = Callable[..., Any]


@pytest.fixture
def lab(client: TestClient, enrolled: Make, token: Make, clock: FrozenClock) -> Lab:
    assert clock is not None
    return open_lab(client, enrolled, token)


@pytest.fixture
def triager(token: Make) -> dict[str, str]:
    return dict(token("alerts:write", "read"))


@pytest.fixture
def waive(client: TestClient, triager: dict[str, str]) -> Make:
    """`waive(**fields)` → the waiver of arms, for a day unless said otherwise."""

    def make(status: int = 201, **fields: Any) -> dict[str, Any]:
        until = clock_module.now() + timedelta(days=1)
        body = {
            "suite": SUITE,
            "kind": "arm",
            "reason": "the parser is being rewritten",
            "expires_at": until.isoformat(),
            **fields,
        }
        answer = client.post(f"{PREFIX}/waivers", json=body, headers=triager)
        assert answer.status_code == status, answer.text
        return dict(answer.json())

    return make


def outcome(lab: Lab, run_id: str) -> tuple[str, str]:
    run = lab.client.get(f"{PREFIX}/runs/{run_id}", headers=dict(lab.headers)).json()
    return run["outcome"], run["reason"]


def document(lab: Lab, run_id: str, wanted: str = "json") -> str:
    answer = lab.client.get(
        f"{PREFIX}/runs/{run_id}/verdicts",
        params={"format": wanted},
        headers=dict(lab.headers),
    )
    return str(answer.text)


@pytest.mark.shapes("embedded", "scaled")
def test_a_failed_run_passes_once_waived_and_says_so_in_every_output(
    lab: Lab, waive: Make
) -> None:
    run_id = lab.measure(SLOWER).run_id
    assert outcome(lab, run_id)[0] == "fail"
    waiver = waive(run_id=run_id)
    assert (waiver["state"], waiver["created_by"]) == ("active", "test")
    passed, reason = outcome(lab, run_id)
    assert passed == "pass"
    assert "what counts holds; not counted: sort_batch batch=1000: native is " in reason
    said = "waived by test until "
    assert said in reason
    read = json.loads(document(lab, run_id))
    (marked,) = [row for row in read["jobs"][0]["comparisons"] if row["waived"]]
    assert (marked["verdict"], marked["waived"]["waiver_id"]) == ("fail", waiver["id"])
    assert [reason["verdict"] for reason in read["reasons"]] == ["waived"]
    text = document(lab, run_id, "markdown")
    assert text.startswith("### pass (waived): ")
    assert "| fail, waived |" in text
    assert "the parser is being rewritten" in text
    xml = document(lab, run_id, "junit")
    assert 'failures="0"' in xml
    assert said in xml
    listed = lab.client.get(
        f"{PREFIX}/runs/{run_id}/comparisons", headers=dict(lab.headers)
    ).json()["items"]
    assert [row["waived"] is not None for row in listed] == [True, False]


def test_a_waiver_lets_later_runs_pass_until_it_expires_or_is_revoked(
    lab: Lab, waive: Make, triager: dict[str, str], clock: FrozenClock
) -> None:
    waiver = waive()
    assert outcome(lab, lab.measure(SLOWER).run_id)[0] == "pass"
    clock.advance(timedelta(days=1).total_seconds() + 1)
    expired = lab.measure(SLOWER, seed=2).run_id
    assert outcome(lab, expired)[0] == "fail"
    again = waive()
    assert outcome(lab, expired)[0] == "fail", "nobody waived that run"
    path = f"{PREFIX}/waivers/{again['id']}"
    revoked = lab.client.post(f"{path}/revoke", headers=triager)
    assert revoked.json()["state"] == "revoked"
    assert outcome(lab, lab.measure(SLOWER, seed=3).run_id)[0] == "fail"
    states = lab.client.get(f"{PREFIX}/waivers", headers=dict(lab.headers)).json()
    assert [item["state"] for item in states["items"]] == ["revoked", "expired"]
    assert waiver["id"] != again["id"]


def test_what_became_worse_than_what_was_waived_fails(lab: Lab, waive: Make) -> None:
    waive(run_id=lab.measure(SLOWER).run_id, commits=None)
    by_figure = waive(worst_ratio=1.2)
    assert by_figure["worst_ratio"] == 1.2
    assert outcome(lab, lab.measure(SLOWER, seed=2).run_id)[0] == "pass"
    assert outcome(lab, lab.measure(MUCH_SLOWER, seed=3).run_id)[0] == "fail"


@pytest.mark.parametrize(
    ("fields", "passes"),
    [
        ({"benchmark": "sort_*", "arm": "nat*"}, True),
        ({"params": {"batch": 1000}}, True),
        ({"commits": ["01234567"]}, True),
        ({"benchmark": "search_*"}, False),
        ({"arm": "fallback"}, False),
        ({"metric": "throughput"}, False),
        ({"params": {"batch": 2000}}, False),
        ({"kind": "regression"}, False),
        ({"kind": "gate"}, False),
        ({"commits": ["ffff"]}, False),
        ({"pull_request": 7}, False),
        ({"target_id": "tgt_other"}, False),
    ],
)
def test_a_waiver_lets_pass_what_it_names_and_nothing_else(
    lab: Lab, waive: Make, fields: dict[str, Any], passes: bool
) -> None:
    waive(**fields)
    expected = "pass" if passes else "fail"
    assert outcome(lab, lab.measure(SLOWER).run_id)[0] == expected


def test_a_gate_is_waived_for_a_pull_request_and_its_regression_still_fails_it(
    client: TestClient, enrolled: Make, token: Make, clock: FrozenClock, waive: Make
) -> None:
    gate = {
        "benchmark": BENCHMARK,
        "arm": "fallback",
        "metric": "time",
        "statistic": "median",
        "op": "<=",
        "required": 1.0,
    }
    lab = open_lab(client, enrolled, token, manifest=suite_manifest(gates=[gate]))

    def judged(effects: dict[int, float], number: int, seed: int) -> str:
        lab.request(head="c" * 40, base="d" * 40, pull_request={"number": number})
        leased = lab.deliver_ab(effects, seed=seed)
        outbox.drain()
        return leased.run_id

    same = {1000: 0.0, 2000: 0.0}
    run_id = judged(same, 7, 1)
    assert outcome(lab, run_id)[0] == "fail"
    waive(kind="gate", pull_request=7)
    assert outcome(lab, run_id)[0] == "pass"
    assert outcome(lab, judged(same, 7, 2))[0] == "pass"
    assert outcome(lab, judged(same, 8, 3))[0] == "fail"
    slower = judged({1000: 0.1, 2000: 0.0}, 7, 4)
    assert outcome(lab, slower)[0] == "fail"
    reasons = json.loads(document(lab, slower))["reasons"]
    assert [(item["verdict"], item["kind"]) for item in reasons] == [
        ("fail", "regression"),
        ("fail", "arm"),
        ("waived", "gate"),
    ]


@pytest.mark.parametrize("state", ["acknowledged", "expected"])
@pytest.mark.shapes("embedded", "scaled")
def test_a_slowdown_that_people_know_blocks_no_later_run_and_a_worse_one_does(
    lab: Lab, state: str
) -> None:
    lab.measure(SLOWER)
    with session_scope() as session:
        session.execute(update(Alert).values(state=state))
    passed, reason = outcome(lab, lab.measure(SLOWER, seed=2).run_id)
    assert passed == "pass"
    assert f"is {state})" in reason
    assert outcome(lab, lab.measure(MUCH_SLOWER, seed=3).run_id)[0] == "fail"


def test_a_slowdown_that_nobody_has_looked_at_fails_every_run(lab: Lab) -> None:
    lab.measure(SLOWER)
    assert outcome(lab, lab.measure(SLOWER, seed=2).run_id)[0] == "fail"


@pytest.fixture
def gated(client: TestClient, enrolled: Make, token: Make, clock: FrozenClock) -> Lab:
    """The default branch fails a gate, of which there is an alert; native beats its fallback all the same."""
    assert clock is not None
    gate = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "statistic": "median",
        "op": "<=",
        "params": {"batch": 1000},
        "required": known_level() * 0.9,
    }
    lab = open_lab(client, enrolled, token, manifest=suite_manifest(gates=[gate]))
    assert outcome(lab, lab.measure(FASTER).run_id)[0] == "fail"
    return lab


def known_level() -> float:
    """What native takes at batch 1000 of the default branch."""
    native = next(case for case in bench_cases(1, FASTER) if case.arm == "native")
    return float(np.median(native.value[~native.warmup]))


@pytest.mark.shapes("embedded", "scaled")
def test_no_waiver_lets_an_arm_pass_that_never_ran_and_no_alert_calls_it_slower(
    client: TestClient, enrolled: Make, token: Make, clock: FrozenClock, waive: Make
) -> None:
    assert clock is not None
    manifest = suite_manifest()
    manifest["benchmarks"][BENCHMARK]["witnesses"] = {
        "native": {"counter": "native_calls"}
    }
    lab = open_lab(client, enrolled, token, manifest=manifest)
    waive(benchmark="*", arm="*")
    lab.request()
    run_id = lab.deliver(MUCH_SLOWER, alter=never_calling_native).run_id
    outbox.drain()
    verdict, reason = outcome(lab, run_id)
    assert verdict == "fail"
    assert reason == (
        f"lab-1: {BENCHMARK}: native was built, and never called: its counter native_calls is 0"
    )
    rows = lab.client.get(
        f"{PREFIX}/runs/{run_id}/comparisons", headers=dict(lab.headers)
    ).json()["items"]
    assert [(row["verdict"], row["witness"], row["waived"]) for row in rows] == [
        ("fail", "fail", None)
    ] * 2
    with session_scope() as session:
        titles = [alert.title for alert in session.scalars(select(Alert))]
    assert titles == [f"native never ran: {BENCHMARK} on lab-1"]


def never_calling_native(cases: list[CaseSamples]) -> list[CaseSamples]:
    return [
        replace(case, work={"native_calls": np.zeros(case.value.size, np.int64)})
        if case.arm == "native"
        else case
        for case in cases
    ]


def judge_head(lab: Lab, level: float, seed: int) -> str:
    """A pull request that changes nothing, where everything takes `level`; returns its run."""
    lab.request(head="c" * 40, base="d" * 40, pull_request={"number": 7})
    leased = lab.deliver_ab({1000: 0.0, 2000: 0.0}, seed=seed, level=level)
    outbox.drain()
    return leased.run_id


@pytest.mark.parametrize("state", ["acknowledged", "expected"])
@pytest.mark.shapes("embedded", "scaled")
def test_a_failing_gate_that_people_know_blocks_no_pull_request_and_a_worse_one_does(
    gated: Lab, state: str
) -> None:
    with session_scope() as session:
        session.execute(update(Alert).values(state=state))
    run_id = judge_head(gated, known_level(), 2)
    passed, reason = outcome(gated, run_id)
    assert passed == "pass"
    assert f"is {state})" in reason
    (alert_id,) = alert_ids()
    (marked,) = json.loads(document(gated, run_id))["jobs"][0]["gates"]
    assert (marked["verdict"], marked["waived"]["alert_id"]) == ("fail", alert_id)
    assert document(gated, run_id, "markdown").startswith("### pass (waived): ")
    worse = judge_head(gated, known_level() * 1.2, 3)
    assert outcome(gated, worse)[0] == "fail"
    reasons = json.loads(document(gated, worse))["reasons"]
    assert [(item["verdict"], item["kind"]) for item in reasons] == [("fail", "gate")]


def alert_ids() -> list[str]:
    with session_scope() as session:
        return list(session.scalars(select(Alert.id)))


KNOWN = {"state": "acknowledged"}


@pytest.mark.parametrize(
    ("alert", "finding"),
    [
        ({"state": "open"}, {}),
        ({"state": "fixed"}, {}),
        ({"state": "invalid"}, {}),
        ({**KNOWN, "shadow": True}, {}),
        ({**KNOWN, "arm": "fallback"}, {}),
        (KNOWN, {"statistic": "p99"}),
        (KNOWN, {"point": '{"batch":2000}'}),
        (KNOWN, {"op": ">="}),
        (KNOWN, {"actual": None, "upper": None}),
        (KNOWN, None),
    ],
    ids=str,
)
def test_an_alert_that_is_closed_or_of_another_gate_or_without_the_figure_lets_no_gate_pass(
    gated: Lab, alert: dict[str, Any], finding: dict[str, Any] | None
) -> None:
    """The last one is of before figures were kept."""
    with session_scope() as session:
        row = session.scalars(select(Finding)).one()
        figures = [
            {**figure, **(finding or {})} for figure in (row.numbers or {})["figures"]
        ]
        numbers = {**(row.numbers or {}), "figures": figures}
        if finding is None:
            del numbers["figures"]
        session.execute(update(Finding).values(numbers=numbers))
        session.execute(update(Alert).values(**alert))
    assert outcome(gated, judge_head(gated, known_level(), 2))[0] == "fail"


def test_an_alert_of_another_project_lets_no_gate_pass(gated: Lab) -> None:
    """Both have the same suite and target."""
    with session_scope() as session:
        session.execute(update(Alert).values(**KNOWN))
        body = ProjectIn(name="other", title="Other")
        other_id = projects.create_project(session, body, "test").id
    assert outcome(gated, judge_head(gated, known_level(), 2))[0] == "pass"
    with database().engine.begin() as connection:
        for table in ("finding", "alert_event", "alert"):
            move = text(f"UPDATE {table} SET project_id = :other")  # noqa: S608 - names from above
            connection.execute(move, {"other": other_id})
    assert outcome(gated, judge_head(gated, known_level(), 3))[0] == "fail"


def test_a_gate_called_expected_is_told_again_where_it_became_worse(
    gated: Lab,
) -> None:
    with session_scope() as session:
        session.execute(update(Alert).values(state="expected"))
    assert outcome(gated, gated.measure(FASTER).run_id)[0] == "pass"
    assert len(alert_ids()) == 1
    gated.measure({1000: -0.2, 2000: -0.6})
    assert len(alert_ids()) == 2


@pytest.mark.parametrize("days", [-1, 0, 367])
def test_a_waiver_ends_within_a_year(waive: Make, days: int, lab: Lab) -> None:
    until = clock_module.now() + timedelta(days=days)
    refused = waive(400, expires_at=until.isoformat())
    assert list(refused["fields"]) == ["expires_at"]
    assert lab is not None


def test_only_who_may_triage_alerts_waives(lab: Lab) -> None:
    until = (clock_module.now() + timedelta(days=1)).isoformat()
    body = {"suite": SUITE, "kind": "arm", "reason": "x", "expires_at": until}
    refused = lab.client.post(f"{PREFIX}/waivers", json=body, headers=dict(lab.headers))
    assert refused.status_code == 403
