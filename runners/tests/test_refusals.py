"""Tests of the server's refusals and the agent's reaction: lost items, suites, credentials, encodings."""

from __future__ import annotations

import gzip
import json

import httpx
import pytest
from paceline import server_remarks
from paceline.agent import Agent
from paceline.testing.fake_server import FakeServer
from paceline_contract.testing.waiting import WITHIN_S

from .conftest import (
    World,
    assert_complete,
    finish_of,
    git,
    hang_from_now_on,
    values_of,
)


def test_a_server_that_lost_acknowledged_items_gets_them_again(
    world: World, running: Agent
) -> None:
    world.server.forget_items = 2
    job = world.add_job()
    finish = finish_of(world, job)
    assert finish["outcome"] == "done"
    assert_complete(job, finish)
    assert values_of(job) == 2 * 2 * (5 + 3)
    assert running is not None


def test_a_server_that_loses_items_for_ever_ends_the_attempt_and_they_are_kept(
    world: World, running: Agent
) -> None:
    world.server.forget_items = 10**9
    job = world.add_job()
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "agent_error")
    assert "items_missing" in finish["detail"]
    aside = world.data / "spool" / "aside"
    world.server.wait_for(lambda: aside.exists() and any(aside.glob("*/reason.txt")))
    assert running is not None


def test_a_refused_suite_is_said_once_with_advice_and_the_agent_works_on(
    world: World, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    caplog.set_level("INFO", "paceline")
    advice = "Call it [repositories.theirs] in this agent's agent.toml, too."
    world.server.refuse_suites = [{"suite": "other", "reason": advice}]
    request.getfixturevalue("running")
    assert finish_of(world, world.add_job())["outcome"] == "done"
    world.server.wait_for(lambda: len(world.server.heartbeats) >= 3)
    records = [record for record in caplog.records if advice in record.getMessage()]
    assert [record.levelname for record in records] == ["WARNING"]
    world.server.refuse_suites = []
    world.server.wait_for(lambda: "takes suite other now" in caplog.text)


def test_a_host_that_the_server_does_not_take_leases_nothing_until_it_does(
    world: World, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    caplog.set_level("INFO", "paceline")
    why = "This agent may not announce it: its grant names device:*."
    world.server.refuse_targets = {world.serial: why}
    job = world.add_job()
    request.getfixturevalue("running")
    world.server.wait_for(lambda: len(world.server.heartbeats) >= 3)
    assert job.attempt == 0
    records = [record for record in caplog.records if why in record.getMessage()]
    assert [record.levelname for record in records] == ["WARNING"]
    assert "waiting: the server does not take this host" in caplog.text
    assert "ready: target" not in caplog.text
    (remark,) = server_remarks.findings(world.data)
    assert why in remark.text
    world.server.refuse_targets = {}
    assert finish_of(world, job)["outcome"] == "done"
    assert caplog.text.count("ready: target") == 1
    assert server_remarks.findings(world.data) == []


def test_a_host_of_another_agent_ends_the_enrolment_and_its_code_still_works(
    world: World,
) -> None:
    """It enrolled, said "ready" and waited for ever, and its code was used up."""
    why = "host:x belongs to the agent 'lab-1', and a host has one agent."
    world.server.taken_hosts = {world.serial: why}
    assert world.spawn().wait(WITHIN_S) == 77
    text = (world.data.parent / "agent.log").read_text()
    assert why in text
    assert "The code was not used" in text
    assert not (world.data / "credential.json").exists()
    assert world.server.heartbeats == []
    world.server.taken_hosts = {}
    world.spawn()
    world.server.wait_for(lambda: world.server.heartbeats)


@pytest.mark.parametrize("beats", [True, False], ids=["heartbeat", "lease"])
def test_a_revoked_credential_ends_the_agent_with_the_advice_of_its_start(
    world: World, beats: bool
) -> None:
    world.server.heartbeat_s = 0.2 if beats else 60.0
    process = world.spawn()
    world.server.wait_for(lambda: world.server.heartbeats)
    with world.server.changed:
        world.server.credential = "plc_other"
    assert process.wait(WITHIN_S) == 77
    text = (world.data.parent / "agent.log").read_text()
    assert "does not accept this agent" in text
    assert "enrol again" in text


def test_a_credential_revoked_during_a_job_ends_the_agent_and_keeps_what_it_measured(
    world: World,
) -> None:
    hang_from_now_on(world)
    job = world.add_job()
    process = world.spawn()
    world.server.wait_for(lambda: values_of(job) > 0)
    with world.server.changed:
        world.server.credential = "plc_other"
    assert process.wait(WITHIN_S) == 77
    assert "enrol again" in (world.data.parent / "agent.log").read_text()
    assert list((world.data / "spool").rglob("items.ndjson"))


def test_a_silent_workload_stops_when_the_credential_is_revoked(world: World) -> None:
    """Nothing is delivered that could be refused: the heartbeat ends the job."""
    path = world.repository / "bench" / "sorts.py"
    path.write_text("import time\ntime.sleep(600)\n")
    git(world.repository, "commit", "--quiet", "-a", "-m", "Say nothing")
    job = world.add_job()
    process = world.spawn()
    world.server.wait_for(lambda: any(s["state"] == "measuring" for s in job.states))
    with world.server.changed:
        world.server.credential = "plc_other"
    assert process.wait(WITHIN_S) == 77
    text = (world.data.parent / "agent.log").read_text()
    assert "no longer accepts this agent: The credential is not known." in text
    assert "job job-1: agent_error" in text


def test_a_credential_is_replaced_when_the_server_asks_and_is_used_from_then_on(
    world: World, running: Agent
) -> None:
    world.server.wait_for(lambda: world.server.heartbeats)
    with world.server.changed:
        world.server.next_credential = "plc_next"
    world.server.wait_for(lambda: world.server.credential == "plc_next")
    path = world.data / "credential.json"
    assert json.loads(path.read_text())["credential"] == "plc_next"
    assert path.stat().st_mode & 0o077 == 0
    assert finish_of(world, world.add_job())["outcome"] == "done"
    assert running is not None


def test_a_request_on_its_way_while_the_credential_is_replaced_does_not_end_the_agent(
    world: World, running: Agent
) -> None:
    """It arrives with the former credential, which the first use of the new one has ended."""
    world.server.held.add("/lease")
    world.server.wait_for(
        lambda: any(path.endswith("/lease") for path in world.server.waiting)
    )
    with world.server.changed:
        world.server.next_credential = "plc_next"
    world.server.wait_for(lambda: world.server.credential == "plc_next")
    job = world.add_job()
    world.server.let_go("/lease")
    assert finish_of(world, job)["outcome"] == "done"
    assert running is not None


def test_only_items_are_inflated_as_by_the_real_server(server: FakeServer) -> None:
    server.add_job("job-1", {}, "serial").attempt = 1
    headers = {"Authorization": f"Bearer {server.credential}", "Lease-Token": "token-1"}

    def post(path: str, body: dict[str, object]) -> int:
        data = gzip.compress(json.dumps(body).encode())
        sent = {**headers, "Content-Encoding": "gzip"}
        return httpx.post(
            f"{server.url}/api/v1{path}", content=data, headers=sent, timeout=WITHIN_S
        ).status_code

    assert post("/jobs/job-1/attempts/1/items", {"items": []}) == 200
    assert post("/jobs/job-1/attempts/1/state", {"state": "preparing"}) == 400
    assert post("/agents/self/heartbeat", {"targets": [], "suites": []}) == 400
    assert not server.heartbeats
