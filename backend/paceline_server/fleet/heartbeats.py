"""Handles what a heartbeat reports about an agent's targets and answers what the agent should do.

All target rows of a heartbeat are locked, in order of id, before any is changed. A target is bound to the first agent
that reached it; another one that reaches it is refused and leaves a claim (`claims.py`), which a person decides. A
report that is sent again because the response was lost is stored once. Health is decided in `health.py` and written by
`device_health.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.orm import Session

from paceline_server.fleet import claims, device_orders, health, queries
from paceline_server.fleet.device_health import apply_health_event, health_of
from paceline_server.fleet.device_schemas import CheckIn, ReadingsIn, RecoveryIn
from paceline_server.fleet.schemas import (
    AgentOrderOut,
    TargetAnnouncementIn,
    TargetRefusedOut,
    TargetReplyOut,
)
from paceline_server.fleet.target_events import SYSTEM, record_event
from paceline_server.fleet.target_state import is_in_maintenance, is_online
from paceline_server.fleet.target_views import publish_target
from paceline_server.kernel.ids import new_id
from paceline_server.store.tables.fleet import Agent, Target, TargetEvent, TargetReading

log = structlog.get_logger("paceline.fleet")

READING_EVERY = timedelta(minutes=10)
"""An unchanged reading is stored this often, so that a chart shows that the device was connected."""
MAX_FINDING = 500
"""Characters of a finding's text; agents keep the same limit."""
SAME_READING = timedelta(seconds=1)
"""Reports of one reading may differ in time by this much, because of network delays; agents read once a minute."""
CHANGE_C, CHANGE_PERCENT, CHANGE_BYTES = 1.0, 5.0, 1 << 30
"""A reading that changed by this much is stored at once: °C, percent of charge, bytes of free storage."""


def handle_targets(
    session: Session,
    agent: Agent,
    targets: Sequence[TargetAnnouncementIn],
    at: datetime,
    *,
    was_online: bool,
    claim_sentences: Mapping[str, Sequence[str]],
) -> tuple[list[TargetReplyOut], list[TargetRefusedOut]]:
    """Store what an agent reports about its targets. Returns the replies, and refusals of targets that belong to
    other agents.

    `was_online`: whether the agent was online before this heartbeat. `claim_sentences`: about claims of other agents,
    by target id.
    """
    agent_id = agent.id
    reports = sorted(targets, key=lambda target: (target.kind, target.serial))
    for report in reports:
        values = _new_target(agent_id, report, at)
        if queries.insert_once(session, Target, values):
            for project_id in agent.granted_projects:
                queries.grant(session, [values["id"]], project_id, at)
    rows = queries.lock_announced(
        session, [(report.kind, report.serial) for report in reports]
    )
    replies, refused = [], []
    for report in reports:
        target = rows[report.kind, report.serial]
        changed = not was_online
        if target.agent_id != agent_id:
            if not _may_take_unbound(target, report, at):
                replies.append(_reply_of_other_agent(session, target, report))
                if report.reached:
                    refused.append(claims.record_claim(session, target, agent, at))
                continue
            _give_unbound(session, target, agent, at)
            changed = True
        if target.bound_at is None and report.reached:
            target.bound_at = at
        replies.append(
            _handle_target(
                session,
                target,
                report,
                at,
                changed=changed,
                claim_sentences=claim_sentences.get(target.id, ()),
            )
        )
    return replies, refused


def _new_target(
    agent_id: str, report: TargetAnnouncementIn, at: datetime
) -> dict[str, Any]:
    return {
        "id": new_id("tgt"),
        "kind": report.kind,
        "serial": report.serial,
        "name": report.name,
        "agent_id": agent_id,
        "refuses": None,
        "factors": {},
        "fingerprint": "",
        "preflight": [],
        "simulated": report.simulated,
        "last_seen_at": None,
        "created_at": at,
    }


