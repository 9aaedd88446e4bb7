"""Everything derived can be made again: the same rows from the same samples, and every difference said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.detect.recompute import recompute
from paceline_server.kernel.clock import FrozenClock
from paceline_server.kernel.errors import ProblemError
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.history import (
    Change,
    Series,
    SeriesPoint,
    SeriesState,
)
from paceline_server.testing import nightly_jobs
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.nightly_jobs import NightlyJobs
from sqlalchemy import delete, select, update

pytestmark = pytest.mark.shapes("embedded")

DERIVED = (Series, SeriesPoint, SeriesState, Change)


@pytest.fixture
def lab(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Lab:
    return open_lab(client, enrolled, token)


def everything() -> list[list[dict[str, Any]]]:
    """All rows of history, column by column."""
    found = []
    with read_scope() as session:
        for table in DERIVED:
            columns = list(table.__table__.columns)
            query = select(*columns).order_by(*columns[:2])
            found.append([dict(row._mapping) for row in session.execute(query)])
    return found


def levelled(level: float) -> Callable[[list[CaseSamples]], list[CaseSamples]]:
    """The drawn times moved to a level of the reference arm (every seed draws its own)."""

    def alter(cases: list[CaseSamples]) -> list[CaseSamples]:
        drawn = float(
            np.median(next(case.value for case in cases if case.arm == "fallback"))
        )
        return [
            replace(case, value=np.round(case.value * (level / drawn)))
            for case in cases
        ]

    return alter


def deliver(lab: Lab, night: int, level: float = 1e6) -> None:
    """One baseline job of two series, carried through to the end."""
    lab.request(
        launches=3,
        rounds=12,
        params={"batch": [1000]},
        commit=f"{night + 1:040x}",
        branch="main",
    )
    lab.deliver(
        {1000: -0.5},
        seed=night + 1,
        alter=levelled(level * (1.0 + 0.002 * (night % 3))),
    )
    outbox.drain()


def test_points_and_levels_made_again_from_samples_are_bit_for_bit_the_same(
    lab: Lab, clock: FrozenClock
) -> None:
    for night in range(20):
        deliver(lab, night, 1e6 if night < 12 else 1.2e6)
        clock.advance(86_400)
    before = everything()
    assert [len(rows) for rows in before[:3]] == [2, 40, 2]
    assert before[3]
    said = recompute("sorting")
    assert (said.jobs, said.points_added, said.points_changed) == (20, 0, 0)
    assert (said.evaluated.series, said.evaluated.news) == (2, 0)
    assert said.lines()[-1] == "changes: none differs"
    assert everything() == before


def test_points_that_were_lost_or_changed_come_back_from_samples_and_it_is_said(
    lab: Lab,
) -> None:
    for night in range(2):
        deliver(lab, night)
    before = everything()
    with session_scope() as session:
        newest = session.scalars(
            select(SeriesPoint.job_id).order_by(SeriesPoint.at.desc()).limit(1)
        ).one()
        session.execute(delete(SeriesState))
        session.execute(delete(SeriesPoint).where(SeriesPoint.job_id == newest))
        session.execute(update(SeriesPoint).values(value=SeriesPoint.value * 2.0))
    said = recompute()
    assert (said.points_added, said.points_changed, said.evaluated.news) == (2, 2, 2)
    assert everything()[1] == before[1]


@pytest.mark.shapes("embedded", "scaled")
def test_from_points_alone_what_was_forgotten_is_found_again(
    database: object, enrolled: Callable[..., Any], clock: FrozenClock
) -> None:
    past = NightlyJobs(enrolled().target_id)
    rng = np.random.default_rng(5)
    past.stream(
        [
            float(x)
            for x in 1000.0
            * np.exp(rng.normal(0, 0.004, 40))
            * ([1.0] * 20 + [1.1] * 20)
        ]
    )
    (before,) = nightly_jobs.changes()
    with session_scope() as session:
        session.execute(delete(Change))
        session.execute(delete(SeriesState))
    assert recompute(samples=False).evaluated.changes["new"] == 1
    (again,) = nightly_jobs.changes()
    same = (
        "series_id",
        "job_id",
        "state",
        "effect",
        "lower",
        "upper",
        "p_value",
        "level_before",
        "level_after",
    )
    assert [getattr(again, name) for name in same] == [
        getattr(before, name) for name in same
    ]
    assert again.evidence["window"] == before.evidence["window"]


def test_a_series_there_is_not_is_refused(database: object) -> None:
    with pytest.raises(ProblemError, match="series"):
        recompute(series_id="ser_none")
