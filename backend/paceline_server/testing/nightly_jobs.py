"""Records nightly jobs on one target and looks for changes after each, as `detect` does.

Used by tests and the benchmark of history. The services make points and changes; only the rows of runs and jobs are
written directly, because nothing needs to be measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from paceline_contract.params import params_key
from sqlalchemy import select

from paceline_server.detect.changes import service as detection
from paceline_server.detect.changes.service import StoreOutcome
from paceline_server.series import job_points as points
from paceline_server.series.service import JobPoints, NewestNames, PointOfSeries
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.history import Change, Series, SeriesState
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE, suite_manifest
from paceline_server.testing.stored_jobs import store_finished_job

START = datetime.fromisoformat("2026-01-05T03:00:00+00:00")
NIGHT = timedelta(days=1)
FACTORS = {"kernel": "6.1.0-12", "cpu_model": "Simulated", "governor": "performance"}

Name = tuple[str, str, int]
"""(benchmark, arm, batch)."""
TIME: Name = (BENCHMARK, "native", 1000)


def measured(name: Name, value: float) -> PointOfSeries:
    """Return a point of a time, with a narrow interval."""
    benchmark, arm, batch = name
    params = {"batch": batch}
    return PointOfSeries(
        benchmark=benchmark,
        arm=arm,
        params=params,
        params_key=params_key(params),
        metric="time",
        unit="ns",
        direction="lower",
        value=value,
        lower=value * 0.998,
        upper=value * 1.002,
        n=100,
        launches=5,
    )


@dataclass
class NightlyJobs:
    """Nightly jobs of a target."""

    target_id: str
    names: NewestNames = field(default_factory=NewestNames)
    suite: str = SUITE
    nights: int = 0
    manifest: Mapping[str, Any] = field(default_factory=suite_manifest)

    def night(
        self,
        values: Mapping[Name, float],
        *,
        fingerprint: str = "f",
        factors: Mapping[str, Any] | None = None,
        excluded: str | None = None,
        artifact: str | None = None,
        commit: str | None = None,
        meaning: Mapping[str, Any] | None = None,
        evaluate: bool = True,
    ) -> str:
        """Record a job that measured these values; returns its id. Unless given, commit and artifact are made from the
        number of the night. `meaning` replaces what the numbers are declared as."""
        commit = commit or commit_of(self.nights)
        at = START + self.nights * NIGHT
        job = store_finished_job(
            self.target_id, at, suite=self.suite, manifest=self.manifest, commit=commit
        )
        job_points = JobPoints(
            job_id=job.id,
            run_id=job.run_id,
            suite=self.suite,
            target_id=self.target_id,
            branch="main",
            at=at,
            commit=commit,
            artifact_hash=artifact or f"{self.nights:064x}",
            fingerprint=fingerprint * 64,
            factors=FACTORS if factors is None else factors,
            excluded=excluded,
            conditions={"load_1": {"median": 0.1, "max": 0.2}},
            rows=[
                replace(measured(name, value), **(meaning or {}))
                for name, value in values.items()
            ],
        )
        self.nights += 1
        with session_scope() as session:
            points.record_points(session, job_points, self.names)
        if evaluate:
            self.evaluate(job.id)
        return job.id

    def stream(
        self, values: Sequence[float], name: Name = TIME, **options: Any
    ) -> list[str]:
        """Record a night for each value of a series; returns the ids of the jobs."""
        return [self.night({name: value}, **options) for value in values]

    @staticmethod
    def evaluate(job_id: str) -> StoreOutcome:
        """Look for changes in every series of the job, as its outbox message does."""
        with read_scope() as session:
            evaluations = list(
                detection.evaluate_series(
                    session, detection.series_of_job(session, job_id)
                )
            )
        with session_scope() as session:
            outcome = detection.store_evaluations(session, evaluations)
            outcome.changes["marked"] += detection.mark_target_shifts(
                session, {evaluation.head.target_id for evaluation in evaluations}
            )
            return outcome


def commit_of(night: int) -> str:
    """Return the commit measured that night."""
    return f"{night + 1:040x}"


def changes(state: str | None = None) -> list[Change]:
    """Return the changes (in a state), oldest first."""
    query = select(Change).order_by(Change.found_at, Change.id)
    with read_scope() as session:
        return [row for row in session.scalars(query) if state in (None, row.state)]


def series() -> list[Series]:
    """Return the series by name."""
    with read_scope() as session:
        return list(
            session.scalars(
                select(Series).order_by(Series.benchmark, Series.arm, Series.params_key)
            )
        )


def state_of(series_id: str) -> SeriesState:
    """Return the newest detection over a series."""
    with read_scope() as session:
        return session.get_one(SeriesState, series_id)
