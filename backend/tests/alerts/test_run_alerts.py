"""Gates, witnesses, vanished cases and scheduled runs raise one alert per cause, which ends when all is well again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.alerts import service
from paceline_server.jobs import expiry
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import session_scope
from paceline_server.store.tables.channels import Notification
from paceline_server.store.tables.history import Series, SeriesPoint
from paceline_server.store.tables.jobs import Run
from paceline_server.testing.delivered_jobs import open_lab
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    bench_cases,
    suite_manifest,
)
from sqlalchemy import select, update

AlertLab = Any
FAST, SLOW = {1000: -0.4, 2000: -0.4}, {1000: -0.1, 2000: -0.1}
"""Native keeps winning against the fallback, so that only its gate can fail."""


def _limit() -> float:
    """Between native's median when `FAST` and when `SLOW`."""
    fallback = next(case for case in bench_cases(1, FAST) if case.arm == "fallback")
    return float(np.median(fallback.value)) * 0.75


@pytest.fixture
def witnesses() -> dict[str, Any]:
    return {}


@pytest.fixture
def desk(
    client: TestClient,
    desk: AlertLab,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    witnesses: dict[str, Any],
) -> AlertLab:
    gate = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "statistic": "median",
        "op": "<=",
        "params": {"batch": 1000},
        "required": _limit(),
    }
    manifest = suite_manifest(gates=[gate])
    manifest["benchmarks"][BENCHMARK] |= {"witnesses": witnesses}
    desk.lab = open_lab(client, enrolled, token, manifest=manifest, name="phone-1")
    return desk


def _measure(desk: AlertLab, effects: dict[int, float] = FAST, **how: Any) -> Any:
    """A run of the default branch, delivered and judged."""
    desk.lab.request()
    leased = desk.lab.deliver(effects, seed=1, **how)
    outbox.drain()
    return leased


def _told() -> list[str]:
    """Titles of what people were told."""
    with session_scope() as session:
        rows = session.scalars(select(Notification).order_by(Notification.id))
        return [row.content["title"] for row in rows]


def _move_runs(**values: Any) -> None:
    """Change the runs that are asked for, as their requester would have."""
    with session_scope() as session:
        session.execute(update(Run).where(Run.state == "queued").values(**values))


def test_a_gate_that_fails_is_told_once_and_ends_when_it_holds(desk: AlertLab) -> None:
    _measure(desk)
    assert desk.alerts() == []
    _measure(desk, SLOW)
    job = _measure(desk, SLOW)
    with session_scope() as session:
        service.evaluate_job(session, job.job_id, None)
    opened = desk.alert()
    assert (opened["kind"], opened["state"]) == ("gate", "open")
    assert (
        opened["title"]
        == f"Gate median of time fails: native of {BENCHMARK} on phone-1"
    )
    assert "required <= " in opened["words"]
    assert opened["title"] in opened["explanation"]
    assert len(opened["findings"]) == 2, "the same job counts once"
    assert _told() == [opened["title"]]
    _measure(desk)
    fixed = desk.alert()
    assert (fixed["state"], fixed["history"][-1]["action"]) == ("fixed", "recover")
    assert len(_told()) == 1


def test_a_gate_is_told_as_undecided_only_when_the_next_job_decides_no_better(
    desk: AlertLab,
) -> None:
    _measure(desk, checks_ok=False)
    gate = [alert for alert in desk.alerts() if alert["kind"] == "gate"]
    assert [alert["state"] for alert in gate] == ["suspected"]
    assert _told() == []
    _measure(desk)
    assert {alert["state"] for alert in desk.alerts()} == {"unconfirmed"}
    for _ in range(2):
        _measure(desk, checks_ok=False)
    assert _told() == [
        f"Gate median of time is undecided: native of {BENCHMARK} on phone-1"
    ]


@pytest.mark.parametrize(
    "witnesses", [{"native": {"counter": "native_calls"}}], ids=["declared"]
)
def test_an_arm_that_never_ran_has_one_alert_which_says_so_and_no_points_that_count(
    desk: AlertLab, witnesses: dict[str, Any]
) -> None:
    """Its gate fails, too: by the times of the fallback."""

    def with_native_calls(
        count: int,
    ) -> Callable[[list[CaseSamples]], list[CaseSamples]]:
        return lambda cases: [
            replace(case, work={"native_calls": np.full(case.value.size, count)})
            if case.arm in witnesses
            else case
            for case in cases
        ]

    fallback = _measure(desk, SLOW, alter=with_native_calls(0))
    opened = desk.alert()
    assert (opened["kind"], opened["state"]) == ("gate", "open")
    assert opened["title"] == f"native never ran: {BENCHMARK} on phone-1"
    why = "native was built, and never called: its counter native_calls is 0"
    assert opened["words"] == why
    with session_scope() as session:
        points = session.execute(
            select(Series.arm, SeriesPoint.excluded).where(
                Series.id == SeriesPoint.series_id
            )
        )
        excluded = {(arm, reason) for arm, reason in points}
    assert excluded == {("native", why), ("fallback", None)}
    commit = desk.get(f"/runs/{fallback.run_id}")["commit"]
    rows = desk.get("/compare", base=commit, head=commit)["rows"]
    assert {(row["arm"], row["head"]["excluded"]) for row in rows} == excluded
    _measure(desk, alter=with_native_calls(1))
    assert desk.alert()["state"] == "fixed"
    assert _told() == [opened["title"]]


