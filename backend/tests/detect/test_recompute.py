"""Recomputing gives the same rows from the same samples, and counts every difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paceline_server.detect.recompute import recompute
from paceline_server.kernel.clock import FrozenClock
from paceline_server.kernel.errors import ProblemError
from paceline_server.series.declarations import Declaration
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.history import (
    Change,
    Series,
    SeriesPoint,
    SeriesState,
)
from paceline_server.store.tables.samples import SampleChunk
from paceline_server.testing import nightly_jobs
from paceline_server.testing.delivered_jobs import Lab
from paceline_server.testing.nightly_jobs import NightlyJobs
from sqlalchemy import delete, select, update

pytestmark = pytest.mark.shapes("embedded")

DERIVED = (Series, SeriesPoint, SeriesState, Change)


def derived_rows() -> list[list[dict[str, Any]]]:
    """The rows of all derived tables, column by column."""
    tables = []
    with read_scope() as session:
        for table in DERIVED:
            columns = list(table.__table__.columns)
            query = select(*columns).order_by(*columns[:2])
            tables.append([dict(row._mapping) for row in session.execute(query)])
    return tables


def at_level(level: float) -> Callable[[list[CaseSamples]], list[CaseSamples]]:
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
        alter=at_level(level * (1.0 + 0.002 * (night % 3))),
    )
    outbox.drain()


def test_points_and_levels_recomputed_from_samples_are_bit_identical(
    lab: Lab, clock: FrozenClock
) -> None:
    for night in range(20):
        deliver(lab, night, 1e6 if night < 12 else 1.2e6)
        clock.advance(86_400)
    before = derived_rows()
    assert [len(rows) for rows in before[:3]] == [2, 40, 2]
    assert before[3]
    outcome = recompute("sorting")
    assert (outcome.jobs, outcome.points_added, outcome.points_changed) == (20, 0, 0)
    assert (outcome.evaluated.series, outcome.evaluated.differing) == (2, 0)
    assert outcome.lines()[-1] == "changes: none differs"
    assert derived_rows() == before


def test_lost_or_changed_points_are_recomputed_from_samples_and_counted(
    lab: Lab,
) -> None:
    for night in range(2):
        deliver(lab, night)
    before = derived_rows()
    with session_scope() as session:
        newest = session.scalars(
            select(SeriesPoint.job_id).order_by(SeriesPoint.at.desc()).limit(1)
        ).one()
        session.execute(delete(SeriesState))
        session.execute(delete(SeriesPoint).where(SeriesPoint.job_id == newest))
        session.execute(update(SeriesPoint).values(value=SeriesPoint.value * 2.0))
    outcome = recompute()
    assert (
        outcome.points_added,
        outcome.points_changed,
        outcome.evaluated.differing,
    ) == (2, 2, 2)
    assert derived_rows()[1] == before[1]


@pytest.mark.shapes("embedded")
def test_points_of_two_units_in_one_series_get_what_their_jobs_declared(
    lab: Lab,
) -> None:
    for night in range(2):
        deliver(lab, night)
    with session_scope() as session:
        newest = session.scalars(
            select(SeriesPoint.job_id).order_by(SeriesPoint.at.desc()).limit(1)
        ).one()
        session.execute(update(SeriesPoint).values(declaration=None))
        session.execute(
            update(SampleChunk).where(SampleChunk.job_id == newest).values(unit="bytes")
        )
    assert recompute().points_changed == 4
    with read_scope() as session:
        declared = {
            (point.job_id == newest, point.declaration)
            for point in session.scalars(select(SeriesPoint))
        }
        assert declared == {
            (is_newest, Declaration(unit, "lower").text())
            for is_newest, unit in ((False, "ns"), (True, "bytes"))
        }
        assert set(session.scalars(select(Series.unit))) == {"bytes"}
        (state, *_) = session.scalars(select(SeriesState))
        assert [segment["points"] for segment in state.segments] == [1, 1]
    assert recompute().points_changed == 0


@pytest.mark.shapes("embedded", "scaled")
def test_changes_are_recomputed_from_points_alone(
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


def test_an_unknown_series_is_refused(database: object) -> None:
    with pytest.raises(ProblemError, match="series"):
        recompute(series_id="ser_none")
