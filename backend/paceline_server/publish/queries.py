"""Holds the SQL of documents: the runs of a badge or a commit, and the alerts of a feed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session

from paceline_server.store import access
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import BASELINE_TRIGGERS, Job, Run
from paceline_server.store.tables.projects import Project

STANDING_STATES = ("open", "acknowledged")
NOTIFIED_STATES = ("open", "acknowledged", "fixed", "expected", "invalid", "infra")
"""States of alerts that people were notified of (I13)."""


@dataclass(frozen=True)
class Subject:
    """The subject of a badge; None does not filter. `target` is a name."""

    suite: str
    branch: str | None
    target: str | None


@dataclass(frozen=True)
class FeedFilters:
    """Says which alerts a feed has; None does not filter. `target` is a name."""

    suite: str | None = None
    target: str | None = None
    state: str | None = None
    kind: str | None = None


def project(session: Session) -> Project:
    """Return the project of the session."""
    return session.get_one(Project, access.of_session(session).project)


def newest_ended_run(session: Session, subject: Subject) -> str | None:
    """Return the id of the newest run that ended, without confirmations and demonstrations."""
    query = select(Run.id).where(
        Run.suite == subject.suite,
        Run.trigger.in_(BASELINE_TRIGGERS),
        Run.state.in_(("done", "failed")),
        Run.demonstration.is_(False),
    )
    if subject.branch is not None:
        query = query.where(Run.branch == subject.branch)
    if subject.target is not None:
        on_target = exists().where(
            Job.run_id == Run.id,
            Job.target_id == Target.id,
            Target.name == subject.target,
        )
        query = query.where(on_target)
    newest = query.order_by(Run.created_at.desc(), Run.id.desc()).limit(1)
    return session.scalars(newest).one_or_none()


def count_standing_alerts(session: Session, subject: Subject) -> int:
    """Count a suite's open and acknowledged alerts, without those of shadow rules and demonstrations."""
    query = select(func.count()).where(
        Alert.suite == subject.suite,
        Alert.state.in_(STANDING_STATES),
        Alert.shadow.is_(False),
        Alert.demonstration.is_(False),
    )
    if subject.target is not None:
        query = query.where(Alert.target_id == Target.id, Target.name == subject.target)
    if subject.branch is not None:
        query = query.where(Alert.run_id == Run.id, Run.branch == subject.branch)
    return session.scalar(query) or 0


def runs_of_commit(
    session: Session, commit: str, suite: str | None, limit: int
) -> list[str]:
    """Return the ids of a commit's runs, without confirmations, the newest first."""
    query = select(Run.id).where(
        Run.commit == commit, Run.trigger.in_(BASELINE_TRIGGERS)
    )
    if suite is not None:
        query = query.where(Run.suite == suite)
    newest = query.order_by(Run.created_at.desc(), Run.id.desc()).limit(limit)
    return list(session.scalars(newest))


def feed_alerts(
    session: Session, filters: FeedFilters, limit: int
) -> Sequence[tuple[Alert, Target | None]]:
    """Return the alerts of a feed, the last changed first, with their targets if they have any."""
    query: Select[Alert, Target | None] = (
        select(Alert, Target)
        .outerjoin(Target, Target.id == Alert.target_id)
        .where(Alert.shadow.is_(False), Alert.state.in_(NOTIFIED_STATES))
    )
    for column, value in (
        (Alert.suite, filters.suite),
        (Target.name, filters.target),
        (Alert.state, filters.state),
        (Alert.kind, filters.kind),
    ):
        if value is not None:
            query = query.where(column == value)
    newest = query.order_by(Alert.updated_at.desc(), Alert.id.desc()).limit(limit)
    return [(row[0], row[1]) for row in session.execute(newest)]
