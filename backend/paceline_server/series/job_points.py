"""Records a job's points once, under the newest names of its benchmarks and arms.

A series with an old name (an alias in the suite's newest manifest) is renamed, or joined with the series of the new
name. Points are changed only by a recomputation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from paceline_contract.names import NewestNames
from sqlalchemy.orm import Session

from paceline_server.kernel import clock, ids
from paceline_server.series import point_queries as queries
from paceline_server.series.declarations import Declaration


@dataclass(frozen=True)
class PointOfSeries:
    """One measurement of a job, which becomes a point of its series."""

    benchmark: str
    arm: str
    params: Mapping[str, Any]
    params_key: str
    metric: str
    unit: str
    direction: str
    value: float
    lower: float
    upper: float
    n: int
    launches: int
    title: str | None = None
    items: int | None = None
    """Items per iteration, if known; `bytes` likewise."""
    bytes: int | None = None
    excluded: str | None = None
    """Why this point does not count, where others of the job do."""

    @property
    def declaration(self) -> Declaration:
        """The declaration that gives the number its meaning."""
        return Declaration(self.unit, self.direction, self.items, self.bytes)


@dataclass(frozen=True)
class JobPoints:
    """A job's points and what they share. `factors` is empty if they were not recorded."""

    job_id: str
    run_id: str
    suite: str
    target_id: str
    branch: str
    at: datetime
    commit: str
    artifact_hash: str | None
    fingerprint: str
    factors: Mapping[str, Any]
    excluded: str | None
    conditions: Mapping[str, Any]
    rows: Sequence[PointOfSeries]


def adopt_newest_names(session: Session, suite: str, names: NewestNames) -> int:
    """Rename series with old names, or join them with those of the newest names; returns how many."""
    if not names.old_benchmarks:
        return 0
    changed = 0
    for row in queries.lock_series_of_benchmarks(
        session, suite, sorted(names.old_benchmarks)
    ):
        benchmark, arm = names.newest(row.benchmark, row.arm)
        if (benchmark, arm) == (row.benchmark, row.arm):
            continue
        other = queries.find_renamed_series(session, row, benchmark, arm)
        if other is None:
            row.benchmark, row.arm = benchmark, arm
            session.flush()
        else:
            queries.join_series(session, row.id, other.id)
        changed += 1
    for old, new in names.benchmarks.items():
        queries.rename_floors(session, suite, old, new)
    for (benchmark, old_arm), new_arm in names.arms.items():
        queries.rename_floors_of_arm(session, suite, benchmark, old_arm, new_arm)
    return changed


def record_points(session: Session, points: JobPoints, names: NewestNames) -> list[str]:
    """Append a job's points; returns the ids of their series, in the order of the rows."""
    adopt_newest_names(session, points.suite, names)
    queries.add_fingerprint(session, points.fingerprint, points.factors, clock.now())
    keys = [_key(row, names) for row in points.rows]
    known = queries.series_ids(session, points.suite, points.target_id, points.branch)
    fresh = {
        key: _series(points, row, key)
        for key, row in zip(keys, points.rows, strict=True)
        if key not in known
    }
    if fresh:
        queries.add_series(session, list(fresh.values()))
        known = queries.series_ids(
            session, points.suite, points.target_id, points.branch
        )
    series_ids = [known[key] for key in keys]
    declared = {
        series_id: row.declaration
        for series_id, row in zip(series_ids, points.rows, strict=True)
    }
    queries.update_declarations(session, declared, points.at)
    rows = {
        series_id: _point(points, row, series_id)
        for series_id, row in zip(series_ids, points.rows, strict=True)
    }
    queries.add_points(session, list(rows.values()))
    queries.update_last_at(session, list(rows), points.at)
    return series_ids


def correct_points(
    session: Session, points: JobPoints, names: NewestNames
) -> tuple[int, int]:
    """Correct a job's stored points to its recomputed values; returns how many were missing and how many differed."""
    before = queries.points_of_job(session, points.job_id)
    series_ids = record_points(session, points, names)
    missing = len(set(series_ids) - set(before))
    differing = 0
    for series_id, row in zip(series_ids, points.rows, strict=True):
        stored, measured = before.get(series_id), _point(points, row, series_id)
        columns = {
            name: measured[name]
            for name in (
                "value",
                "lower",
                "upper",
                "n",
                "launches",
                "declaration",
                "excluded",
            )
        }
        if stored is not None and any(
            getattr(stored, name) != value for name, value in columns.items()
        ):
            queries.correct_point(session, series_id, points.job_id, columns)
            differing += 1
    return missing, differing


def _key(row: PointOfSeries, names: NewestNames) -> queries.Key:
    benchmark, arm = names.newest(row.benchmark, row.arm)
    return benchmark, arm, row.params_key, row.metric


def _series(points: JobPoints, row: PointOfSeries, key: queries.Key) -> dict[str, Any]:
    return {
        "id": ids.new_id("ser"),
        "suite": points.suite,
        "benchmark": key[0],
        "arm": key[1],
        "params": dict(row.params),
        "params_key": row.params_key,
        "metric": row.metric,
        "unit": row.unit,
        "direction": row.direction,
        "target_id": points.target_id,
        "branch": points.branch,
        "title": row.title,
        "created_at": clock.now(),
        "last_at": points.at,
    }


def _exclusion(row: PointOfSeries) -> str | None:
    """Return why a value cannot be a point that counts, if so: history compares points by their ratio."""
    if row.value > 0.0:
        return None
    return f"the median is {row.value:g} {row.unit}, and only values above zero have a ratio to others"


def _point(points: JobPoints, row: PointOfSeries, series_id: str) -> dict[str, Any]:
    return {
        "series_id": series_id,
        "job_id": points.job_id,
        "run_id": points.run_id,
        "at": points.at,
        "commit": points.commit,
        "artifact_hash": points.artifact_hash,
        "fingerprint": points.fingerprint,
        "value": row.value,
        "lower": row.lower,
        "upper": row.upper,
        "n": row.n,
        "launches": row.launches,
        "declaration": row.declaration.text(),
        "excluded": points.excluded or row.excluded or _exclusion(row),
        "conditions": dict(points.conditions),
    }


def jobs_of_series(session: Session, series_id: str | None) -> list[str] | None:
    """Return the ids of jobs with a point in a series; None if no series is given."""
    return None if series_id is None else queries.jobs_with_points(session, series_id)
