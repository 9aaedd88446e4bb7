"""What is written when something happens to a device: its health, its connection, its readings, their events.

Place: under `service.heartbeat` and `actions`, above `health` (which decides) and `queries`; jobs call
`attempt_failed` and `run_succeeded`. Invariants: the caller holds the target's row lock; health changes only
through `apply`, each change with an event that has the evidence, in the same transaction; what an agent says
twice (its answer was lost) is kept once. Asks no agent anything: the next heartbeat does.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.orm import Session

from paceline_server.fleet import health, orders, queries, words
from paceline_server.fleet.device_schemas import CheckIn, GatesIn, RecoveryIn
from paceline_server.fleet.events import AGENT, SYSTEM, keep
from paceline_server.fleet.schemas import (
    OrderForAgentOut,
    TargetAnnounceIn,
    TargetHeardOut,
)
from paceline_server.kernel import clock
from paceline_server.store.tables.fleet import Target, TargetEvent, TargetReading

log = structlog.get_logger("paceline.fleet")

READING_EVERY = timedelta(minutes=10)
"""A reading that did not change is kept this often: a track then shows that the device was there."""
SAME_READING = timedelta(seconds=1)
"""Two ages of one reading, told by two heartbeats, differ by what the network took; the agent reads every
minute."""
CHANGE_C, CHANGE_PERCENT, CHANGE_BYTES = 1.0, 5.0, 1 << 30
"""Changes from which on a reading is kept at once: °C, percent of charge, bytes of free storage."""


def health_of(target: Target) -> health.Health:
    """What the row says, as the machine has it."""
    return health.Health(
        state=target.health,  # type: ignore[arg-type]  # only `apply` writes it
        reason=target.health_reason,
        failures=target.failures,
        checked=target.checked,
        check_after=target.check_after,
        held_for=tuple(target.held_for),  # type: ignore[arg-type]  # likewise
    )


def apply(
    session: Session,
    target: Target,
    event: health.Event,
    name: str,
    *,
    evidence: dict[str, Any] | None = None,
    actor: str = AGENT,
    always: bool = False,
    quiet: bool = False,
    ref: str | None = None,
) -> bool:
    """Take a step of the health machine; True when the state is another. An event is kept of a change of
    state or of the count of failures, else only with `always`; with `quiet` never."""
    before = health_of(target)
    after = health.step(before, event)
    at = clock.now()
    target.health, target.health_reason, target.failures = (
        after.state,
        after.reason,
        after.failures,
    )
    target.checked, target.check_after, target.held_for = (
        after.checked,
        after.check_after,
        list(after.held_for),
    )
    if after.state != before.state:
        target.health_since = at
        log.info(
            "target_health",
            target_id=target.id,
            before=before.state,
            after=after.state,
            because=name,
        )
    if not quiet and (
        always or (before.state, before.failures) != (after.state, after.failures)
    ):
        said = dict(evidence or {}, failures=after.failures)
        keep(
            session,
            target,
            "health",
            name,
            states=(before.state, after.state),
            reason=after.reason,
            evidence=said,
            actor=actor,
            ref=ref,
        )
    return after.state != before.state


def nothing_asked(target: Target) -> TargetHeardOut:
    """The answer about a target of which nothing is asked."""
    return TargetHeardOut(
        kind=target.kind,  # type: ignore[arg-type]  # of the wire's two: a heartbeat made the row
        serial=target.serial,
        target_id=target.id,
        health=health_of(target).state,
        check_due=False,
        orders=[],
        checks_heard=[],
        recovery_heard=[],
    )


def hear(
    session: Session, target: Target, said: TargetAnnounceIn, at: datetime
) -> TargetHeardOut:
    """What a heartbeat says of the life of a target, and what its agent is asked in return."""
    heard = nothing_asked(target)
    if target.kind != "device":
        return heard
    _connect(session, target, said, at)
    if said.reached and said.configuration is not None:
        target.configuration = sorted(set(said.configuration))
    if said.check is not None:
        _take_check(session, target, said.check, at)
        heard.checks_heard.append(said.check.id)
    if said.reached and said.gates is not None:
        _take_gates(session, target, said.gates, at)
    for one in said.recovery:
        _take_recovery(session, target, one, at)
        heard.recovery_heard += [] if one.id is None else [one.id]
    orders.answered(session, target, said.orders_done, said.orders_refused, at)
    waiting = orders.waiting(session, target.id, at)
    held = words.in_maintenance(target, at)
    if target.connection == "online" and not held:
        _ask(session, target, at)
    heard.health = health_of(target).state
    heard.orders = [
        OrderForAgentOut.model_validate(one, from_attributes=True) for one in waiting
    ]
    due = heard.health == "checking" and not held
    heard.check_due = due or any(one.kind == "check" for one in waiting)
    return heard


def _ask(session: Session, target: Target, at: datetime) -> None:
    """A check falls due. That a device which was in no state to measure is looked at again is no news: it
    would be, every five minutes."""
    again = target.health == "unknown" and target.check_after is not None
    apply(session, target, health.Ask(at), "check_asked", actor=SYSTEM, quiet=again)


def _connect(
    session: Session, target: Target, said: TargetAnnounceIn, at: datetime
) -> None:
    """Connection and boot id, with an event for what changed."""
    now = said.connection
    if now is not None:
        if now.state != target.connection:
            event = "connected" if now.state == "online" else "disconnected"
            event = (
                event if "online" in (now.state, target.connection) else "connection"
            )
            evidence = {"route": now.route, "advice": now.advice}
            states = (target.connection, now.state)
            keep(
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
    if said.reached and said.boot_id is not None and said.boot_id != target.boot_id:
        if target.boot_id is not None:
            evidence = {"before": target.boot_id, "after": said.boot_id}
            keep(session, target, "connection", "rebooted", evidence=evidence)
            apply(session, target, health.Rebooted(), "rebooted", evidence=evidence)
        target.boot_id = said.boot_id


def _take_check(session: Session, target: Target, said: CheckIn, at: datetime) -> None:
    """A health check that ended; the same one said again is answered, not counted again."""
    ref = f"check:{said.id}"
    if queries.event_exists(session, target.id, ref):
        return
    began = at - timedelta(milliseconds=said.started_at_ms_ago)
    shown = {
        **said.model_dump(exclude={"raw", "started_at_ms_ago"}),
        "at": began.isoformat(),
    }
    target.last_check = shown
    target.last_check_raw = [one.model_dump() for one in said.raw]
    wrong = [step for step in said.steps if step.ok is False]
    texts = [f"{one.name}: {one.text}" if one.text else one.name for one in wrong]
    why = ("; ".join(texts) or "it did not end well")[:500]
    name = "check_passed" if said.ok else "check_failed"
    evidence: dict[str, Any] = {
        "check": shown,
        "steps": sorted(one.name for one in wrong),
    }
    if (
        not said.ok
        and said.infrastructure
        and _in_somebodys_hands(session, target, began, at)
    ):
        evidence["counted"] = False
        keep(
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
        health.CheckPassed()
        if said.ok
        else health.CheckFailed(at, said.infrastructure, why)
    )
    last = queries.newest_event(session, target.id, "health")
    states = (target.health, target.failures)
    apply(session, target, event, name, quiet=True)
    reason = target.health_reason
    evidence["failures"] = target.failures
    before, after = states[0], target.health
    if last is not None and _is_repeated(last, name, (before, after), evidence):
        since = last.evidence.get("since", last.at.isoformat())
        evidence |= {"times": last.evidence.get("times", 1) + 1, "since": since}
        last.at, last.ref, last.reason, last.evidence = at, ref, reason, evidence
        return
    keep(
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
    """Whether a check ended just as the one before it, with nothing between: then that is kept once, counted,
    with the newest evidence. A device with full storage is checked every five minutes, for weeks."""
    same = (last.event, last.from_state, last.to_state) == (name, *states)
    return same and all(
        last.evidence.get(key) == evidence[key] for key in ("steps", "failures")
    )


def _in_somebodys_hands(
    session: Session, target: Target, began: datetime, at: datetime
) -> bool:
    """Whether a person had it in maintenance while a check that began then ran."""
    if words.in_maintenance(target, at):
        return True
    last = queries.newest_event(session, target.id, "maintenance")
    return last is not None and last.to_state == "off" and last.at > began


def _take_gates(session: Session, target: Target, said: GatesIn, at: datetime) -> None:
    read = said.model_dump(exclude={"ms_ago"})
    taken_at = at if said.ms_ago is None else at - timedelta(milliseconds=said.ms_ago)
    if target.gates is not None and target.gates_at is not None:
        newer = said.ms_ago is not None and taken_at > target.gates_at + SAME_READING
        if not newer and (
            read == target.gates or taken_at < target.gates_at - SAME_READING
        ):
            return
        taken_at = max(taken_at, target.gates_at)
    if _worth_keeping(said, queries.newest_reading(session, target.id), taken_at):
        session.add(TargetReading(target_id=target.id, at=taken_at, **read))
    target.gates, target.gates_at = read, taken_at
    event = health.GatesRead(
        said.battery_c, said.battery_percent, said.thermal_status, said.free_bytes
    )
    apply(session, target, event, "gates_read", evidence={"gates": read})


def _worth_keeping(said: GatesIn, last: TargetReading | None, at: datetime) -> bool:
    if last is None or at - last.at >= READING_EVERY:
        return True
    if last.at >= at:
        return False
    if (last.charging, last.thermal_status) != (said.charging, said.thermal_status):
        return True
    steps = (
        (last.battery_c, said.battery_c, CHANGE_C),
        (last.battery_percent, said.battery_percent, CHANGE_PERCENT),
        (last.free_bytes, said.free_bytes, CHANGE_BYTES),
    )
    return any(_changed(before, now, enough) for before, now, enough in steps)


def _changed(before: float | None, now: float | None, enough: float) -> bool:
    if before is None or now is None:
        return before is not now
    return abs(now - before) >= enough


def _take_recovery(
    session: Session, target: Target, said: RecoveryIn, at: datetime
) -> None:
    ref = None if said.id is None else f"recovery:{said.id}"
    if ref is not None and queries.event_exists(session, target.id, ref):
        return
    when = at - timedelta(milliseconds=said.ms_ago)
    evidence: dict[str, Any] = {"step": said.step, "ok": said.ok}
    if said.order_id is not None:
        evidence["order_id"] = said.order_id
    keep(
        session,
        target,
        "recovery",
        "recovery_step",
        reason=f"{said.step}: {said.text}".rstrip(": "),
        evidence=evidence,
        ref=ref,
        at=when,
    )
    if said.step == "give_up":
        why = said.text or "nothing brought it back"
        apply(session, target, health.GaveUp(why), "gave_up", evidence=evidence)


DEVICE_CAUSES = frozenset(
    {
        "device_lost",
        "device_rebooted",
        "device_refused",
        "device_storage_full",
        "device_unauthorized",
    }
)
"""Causes of a failed attempt that are about the device: they make a health check due. No other cause does.
`placing_failed` is not one: a device that answers and lists its files works, and its rules may set modes."""


def attempt_failed(
    session: Session,
    target_id: str,
    cause: str,
    detail: str | None,
    *,
    job_id: str,
    attempt: int,
) -> bool:
    """An attempt ended with a cause; when that is about the device its health suffers. True then. Failures of
    benchmarks never touch it, and a host has no health."""
    if (
        cause not in DEVICE_CAUSES
        or queries.kind_and_failures(session, target_id)[0] != "device"
    ):
        return False
    target = queries.lock_target(session, target_id)
    why = cause.replace("_", " ")
    why = f"{why}: {detail.splitlines()[0][:300]}" if detail else why
    evidence = {
        "job_id": job_id,
        "attempt": attempt,
        "cause": cause,
        "detail": (detail or "")[:1000],
    }
    event = health.InfrastructureFailed(clock.now(), why)
    apply(
        session, target, event, "infrastructure_failed", evidence=evidence, actor=SYSTEM
    )
    return True


def run_succeeded(session: Session, target_id: str, job_id: str) -> None:
    """A job measured to its end on this target: earlier failures count no more. Locks only where there were
    some: the end of a job must not wait for whoever else looks at its target."""
    if queries.kind_and_failures(session, target_id)[1] == 0:
        return
    target = queries.lock_target(session, target_id)
    evidence = {"job_id": job_id}
    apply(
        session,
        target,
        health.RunSucceeded(),
        "run_succeeded",
        evidence=evidence,
        actor=SYSTEM,
    )
