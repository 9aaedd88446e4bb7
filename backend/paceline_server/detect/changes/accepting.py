"""A level people called expected: everything up to there is an accepted past.

Place: alerts call it when an alert is called expected, and when that is taken back. Invariants: an accepted
change is never evaluated again and never vanishes; a change at or before the baseline is never reported for
the first time; one alert accepts its own changes and those no alert is about, never another alert's. Every
accepted change keeps who accepted it and what it was (`evidence.accepted`), so that taking it back restores
exactly that. Locks the series, then their changes. The points before keep saying what the noise is.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.detect.changes import queries
from paceline_server.kernel import clock
from paceline_server.kernel.errors import invalid_request
from paceline_server.store.tables.history import Change, SeriesPoint, SeriesState


def accept_changes(
    session: Session, change_ids: Collection[str], *, by: str, commit: str | None = None
) -> None:
    """The live ones of these changes, all of the alert `by`, are accepted, and what no alert is about up to
    the baseline of each of their series: the newest of these changes, or the oldest point of `commit`.

    Raises 400 for a commit at which a series has no point, or one before a change that it should accept.
    """
    session.flush()
    series_ids = queries.series_of_changes(session, change_ids)
    queries.lock(session, series_ids)
    queries.lock_changes(session, series_ids)
    rows = [
        row
        for row in queries.changes_by_id(session, change_ids)
        if row.state in queries.LIVE
    ]
    for series_id in series_ids:
        own = [row for row in rows if row.series_id == series_id]
        points = [queries.point_of(session, row) for row in own]
        newest = max(points, key=_order, default=None)
        chosen = (
            newest if commit is None else _chosen(session, series_id, commit, newest)
        )
        if chosen is None:
            continue
        also = queries.unclaimed_until(session, series_id, chosen.at)
        for row in {row.id: row for row in own + also}.values():
            _accept(row, by, chosen.job_id)
        session.flush()
        _rebase(session, series_id, chosen)


def _chosen(
    session: Session, series_id: str, commit: str, newest: SeriesPoint | None
) -> SeriesPoint:
    point = queries.point_at(session, series_id, None, commit)
    if point is None:
        text = f"The series {series_id} has no point at commit {commit}."
        raise invalid_request(text, {"baseline_commit": f"no point of {series_id}"})
    if newest is not None and _order(point) < _order(newest):
        text = f"Commit {commit} was measured before the change at {newest.commit} that would be accepted."
        raise invalid_request(
            text, {"baseline_commit": f"before the change of {series_id}"}
        )
    return point


def withdraw_changes(session: Session, change_ids: Collection[str], *, by: str) -> None:
    """What the alert `by` accepted in the series of these changes is again what it was; each baseline goes
    back to the newest that is still accepted."""
    session.flush()
    series_ids = queries.series_of_changes(session, change_ids)
    queries.lock(session, series_ids)
    queries.lock_changes(session, series_ids)
    for series_id in series_ids:
        for row in queries.accepted_of(session, series_id):
            said = row.evidence.get("accepted", {})
            if said.get("by") == by:
                row.evidence = {
                    name: value
                    for name, value in row.evidence.items()
                    if name != "accepted"
                }
                row.state, row.updated_at = said["was"], clock.now()
        session.flush()
        _rebase(session, series_id, None)


def _accept(row: Change, by: str, baseline_job_id: str) -> None:
    said: dict[str, Any] = {
        "by": by,
        "was": row.state,
        "baseline_job_id": baseline_job_id,
    }
    row.evidence = row.evidence | {"accepted": said}
    row.state, row.updated_at = "accepted", clock.now()


def _rebase(session: Session, series_id: str, chosen: SeriesPoint | None) -> None:
    """The newest baseline of what is accepted (and `chosen`) is that of the series, evaluated or not."""
    points = [] if chosen is None else [chosen]
    for row in queries.accepted_of(session, series_id):
        job_id = row.evidence.get("accepted", {}).get("baseline_job_id", row.job_id)
        kept = queries.point_at(session, series_id, job_id, None)
        points += [] if kept is None else [kept]
    newest = max(points, key=_order, default=None)
    state = session.get(SeriesState, series_id)
    if state is None:
        state = SeriesState(
            series_id=series_id,
            evaluated_at=clock.now(),
            last_job_id="",
            points=0,
            segments=[],
        )
        session.add(state)
    state.baseline_job_id = None if newest is None else newest.job_id
    session.flush()


def _order(point: SeriesPoint) -> tuple[Any, str]:
    return point.at, point.job_id
