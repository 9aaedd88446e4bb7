"""What people do with alerts: every action, with who did it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SLOWER = {1000: 0.126, 2000: -0.6}
PREFIX = "/api/v1"
AlertLab = Any


def test_acknowledge_then_fixed_leaves_who_did_what(
    desk: AlertLab, sign_in: Callable[..., Any]
) -> None:
    ada = sign_in("read", "alerts:write", name="Ada")
    alert = desk.open_alert(SLOWER)
    desk.headers = ada.headers
    assert desk.act(alert["id"], "acknowledge")["actions"] == [
        "fixed",
        "expected",
        "invalid",
        "infra",
    ]
    done = desk.act(alert["id"], "fixed", "reverted in 4f4f4f")
    assert [
        (
            event["actor"],
            event["action"],
            event["from_state"],
            event["to_state"],
            event["note"],
        )
        for event in done["history"][-2:]
    ] == [
        ("Ada", "acknowledge", "open", "acknowledged", None),
        ("Ada", "fixed", "acknowledged", "fixed", "reverted in 4f4f4f"),
    ]
    assert desk.told() == ["open", "acknowledged", "fixed"]


@pytest.mark.parametrize("action", ["fixed", "expected", "invalid", "infra"])
def test_every_resolution_can_be_reopened(desk: AlertLab, action: str) -> None:
    alert = desk.open_alert(SLOWER)
    assert desk.act(alert["id"], action)["state"] == action
    assert desk.act(alert["id"], "reopen")["state"] == "open"


def test_an_action_that_does_not_apply_is_a_conflict_naming_those_that_do(
    desk: AlertLab,
) -> None:
    desk.measure(SLOWER)
    refused = desk.act(desk.alert()["id"], "acknowledge", status=409)
    assert refused["code"] == "conflict"
    assert "nothing can be done" in refused["detail"]
    desk.confirm(SLOWER)
    refused = desk.act(desk.alert()["id"], "reopen", status=409)
    assert "possible are: acknowledge, fixed" in refused["detail"]


@pytest.mark.shapes("embedded", "scaled")
def test_notes_and_assignees_are_history(
    desk: AlertLab, sign_in: Callable[..., Any]
) -> None:
    ada = sign_in("read", "alerts:write", name="Ada")
    alert = desk.open_alert(SLOWER)
    client = desk.lab.client
    path = f"{PREFIX}/alerts/{alert['id']}"
    noted = client.post(
        f"{path}/notes", json={"note": "looks like the new JIT"}, headers=ada.headers
    ).json()
    assert noted["history"][-1]["note"] == "looks like the new JIT"
    taken = client.put(
        f"{path}/assignee", json={"account_id": ada.account_id}, headers=ada.headers
    ).json()
    assert taken["assignee"]["name"] == "Ada"
    assert taken["history"][-1]["action"] == "assign"
    assert [alert["id"] for alert in desk.alerts(assignee=ada.account_id)] == [
        alert["id"]
    ]
    assert desk.alerts(assignee="none") == []
    freed = client.put(
        f"{path}/assignee", json={"account_id": None}, headers=ada.headers
    ).json()
    assert freed["assignee"] is None
    assert len(desk.alerts(assignee="none")) == 1


def test_an_unknown_assignee_or_alert_is_refused(desk: AlertLab) -> None:
    alert = desk.open_alert(SLOWER)
    client, headers = desk.lab.client, dict(desk.headers)
    body = {"account_id": "acc_none"}
    answer = client.put(
        f"{PREFIX}/alerts/{alert['id']}/assignee", json=body, headers=headers
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    for method, path, sent in [
        ("get", "", None),
        ("post", "/actions", {"action": "fixed"}),
        ("post", "/notes", {"note": "x"}),
        ("put", "/assignee", {"account_id": None}),
    ]:
        answer = client.request(
            method, f"{PREFIX}/alerts/alt_none{path}", json=sent, headers=headers
        )
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_reading_needs_read_and_deciding_needs_alerts_write(
    desk: AlertLab, token: Callable[..., dict[str, str]]
) -> None:
    alert = desk.open_alert(SLOWER)
    client = desk.lab.client
    assert client.get(f"{PREFIX}/alerts").status_code == 401
    assert client.get(f"{PREFIX}/alerts", headers=token("ingest")).status_code == 403
    reader = token("read")
    for method, path, body in [
        ("post", "/actions", {"action": "fixed"}),
        ("post", "/notes", {"note": "x"}),
        ("put", "/assignee", {"account_id": None}),
    ]:
        answer = client.request(
            method, f"{PREFIX}/alerts/{alert['id']}{path}", json=body, headers=reader
        )
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.shapes("embedded", "scaled")
def test_alerts_are_filtered_and_paged(desk: AlertLab) -> None:
    first = desk.open_alert(SLOWER)
    desk.act(first["id"], "invalid")
    desk.measure(SLOWER)
    assert [alert["state"] for alert in desk.alerts()] == ["suspected", "invalid"]
    assert len(desk.alerts(state="invalid")) == 1
    assert desk.alerts(suite="other") == []
    assert len(desk.alerts(target=first["target_id"])) == 2
    page = desk.get("/alerts", limit=1)
    rest = desk.get("/alerts", limit=1, cursor=page["next"])
    assert [page["items"][0]["state"], rest["items"][0]["state"]] == [
        "suspected",
        "invalid",
    ]
    assert rest["next"] is None
    answer = desk.lab.client.get(
        f"{PREFIX}/alerts", params={"state": "odd"}, headers=dict(desk.headers)
    )
    assert 400 <= answer.status_code < 500
