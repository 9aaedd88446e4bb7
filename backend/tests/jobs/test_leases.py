"""Tests how jobs are leased, and how leases are renewed, refused, lost, and delivered late."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.jobs import expiry
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Attempt
from paceline_server.store.tables.messages import LiveEvent, OutboxMessage
from paceline_server.testing.concurrency import wait_for_hints
from paceline_server.testing.scripted_agent import (
    MANIFEST,
    ScriptedAgent,
    announce,
    event_item,
    samples_item,
)
from sqlalchemy import select, update

pytestmark = pytest.mark.shapes("embedded", "scaled")

PREFIX = "/api/v1"
Make = Callable[..., Any]


def test_a_lease_says_what_to_measure(agent: ScriptedAgent, new_run: Make) -> None:
    run = new_run(params={"n": [1000]}, knobs={"engine": "b"}, launches=3, rounds=7)
    lease = agent.lease().lease
    work = lease["work"]
    assert (lease["run_id"], lease["attempt"]) == (run["id"], 1)
    assert (work["first_launch"], work["launches"], work["rounds"]) == (0, 3, 7)
    assert work["params"] == {"n": [1000]}
    assert work["knobs"] == {"engine": "b"}
    assert work["launch_timeout_s"] == 90
    assert work["benchmarks"] == ["sorting", "hashing"]
    assert work["commit"] == run["commit"]


def test_a_target_has_one_lease_at_a_time(agent: ScriptedAgent, new_run: Make) -> None:
    new_run()
    new_run()
    first = agent.lease()
    assert agent.ask().status_code == 204
    assert first.report("measuring").status_code == 204
    assert agent.ask().status_code == 204
    assert first.finish(-1).status_code == 204
    assert agent.ask().status_code == 200


def test_only_the_targets_agent_gets_its_jobs(
    client: TestClient, agent: ScriptedAgent, enrolled: Make, new_run: Make
) -> None:
    new_run()
    other_agent = enrolled("lab-9")
    announce(other_agent.agent_id)
    assert ScriptedAgent(client, other_agent.headers).ask().status_code == 204


@pytest.mark.parametrize(
    "reason", [{"maintenance_by": "Ada"}, {"refuses": "disk full"}]
)
def test_a_target_in_maintenance_or_refusing_gets_no_job(
    agent: ScriptedAgent, new_run: Make, reason: dict[str, str]
) -> None:
    new_run()
    with session_scope() as session:
        session.execute(update(Target).values(**reason))
    assert agent.ask().status_code == 204


def test_an_agent_may_ask_for_some_of_its_targets(
    agent: ScriptedAgent, new_run: Make
) -> None:
    run = new_run()
    assert agent.ask(target_ids=["tgt_other"]).status_code == 204
    assert agent.ask(target_ids=[run["jobs"][0]["target_id"]]).status_code == 200


def test_of_32_claimers_on_one_job_one_gets_the_lease(
    agent: ScriptedAgent,
    enrolled: Make,
    client: TestClient,
    new_run: Make,
    together: Make,
) -> None:
    other = enrolled("lab-2")
    announce(other.agent_id)
    new_run(targets=None)
    agents = [agent, ScriptedAgent(client, other.headers)]
    answers = together(*[agents[index % 2].ask for index in range(32)])
    leases = [answer.json() for answer in answers if answer.status_code == 200]
    assert sorted(answer.status_code for answer in answers) == [200, 200] + [204] * 30
    assert len({lease["target_id"] for lease in leases}) == 2
    with session_scope() as session:
        assert len(list(session.scalars(select(Attempt)))) == 2


def test_of_32_claimers_on_many_jobs_of_one_target_one_gets_a_lease(
    agent: ScriptedAgent, new_run: Make, together: Make
) -> None:
    for _ in range(5):
        new_run()
    answers = together(*[agent.ask for _ in range(32)])
    assert sorted(answer.status_code for answer in answers) == [200] + [204] * 31


def test_a_waiting_agent_hears_of_a_new_job_before_its_next_look(
    agent: ScriptedAgent, new_run: Make, together: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline_server.jobs.routes.POLL_S", 60)
    wait_for_hints()
    leased, run = together(lambda: agent.lease(wait_s=30), new_run)
    assert leased.run_id == run["id"]


def test_a_waiting_agent_goes_home_empty_after_its_time(agent: ScriptedAgent) -> None:
    started = time.monotonic()
    assert agent.ask(wait_s=0.2).status_code == 204
    assert time.monotonic() - started >= 0.2


def test_a_job_not_due_yet_waits(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make
) -> None:
    run = new_run()
    with session_scope() as session:
        jobs.cancel(session, run["id"])
        jobs.confirmation_run(
            session,
            alert_id="alr_1",
            original_run_id=run["id"],
            benchmarks=["sorting"],
            params={"n": [1000]},
            target_id=run["jobs"][0]["target_id"],
            not_before=clock_module.now() + timedelta(seconds=30),
        )
    assert agent.ask().status_code == 204
    clock.advance(31)
    work = agent.lease().lease["work"]
    assert work["benchmarks"] == ["sorting"]
    assert work["params"] == {"n": [1000]}


def test_the_whole_way_of_a_job(
    agent: ScriptedAgent, new_run: Make, job_now: Make
) -> None:
    run = new_run()
    leased = agent.measuring()
    progress = event_item(1, {"type": "progress", "done": 1, "total": 4})
    assert leased.send(samples_item(0), progress).json() == {
        "stored": 2,
        "duplicates": 0,
    }
    seen = job_now(leased.job_id)
    assert (seen["state"], seen["samples"], seen["artifact_hash"]) == (
        "measuring",
        1,
        "a" * 64,
    )
    assert seen["progress"] == {"launch": 0, "launches": 5, "done": 1, "total": 4}
    assert leased.report("uploading").status_code == 204
    assert leased.finish(1).status_code == 204
    assert job_now(leased.job_id)["state"] == "analysing"
    with session_scope() as session:
        (message,) = session.scalars(select(OutboxMessage)).all()
        assert (message.topic, message.key) == ("job.analyse", f"{leased.job_id}:0")
        assert jobs.conclude(session, leased.job_id, "fail", "new is 12 % slower")
    seen = job_now(leased.job_id)
    assert (seen["state"], seen["verdict"], seen["reason"]) == (
        "done",
        "fail",
        "new is 12 % slower",
    )
    with session_scope() as session:
        kinds = [
            (event.kind, event.data.get("state"))
            for event in session.scalars(select(LiveEvent))
        ]
    assert [state for kind, state in kinds if kind == "job"] == [
        "queued",
        "leased",
        "preparing",
        "measuring",
        "uploading",
        "analysing",
        "done",
    ]
    assert [state for kind, state in kinds if kind == "run"] == [
        "queued",
        "active",
        "done",
    ]
    assert [state for kind, state in kinds if kind == "target"] == ["busy", "online"]
    with session_scope() as session:
        ended_run = jobs.get_run(session, run["id"])
        assert (ended_run.state, ended_run.verdict) == ("done", "fail")
        assert ended_run.finished_at is not None


def test_another_batch_measures_the_next_launches(
    agent: ScriptedAgent, new_run: Make
) -> None:
    new_run(launches=2)
    for batch in range(3):
        leased = agent.measuring()
        assert (leased.lease["attempt"], leased.lease["work"]["first_launch"]) == (
            batch + 1,
            2 * batch,
        )
        assert leased.send(samples_item(0, launch=2 * batch)).status_code == 200
        assert leased.send(samples_item(1, launch=2 * batch + 2)).status_code == 422
        assert leased.finish(0).status_code == 204
        with session_scope() as session:
            assert jobs.request_batch(session, leased.job_id) is (batch < 2)
            assert jobs.counting_attempts(session, leased.job_id) == list(
                range(1, batch + 2)
            )


def test_a_step_backwards_is_refused_and_a_repeated_one_is_not(
    agent: ScriptedAgent, new_run: Make
) -> None:
    new_run()
    leased = agent.measuring()
    assert leased.report("measuring").status_code == 204
    assert leased.report("preparing").json()["code"] == "conflict"
    assert leased.finish(-1).status_code == 204
    assert leased.finish(-1).status_code == 204
    assert leased.finish(-1, "failed").json()["code"] == "lease_lost"


def test_done_before_measuring_is_refused(agent: ScriptedAgent, new_run: Make) -> None:
    new_run()
    answer = agent.lease().finish(-1)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_done_needs_every_item(agent: ScriptedAgent, new_run: Make) -> None:
    new_run()
    leased = agent.measuring()
    leased.send(*[samples_item(seq) for seq in (0, 1, 4, 8)])
    answer = leased.finish(8)
    assert (answer.status_code, answer.json()["code"]) == (409, "items_missing")
    assert answer.json()["fields"] == {"missing": "2-3, 5-7"}
    leased.send(*[samples_item(seq) for seq in (2, 3, 5, 6, 7)])
    assert leased.finish(8).status_code == 204


@pytest.mark.parametrize(
    "case",
    list(
        product(
            ["renew", "manifest", "state", "items", "finish"],
            ["token", "attempt", "agent", "stale"],
        )
    ),
    ids="-".join,
)
def test_a_write_without_the_newest_lease_is_refused(
    agent: ScriptedAgent,
    enrolled: Make,
    clock: FrozenClock,
    new_run: Make,
    case: tuple[str, str],
) -> None:
    action, wrong = case
    new_run()
    leased = agent.lease()
    if wrong == "token":
        leased.lease["lease_token"] = "plj_wrong"
    elif wrong == "attempt":
        leased.path = leased.path.replace("attempts/1", "attempts/2")
    elif wrong == "agent":
        leased.headers = enrolled("lab-7").headers
    else:
        clock.advance(31)
        assert expiry.sweep() == 1
        assert agent.lease().lease["attempt"] == 2
    bodies: dict[str, dict[str, Any]] = {
        "renew": {},
        "manifest": {"json": {"manifest": MANIFEST}},
        "state": {"json": {"state": "measuring"}},
        "items": {"json": {"items": [samples_item(0)]}},
        "finish": {"json": {"outcome": "failed", "last_seq": -1}},
    }
    answer = leased.post(action, **bodies[action])
    assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost")


def test_renewing_keeps_the_lease(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make
) -> None:
    new_run()
    leased = agent.lease()
    for _ in range(5):
        clock.advance(25)
        assert leased.renew().json() == {"lease_s": 30.0, "cancel": False}
        assert expiry.sweep() == 0
    assert job_now(leased.job_id)["state"] == "leased"


def test_a_lease_lost_before_measuring_is_given_again_twice_then_failed(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make
) -> None:
    run = new_run()
    for attempt in (1, 2, 3):
        leased = agent.lease()
        assert leased.lease["attempt"] == attempt
        clock.advance(31)
        assert expiry.sweep() == 1
    seen = job_now(leased.job_id)
    assert (seen["state"], seen["cause"], seen["partial"]) == (
        "failed",
        "agent_lost",
        False,
    )
    with session_scope() as session:
        ended_run = jobs.get_run(session, run["id"])
    assert (ended_run.state, ended_run.outcome, ended_run.verdict) == (
        "failed",
        "failed",
        None,
    )
    assert (ended_run.cause, ended_run.jobs[0].outcome) == ("agent_lost", "failed")


def test_a_lease_lost_while_measuring_keeps_what_arrived_and_takes_the_rest_late(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make
) -> None:
    new_run()
    leased = agent.measuring()
    leased.send(samples_item(0))
    clock.advance(31)
    assert expiry.sweep() == 1
    seen = job_now(leased.job_id)
    assert (seen["state"], seen["cause"], seen["partial"], seen["samples"]) == (
        "lost",
        "agent_lost",
        True,
        1,
    )
    assert leased.send(samples_item(0), samples_item(1)).json() == {
        "stored": 1,
        "duplicates": 1,
    }
    seen = job_now(leased.job_id)
    assert (seen["state"], seen["cause"], seen["partial"], seen["samples"]) == (
        "uploading",
        None,
        True,
        2,
    )
    assert leased.finish(1).status_code == 204
    seen = job_now(leased.job_id)
    assert (seen["state"], seen["partial"], seen["attempt"]) == ("analysing", False, 1)


def test_a_late_result_does_not_take_its_target_from_the_job_that_has_it_now(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make
) -> None:
    new_run()
    new_run()
    late = agent.measuring()
    clock.advance(31)
    expiry.sweep()
    current = agent.measuring()
    assert late.send(samples_item(0)).status_code == 200
    assert late.report("uploading").status_code == 204
    assert job_now(late.job_id)["state"] == "lost"
    assert current.renew().status_code == 200
    assert late.finish(0).status_code == 204
    assert job_now(late.job_id)["state"] == "analysing"
    assert job_now(current.job_id)["state"] == "measuring"


def test_a_repeat_after_the_end_is_answered_and_news_is_refused(
    agent: ScriptedAgent, new_run: Make
) -> None:
    new_run()
    leased = agent.measuring()
    leased.send(samples_item(0))
    leased.finish(0)
    assert leased.send(samples_item(0)).json() == {"stored": 0, "duplicates": 1}
    assert leased.send(samples_item(0), samples_item(1)).json()["code"] == "lease_lost"


@pytest.mark.parametrize(
    "case",
    [
        ("preparing", "agent_error", "queued"),
        ("preparing", "build_failed", "failed"),
        ("measuring", "workload_crashed", "failed"),
        ("measuring", "agent_error", "failed"),
    ],
)
def test_a_failure_says_why_and_only_early_infrastructure_is_tried_again(
    agent: ScriptedAgent, new_run: Make, job_now: Make, case: tuple[str, str, str]
) -> None:
    state, cause, then = case
    new_run()
    leased = agent.lease()
    leased.report(state)
    assert (
        leased.finish(
            -1, "failed", cause=cause, detail="SIGSEGV in launch 2"
        ).status_code
        == 204
    )
    seen = job_now(leased.job_id)
    assert (seen["state"], seen["cause"], seen["cause_detail"]) == (
        then,
        cause,
        "SIGSEGV in launch 2",
    )
    assert seen["failure"]["sentence"] == "SIGSEGV in launch 2"
    assert leased.finish(-1, "failed", cause=cause).status_code == 204
