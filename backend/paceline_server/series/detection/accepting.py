"""A level people called expected: everything up to there is an accepted past.

Place: alerts call it when an alert is called expected, and when that is taken back. Invariant: an accepted
change is never evaluated again and never vanishes; a change at or before the baseline is never reported. The
points before keep saying what the noise is.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy.orm import Session

from paceline_server.kernel import clock
from paceline_server.kernel.errors import not_found
from paceline_server.series import queries as series_queries
from paceline_server.series.detection import queries
from paceline_server.store.tables.history import SeriesState


def accept_baseline(
    session: Session, series_id: str, *, job_id: str | None = None, commit: str | None = None
) -> None:
    """The level from this job, else from the oldest point of this commit, is the baseline of a series.

    Live changes up to there are accepted. Raises 404 for a series or a point there is not.
    """
    point = queries.point_at(session, series_id, job_id, commit) if job_id or commit else None
    if point is None:
        raise not_found("point of this series at", job_id or commit or "nothing")
    queries.lock(session, [series_id])
    for row in queries.live_until(session, series_id, point.at):
        row.state, row.updated_at = "accepted", clock.now()
    _set(session, series_id, point.job_id)


def accept_changes(session: Session, change_ids: Collection[str]) -> None:
    """These changes, and all before them in their series, are accepted; each series' newest one is its
    baseline."""
    rows = queries.changes_by_id(session, change_ids)
    queries.lock(session, [row.series_id for row in rows])
    for row in rows:
        row.state, row.updated_at = "accepted", clock.now()
    session.flush()
    for series_id in sorted({row.series_id for row in rows}):
        _, newest = queries.accepted_of(session, series_id)[0]
        for row in queries.live_until(session, series_id, newest.at):
            row.state, row.updated_at = "accepted", clock.now()
        _set(session, series_id, newest.job_id)


def withdraw_changes(session: Session, change_ids: Collection[str]) -> None:
    """These accepted changes stand again; the baseline goes back to the newest one that is still accepted."""
    rows = [row for row in queries.changes_by_id(session, change_ids) if row.state == "accepted"]
    queries.lock(session, [row.series_id for row in rows])
    for row in rows:
        row.state, row.updated_at = "standing", clock.now()
    session.flush()
    for series_id in sorted({row.series_id for row in rows}):
        left = queries.accepted_of(session, series_id)
        _set(session, series_id, left[0][1].job_id if left else None)


def _set(session: Session, series_id: str, job_id: str | None) -> None:
    """Keep the baseline, also of a series that was not evaluated yet."""
    state = series_queries.state(session, series_id)
    if state is None:
        state = SeriesState(
            series_id=series_id, evaluated_at=clock.now(), last_job_id="", points=0, segments=[]
        )
        session.add(state)
    state.baseline_job_id = job_id
    session.flush()
