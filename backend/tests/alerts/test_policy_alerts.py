"""A usage policy that stops being right is told of once a second session says the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.alerts import service
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.testing.delivered_jobs import open_lab
from paceline_server.testing.sorting_suite import BENCHMARK, suite_manifest

AlertLab = Any
RIGHT = {1000: 0.3, 2000: -0.17}
WRONG = {1000: 0.3, 2000: 0.2}
"""The policy in force uses native from 1,500 on; here it loses at 2,000."""


def _manifest() -> dict[str, Any]:
    policy = {
        "name": "native_batch",
        "benchmark": BENCHMARK,
        "arm": "native",
        "reference": "fallback",
        "metric": "time",
        "param": "batch",
        "in_force": {"minimum": 1500},
    }
    return suite_manifest(policies=[policy])


@pytest.fixture
def desk(
    client: TestClient,
    desk: AlertLab,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> AlertLab:
    """No arm alerts in the way: a rule switches them off."""
    desk.lab = open_lab(client, enrolled, token, manifest=_manifest(), name="phone-1")
    off = {"name": "policies-only", "kind": "arm_slower", "mode": "off"}
    assert (
        client.post(
            "/api/v1/rules", json=off, headers=token("read", "alerts:write")
        ).status_code
        == 201
    )
    return desk


@pytest.mark.shapes("embedded", "scaled")
def test_a_policy_that_turns_wrong_is_told_after_a_second_session_said_so(
    desk: AlertLab,
) -> None:
    desk.measure(RIGHT)
    assert desk.alerts() == []
    desk.measure(WRONG)
    suspected = desk.alert()
    assert (suspected["kind"], suspected["state"]) == ("policy", "suspected")
    assert (
        suspected["title"] == "Policy native_batch of sorting is not right on phone-1"
    )
    assert desk.told() == []
    work = desk.confirm(WRONG)
    assert (work["benchmarks"], work["params"]) == ([BENCHMARK], {})
    opened = desk.alert()
    assert opened["state"] == "open"
    assert [finding["role"] for finding in opened["findings"]] == [
        "candidate",
        "confirmation",
    ]
    assert desk.told() == ["open"]
    named = {"suite": "sorting", "policy": "native_batch", "target": desk.lab.target_id}
    stored = desk.get("/policies/history", **named)["items"]
    assert [finding["holds"] for finding in stored] == [False, True], (
        "a confirmation enters no history"
    )


def test_a_second_session_that_disagrees_ends_it_and_nobody_hears(
    desk: AlertLab,
) -> None:
    desk.measure(RIGHT)
    desk.measure(WRONG)
    desk.confirm(RIGHT)
    assert desk.alert()["state"] == "unconfirmed"
    assert desk.told() == []


@pytest.mark.shapes("embedded", "scaled")
def test_the_first_advice_of_a_target_may_be_wrong_at_once(desk: AlertLab) -> None:
    desk.measure(WRONG)
    assert desk.alert()["state"] == "suspected"


def test_a_policy_that_was_wrong_before_raises_nothing_again(desk: AlertLab) -> None:
    desk.measure(WRONG)
    desk.confirm(WRONG)
    desk.act(desk.alert()["id"], "invalid")
    desk.measure(WRONG)
    assert [alert["state"] for alert in desk.alerts()] == ["invalid"]


def test_being_right_again_closes_it(desk: AlertLab) -> None:
    desk.measure(WRONG)
    desk.confirm(WRONG)
    desk.measure(RIGHT)
    fixed = desk.alert()
    assert (fixed["state"], fixed["history"][-1]["action"]) == ("fixed", "recover")
    assert fixed["findings"][-1]["role"] == "recovery"


@pytest.mark.shapes("embedded", "scaled")
def test_it_explains_itself_with_what_is_in_force_and_what_was_measured(
    desk: AlertLab,
) -> None:
    desk.measure(WRONG)
    alert = desk.alert()
    explanation = desk.get(f"/alerts/{alert['id']}/explain", rederive=True)
    assert (explanation["kind"], explanation["cause"]) == ("policy", None)
    assert "policy in force: from 1,500" in explanation["sentence"]
    (finding,) = explanation["findings"]
    assert [check["name"] for check in finding["filters"]] == ["minimum", "holds"]
    assert finding["filters"][0]["value"] == 1500
    assert "picks native, which takes" in finding["filters"][1]["text"]
    assert finding["window"]["text"].startswith("2 values of batch measured in one job")
    assert finding["rederived"]["identical"] is None


@pytest.mark.shapes("embedded", "scaled")
def test_evaluating_the_job_again_adds_nothing(desk: AlertLab) -> None:
    desk.measure(WRONG)
    before = desk.alert()
    with session_scope() as session:
        outbox.add(session, "alerts.history", before["findings"][0]["job_id"])
    outbox.drain()
    assert desk.alert() == before


def test_one_session_that_disagreed_does_not_silence_a_policy_that_stays_wrong(
    desk: AlertLab,
) -> None:
    desk.measure(WRONG)
    desk.confirm(RIGHT)
    desk.measure(WRONG)
    assert [alert["state"] for alert in desk.alerts()] == ["suspected", "unconfirmed"]
    desk.confirm(WRONG)
    assert [alert["state"] for alert in desk.alerts()] == ["open", "unconfirmed"]


def test_a_confirmed_policy_alert_says_what_the_second_session_said(
    desk: AlertLab,
) -> None:
    desk.measure(WRONG)
    assert "measured again in a new session first" in desk.alert()["explanation"]
    desk.confirm(WRONG)
    text = desk.alert()["explanation"]
    assert "The same revision, measured again in a new session, says: " in text
    assert "A/B" not in text


def test_a_second_session_is_analysed_before_anything_is_written(
    desk: AlertLab,
) -> None:
    desk.measure(WRONG)
    desk.confirm(WRONG)
    first, second = (finding["job_id"] for finding in desk.alert()["findings"])
    with read_scope() as session:
        advised = service.compute_confirmation(session, second)
        assert [advice.holds for advice in advised] == [False]
        assert service.compute_confirmation(session, first) is None
