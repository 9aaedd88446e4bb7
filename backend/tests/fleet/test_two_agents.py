"""One target that two agents know: it belongs to the first that reached it, until a person moves it (I19)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.fleet import service as fleet
from paceline_server.kernel import settings
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.fleet import Agent
from paceline_server.testing.scripted_agent import (
    PREFIX,
    LeasedJob,
    ScriptedAgent,
    announce,
    samples_item,
)
from paceline_server.testing.scripted_device import ScriptedDevice, device_manifest
from sqlalchemy import select

from .conftest import Person

pytestmark = pytest.mark.shapes("embedded", "scaled")

Make = Callable[..., Any]
ABSENT = {
    "state": "absent",
    "reason": "not connected",
    "advice": "plug it in",
    "route": None,
}
UNTRUSTED = {
    "state": "unauthorized",
    "reason": "no trust",
    "advice": "accept",
    "route": "usb 2-1",
}


@pytest.fixture
def other(
    client: TestClient, lab: ScriptedAgent, clock: FrozenClock, enrolled: Make
) -> ScriptedAgent:
    """A second agent, of another host, enrolled after `lab`."""
    assert lab.headers
    clock.advance(1)
    made = enrolled("lab-2")
    announce(made.agent_id, device_manifest())
    return ScriptedAgent(client, made.headers)


@pytest.fixture
def seen_by_other(
    client: TestClient, phone: ScriptedDevice, other: ScriptedAgent
) -> ScriptedDevice:
    """The same device as `phone`, as the second agent knows it."""
    return ScriptedDevice(client, other.headers, serial=phone.serial)


@pytest.mark.parametrize(
    "theirs", [{"connection": ABSENT, "boot_id": "boot-0"}, {"boot_id": "boot-1"}]
)
def test_an_agent_that_knows_a_device_another_one_reaches_changes_nothing_of_it(
    phone: ScriptedDevice,
    seen_by_other: ScriptedDevice,
    person: Person,
    theirs: dict[str, Any],
) -> None:
    """Absent there, with the boot id of before; or both reach it, by TCP, which the phone's page says."""
    target_id = phone.healthy()
    before, events = person.target(target_id), person.history(target_id, "connection")
    rung = {"id": "r1", "step": "give_up", "ok": False, "text": "", "ms_ago": 0}
    check = seen_by_other.check(ok=False)
    hot = {
        "battery_c": 50.0,
        "battery_percent": 1.0,
        "charging": False,
        "thermal_status": 6,
        "ms_ago": 0,
    }
    for _ in range(3):
        heard = seen_by_other.heartbeat(
            **theirs,
            gates=hot,
            check=check,
            recovery=[rung],
            refuses="disk full",
            configuration=["emulator"],
        )
        assert (
            heard["driven_by"],
            heard["health"],
            heard["check_due"],
            heard["orders"],
        ) == (
            "lab-1",
            "good",
            False,
            [],
        )
        assert (heard["checks_heard"], heard["recovery_heard"]) == (
            [check["id"]],
            ["r1"],
        )
        heard = phone.heartbeat()
        assert (heard["driven_by"], heard["health"], heard["check_due"]) == (
            None,
            "good",
            False,
        )
    after = person.target(target_id)
    findings = [finding["code"] for finding in after.pop("preflight")]
    assert before.pop("preflight") == []
    assert after == before
    new = person.history(target_id, "connection")[: -len(events)]
    is_reached = "connection" not in theirs
    assert findings == ["identity"] * is_reached
    assert [one["event"] for one in new] == ["claimed"] * is_reached


def claims(person: Person, state: str = "open") -> list[dict[str, Any]]:
    return list(person.get(f"/installation/claims?state={state}")["items"])


def incidents(person: Person) -> list[dict[str, Any]]:
    return [
        one
        for one in person.get("/incidents")["items"]
        if one["code"] == "target_claimed"
    ]


def decide(person: Person, claim: dict[str, Any], how: str) -> Any:
    return person.send("POST", f"/installation/claims/{claim['id']}/{how}")


