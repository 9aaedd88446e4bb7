"""Tests where the arms that should win do win, over all suites and targets, from ingested jobs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.reports import arm_standings
from paceline_server.reports.history_schemas import ArmStandingsOut
from paceline_server.store import access
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import Target
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.scripted_agent import announce
from paceline_server.testing.sorting_suite import BENCHMARK, suite_manifest
from sqlalchemy import event, insert, select, text

pytestmark = pytest.mark.usefixtures("clock")

FASTER, SLOWER_AT_1000 = {1000: -0.5, 2000: -0.6}, {1000: 0.126, 2000: -0.6}
SLOWER_AT_2000 = {1000: -0.5, 2000: 0.126}


def standings(lab: Lab) -> Any:
    answer = lab.client.get("/api/v1/arms/standings", headers=dict(lab.headers))
    assert answer.status_code == 200, answer.text
    return answer.json()


def announce_suite(lab: Lab, made: dict[str, Any]) -> None:
    with session_scope() as session:
        agent_id = session.get_one(Target, lab.target_id).agent_id
    announce(agent_id, made)


@pytest.mark.shapes("embedded", "scaled")
def test_lost_arms_come_first_and_what_was_not_measured_before_what_won(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    labs = [
        open_lab(client, enrolled, token, name=name)
        for name in ("a-won", "b-idle", "c-lost")
    ]
    won, idle, lost = labs
    won.measure(FASTER)
    lost.measure(SLOWER_AT_1000)
    answer = standings(won)
    assert [target["name"] for target in answer["targets"]] == [
        "a-won",
        "b-idle",
        "c-lost",
    ]
    assert [(row["target_name"], row["standing"]) for row in answer["rows"]] == [
        ("c-lost", "lost"),
        ("b-idle", "not_measured"),
        ("a-won", "won"),
    ]
    (suite,) = answer["suites"]
    assert suite["counts"] == {
        won.target_id: {"won": 1},
        idle.target_id: {"not_measured": 1},
        lost.target_id: {"lost": 1},
    }
    worst = answer["rows"][0]
    assert (worst["arm"], worst["reference"], worst["points_so"], worst["points"]) == (
        "native",
        "fallback",
        1,
        2,
    )
    assert worst["words"].startswith("batch=1000: ")
    assert "slower" in worst["words"]


def test_a_later_run_of_other_points_hides_no_loss(lab: Lab) -> None:
    lab.measure(SLOWER_AT_2000)
    lab.measure(FASTER, params={"batch": [1000]})
    (row,) = standings(lab)["rows"]
    assert (row["standing"], row["points_so"], row["points"]) == ("lost", 1, 2)
    lab.measure(FASTER, params={"batch": [2000]})
    assert standings(lab)["rows"][0]["standing"] == "won"


def test_an_arm_that_never_ran_has_lost_nothing(lab: Lab) -> None:
    lab.measure(SLOWER_AT_1000)
    why = "native was built, and never called"
    with session_scope() as session:
        for row in session.scalars(select(Comparison)):
            row.verdict, row.reason = "fail", why
            row.evidence = {**row.evidence, "witness": "fail"}
    (row,) = standings(lab)["rows"]
    assert (row["standing"], row["points_so"]) == ("undecided", 2)
    assert row["words"] == f"batch=1000: {why}"


def test_demonstrations_do_not_count(lab: Lab) -> None:
    lab.measure(FASTER)
    lab.measure(SLOWER_AT_1000, knobs={"slowdown_percent": 140})
    assert standings(lab)["rows"][0]["standing"] == "won"


def test_only_points_and_benchmarks_that_a_rule_watches_should_win(lab: Lab) -> None:
    lab.measure(SLOWER_AT_1000)
    made = suite_manifest()
    made["benchmarks"]["other"] = made["benchmarks"][BENCHMARK]
    made["rules"][0]["params"] = {"batch": [2000]}
    announce_suite(lab, made)
    answer = standings(lab)
    assert [(row["benchmark"], row["standing"]) for row in answer["rows"]] == [
        (BENCHMARK, "won")
    ]
    assert answer["suites"][0]["unwatched"] == [
        {"benchmark": "other", "title": "Sort a batch"}
    ]


def test_what_was_measured_under_a_former_name_counts(lab: Lab) -> None:
    lab.measure(SLOWER_AT_1000)
    made = suite_manifest(knobs={})
    made["benchmarks"] = {
        "renamed": {**made["benchmarks"][BENCHMARK], "aliases": [BENCHMARK]}
    }
    made["rules"][0]["benchmark"] = "renamed"
    announce_suite(lab, made)
    assert [(row["benchmark"], row["standing"]) for row in standings(lab)["rows"]] == [
        ("renamed", "lost")
    ]


def test_a_target_of_another_kind_than_the_suite_builds_for_is_left_out(
    lab: Lab,
) -> None:
    with session_scope() as session:
        session.get_one(Target, lab.target_id).kind = "device"
    answer = standings(lab)
    assert (answer["targets"], answer["rows"]) == ([], [])


def test_the_cost_does_not_grow_with_the_history(lab: Lab, database: Database) -> None:
    lab.measure(FASTER)
    _add_history(jobs=400)
    before = _cost(database)
    _add_history(jobs=4000)
    after = _cost(database)
    assert after.statements == before.statements
    assert after.steps <= before.steps * 1.1
    assert after.answer == before.answer


class Cost:
    """What an answer takes: statements, and steps of SQLite's machine, which the load of this one does not change."""

    def __init__(self, answer: ArmStandingsOut, statements: int, steps: int) -> None:
        self.answer, self.statements, self.steps = answer, statements, steps


def _cost(database: Database) -> Cost:
    statements: list[str] = []
    steps: list[int] = []

    def note(*call: Any) -> None:
        statements.append(call[2])

    def count_steps() -> None:
        steps.append(100)

    limits = access.of_project(DEFAULT_PROJECT_ID)
    with access.using(limits), read_scope() as session:
        driver: Any = session.connection().connection.driver_connection
        driver.set_progress_handler(count_steps, 100)
        event.listen(database.engine, "before_cursor_execute", note)
        try:
            answer = arm_standings.arm_standings(session)
        finally:
            event.remove(database.engine, "before_cursor_execute", note)
            driver.set_progress_handler(None, 0)
    return Cost(answer, len(statements), sum(steps))


def _add_history(jobs: int) -> None:
    """Comparisons as those that are stored, each an hour older than the one before."""
    with session_scope() as session:
        known = session.scalars(select(Comparison)).all()
        columns = [column.key for column in Comparison.__table__.columns]
        number = len(known)
        oldest = min(row.measured_at for row in known)
        newest = {row.params_key: row for row in known}
        session.execute(
            insert(Comparison),
            [
                {
                    **{
                        name: getattr(row, name)
                        for name in columns
                        if name != "project_id"
                    },
                    "id": f"cmp_{number}_{age}_{row.params_key}",
                    "measured_at": oldest - timedelta(hours=age),
                }
                for age in range(1, jobs + 1)
                for row in newest.values()
            ],
        )
        session.execute(text("ANALYZE"))
