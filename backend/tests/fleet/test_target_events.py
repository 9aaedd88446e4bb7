"""The events of a device: repeated checks are counted in one event, pages are in order of time."""

from __future__ import annotations

import pytest
from paceline_server.kernel.clock import FrozenClock
from paceline_server.testing.scripted_device import ScriptedDevice

from .conftest import Person

FULL = {"infrastructure": False, "text": "1.2 GiB are free"}


def test_a_check_with_the_same_result_as_the_last_one_is_counted_in_its_event(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    """A device with full storage is checked every five minutes, for weeks."""
    phone.heartbeat()
    for look in range(20):
        assert phone.heartbeat(
            check=phone.check(ok=False, infrastructure=False, text=f"{look} MiB")
        )
        clock.advance(301)
        assert phone.heartbeat()["check_due"]
    assert person.events(phone.target_id, "health") == ["check_asked", "check_failed"]
    newest = person.history(phone.target_id, "health")[0]
    assert newest["evidence"]["times"] == 20
    assert newest["evidence"]["check"]["steps"][0]["text"] == "19 MiB", (
        "with the newest evidence"
    )
    assert ", 20 times since " in newest["words"]
    phone.heartbeat(check=phone.check())
    assert person.target(phone.target_id)["health"]["state"] == "good"
    assert person.events(phone.target_id, "health") == [
        "check_asked",
        "check_failed",
        "check_passed",
    ]


def test_a_check_that_fails_in_another_step_is_an_event_of_its_own(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    phone.heartbeat()
    for name in ("free_space", "push"):
        check = phone.check(ok=False, infrastructure=False)
        check["steps"][0]["name"] = name
        phone.heartbeat(check=check)
        phone.heartbeat(check=check)
        clock.advance(301)
        phone.heartbeat()
    assert person.events(phone.target_id, "health") == [
        "check_asked",
        "check_failed",
        "check_failed",
    ]


@pytest.mark.shapes("embedded")
def test_events_are_ordered_by_when_they_happened_not_by_when_they_were_reported(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    """After an outage an agent reports its recovery steps late."""
    target_id = phone.healthy()
    clock.advance(600)
    person.send("POST", f"/targets/{target_id}/quarantine", {"reason": "swollen"})
    clock.advance(60)
    late = {"id": "r1", "step": "reconnect", "ok": True, "text": "", "ms_ago": 300_000}
    phone.heartbeat(recovery=[late])
    path = f"/targets/{target_id}/events?limit=1"
    page, found = person.get(path), []
    for _ in range(3):
        found.append(page["items"][0]["event"])
        page = person.get(f"{path}&cursor={page['next']}")
    assert found == ["quarantine", "recovery_step", "check_passed"]
