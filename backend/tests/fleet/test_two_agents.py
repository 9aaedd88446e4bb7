"""One device that two agents know: one at a time speaks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import settings
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.fleet import Target
from paceline_server.testing.scripted_agent import PREFIX, ScriptedAgent, announce
from paceline_server.testing.scripted_device import ScriptedDevice, device_manifest

from .conftest import Person

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
    """Absent there, with the boot id of before; or both reach it, by TCP."""
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
        heard = seen_by_other.beat(
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
        heard = phone.beat()
        assert (heard["driven_by"], heard["health"], heard["check_due"]) == (
            None,
            "good",
            False,
        )
    assert person.target(target_id) == before
    assert person.history(target_id, "connection") == events


def test_a_device_is_moved_by_its_cable_and_is_leased_to_the_agent_that_reaches_it(
    lab: ScriptedAgent,
    other: ScriptedAgent,
    phone: ScriptedDevice,
    seen_by_other: ScriptedDevice,
    person: Person,
) -> None:
    target_id = phone.healthy()
    body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [target_id]}
    assert person.send("POST", "/runs", body).status_code == 201
    phone.beat(connection=ABSENT)
    seen_by_other.beat(connection=UNTRUSTED)
    shown = person.target(target_id)
    assert (shown["agent_name"], shown["connection"]["state"]) == (
        "lab-2",
        "unauthorized",
    ), "it is there"
    for _ in range(3):
        heard = phone.beat(connection=ABSENT, boot_id="boot-0")
        assert heard["driven_by"] == "lab-2"
        heard = seen_by_other.beat()
    assert (heard["driven_by"], heard["health"]) == (None, "good"), (
        "the same boot: nothing to check"
    )
    assert lab.ask().status_code == 204
    assert other.lease().lease["target_serial"] == phone.serial
    assert person.events(target_id, "connection").count("moved") == 1


def test_a_device_goes_to_who_reaches_it_when_its_agent_is_silent_and_stays_there(
    phone: ScriptedDevice,
    seen_by_other: ScriptedDevice,
    person: Person,
    clock: FrozenClock,
) -> None:
    target_id = phone.healthy()
    clock.advance(settings.current().offline_after_s + 1)
    assert seen_by_other.beat(connection=ABSENT)["driven_by"] == "lab-1", (
        "neither reaches it"
    )
    assert seen_by_other.beat()["driven_by"] is None
    assert phone.beat()["driven_by"] == "lab-2"
    assert person.target(target_id)["agent_name"] == "lab-2"


def test_a_job_that_runs_keeps_its_device_though_its_agent_cannot_be_heard(
    lab: ScriptedAgent,
    phone: ScriptedDevice,
    seen_by_other: ScriptedDevice,
    person: Person,
    clock: FrozenClock,
) -> None:
    body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [phone.healthy()]}
    assert person.send("POST", "/runs", body).status_code == 201
    job = lab.lease()
    clock.advance(settings.current().offline_after_s + 1)
    assert seen_by_other.beat()["driven_by"] == "lab-1", (
        "nobody reads gates beside a measurement"
    )
    job.finish(-1, "failed", cause="agent_error")
    assert seen_by_other.beat()["driven_by"] is None


def test_a_device_carried_to_and_fro_says_so_once_an_hour(
    phone: ScriptedDevice,
    seen_by_other: ScriptedDevice,
    person: Person,
    clock: FrozenClock,
) -> None:
    target_id = phone.healthy()
    for _ in range(4):
        clock.advance(60)
        phone.beat(connection=ABSENT)
        seen_by_other.beat()
        seen_by_other.beat(connection=ABSENT)
        phone.beat()
    assert person.events(target_id, "connection").count("moved") == 2, (
        "there once, and back once"
    )
    assert person.target(target_id)["agent_name"] == "lab-1"


def test_a_host_with_two_agents_is_driven_by_the_later_enrolled_one(
    client: TestClient, lab: ScriptedAgent, other: ScriptedAgent, person: Person
) -> None:
    said = {
        "kind": "host",
        "serial": "serial-lab-1",
        "name": "lab-1",
        "factors": {},
        "fingerprint": "0" * 64,
    }
    for agent in (other, lab, other, lab):
        body = {"version": "1", "targets": [said]}
        answer = client.post(
            f"{PREFIX}/agents/self/heartbeat", json=body, headers=agent.headers
        )
        target_id = answer.json()["targets"][0]["target_id"]
    assert answer.json()["targets"][0]["driven_by"] == "lab-2"
    assert person.events(target_id, "connection") == ["moved"]
    with session_scope() as session:
        assert session.get_one(Target, target_id).refuses is None
