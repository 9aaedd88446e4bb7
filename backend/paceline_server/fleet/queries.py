"""All SQL of the fleet. A target's use is read from the jobs table: a lease is what makes it busy (I9).

Invariants: whoever changes a target's life holds its row lock (`lock_target`, `lock_targets`,
`lock_announced`), in this order so that nobody waits in a circle: a job's row before its target's, targets by
id, a target's orders after it. No lock here keeps others from adding rows that refer to the target.
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

from paceline_server.store.tables.catalog import SuiteAgent
from paceline_server.store.tables.fleet import (
    IMPORTS_AGENT,
    Agent,
    EnrolmentCode,
    Target,
    TargetEvent,
    TargetOrder,
    TargetReading,
)
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
    """Those that are programs: imported figures have one in the table that is none."""
    return select(Agent).where(Agent.id != IMPORTS_AGENT)


def agents_heard_last(session: Session, limit: int) -> list[Agent]:
    ordered = agents().order_by(Agent.last_seen_at.desc().nulls_last(), Agent.id)
    return list(session.scalars(ordered.limit(limit)))


def agent(session: Session, agent_id: str) -> Agent | None:
    return session.get(Agent, agent_id)


@dataclass(frozen=True)
class Filter:
    """Which targets are listed; None: all. `q` is looked for in name, serial, model and route. Health is a
    device's: asked for it, no host is found."""

    kind: str | None = None
    state: str | None = None
    health: str | None = None
    simulated: bool | None = None
    q: str | None = None


def targets(wanted: Filter, seen_since: datetime) -> Select[Any]:
    """Targets, filtered. `seen_since`: heard of after it counts as reachable."""
    equal = {
        Target.kind: wanted.kind,
        Target.health: wanted.health,
        Target.simulated: wanted.simulated,
    }
    query = select(Target).where(
        *(column == one for column, one in equal.items() if one is not None)
    )
    if wanted.health is not None:
        query = query.where(Target.kind == "device")
    if wanted.state is not None:
        query = query.where(_in_state(wanted.state, seen_since))
    if wanted.q:
        texts = (
            Target.name,
            Target.serial,
            Target.connection_route,
            Target.factors["model"].as_string(),
        )
        query = query.where(
            or_(*(text.icontains(wanted.q, autoescape=True) for text in texts))
        )
    return query


def slim(query: Select[Any]) -> Select[Any]:
    """The same targets without what is large of each."""
    return query.options(
        defer(Target.factors), defer(Target.preflight), defer(Target.last_check)
    )


def _in_state(state: str, seen_since: datetime) -> ColumnElement[bool]:
    reachable = and_(
        Target.last_seen_at.is_not(None),
        Target.last_seen_at >= seen_since,
        or_(
            Target.kind == "host",
            func.coalesce(Target.connection, "absent") == "online",
        ),
    )
    leased = exists().where(Job.target_id == Target.id, Job.state.in_(LEASED_STATES))
    found: dict[str, ColumnElement[bool]] = {
        "offline": ~reachable,
        "busy": and_(reachable, leased),
        "online": and_(reachable, ~leased),
    }
    return found.get(state, false())


def target(session: Session, target_id: str) -> Target | None:
    return session.get(Target, target_id)


def lock_target(session: Session, target_id: str) -> Target:
    """A target that exists, locked until the transaction ends; rows that refer to it may still be added."""
    query = select(Target).where(Target.id == target_id).with_for_update(key_share=True)
    return session.scalars(query.execution_options(populate_existing=True)).one()


def lock_announced(
    session: Session, identities: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Target]:
    """Targets by (kind, serial), locked in order of id."""
    query = select(Target).where(
        tuple_(Target.kind, Target.serial).in_(list(identities))
    )
    return {(one.kind, one.serial): one for one in _locked(session, query)}


def lock_targets(session: Session, target_ids: Collection[str]) -> list[Target]:
    """These targets, locked, in order of id."""
    return _locked(session, select(Target).where(Target.id.in_(list(target_ids))))


def _locked(session: Session, query: Select[Target]) -> list[Target]:
    query = query.order_by(Target.id).with_for_update(key_share=True)
    return list(session.scalars(query.execution_options(populate_existing=True)))


def kind_and_failures(session: Session, target_id: str) -> tuple[str, int]:
    """What decides whether the end of a job has a say in a target's health; not locked."""
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
    """Target id → the job that holds its lease (at most one, by a unique index)."""
    query = select(Job.target_id, Job.id).where(
        Job.target_id.in_(target_ids), Job.state.in_(LEASED_STATES)
    )
    return {row.target_id: row.id for row in session.execute(query)}


def gone_silent(session: Session, since: datetime, until: datetime) -> list[Target]:
    """Targets last heard of in (since, until]: those that became offline between two sweeps."""
    return list(
        session.scalars(
            select(Target).where(
                Target.last_seen_at > since, Target.last_seen_at <= until
            )
        )
    )


def insert_agent_once(session: Session, values: dict[str, Any]) -> None:
    """Make an agent's row; nothing when it exists (also in another transaction)."""
    insert = (
        postgresql.insert
        if session.get_bind().dialect.name == "postgresql"
        else sqlite.insert
    )
    session.execute(
        insert(Agent).values(**values).on_conflict_do_nothing(index_elements=["id"])
    )


def insert_target_once(session: Session, values: dict[str, Any]) -> None:
    """Make the row of a target seen for the first time; nothing when it exists (also in another
    transaction)."""
    insert = (
        postgresql.insert
        if session.get_bind().dialect.name == "postgresql"
        else sqlite.insert
    )
    statement = insert(Target).values(**values)
    session.execute(statement.on_conflict_do_nothing(index_elements=["kind", "serial"]))


