"""Rules over HTTP: versions, owners, refusals, mutes, precision, the one that decides."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel import ids
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.history import NoiseFloor
from paceline_server.testing.recorded_history import RecordedHistory, record_history

PREFIX = "/api/v1"


@pytest.fixture
def past(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> RecordedHistory:
    return record_history(client, clock, enrolled, token("read", "alerts:write"))


def rule(name: str = "ledger", **changes: Any) -> dict[str, Any]:
    return {"name": name, "benchmark": "ledger_*", "min_effect": 0.05, **changes}


def floor(
    target_id: str, mde: float, benchmark: str = "ledger_batch", arm: str = "native"
) -> None:
    with session_scope() as session:
        session.add(
            NoiseFloor(
                id=ids.new_id("nfl"),
                target_id=target_id,
                suite="hashing",
                benchmark=benchmark,
                arm=arm,
                params={"batch": 1000},
                params_key='{"batch":1000}',
                metric="time",
                mde=mde,
                lower=0.99,
                upper=1.01,
                blocks=100,
                launches=5,
                evidence={},
                run_id="run_x",
                job_id="job_x",
                measured_at=clock_module.now(),
            )
        )


def test_a_saved_rule_decides_and_says_who_owns_it(
    past: RecordedHistory, sign_in: Callable[..., Any]
) -> None:
    ada = sign_in("read", "alerts:write", name="Ada")
    made = past.post("/rules", rule(), headers=ada.headers, status=201)
    assert (made["version"], made["owner"]["name"], made["created_by"]) == (
        1,
        "Ada",
        "Ada",
    )
    assert made["text"] == (
        "Any metric of benchmark ledger_* (any arm, any suite, any target) gets worse by 5.0 % or more and "
        "stays so."
    )
    subject: dict[str, Any] = {
        "suite": "hashing",
        "benchmark": "ledger_batch",
        "arm": "native",
        "metric": "time",
    }
    applied = past.get("/rules/applied", **subject, target="lab-1")
    assert (applied["rule_id"], applied["version"], applied["min_effect"]) == (
        made["id"],
        1,
        0.05,
    )
    other = past.get(
        "/rules/applied", **{**subject, "benchmark": "random"}, target="lab-1"
    )
    assert (other["rule_id"], other["name"], other["min_effect"]) == (
        None,
        "default-history",
        0.03,
    )
    arms = past.get("/rules/applied", **subject, target="lab-1", kind="arm_slower")
    assert (arms["rule_id"], arms["name"], arms["min_effect"]) == (
        None,
        "as-shipped",
        0.0,
    )


@pytest.mark.shapes("embedded", "scaled")
def test_every_version_is_kept_and_a_stale_save_is_refused(
    past: RecordedHistory,
) -> None:
    made = past.post("/rules", rule(comment="start"), status=201)
    path = f"/rules/{made['id']}"
    saved = past.put(path, {**rule(min_effect=0.08, comment="too loud"), "based_on": 1})
    assert (saved["version"], saved["min_effect"]) == (2, 0.08)
    refused = past.put(path, {**rule(min_effect=0.01), "based_on": 1}, status=409)
    assert "at version 2 by now" in refused["detail"]
    versions = past.get(f"{path}/versions")["items"]
    assert [
        (version["version"], version["min_effect"], version["comment"])
        for version in versions
    ] == [
        (2, 0.08, "too loud"),
        (1, 0.05, "start"),
    ]


def test_a_sentence_made_of_the_numbers_follows_them_and_a_written_one_stays(
    past: RecordedHistory,
) -> None:
    made = past.post("/rules", rule(), status=201)
    path = f"/rules/{made['id']}"
    followed = past.put(
        path, {**rule(min_effect=0.08, text=made["text"]), "based_on": 1}
    )
    assert "by 8.0 % or more" in followed["text"]
    written = past.put(path, {**rule(text="Batches matter."), "based_on": 2})
    kept = past.put(path, {**rule(min_effect=0.1, text=written["text"]), "based_on": 3})
    assert kept["text"] == "Batches matter."


@pytest.mark.shapes("embedded", "scaled")
def test_names_are_unique_and_a_deleted_rule_goes_on_under_its_name(
    past: RecordedHistory,
) -> None:
    made = past.post("/rules", rule(), status=201)
    assert past.post("/rules", rule(), status=409)["code"] == "conflict"
    other = past.post("/rules", rule("other"), status=201)
    assert (
        past.put(f"/rules/{other['id']}", {**rule(), "based_on": 1}, status=409)["code"]
        == "conflict"
    )
    past.delete(f"/rules/{made['id']}")
    past.get(f"/rules/{made['id']}", status=404)
    assert [rule["name"] for rule in past.get("/rules")["items"]] == ["other"]
    again = past.post("/rules", rule(min_effect=0.2), status=201)
    assert (again["id"], again["version"]) == (made["id"], 2)


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "default-history"},
        {"name": "as-shipped"},
        {"name": "Not A Name"},
        {"min_effect": -0.1},
        {"mode": "loud"},
        {"kind": "other"},
        {"target": ""},
        {"direction": "up"},
        {"extra": 1},
    ],
)
def test_what_makes_no_rule_is_refused(
    past: RecordedHistory, wrong: dict[str, Any]
) -> None:
    assert past.post("/rules", rule(**wrong), status=422)["code"] == "invalid_request"


def test_an_unknown_owner_is_refused(past: RecordedHistory) -> None:
    assert past.post("/rules", rule(owner_id="acc_none"), status=400)["fields"] == {
        "owner_id": "no such account"
    }


def test_a_rule_below_the_noise_floor_is_refused_with_the_number_and_the_series(
    past: RecordedHistory,
) -> None:
    floor(past.target_id, 0.031)
    refused = past.post("/rules", rule(min_effect=0.03), status=422)
    assert refused["code"] == "below_noise_floor"
    assert (
        "at least 3.1 % on lab-1 (ledger_batch native time at batch=1000"
        in refused["detail"]
    )
    assert refused["fields"] == {"min_effect": "at least 3.1 % on lab-1"}
    made = past.post("/rules", rule(min_effect=0.031), status=201)
    assert made["floor"]["words"] == "at least 3.1 % on lab-1"
    past.put(
        f"/rules/{made['id']}", {**rule(min_effect=0.02), "based_on": 1}, status=422
    )


def test_only_the_newest_floor_of_a_series_counts(past: RecordedHistory) -> None:
    floor(past.target_id, 0.2)
    past.clock.advance(60)
    floor(past.target_id, 0.01)
    assert (
        past.post("/rules", rule(min_effect=0.03), status=201)["floor"]["mde"] == 0.01
    )


def test_the_floor_of_a_series_that_another_rule_decides_about_refuses_nothing(
    past: RecordedHistory,
) -> None:
    floor(past.target_id, 0.2)
    past.post("/rules", rule("wide", min_effect=0.05), status=422)
    past.post("/rules", rule("noisy", target="lab-1", min_effect=0.2), status=201)
    past.post("/rules", rule("wide", min_effect=0.05), status=201)


def test_rules_that_raise_nothing_or_speak_of_arms_are_below_no_floor(
    past: RecordedHistory,
) -> None:
    floor(past.target_id, 0.2)
    past.post("/rules", rule("quiet", mode="off"), status=201)
    past.post("/rules", rule("arms", kind="arm_slower"), status=201)
    past.post("/rules", rule("shadow", mode="shadow"), status=422)


def test_a_mute_has_a_reason_and_an_end(past: RecordedHistory) -> None:
    made = past.post("/rules", rule(), status=201)
    path = f"/rules/{made['id']}"
    past.post(f"{path}/mute", {"reason": "", "hours": 1}, status=422)
    past.post(f"{path}/mute", {"reason": "for ever", "hours": 24 * 365}, status=422)
    muted = past.post(f"{path}/mute", {"reason": "fan is broken", "hours": 2})
    assert muted["mute"]["reason"] == "fan is broken"
    subject: dict[str, Any] = {
        "suite": "s",
        "benchmark": "ledger_x",
        "arm": "a",
        "metric": "time",
        "target": "lab-1",
    }
    until = clock_module.now() + timedelta(hours=2)
    assert past.get("/rules/applied", **subject)["muted"] == (
        f"muted by test until {until:%Y-%m-%d %H:%M} UTC: fan is broken"
    )
    past.clock.advance(2 * 3600 + 1)
    assert past.get("/rules/applied", **subject)["muted"] is None
    assert past.get(path)["mute"] is None
    assert past.post(f"{path}/unmute", {}, status=409)["code"] == "conflict"


def test_a_new_mute_takes_the_place_of_the_old_one(past: RecordedHistory) -> None:
    made = past.post("/rules", rule(), status=201)
    path = f"/rules/{made['id']}"
    past.post(f"{path}/mute", {"reason": "long", "hours": 100})
    short = past.post(f"{path}/mute", {"reason": "short", "hours": 1})
    assert short["mute"]["reason"] == "short"
    assert [(mute["reason"], mute["ended_at"] is None) for mute in short["mutes"]] == [
        ("short", True),
        ("long", False),
    ]
    assert past.post(f"{path}/unmute", {})["mute"] is None


def test_precision_counts_outcomes_and_shows_no_share_of_a_handful(
    past: RecordedHistory,
) -> None:
    made = past.post("/rules", rule(), status=201)
    for state in ("fixed", "expected", "vanished", "invalid", "open", "suspected"):
        past.alert(state, rule_id=made["id"])
    past.alert("invalid", rule_id=made["id"], demonstration=True)
    few = past.get(f"/rules/{made['id']}")["precision"]
    assert (few["worth_it"], few["false"], few["undecided"], few["share"]) == (
        2,
        2,
        2,
        None,
    )
    assert few["words"] == "2 of 4 alerts were worth it: too few for a share."
    past.alert("acknowledged", rule_id=made["id"])
    enough = past.get("/rules")["items"][0]["precision"]
    assert (enough["worth_it"], enough["share"]) == (3, 0.6)
    assert enough["words"] == "3 of 5 alerts were worth it (60 %)."


@pytest.mark.shapes("embedded", "scaled")
def test_rules_are_filtered_and_paged_by_name(past: RecordedHistory) -> None:
    for name, mode in (("b", "off"), ("a", "active"), ("c", "shadow")):
        past.post("/rules", rule(name, mode=mode, kind="arm_slower"), status=201)
    assert [rule["name"] for rule in past.get("/rules")["items"]] == ["a", "b", "c"]
    assert [rule["name"] for rule in past.get("/rules", mode="off")["items"]] == ["b"]
    assert past.get("/rules", kind="history")["items"] == []
    page = past.get("/rules", limit=2)
    assert [
        rule["name"]
        for rule in past.get("/rules", limit=2, cursor=page["next"])["items"]
    ] == ["c"]


def test_reading_needs_read_and_saving_needs_alerts_write(
    past: RecordedHistory, token: Callable[..., dict[str, str]]
) -> None:
    made = past.post("/rules", rule(), status=201)
    reader, path = token("read"), f"/rules/{made['id']}"
    past.get("/rules/orphans", headers=token("ingest"), status=403)
    assert past.get(path, headers=reader)["name"] == "ledger"
    past.post("/rules", rule("x"), headers=reader, status=403)
    past.put(path, {**rule(), "based_on": 1}, headers=reader, status=403)
    past.post(f"{path}/mute", {"reason": "x", "hours": 1}, headers=reader, status=403)
    past.post(f"{path}/unmute", {}, headers=reader, status=403)
    past.post("/rules/replay", {"rule": rule()}, headers=reader, status=403)
    past.delete(path, headers=reader, status=403)
    for method, where, body in [
        (past.put, "/rules/rul_none", {**rule(), "based_on": 1}),
        (past.post, "/rules/rul_none/mute", {"reason": "x", "hours": 1}),
        (past.post, "/rules/rul_none/unmute", {}),
        (past.post, "/rules/replay", {"rule": rule(), "rule_id": "rul_none"}),
    ]:
        assert method(where, body, status=404)["code"] == "not_found"
    past.get("/rules/rul_none/versions", status=404)


@pytest.mark.shapes("embedded", "scaled")
def test_two_people_saving_at_once_make_one_version(
    past: RecordedHistory, together: Callable[..., list[object]]
) -> None:
    made = past.post("/rules", rule(), status=201)
    body = {**rule(min_effect=0.09), "based_on": 1}
    path = f"{PREFIX}/rules/{made['id']}"

    def save() -> int:
        return int(
            past.client.put(path, json=body, headers=dict(past.headers)).status_code
        )

    assert sorted(together(save, save), key=str) == [200, 409]
    assert past.get(f"/rules/{made['id']}")["version"] == 2


def test_a_rule_made_to_mute_an_alert_never_asks_for_less_than_can_be_measured(
    past: RecordedHistory,
) -> None:
    past.series([100.0] * 3)
    floor(past.target_id, 0.08)
    alert = past.alert("open")
    muted = past.post(f"/alerts/{alert}/mute", {"reason": "moving", "hours": 1})
    made = past.get(f"/rules/{muted['rule_id']}")
    assert (made["kind"], made["min_effect"]) == ("history", 0.08)


def test_an_alert_without_rules_cannot_be_muted(past: RecordedHistory) -> None:
    alert = past.alert("open", kind="policy", cause=None)
    assert past.get(f"/alerts/{alert}")["can_be_muted"] is False
    refused = past.post(
        f"/alerts/{alert}/mute", {"reason": "x", "hours": 1}, status=409
    )
    assert "mute a channel instead" in refused["detail"]


def test_rules_of_suites_and_built_in_ones_are_listed_beside_the_stored(
    desk: Any,
) -> None:
    shipped = desk.get("/rules/shipped")["items"]
    assert [(rule["suite"], rule["name"], rule["arms"]) for rule in shipped[:1]] == [
        ("sorting", "native-slower-than-fallback", ["native"])
    ]
    built_in = {rule["name"] for rule in shipped if rule["suite"] is None}
    assert {"default-history", "as-shipped", "default-gate"} <= built_in
    assert desk.get("/rules")["items"] == []
