"""Turns rows into the wire shapes of series, changes, segments, environments and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from paceline_contract.units import Unit

from paceline_server.series import environments
from paceline_server.series.change_sentences import change_sentence, interval_sentence
from paceline_server.series.queries import ChangeRow, PlainPointRow
from paceline_server.series.schemas import (
    ChangeOut,
    EnvironmentOut,
    PointOut,
    SegmentOut,
    SeriesOut,
)
from paceline_server.stats.plain_words import quantity
from paceline_server.store.tables.history import Series, SeriesPoint


def series_out(
    series: Series,
    target_name: str,
    newest: SeriesPoint,
    points: int,
    changes: Mapping[str, int],
) -> SeriesOut:
    """A series as lists show it."""
    names = (
        "id",
        "suite",
        "benchmark",
        "arm",
        "params",
        "metric",
        "unit",
        "direction",
        "target_id",
        "branch",
    )
    return SeriesOut(
        **{name: getattr(series, name) for name in names},
        target_name=target_name,
        points=points,
        value=newest.value,
        at=newest.at,
        commit=newest.commit,
        changes=dict(changes),
    )


def change_out(found: ChangeRow) -> ChangeOut:
    """A change with its sentence and its evidence, without the window (which the finding holds)."""
    change, evidence = found.change, found.change.evidence
    window, (first, last) = evidence["window"], evidence["location"]
    taken = (
        "id",
        "series_id",
        "state",
        "job_id",
        "before_commit",
        "commit",
        "direction",
        "level_before",
        "level_after",
        "effect",
        "lower",
        "upper",
        "p_value",
        "evaluations",
        "cause",
        "alert_id",
        "found_at",
        "updated_at",
    )
    return ChangeOut(
        **{name: getattr(change, name) for name in taken},
        run_id=found.point.run_id,
        at=found.point.at,
        location_first=window[first],
        location_last=window[last],
        n_before=evidence["n_before"],
        n_after=evidence["n_after"],
        cause_text=(evidence.get("incident") or {}).get("text"),
        words=change_sentence(
            change.effect,
            change.level_before,
            change.level_after,
            found.series.unit,
            found.series.direction,
        ),
        interval_words=interval_sentence(
            change.lower, change.upper, found.series.unit, found.series.direction
        ),
        method=evidence["method"],
        filters=evidence["filters"],
    )


def environments_out(
    points: Sequence[PlainPointRow], factors: Mapping[str, Mapping[str, Any]]
) -> list[EnvironmentOut]:
    """The environments a series was measured in, oldest first, each with what changed."""
    made: list[EnvironmentOut] = []
    for stretch in environments.cut_into_environments(
        [point.fingerprint for point in points]
    ):
        own = dict(factors.get(stretch.fingerprint, {}))
        change = environments.describe_switch(made[-1].factors, own) if made else None
        made.append(
            EnvironmentOut(
                index=len(made),
                fingerprint=stretch.fingerprint,
                factors=own,
                first_at=points[stretch.start].at,
                change=change,
            )
        )
    return made


def environment_of(points: Sequence[PlainPointRow]) -> dict[str, int]:
    """The environment of each point as an index, by job."""
    cut = environments.cut_into_environments([point.fingerprint for point in points])
    return {
        points[at].job_id: index
        for index, stretch in enumerate(cut)
        for at in range(stretch.start, stretch.stop)
    }


def segment_out(
    stored: Mapping[str, Any], environment: Mapping[str, int]
) -> SegmentOut:
    """A stored segment, its fingerprint as an index."""
    return SegmentOut(
        **{
            name: stored[name]
            for name in (
                "start_job_id",
                "stop_job_id",
                "points",
                "level",
                "lower",
                "upper",
                "starts_because",
            )
        },
        start_at=datetime.fromisoformat(stored["start_at"]),
        stop_at=datetime.fromisoformat(stored["stop_at"]),
        environment=environment[stored["start_job_id"]],
    )


def point_out(point: SeriesPoint, environment: Mapping[str, int]) -> PointOut:
    """A point; its environment as an index."""
    names = (
        "job_id",
        "run_id",
        "at",
        "commit",
        "artifact_hash",
        "value",
        "lower",
        "upper",
        "n",
        "launches",
        "excluded",
        "conditions",
    )
    return PointOut(
        **{name: getattr(point, name) for name in names},
        environment=environment[point.job_id],
    )


def unit_of(series: Series) -> Unit:
    """A series' unit; the manifest it came from allowed no other."""
    return cast(Unit, series.unit)


def state_sentence(
    series: SeriesOut, changes: Sequence[ChangeOut], segments: Sequence[SegmentOut]
) -> str:
    """Where a series stands, in one sentence."""
    if not segments:
        return "not evaluated yet"
    newest = segments[-1]
    head = f"{quantity(newest.level, series.unit)} since {newest.start_at:%Y-%m-%d} ({newest.starts_because})"
    suspects = sum(change.state == "suspect" for change in changes)
    if suspects:
        head += f"; {suspects} suspect {'change' if suspects == 1 else 'changes'}, not confirmed"
    return head
