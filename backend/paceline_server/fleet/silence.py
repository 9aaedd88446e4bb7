"""Says which agents are silent for longer than their owner allows.

Silence is derived from stored rows alone, so every process comes to the same answer. It counts from the last
heartbeat, the last maintenance or the beginning of the server's uptime, whichever is latest: a server that was down, or
asleep with its machine, heard nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.fleet.target_state import is_in_maintenance
from paceline_server.kernel import clock, settings
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.fleet import Agent, Target

UPTIME_EVERY = timedelta(minutes=1)
"""How often the uptime is stored: an idle server writes a row a minute."""
LONGEST_PAUSE = timedelta(minutes=5)
"""A longer pause begins a new uptime. An upgrade takes less, and no limit of silence is that short."""


@dataclass(frozen=True)
class SilentAgent:
    """An agent that was last heard of at `heard_at` and may be silent for `limit`."""

    agent: Agent
    heard_at: datetime
    limit: timedelta


def note_uptime() -> None:
    """Store that the server is up, at most once a minute."""
    at = clock.now()
    with read_scope() as session:
        uptime = queries.uptime(session)
        if uptime is not None and at - uptime.seen_at < UPTIME_EVERY:
            return
    with session_scope() as session:
        uptime = queries.uptime(session, lock=True)
        if uptime is None:
            queries.begin_uptime(session, at)
            return
        if at - uptime.seen_at > LONGEST_PAUSE:
            uptime.since = at
        uptime.seen_at = max(at, uptime.seen_at)


def up_since(session: Session) -> datetime | None:
    """Return since when the server is up without a long pause; None if nobody stored it yet."""
    uptime = queries.uptime(session)
    return None if uptime is None else uptime.since


def has_heard_agents(session: Session, at: datetime) -> bool:
    """Return whether the server has been up for so long that every agent at work has sent a heartbeat."""
    since = up_since(session)
    limit = timedelta(seconds=settings.current().offline_after_s)
    return since is not None and at - since > limit


def silent_agents(
    session: Session, project_id: str, at: datetime
) -> Iterator[SilentAgent]:
    """Yield the agents with a target of a project that are silent for longer than allowed."""
    since = up_since(session)
    if since is None:
        return
    for agent in queries.limited_agents(session, project_id):
        heard_at = agent.last_seen_at or agent.created_at
        limit = timedelta(seconds=agent.silence_limit_s or 0)
        if at - max(heard_at, since) <= limit:
            continue
        targets = queries.targets_of(session, agent.id)
        released_at = queries.last_maintenance_end(session, targets)
        if is_excused(targets, at) or (
            released_at is not None and at - released_at <= limit
        ):
            continue
        yield SilentAgent(agent, heard_at, limit)


def why_not_silent(
    session: Session, project_id: str, agent_id: str, heard_at: datetime, at: datetime
) -> str | None:
    """Return what ended the silence of an agent that was last heard of at `heard_at`; None if it is still silent."""
    agent = queries.agent(session, agent_id)
    if agent is None or agent.revoked_at is not None:
        return "the agent was revoked"
    if agent.last_seen_at is not None and agent.last_seen_at > heard_at:
        return f"it was heard of again at {agent.last_seen_at:%Y-%m-%d %H:%M} UTC"
    limit_s = agent.silence_limit_s
    if limit_s is None or at - heard_at <= timedelta(seconds=limit_s):
        return "its limit of silence was changed"
    if agent.id not in {
        agent.id for agent in queries.limited_agents(session, project_id)
    }:
        return "the project has no target of it any more"
    if is_excused(queries.targets_of(session, agent_id), at):
        return "its targets are in maintenance"
    return None


def is_excused(targets: list[Target], at: datetime) -> bool:
    """Return whether a person expects an agent to be silent: its host or all of its targets are in maintenance."""
    held = [target for target in targets if is_in_maintenance(target, at)]
    return bool(held) and (
        len(held) == len(targets) or any(target.kind == "host" for target in held)
    )
