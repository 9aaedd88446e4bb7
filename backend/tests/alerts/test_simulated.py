"""A simulated target is in no statistic of the fleet: no count, no share, no floor, no sibling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.alerts.changes import queries
from paceline_server.alerts.queries import changes_since
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.history import Series, SeriesPoint
from paceline_server.testing.recorded_history import RecordedHistory, record_history
from sqlalchemy import select

from .test_rules import floor, rule

STEPS = [100.0] * 10 + [110.0] * 10


@pytest.fixture
def past(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> RecordedHistory:
    return record_history(client, clock, enrolled, token("read", "alerts:write"))


def other(enrolled: Callable[..., Any], *, simulated: bool) -> str:
    """A second target."""
    target_id = str(enrolled("lab-2").target_id)
    with session_scope() as session:
        session.get_one(Target, target_id).simulated = simulated
    return target_id


Figures = Callable[[RecordedHistory, str], Any]
COUNTED: dict[str, Figures] = {
    "overview, alerts by state": lambda past, _: past.get("/overview")[
        "alerts_by_state"
    ],
    "overview, false alarms": lambda past, _: past.get("/overview")["false_alarms"],
    "precision of a rule": lambda past, rule_id: past.get(f"/rules/{rule_id}")[
        "precision"
    ],
    "precision in the list": lambda past, _: [
        rule["precision"] for rule in past.get("/rules")["items"]
    ],
    "measurements without a rule": lambda past, _: past.get("/rules/orphans")[
        "unruled_total"
    ],
    "rules about nothing": lambda past, _: past.get("/rules/orphans")["words"],
    "a replay": lambda past, _: _replayed(past),
}


def _replayed(past: RecordedHistory) -> Any:
    replayed = past.post(
        "/rules/replay", {"rule": {"name": "tried", "min_effect": 0.05}, "days": 30}
    )
    return replayed["fired"], replayed["findings_total"], replayed["words"]


@pytest.mark.parametrize("counted", COUNTED)
def test_nothing_of_a_simulated_target_is_counted(
    past: RecordedHistory, enrolled: Callable[..., Any], counted: str
) -> None:
    figures, target_id = COUNTED[counted], other(enrolled, simulated=True)
    made = past.post("/rules", rule(), status=201)
    past.post("/rules", rule("idle", benchmark="sorted"), status=201)
    before = figures(past, made["id"])
    for state in ("open", "invalid"):
        past.alert(state, target_id=target_id, rule_id=made["id"])
    for benchmark in ("random", "sorted"):
        past.change(
            past.series(STEPS, benchmark=benchmark, target_id=target_id), 10, 0.1
        )
    assert figures(past, made["id"]) == before
    assert len(past.get("/alerts")["items"]) == 2, (
        "they are shown where alerts are listed"
    )
    with session_scope() as session:
        session.get_one(Target, target_id).simulated = False
    assert figures(past, made["id"]) != before, "else this proves nothing"


@pytest.mark.parametrize("simulated", [False, True])
def test_the_noise_of_a_simulated_target_refuses_no_rule(
    past: RecordedHistory, enrolled: Callable[..., Any], simulated: bool
) -> None:
    floor(other(enrolled, simulated=simulated), 0.2)
    past.post("/rules", rule(min_effect=0.05), status=201 if simulated else 422)


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.parametrize("simulated", [False, True])
def test_a_simulated_target_is_nobodys_sibling_and_is_not_replayed(
    past: RecordedHistory,
    enrolled: Callable[..., Any],
    clock: FrozenClock,
    simulated: bool,
) -> None:
    own = past.series([1.0] * 3)
    theirs = past.series([1.0] * 3, target_id=other(enrolled, simulated=simulated))
    past.change(theirs, 1, 0.1)
    with read_scope() as session:
        commits = list(
            session.scalars(
                select(SeriesPoint.commit).where(SeriesPoint.series_id == theirs)
            )
        )
        siblings = queries.sibling_points(
            session, session.get_one(Series, own), commits
        )
        changed = changes_since(session, clock.now().replace(year=2000))
    assert (len(siblings), len(changed)) == ((0, 0) if simulated else (3, 1))
