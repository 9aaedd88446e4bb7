"""Recomputes everything derived: points from samples, then levels and changes from points.

Used by `paceline-server recompute`, after an upgrade or in doubt. The result depends on
the samples alone, so a second run changes nothing. Every difference is counted and
reported. Points whose samples are gone stay. Alerts are not notified: the next job of a
series does that.
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
"""series per transaction: ingest waits for at most one of them on SQLite."""


@dataclass
class RecomputeOutcome:
    """What was looked at and what differed."""

    jobs: int = 0
    points_added: int = 0
    points_changed: int = 0
    evaluated: StoreOutcome = field(default_factory=StoreOutcome)

    def lines(self) -> list[str]:
        """What a person reads."""
        changes = self.evaluated.changes
        said = ", ".join(
            f"{count} {what}" for what, count in sorted(changes.items()) if count
        )
        return [
            f"{self.jobs} jobs measured again: {self.points_added} points added, "
            f"{self.points_changed} changed",
            f"{self.evaluated.series} series evaluated: {self.evaluated.news} differ from before",
            f"changes: {said or 'none differs'}",
        ]


def recompute(
    suite: str | None = None, series_id: str | None = None, *, samples: bool = True
) -> RecomputeOutcome:
    """Make history again (of a suite, or one series); without `samples` from its points only. Raises 404."""
    done = RecomputeOutcome()
    with read_scope() as session:
        if series_id is not None:
            suite = series.find(session, series_id).suite
        jobs = _select_jobs(
            queries.baseline_jobs(session, suite),
            points.jobs_of_series(session, series_id),
        )
    for job_id in jobs if samples else ():
        _measure_again(job_id, done)
    with read_scope() as session:
        rounds = detection.group_into_rounds(
            session, detection.list_series(session, suite, series_id)
        )
    for batch in _batches(rounds):
        with read_scope() as session:
            looked = {
                one.head.id: one
                for one in detection.evaluate_series(
                    session, [h for round_ in batch for h in round_]
                )
            }
        with session_scope() as session:
            looks = [
                [looked[head.id] for head in round_ if head.id in looked]
                for round_ in batch
            ]
            done.evaluated.add(detection.store_evaluations(session, *looks))
    with session_scope() as session:
        targets = {head.target_id for round_ in rounds for head in round_}
        done.evaluated.changes["marked"] += detection.mark_incidents(session, targets)
    return done


def _select_jobs(baseline: Sequence[str], of_series: Sequence[str] | None) -> list[str]:
    wanted = None if of_series is None else set(of_series)
    return [job_id for job_id in baseline if wanted is None or job_id in wanted]


def _measure_again(job_id: str, done: RecomputeOutcome) -> None:
    """Read, compute and correct one job's points."""
    with read_scope() as session:
        context = queries.context(session, job_id)
        if context is None or not context.is_baseline:
            return
        report = service.measure_again(session, context)
        said = history.points_of(session, context, report)
        names = history.names_of_job(session, context)
    if not said.rows:
        return
    with session_scope() as session:
        added, changed = points.correct_points(session, said, names)
    done.jobs += 1
    done.points_added += added
    done.points_changed += changed


def _batches(
    rounds: Sequence[Sequence[SeriesRow]],
) -> Iterator[list[Sequence[SeriesRow]]]:
    """Whole rounds, about `BATCH` series together."""
    batch: list[Sequence[SeriesRow]] = []
    for round_ in rounds:
        batch.append(round_)
        if sum(map(len, batch)) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
