"""Many alerts at once: all or none, taken back while nothing has happened, and all of it in the audit log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.history import SeriesPoint
from paceline_server.testing.recorded_history import RecordedHistory, record_history

FLAT = [100.0] * 10


@pytest.fixture
def past(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> RecordedHistory:
    return record_history(client, clock, enrolled, token("read", "alerts:write"))


def state(past: RecordedHistory, alert_id: str) -> str:
    return str(past.get(f"/alerts/{alert_id}")["state"])


def in_days(days: float) -> str:
    return (clock_module.now() + timedelta(days=days)).isoformat()


def test_one_decision_about_several_alerts(
    past: RecordedHistory, sign_in: Callable[..., Any]
) -> None:
    ada = sign_in("read", "alerts:write", name="Ada")
    alerts = [past.alert("open"), past.alert("open")]
    body = {
        "alert_ids": alerts,
        "action": "acknowledge",
        "note": "the new compiler",
        "assign": {"account_id": ada.account_id},
        "due": {"due_at": in_days(7)},
    }
    batch = past.post("/alerts/bulk", body, headers=ada.headers)
    assert (batch["alerts"], batch["action"]) == (
        2,
        "acknowledge + assign + due + note",
    )
    for alert_id in alerts:
        alert = past.get(f"/alerts/{alert_id}")
        assert (alert["state"], alert["assignee"]["name"]) == ("acknowledged", "Ada")
        assert alert["due_at"] is not None
        assert alert["history"][-1]["note"] == "the new compiler"


def test_a_bulk_decision_that_one_alert_refuses_changes_none(
    past: RecordedHistory,
) -> None:
    fine, closed = past.alert("open"), past.alert("fixed")
    body = {"alert_ids": [fine, closed, "alt_none"], "action": "acknowledge"}
    refused = past.post("/alerts/bulk", body, status=409)
    assert refused["code"] == "bulk_refused"
    assert refused["detail"] == "2 of 3 alerts refuse; nothing was changed."
    assert refused["fields"]["alt_none"] == "There is no alert 'alt_none'."
    assert (
        "acknowledge does not apply to an alert that is fixed"
        in refused["fields"][closed]
    )
    assert state(past, fine) == "open"
    assert past.get("/alerts/bulk")["items"] == []
    assert past.get("/audit")["items"] == []


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"action": "shout"},
        {"due": {"due_at": "2026-01-01T00:00:00"}},
        {"alert_ids": []},
        {"note": ""},
        {"alert_ids": ["a", "a"], "note": "twice"},
    ],
)
def test_what_is_no_bulk_decision_is_refused(
    past: RecordedHistory, wrong: dict[str, Any]
) -> None:
    assert (
        past.post("/alerts/bulk", {"alert_ids": ["a"], **wrong}, status=422)["code"]
        == "invalid_request"
    )


def test_an_undo_restores_what_was_before(
    past: RecordedHistory, sign_in: Callable[..., Any]
) -> None:
    ada = sign_in("read", "alerts:write", name="Ada")
    due = in_days(2)
    first, other = (
        past.alert("open"),
        past.alert("acknowledged", assignee_id=ada.account_id),
    )
    past.put(f"/alerts/{other}/due", {"due_at": due})
    body = {
        "alert_ids": [first, other],
        "action": "invalid",
        "assign": {"account_id": None},
        "due": {"due_at": None},
    }
    batch = past.post("/alerts/bulk", body)
    assert [state(past, first), state(past, other)] == ["invalid", "invalid"]
    undone = past.post(f"/alerts/bulk/{batch['id']}/undo", {}, headers=ada.headers)
    assert undone["undone_by"] == "Ada"
    assert state(past, first) == "open"
    alert = past.get(f"/alerts/{other}")
    assert (alert["state"], alert["assignee"]["name"]) == ("acknowledged", "Ada")
    assert alert["due_at"].replace("Z", "+00:00") == due
    event = alert["history"][-1]
    assert (
        event["action"],
        event["actor"],
        event["from_state"],
        event["to_state"],
    ) == (
        "undo",
        "Ada",
        "invalid",
        "acknowledged",
    )
    refused = past.post(f"/alerts/bulk/{batch['id']}/undo", {}, status=409)
    assert "undone already, by Ada" in refused["detail"]


def test_an_undo_is_refused_once_an_alert_has_changed(past: RecordedHistory) -> None:
    alerts = [past.alert("open"), past.alert("open")]
    batch = past.post("/alerts/bulk", {"alert_ids": alerts, "action": "infra"})
    past.post(f"/alerts/{alerts[1]}/notes", {"note": "wait"})
    refused = past.post(f"/alerts/bulk/{batch['id']}/undo", {}, status=409)
    assert (refused["code"], refused["fields"]) == (
        "undo_refused",
        {alerts[1]: "has changed since"},
    )
    assert state(past, alerts[0]) == "infra"


def test_an_undo_is_possible_for_a_stated_time(past: RecordedHistory) -> None:
    batches = [
        past.post(
            "/alerts/bulk", {"alert_ids": [past.alert("open")], "action": "infra"}
        )
        for _ in range(2)
    ]
    past.clock.advance(15 * 60)
    past.post(f"/alerts/bulk/{batches[0]['id']}/undo", {})
    past.clock.advance(1)
    refused = past.post(f"/alerts/bulk/{batches[1]['id']}/undo", {}, status=409)
    assert "15 minutes" in refused["detail"]
    past.post("/alerts/bulk/tri_none/undo", {}, status=404)


def test_an_undo_never_makes_two_living_alerts_of_one_cause(
    past: RecordedHistory,
) -> None:
    alert = past.alert("open", cause_key="same")
    batch = past.post("/alerts/bulk", {"alert_ids": [alert], "action": "invalid"})
    past.alert("open", cause_key="same")
    refused = past.post(f"/alerts/bulk/{batch['id']}/undo", {}, status=409)
    assert refused["fields"] == {alert: "has a newer alert"}
    assert state(past, alert) == "invalid"


def test_a_level_called_expected_is_the_baseline_until_that_is_taken_back(
    past: RecordedHistory,
) -> None:
    alert = past.alert("open")
    series = past.series(FLAT)
    past.change(series, -2, 0.1, alert_id=alert)

    def changes() -> list[str]:
        return [change["state"] for change in past.get(f"/series/{series}")["changes"]]

    path = f"/alerts/{alert}/actions"
    past.post(path, {"action": "expected", "baseline_commit": "c" * 12}, status=400)
    newest = past.get(f"/series/{series}/points")["points"][-1]["job_id"]
    with session_scope() as session:
        session.get_one(SeriesPoint, (series, newest)).commit = "c" * 12
    done = past.post(path, {"action": "expected", "baseline_commit": "c" * 12})
    assert (done["state"], done["baseline_commit"]) == ("expected", "c" * 12)
    assert changes() == ["accepted"]
    assert past.post(path, {"action": "reopen"})["baseline_commit"] is None
    assert changes() == ["standing"]
    batch = past.post("/alerts/bulk", {"alert_ids": [alert], "action": "expected"})
    assert past.get(f"/alerts/{alert}")["baseline_commit"] == "b" * 40
    body = {"alert_ids": [alert], "note": "x", "baseline_commit": "c" * 12}
    past.post("/alerts/bulk", body, status=422)
    assert changes() == ["accepted"]
    past.post(f"/alerts/bulk/{batch['id']}/undo", {})
    assert (past.get(f"/alerts/{alert}")["baseline_commit"], changes()) == (
        None,
        ["standing"],
    )


def test_a_baseline_goes_with_expected_of_a_history_only(past: RecordedHistory) -> None:
    history, arms = past.alert("open"), past.alert("open", kind="arm_slower")
    for alert, action in ((history, "fixed"), (arms, "expected")):
        body = {"action": action, "baseline_commit": "c" * 12}
        refused = past.post(f"/alerts/{alert}/actions", body, status=400)
        assert refused["fields"] == {
            "baseline_commit": "leave it out for this action and alert"
        }


def test_due_dates_and_what_is_overdue(past: RecordedHistory) -> None:
    late, later, closed = past.alert("open"), past.alert("open"), past.alert("open")
    for alert, days in ((late, 1), (later, 3), (closed, 1)):
        past.put(f"/alerts/{alert}/due", {"due_at": in_days(days)})
    past.post(f"/alerts/{closed}/actions", {"action": "fixed"})
    assert past.get("/alerts", overdue=True)["items"] == []
    past.clock.advance(2 * 86_400)
    assert [alert["id"] for alert in past.get("/alerts", overdue=True)["items"]] == [
        late
    ]
    assert {alert["id"] for alert in past.get("/alerts", overdue=False)["items"]} == {
        later,
        closed,
    }
    assert past.get(f"/alerts/{late}")["overdue"] is True
    refused = past.put(f"/alerts/{late}/due", {"due_at": in_days(-1)}, status=400)
    assert refused["fields"] == {"due_at": "in the future"}
    cleared = past.put(f"/alerts/{late}/due", {"due_at": None})
    assert (cleared["due_at"], cleared["overdue"]) == (None, False)
    assert cleared["history"][-1]["note"] == "no date"


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "ftp://a.example/1",
        "https://",
        "tracker/12",
        "https://a.example/a b",
        "http://user:secret@a.example/",
        "https://[bad/",
        "https://a.example/\u202e",
        "",
    ],
)
def test_only_a_plain_web_address_is_an_issue(past: RecordedHistory, url: str) -> None:
    alert = past.alert("open")
    past.put(f"/alerts/{alert}/issue", {"url": url}, status=422)


def test_an_issue_is_linked_and_unlinked(past: RecordedHistory) -> None:
    alert = past.alert("open")
    url = "https://tracker.example/issues/12"
    assert past.put(f"/alerts/{alert}/issue", {"url": url})["issue_url"] == url
    unlinked = past.put(f"/alerts/{alert}/issue", {"url": None})
    assert (
        unlinked["issue_url"],
        [event["note"] for event in unlinked["history"][-2:]],
    ) == (
        None,
        [url, "no issue"],
    )


def test_alerts_are_narrowed_by_kind_cause_rule_and_text(past: RecordedHistory) -> None:
    code = past.alert("open", rule_id="rul_x", words="6.0 % slower at 100%_done")
    target = past.alert(
        "open", kind="environment", cause="target", title="Everything slower on PIXEL-7"
    )
    shadow = past.alert("open", shadow=True)

    def ids(**query: Any) -> list[str]:
        return [alert["id"] for alert in past.get("/alerts", **query)["items"]]

    assert (
        ids(kind="environment")
        == ids(cause="target")
        == ids(text="pixel-7")
        == [target]
    )
    assert ids(kind="history") == ids(rule="rul_x") == ids(text="100%_") == [code]
    assert ids(shadow=True) == [shadow]
    assert ids(text="no such words") == []
    assert len(ids(text="aaaa")) == len(ids(text="BBBB")) == 2
    past.get("/alerts", kind="odd", status=422)


def test_every_write_is_in_the_audit_log_in_order(
    past: RecordedHistory, token: Callable[..., Any]
) -> None:
    alert = past.alert("open")
    past.post(f"/alerts/{alert}/actions", {"action": "acknowledge", "note": "on it"})
    past.put(f"/alerts/{alert}/issue", {"url": "https://a.example/1"})
    past.put(f"/alerts/{alert}/issue", {"url": "https://a.example/1"})
    batch = past.post("/alerts/bulk", {"alert_ids": [alert], "action": "fixed"})
    rule = past.post("/rules", {"name": "x"}, status=201)
    past.post(f"/rules/{rule['id']}/mute", {"reason": "y", "hours": 1})
    entries = past.get("/audit")["items"]
    assert [
        (entry["action"], entry["object_kind"], entry["object_id"]) for entry in entries
    ] == [
        ("mute", "rule", rule["id"]),
        ("save", "rule", rule["id"]),
        ("bulk", "triage_batch", batch["id"]),
        ("fixed", "alert", alert),
        ("issue", "alert", alert),
        ("acknowledge", "alert", alert),
    ]
    assert entries[-1]["detail"] == {
        "from": "open",
        "to": "acknowledged",
        "note": "on it",
        "baseline_commit": None,
    }
    assert {entry["actor"] for entry in entries} == {"test"}
    assert [entry["words"] for entry in entries[:3]] == [
        "test muted rule x.",
        "test saved rule x.",
        f"test decided about several alerts at once (triage batch {batch['id']}).",
    ]
    title = past.get(f"/alerts/{alert}")["title"]
    assert entries[-1]["words"] == f"test acknowledged alert {title}."
    narrowed = past.get("/audit", object_kind="alert", object_id=alert, limit=2)
    assert [entry["action"] for entry in narrowed["items"]] == ["fixed", "issue"]
    rest = past.get(
        "/audit", object_kind="alert", object_id=alert, limit=2, cursor=narrowed["next"]
    )
    assert [entry["action"] for entry in rest["items"]] == ["acknowledge"]
    assert past.get("/audit", actor="nobody")["items"] == []
    past.get("/audit", headers=token("ingest"), status=403)


def test_a_token_s_making_and_end_are_audited_without_its_secret(
    past: RecordedHistory, token: Callable[..., dict[str, str]]
) -> None:
    admin = token("admin")
    made = past.post(
        "/tokens",
        {"name": "ci", "permissions": ["project.read"]},
        headers=admin,
        status=201,
    )
    past.delete(f"/tokens/{made['id']}", headers=admin)
    entries = past.get("/audit", object_kind="token")["items"]
    assert [(entry["action"], entry["object_id"]) for entry in entries] == [
        ("revoke", made["id"]),
        ("create", made["id"]),
    ]
    assert made["secret"] not in str(entries)
    past.delete(f"/tokens/{made['id']}", headers=admin)
    assert len(past.get("/audit", object_kind="token")["items"]) == 2
