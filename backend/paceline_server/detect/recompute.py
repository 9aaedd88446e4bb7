"""Recomputes everything derived: points from samples, then levels and changes from points.

The result depends on the samples alone, so a second `paceline-server recompute` changes nothing. Points whose
samples are gone stay. Alerts are notified by the next job of a series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paceline_server.detect import history, queries, service
from paceline_server.detect.changes import service as detection
from paceline_server.detect.changes.service import SeriesRow, StoreOutcome
from paceline_server.series import job_points as points
from paceline_server.series import service as series
from paceline_server.store.session import read_scope, session_scope

BATCH = 500
"""Series per transaction; on SQLite, uploads wait for a transaction to end."""


@dataclass
class RecomputeOutcome:
    """The number of recomputed rows, and of those that differed."""

    jobs: int = 0
    points_added: int = 0
    points_changed: int = 0
    evaluated: StoreOutcome = field(default_factory=StoreOutcome)

    def lines(self) -> list[str]:
        """Return the outcome as lines for people."""
        changes = self.evaluated.changes
        counts = ", ".join(
            f"{count} {kind}" for kind, count in sorted(changes.items()) if count
        )
        return [
            f"{self.jobs} jobs measured again: {self.points_added} points added, "
            f"{self.points_changed} changed",
            f"{self.evaluated.series} series evaluated: {self.evaluated.differing} differ from before",
            f"changes: {counts or 'none differs'}",
        ]


def recompute(
    suite: str | None = None, series_id: str | None = None, *, samples: bool = True
) -> RecomputeOutcome:
    """Recompute the current project's history, all or that of a suite or a series; `samples=False` starts from points.
    Raises 404."""
    outcome = RecomputeOutcome()
    with read_scope() as session:
        if series_id is not None:
            suite = series.find(session, series_id).suite
        jobs = _select_jobs(
            queries.baseline_jobs(session, suite),
            points.jobs_of_series(session, series_id),
        )
    for job_id in jobs if samples else ():
        _recompute_points(job_id, outcome)
    with read_scope() as session:
        rounds = detection.group_into_rounds(
            session, detection.list_series(session, suite, series_id)
        )
    for batch in _batches(rounds):
        with read_scope() as session:
            evaluated_by_id = {
                evaluated.head.id: evaluated
                for evaluated in detection.evaluate_series(
                    session, [head for round_ in batch for head in round_]
                )
            }
        with session_scope() as session:
            evaluated_rounds = [
                [
                    evaluated_by_id[head.id]
                    for head in round_
                    if head.id in evaluated_by_id
                ]
                for round_ in batch
            ]
            outcome.evaluated.add(
                detection.store_evaluations(session, *evaluated_rounds)
            )
    with session_scope() as session:
        targets = {head.target_id for round_ in rounds for head in round_}
        outcome.evaluated.changes["marked"] += detection.mark_target_shifts(
            session, targets
        )
    return outcome


def _select_jobs(baseline: Sequence[str], of_series: Sequence[str] | None) -> list[str]:
    selected = None if of_series is None else set(of_series)
    return [job_id for job_id in baseline if selected is None or job_id in selected]


def _recompute_points(job_id: str, outcome: RecomputeOutcome) -> None:
    """Recompute and correct the points of a job."""
    with read_scope() as session:
        context = queries.context(session, job_id)
        if context is None or not context.is_baseline:
            return
        report = service.recompute_report(session, context)
        job_points = history.points_of(session, context, report)
        names = history.names_of_job(session, context)
    if not job_points.rows:
        return
    with session_scope() as session:
        added, changed = points.correct_points(session, job_points, names)
    outcome.jobs += 1
    outcome.points_added += added
    outcome.points_changed += changed


def _batches(
    rounds: Sequence[Sequence[SeriesRow]],
) -> Iterator[list[Sequence[SeriesRow]]]:
    """Group whole rounds into batches of about `BATCH` series."""
    batch: list[Sequence[SeriesRow]] = []
    for round_ in rounds:
        batch.append(round_)
        if sum(map(len, batch)) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