def _handle_target(
    session: Session,
    target: Target,
    report: TargetAnnouncementIn,
    at: datetime,
    *,
    changed: bool,
    claim_sentences: Sequence[str],
) -> TargetReplyOut:
    before = _visible_state(target)
    changed = changed or not is_online(target.last_seen_at, at)
    target.refuses, target.simulated = report.refuses, report.simulated
    if report.reached or not target.fingerprint:
        preflight = [finding.model_dump() for finding in report.preflight]
        preflight += _claim_findings(preflight, claim_sentences)
        changed = changed or target.preflight != preflight
        target.name, target.preflight = report.name, preflight
        if target.fingerprint != report.fingerprint:
            queries.remember_factors(
                session, report.fingerprint, dict(report.factors), at
            )
        target.factors, target.fingerprint = dict(report.factors), report.fingerprint
    if report.connection is None or report.connection.state != "absent":
        target.last_seen_at = at
    reply = _handle_device(session, target, report, at)
    if changed or _visible_state(target) != before:
        publish_target(session, target)
    return reply


def _claim_findings(
    preflight: Sequence[Mapping[str, Any]], claim_sentences: Sequence[str]
) -> list[dict[str, Any]]:
    """Return a finding for each claim that the agent did not report among the preflight findings itself."""
    known = {finding["text"] for finding in preflight}
    texts = [sentence[:MAX_FINDING] for sentence in claim_sentences]
    return [
        {"code": "identity", "level": "warning", "text": text, "advice": None}
        for text in texts
        if text not in known
    ]


def _may_take_unbound(
    target: Target, report: TargetAnnouncementIn, at: datetime
) -> bool:
    """Return whether a target that no agent has reached yet goes to the reporting agent, which is better connected."""
    if target.bound_at is not None:
        return False
    silent = not is_online(target.last_seen_at, at)
    offered = _connection_rank(
        None if report.connection is None else report.connection.state
    )
    return offered > (0 if silent else _connection_rank(target.connection))


def _connection_rank(connection: str | None) -> int:
    """Return 2 if a job could run on it, 1 if it is connected but not usable, 0 if it is absent."""
    return {"online": 2, "absent": 0, None: 0}.get(connection, 1)


def _reply_of_other_agent(
    session: Session, target: Target, report: TargetAnnouncementIn
) -> TargetReplyOut:
    """Return the reply about a target that another agent drives: it requests nothing, and nothing is stored.

    The agent's checks and recovery steps are acknowledged, so that it does not send them later, when it drives the
    target again.
    """
    names = queries.agent_names(session, {target.agent_id})
    reply = _reply_without_requests(target)
    reply.driven_by = names.get(target.agent_id, target.agent_id)
    reply.checks_heard = [] if report.check is None else [report.check.id]
    reply.recovery_heard = [step.id for step in report.recovery if step.id is not None]
    return reply


def _give_unbound(session: Session, target: Target, agent: Agent, at: datetime) -> None:
    """Give a target that no agent has reached yet to another agent and its projects."""
    log.info(
        "target_given", target_id=target.id, before=target.agent_id, after=agent.id
    )
    target.agent_id = agent.id
    queries.withdraw_from_projects(session, target.id)
    for project_id in agent.granted_projects:
        queries.grant(session, [target.id], project_id, at)


def _visible_state(target: Target) -> tuple[object, ...]:
    """Return the fields that a heartbeat may change and that live events show."""
    return (
        target.agent_id,
        target.refuses,
        target.connection,
        target.connection_reason,
        target.health,
        target.health_reason,
        tuple(target.configuration),
    )


def _reply_without_requests(target: Target) -> TargetReplyOut:
    return TargetReplyOut(
        kind=target.kind,  # type: ignore[arg-type]  # a heartbeat made the row
        serial=target.serial,
        target_id=target.id,
        health=health_of(target).state,
        check_due=False,
        orders=[],
        checks_heard=[],
        recovery_heard=[],
    )


