"""Lists what is new since an instant, the first question of every morning.

One request reads four lists: changes found, verdicts that flipped, alerts first seen, and runs that failed. Each has at
most `SHOWN` entries; the pages of alerts and runs have the same filter for the rest.
"""

from __future__ import annotations

from collections.abc import Sized
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import service as alerts
from paceline_server.jobs import service as jobs
from paceline_server.reports import queries, report_sentences
from paceline_server.reports.schemas import (
    ChangeSinceOut,
    FlippedVerdictOut,
    SinceList,
    SinceOut,
)
from paceline_server.series.change_sentences import change_sentence

SHOWN = 20
"""A list has at most this many entries; its own page has the rest."""


def new_since(session: Session, since: datetime) -> SinceOut:
    """Return what is new since an instant."""
    alert_page = alerts.list_alerts(
        session,
        alerts.AlertFilters(since=since),
        assignee=None,
        limit=SHOWN,
        cursor=None,
    )
    failed_runs = jobs.list_runs(
        session,
        suite=None,
        target=None,
        state="failed",
        trigger=None,
        requested=(since, None),
        limit=SHOWN,
        cursor=None,
    )
    changes = [
        _change_out(row)
        for row in queries.changes_found_since(session, since, SHOWN + 1)
    ]
    flips = [_flip_out(row) for row in queries.flipped_since(session, since, SHOWN + 1)]
    is_cut: dict[SinceList, bool] = {
        "changes": len(changes) > SHOWN,
        "flips": len(flips) > SHOWN,
        "alerts": alert_page.next is not None,
        "runs": failed_runs.next is not None,
    }
    lists: dict[SinceList, Sized] = {
        "changes": changes[:SHOWN],
        "flips": flips[:SHOWN],
        "alerts": alert_page.items,
        "runs": failed_runs.items,
    }
    more = [name for name, cut in is_cut.items() if cut]
    words = report_sentences.since_sentence(
        {name: len(entries) for name, entries in lists.items()}, more
    )
    return SinceOut.model_validate(
        {"since": since, "words": words, "more": more, **lists}
    )


def _change_out(row: queries.ChangeSinceRow) -> ChangeSinceOut:
    change, series = row.change, row.series
    words = change_sentence(
        change.effect,
        change.level_before,
        change.level_after,
        series.unit,
        series.direction,
    )
    of_series = ("suite", "benchmark", "arm", "metric", "params", "title", "target_id")
    of_change = (
        "id",
        "series_id",
        "state",
        "direction",
        "commit",
        "alert_id",
        "found_at",
    )
    return ChangeSinceOut(
        **_read_fields(series, of_series),
        **_read_fields(change, of_change),
        target_name=row.target.name,
        words=words,
    )


def _flip_out(row: queries.FlippedRow) -> FlippedVerdictOut:
    of_comparison = (
        "suite",
        "benchmark",
        "arm",
        "reference",
        "metric",
        "params",
        "target_id",
        "verdict",
        "run_id",
        "job_id",
        "measured_at",
    )
    return FlippedVerdictOut.model_validate(
        {
            **_read_fields(row.comparison, of_comparison),
            "target_name": row.target.name,
            "branch": row.branch,
            "before": row.before,
            "words": row.comparison.evidence["words"],
        }
    )


def _read_fields(stored: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(stored, name) for name in names}
