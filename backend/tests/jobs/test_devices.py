"""Requests for devices: how many launches, which targets by default, what may be suppressed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.jobs import schedules
from paceline_server.jobs import service as jobs
from paceline_server.kernel.clock import FrozenClock, now
from paceline_server.store.session import session_scope
from paceline_server.store.tables.jobs import Run
from paceline_server.testing.scripted_agent import PREFIX, ScriptedAgent, announce
from paceline_server.testing.scripted_device import ScriptedDevice, device_manifest

Make = Callable[..., Any]


@pytest.fixture
def agent(client: TestClient, enrolled: Make) -> ScriptedAgent:
    """An agent that can run `demo` on its host and on devices."""
    lab = enrolled("lab-1")
    announce(lab.agent_id, device_manifest())
    return ScriptedAgent(client, lab.headers)


def device(agent: ScriptedAgent, **how: Any) -> ScriptedDevice:
    made = ScriptedDevice(agent.client, agent.headers, **how)
    made.healthy()
    return made


def launches(run: dict[str, Any]) -> dict[str, int]:
    """Per target's name; the host is `lab-1`."""
    return {job["target_name"]: job["launches"] for job in run["jobs"]}


def test_a_job_on_a_device_has_ten_launches_and_on_a_host_five_unless_asked_otherwise(
    agent: ScriptedAgent, new_run: Make
) -> None:
    phone = device(agent)
    name = f"phone {phone.serial}"
    assert launches(new_run()) == {"lab-1": 5, name: 10}
    assert launches(new_run(launches=3)) == {"lab-1": 3, name: 3}
    assert new_run(targets=[phone.target_id])["launches"] == 10


def test_a_later_batch_of_a_device_begins_where_its_first_ended(
    agent: ScriptedAgent, new_run: Make
) -> None:
    phone = device(agent)
    new_run(targets=[phone.target_id])
    job = agent.measuring()
    assert job.finish(-1).status_code == 204
    with session_scope() as session:
        assert jobs.request_batch(session, job.job_id)
    work = agent.lease().lease["work"]
    assert (work["first_launch"], work["launches"]) == (10, 10)


def test_a_follow_up_has_the_launches_of_the_job_it_follows(
    agent: ScriptedAgent, new_run: Make
) -> None:
    phone = device(agent)
    run = new_run(suppress=["emulator"])
    with session_scope() as session:
        for times, expected in ((1, 10), (2, 20), (99, 100)):
            followed: Run = jobs.ab_run(
                session,
                original_run_id=run["id"],
                base_commit="b" * 40,
                commit="c" * 40,
                benchmarks=["sorting"],
                params={},
                target_id=phone.target_id,
                trigger="bisect",
                times=times,
                not_before=now(),
            )
            (job,) = jobs.get_run(session, followed.id).jobs
            assert (job.launches, followed.suppress) == (expected, ["emulator"])


def test_a_simulated_device_is_measured_on_only_where_somebody_says_so(
    agent: ScriptedAgent, new_run: Make
) -> None:
    toy = device(agent, serial="SIM0001", simulated=True)
    assert [job["target_name"] for job in new_run()["jobs"]] == ["lab-1"]
    named = new_run(targets=[toy.target_id])
    assert [job["target_id"] for job in named["jobs"]] == [toy.target_id]
    tried = new_run(suppress=["simulated"])
    assert toy.target_id in [job["target_id"] for job in tried["jobs"]]
    assert tried["suppress"] == ["simulated"]


@pytest.mark.usefixtures("agent")
def test_a_name_that_is_no_configuration_error_is_refused(
    client: TestClient, ci: dict[str, str]
) -> None:
    body = {"suite": "demo", "suppress": ["emulatr"]}
    answer = client.post(f"{PREFIX}/runs", json=body, headers=ci)
    assert answer.status_code == 400
    assert "known are emulator, debuggable" in answer.json()["fields"]["suppress"]


def test_a_name_only_a_target_of_the_suite_has_may_be_suppressed_and_stays_so_in_a_schedule(
    client: TestClient,
    agent: ScriptedAgent,
    clock: FrozenClock,
    ci: dict[str, str],
    new_run: Make,
) -> None:
    """The void names it and says that it may be suppressed; the dashboard offers it."""
    phone = device(agent)
    body = {
        "suite": "demo",
        "targets": [phone.target_id],
        "suppress": ["method_tracing"],
    }
    assert client.post(f"{PREFIX}/runs", json=body, headers=ci).status_code == 400
    phone.heartbeat(configuration=["method_tracing"])
    assert new_run(**body)["suppress"] == ["method_tracing"]
    other = client.post(
        f"{PREFIX}/runs", json={**body, "suppress": ["methods"]}, headers=ci
    )
    assert other.json()["fields"]["suppress"].endswith(", simulated, method_tracing")
    timed = {
        "name": "n",
        "kind": "measure",
        "suite": "demo",
        "every_s": 60,
        "enabled": True,
    }
    timed |= {"target_id": phone.target_id, "suppress": ["method_tracing"]}
    made = client.post(f"{PREFIX}/schedules", json=timed, headers=ci).json()
    clock.advance(61)
    phone.heartbeat(configuration=[])
    assert schedules.run_due() == 1
    (newest, *_) = client.get(f"{PREFIX}/runs", headers=ci).json()["items"]
    assert (newest["created_by"], newest["suppress"]) == (
        f"schedule {made['name']}",
        ["method_tracing"],
    )


@pytest.mark.usefixtures("agent")
def test_a_schedule_keeps_what_it_suppresses_and_leaves_launches_to_the_kind(
    client: TestClient, ci: dict[str, str]
) -> None:
    body = {
        "name": "n",
        "kind": "measure",
        "suite": "demo",
        "every_s": 60,
        "suppress": ["debuggable"],
    }
    made = client.post(f"{PREFIX}/schedules", json=body, headers=ci).json()
    assert (made["suppress"], made["launches"]) == (["debuggable"], None)
