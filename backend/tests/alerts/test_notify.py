"""Stored rules over arms: what is raised, what waits in shadow, and who hears when."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_server.store import outbox

SLOWER = {1000: 0.126, 2000: -0.6}
PREFIX = "/api/v1"
AlertLab = Any


def save(desk: AlertLab, **changes: Any) -> dict[str, Any]:
    """Save a rule about the lab's arms, or its next version."""
    known = {rule["name"]: rule for rule in desk.get("/rules")["items"]}
    body = {
        "name": "native",
        "kind": "arm_slower",
        "benchmark": "sort_*",
        "min_effect": 0.0,
        **changes,
    }
    client, headers = desk.lab.client, dict(desk.headers)
    before = known.get(body["name"])
    if before is not None:
        path = f"{PREFIX}/rules/{before['id']}"
        answer = client.put(
            path, json={**body, "based_on": before["version"]}, headers=headers
        )
    else:
        answer = client.post(f"{PREFIX}/rules", json=body, headers=headers)
    assert answer.is_success, answer.text
    return dict(answer.json())


def post(desk: AlertLab, path: str, body: object) -> dict[str, Any]:
    answer = desk.lab.client.post(
        f"{PREFIX}{path}", json=body, headers=dict(desk.headers)
    )
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def actions(alert: dict[str, Any]) -> list[str]:
    return [event["action"] for event in alert["history"]]


def test_without_a_stored_rule_the_manifest_speaks(desk: AlertLab) -> None:
    desk.measure(SLOWER)
    rule = desk.alert()["rule"]
    assert (rule["name"], rule["version"]) == ("native-slower-than-fallback", 1)


def test_a_stored_rule_raises_only_what_is_large_enough(desk: AlertLab) -> None:
    save(desk, min_effect=0.2)
    desk.measure(SLOWER)
    assert desk.alerts() == []
    saved = save(desk, min_effect=0.1, text="From 10 % on.")
    desk.measure(SLOWER)
    assert desk.alert()["rule"] == {
        "name": "native",
        "version": saved["version"],
        "text": "The native path is slower than the fallback it should beat. From 10 % on.",
    }


def test_only_the_points_that_are_large_enough_are_evidence(desk: AlertLab) -> None:
    save(desk, min_effect=0.2)
    desk.measure({1000: 0.1, 2000: 0.4})
    assert [finding["params"] for finding in desk.alert()["findings"]] == [
        {"batch": 2000}
    ]


def test_a_rule_that_is_off_raises_nothing(desk: AlertLab) -> None:
    save(desk, mode="off")
    desk.measure(SLOWER)
    assert desk.alerts() == []


def test_a_failure_too_small_for_the_rule_is_no_recovery(desk: AlertLab) -> None:
    alert = desk.open_alert(SLOWER)
    save(desk, min_effect=0.5)
    desk.measure(SLOWER)
    assert desk.get(f"/alerts/{alert['id']}")["state"] == "open"


def test_a_rule_in_shadow_keeps_alerts_and_tells_nobody(desk: AlertLab) -> None:
    save(desk, mode="shadow")
    desk.measure(SLOWER)
    desk.confirm(SLOWER)
    assert desk.alerts() == []
    shadows = desk.get("/alerts", shadow=True)["items"]
    assert [(shadow["state"], shadow["shadow"]) for shadow in shadows] == [
        ("open", True)
    ]
    assert desk.told() == []
    assert "notified" not in actions(desk.get(f"/alerts/{shadows[0]['id']}"))
    assert desk.get("/overview")["alerts_by_state"]["open"] == 0


@pytest.mark.shapes("embedded", "scaled")
def test_a_rule_that_leaves_the_shadow_takes_its_open_alerts_along(
    desk: AlertLab,
) -> None:
    save(desk, mode="shadow")
    desk.measure(SLOWER)
    desk.confirm(SLOWER)
    save(desk, mode="active")
    outbox.drain()
    alert = desk.alert()
    assert (alert["state"], alert["shadow"]) == ("open", False)
    assert actions(alert)[-2:] == ["left_shadow", "notified"]
    assert desk.told() == ["open"]


