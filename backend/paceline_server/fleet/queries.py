"""Holds all SQL of the fleet.

Whoever changes a target holds its row lock (`lock_target`, `lock_targets`, `lock_announced`). Locks are taken
in one order, which rules out deadlocks: a job's row before its target's, targets by id, orders after their
target. These locks let others insert rows that refer to the target. Whether a target is busy is read from the
jobs table, because a lease makes it busy (I9).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    delete,
    exists,
    false,
    func,
    literal,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, defer

from paceline_server.store.base import Base
from paceline_server.store.tables.catalog import SuiteAgent
from paceline_server.store.tables.fleet import (
    IMPORTS_AGENT,
    Agent,
    EnrolmentCode,
    ServerUptime,
    Target,
    TargetClaim,
    TargetEvent,
    TargetOrder,
    TargetReading,
)
from paceline_server.store.tables.history import Fingerprint
from paceline_server.store.tables.jobs import LEASED_STATES, Job
from paceline_server.store.tables.projects import TargetGrant


def take_code(
    session: Session, code_sha256: str, agent_id: str, at: datetime
) -> EnrolmentCode | None:
    """Use up an enrolment code. Returns None if it is unknown, used or expired. It is one conditional UPDATE, so only
    one of two racing agents gets the code."""
    query = (
        update(EnrolmentCode)
        .where(
            EnrolmentCode.code_sha256 == code_sha256,
            EnrolmentCode.used_by.is_(None),
            EnrolmentCode.expires_at > at,
        )
        .values(used_by=agent_id)
        .returning(EnrolmentCode)
    )
    return session.scalars(query).one_or_none()


def delete_expired_codes(session: Session, at: datetime) -> None:
    session.execute(delete(EnrolmentCode).where(EnrolmentCode.expires_at <= at))


def agents() -> Select[Any]:
    """Return all agents except the one that stands for imports."""
    return select(Agent).where(Agent.id != IMPORTS_AGENT)


def agents_heard_last(session: Session, limit: int) -> list[Agent]:
    """Return agents that are not revoked, those heard of most recently first."""
    active = agents().where(Agent.revoked_at.is_(None))
    ordered = active.order_by(Agent.last_seen_at.desc().nulls_last(), Agent.id)
    return list(session.scalars(ordered.limit(limit)))


def agent(session: Session, agent_id: str) -> Agent | None:
    return session.get(Agent, agent_id)


@dataclass(frozen=True)
class TargetFilter:
    """Says which targets a list shows; None: any. `q` is searched in name, serial, model and route. Only devices have
    a health, so a filter by health excludes hosts."""

    kind: str | None = None
    state: str | None = None
    health: str | None = None
    simulated: bool | None = None
    q: str | None = None
    held: frozenset[str] = frozenset()
    """Ids of targets that jobs of other projects hold; needed only with `state`."""


def targets(filters: TargetFilter, seen_since: datetime) -> Select[Any]:
    """Return the targets that pass `filters`; those seen after `seen_since` count as reachable."""
    equal = {
        Target.kind: filters.kind,
        Target.health: filters.health,
        Target.simulated: filters.simulated,
    }
    query = select(Target).where(
        *(column == value for column, value in equal.items() if value is not None)
    )
    if filters.health is not None:
        query = query.where(Target.kind == "device")
    if filters.state is not None:
        query = query.where(_in_state(filters.state, seen_since, filters.held))
    if filters.q:
        texts = (
            Target.name,
            Target.serial,
            Target.connection_route,
            Target.factors["model"].as_string(),
        )
        query = query.where(
            or_(*(text.icontains(filters.q, autoescape=True) for text in texts))
        )
    return query


def without_large_columns(query: Select[Any]) -> Select[Any]:
    """Return a query for the same targets without their large columns."""
    return query.options(
        defer(Target.factors), defer(Target.preflight), defer(Target.last_check)
    )


def _in_state(
    state: str, seen_since: datetime, held: Collection[str]
) -> ColumnElement[bool]:
    reachable = and_(
        Target.last_seen_at.is_not(None),
        Target.last_seen_at >= seen_since,
        or_(
            Target.kind == "host",
            func.coalesce(Target.connection, "absent") == "online",
        ),
    )
    leased = or_(
        exists().where(Job.target_id == Target.id, Job.state.in_(LEASED_STATES)),
        Target.id.in_(list(held)),
    )
    conditions: dict[str, ColumnElement[bool]] = {
        "offline": ~reachable,
        "busy": and_(reachable, leased),
        "online": and_(reachable, ~leased),
    }
    return conditions.get(state, false())


def target(session: Session, target_id: str) -> Target | None:
    return session.get(Target, target_id)


def targets_by_id(session: Session, target_ids: Collection[str]) -> dict[str, Target]:
    """Return those of these targets that exist."""
    query = select(Target).where(Target.id.in_(set(target_ids)))
    return {target.id: target for target in session.scalars(query)}


def target_identified(session: Session, kind: str, serial: str) -> Target | None:
    query = select(Target).where(Target.kind == kind, Target.serial == serial)
    return session.scalars(query).one_or_none()


def lock_target(session: Session, target_id: str) -> Target:
    """Return an existing target, locked until the transaction ends; others may still add rows that refer to it."""
    query = select(Target).where(Target.id == target_id).with_for_update(key_share=True)
    return session.scalars(query.execution_options(populate_existing=True)).one()


def lock_announced(
    session: Session, identities: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Target]:
    """Lock targets in order of id; returns them by (kind, serial)."""
    query = select(Target).where(
        tuple_(Target.kind, Target.serial).in_(list(identities))
    )
    return {
        (target.kind, target.serial): target for target in _lock_targets(session, query)
    }


def lock_targets(session: Session, target_ids: Collection[str]) -> list[Target]:
    """Lock these targets in order of id, and return them."""
    return _lock_targets(session, select(Target).where(Target.id.in_(list(target_ids))))


def _lock_targets(session: Session, query: Select[Target]) -> list[Target]:
    query = query.order_by(Target.id).with_for_update(key_share=True)
    return list(session.scalars(query.execution_options(populate_existing=True)))


def kind_and_failures(session: Session, target_id: str) -> tuple[str, int]:
    """Return a target's kind and its count of failures, read without a lock."""
    row = session.execute(
        select(Target.kind, Target.failures).where(Target.id == target_id)
    ).one()
    return row.kind, row.failures


