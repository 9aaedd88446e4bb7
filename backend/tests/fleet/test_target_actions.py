"""What people do about targets: who may, what is written of it, and what it means meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.fleet import service as fleet
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.testing.scripted_agent import PREFIX, ScriptedAgent
from paceline_server.testing.scripted_device import ScriptedDevice

from .conftest import Person

Make = Callable[..., Any]
pytestmark = pytest.mark.shapes("embedded")

ACTIONS: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("PUT", "maintenance", {"on": True, "reason": "new battery"}),
    ("PUT", "maintenance", {"on": False}),
    ("POST", "recheck", None),
    ("POST", "reboot", None),
    ("POST", "quarantine", {"reason": "swollen"}),
    ("POST", "release", {"reason": "new battery"}),
)


@pytest.mark.parametrize("asked", ACTIONS, ids=lambda asked: asked[1])
def test_who_may_only_read_and_deliver_changes_nothing(
    phone: ScriptedDevice,
    client: TestClient,
    token: Make,
    person: Person,
    asked: tuple[str, str, object],
) -> None:
    method, action, body = asked
    target_id = phone.healthy()
    before = person.target(target_id)
    path = f"{PREFIX}/targets/{target_id}/{action}"
    for headers in (token("read", "ingest"), phone.headers):
        assert (
            client.request(method, path, json=body, headers=headers).status_code == 403
        )
    assert client.request(method, path, json=body).status_code == 401
    assert person.target(target_id) == before
    assert person.get("/audit?object_kind=target")["items"] == []


def test_nothing_is_done_about_a_target_that_no_agent_drives(person: Person) -> None:
    """Only maintenance of before, when it was accepted, can be ended."""
    with session_scope() as session:
        target_id = fleet.ensure_imported_target(session, "old machine").id
    before = person.target(target_id)
    for method, action, body in ACTIONS:
        answer = person.send(method, f"/targets/{target_id}/{action}", body)
        if body == {"on": False}:
            assert answer.status_code == 200
            continue
        assert (answer.status_code, answer.json()["code"]) == (409, "no_agent")
        assert "old machine gets no jobs" in answer.json()["detail"]
    assert person.target(target_id) == before
    assert person.get("/audit?object_kind=target")["items"] == []


def test_every_action_is_audited_with_who_and_why_and_stands_in_the_history(
    phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    for method, action, body in ACTIONS:
        assert (
            person.send(method, f"/targets/{target_id}/{action}", body).status_code
            == 200
        )
    said = list(
        reversed(
            person.get(f"/audit?object_kind=target&object_id={target_id}")["items"]
        )
    )
    name = f"phone {phone.serial}"
    assert [(one["action"], one["actor"], one["detail"]) for one in said] == [
        (
            "target.maintenance_on",
            "test",
            {"name": name, "reason": "new battery", "until": None},
        ),
        (
            "target.maintenance_off",
            "test",
            {"name": name, "reason": None, "until": None},
        ),
        ("target.recheck", "test", {"name": name}),
        ("target.reboot", "test", {"name": name}),
        ("target.quarantine", "test", {"name": name, "reason": "swollen"}),
        ("target.release", "test", {"name": name, "reason": "new battery"}),
    ]
    assert all(
        one["words"].startswith("test ") and name in one["words"] for one in said
    )
    history = person.get(f"/targets/{target_id}/events?limit=200")["items"]
    by_hand = [one["event"] for one in reversed(history) if one["actor"] == "test"]
    assert by_hand == [
        "maintenance_on",
        "maintenance_off",
        "order_requested",
        "recheck",
        "order_requested",
        "quarantine",
        "release",
    ]


def test_what_is_not_in_quarantine_is_not_released_and_a_restart_asked_for_twice_is_one(
    phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    answer = person.send("POST", f"/targets/{target_id}/release", {"reason": "x"})
    assert (answer.status_code, answer.json()["code"]) == (409, "not_quarantined")
    first = person.send("POST", f"/targets/{target_id}/reboot").json()
    again = person.send("POST", f"/targets/{target_id}/reboot").json()
    assert [order["id"] for order in again["orders"]] == [
        order["id"] for order in first["orders"]
    ]
    assert again["reboots_left"] == 1


def test_a_device_in_somebodys_hands_is_not_checked_unless_a_person_asks(
    phone: ScriptedDevice, person: Person
) -> None:
    """Also one that was being checked when it was taken out of its rack."""
    assert phone.heartbeat()["check_due"]
    person.send("PUT", f"/targets/{phone.target_id}/maintenance", {"on": True})
    heard = phone.heartbeat()
    assert (heard["health"], heard["check_due"]) == ("checking", False)
    person.send("POST", f"/targets/{phone.target_id}/recheck")
    assert phone.heartbeat()["check_due"], "that person holds it"
    person.send("PUT", f"/targets/{phone.target_id}/maintenance", {"on": False})
    assert phone.heartbeat()["check_due"]


@pytest.mark.parametrize("ended", [False, True])
def test_a_check_that_fails_in_somebodys_hands_is_evidence_and_does_not_count(
    phone: ScriptedDevice, person: Person, clock: FrozenClock, ended: bool
) -> None:
    phone.heartbeat()
    path = f"/targets/{phone.target_id}/maintenance"
    person.send("PUT", path, {"on": True})
    clock.advance(40)
    if ended:
        person.send("PUT", path, {"on": False})
        clock.advance(10)
    check = phone.check(ok=False, text="no answer")
    for _ in range(2):
        assert phone.heartbeat(check=check)["checks_heard"] == [check["id"]]
    health = person.target(phone.target_id)["health"]
    assert (health["state"], health["failures"]) == ("checking", 0)
    newest = person.history(phone.target_id, "health")[0]
    assert newest["event"] == "check_failed"
    assert "not counted: it was in maintenance" in newest["words"]
    person.send("PUT", path, {"on": False})
    clock.advance(31)
    assert phone.heartbeat()["check_due"]
    phone.heartbeat(check=phone.check(ok=False, text="no answer"))
    assert person.target(phone.target_id)["health"]["failures"] == 1


@pytest.mark.parametrize("cause", ["device_lost", "device_refused"])
def test_a_cause_that_only_a_device_has_does_nothing_to_a_host(
    lab: ScriptedAgent, person: Person, cause: str
) -> None:
    (host,) = person.get("/targets?kind=host")["items"]
    for _ in range(3):
        body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [host["id"]]}
        assert person.send("POST", "/runs", body).status_code == 201
        assert lab.measuring().finish(-1, "failed", cause=cause).status_code == 204
    assert person.target(host["id"])["takes_jobs"]["ok"]
    assert person.target(host["id"])["health"]["failures"] == 0
