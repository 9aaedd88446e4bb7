"""What a heartbeat says of its targets: whose each is, what it is, how it lives.

Place: under `service.heartbeat`, above `life`. Invariants: all rows of a heartbeat are locked before any is
changed, in order of id; one agent at a time speaks for a target, and another one takes it over only when it
reaches what the first does not, so that a device two agents know never goes to and fro.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.orm import Session

from paceline_server.fleet import life, queries
from paceline_server.fleet.events import keep
from paceline_server.fleet.schemas import TargetAnnounceIn, TargetHeardOut
from paceline_server.fleet.shapes import is_online, tell
from paceline_server.kernel.ids import new_id
from paceline_server.store.tables.fleet import Target

log = structlog.get_logger("paceline.fleet")

SAY_MOVED_AGAIN = timedelta(hours=1)
"""A device that is carried to and fro between two agents says so once in this time, not at every beat."""


def see(
    session: Session,
    agent_id: str,
    targets: Sequence[TargetAnnounceIn],
    at: datetime,
    *,
    news: bool,
) -> list[TargetHeardOut]:
    """Note what an agent says of its targets; what is asked of it about each. `news`: the agent was silent
    before."""
    said = sorted(targets, key=lambda target: (target.kind, target.serial))
    for one in said:
        queries.insert_target_once(session, _unseen(agent_id, one, at))
    rows = queries.lock_announced(session, [(one.kind, one.serial) for one in said])
    return [
        _see(session, rows[one.kind, one.serial], agent_id, one, at, news=news)
        for one in said
    ]


def _unseen(agent_id: str, said: TargetAnnounceIn, at: datetime) -> dict[str, Any]:
    """The row of a target nobody has announced before."""
    return {
        "id": new_id("tgt"),
        "kind": said.kind,
        "serial": said.serial,
        "name": said.name,
        "agent_id": agent_id,
        "refuses": None,
        "factors": {},
        "fingerprint": "",
        "preflight": [],
        "simulated": said.simulated,
        "last_seen_at": None,
        "created_at": at,
    }


def _see(
    session: Session,
    target: Target,
    agent_id: str,
    said: TargetAnnounceIn,
    at: datetime,
    *,
    news: bool,
) -> TargetHeardOut:
    if target.agent_id != agent_id:
        if not _takes_over(session, target, agent_id, said, at):
            return _of_another(session, target, said)
        _move(session, target, agent_id, at)
        news = True
    before = _shown(target)
    news = news or not is_online(target.last_seen_at, at)
    target.refuses, target.simulated = said.refuses, said.simulated
    if said.reached or not target.fingerprint:
        preflight = [finding.model_dump() for finding in said.preflight]
        news = news or target.preflight != preflight
        target.name, target.preflight = said.name, preflight
        if target.fingerprint != said.fingerprint:
            queries.remember_factors(session, said.fingerprint, dict(said.factors), at)
        target.factors, target.fingerprint = dict(said.factors), said.fingerprint
    if said.connection is None or said.connection.state != "absent":
        target.last_seen_at = at
    heard = life.hear(session, target, said, at)
    if news or _shown(target) != before:
        tell(session, target)
    return heard


def _takes_over(
    session: Session,
    target: Target,
    agent_id: str,
    said: TargetAnnounceIn,
    at: datetime,
) -> bool:
    """Whether a target that another agent drives is this one's from now on.

    A device: when this agent comes nearer to it than the other now does, and no job of the other holds it. A
    host, which two agents can only both be on: the later enrolled one, or whoever speaks while the other is
    silent.
    """
    silent = not is_online(target.last_seen_at, at)
    if target.kind == "host":
        return silent or agent_id > target.agent_id
    theirs = None if said.connection is None else said.connection.state
    if _nearness(theirs) <= (0 if silent else _nearness(target.connection)):
        return False
    return not queries.active_jobs(session, [target.id])


def _nearness(connection: str | None) -> int:
    """2: a job could run on it; 1: it is there and something is in the way; 0: it is not there."""
    return {"online": 2, "absent": 0, None: 0}.get(connection, 1)


def _of_another(
    session: Session, target: Target, said: TargetAnnounceIn
) -> TargetHeardOut:
    """The answer to an agent that knows a target another one drives: nothing is taken and nothing asked. What
    it says until it is heard counts as heard, or it would be said of another time when it drives it again."""
    names = queries.agent_names(session, {target.agent_id})
    heard = life.nothing_asked(target)
    heard.driven_by = names.get(target.agent_id, target.agent_id)
    heard.checks_heard = [] if said.check is None else [said.check.id]
    heard.recovery_heard = [one.id for one in said.recovery if one.id is not None]
    return heard


def _move(session: Session, target: Target, agent_id: str, at: datetime) -> None:
    before, target.agent_id = target.agent_id, agent_id
    log.warning(
        "target_moved", target_id=target.id, from_agent=before, to_agent=agent_id
    )
    ref = f"moved:{before}:{agent_id}"
    if not queries.event_exists(session, target.id, ref, since=at - SAY_MOVED_AGAIN):
        evidence = {"from": before, "to": agent_id}
        keep(session, target, "connection", "moved", evidence=evidence, ref=ref)


def _shown(target: Target) -> tuple[object, ...]:
    """What a heartbeat may change of what people see at a glance."""
    return (
        target.agent_id,
        target.refuses,
        target.connection,
        target.connection_reason,
        target.health,
        target.health_reason,
        tuple(target.configuration),
    )
