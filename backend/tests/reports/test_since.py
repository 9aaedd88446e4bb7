"""What is new since an instant, over HTTP, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.reports import queries
from paceline_server.store import access
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.jobs import Run
from paceline_server.testing.delivered_jobs import Lab
from paceline_server.testing.recorded_history import record_history
from sqlalchemy import insert, select

pytestmark = pytest.mark.shapes("embedded", "scaled")

FASTER = {1000: -0.5, 2000: -0.6}
SLOWER = {1000: 0.126, 2000: -0.6}
LISTS = ("changes", "flips", "alerts", "runs")


def since(desk: Any, instant: str, status: int = 200) -> dict[str, Any]:
    answer = desk.client.get(
        "/api/v1/since", params={"from": instant}, headers=dict(desk.headers)
    )
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def sizes(answer: dict[str, Any]) -> tuple[int, ...]:
    return tuple(len(answer[name]) for name in LISTS)


def test_a_verdict_flipped_only_where_it_was_another_before(
    lab: Lab, clock: FrozenClock
) -> None:
    """The point that stays faster, what a demonstration shows and another branch flip nothing."""
    lab.measure(FASTER, branch="main")
    clock.advance(60.0)
    start = clock_module.now().isoformat()
    assert sizes(since(lab, start)) == (0, 0, 0, 0)
    lab.measure(SLOWER, seed=2, branch="topic", commit="b" * 40)
    lab.measure(SLOWER, seed=3, branch="main", knobs={"slowdown_percent": 40})
    assert since(lab, start)["flips"] == []
    lab.measure(SLOWER, seed=4, branch="main")
    (flip,) = since(lab, start)["flips"]
    assert (flip["before"], flip["verdict"], flip["params"]) == (
        "pass",
        "fail",
        {"batch": 1000},
    )
    assert (flip["branch"], flip["target_name"]) == ("main", "lab-1")
    clock.advance(60.0)
    assert since(lab, clock_module.now().isoformat())["flips"] == []


def test_changes_alerts_and_failed_runs_are_those_of_the_period(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    past = record_history(client, clock, enrolled, token("read"))
    series = past.series([100.0] * 9)
    now = clock_module.now()
    past.change(series, -3, 0.1, found_at=now - timedelta(days=2))
    old = since(past, now.isoformat())
    assert sizes(old) == (0, 0, 0, 0)
    assert old["words"] == (
        "No changes, no flipped verdicts, no new alerts, no failed runs."
    )
    past.change(series, -2, -0.1)
    past.change(series, -1, 0.1, state="vanished")
    past.alert("suspected")
    with session_scope() as session:
        failed = session.query(Run).filter(Run.created_at >= now).one()
        failed.state = "failed"
    new = since(past, now.isoformat())
    assert sizes(new) == (1, 0, 1, 1)
    (change,) = new["changes"]
    assert (change["direction"], change["words"].split(":")[0]) == (
        "faster",
        "10.0 % faster",
    )
    assert new["words"] == ("1 change, no flipped verdicts, 1 new alert, 1 failed run.")


def test_long_lists_are_cut_and_say_so(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    past = record_history(client, clock, enrolled, token("read"))
    for _ in range(21):
        past.alert("open")
    new = since(past, clock_module.now().isoformat())
    assert (sizes(new), new["more"]) == ((0, 0, 20, 0), ["alerts"])
    assert "20 or more new alerts" in new["words"]
    assert since(past, "yesterday", 422)["fields"]


@pytest.mark.shapes("embedded")
def test_the_cost_does_not_grow_with_the_history(lab: Lab, clock: FrozenClock) -> None:
    """Counted in steps of SQLite's machine, which the load of this one does not change."""
    lab.measure(FASTER)
    clock.advance(60.0)
    start = clock_module.now()
    lab.measure(SLOWER, seed=2)
    _add_history(start, jobs=400)
    before = _steps(start)
    _add_history(start, jobs=4000)
    assert _steps(start) <= before * 1.2


def _steps(start: datetime) -> int:
    steps: list[int] = []
    limits = access.of_project(DEFAULT_PROJECT_ID)
    with access.using(limits), read_scope() as session:
        driver: Any = session.connection().connection.driver_connection
        driver.set_progress_handler(lambda: steps.append(100), 100)
        try:
            flipped = queries.flipped_since(session, start, 20)
        finally:
            driver.set_progress_handler(None, 0)
    assert [row.before for row in flipped] == ["pass"]
    return sum(steps)


def _add_history(start: datetime, jobs: int) -> None:
    """Comparisons of the first run as those that are stored, each an hour older than the one before."""
    with session_scope() as session:
        known = session.scalars(
            select(Comparison).where(Comparison.measured_at < start)
        ).all()
        columns = [column.key for column in Comparison.__table__.columns]
        oldest = min(row.measured_at for row in known)
        session.execute(
            insert(Comparison),
            [
                {
                    **{
                        name: getattr(row, name)
                        for name in columns
                        if name != "project_id"
                    },
                    "id": f"cmp_{len(known)}_{age}_{row.params_key}",
                    "measured_at": oldest - timedelta(hours=age),
                }
                for age in range(1, jobs + 1)
                for row in {row.params_key: row for row in known}.values()
            ],
        )
