"""Records the points of a job, once, under the newest names of what they measure.

Old names come from the aliases of the suite's newest manifest. A series of an old name
is renamed, or joined with the series of the new name: no point is lost and none counts
twice. Stored comparisons keep the names they were measured under. A point that does not
count is kept with its reason; only a recomputation changes points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from paceline_contract.manifest import Manifest
from sqlalchemy.orm import Session

from paceline_server.kernel import clock, ids
from paceline_server.series import point_queries as queries


@dataclass(frozen=True)
class PointOfSeries:
    """One measurement of a job, as a point of its series holds it."""

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


@dataclass(frozen=True)
class JobPoints:
    """Everything a job says for history. `factors` empty: nobody kept what the target was."""

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


@dataclass(frozen=True)
class NewestNames:
    """Old names → newest ones. `arms` by (newest benchmark, old arm)."""

    benchmarks: Mapping[str, str] = field(default_factory=dict)
    arms: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Manifest) -> NewestNames:
        """What the manifest's `aliases` and `arm_aliases` say."""
        return cls(
            {
                old: name
                for name, benchmark in manifest.benchmarks.items()
                for old in benchmark.aliases
            },
            {
                (name, old): arm
                for name, benchmark in manifest.benchmarks.items()
                for arm, olds in benchmark.arm_aliases.items()
                for old in olds
            },
        )

    def benchmark(self, name: str) -> str:
        """What a benchmark is called now."""
        return self.benchmarks.get(name, name)

    def newest(self, benchmark: str, arm: str) -> tuple[str, str]:
        """What (benchmark, arm) is called now."""
        now = self.benchmark(benchmark)
        return now, self.arms.get((now, arm), arm)

    @property
    def old_benchmarks(self) -> set[str]:
        """Benchmarks of which a series may have to change its name."""
        return {*self.benchmarks, *(benchmark for benchmark, _ in self.arms)}


def adopt_newest_names(session: Session, suite: str, names: NewestNames) -> int:
    """Give every series of an old name its newest one; returns how many were renamed or joined."""
    if not names.old_benchmarks:
        return 0
    changed = 0
    for row in queries.series_named(session, suite, sorted(names.old_benchmarks)):
        benchmark, arm = names.newest(row.benchmark, row.arm)
        if (benchmark, arm) == (row.benchmark, row.arm):
            continue
        other = queries.same_series(session, row, benchmark, arm)
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


def record_points(session: Session, said: JobPoints, names: NewestNames) -> list[str]:
    """Append a job's points; returns how their series are called, in the order of the rows."""
    adopt_newest_names(session, said.suite, names)
    queries.add_fingerprint(session, said.fingerprint, said.factors, clock.now())
    keys = [_key(row, names) for row in said.rows]
    known = queries.series_ids(session, said.suite, said.target_id, said.branch)
    fresh = {
        key: _series(said, row, key)
        for key, row in zip(keys, said.rows, strict=True)
        if key not in known
    }
    if fresh:
        queries.add_series(session, list(fresh.values()))
        known = queries.series_ids(session, said.suite, said.target_id, said.branch)
    found = [known[key] for key in keys]
    rows = {
        series_id: _point(said, row, series_id)
        for series_id, row in zip(found, said.rows, strict=True)
    }
    queries.add_points(session, list(rows.values()))
    queries.update_last_at(session, list(rows), said.at)
    return found


def correct_points(
    session: Session, said: JobPoints, names: NewestNames
) -> tuple[int, int]:
    """Make the stored points of a job what was measured again; returns how many were missing and how many
    differed."""
    before = queries.points_of_job(session, said.job_id)
    found = record_points(session, said, names)
    missing = len(set(found) - set(before))
    differing = 0
    for series_id, row in zip(found, said.rows, strict=True):
        stored, wanted = before.get(series_id), _point(said, row, series_id)
        kept = {
            name: wanted[name]
            for name in ("value", "lower", "upper", "n", "launches", "excluded")
        }
        if stored is not None and any(
            getattr(stored, name) != value for name, value in kept.items()
        ):
            queries.correct_point(session, series_id, said.job_id, kept)
            differing += 1
    return missing, differing


def _key(row: PointOfSeries, names: NewestNames) -> queries.Key:
    benchmark, arm = names.newest(row.benchmark, row.arm)
    return benchmark, arm, row.params_key, row.metric


def _series(said: JobPoints, row: PointOfSeries, key: queries.Key) -> dict[str, Any]:
    return {
        "id": ids.new_id("ser"),
        "suite": said.suite,
        "benchmark": key[0],
        "arm": key[1],
        "params": dict(row.params),
        "params_key": row.params_key,
        "metric": row.metric,
        "unit": row.unit,
        "direction": row.direction,
        "target_id": said.target_id,
        "branch": said.branch,
        "created_at": clock.now(),
        "last_at": said.at,
    }


def _point(said: JobPoints, row: PointOfSeries, series_id: str) -> dict[str, Any]:
    return {
        "series_id": series_id,
        "job_id": said.job_id,
        "run_id": said.run_id,
        "at": said.at,
        "commit": said.commit,
        "artifact_hash": said.artifact_hash,
        "fingerprint": said.fingerprint,
        "value": row.value,
        "lower": row.lower,
        "upper": row.upper,
        "n": row.n,
        "launches": row.launches,
        "excluded": said.excluded,
        "conditions": dict(said.conditions),
    }


def jobs_of_series(session: Session, series_id: str | None) -> list[str] | None:
    """Jobs that left a point in a series; None for no series in particular."""
    return None if series_id is None else queries.jobs_with_points(session, series_id)