def test_an_alert_leaves_the_shadow_when_a_rule_that_tells_decides_about_it(
    desk: AlertLab,
) -> None:
    save(desk, mode="shadow")
    desk.measure(SLOWER)
    save(desk, mode="active", name="by-name", benchmark="sort_batch")
    desk.measure(SLOWER)
    alert = desk.alert()
    assert (alert["state"], alert["shadow"]) == ("suspected", False)
    assert actions(alert)[-2:] == ["found_again", "left_shadow"]
    assert desk.told() == []
    desk.confirm(SLOWER)
    assert actions(desk.alert())[-1] == "notified"


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.parametrize("early", [False, True])
def test_a_muted_rule_tells_at_the_end_of_the_silence_and_once(
    desk: AlertLab, early: bool
) -> None:
    rule = save(desk)
    post(desk, f"/rules/{rule['id']}/mute", {"reason": "fan is broken", "hours": 2})
    alert = desk.open_alert(SLOWER)
    assert actions(alert)[-1] == "silenced"
    assert "fan is broken" in alert["history"][-1]["note"]
    if early:
        post(desk, f"/rules/{rule['id']}/unmute", {})
        outbox.drain()
        assert actions(desk.alert())[-1] == "notified"
    desk.clock.advance(2 * 3600 + 1)
    outbox.drain()
    assert actions(desk.alert())[-2:] == ["silenced", "notified"]
    outbox.drain()
    assert actions(desk.alert()).count("notified") == 1


def test_a_mute_that_is_prolonged_stays_silent_until_its_new_end(
    desk: AlertLab,
) -> None:
    rule = save(desk)
    post(desk, f"/rules/{rule['id']}/mute", {"reason": "x", "hours": 1})
    desk.open_alert(SLOWER)
    post(desk, f"/rules/{rule['id']}/mute", {"reason": "y", "hours": 5})
    desk.clock.advance(3600 + 1)
    outbox.drain()
    assert actions(desk.alert())[-1] == "silenced"
    desk.clock.advance(4 * 3600)
    outbox.drain()
    assert actions(desk.alert())[-1] == "notified"


def test_nobody_hears_of_what_was_closed_during_the_silence(desk: AlertLab) -> None:
    rule = save(desk)
    post(desk, f"/rules/{rule['id']}/mute", {"reason": "x", "hours": 1})
    alert = desk.open_alert(SLOWER)
    desk.act(alert["id"], "invalid")
    desk.clock.advance(3600 + 1)
    outbox.drain()
    assert "notified" not in actions(desk.alert())


def test_a_deleted_rule_is_silent_no_more(desk: AlertLab) -> None:
    rule = save(desk)
    post(desk, f"/rules/{rule['id']}/mute", {"reason": "x", "hours": 10})
    desk.open_alert(SLOWER)
    answer = desk.lab.client.delete(
        f"{PREFIX}/rules/{rule['id']}", headers=dict(desk.headers)
    )
    assert answer.status_code == 204
    outbox.drain()
    assert actions(desk.alert())[-1] == "notified"


@pytest.mark.shapes("embedded", "scaled")
def test_muting_an_alert_of_the_suites_rule_makes_a_rule_about_this_alone(
    desk: AlertLab,
) -> None:
    desk.measure(SLOWER)
    alert = desk.alert()
    assert (alert["rule_id"], alert["mute"], alert["can_be_muted"]) == (
        None,
        None,
        True,
    )
    muted = post(
        desk, f"/alerts/{alert['id']}/mute", {"reason": "fan is broken", "hours": 2}
    )
    assert muted["mute"]["reason"] == "fan is broken"
    assert alert["rule"]["text"] in muted["rule"]["text"]
    (rule,) = desk.get("/rules")["items"]
    assert rule["id"] == muted["rule_id"]
    about = {"suite": "sorting", "benchmark": "sort_batch", "metric": "time"}
    assert {**about, "arm": "native", "target": "lab-1"}.items() <= rule.items()
    other = desk.get(
        "/rules/applied", **about, arm="native", target="lab-2", kind="arm_slower"
    )
    assert (other["rule_id"], other["muted"]) == (None, None)
    desk.confirm(SLOWER)
    assert actions(desk.alert())[-1] == "silenced"
    desk.clock.advance(2 * 3600 + 1)
    outbox.drain()
    assert (actions(desk.alert())[-1], desk.alert()["mute"]) == ("notified", None)


def test_muting_an_alert_of_a_stored_rule_mutes_that_rule(desk: AlertLab) -> None:
    rule = save(desk)
    desk.measure(SLOWER)
    alert = desk.alert()
    muted = post(desk, f"/alerts/{alert['id']}/mute", {"reason": "x", "hours": 1})
    assert muted["rule_id"] == rule["id"]
    (stored,) = desk.get("/rules")["items"]
    assert (stored["id"], stored["mute"]["reason"]) == (rule["id"], "x")
