"""Alerts from the first slower job to their end, on both databases, through HTTP and the outbox."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from paceline_server.alerts.lifecycle import NOTIFY
from paceline_server.kernel import settings as process_settings
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.channels import Notification
from paceline_server.store.tables.jobs import Run
from paceline_server.store.tables.messages import OutboxMessage
from paceline_server.testing.delivered_jobs import open_lab
from paceline_server.testing.receiver import Receiver, receiving
from sqlalchemy import select, update

FASTER = {1000: -0.5, 2000: -0.6}
SLOWER = {1000: 0.126, 2000: -0.6}
BOTH_SLOWER = {1000: 0.126, 2000: 0.3}

AlertLab = Any


def _history(alert: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [
        (event["actor"], event["action"], event["to_state"])
        for event in alert["history"]
    ]


@pytest.mark.shapes("embedded", "scaled")
def test_a_slower_arm_is_a_candidate_nobody_hears_of(desk: AlertLab) -> None:
    desk.measure(SLOWER)
    alert = desk.alert()
    assert (alert["state"], alert["actions"]) == ("suspected", [])
    assert alert["title"] == "native slower than fallback: sort_batch on lab-1"
    assert "12." in alert["words"]
    assert "at batch=1000; 1 of 2 points fail" in alert["words"]
    assert [finding["role"] for finding in alert["findings"]] == ["candidate"]
    assert _history(alert) == [("paceline", "raise", "suspected")]
    assert desk.told() == []
    with read_scope() as session:
        topics = set(session.scalars(select(OutboxMessage.topic)))
    assert "alerts.notify" not in topics


def test_a_faster_arm_raises_nothing(desk: AlertLab) -> None:
    desk.measure(FASTER)
    assert desk.alerts() == []


@pytest.mark.shapes("embedded", "scaled")
def test_the_confirmation_waits_for_the_cool_down_then_measures_only_the_doubt(
    desk: AlertLab,
) -> None:
    run_id = desk.measure(SLOWER)
    outbox.drain()
    assert desk.lab.agent.ask().status_code == 204
    work = desk.confirm(SLOWER)
    assert work["params"] == {"batch": [1000]}
    assert work["benchmarks"] == ["sort_batch"]
    with read_scope() as session:
        confirming = session.scalars(select(Run).where(Run.trigger == "confirm")).one()
        original = session.get_one(Run, run_id)
    assert (confirming.commit, confirming.knobs) == (original.commit, original.knobs)
    assert desk.alert()["confirmation_run_id"] == confirming.id


@pytest.mark.shapes("embedded", "scaled")
def test_a_confirmed_alert_is_open_told_once_and_explained(desk: AlertLab) -> None:
    alert = desk.open_alert(SLOWER)
    assert desk.told() == ["open"]
    assert [finding["role"] for finding in alert["findings"]] == [
        "candidate",
        "confirmation",
    ]
    assert _history(alert) == [
        ("paceline", "raise", "suspected"),
        ("paceline", "confirmation_requested", None),
        ("paceline", "confirm", "open"),
        ("paceline", "notified", None),
    ]
    text = alert["explanation"]
    assert (
        "On lab-1, native took longer than fallback in sort_batch at batch=1000: 12."
        in text
    )
    assert "paired blocks in 5 launches were more than 2 % slower" in text
    assert "A second run in a new session, after a pause, confirmed it: 12." in text
    assert alert["rule"]["name"] == "native-slower-than-fallback"


def test_every_filter_of_a_finding_has_its_number_and_limit(desk: AlertLab) -> None:
    desk.measure(SLOWER)
    filters = {check["name"]: check for check in desk.alert()["findings"][0]["filters"]}
    assert set(filters) == {
        "blocks",
        "launches",
        "unusable_share",
        "sign_test",
        "launch_medians",
        "launch_margin",
        "false_discovery",
    }
    assert all(
        check["value"] is not None and check["limit"] is not None
        for check in filters.values()
    )
    assert all(check["passed"] for check in filters.values())
    window = desk.alert()["findings"][0]["window"]
    assert [launch["launch"] for launch in window["launches"]] == [0, 1, 2, 3, 4]


def test_a_refuted_candidate_is_unconfirmed_and_nobody_heard(desk: AlertLab) -> None:
    desk.measure(SLOWER)
    desk.confirm(FASTER)
    alert = desk.alert()
    assert (alert["state"], alert["actions"]) == ("unconfirmed", [])
    assert "did not confirm it" in alert["explanation"]
    assert desk.told() == []


@pytest.mark.shapes("embedded", "scaled")
def test_an_undecided_confirmation_is_inconclusive_and_the_next_slow_run_tries_again(
    desk: AlertLab,
) -> None:
    desk.measure(SLOWER)
    desk.confirm(SLOWER, checks_ok=False)
    assert desk.alert()["state"] == "inconclusive"
    assert desk.told() == []
    desk.measure(SLOWER)
    assert desk.alert()["state"] == "suspected"
    desk.confirm(SLOWER)
    assert desk.alert()["state"] == "open"


def test_a_confirmation_that_never_measured_is_inconclusive_with_the_reason(
    desk: AlertLab,
) -> None:
    desk.measure(SLOWER)
    desk.clock.advance(30)
    outbox.drain()
    leased = desk.lab.agent.lease()
    leased.report("preparing")
    leased.finish(
        -1, outcome="failed", cause="build_failed", detail="cargo: no such file"
    )
    outbox.drain()
    alert = desk.alert()
    assert alert["state"] == "inconclusive"
    assert (
        "build_failed" in alert["history"][-1]["note"]
        or "cargo" in alert["history"][-1]["note"]
    )


@pytest.mark.shapes("embedded", "scaled")
def test_a_confirmation_that_cannot_be_analysed_is_inconclusive_with_the_reason(
    desk: AlertLab,
) -> None:
    desk.measure(SLOWER)
    desk.clock.advance(30)
    outbox.drain()
    desk.lab.deliver(SLOWER)
    with session_scope() as session:
        session.execute(update(Run).where(Run.trigger == "confirm").values(manifest={}))
    for _ in range(outbox.INCIDENT_AFTER):
        assert desk.alert()["state"] == "suspected"
        outbox.drain()
        desk.clock.advance(60)
    outbox.drain()
    alert = desk.alert()
    assert alert["state"] == "inconclusive"
    assert "The analysis failed 5 times" in alert["history"][-1]["note"]
    assert desk.told() == []


def test_one_alert_per_cause_across_params_and_runs(desk: AlertLab) -> None:
    desk.measure(SLOWER)
    desk.measure(BOTH_SLOWER)
    alert = desk.alert()
    assert len(alert["findings"]) == 3
    assert "found_again" in {event["action"] for event in alert["history"]}


def test_another_target_is_another_cause(
    desk: AlertLab, enrolled: Callable[..., Any], token: Callable[..., dict[str, str]]
) -> None:
    desk.measure(SLOWER)
    open_lab(desk.lab.client, enrolled, token, name="lab-2").measure(SLOWER, seed=9)
    assert {alert["target_name"] for alert in desk.alerts()} == {"lab-1", "lab-2"}


def test_the_arm_winning_again_closes_the_alert(desk: AlertLab) -> None:
    desk.open_alert(SLOWER)
    desk.measure(FASTER)
    alert = desk.alert()
    assert alert["state"] == "fixed"
    assert _history(alert)[-1] == ("paceline", "recover", "fixed")
    assert alert["findings"][-1]["role"] == "recovery"
    assert desk.told() == ["open", "fixed"]


def test_winning_elsewhere_does_not_close_it(desk: AlertLab) -> None:
    desk.open_alert(SLOWER)
    desk.measure({2000: -0.6}, params={"batch": [2000]})
    assert desk.alert()["state"] == "open"


def test_a_confirmation_is_no_recovery_and_no_new_alert(desk: AlertLab) -> None:
    """Confirmation data never enters baselines: it decides its own alert and nothing else."""
    desk.open_alert(SLOWER)
    run_ids = {finding["run_id"] for finding in desk.alert()["findings"]}
    assert len(run_ids) == 2
    assert len(desk.alerts()) == 1


def test_a_demonstration_is_its_own_cause_and_proves_no_recovery(
    desk: AlertLab,
) -> None:
    real = desk.open_alert(SLOWER)
    desk.measure(FASTER, knobs={"slowdown_percent": 10})
    assert desk.get(f"/alerts/{real['id']}")["state"] == "open"
    desk.measure(SLOWER, knobs={"slowdown_percent": 40})
    flags = {alert["demonstration"] for alert in desk.alerts()}
    assert flags == {True, False}


def test_a_demonstrated_alert_says_so_and_ends_with_a_real_win(desk: AlertLab) -> None:
    alert = desk.open_alert(SLOWER, knobs={"slowdown_percent": 40})
    assert alert["demonstration"]
    assert alert["title"].endswith("(demonstration)")
    assert "a knob changed the work on purpose" in alert["explanation"]
    desk.measure(FASTER)
    assert desk.alert()["state"] == "fixed"


def test_a_closed_cause_raises_a_new_alert(desk: AlertLab) -> None:
    first = desk.open_alert(SLOWER)
    desk.act(first["id"], "invalid", "the probe was broken")
    desk.measure(SLOWER)
    assert sorted(alert["state"] for alert in desk.alerts()) == ["invalid", "suspected"]
    refused = desk.act(first["id"], "reopen", status=409)
    assert refused["code"] == "conflict"
    assert desk.get(f"/alerts/{first['id']}")["state"] == "invalid"


def test_an_expected_slowdown_stays_quiet_until_it_grows(desk: AlertLab) -> None:
    alert = desk.open_alert(SLOWER)
    desk.act(alert["id"], "expected", "we pay for the audit log")
    desk.measure(SLOWER)
    assert [alert["state"] for alert in desk.alerts()] == ["expected"]
    assert desk.alert()["history"][-1]["action"] == "seen_as_expected"
    desk.measure({1000: 0.4, 2000: -0.6})
    assert sorted(alert["state"] for alert in desk.alerts()) == [
        "expected",
        "suspected",
    ]


@pytest.mark.parametrize(
    ("accepted", "later"),
    [
        pytest.param(
            BOTH_SLOWER, {1000: 0.25, 2000: 0.3}, id="a point below the worst one grew"
        ),
        pytest.param(
            SLOWER, {1000: 0.126, 2000: 0.06}, id="a point fails that did not"
        ),
    ],
)
def test_an_expected_slowdown_covers_each_point_by_itself(
    desk: AlertLab, accepted: dict[int, float], later: dict[int, float]
) -> None:
    desk.act(desk.open_alert(accepted)["id"], "expected", "we pay for the audit log")
    desk.measure(accepted)
    assert [alert["state"] for alert in desk.alerts()] == ["expected"]
    desk.measure(later)
    assert sorted(alert["state"] for alert in desk.alerts()) == [
        "expected",
        "suspected",
    ]


def test_evaluating_a_job_again_adds_nothing(desk: AlertLab) -> None:
    desk.measure(SLOWER)
    before = desk.alert()
    job_id = before["findings"][0]["job_id"]
    with session_scope() as session:
        outbox.add(session, "alerts.evaluate", job_id)
    outbox.drain()
    assert desk.alert() == before


@pytest.mark.shapes("embedded", "scaled")
def test_two_workers_raise_one_alert(
    desk: AlertLab, together: Callable[..., list[object]]
) -> None:
    for seed in (1, 2):
        desk.lab.request()
        desk.lab.deliver(SLOWER, seed=seed)
    for message_id in _pending("job.analyse"):
        assert outbox.carry_out(message_id)
    both = _pending("alerts.evaluate")
    assert len(both) == 2
    together(
        *(
            lambda message_id=message_id: outbox.carry_out(message_id)
            for message_id in both
        )
    )
    desk.clock.advance(2)
    outbox.drain()
    alert = desk.alert()
    assert (alert["state"], len(alert["findings"])) == ("suspected", 2)


def _pending(topic: str) -> list[int]:
    query = select(OutboxMessage.id).where(
        OutboxMessage.topic == topic, OutboxMessage.done_at.is_(None)
    )
    with read_scope() as session:
        return list(session.scalars(query.order_by(OutboxMessage.id)))


@pytest.fixture
def webhook() -> Iterator[Receiver]:
    with receiving() as receiver:
        process_settings.set_current(
            process_settings.current().model_copy(update={"webhook_url": receiver.url})
        )
        yield receiver


def test_a_channel_hears_of_an_open_alert_only(
    desk: AlertLab, webhook: Receiver
) -> None:
    desk.measure(SLOWER)
    assert webhook.received == []
    desk.confirm(SLOWER)
    [request] = webhook.received
    body = json.loads(request.body)
    alert = desk.alert()
    assert (body["type"], body["data"]["subject_id"]) == ("alert.opened", alert["id"])
    for name, field in (
        ("title", "title"),
        ("summary", "words"),
        ("text", "explanation"),
        ("suite", "suite"),
        ("target", "target_name"),
        ("target_id", "target_id"),
        ("state", "state"),
    ):
        assert body["data"][name] == alert[field]
    assert body["data"]["severity"] == "critical"
    assert alert["history"][-1]["note"] == "log, PACELINE_WEBHOOK_URL"
    with read_scope() as session:
        ratios = session.scalars(select(Notification.content)).one()["ratios"]
    assert ratios["about"] == "native in sort_batch at batch=1000: native ÷ fallback"
    assert min(ratios["values"]) > ratios["limit"] > 1


def test_a_relapse_is_another_event(desk: AlertLab, webhook: Receiver) -> None:
    """A receiver that drops what it has seen must hear of the alert again."""
    alert = desk.open_alert(SLOWER)
    with session_scope() as session:
        outbox.add(session, NOTIFY, alert["id"])
    outbox.drain()
    first, again = (request.headers["webhook-id"] for request in webhook.received)
    assert first != again
