"""A device from its first heartbeat to its quarantine and back, over HTTP, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.fleet import queries, service
from paceline_server.fleet.expiry import KEEP_CONNECTIONS, KEEP_READINGS
from paceline_server.kernel.clock import FrozenClock, now
from paceline_server.runtime.sweeper import prune
from paceline_server.store.session import read_scope
from paceline_server.store.tables.fleet import TargetReading
from paceline_server.store.tables.messages import LiveEvent
from paceline_server.testing.scripted_agent import PREFIX, ScriptedAgent
from paceline_server.testing.scripted_device import COOL, ScriptedDevice
from sqlalchemy import func, select

from .conftest import Person

Make = Callable[..., Any]


def run_on(person: Person, target_id: str, **fields: Any) -> dict[str, Any]:
    body = {
        "suite": "demo",
        "benchmarks": ["sorting"],
        "targets": [target_id],
        **fields,
    }
    answer = person.send("POST", "/runs", body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_a_device_gets_a_job_only_when_it_is_connected_and_a_check_has_passed(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    heard = phone.heartbeat()
    assert (heard["health"], heard["check_due"]) == ("checking", True)
    run_on(person, phone.target_id)
    assert lab.ask().status_code == 204, "its health is not known"
    check = phone.check()
    heard = phone.heartbeat(check=check)
    assert (heard["health"], heard["check_due"], heard["checks_heard"]) == (
        "good",
        False,
        [check["id"]],
    )
    away = {
        "state": "offline",
        "reason": "the cable",
        "advice": "plug it in",
        "route": None,
    }
    phone.heartbeat(connection=away)
    assert lab.ask().status_code == 204, "it is not connected"
    shown = person.target(phone.target_id)
    assert (shown["state"], shown["connection"]["advice"]) == ("offline", "plug it in")
    assert shown["takes_jobs"] == {
        "ok": False,
        "words": "takes no jobs: it does not answer: the cable",
    }
    phone.heartbeat()
    lease = lab.lease().lease
    assert lease["target_serial"] == phone.serial
    assert lease["work"]["launches"] == 10, "STATISTICS: K = 10 on a device"
    assert person.target(phone.target_id)["state"] == "busy"


def test_the_steps_and_texts_of_the_last_check_are_shown_of_one_target_only(
    phone: ScriptedDevice, person: Person
) -> None:
    phone.healthy()
    shown = person.target(phone.target_id)["check"]
    assert (shown["ok"], shown["steps"][0]["text"], shown["raw"][0]["text"]) == (
        True,
        "5 ms",
        "x\n",
    )
    (listed,) = person.get("/targets?kind=device")["items"]
    assert (
        listed["check"]["ok"],
        listed["check"]["steps"],
        listed["check"]["raw"],
    ) == (True, [], [])


def test_a_check_said_twice_is_counted_once(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    phone.heartbeat()
    failed = phone.check(ok=False, text="no answer")
    for _ in range(3):
        heard = phone.heartbeat(check=failed)
        assert heard["checks_heard"] == [failed["id"]]
    assert person.target(phone.target_id)["health"]["failures"] == 1
    clock.advance(61)
    assert phone.heartbeat()["check_due"], (
        "a suspect device is checked again after a pause"
    )


def test_three_infrastructure_failures_quarantine_it_with_evidence_and_a_person_releases_it(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    run = run_on(person, target_id)
    for attempt in range(1, 4):
        job = lab.lease()
        assert job.lease["attempt"] == attempt, (
            "before measuring it is tried again, at most twice"
        )
        answer = job.finish(
            -1,
            "failed",
            cause="device_lost",
            detail="The cable was pulled.\nPlug it in.",
        )
        assert answer.status_code == 204
        assert lab.ask().status_code == 204, "a suspect device gets no job"
        clock.advance(61)
        heard = phone.heartbeat()
        if attempt < 3:
            assert heard["check_due"]
            assert phone.heartbeat(check=phone.check())["health"] == "good"
    assert (heard["health"], heard["check_due"]) == ("quarantined", False)
    (failed,) = person.get(f"/runs/{run['id']}")["jobs"]
    assert (failed["state"], failed["cause"]) == ("failed", "device_lost")

    shown = person.target(target_id)
    assert (shown["hold"], shown["health"]["failures"]) == ("quarantined", 3)
    assert "The cable was pulled." in shown["hold_reason"]
    newest = person.get(f"/targets/{target_id}/events?axis=health&limit=1")["items"][0]
    assert (newest["from_state"], newest["to_state"]) == ("good", "quarantined")
    assert newest["evidence"]["job_id"] == failed["id"]

    assert phone.heartbeat(check=phone.check())["health"] == "quarantined", (
        "no check lets it out"
    )
    answer = person.send(
        "POST", f"/targets/{target_id}/release", {"reason": "new cable"}
    )
    assert answer.status_code == 200
    assert answer.json()["health"]["failures"] == 0
    assert phone.heartbeat()["check_due"]
    assert phone.heartbeat(check=phone.check())["health"] == "good"
    assert person.events(target_id, "health")[-3:] == [
        "release",
        "check_asked",
        "check_passed",
    ]
    said = person.get(f"/audit?object_kind=target&object_id={target_id}")["items"]
    assert [(one["action"], one["actor"], one["detail"]["reason"]) for one in said] == [
        ("target.release", "test", "new cable")
    ]
    assert (
        said[0]["words"]
        == f"test released target phone {phone.serial} from quarantine."
    )


@pytest.mark.parametrize(
    "cause",
    [
        "workload_crashed",
        "build_failed",
        "agent_error",
        "placing_failed",
        "device_storage_full",
    ],
)
def test_only_causes_that_show_an_unreliable_device_count_against_it(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person, cause: str
) -> None:
    target_id = phone.healthy()
    run_on(person, target_id)
    lab.measuring().finish(-1, "failed", cause=cause, detail="d")
    health = person.target(target_id)["health"]
    assert (health["state"], health["failures"]) == ("good", 0)


def test_a_device_lost_while_measuring_fails_the_job_and_raises_no_alert(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    run = run_on(person, phone.healthy())
    lab.measuring().finish(-1, "failed", cause="device_rebooted", detail="d")
    shown = person.get(f"/runs/{run['id']}")
    assert (shown["state"], shown["jobs"][0]["cause"]) == ("failed", "device_rebooted")
    assert (shown["outcome"], shown["verdict"]) == ("failed", None)
    assert person.get("/alerts")["items"] == []
    assert person.target(phone.target_id)["health"]["state"] == "suspect"


def test_a_job_that_measured_to_its_end_forgives_earlier_failures(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    run_on(person, target_id)
    lab.lease().finish(-1, "failed", cause="device_lost")
    clock.advance(61)
    phone.heartbeat()
    phone.heartbeat(check=phone.check())
    assert person.target(target_id)["health"]["failures"] == 1
    lab.measuring().finish(-1)
    assert person.target(target_id)["health"]["failures"] == 0


def test_a_hot_device_rests_and_takes_jobs_again_by_itself(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    run_on(person, target_id)
    phone.heartbeat(gates={**COOL, "battery_c": 36.5})
    shown = person.target(target_id)
    assert (shown["hold"], shown["gates"]["battery_c"]) == ("cooling", 36.5)
    assert lab.ask().status_code == 204
    phone.heartbeat(gates={**COOL, "battery_c": 33.0})
    assert lab.ask().status_code == 204, "between the limits it still rests"
    phone.heartbeat(gates={**COOL, "battery_c": 32.0})
    assert lab.ask().status_code == 200
    assert person.events(target_id, "health")[-2:] == ["gates_read", "gates_read"]


def test_a_full_device_that_was_emptied_takes_its_queued_job_at_the_next_reading(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    run_on(person, target_id)
    full = {**COOL, "free_bytes": 3 << 20}
    unfit = phone.check(
        ok=False, infrastructure=False, text="3 MiB are free, 512 MiB are needed."
    )
    phone.heartbeat(gates=full, check=unfit)
    assert "its storage is full" in person.target(target_id)["hold_reason"]
    assert lab.ask().status_code == 204
    assert phone.heartbeat(gates=COOL)["check_due"], (
        "no pause after the check that found it full"
    )
    assert phone.heartbeat(gates=COOL, check=phone.check())["health"] == "good"
    assert lab.ask().status_code == 200
    assert person.target(target_id)["health"]["failures"] == 0


def test_a_restart_between_jobs_makes_a_check_due(
    phone: ScriptedDevice, person: Person
) -> None:
    phone.healthy()
    phone.boot_id = "boot-2"
    heard = phone.heartbeat()
    assert (heard["health"], heard["check_due"]) == ("checking", True)
    assert "rebooted" in person.events(phone.target_id, "connection")


def test_a_device_that_is_not_reached_keeps_what_it_is(
    phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    gone = {
        "state": "unauthorized",
        "reason": "it does not trust us",
        "advice": "accept the prompt",
    }
    phone.heartbeat(
        connection=gone,
        factors={},
        fingerprint="0" * 64,
        name=phone.serial,
        gates=None,
        boot_id=None,
    )
    shown = person.target(target_id)
    assert (shown["factors"]["model"], shown["fingerprint"]) == ("Pixel 8", "d" * 64)
    assert shown["name"] == f"phone {phone.serial}"


def test_the_ladder_is_kept_as_evidence_and_ends_in_quarantine(
    phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    steps = [
        {
            "id": "r1",
            "step": "reconnect",
            "ok": False,
            "text": "no answer",
            "ms_ago": 9_000,
        },
        {
            "id": "r2",
            "step": "reboot",
            "ok": False,
            "text": "did not come back",
            "ms_ago": 4_000,
        },
    ]
    away = {"state": "offline", "reason": None, "advice": None, "route": None}
    for _ in range(2):
        assert phone.heartbeat(connection=away, recovery=steps)["recovery_heard"] == [
            "r1",
            "r2",
        ]
    assert person.events(target_id, "recovery") == ["recovery_step"] * 2, (
        "said twice, kept once"
    )
    assert person.target(target_id)["reboots_left"] == 1, (
        "the agent's restarts count too"
    )
    last = {
        "id": "r3",
        "step": "give_up",
        "ok": False,
        "text": "nothing helped",
        "ms_ago": 0,
    }
    assert phone.heartbeat(connection=away, recovery=[last])["health"] == "quarantined"


def test_orders_are_carried_until_they_are_done_and_restarts_are_limited(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    shown = person.send("POST", f"/targets/{target_id}/recheck").json()
    assert shown["health"]["state"] == "checking"
    again = person.send("POST", f"/targets/{target_id}/recheck").json()
    assert [order["id"] for order in again["orders"]] == [
        order["id"] for order in shown["orders"]
    ]
    heard = phone.heartbeat()
    assert [order["kind"] for order in heard["orders"]] == ["check"]
    assert phone.heartbeat()["orders"] == heard["orders"], "carried until it is done"
    done = phone.heartbeat(check=phone.check(), orders_done=[heard["orders"][0]["id"]])
    assert (done["orders"], done["health"]) == ([], "good")
    for left in (1, 0):
        answer = person.send("POST", f"/targets/{target_id}/reboot")
        assert answer.json()["reboots_left"] == left
        phone.restart(phone.heartbeat()["orders"][0]["id"])
        assert person.target(target_id)["reboots_left"] == left, (
            "ordered once, made once: one restart"
        )
    answer = person.send("POST", f"/targets/{target_id}/reboot")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_reboots")
    clock.advance(86_401)
    phone.heartbeat()
    assert person.send("POST", f"/targets/{target_id}/reboot").status_code == 200
    clock.advance(3601)
    assert service.sweep() == 1
    assert person.target(target_id)["orders"] == []
    assert person.events(target_id, "order")[-1] == "order_expired"
    assert person.target(target_id)["reboots_left"] == 2, (
        "an order nobody carried out was no restart"
    )


def test_maintenance_is_independent_of_health_and_ends_by_itself(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    run_on(person, target_id)
    path = f"/targets/{target_id}/maintenance"
    past = {"on": True, "until": clock.now().isoformat()}
    assert person.send("PUT", path, past).status_code == 400
    until = (clock.now() + timedelta(hours=1)).isoformat()
    shown = person.send(
        "PUT", path, {"on": True, "reason": "new battery", "until": until}
    ).json()
    assert (shown["hold"], shown["maintenance"]["by"], shown["health"]["state"]) == (
        "maintenance",
        "test",
        "good",
    )
    assert lab.ask().status_code == 204
    person.send("POST", f"/targets/{target_id}/quarantine", {"reason": "swollen"})
    assert person.target(target_id)["hold"] == "maintenance", "a person before health"
    assert not phone.heartbeat()["check_due"], (
        "a device in maintenance is in somebody's hands"
    )
    clock.advance(3600)
    assert person.target(target_id)["hold"] == "quarantined"
    assert service.sweep() == 1
    assert service.sweep() == 0
    assert person.events(target_id, "maintenance") == [
        "maintenance_on",
        "maintenance_ended",
    ]
    assert person.target(target_id)["hold"] == "quarantined", (
        "its end lets nobody out of quarantine"
    )


def test_a_host_has_no_checks_and_is_held_back_by_people_alone(
    lab: ScriptedAgent, person: Person
) -> None:
    (host,) = person.get("/targets?kind=host")["items"]
    assert (host["connection"], host["health"]["state"], host["actions"]) == (
        None,
        "unknown",
        ["maintenance"],
    )
    assert host["takes_jobs"] == {"ok": True, "words": "takes jobs"}
    for action, body in (
        ("quarantine", {"reason": "x"}),
        ("release", {"reason": "x"}),
        ("reboot", None),
    ):
        answer = person.send("POST", f"/targets/{host['id']}/{action}", body)
        assert (answer.status_code, answer.json()["code"]) == (409, "not_a_device")
    run_on(person, host["id"])
    assert lab.lease().lease["work"]["launches"] == 5


def test_a_lease_is_refused_exactly_when_the_target_says_that_it_takes_no_jobs(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    run_on(person, target_id)
    offline = {"state": "booting", "reason": None, "advice": None, "route": None}
    for changes in (
        {"refuses": "disk full"},
        {"gates": {**COOL, "battery_percent": 3}},
        {},
        {"connection": offline},
        {"boot_id": "boot-9"},
    ):
        phone.heartbeat(**changes)
        takes = person.target(target_id)["takes_jobs"]
        answer = lab.ask()
        assert (answer.status_code == 200) == takes["ok"], takes
        if answer.status_code == 200:
            return_to_queue(lab, answer.json())


def return_to_queue(lab: ScriptedAgent, lease: dict[str, Any]) -> None:
    """Give a lease back as an agent does whose target refuses."""
    headers = {**lab.headers, "Lease-Token": lease["lease_token"]}
    path = f"{PREFIX}/jobs/{lease['job_id']}/attempts/{lease['attempt']}/finish"
    body = {"outcome": "failed", "cause": "target_refused", "last_seq": -1}
    assert lab.client.post(path, json=body, headers=headers).status_code == 204


def test_targets_are_found_by_kind_state_health_simulation_and_words(
    client: TestClient, lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    phone.healthy()
    toy = ScriptedDevice(client, lab.headers, serial="SIM0001", simulated=True)
    gone = {"state": "absent", "reason": None, "advice": None, "route": None}
    toy.heartbeat(connection=gone, factors={"model": "toy"})
    (host,) = person.get("/targets?kind=host")["items"]
    for query, found in (
        ("kind=device", {phone.target_id, toy.target_id}),
        ("simulated=true", {toy.target_id}),
        ("health=good", {phone.target_id}),
        ("health=unknown", {toy.target_id}),
        ("state=online", {phone.target_id, host["id"]}),
        ("state=offline", {toy.target_id}),
        ("state=busy", set()),
        ("q=pixel", {phone.target_id}),
        ("q=r5ct", {phone.target_id}),
        ("q=USB", {phone.target_id}),
        ("q=100%25", set()),
    ):
        assert {
            item["id"] for item in person.get(f"/targets?{query}")["items"]
        } == found, query


def test_a_list_to_choose_from_carries_no_payloads_and_does_not_load_them(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    assert lab.headers
    finding = {
        "code": "hot",
        "level": "warning",
        "text": "It is hot.",
        "advice": "Let it cool.",
    }
    phone.healthy()
    phone.heartbeat(preflight=[finding], configuration=["emulator"])
    whole = person.get("/targets")["items"]
    assert [len(one["preflight"]) for one in whole] == [0, 1]
    assert whole[1]["check"]["ok"]
    large: dict[str, Any] = {"factors": {}, "preflight": [], "check": None}
    assert person.get("/targets?fields=names")["items"] == [
        {**one, **large} for one in whole
    ]
    asked = str(
        queries.without_large_columns(queries.targets(queries.TargetFilter(), now()))
    )
    assert not [name for name in (*large, "last_check") if f"target.{name}," in asked]


def test_readings_are_kept_when_they_change_and_every_ten_minutes_and_shown_as_tracks(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    for c in (25.2, 25.4, 27.0, 27.1):
        clock.advance(10)
        phone.heartbeat(gates={**COOL, "battery_c": c})
    clock.advance(600)
    phone.heartbeat(gates={**COOL, "battery_c": None})
    found = person.get(f"/targets/{target_id}/conditions")
    (track,) = [one for one in found["tracks"] if one["key"] == "battery_c"]
    assert [point["value"] for point in track["points"]] == [25.0, 27.0], (
        "unknown is no point"
    )
    percent = next(one for one in found["tracks"] if one["key"] == "battery_percent")
    assert len(percent["points"]) == 3
    before = (clock.now() - timedelta(minutes=5)).isoformat().replace("+", "%2B")
    later = person.get(f"/targets/{target_id}/conditions?from={before}")
    assert [
        len(one["points"]) for one in later["tracks"] if one["key"] == "battery_percent"
    ] == [1]
    clock.advance(KEEP_READINGS.total_seconds())
    prune()
    with read_scope() as session:
        assert session.scalar(select(func.count()).select_from(TargetReading)) == 1


def test_old_events_are_forgotten_those_of_the_connection_first(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    assert person.events(target_id, "connection") == ["connected"]
    clock.advance(KEEP_CONNECTIONS.total_seconds() + 1)
    prune()
    assert person.events(target_id, "connection") == []
    assert person.events(target_id, "health") == ["check_asked", "check_passed"]
    page = person.get(f"/targets/{target_id}/events?limit=1")
    assert (
        len(
            person.get(f"/targets/{target_id}/events?limit=1&cursor={page['next']}")[
                "items"
            ]
        )
        == 1
    )


def test_streams_hear_when_a_device_changes(phone: ScriptedDevice) -> None:
    phone.healthy()
    with read_scope() as session:
        last = session.scalars(
            select(LiveEvent).order_by(LiveEvent.id.desc()).limit(1)
        ).one()
    assert (last.kind, last.data["health"]["state"], last.data["takes_jobs"]["ok"]) == (
        "target",
        "good",
        True,
    )
