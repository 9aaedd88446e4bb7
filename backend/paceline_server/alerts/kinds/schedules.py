"""Raises alerts about runs of schedules that were never requested: no target was free, or the request was refused.

What a requested run came to is watched by `run_end.ScheduleKind`; the same rules decide about both.
"""

# ruff: noqa: ARG002 - of the interface

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import ClassVar

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.kinds.run_end import ScheduleKind
from paceline_server.alerts.kinds.standing import StandingFact, StandingKind, about_of
from paceline_server.alerts.rules.rule_book import RuleBook, RuleSubject
from paceline_server.jobs import service as jobs
from paceline_server.store.tables.alerts import Alert


class ScheduleMissedKind(StandingKind):
    """A run of a schedule that was due and not requested."""

    name: ClassVar[str] = "schedule_missed"
    names: ClassVar[tuple[str, ...]] = (name,)
    method: ClassVar[str] = "schedule-missed/1"
    rule_kind: ClassVar[str] = ScheduleKind.name

    def projects(self, session: Session) -> Collection[str]:
        return jobs.projects_with_missed_schedules(session)

    def find_facts(
        self, session: Session, project_id: str, at: datetime, rules: RuleBook
    ) -> Iterator[StandingFact]:
        for schedule in jobs.missed_schedules(session):
            missed_at = schedule.missed_at or at
            yield StandingFact(
                about=schedule.id,
                episode=missed_at.isoformat(),
                title=f"Scheduled run of {schedule.suite} did not happen: {schedule.name}",
                words=f"it was due at {missed_at:%Y-%m-%d %H:%M} UTC: {schedule.missed_because}",
                subject=_subject(session, schedule.suite, schedule.target_id),
                target_id=schedule.target_id,
            )

    def explain_end(
        self, session: Session, alert: Alert, episode: str, at: datetime
    ) -> str | None:
        schedule = jobs.find_schedule(session, about_of(alert))
        if schedule is None:
            return "the schedule was deleted"
        if not schedule.enabled:
            return "the schedule was switched off"
        if schedule.missed_at is None:
            return f"run {schedule.last_run_id} was requested"
        return None

    def rule_subject(self, session: Session, alert: Alert) -> RuleSubject:
        return _subject(session, alert.suite, alert.target_id)


def _subject(session: Session, suite: str, target_id: str | None) -> RuleSubject:
    name = "" if target_id is None else queries.target_name(session, target_id)
    return RuleSubject(suite, "", "", "", name)