def targets_of(session: Session, agent_id: str) -> list[Target]:
    return list(
        session.scalars(
            select(Target).where(Target.agent_id == agent_id).order_by(Target.id)
        )
    )


def agent_names(session: Session, agent_ids: set[str]) -> dict[str, str]:
    rows = session.execute(select(Agent.id, Agent.name).where(Agent.id.in_(agent_ids)))
    return {row.id: row.name for row in rows}


def active_jobs(session: Session, target_ids: list[str]) -> dict[str, str]:
    """Return, by target id, the job that holds its lease (at most one, by a unique index)."""
    query = select(Job.target_id, Job.id).where(
        Job.target_id.in_(target_ids), Job.state.in_(LEASED_STATES)
    )
    return {row.target_id: row.id for row in session.execute(query)}


def held_outside(
    session: Session, projects: Collection[str], target_ids: Collection[str] | None
) -> set[str]:
    """Return the ids of targets that are held by jobs of projects other than these."""
    query = select(Job.target_id).where(
        Job.state.in_(LEASED_STATES), Job.project_id.not_in(list(projects))
    )
    if target_ids is not None:
        query = query.where(Job.target_id.in_(list(target_ids)))
    return set(session.scalars(query))


def grant(
    session: Session, target_ids: Collection[str], project_id: str, at: datetime
) -> None:
    """Grant targets to a project; granting twice changes nothing."""
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    for target_id in target_ids:
        statement = dialect.insert(TargetGrant).values(
            target_id=target_id, project_id=project_id, created_at=at
        )
        session.execute(statement.on_conflict_do_nothing())


def withdraw_from_projects(session: Session, target_id: str) -> None:
    """Withdraw a target from every project."""
    session.execute(delete(TargetGrant).where(TargetGrant.target_id == target_id))


def projects_of_target(session: Session, target_id: str) -> list[str]:
    """Return the ids of the projects that a target is granted to."""
    query = select(TargetGrant.project_id).where(TargetGrant.target_id == target_id)
    return sorted(session.scalars(query))


def claim_of(session: Session, target_id: str, agent_id: str) -> TargetClaim | None:
    """Return the claim of an agent to a target, decided or not."""
    query = select(TargetClaim).where(
        TargetClaim.target_id == target_id, TargetClaim.agent_id == agent_id
    )
    return session.scalars(query).one_or_none()