def test_a_device_that_another_agent_reaches_is_refused_until_an_admin_moves_it(
    other: ScriptedAgent,
    phone: ScriptedDevice,
    seen_by_other: ScriptedDevice,
    person: Person,
    clock: FrozenClock,
) -> None:
    """Plugged into another host: nothing moves by itself, and one incident says so however often it is announced."""
    target_id = phone.healthy()
    body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [target_id]}
    assert person.send("POST", "/runs", body).status_code == 201
    phone.heartbeat(connection=ABSENT)
    clock.advance(settings.current().offline_after_s + 1)
    for _ in range(3):
        clock.advance(10)
        assert seen_by_other.heartbeat()["driven_by"] == "lab-1"
    assert other.ask().status_code == 204
    (claim,) = claims(person)
    assert (claim["target"]["id"], claim["agent"]["name"], claim["owner"]["name"]) == (
        target_id,
        "lab-2",
        "lab-1",
    )
    (incident,) = incidents(person)
    assert incident["detail"]["serial"] == phone.serial
    assert decide(person, claim, "move").status_code == 200
    assert seen_by_other.heartbeat()["driven_by"] is None
    assert phone.heartbeat(connection=ABSENT)["driven_by"] == "lab-2"
    assert ScriptedAgent(phone.client, phone.headers).ask().status_code == 204
    assert other.lease().lease["target_serial"] == phone.serial
    assert person.events(target_id, "connection").count("moved") == 1
    assert (claims(person), len(claims(person, "moved"))) == ([], 1)
    again = decide(person, claim, "move")
    assert (again.status_code, again.json()["code"]) == (409, "claim_decided")
    words = [entry["words"] for entry in person.get("/audit")["items"]]
    assert f"test moved target phone {phone.serial} to another agent." in words


def test_a_refusal_says_whose_the_target_is_and_what_to_do(
    client: TestClient, phone: ScriptedDevice, seen_by_other: ScriptedDevice
) -> None:
    phone.healthy()
    body = {"version": "1", "targets": [seen_by_other.announcement()]}
    answer = client.post(
        f"{PREFIX}/agents/self/heartbeat", json=body, headers=seen_by_other.headers
    ).json()
    (refused,) = answer["refused_targets"]
    assert refused["serial"] == phone.serial
    assert "belongs to the agent 'lab-1'" in refused["why"]
    assert "paceline-server agent move" in refused["why"]
    assert "two phones with one serial number" in refused["why"]


def test_the_twin_of_a_cloned_machine_is_told_how_to_get_an_identity_of_its_own(
    client: TestClient, lab: ScriptedAgent, other: ScriptedAgent
) -> None:
    """Clones of one image have one machine-id; the second agent said "ready" and waited for ever."""

    def heartbeat(agent: ScriptedAgent, serial: str) -> dict[str, Any]:
        target = {
            "kind": "host",
            "serial": serial,
            "name": "twin",
            "factors": {},
            "fingerprint": "1" * 64,
        }
        body = {"version": "1", "targets": [target]}
        url = f"{PREFIX}/agents/self/heartbeat"
        answer: dict[str, Any] = client.post(
            url, json=body, headers=agent.headers
        ).json()
        return answer

    assert heartbeat(lab, "host-of-an-image")["refused_targets"] == []
    (refused,) = heartbeat(other, "host-of-an-image")["refused_targets"]
    assert "systemd-machine-id-setup" in refused["why"]
    assert "`serial` under [agent] in its agent.toml" in refused["why"]
    assert heartbeat(other, "host-of-its-own")["refused_targets"] == []


def enrol(client: TestClient, code: str, host_serial: str) -> Any:
    body = {"code": code, "name": "x", "version": "1", "host_serial": host_serial}
    return client.post(f"{PREFIX}/agents/enrol", json=body)


def enrolment_code(person: Person, **grant: Any) -> str:
    made = person.send("POST", "/agents/enrolment-codes", grant)
    assert made.status_code == 201, made.text
    return str(made.json()["code"])


def owner_of_lab(person: Person) -> str:
    (host,) = person.get("/targets?kind=host&q=serial-lab-1")["items"]
    return str(host["agent_id"])


def test_a_second_agent_of_a_host_is_refused_when_it_enrols_and_its_code_still_works(
    client: TestClient, lab: ScriptedAgent, person: Person
) -> None:
    """It enrolled, waited for ever as a claim, and its code was used up."""
    owner, code = owner_of_lab(person), enrolment_code(person)
    refused = enrol(client, code, "serial-lab-1")
    assert (refused.status_code, refused.json()["code"]) == (409, "host_taken")
    why = refused.json()["detail"]
    assert "host:serial-lab-1 belongs to the agent 'lab-1'" in why
    assert "make run REPOSITORY=PATH" in why
    assert f"paceline-server enrolment-code --replaces {owner}" in why
    assert "systemd-machine-id-setup" in why
    assert len(person.get("/agents")["items"]) == 1
    assert (claims(person), incidents(person)) == ([], [])
    assert enrol(client, "unknown", "serial-lab-1").json()["code"] == (
        "enrolment_code_invalid"
    )
    assert enrol(client, code, "serial-of-its-own").status_code == 201
    assert lab.headers


