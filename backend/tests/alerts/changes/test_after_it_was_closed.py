"""A/B runs that end late, fixes that are checked again, and dismissed changes that flicker."""

from __future__ import annotations

import re
from typing import Any

import pytest
from paceline_server.alerts import service
from paceline_server.alerts.changes import queries
from paceline_server.store import outbox
from paceline_server.store.session import session_scope
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.history import Change
from paceline_server.testing.nightly_jobs import changes
from sqlalchemy import Engine, event, select

from .conftest import PATIENCE_S, actions, commits

pytestmark = pytest.mark.shapes("embedded")

HistoryDesk = Any


def _opened(desk: HistoryDesk) -> dict[str, Any]:
    desk.nights(20)
    desk.step(6, 0.1)
    desk.ab(0.1)
    alert: dict[str, Any] = desk.alert()
    assert alert["state"] == "open"
    return alert


def _act(desk: HistoryDesk, action: str) -> None:
    desk.post(f"/alerts/{desk.alert()['id']}/actions", {"action": action})


def _rewrite(**values: Any) -> None:
    """Detection sees the one change otherwise by now."""
    with session_scope() as session:
        row = session.scalars(select(Change)).one()
        for name, value in values.items():
            setattr(row, name, value)


def test_alert_and_bisection_name_the_revisions_that_were_measured_wherever_the_change_is_by_now(
    desk: HistoryDesk,
) -> None:
    desk.nights(20)
    desk.step(6, 0.1)
    desk.cool_down()
    (change,) = changes()
    index = change.evidence["index"] + 2
    _rewrite(evidence=change.evidence | {"index": index, "location": [index, index]})
    work = desk.ab(0.1, commits=commits(18, 20))
    alert = desk.alert()
    assert (alert["base_commit"], alert["head_commit"]) == (
        work["base_commit"],
        work["commit"],
    )
    (run,) = desk.get("/runs", state="queued")["items"]
    assert run["base_commit"] == work["base_commit"]
    assert alert["bisection"]["base_commit"] == work["base_commit"]


def test_a_step_that_could_not_tell_is_asked_with_more_launches_and_no_step_after_it(
    desk: HistoryDesk,
) -> None:
    desk.nights(20)
    desk.step(6, 0.1)
    launches = [desk.ab(0.1, commits=commits(13, 20))["launches"]]
    for ok in (False, True, True):
        leased = desk.lab.deliver_ab({1000: 0.1}, checks_ok=(True, ok))
        outbox.drain()
        launches.append(leased.lease["work"]["launches"])
    once = launches[0]
    assert launches == [once, once, 2 * once, once]


@pytest.mark.parametrize("ends", ["moved", "failed"])
def test_an_ab_run_asked_for_before_a_person_called_it_fixed_reopens_nothing(
    desk: HistoryDesk, ends: str
) -> None:
    desk.nights(20)
    desk.step(6, 0.1)
    desk.cool_down()
    desk.clock.advance(PATIENCE_S)
    outbox.drain()
    desk.nights(1, 0.1)
    assert desk.alert()["state"] == "open"
    _act(desk, "fixed")
    if ends == "moved":
        desk.lab.deliver_ab({1000: 0.1})
    else:
        leased = desk.lab.agent.lease()
        leased.report("preparing")
        leased.finish(-1, "failed", cause="build_failed", detail="cc: error")
    outbox.drain()
    calm = desk.alert()
    assert (calm["state"], actions(calm)[-1]) == ("fixed", "late_result")
    assert desk.told()[-1] == "fixed"


def test_a_fix_is_verified_again_each_time_a_person_calls_it_fixed(
    desk: HistoryDesk,
) -> None:
    _opened(desk)
    _act(desk, "fixed")
    desk.nights(10)
    desk.step(6, 0.1)
    desk.ab(0.1)
    assert desk.alert()["state"] == "open"
    _act(desk, "fixed")
    desk.nights(10)
    assert actions(desk.alert()).count("verify") == 2


@pytest.mark.parametrize(
    ("then", "states"),
    [({}, ["invalid"]), ({"lower": 0.04, "upper": 0.05}, ["invalid", "suspected"])],
)
def test_a_false_alarm_whose_change_flickers_is_raised_again_only_when_it_has_grown(
    desk: HistoryDesk, then: dict[str, float], states: list[str]
) -> None:
    _opened(desk)
    _act(desk, "invalid")
    _rewrite(state="vanished", **then)
    desk.nights(2, 0.1)
    assert len(changes()) == 2
    assert [alert["state"] for alert in desk.alerts()] == states
    assert desk.told()[-1] == "invalid"


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.shapes("scaled")
def test_a_closed_alert_that_may_wake_is_read_as_others_left_it_and_is_nobody_else_s(
    desk: HistoryDesk,
) -> None:
    alert = _opened(desk)
    _act(desk, "fixed")
    series_id = changes()[0].series_id
    with session_scope() as first:
        held = first.get_one(Alert, alert["id"])
        with session_scope() as second:
            second.get_one(Alert, alert["id"]).title = "Renamed"
        (locked,) = queries.closed_about(first, [series_id], ("fixed",))
        assert (locked, locked.title) == (held, "Renamed")
        with session_scope() as third:
            free = select(Alert.id).with_for_update(skip_locked=True)
            assert third.scalars(free).all() == []


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.shapes("scaled")
def test_an_evaluation_locks_the_target_then_alerts_then_changes(
    desk: HistoryDesk,
) -> None:
    _opened(desk)
    (change,) = changes()
    locked: list[str] = []

    def keep(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        lock = re.search(r"FROM (\w+).* FOR (NO KEY )?UPDATE", statement, re.DOTALL)
        if lock:
            locked.append(lock[1])

    event.listen(Engine, "before_cursor_execute", keep)
    try:
        with session_scope() as session:
            service.evaluate_points(session, change.job_id)
    finally:
        event.remove(Engine, "before_cursor_execute", keep)
    assert locked == ["target", "alert", "change"]