def open_claims(
    session: Session, owner_id: str, since: datetime
) -> list[tuple[TargetClaim, Target]]:
    """Return the open claims to targets of an agent that were last made after `since`, with their targets."""
    query = (
        select(TargetClaim, Target)
        .join(Target, Target.id == TargetClaim.target_id)
        .where(
            TargetClaim.state == "open",
            TargetClaim.last_at > since,
            Target.agent_id == owner_id,
        )
        .order_by(Target.id, TargetClaim.id)
    )
    return [(claim, target) for claim, target in session.execute(query)]


def lock_claim(session: Session, claim_id: str) -> TargetClaim | None:
    """Return a claim, locked until the transaction ends."""
    query = select(TargetClaim).where(TargetClaim.id == claim_id).with_for_update()
    return session.scalars(
        query.execution_options(populate_existing=True)
    ).one_or_none()


def lock_agent(session: Session, agent_id: str) -> Agent:
    """Return an existing agent, locked until the transaction ends."""
    query = select(Agent).where(Agent.id == agent_id).with_for_update(key_share=True)
    return session.scalars(query.execution_options(populate_existing=True)).one()


def targets_gone_silent(
    session: Session, since: datetime, until: datetime
) -> list[Target]:
    """Return targets last heard of in (since, until]: those that became offline between two sweeps."""
    return list(
        session.scalars(
            select(Target).where(
                Target.last_seen_at > since, Target.last_seen_at <= until
            )
        )
    )


def insert_once(session: Session, table: type[Base], values: dict[str, Any]) -> bool:
    """Insert a row unless one with its key exists, and return whether it was inserted. A row of a transaction that is
    not committed yet counts."""
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table).values(**values)
    statement = statement.on_conflict_do_nothing().returning(
        table.__mapper__.primary_key[0]
    )
    return session.execute(statement).first() is not None


def agents_of_suite(session: Session, suite: str) -> list[str]:
    """Return the ids of the agents that announced a suite."""
    return list(
        session.scalars(select(SuiteAgent.agent_id).where(SuiteAgent.suite == suite))
    )


def remember_factors(
    session: Session, fingerprint: str, factors: dict[str, Any], at: datetime
) -> None:
    """Store the factors of a fingerprint, by which changes in history are explained long afterwards."""
    values = {"hash": fingerprint, "factors": factors, "first_seen_at": at}
    insert_once(session, Fingerprint, values)


def events(target_id: str, axis: str | None) -> Select[Any]:
    """Return a query for the events of a target, on one axis or on all."""
    query = select(TargetEvent).where(TargetEvent.target_id == target_id)
    return query if axis is None else query.where(TargetEvent.axis == axis)


def event_exists(session: Session, target_id: str, ref: str) -> bool:
    """Return whether an event with the reporter's id `ref` is stored already."""
    event = select(TargetEvent.id).where(
        TargetEvent.target_id == target_id, TargetEvent.ref == ref
    )
    return session.execute(event.limit(1)).first() is not None


def newest_event(session: Session, target_id: str, axis: str) -> TargetEvent | None:
    """Return the newest event on an axis."""
    query = events(target_id, axis).order_by(
        TargetEvent.at.desc(), TargetEvent.id.desc()
    )
    return session.scalars(query.limit(1)).one_or_none()


def newest_reading(session: Session, target_id: str) -> TargetReading | None:
    query = select(TargetReading).where(TargetReading.target_id == target_id)
    return session.scalars(
        query.order_by(TargetReading.at.desc()).limit(1)
    ).one_or_none()


def readings(
    session: Session, target_id: str, since: datetime, until: datetime, limit: int
) -> list[TargetReading]:
    """Return the newest readings in [since, until], oldest first."""
    query = (
        select(TargetReading)
        .where(
            TargetReading.target_id == target_id,
            TargetReading.at >= since,
            TargetReading.at <= until,
        )
        .order_by(TargetReading.at.desc())
        .limit(limit)
    )
    return list(reversed(list(session.scalars(query))))


