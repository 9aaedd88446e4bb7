"""All SQL of the fleet. A target's use is read from the jobs table: a lease is what makes it busy (I9)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from paceline_server.store.tables.catalog import SuiteAgent
from paceline_server.store.tables.fleet import Agent, EnrolmentCode, Target
from paceline_server.store.tables.history import Fingerprint
from paceline_server.store.tables.jobs import LEASED_STATES, Job


def take_code(session: Session, code_sha256: str, agent_id: str, at: datetime) -> bool:
    """Use up an enrolment code. One conditional UPDATE: of two racing agents one gets it."""
    query = (
        update(EnrolmentCode)
        .where(
            EnrolmentCode.code_sha256 == code_sha256,
            EnrolmentCode.used_by.is_(None),
            EnrolmentCode.expires_at > at,
        )
        .values(used_by=agent_id)
        .returning(EnrolmentCode.code_sha256)
    )
    return session.execute(query).scalar_one_or_none() is not None


def forget_codes(session: Session, at: datetime) -> None:
    session.execute(delete(EnrolmentCode).where(EnrolmentCode.expires_at <= at))


def agents() -> Select[Any]:
    return select(Agent)


def agent(session: Session, agent_id: str) -> Agent | None:
    return session.get(Agent, agent_id)


def targets() -> Select[Any]:
    return select(Target)


def target(session: Session, target_id: str) -> Target | None:
    return session.get(Target, target_id)


def target_by_serial(session: Session, kind: str, serial: str) -> Target | None:
    query = select(Target).where(Target.kind == kind, Target.serial == serial).with_for_update()
    return session.scalars(query).one_or_none()


def targets_of(session: Session, agent_id: str) -> list[Target]:
    return list(session.scalars(select(Target).where(Target.agent_id == agent_id).order_by(Target.id)))


def agent_names(session: Session, agent_ids: set[str]) -> dict[str, str]:
    rows = session.execute(select(Agent.id, Agent.name).where(Agent.id.in_(agent_ids)))
    return {row.id: row.name for row in rows}


def active_jobs(session: Session, target_ids: list[str]) -> dict[str, str]:
    """Target id → the job that holds its lease (at most one, by a unique index)."""
    query = select(Job.target_id, Job.id).where(Job.target_id.in_(target_ids), Job.state.in_(LEASED_STATES))
    return {row.target_id: row.id for row in session.execute(query)}


def gone_silent(session: Session, since: datetime, until: datetime) -> list[Target]:
    """Targets last heard of in (since, until]: those that became offline between two sweeps."""
    return list(
        session.scalars(select(Target).where(Target.last_seen_at > since, Target.last_seen_at <= until))
    )


def insert_target_once(session: Session, values: dict[str, Any]) -> None:
    """Make the row of a target seen for the first time; nothing when it exists (also in another
    transaction)."""
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    statement = insert(Target).values(**values)
    session.execute(statement.on_conflict_do_nothing(index_elements=["kind", "serial"]))


def agents_of_suite(session: Session, suite: str) -> list[str]:
    """Ids of the agents that announced a suite."""
    return list(session.scalars(select(SuiteAgent.agent_id).where(SuiteAgent.suite == suite)))


def remember_factors(session: Session, fingerprint: str, factors: dict[str, Any], at: datetime) -> None:
    """Keep what a fingerprint stands for: history explains by it, long after the target is another."""
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    statement = insert(Fingerprint).values(hash=fingerprint, factors=factors, first_seen_at=at)
    session.execute(statement.on_conflict_do_nothing())
