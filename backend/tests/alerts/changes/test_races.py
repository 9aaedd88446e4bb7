"""Two workers at one instant (PostgreSQL): one event raises one alert, and is decided once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.alerts import service as alerts
from paceline_server.store.session import session_scope
from paceline_server.testing.concurrency import (
    ContextThread,
    wait_for_blocked_connection,
)
from paceline_server.testing.sorting_suite import BENCHMARK

from .conftest import NATIVE, actions

HistoryDesk = Any
OTHER = (BENCHMARK, "native", 2000)

pytestmark = pytest.mark.shapes("scaled")
"""SQLite has one writer: nobody waits inside a transaction there."""


def _at_once(first: Callable[[Any], None], second: Callable[[Any], None]) -> None:
    """`second` begins when `first` has done its work and has not committed."""
    failed: list[BaseException] = []

    def other() -> None:
        try:
            with session_scope() as session:
                second(session)
        except BaseException as error:
            failed.append(error)

    with session_scope() as session:
        first(session)
        session.flush()
        thread = ContextThread(target=other)
        thread.start()
        wait_for_blocked_connection()
    thread.join(WITHIN_S)
    assert not thread.is_alive()
    assert failed == []


def test_two_jobs_that_show_one_event_at_once_raise_one_alert(
    desk: HistoryDesk,
) -> None:
    """Each job moved a series of its own, in the same range of commits."""
    desk.names = (NATIVE, OTHER)
    desk.nights(20)
    desk.nights(3, 0.1, evaluate=False)
    jobs = [desk.unheard({name: 0.1}) for name in (NATIVE, OTHER)]
    _at_once(
        lambda session: alerts.evaluate_points(session, jobs[0]),
        lambda session: alerts.evaluate_points(session, jobs[1]),
    )
    alert = desk.alert()
    assert sorted(finding["params"]["batch"] for finding in alert["findings"]) == [
        1000,
        2000,
    ]
    assert actions(alert) == ["raise", "found_again"]


def test_one_job_heard_of_twice_at_once_raises_one_alert(desk: HistoryDesk) -> None:
    desk.nights(20)
    desk.nights(3, 0.1, evaluate=False)
    job = desk.unheard({NATIVE: 0.1})
    _at_once(
        lambda session: alerts.evaluate_points(session, job),
        lambda session: alerts.evaluate_points(session, job),
    )
    alert = desk.alert()
    assert len(alert["findings"]) == 1
    assert actions(alert) == ["raise"]