def pending_orders(
    session: Session, target_ids: Sequence[str], at: datetime
) -> list[TargetOrder]:
    """Return orders that wait to be carried out and have not expired by `at`, the oldest first."""
    query = select(TargetOrder).where(
        TargetOrder.target_id.in_(list(target_ids)),
        TargetOrder.life == "pending",
        TargetOrder.expires_at > at,
    )
    return list(session.scalars(query.order_by(TargetOrder.id)))


def refused_orders(
    session: Session, target_ids: Sequence[str], since: datetime
) -> list[TargetOrder]:
    """Return orders an agent refused since an instant, the oldest first."""
    query = select(TargetOrder).where(
        TargetOrder.target_id.in_(list(target_ids)),
        TargetOrder.life == "refused",
        TargetOrder.ended_at > since,
    )
    return list(session.scalars(query.order_by(TargetOrder.id)))


def unanswered_orders(
    session: Session, target_id: str, order_ids: Collection[str]
) -> dict[str, TargetOrder]:
    """Return, by id, those of the orders that the agent may still answer: pending ones and expired ones."""
    query = select(TargetOrder).where(
        TargetOrder.target_id == target_id,
        TargetOrder.id.in_(list(order_ids)),
        TargetOrder.life.in_(("pending", "expired")),
    )
    return {order.id: order for order in session.scalars(query)}


def reboots_since(
    session: Session, target_ids: Sequence[str], since: datetime
) -> dict[str, int]:
    """Return the number of restarts per target since an instant, ordered by people or made by the recovery ladder. A
    restart that the agent made for an order counts once."""
    ordered = select(TargetOrder.target_id, TargetOrder.id).where(
        TargetOrder.target_id.in_(list(target_ids)),
        TargetOrder.kind == "reboot",
        TargetOrder.life.in_(("pending", "done")),
        TargetOrder.requested_at > since,
    )
    for_order = TargetEvent.evidence["order_id"].as_string()
    recovered = select(
        TargetEvent.target_id, func.coalesce(for_order, TargetEvent.id)
    ).where(
        TargetEvent.target_id.in_(list(target_ids)),
        TargetEvent.axis == "recovery",
        TargetEvent.evidence["step"].as_string() == "reboot",
        TargetEvent.at > since,
    )
    restarts: dict[str, set[str]] = {}
    for query in (ordered, recovered):
        for target_id, restart in session.execute(query):
            restarts.setdefault(target_id, set()).add(restart)
    return {target_id: len(ids) for target_id, ids in restarts.items()}


def _maintenance_ended(at: datetime) -> ColumnElement[bool]:
    return and_(Target.maintenance_by.is_not(None), Target.maintenance_until <= at)


def has_expired(session: Session, at: datetime) -> bool:
    """Return whether a maintenance or an order has run out."""
    order = exists().where(TargetOrder.life == "pending", TargetOrder.expires_at <= at)
    query = select(literal(1)).where(or_(exists().where(_maintenance_ended(at)), order))
    return session.execute(query).first() is not None


def targets_of_ended_maintenance(session: Session, at: datetime) -> list[str]:
    """Return the ids of targets whose maintenance has run out; not locked."""
    return list(
        session.scalars(
            select(Target.id).where(_maintenance_ended(at)).order_by(Target.id)
        )
    )


def overdue_orders(
    session: Session, target_ids: Sequence[str], at: datetime
) -> list[TargetOrder]:
    """Return orders of these targets that were not carried out by `at`, the oldest first."""
    query = select(TargetOrder).where(
        TargetOrder.target_id.in_(list(target_ids)),
        TargetOrder.life == "pending",
        TargetOrder.expires_at <= at,
    )
    return list(session.scalars(query.order_by(TargetOrder.id)))


def targets_of_overdue_orders(session: Session, at: datetime) -> list[str]:
    """Return the ids of targets with an order that was not carried out in time; not locked."""
    overdue = exists().where(
        TargetOrder.target_id == Target.id,
        TargetOrder.life == "pending",
        TargetOrder.expires_at <= at,
    )
    return list(session.scalars(select(Target.id).where(overdue).order_by(Target.id)))


def delete_events(
    session: Session, before: datetime, connections_before: datetime
) -> None:
    """Delete old events; those of connections are deleted sooner."""
    is_old = TargetEvent.at < before
    is_old_connection = and_(
        TargetEvent.axis == "connection", TargetEvent.at < connections_before
    )
    session.execute(delete(TargetEvent).where(or_(is_old, is_old_connection)))