def _handle_device(
    session: Session, target: Target, report: TargetAnnouncementIn, at: datetime
) -> TargetReplyOut:
    """Store a device's connection, checks, readings and orders. Returns what its agent should do next."""
    reply = _reply_without_requests(target)
    if target.kind != "device":
        return reply
    _update_connection(session, target, report, at)
    if report.reached and report.configuration is not None:
        target.configuration = sorted(set(report.configuration))
    if report.check is not None:
        _store_check(session, target, report.check, at)
        reply.checks_heard.append(report.check.id)
    if report.reached and report.gates is not None:
        _store_readings(session, target, report.gates, at)
    for step in report.recovery:
        _store_recovery_step(session, target, step, at)
        reply.recovery_heard += [] if step.id is None else [step.id]
    device_orders.end_answered_orders(
        session, target, report.orders_done, report.orders_refused, at
    )
    orders = queries.pending_orders(session, [target.id], at)
    in_maintenance = is_in_maintenance(target, at)
    if target.connection == "online" and not in_maintenance:
        # A device that is full is checked every five minutes, and only the first such check is an event.
        is_repeat = target.health == "unknown" and target.check_after is not None
        event = health.CheckOpportunity(at)
        apply_health_event(
            session, target, event, "check_asked", actor=SYSTEM, quiet=is_repeat
        )
    reply.health = health_of(target).state
    reply.orders = [
        AgentOrderOut.model_validate(order, from_attributes=True) for order in orders
    ]
    is_due = reply.health == "checking" and not in_maintenance
    reply.check_due = is_due or any(order.kind == "check" for order in orders)
    return reply


def _update_connection(
    session: Session, target: Target, report: TargetAnnouncementIn, at: datetime
) -> None:
    """Store a device's connection and boot id, and record an event for each that changed."""
    now = report.connection
    if now is not None:
        if now.state != target.connection:
            event = "connected" if now.state == "online" else "disconnected"
            event = (
                event if "online" in (now.state, target.connection) else "connection"
            )
            evidence = {"route": now.route, "advice": now.advice}
            states = (target.connection, now.state)
            record_event(
                session,
                target,
                "connection",
                event,
                states=states,
                reason=now.reason,
                evidence=evidence,
            )
            target.connection_since = at
        target.connection, target.connection_reason = now.state, now.reason
        target.connection_advice, target.connection_route = now.advice, now.route
    if (
        report.reached
        and report.boot_id is not None
        and report.boot_id != target.boot_id
    ):
        if target.boot_id is not None:
            evidence = {"before": target.boot_id, "after": report.boot_id}
            record_event(session, target, "connection", "rebooted", evidence=evidence)
            apply_health_event(
                session, target, health.Reboot(), "rebooted", evidence=evidence
            )
        target.boot_id = report.boot_id


def _store_check(
    session: Session, target: Target, report: CheckIn, at: datetime
) -> None:
    """Store a finished health check, once however often it is reported."""
    ref = f"check:{report.id}"
    if queries.event_exists(session, target.id, ref):
        return
    began = at - timedelta(milliseconds=report.started_at_ms_ago)
    shown = {
        **report.model_dump(exclude={"raw", "started_at_ms_ago"}),
        "at": began.isoformat(),
    }
    target.last_check = shown
    target.last_check_raw = [raw.model_dump() for raw in report.raw]
    failed = [step for step in report.steps if step.ok is False]
    texts = [f"{step.name}: {step.text}" if step.text else step.name for step in failed]
    why = ("; ".join(texts) or "it gave no reason")[:500]
    name = "check_passed" if report.ok else "check_failed"
    evidence: dict[str, Any] = {
        "check": shown,
        "steps": sorted(step.name for step in failed),
    }
    if (
        not report.ok
        and report.infrastructure
        and _was_in_maintenance(session, target, began, at)
    ):
        evidence["counted"] = False
        record_event(
            session,
            target,
            "health",
            name,
            reason=f"{why}; not counted: it was in maintenance",
            ref=ref,
            evidence=evidence,
        )
        return
    event: health.Event = (
        health.CheckPass()
        if report.ok
        else health.CheckFailure(at, report.infrastructure, why)
    )
    last = queries.newest_event(session, target.id, "health")
    states = (target.health, target.failures)
    apply_health_event(session, target, event, name, quiet=True)
    reason = target.health_reason
    evidence["failures"] = target.failures
    before, after = states[0], target.health
    if last is not None and _is_repeated(last, name, (before, after), evidence):
        since = last.evidence.get("since", last.at.isoformat())
        evidence |= {"times": last.evidence.get("times", 1) + 1, "since": since}
        last.at, last.ref, last.reason, last.evidence = at, ref, reason, evidence
        return
    record_event(
        session,
        target,
        "health",
        name,
        states=(before, after),
        reason=reason,
        evidence=evidence,
        ref=ref,
    )


