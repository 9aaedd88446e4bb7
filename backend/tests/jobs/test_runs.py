"""Runs are asked for, checked against the manifest, listed, cancelled and rolled up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.jobs import expiry
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.jobs import Job
from paceline_server.store.tables.messages import OutboxMessage
from paceline_server.testing.scripted_agent import (
    COMMIT,
    ScriptedAgent,
    announce,
    log_item,
)
from paceline_server.testing.scripted_device import ScriptedDevice
from sqlalchemy import select

PREFIX = "/api/v1"
Make = Callable[..., Any]


def test_a_run_makes_one_queued_job_per_online_target(
    client: TestClient, enrolled: Make, new_run: Make, ci: dict[str, str]
) -> None:
    announce(enrolled("lab-2").agent_id)
    enrolled("lab-without-suite")
    run = new_run()
    assert run["state"] == "queued"
    assert sorted(job["target_name"] for job in run["jobs"]) == ["lab-1", "lab-2"]
    assert {job["state"] for job in run["jobs"]} == {"queued"}
    assert client.get(f"{PREFIX}/runs/{run['id']}", headers=ci).json() == run


@pytest.mark.shapes("embedded")
def test_an_unknown_suite_is_answered_with_those_that_are_announced(
    client: TestClient, agent: ScriptedAgent, ci: dict[str, str]
) -> None:
    asked = client.post(f"{PREFIX}/runs", json={"suite": "nothing"}, headers=ci)
    read = client.get(f"{PREFIX}/suites/nothing", headers=ci)
    for answer in (asked, read):
        assert answer.json()["detail"].endswith("Announced: demo."), answer.text


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "case",
    [
        ({"suite": "nothing"}, 404, "unknown_suite", None),
        ({"benchmarks": ["nope"]}, 400, "invalid_request", "benchmarks"),
        ({"params": {"nope": [1]}}, 400, "invalid_request", "params.nope"),
        ({"params": {"n": [0]}}, 400, "invalid_request", "params.n"),
        ({"params": {"n": ["1000"]}}, 400, "invalid_request", "params.n"),
        ({"params": {"n": []}}, 400, "invalid_request", "params.n"),
        ({"params": {"order": ["upside"]}}, 400, "invalid_request", "params.order"),
        ({"params": {"key": ["x1"]}}, 400, "invalid_request", "params.key"),
        (
            {"benchmarks": ["hashing"], "params": {"n": [1000]}},
            400,
            "invalid_request",
            "params.n",
        ),
        ({"knobs": {"nope": 1}}, 400, "invalid_request", "knobs.nope"),
        (
            {"knobs": {"slowdown_percent": 401}},
            400,
            "invalid_request",
            "knobs.slowdown_percent",
        ),
        ({"knobs": {"engine": "c"}}, 400, "invalid_request", "knobs.engine"),
        ({"targets": ["tgt_unknown"]}, 400, "invalid_request", "targets"),
        ({"branch": "release"}, 400, "invalid_request", "branch"),
    ],
)
def test_a_run_the_manifest_does_not_allow_is_refused_by_field(
    client: TestClient,
    agent: ScriptedAgent,
    ci: dict[str, str],
    case: tuple[dict[str, Any], int, str, str | None],
) -> None:
    fields, status, code, field = case
    answer = client.post(f"{PREFIX}/runs", json={"suite": "demo", **fields}, headers=ci)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert field is None or field in answer.json()["fields"]


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("fields", "branch"),
    [
        ({}, "main"),
        ({"commit": COMMIT}, "main"),
        ({"commit": COMMIT[:10]}, "main"),
        ({"commit": "f" * 40}, None),
        ({"commit": "f" * 40, "branch": "release"}, "release"),
    ],
)
def test_a_run_belongs_to_the_branch_it_names_and_the_announced_head_to_the_announced_one(
    new_run: Make, fields: dict[str, Any], branch: str | None
) -> None:
    assert new_run(**fields)["branch"] == branch


def test_a_target_that_cannot_measure_the_suite_is_refused_with_the_true_reason(
    client: TestClient, agent: ScriptedAgent, enrolled: Make, ci: dict[str, str]
) -> None:
    """No suite of these agents is built for devices; the agent of `lab-2` has announced none."""
    phone = ScriptedDevice(client, agent.headers)
    reasons = {
        "tgt_unknown": "there is no target 'tgt_unknown'",
        enrolled("lab-2").target_id: "no agent of lab-2 has announced demo",
        phone.healthy(): f"phone {phone.serial} is a device, and demo has no build for devices: no workload of its "
        "suite.toml has a section `android`",
    }
    for target_id, reason in reasons.items():
        body = {"suite": "demo", "targets": [target_id]}
        answer = client.post(f"{PREFIX}/runs", json=body, headers=ci)
        assert answer.json()["detail"] == f"targets: {reason}.", answer.text


def test_an_undeclared_value_inside_the_declared_range_may_be_asked_for(
    new_run: Make,
) -> None:
    run = new_run(params={"n": [7, 1000], "key": ["k77"]})
    assert run["params"] == {"n": [7, 1000], "key": ["k77"]}


def test_a_run_with_a_demonstration_knob_says_so(new_run: Make) -> None:
    assert new_run(knobs={"slowdown_percent": 30})["demonstration"] is True
    assert (
        new_run(knobs={"slowdown_percent": 0, "engine": "b"})["demonstration"] is False
    )


def test_no_run_starts_without_an_online_target(
    client: TestClient, clock: FrozenClock, agent: ScriptedAgent, ci: dict[str, str]
) -> None:
    clock.advance(3600)
    answer = client.post(f"{PREFIX}/runs", json={"suite": "demo"}, headers=ci)
    assert (answer.status_code, answer.json()["code"]) == (409, "no_target")


def test_whoever_only_reads_neither_starts_nor_stops_a_run(
    client: TestClient, agent: ScriptedAgent, token: Make, sign_in: Make
) -> None:
    allowed = [
        token("ingest"),
        token("admin"),
        sign_in("ingest").headers,
        sign_in("admin").headers,
    ]
    refused = [token("read"), sign_in("read", "alerts:write").headers]
    for headers in [*allowed, sign_in().headers]:
        answer = client.post(f"{PREFIX}/runs", json={"suite": "demo"}, headers=headers)
        assert answer.status_code == 201
    run = answer.json()["id"]
    for headers in refused:
        for path, body in (("/runs", {"suite": "demo"}), (f"/runs/{run}/cancel", None)):
            answer = client.post(f"{PREFIX}{path}", json=body, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), (
                path
            )
    assert client.post(f"{PREFIX}/runs", json={"suite": "demo"}).status_code == 401
    for headers in allowed:
        assert (
            client.post(f"{PREFIX}/runs/{run}/cancel", headers=headers).status_code
            == 200
        )


@pytest.mark.shapes("embedded", "scaled")
def test_cancel_ends_queued_jobs_and_asks_held_ones_to_stop(
    client: TestClient,
    agent: ScriptedAgent,
    ci: dict[str, str],
    new_run: Make,
    job_now: Make,
) -> None:
    held, queued = new_run(), new_run()
    leased = agent.measuring()
    leased.send(log_item(0, "hello"))
    for run in (held, queued):
        assert (
            client.post(f"{PREFIX}/runs/{run['id']}/cancel", headers=ci).status_code
            == 200
        )
    assert job_now(queued["jobs"][0]["id"])["state"] == "cancelled"
    assert job_now(leased.job_id)["state"] == "measuring"
    assert leased.renew().json()["cancel"] is True
    assert leased.finish(0, "cancelled").status_code == 204
    assert job_now(leased.job_id)["state"] == "cancelled"
    again = client.post(f"{PREFIX}/runs/{held['id']}/cancel", headers=ci).json()
    assert (again["state"], again["verdict"]) == ("cancelled", None)


@pytest.mark.shapes("embedded", "scaled")
def test_a_cancelled_job_whose_agent_is_gone_ends_with_its_lease(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make
) -> None:
    run = new_run()
    leased = agent.measuring()
    with session_scope() as session:
        jobs.cancel(session, run["id"])
    clock.advance(31)
    expiry.sweep()
    assert job_now(leased.job_id)["state"] == "cancelled"


def test_a_cancelled_analysis_concludes_nothing(
    client: TestClient,
    agent: ScriptedAgent,
    ci: dict[str, str],
    new_run: Make,
    job_now: Make,
) -> None:
    run = new_run()
    leased = agent.measuring()
    leased.finish(-1)
    client.post(f"{PREFIX}/runs/{run['id']}/cancel", headers=ci)
    with session_scope() as session:
        assert jobs.conclude(session, leased.job_id, "pass", "fine") is False
        assert jobs.request_batch(session, leased.job_id) is False
    assert job_now(leased.job_id)["state"] == "cancelled"


@pytest.mark.shapes("embedded", "scaled")
def test_a_job_nobody_leases_expires(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make
) -> None:
    run = new_run()
    clock.advance(24 * 3600 + 1)
    assert agent.ask().status_code == 204
    assert expiry.sweep() == 1
    assert expiry.sweep() == 0
    assert job_now(run["jobs"][0]["id"])["state"] == "expired"


@pytest.mark.parametrize("end", ["failed", "lost", "cancelled"])
def test_a_confirmation_that_ends_without_a_verdict_wakes_its_alert(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, end: str
) -> None:
    run = new_run()
    with session_scope() as session:
        jobs.cancel(session, run["id"])
        confirmation = jobs.confirmation_run(
            session,
            alert_id="alr_1",
            original_run_id=run["id"],
            benchmarks=["sorting"],
            params={},
            target_id=run["jobs"][0]["target_id"],
            not_before=clock_module.now(),
        )
        confirmation_id = confirmation.id
    leased = agent.measuring()
    assert leased.run_id == confirmation_id
    if end == "lost":
        clock.advance(31)
        expiry.sweep()
    else:
        leased.finish(-1, end)
    with session_scope() as session:
        messages = [
            (each.topic, each.key) for each in session.scalars(select(OutboxMessage))
        ]
    assert messages == [("alerts.evaluate", leased.job_id)]


@pytest.mark.shapes("embedded", "scaled")
def test_runs_are_listed_newest_first_in_pages_and_filtered(
    client: TestClient, agent: ScriptedAgent, ci: dict[str, str], new_run: Make
) -> None:
    made = [new_run()["id"] for _ in range(5)]
    with session_scope() as session:
        jobs.cancel(session, made[0])
    seen, cursor = [], None
    while True:
        query: dict[str, Any] = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = client.get(f"{PREFIX}/runs", params=query, headers=ci).json()
        seen += [run["id"] for run in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == made[::-1]

    def ids(**query: str) -> list[str]:
        items = client.get(f"{PREFIX}/runs", params=query, headers=ci).json()["items"]
        return [run["id"] for run in items]

    target = client.get(f"{PREFIX}/runs", headers=ci).json()["items"][0]["jobs"][0][
        "target_id"
    ]
    assert ids(state="cancelled") == made[:1]
    assert ids(suite="demo", trigger="manual", target=target) == made[::-1]
    runs = client.get(f"{PREFIX}/runs", headers=ci).json()["items"]
    moment = next(run["created_at"] for run in runs if run["id"] == made[1])
    later = [run["id"] for run in runs if run["created_at"] >= moment]
    earlier = [run["id"] for run in runs if run["created_at"] < moment]
    assert ids(**{"from": moment}) == later
    assert ids(to=moment) == earlier
    assert ids(suite="other") == ids(trigger="ci") == ids(target="tgt_none") == []
    assert (
        client.get(f"{PREFIX}/runs", params={"state": "odd"}, headers=ci).status_code
        == 422
    )


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "path",
    ["runs/run_none", "jobs/job_none", "jobs/job_none/log", "jobs/job_none/conditions"],
)
def test_what_is_not_there_is_a_404(
    client: TestClient, ci: dict[str, str], path: str
) -> None:
    answer = client.get(f"{PREFIX}/{path}", headers=ci)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.shapes("embedded", "scaled")
def test_jobs_of_one_run_finishing_at_once_roll_up(
    client: TestClient,
    agent: ScriptedAgent,
    enrolled: Make,
    new_run: Make,
    together: Make,
) -> None:
    agents = [agent]
    for name in ("lab-2", "lab-3", "lab-4"):
        lab = enrolled(name)
        announce(lab.agent_id)
        agents.append(ScriptedAgent(client, lab.headers))
    run = new_run()
    leased = [each.measuring() for each in agents]
    together(
        *[
            lambda each=each: each.finish(-1, "failed", cause="workload_error")
            for each in leased
        ]
    )
    with session_scope() as session:
        rolled = jobs.get_run(session, run["id"])
        assert [job.state for job in rolled.jobs] == ["failed"] * 4
        assert rolled.state == "failed"
        assert len(list(session.scalars(select(Job)))) == 4
