"""Says which agents are silent for longer than their owner allows.

Silence is derived from stored rows alone, so every process comes to the same answer. It counts from the last
heartbeat or the end of the last maintenance, whichever is later, and only while the API was up: a server that was
down, or asleep with its machine, heard nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.fleet.target_state import is_in_maintenance
from paceline_server.kernel import clock, settings
from paceline_server.store.session import session_scope
from paceline_server.store.tables.fleet import Agent, Target

KEEP_UPTIMES = timedelta(days=400)
"""The longest limit is 90 days of uptime; a server that is up for a quarter of the time remembers as many."""


@dataclass(frozen=True)
class Uptime:
    """The times in which the API was up, as (since, until), the oldest first."""

    periods: Sequence[tuple[datetime, datetime]]

    def time_since(self, instant: datetime) -> timedelta:
        """Return for how long the API has been up since an instant."""
        total = timedelta()
        for since, until in reversed(self.periods):
            if until <= instant:
                break
            total += until - max(since, instant)
        return total


@dataclass(frozen=True)
class SilentAgent:
    """An agent that was last heard of at `heard_at` and may be silent for `limit`."""

    agent: Agent
    heard_at: datetime
    limit: timedelta


def note_uptime() -> None:
    """Store that the API is up. Each process that serves it calls this twice per heartbeat of an agent; a gap of more
    than one heartbeat begins a new uptime, because agents may have gone offline in it."""
    at = clock.now()
    longest_gap = timedelta(seconds=settings.current().heartbeat_s)
    with session_scope() as session:
        newest = queries.newest_uptime(session, lock=True)
        if newest is not None and at - newest.seen_at <= longest_gap:
            newest.seen_at = max(at, newest.seen_at)
            return
        queries.begin_uptime(session, 1 if newest is None else newest.id + 1, at)
        queries.delete_uptimes(session, at - KEEP_UPTIMES)


def read_uptime(session: Session) -> Uptime:
    """Return the times in which the API was up."""
    return Uptime([(row.since, row.seen_at) for row in queries.uptimes(session)])


def has_heard_agents(session: Session, at: datetime) -> bool:
    """Return whether the API is up, and has been for so long that every agent at work has sent a heartbeat. One that is
    down counts as such before the first agent counts as offline."""
    newest = queries.newest_uptime(session)
    current = settings.current()
    return (
        newest is not None
        and at - newest.seen_at <= timedelta(seconds=2 * current.heartbeat_s)
        and at - newest.since > timedelta(seconds=current.offline_after_s)
    )


def silent_agents(
    session: Session, project_id: str, at: datetime
) -> Iterator[SilentAgent]:
    """Yield the agents with a target of a project that are silent for longer than allowed."""
    uptime = read_uptime(session)
    unheard = []
    for agent in queries.limited_agents(session, project_id):
        heard_at = agent.last_seen_at or agent.created_at
        limit = timedelta(seconds=agent.silence_limit_s or 0)
        if uptime.time_since(heard_at) > limit:
            unheard.append(SilentAgent(agent, heard_at, limit))
    if not unheard:
        return
    agent_ids = [silent.agent.id for silent in unheard]
    targets = queries.targets_by_agent(session, agent_ids)
    first_heard_at = min(silent.heard_at for silent in unheard)
    released = queries.maintenance_ends(session, agent_ids, first_heard_at)
    for silent in unheard:
        released_at = released.get(silent.agent.id)
        if is_excused(targets.get(silent.agent.id, []), at) or (
            released_at is not None and uptime.time_since(released_at) <= silent.limit
        ):
            continue
        yield silent


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
    if not queries.is_agent_granted(session, agent_id, project_id):
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