def agents_of_suite(session: Session, suite: str) -> list[str]:
    """Ids of the agents that announced a suite."""
    return list(
        session.scalars(select(SuiteAgent.agent_id).where(SuiteAgent.suite == suite))
    )


def remember_factors(
    session: Session, fingerprint: str, factors: dict[str, Any], at: datetime
) -> None:
    """Keep what a fingerprint stands for: history explains by it, long after the target is another."""
    insert = (
        postgresql.insert
        if session.get_bind().dialect.name == "postgresql"
        else sqlite.insert
    )
    statement = insert(Fingerprint).values(
        hash=fingerprint, factors=factors, first_seen_at=at
    )
    session.execute(statement.on_conflict_do_nothing())


def events(target_id: str, axis: str | None) -> Select[Any]:
    """What happened to a target, on one axis or on all."""
    query = select(TargetEvent).where(TargetEvent.target_id == target_id)
    return query if axis is None else query.where(TargetEvent.axis == axis)


def event_exists(
    session: Session, target_id: str, ref: str, since: datetime | None = None
) -> bool:
    """Whether what its reporter calls `ref` was kept already (since an instant, if one is given)."""
    found = exists().where(TargetEvent.target_id == target_id, TargetEvent.ref == ref)
    found = found if since is None else found.where(TargetEvent.at > since)
    return session.execute(select(literal(1)).where(found)).first() is not None


def newest_event(session: Session, target_id: str, axis: str) -> TargetEvent | None:
    """The last thing that happened on an axis."""
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
    """The newest readings in [since, until], oldest first."""
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


def pending_orders(session: Session, target_ids: Sequence[str]) -> list[TargetOrder]:
    """Orders that wait, the oldest first."""
    query = select(TargetOrder).where(
        TargetOrder.target_id.in_(list(target_ids)), TargetOrder.life == "pending"
    )
    return list(session.scalars(query.order_by(TargetOrder.id)))


def refused_orders(
    session: Session, target_ids: Sequence[str], since: datetime
) -> list[TargetOrder]:
    """Orders an agent refused since an instant, the oldest first."""
    query = select(TargetOrder).where(
        TargetOrder.target_id.in_(list(target_ids)),
        TargetOrder.life == "refused",
        TargetOrder.ended_at > since,
    )
    return list(session.scalars(query.order_by(TargetOrder.id)))


def unanswered_orders(
    session: Session, target_id: str, order_ids: Collection[str]
) -> dict[str, TargetOrder]:
    """Orders of a target that its agent may still speak of, by id: those that wait, and those that time ran
    out on before it could."""
    query = select(TargetOrder).where(
        TargetOrder.target_id == target_id,
        TargetOrder.id.in_(list(order_ids)),
        TargetOrder.life.in_(("pending", "expired")),
    )
    return {one.id: one for one in session.scalars(query)}


def reboots_since(
    session: Session, target_ids: Sequence[str], since: datetime
) -> dict[str, int]:
    """Restarts per target since an instant: those people ordered and those the recovery ladder made. One that
    the agent says it made for an order is that order's, counted once."""
    wanted = list(target_ids)
    ordered = select(TargetOrder.target_id, TargetOrder.id).where(
        TargetOrder.target_id.in_(wanted),
        TargetOrder.kind == "reboot",
        TargetOrder.life.in_(("pending", "done")),
        TargetOrder.requested_at > since,
    )
    for_order = TargetEvent.evidence["order_id"].as_string()
    climbed = select(
        TargetEvent.target_id, func.coalesce(for_order, TargetEvent.id)
    ).where(
        TargetEvent.target_id.in_(wanted),
        TargetEvent.axis == "recovery",
        TargetEvent.evidence["step"].as_string() == "reboot",
        TargetEvent.at > since,
    )
    found: dict[str, set[str]] = {}
    for query in (ordered, climbed):
        for target_id, restart in session.execute(query):
            found.setdefault(target_id, set()).add(restart)
    return {target_id: len(restarts) for target_id, restarts in found.items()}


def _maintenance_over(at: datetime) -> ColumnElement[bool]:
    return and_(Target.maintenance_by.is_not(None), Target.maintenance_until <= at)


def anything_over(session: Session, at: datetime) -> bool:
    """Whether time ran out on a maintenance or an order: a read, so that an idle sweeper never writes."""
    order = exists().where(TargetOrder.life == "pending", TargetOrder.expires_at <= at)
    query = select(literal(1)).where(or_(exists().where(_maintenance_over(at)), order))
    return session.execute(query).first() is not None


def maintenance_over(session: Session, at: datetime) -> list[str]:
    """Ids of targets whose maintenance has ended; not locked."""
    return list(
        session.scalars(
            select(Target.id).where(_maintenance_over(at)).order_by(Target.id)
        )
    )


def targets_of_overdue_orders(session: Session, at: datetime) -> list[str]:
    """Ids of targets with an order nobody carried out in time; not locked."""
    overdue = exists().where(
        TargetOrder.target_id == Target.id,
        TargetOrder.life == "pending",
        TargetOrder.expires_at <= at,
    )
    return list(session.scalars(select(Target.id).where(overdue).order_by(Target.id)))


def forget_events(
    session: Session, before: datetime, connections_before: datetime
) -> None:
    """Remove old events; those of the connection earlier."""
    old = TargetEvent.at < before
    gone = and_(TargetEvent.axis == "connection", TargetEvent.at < connections_before)
    session.execute(delete(TargetEvent).where(or_(old, gone)))


def forget_readings(session: Session, before: datetime) -> None:
    session.execute(delete(TargetReading).where(TargetReading.at < before))
