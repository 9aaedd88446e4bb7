"""Marks changes of many series of a target around the same run as an incident (stats/README.md §4.7).

The share is relative to the series measured in the newest runs. A change that already belongs to an alert keeps
its cause.
"""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy.orm import Session

from paceline_server.detect.changes import queries
from paceline_server.kernel import clock
from paceline_server.stats import constants
from paceline_server.stats.incidents import find_incidents
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.history import Change


def mark_incidents_of_target(session: Session, target_id: str) -> int:
    """Mark the changes of a target that belong to an incident and unmark the others; returns how many
    differ."""
    job_ids = queries.newest_jobs_of_target(
        session, target_id, constants.INCIDENT_HORIZON
    )
    position = {job_id: run_number for run_number, job_id in enumerate(job_ids)}
    runs_by_series: dict[str, list[int]] = defaultdict(list)
    changes = queries.live_changes_at(session, target_id, job_ids)
    for row in changes:
        runs_by_series[row.series_id].append(position[row.job_id])
    incident_by_change: dict[tuple[str, int], dict[str, object]] = {}
    if len(runs_by_series) > 1:
        measured = queries.count_series_measured_since(session, target_id, job_ids[0])
        for incident in find_incidents(runs_by_series, measured):
            evidence = {
                "job_id": job_ids[incident.run],
                "share": incident.share,
                "series": len(incident.series),
                "measured": measured,
                "text": (
                    f"{len(incident.series)} of {measured} series of this target "
                    f"({percent(incident.share)}) moved within {constants.INCIDENT_RUNS} runs of each other"
                ),
            }
            for name in incident.series:
                for run in runs_by_series[name]:
                    if abs(run - incident.run) <= constants.INCIDENT_RUNS:
                        incident_by_change.setdefault((name, run), evidence)
    return sum(
        _set_incident(
            row, incident_by_change.get((row.series_id, position[row.job_id]))
        )
        for row in changes
    )


def _set_incident(row: Change, incident: dict[str, object] | None) -> bool:
    if row.evidence.get("incident") == incident or (
        incident is None and row.alert_id is not None
    ):
        return False
    evidence = {
        name: value for name, value in row.evidence.items() if name != "incident"
    }
    if incident is not None:
        evidence["incident"] = incident
    row.evidence = evidence
    if row.alert_id is None:
        row.cause = None if incident is None else "environment"
    row.updated_at = clock.now()
    return True
