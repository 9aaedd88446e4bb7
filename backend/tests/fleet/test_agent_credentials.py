"""Agents are listed, get new credentials, are revoked and replaced. Over HTTP, on both shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.jobs import expiry
from paceline_server.kernel.clock import FrozenClock
from paceline_server.testing.scripted_agent import PREFIX, ScriptedAgent
from paceline_server.testing.scripted_device import ScriptedDevice

from .conftest import Person

Make = Callable[..., Any]


def agent_named(person: Person, name: str) -> dict[str, Any]:
    (found,) = [
        agent
        for agent in person.get("/installation/agents")["items"]
        if agent["name"] == name
    ]
    return dict(found)


def beat(client: TestClient, headers: Any) -> Any:
    body = {"version": "2", "targets": []}
    return client.post(
        f"{PREFIX}/agents/self/heartbeat", json=body, headers=dict(headers)
    )


def renew_credential(client: TestClient, headers: Any) -> Any:
    return client.post(f"{PREFIX}/agents/self/credential", headers=dict(headers))


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_a_revoked_agent_is_refused_at_once_and_its_job_goes_to_another(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [phone.healthy()]}
    run = person.send("POST", "/runs", body).json()
    job = lab.lease()
    agent = agent_named(person, "lab-1")
    assert (agent["state"], agent["credential_since"] is None) == ("online", False)
    path = f"/installation/agents/{agent['id']}/revoke"
    revoked = person.send("POST", path)
    assert (revoked.json()["state"], revoked.json()["credential_since"]) == (
        "revoked",
        None,
    )
    for answer in (
        job.renew(),
        job.send(),
        lab.ask(),
        beat(lab.client, lab.headers),
        renew_credential(lab.client, lab.headers),
    ):
        assert answer.status_code == 401, answer.text
    assert expiry.sweep() == 1
    shown = person.get(f"/runs/{run['id']}")["jobs"][0]
    assert shown["state"] == "queued"
    assert person.send("POST", path).status_code == 200, "repeatable"
    refused = person.send("POST", f"/installation/agents/{agent['id']}/rotate")
    assert (refused.status_code, refused.json()["code"]) == (409, "agent_revoked")
    words = [entry["words"] for entry in person.get("/audit")["items"]]
    assert words.count("test revoked agent lab-1.") == 1


def test_a_measuring_job_of_a_revoked_agent_is_lost_and_says_why(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [phone.healthy()]}
    run = person.send("POST", "/runs", body).json()
    lab.measuring()
    agent_id = agent_named(person, "lab-1")["id"]
    person.send("POST", f"/installation/agents/{agent_id}/revoke")
    assert expiry.sweep() == 1
    shown = person.get(f"/runs/{run['id']}")["jobs"][0]
    assert (shown["state"], shown["cause_detail"]) == (
        "lost",
        "its agent was revoked; delivered samples are kept",
    )


def test_a_credential_is_replaced_without_a_moment_in_which_none_works(
    client: TestClient, lab: ScriptedAgent, person: Person, clock: FrozenClock
) -> None:
    old = lab.headers
    assert renew_credential(client, old).json() == {"credential": None}, "not asked for"
    agent_id = agent_named(person, "lab-1")["id"]
    clock.advance(1)
    asked = person.send("POST", f"/installation/agents/{agent_id}/rotate")
    assert asked.json()["rotation_requested_at"] is not None
    assert beat(client, old).json()["rotate_credential"] is True
    lost = renew_credential(client, old).json()["credential"]
    new = renew_credential(client, old).json()["credential"]
    assert beat(client, old).status_code == 200, "until the new one is used"
    assert beat(client, bearer(lost)).status_code == 401
    assert beat(client, bearer(new)).json()["rotate_credential"] is True
    assert renew_credential(client, bearer(new)).json() == {"credential": None}
    assert beat(client, old).status_code == 401
    assert beat(client, bearer(new)).json()["rotate_credential"] is False
    assert agent_named(person, "lab-1")["rotation_requested_at"] is None
    words = [entry["words"] for entry in person.get("/audit")["items"]]
    assert "test asked for a new credential of agent lab-1." in words
    assert "lab-1 replaced the credential of agent lab-1." in words


def test_an_agent_that_enrols_again_gets_the_targets_of_the_one_it_replaces(
    client: TestClient, lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    phone.healthy()
    before = agent_named(person, "lab-1")
    code = person.send(
        "POST",
        "/agents/enrolment-codes",
        {"replaces": before["id"], "targets": ["device:*"]},
    ).json()["code"]
    assert beat(client, lab.headers).status_code == 200, "until the code is used"
    answer = client.post(
        f"{PREFIX}/agents/enrol", json={"code": code, "name": "lab-9", "version": "2"}
    ).json()
    assert beat(client, lab.headers).status_code == 401
    after = agent_named(person, "lab-9")
    assert [target["serial"] for target in after["targets"]] == [
        "serial-lab-1",
        phone.serial,
    ]
    assert (after["grant"]["projects"], after["grant"]["targets"]) == (
        ["default"],
        ["device:*"],
    )
    assert agent_named(person, "lab-1")["targets"] == []
    shown = [agent["name"] for agent in person.get("/overview")["agents"]]
    assert shown == ["lab-9"], "what is revoked was listed as offline for ever"
    again = ScriptedDevice(client, bearer(answer["credential"]), serial=phone.serial)
    assert again.heartbeat()["driven_by"] is None
    unknown = {"replaces": "agt_imports"}
    assert person.send("POST", "/agents/enrolment-codes", unknown).status_code == 404


def test_a_grant_is_changed_and_counts_from_the_next_heartbeat(
    phone: ScriptedDevice, person: Person
) -> None:
    phone.healthy()
    agent_id = agent_named(person, "lab-1")["id"]
    path = f"/installation/agents/{agent_id}/grant"
    grant = {
        "projects": ["default"],
        "repositories": ["https://git.example.org/team/*"],
        "targets": ["host:*"],
    }
    changed = person.send("PUT", path, grant)
    assert changed.json()["grant"]["repositories"] == ["git.example.org/team/*"]
    body = {"version": "1", "targets": [phone.announcement()]}
    answer = phone.client.post(
        f"{PREFIX}/agents/self/heartbeat", json=body, headers=dict(phone.headers)
    ).json()
    assert answer["targets"] == []
    assert answer["refused_targets"][0]["serial"] == phone.serial
    nowhere = person.send("PUT", path, {**grant, "projects": ["nowhere"]})
    assert nowhere.status_code == 404


@pytest.mark.shapes("embedded")
def test_the_list_of_agents_has_pages_and_no_imports(
    enrolled: Make, person: Person
) -> None:
    for number in range(3):
        enrolled(f"lab-{number}")
    first = person.get("/installation/agents?limit=2")
    rest = person.get(f"/installation/agents?limit=2&cursor={first['next']}")
    names = [agent["name"] for agent in [*first["items"], *rest["items"]]]
    assert sorted(names) == ["lab-0", "lab-1", "lab-2"]