def _is_repeated(
    last: TargetEvent, name: str, states: tuple[str, str], evidence: Mapping[str, Any]
) -> bool:
    """Return whether a check ended exactly as the event before it.

    Such checks are counted in one event with the newest evidence, because a full device may be checked every five
    minutes for weeks.
    """
    same = (last.event, last.from_state, last.to_state) == (name, *states)
    return same and all(
        last.evidence.get(key) == evidence[key] for key in ("steps", "failures")
    )


def _was_in_maintenance(
    session: Session, target: Target, since: datetime, at: datetime
) -> bool:
    """Return whether the target was in maintenance at some time in [since, at]."""
    if is_in_maintenance(target, at):
        return True
    last = queries.newest_event(session, target.id, "maintenance")
    return last is not None and last.to_state == "off" and last.at > since


def _store_readings(
    session: Session, target: Target, report: ReadingsIn, at: datetime
) -> None:
    read = report.model_dump(exclude={"ms_ago"})
    taken_at = (
        at if report.ms_ago is None else at - timedelta(milliseconds=report.ms_ago)
    )
    if target.gates is not None and target.gates_at is not None:
        newer = report.ms_ago is not None and taken_at > target.gates_at + SAME_READING
        if not newer and (
            read == target.gates or taken_at < target.gates_at - SAME_READING
        ):
            return
        taken_at = max(taken_at, target.gates_at)
    if _is_worth_keeping(report, queries.newest_reading(session, target.id), taken_at):
        session.add(TargetReading(target_id=target.id, at=taken_at, **read))
    target.gates, target.gates_at = read, taken_at
    event = health.DeviceReadings(
        report.battery_c,
        report.battery_percent,
        report.thermal_status,
        report.free_bytes,
    )
    apply_health_event(session, target, event, "gates_read", evidence={"gates": read})


def _is_worth_keeping(
    report: ReadingsIn, last: TargetReading | None, at: datetime
) -> bool:
    if last is None or at - last.at >= READING_EVERY:
        return True
    if last.at >= at:
        return False
    if (last.charging, last.thermal_status) != (report.charging, report.thermal_status):
        return True
    steps = (
        (last.battery_c, report.battery_c, CHANGE_C),
        (last.battery_percent, report.battery_percent, CHANGE_PERCENT),
        (last.free_bytes, report.free_bytes, CHANGE_BYTES),
    )
    return any(_has_changed(before, now, enough) for before, now, enough in steps)


def _has_changed(before: float | None, now: float | None, enough: float) -> bool:
    if before is None or now is None:
        return before is not now
    return abs(now - before) >= enough


def _store_recovery_step(
    session: Session, target: Target, report: RecoveryIn, at: datetime
) -> None:
    ref = None if report.id is None else f"recovery:{report.id}"
    if ref is not None and queries.event_exists(session, target.id, ref):
        return
    when = at - timedelta(milliseconds=report.ms_ago)
    evidence: dict[str, Any] = {"step": report.step, "ok": report.ok}
    if report.order_id is not None:
        evidence["order_id"] = report.order_id
    record_event(
        session,
        target,
        "recovery",
        "recovery_step",
        reason=f"{report.step}: {report.text}".rstrip(": "),
        evidence=evidence,
        ref=ref,
        at=when,
    )
    if report.step == "give_up":
        why = report.text or "nothing brought it back"
        event = health.RecoveryFailure(why)
        apply_health_event(session, target, event, "gave_up", evidence=evidence)
