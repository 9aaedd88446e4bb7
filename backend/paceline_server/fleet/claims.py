"""Records claims: an agent claims a target that it reaches while the target is bound to another agent.

    open ──a person moves the target──▶ moved ──the agent claims it again──▶ open
      └───a person keeps it where it is──▶ dismissed

A claim is reported as an incident once, not with every heartbeat. What a claiming agent reports about the target is
not stored. A host is rarely claimed: an agent that names its host when it enrols is refused at once if the host belongs
to another agent.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.fleet import agent_audit, grants, queries
from paceline_server.fleet.schemas import TargetRefusedOut
from paceline_server.fleet.target_events import SYSTEM, record_event
from paceline_server.fleet.target_views import publish_target
from paceline_server.kernel import clock
from paceline_server.kernel.errors import conflict, not_found
from paceline_server.kernel.ids import new_id
from paceline_server.store import incidents
from paceline_server.store.tables.fleet import Agent, Target, TargetClaim

LAST_AT_PRECISION = timedelta(minutes=1)
"""The time of the last claim is only as precise as this, so that not every heartbeat writes."""

REPORTED_FOR = timedelta(minutes=5)
"""The owner is told of claims made within this time. Agents repeat a claim with every heartbeat, so an older one is
over."""

ADVICE_FOR_TWINS = {
    "host": " If they are two machines with one machine-id, as clones of an image have, give one an id of its own: "
    "`systemd-machine-id-setup` after emptying /etc/machine-id, or `serial` under [agent] in its agent.toml.",
    "device": " If they are two phones with one serial number, as some makers sell them, plug in one at a time.",
}
"""Advice for two machines or devices that have the same identity, by kind of target."""


def refuse_taken_host(
    session: Session, agent: Agent, serial: str, replaces: str | None
) -> None:
    """Raise 409 `host_taken` if the host of an enrolling agent is bound to an agent other than the one it `replaces`.

    An agent whose grant excludes the host is not refused: it only drives devices there.
    """
    if not grants.may_announce_target(agent, "host", serial):
        return
    host = queries.target_identified(session, "host", serial)
    if host is None or host.agent_id == replaces:
        return
    raise conflict(
        f"host:{serial} belongs to the agent {_describe_owner(session, host, agent)}, and a host has one agent. To "
        "measure another repository on it, name the repository in the agent.toml of that agent (`make run "
        "REPOSITORY=PATH` does, if `make run` started it). To put this agent in its place, make a code with "
        f"`paceline-server enrolment-code --replaces {host.agent_id}`: this agent gets its targets, and that one is "
        f"revoked.{ADVICE_FOR_TWINS['host']}",
        "host_taken",
    )


def record_claim(
    session: Session, target: Target, agent: Agent, at: datetime
) -> TargetRefusedOut:
    """Record that `agent` reached a target of another agent, and return the refusal. The target must be locked."""
    claim = queries.claim_of(session, target.id, agent.id)
    if claim is None:
        claim = TargetClaim(
            id=new_id("clm"),
            target_id=target.id,
            agent_id=agent.id,
            state="open",
            first_at=at,
            last_at=at,
            decided_by=None,
            decided_at=None,
        )
        session.add(claim)
        _report_claim(session, target, agent)
    elif claim.state == "moved":
        # The target was moved to this agent, and to another one since.
        claim.state, claim.first_at, claim.last_at = "open", at, at
        claim.decided_by = claim.decided_at = None
        _report_claim(session, target, agent)
    elif at - claim.last_at >= LAST_AT_PRECISION:
        claim.last_at = at
    return TargetRefusedOut(
        kind=target.kind,
        serial=target.serial,
        why=f"It belongs to the agent {_describe_owner(session, target, agent)}. An admin of the installation can move "
        f"it to this agent, on the page Agents or with `paceline-server agent move`."
        f"{ADVICE_FOR_TWINS.get(target.kind, '')}",
    )


def _describe_owner(session: Session, target: Target, agent: Agent) -> str:
    """Return the name of the agent that `target` is bound to, with its id where `agent` has the same name."""
    owner = queries.agent_names(session, {target.agent_id}).get(target.agent_id, "")
    return f"{owner!r} ({target.agent_id})" if owner == agent.name else repr(owner)


def describe_claims(
    session: Session, owner: Agent, at: datetime
) -> dict[str, list[str]]:
    """Return, by target id, sentences that say which other agents reach targets of `owner` now and what to do."""
    claims = queries.open_claims(session, owner.id, at - REPORTED_FOR)
    if not claims:
        return {}
    names = queries.agent_names(session, {claim.agent_id for claim, _ in claims})
    sentences: dict[str, list[str]] = {}
    for claim, target in claims:
        sentences.setdefault(target.id, []).append(
            f"The agent {names[claim.agent_id]!r} ({claim.agent_id}) reaches {target.kind}:{target.serial}, too, and is "
            "refused. An admin of the installation can move it there, on the page Agents or with "
            f"`paceline-server agent move`.{ADVICE_FOR_TWINS.get(target.kind, '')}"
        )
    return sentences


def _report_claim(session: Session, target: Target, agent: Agent) -> None:
    detail = {
        "target_id": target.id,
        "kind": target.kind,
        "serial": target.serial,
        "agent_id": target.agent_id,
        "claimed_by": agent.id,
    }
    incidents.report(session, incidents.TARGET_CLAIMED, detail)
    record_event(
        session,
        target,
        "connection",
        "claimed",
        reason=f"{agent.name} reaches it, too",
        evidence={"agent_id": agent.id},
        actor=SYSTEM,
    )


def move_claimed_target(session: Session, claim_id: str, actor: str) -> Target:
    """Bind the target of a claim to the agent that claims it, and grant that agent the target's projects.
    Raises 404; 409 `claim_decided`, `target_busy` or `agent_revoked`."""
    claim = _lock_open_claim(session, claim_id)
    # A heartbeat locks them in the same order.
    agent = queries.lock_agent(session, claim.agent_id)
    target = queries.lock_target(session, claim.target_id)
    if agent.revoked_at is not None:
        raise conflict(
            f"The agent {agent.name!r} is revoked: it gets no targets.", "agent_revoked"
        )
    if queries.active_jobs(session, [target.id]):
        raise conflict(
            "A job runs on this target: wait for its end, or cancel it.", "target_busy"
        )
    before, at = target.agent_id, clock.now()
    target.agent_id, target.bound_at = agent.id, at
    agent.granted_projects = sorted(
        {*agent.granted_projects, *queries.projects_of_target(session, target.id)}
    )
    _decide(claim, "moved", actor, at)
    record_event(
        session,
        target,
        "connection",
        "moved",
        evidence={"from": before, "to": agent.id},
        actor=actor,
    )
    agent_audit.record_target(session, target, actor, "claim.move", {"to": agent.name})
    publish_target(session, target)
    return target


def dismiss_claim(session: Session, claim_id: str, actor: str) -> Target:
    """Leave the target with its agent; the claim is not reported again. Raises 404, 409 `claim_decided`."""
    claim = _lock_open_claim(session, claim_id)
    target = queries.lock_target(session, claim.target_id)
    _decide(claim, "dismissed", actor, clock.now())
    names = queries.agent_names(session, {claim.agent_id})
    agent_audit.record_target(
        session, target, actor, "claim.dismiss", {"claimed_by": names[claim.agent_id]}
    )
    return target


def _lock_open_claim(session: Session, claim_id: str) -> TargetClaim:
    claim = queries.lock_claim(session, claim_id)
    if claim is None:
        raise not_found("claim", claim_id)
    if claim.state != "open":
        raise conflict(
            f"The claim was decided by {claim.decided_by}: it is {claim.state}.",
            "claim_decided",
        )
    return claim


def _decide(claim: TargetClaim, state: str, actor: str, at: datetime) -> None:
    claim.state, claim.decided_by, claim.decided_at = state, actor, at