def delete_readings(session: Session, before: datetime) -> None:
    session.execute(delete(TargetReading).where(TargetReading.at < before))


def uptimes(session: Session) -> list[ServerUptime]:
    """Return the times in which the server was up, the oldest first."""
    return list(session.scalars(select(ServerUptime).order_by(ServerUptime.id)))


def newest_uptime(session: Session, *, lock: bool = False) -> ServerUptime | None:
    """Return the newest time in which the server was up; `lock` holds its row until the transaction ends."""
    query = select(ServerUptime).order_by(ServerUptime.id.desc()).limit(1)
    return session.scalars(query.with_for_update() if lock else query).one_or_none()


def begin_uptime(session: Session, uptime_id: int, at: datetime) -> None:
    """Store the begin of an uptime, unless another process did."""
    insert_once(session, ServerUptime, {"id": uptime_id, "since": at, "seen_at": at})


def delete_uptimes(session: Session, before: datetime) -> None:
    """Delete uptimes that ended before an instant."""
    session.execute(delete(ServerUptime).where(ServerUptime.seen_at < before))


def projects_with_silence_limits(session: Session) -> set[str]:
    """Return the projects with a target of an agent that may not be silent for ever."""
    query = (
        select(TargetGrant.project_id)
        .join(Target, Target.id == TargetGrant.target_id)
        .join(Agent, Agent.id == Target.agent_id)
        .where(Agent.silence_limit_s.is_not(None), Agent.revoked_at.is_(None))
    )
    return set(session.scalars(query))


def limited_agents(session: Session, project_id: str) -> list[Agent]:
    """Return the agents with a target of a project that may not be silent for ever, without revoked ones."""
    driving = (
        select(Target.agent_id)
        .join(TargetGrant, TargetGrant.target_id == Target.id)
        .where(TargetGrant.project_id == project_id)
    )
    query = (
        select(Agent)
        .where(
            Agent.id.in_(driving),
            Agent.silence_limit_s.is_not(None),
            Agent.revoked_at.is_(None),
        )
        .order_by(Agent.id)
        .options(
            defer(Agent.granted_projects),
            defer(Agent.granted_repositories),
            defer(Agent.granted_targets),
        )
    )
    return list(session.scalars(query))


def is_agent_granted(session: Session, agent_id: str, project_id: str) -> bool:
    """Return whether a target of an agent is granted to a project."""
    query = (
        select(Target.id)
        .join(TargetGrant, TargetGrant.target_id == Target.id)
        .where(Target.agent_id == agent_id, TargetGrant.project_id == project_id)
        .limit(1)
    )
    return session.scalar(query) is not None


def targets_by_agent(
    session: Session, agent_ids: Collection[str]
) -> dict[str, list[Target]]:
    """Return the targets of these agents, without their large columns."""
    query = select(Target).where(Target.agent_id.in_(list(agent_ids)))
    targets: dict[str, list[Target]] = {}
    for target in session.scalars(without_large_columns(query.order_by(Target.id))):
        targets.setdefault(target.agent_id, []).append(target)
    return targets


def maintenance_ends(
    session: Session, agent_ids: Collection[str], after: datetime
) -> dict[str, datetime]:
    """Return when a target of each of these agents last left maintenance, if after an instant."""
    query = (
        select(Target.agent_id, func.max(TargetEvent.at))
        .select_from(TargetEvent)
        .join(Target, Target.id == TargetEvent.target_id)
        .where(
            Target.agent_id.in_(list(agent_ids)),
            TargetEvent.at > after,
            TargetEvent.axis == "maintenance",
            TargetEvent.to_state == "off",
        )
        .group_by(Target.agent_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def projects_with_quarantine(session: Session) -> set[str]:
    """Return the projects with a quarantined target."""
    query = (
        select(TargetGrant.project_id)
        .join(Target, Target.id == TargetGrant.target_id)
        .where(Target.health == "quarantined")
    )
    return set(session.scalars(query))


def quarantined_targets(session: Session, project_id: str) -> list[Target]:
    """Return the quarantined targets of a project, in order of id."""
    granted = select(TargetGrant.target_id).where(TargetGrant.project_id == project_id)
    query = select(Target).where(Target.health == "quarantined", Target.id.in_(granted))
    return list(session.scalars(without_large_columns(query.order_by(Target.id))))
