"""Accepts the changes of an alert that people called expected, and undoes that.

Accepting moves the baseline of a series to the accepted level; accepted changes are never evaluated again.
`evidence.accepted` keeps the state before, so that withdrawing restores it exactly. Locks series, then changes.
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
    """Accept the live changes of the alert `by`, and changes without an alert up to the new baseline.

    The baseline is the newest of these changes, or the oldest point of `commit`. Raises 400 for a commit at
    which a series has no point, or one that is older than a change to accept.
    """
    session.flush()
    series_ids = queries.series_of_changes(session, change_ids)
    queries.lock_series(session, series_ids)
    queries.lock_changes(session, series_ids)
    rows = [
        row
        for row in queries.changes_by_id(session, change_ids)
        if row.state in queries.LIVE
    ]
    for series_id in series_ids:
        own_changes = [row for row in rows if row.series_id == series_id]
        points = [queries.first_point_after(session, row) for row in own_changes]
        newest = max(points, key=_point_order, default=None)
        baseline = (
            newest
            if commit is None
            else _baseline_point(session, series_id, commit, newest)
        )
        if baseline is None:
            continue
        unclaimed = queries.unclaimed_changes_until(session, series_id, baseline.at)
        for row in {row.id: row for row in own_changes + unclaimed}.values():
            _accept(row, by, baseline.job_id)
        session.flush()
        _update_baseline(session, series_id, baseline)


def _baseline_point(
    session: Session, series_id: str, commit: str, newest: SeriesPoint | None
) -> SeriesPoint:
    point = queries.find_point(session, series_id, None, commit)
    if point is None:
        text = f"The series {series_id} has no point at commit {commit}."
        raise invalid_request(text, {"baseline_commit": f"no point of {series_id}"})
    if newest is not None and _point_order(point) < _point_order(newest):
        text = f"Commit {commit} was measured before the change at {newest.commit} that would be accepted."
        raise invalid_request(
            text, {"baseline_commit": f"before the change of {series_id}"}
        )
    return point


def withdraw_changes(session: Session, change_ids: Collection[str], *, by: str) -> None:
    """Restore the changes that the alert `by` accepted in the series of these changes, and the baselines."""
    session.flush()
    series_ids = queries.series_of_changes(session, change_ids)
    queries.lock_series(session, series_ids)
    queries.lock_changes(session, series_ids)
    for series_id in series_ids:
        for row in queries.accepted_changes(session, series_id):
            accepted = row.evidence.get("accepted", {})
            if accepted.get("by") == by:
                row.evidence = {
                    name: value
                    for name, value in row.evidence.items()
                    if name != "accepted"
                }
                row.state, row.updated_at = accepted["was"], clock.now()
        session.flush()
        _update_baseline(session, series_id, None)


def _accept(row: Change, by: str, baseline_job_id: str) -> None:
    accepted: dict[str, Any] = {
        "by": by,
        "was": row.state,
        "baseline_job_id": baseline_job_id,
    }
    row.evidence = row.evidence | {"accepted": accepted}
    row.state, row.updated_at = "accepted", clock.now()


def _update_baseline(
    session: Session, series_id: str, baseline: SeriesPoint | None
) -> None:
    """Set a series' baseline to the newest of `baseline` and its accepted changes."""
    points = [] if baseline is None else [baseline]
    for row in queries.accepted_changes(session, series_id):
        job_id = row.evidence.get("accepted", {}).get("baseline_job_id", row.job_id)
        point = queries.find_point(session, series_id, job_id, None)
        points += [] if point is None else [point]
    newest = max(points, key=_point_order, default=None)
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


def _point_order(point: SeriesPoint) -> tuple[Any, str]:
    return point.at, point.job_id