def test_a_host_is_enrolled_again_by_a_code_that_replaces_its_own_agent(
    client: TestClient, lab: ScriptedAgent, other: ScriptedAgent, person: Person
) -> None:
    """As one whose data directory was lost; a code for the place of another agent does not take the host."""
    owner = owner_of_lab(person)
    (another,) = {agent["id"] for agent in person.get("/agents")["items"]} - {owner}
    of_another = enrolment_code(person, replaces=another)
    assert enrol(client, of_another, "serial-lab-1").json()["code"] == "host_taken"
    again = enrol(client, enrolment_code(person, replaces=owner), "serial-lab-1")
    assert again.status_code == 201, again.text
    assert owner_of_lab(person) == again.json()["agent_id"]
    assert lab.headers
    assert other.headers


def test_an_agent_that_may_drive_devices_alone_enrols_beside_the_agent_of_its_host(
    client: TestClient, lab: ScriptedAgent, person: Person
) -> None:
    devices = enrolment_code(person, targets=["device:*"])
    assert enrol(client, devices, "serial-lab-1").status_code == 201
    assert lab.headers


def test_the_owner_of_a_cloned_machine_and_its_page_hear_of_the_twin(
    client: TestClient, lab: ScriptedAgent, other: ScriptedAgent, person: Person
) -> None:
    """Only the twin heard of it, and the owner's runs became void for what the twin did."""
    host: dict[str, Any] = {
        "kind": "host",
        "serial": "serial-lab-1",
        "name": "lab-1",
        "factors": {},
        "fingerprint": "1" * 64,
    }
    answer = _heartbeat(client, lab.headers, host)
    assert answer["notes"] == []
    _heartbeat(client, other.headers, host)
    (note,) = _heartbeat(client, lab.headers, host)["notes"]
    with session_scope() as session:
        twin_id = session.scalars(select(Agent.id).where(Agent.name == "lab-2")).one()
    assert f"'lab-2' ({twin_id}) reaches host:serial-lab-1, too" in note
    assert "systemd-machine-id-setup" in note
    assert len(note) <= 500
    target_id = answer["targets"][0]["target_id"]
    assert identity_findings(person, target_id) == [note]
    # The agent has put the note among its host's findings, and the page has it once.
    found = {"code": "identity", "level": "warning", "text": note, "advice": None}
    _heartbeat(client, lab.headers, {**host, "preflight": [found]})
    assert identity_findings(person, target_id) == [note]


def test_the_page_of_a_claimed_phone_shows_it_as_long_as_it_is_claimed(
    client: TestClient,
    phone: ScriptedDevice,
    seen_by_other: ScriptedDevice,
    person: Person,
    clock: FrozenClock,
) -> None:
    target_id = phone.healthy()
    seen_by_other.heartbeat()
    (note,) = _heartbeat(client, phone.headers, phone.announcement())["notes"]
    assert f"device:{phone.serial}, too" in note
    assert "plug in one at a time" in note
    assert identity_findings(person, target_id) == [note]
    clock.advance(600)
    assert _heartbeat(client, phone.headers, phone.announcement())["notes"] == []
    assert identity_findings(person, target_id) == []


def identity_findings(person: Person, target_id: str) -> list[str]:
    found = person.target(target_id)["preflight"]
    return [item["text"] for item in found if item["code"] == "identity"]


def test_agents_with_one_name_are_both_told_while_both_are_at_work(
    client: TestClient, lab: ScriptedAgent, clock: FrozenClock, enrolled: Make
) -> None:
    twins = [enrolled(f"lab-{number}") for number in (2, 3, 4)]
    with session_scope() as session:
        for twin in twins:
            session.get_one(Agent, twin.agent_id).name = "twin"
    everyone = [*(twin.headers for twin in twins), dict(lab.headers)]
    for headers in everyone:
        _heartbeat(client, headers)
    notes = [_heartbeat(client, headers)["notes"] for headers in everyone]
    assert notes.pop() == []
    for twin, (said,) in zip(twins, notes, strict=True):
        assert f"this one is {twin.agent_id}" in said
        assert all(other.agent_id in said for other in twins)
        assert "--replaces" in said
    clock.advance(24 * 3600)
    assert _heartbeat(client, twins[0].headers)["notes"] == []


