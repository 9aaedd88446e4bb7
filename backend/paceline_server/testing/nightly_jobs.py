"""Concluded nightly jobs on one target, recorded and evaluated one after the other as `detect` does.

Used by tests and the benchmark of history. Points and changes come from the services; only the rows of runs and
jobs are written here, because nothing needs to be measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from paceline_server.detect.changes import service as detection
from paceline_server.detect.changes.service import StoreOutcome
from paceline_server.ingest.cases import params_key
from paceline_server.kernel import ids
from paceline_server.series import job_points as points
from paceline_server.series.service import JobPoints, NewestNames, PointOfSeries
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.history import Change, Series, SeriesState
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE, suite_manifest

START = datetime.fromisoformat("2026-01-05T03:00:00+00:00")
NIGHT = timedelta(days=1)
FACTORS = {"kernel": "6.1.0-12", "cpu_model": "Simulated", "governor": "performance"}

Name = tuple[str, str, int]
"""(benchmark, arm, batch)."""
TIME: Name = (BENCHMARK, "native", 1000)


def measured(name: Name, value: float) -> PointOfSeries:
    """One measurement of a time, with a narrow interval."""
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
    """Nightly jobs of one target, evaluated one by one."""

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
        evaluate: bool = True,
    ) -> str:
        """One job that measured these values; its id. Its commit counts the nights, and so does its artifact,
        unless they are given."""
        commit = commit or commit_of(self.nights)
        job_id, at = self._job(commit)
        said = JobPoints(
            job_id=job_id,
            run_id=f"run{job_id[3:]}",
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
            rows=[measured(name, value) for name, value in values.items()],
        )
        self.nights += 1
        with session_scope() as session:
            points.record_points(session, said, self.names)
        if evaluate:
            self.evaluate(job_id)
        return job_id

    def stream(
        self, values: Sequence[float], name: Name = TIME, **options: Any
    ) -> list[str]:
        """One night after another of one series."""
        return [self.night({name: value}, **options) for value in values]

    @staticmethod
    def evaluate(job_id: str) -> StoreOutcome:
        """Look at every series the job touched, as its outbox message does."""
        with read_scope() as session:
            looked = list(
                detection.evaluate_series(
                    session, detection.series_of_job(session, job_id)
                )
            )
        with session_scope() as session:
            outcome = detection.store_evaluations(session, looked)
            outcome.changes["marked"] += detection.mark_incidents(
                session, {one.head.target_id for one in looked}
            )
            return outcome

    def _job(self, commit: str) -> tuple[str, datetime]:
        job_id, at = ids.new_id("job"), START + self.nights * NIGHT
        run_id = f"run{job_id[3:]}"
        with session_scope() as session:
            session.add(
                Run(
                    id=run_id,
                    suite=self.suite,
                    repository="r",
                    manifest_path="suite.toml",
                    manifest=dict(self.manifest),
                    commit=commit,
                    branch="main",
                    base_commit=None,
                    trigger="schedule",
                    state="done",
                    verdict="pass",
                    reason=None,
                    demonstration=False,
                    benchmarks=list(self.manifest["benchmarks"]),
                    params={},
                    knobs={},
                    launches=5,
                    rounds=20,
                    min_time_ns=1,
                    created_by="test",
                    created_at=at,
                    finished_at=at,
                )
            )
            session.flush()
            session.add(
                Job(
                    id=job_id,
                    run_id=run_id,
                    target_id=self.target_id,
                    state="done",
                    attempt=1,
                    batch=0,
                    requeues=0,
                    seed=1,
                    verdict="pass",
                    partial=False,
                    samples=0,
                    not_before=at,
                    created_at=at,
                    started_at=at,
                )
            )
        return job_id, at


def commit_of(night: int) -> str:
    """The commit measured that night."""
    return f"{night + 1:040x}"


def changes(state: str | None = None) -> list[Change]:
    """Every change that is kept (in a state), the oldest first."""
    query = select(Change).order_by(Change.found_at, Change.id)
    with read_scope() as session:
        return [row for row in session.scalars(query) if state in (None, row.state)]


def series() -> list[Series]:
    """Every series, by name."""
    with read_scope() as session:
        return list(
            session.scalars(
                select(Series).order_by(Series.benchmark, Series.arm, Series.params_key)
            )
        )


def state_of(series_id: str) -> SeriesState:
    """The newest detection over a series."""
    with read_scope() as session:
        return session.get_one(SeriesState, series_id)
