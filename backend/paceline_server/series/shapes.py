"""Turns rows into the wire shapes of series, changes, segments, environments and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from paceline_contract.units import Unit, quantity

from paceline_server.series import environments
from paceline_server.series.change_sentences import change_sentence, interval_sentence
from paceline_server.series.declarations import read_declaration
from paceline_server.series.queries import ChangeRow, PlainPointRow
from paceline_server.series.schemas import (
    ChangeOut,
    EnvironmentOut,
    PointOut,
    SegmentOut,
    SeriesOut,
)
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target
from paceline_server.store.tables.history import TARGET_SHIFT, Series, SeriesPoint


def series_out(
    series: Series,
    target: Target | None,
    newest: SeriesPoint,
    points: int,
    changes: Mapping[str, int],
) -> SeriesOut:
    """Return a series as lists show it."""
    return SeriesOut.of_row(
        series,
        target_name="" if target is None else target.name,
        imported=target is not None and target.agent_id == IMPORTS_AGENT,
        points=points,
        value=newest.value,
        at=newest.at,
        commit=newest.commit,
        changes=dict(changes),
    )


def change_out(row: ChangeRow) -> ChangeOut:
    """Return a change with its sentences and evidence, but without its window of points, which its finding has."""
    change, evidence = row.change, row.change.evidence
    window, (first, last) = evidence["window"], evidence["location"]
    declared = read_declaration(row.point.declaration) or row.series
    unit, direction = declared.unit, declared.direction
    return ChangeOut.of_row(
        change,
        run_id=row.point.run_id,
        at=row.point.at,
        location_first=window[first],
        location_last=window[last],
        n_before=evidence["n_before"],
        n_after=evidence["n_after"],
        cause_text=(evidence.get(TARGET_SHIFT) or {}).get("text"),
        words=change_sentence(
            change.effect, change.level_before, change.level_after, unit, direction
        ),
        interval_words=interval_sentence(change.lower, change.upper, unit, direction),
        method=evidence["method"],
        filters=evidence["filters"],
    )


def environments_out(
    series: Series,
    points: Sequence[PlainPointRow],
    factors: Mapping[str, Mapping[str, Any]],
) -> list[EnvironmentOut]:
    """Return the environments of a series, oldest first, each with what changed before it."""
    stretches = _stretches(points)
    return [
        EnvironmentOut(
            index=index,
            fingerprint=stretch.fingerprint,
            factors=dict(factors.get(stretch.fingerprint, {})),
            first_at=points[stretch.start].at,
            change=environments.describe_boundary(
                stretches[index - 1],
                stretch,
                factors,
                series.metric,
                points[stretch.start].commit,
            )
            if index
            else None,
            unit=cast(Unit, (stretch.declaration or series).unit),
        )
        for index, stretch in enumerate(stretches)
    ]


def _stretches(
    points: Sequence[PlainPointRow],
) -> list[environments.EnvironmentStretch]:
    return environments.cut_into_environments(
        [point.fingerprint for point in points],
        [point.declaration for point in points],
    )


def environment_indices(points: Sequence[PlainPointRow]) -> dict[str, int]:
    """Return the index of each point's environment, by job."""
    stretches = _stretches(points)
    return {
        points[position].job_id: index
        for index, stretch in enumerate(stretches)
        for position in range(stretch.start, stretch.stop)
    }


def segment_out(
    stored: Mapping[str, Any], environment: Mapping[str, int]
) -> SegmentOut:
    """Return a stored segment with the index of its environment."""
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
    """Return a point with the index of its environment."""
    return PointOut.of_row(point, environment=environment[point.job_id])


def unit_of(series: Series) -> Unit:
    """Return a series' unit, which is one of the contract's, because the manifest reader accepts no other."""
    return cast(Unit, series.unit)


def state_sentence(
    series: SeriesOut, changes: Sequence[ChangeOut], segments: Sequence[SegmentOut]
) -> str:
    """Return the current state of a series in a sentence."""
    if not segments:
        return "not evaluated yet"
    newest = segments[-1]
    sentence = f"{quantity(newest.level, series.unit)} since {newest.start_at:%Y-%m-%d} ({newest.starts_because})"
    suspects = sum(change.state == "suspect" for change in changes)
    if suspects:
        sentence += f"; {suspects} suspect {'change' if suspects == 1 else 'changes'}, not confirmed"
    return sentence