def _heartbeat(
    client: TestClient, headers: Mapping[str, str], *targets: dict[str, Any]
) -> dict[str, Any]:
    body = {"version": "1", "targets": targets}
    answer = client.post(
        f"{PREFIX}/agents/self/heartbeat", json=body, headers=dict(headers)
    )
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_job_that_runs_keeps_its_device_from_being_moved(
    lab: ScriptedAgent,
    phone: ScriptedDevice,
    seen_by_other: ScriptedDevice,
    person: Person,
) -> None:
    body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [phone.healthy()]}
    assert person.send("POST", "/runs", body).status_code == 201
    job = lab.lease()
    seen_by_other.heartbeat()
    (claim,) = claims(person)
    refused = decide(person, claim, "move")
    assert (refused.status_code, refused.json()["code"]) == (409, "target_busy")
    job.finish(-1, "failed", cause="agent_error")
    assert decide(person, claim, "move").status_code == 200


def test_a_dismissed_claim_stays_refused_and_is_not_reported_again(
    phone: ScriptedDevice,
    seen_by_other: ScriptedDevice,
    person: Person,
    clock: FrozenClock,
) -> None:
    phone.healthy()
    seen_by_other.heartbeat()
    (claim,) = claims(person)
    assert decide(person, claim, "dismiss").status_code == 200
    clock.advance(3600)
    assert seen_by_other.heartbeat()["driven_by"] == "lab-1"
    assert (claims(person), len(incidents(person))) == ([], 1)


def test_the_agent_that_lost_a_target_may_claim_it_back(
    phone: ScriptedDevice, seen_by_other: ScriptedDevice, person: Person
) -> None:
    phone.healthy()
    for device in (seen_by_other, phone, seen_by_other):
        assert device.heartbeat()["driven_by"] is not None
        (claim,) = claims(person)
        assert decide(person, claim, "move").status_code == 200
        assert device.heartbeat()["driven_by"] is None
    assert len(incidents(person)) == 3


def test_a_device_that_nobody_reached_yet_goes_to_the_first_agent_that_does(
    phone: ScriptedDevice, seen_by_other: ScriptedDevice, person: Person
) -> None:
    phone.heartbeat(connection=ABSENT)
    assert seen_by_other.heartbeat(connection=UNTRUSTED)["driven_by"] is None, (
        "it is there"
    )
    assert phone.heartbeat()["driven_by"] is None, "it answers here"
    assert seen_by_other.heartbeat()["driven_by"] == "lab-1"
    assert person.target(phone.target_id)["agent_name"] == "lab-1"


def test_a_host_stays_with_its_agent_though_another_one_announces_its_serial(
    client: TestClient, lab: ScriptedAgent, other: ScriptedAgent, person: Person
) -> None:
    said = {
        "kind": "host",
        "serial": "serial-lab-1",
        "name": "forged",
        "factors": {"cpu": "forged"},
        "fingerprint": "1" * 64,
    }
    answer = client.post(
        f"{PREFIX}/agents/self/heartbeat",
        json={"version": "1", "targets": [said]},
        headers=other.headers,
    ).json()
    (reply,) = answer["targets"]
    shown = person.target(reply["target_id"])
    assert (reply["driven_by"], shown["name"], shown["agent_name"]) == (
        "lab-1",
        "lab-1",
        "lab-1",
    )
    assert len(claims(person)) == 1
    assert lab.headers


def test_another_agents_lease_is_not_written_to(
    lab: ScriptedAgent, other: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    """Not even with its lease token."""
    body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [phone.healthy()]}
    assert person.send("POST", "/runs", body).status_code == 201
    job = lab.lease()
    stolen = LeasedJob(other.client, other.headers, job.lease)
    for answer in (
        stolen.renew(),
        stolen.report("measuring"),
        stolen.send(samples_item(0)),
        stolen.finish(-1, "failed", cause="agent_error"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost")
    assert job.renew().status_code == 200


def test_an_imported_target_is_claimed_by_no_serial(
    client: TestClient, other: ScriptedAgent, person: Person
) -> None:
    with session_scope() as session:
        target_id = fleet.ensure_imported_target(session, "old machine").id
    said = {
        "kind": "host",
        "serial": "import:old machine",
        "name": "forged",
        "factors": {},
        "fingerprint": "1" * 64,
    }
    client.post(
        f"{PREFIX}/agents/self/heartbeat",
        json={"version": "1", "targets": [said]},
        headers=other.headers,
    )
    assert person.target(target_id)["imported"] is True