@pytest.mark.parametrize(
    "other",
    [{"branch": "feature"}, {"demonstration": True}, {"trigger": "a_a"}],
    ids=str,
)
def test_what_is_not_the_default_branch_as_it_is_raises_nothing(
    desk: AlertLab, other: dict[str, Any]
) -> None:
    desk.lab.request()
    _move_runs(**other)
    desk.lab.deliver(SLOW, seed=1)
    outbox.drain()
    assert desk.alerts() == []


def test_a_pull_request_whose_head_fails_a_gate_raises_nothing(desk: AlertLab) -> None:
    number = {"number": 7}
    desk.lab.request(head="c" * 40, base="d" * 40, pull_request=number)
    desk.lab.deliver_ab({1000: 0.0, 2000: 0.0}, seed=3)
    outbox.drain()
    assert desk.alerts() == []


@pytest.mark.shapes("embedded", "scaled")
def test_cases_that_vanish_are_one_alert_until_all_of_them_are_measured_again(
    desk: AlertLab,
) -> None:
    def without(*batches: int) -> Callable[[list[CaseSamples]], list[CaseSamples]]:
        return lambda cases: [
            case
            for case in cases
            if case.params["batch"] not in batches or case.arm != "native"
        ]

    _measure(desk, alter=without(2000))
    assert desk.alerts(kind="missing") == [], "the first job has none before it"
    _measure(desk)
    _measure(desk, alter=without(2000))
    _measure(desk, alter=without(2000))
    (opened,) = desk.alerts(kind="missing")
    assert opened["state"] == "open"
    assert opened["title"] == "Cases of sorting vanished on phone-1"
    assert opened["words"] == (
        "1 case was measured by the job before and not by this one: "
        f"{BENCHMARK} native at batch=2000"
    )
    _measure(desk, alter=without(1000))
    assert [alert["state"] for alert in desk.alerts(kind="missing")] == ["open"]
    _measure(desk)
    assert [alert["state"] for alert in desk.alerts(kind="missing")] == ["fixed"]
    assert _told().count(opened["title"]) == 1


def test_a_scheduled_run_that_fails_is_told_once_whatever_its_branch(
    desk: AlertLab,
) -> None:
    def scheduled(outcome: str) -> None:
        desk.lab.request()
        _move_runs(schedule_id="sch_1", branch="nightly", created_by="schedule night")
        if outcome == "done":
            desk.lab.deliver(FAST, seed=1)
        else:
            leased = desk.lab.agent.measuring()
            assert leased.finish(-1, outcome, cause="workload_crashed").is_success
        outbox.drain()

    scheduled("failed")
    scheduled("failed")
    opened = desk.alert()
    assert (opened["kind"], opened["state"]) == ("schedule", "open")
    assert opened["title"] == "Scheduled run of sorting failed on phone-1"
    assert opened["words"].startswith("schedule night: ")
    assert _told() == [opened["title"]]
    scheduled("done")
    assert desk.alert()["state"] == "fixed"


def test_a_scheduled_run_that_nobody_took_did_not_happen(desk: AlertLab) -> None:
    desk.lab.request()
    _move_runs(schedule_id="sch_1")
    desk.clock.advance(60 * 86_400.0)
    expiry.sweep()
    outbox.drain()
    assert desk.alert()["title"] == "Scheduled run of sorting did not happen on phone-1"


@pytest.mark.parametrize(("mode", "told"), [("off", None), ("shadow", [])])
def test_a_rule_of_the_project_decides_whether_a_gate_raises_an_alert(
    desk: AlertLab, token: Callable[..., dict[str, str]], mode: str, told: Any
) -> None:
    rule = {"name": "gates", "kind": "gate", "suite": "sorting", "mode": mode}
    answer = desk.lab.client.post(
        "/api/v1/rules", json=rule, headers=token("read", "alerts:write")
    )
    assert answer.status_code == 201, answer.text
    assert "A required gate fails" in answer.json()["text"]
    _measure(desk, SLOW)
    assert desk.alerts() == []
    assert len(desk.alerts(shadow=True)) == (0 if told is None else 1)
    assert _told() == []


def test_a_gate_called_expected_raises_no_other_alert(desk: AlertLab) -> None:
    _measure(desk, SLOW)
    desk.act(desk.alert()["id"], "expected")
    _measure(desk, SLOW)
    assert [alert["state"] for alert in desk.alerts()] == ["expected"]


def test_rules_about_gates_are_not_replayed(
    desk: AlertLab, token: Callable[..., dict[str, str]]
) -> None:
    answer = desk.lab.client.post(
        "/api/v1/rules/replay",
        json={"rule": {"name": "gates", "kind": "gate"}},
        headers=token("read", "alerts:write"),
    )
    assert answer.status_code == 400
    assert answer.json()["fields"] == {"rule.kind": "history or arm_slower"}
