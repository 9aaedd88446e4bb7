"""Marks changes of many series of a target around one run as one incident (STATISTICS
§4.7).

The evidence of every marked change names the share of series that moved. A change that
already belongs to an alert keeps its cause. Only series measured within the newest runs
count: a series nobody measures any more moves with nobody.
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
    """Mark the changes of a target that belong to an incident, unmark those that no longer do; returns how
    many differ from before."""
    axis = queries.newest_jobs_of_target(session, target_id, constants.INCIDENT_HORIZON)
    position = {job_id: at for at, job_id in enumerate(axis)}
    moved: dict[str, list[int]] = defaultdict(list)
    changes = queries.live_changes_at(session, target_id, axis)
    for row in changes:
        moved[row.series_id].append(position[row.job_id])
    found: dict[tuple[str, int], dict[str, object]] = {}
    if len(moved) > 1:
        measured = queries.count_series_measured_since(session, target_id, axis[0])
        for incident in find_incidents(moved, measured):
            said = {
                "job_id": axis[incident.run],
                "share": incident.share,
                "series": len(incident.series),
                "measured": measured,
                "text": (
                    f"{len(incident.series)} of {measured} series of this target "
                    f"({percent(incident.share)}) moved within {constants.INCIDENT_RUNS} runs of each other"
                ),
            }
            for name in incident.series:
                for run in moved[name]:
                    if abs(run - incident.run) <= constants.INCIDENT_RUNS:
                        found.setdefault((name, run), said)
    return sum(
        _set_incident(row, found.get((row.series_id, position[row.job_id])))
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
