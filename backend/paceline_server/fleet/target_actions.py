"""Carries out what people decide about a target: maintenance, quarantine, release, recheck, restart.

Every action leaves a target event and an audit entry that name the person. Maintenance is independent of
health: ending it does not end a quarantine.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from paceline_server.fleet import device_orders, health, queries
from paceline_server.fleet.device_health import apply_health_event
from paceline_server.fleet.device_schemas import MaintenanceIn, OrderKind
from paceline_server.fleet.imported_targets import REFUSAL
from paceline_server.fleet.target_events import record_event
from paceline_server.fleet.target_state import is_in_maintenance
from paceline_server.fleet.target_views import publish_target
from paceline_server.kernel import clock
from paceline_server.kernel.errors import conflict, invalid_request, not_found
from paceline_server.store import audit
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target


def set_maintenance(
    session: Session, target_id: str, spec: MaintenanceIn, who: str
) -> Target:
    """Put a target into maintenance, until `spec.until` if given, or take it out again; its health stays.

    Raises 404, 409 `no_agent`, and 400 for an `until` in the past.
    """
    target, at = _lock_target(session, target_id), clock.now()
    if spec.on:
        _refuse_without_agent(target)
    if spec.on and spec.until is not None and spec.until <= at:
        raise invalid_request(
            "until: this instant is in the past.",
            {"until": "give an instant in the future"},
        )
    was_on = is_in_maintenance(target, at)
    if not spec.on and target.maintenance_by is None:
        return target
    target.maintenance_by = who if spec.on else None
    target.maintenance_reason = spec.reason if spec.on else None
    target.maintenance_until = spec.until if spec.on else None
    target.maintenance_since = (
        (target.maintenance_since if was_on else at) if spec.on else None
    )
    event = "maintenance_on" if spec.on else "maintenance_off"
    until = None if spec.until is None or not spec.on else spec.until.isoformat()
    states = ("on" if was_on else "off", "on" if spec.on else "off")
    record_event(
        session,
        target,
        "maintenance",
        event,
        states=states,
        reason=spec.reason,
        evidence={"until": until},
        actor=who,
    )
    _audit(session, who, event, target, {"reason": spec.reason, "until": until})
    publish_target(session, target)
    return target


def quarantine(session: Session, target_id: str, reason: str, who: str) -> Target:
    """Keep a device from getting jobs until a person releases it. Raises 404, 409 `not_a_device`."""
    target = _lock_device(session, target_id)
    event = health.QuarantineDecision(reason)
    apply_health_event(
        session, target, event, "quarantine", actor=who, record_unchanged=True
    )
    _audit(session, who, "quarantine", target, {"reason": reason})
    publish_target(session, target)
    return target


def release(session: Session, target_id: str, reason: str, who: str) -> Target:
    """Let a device out of quarantine: it is checked before it gets a job. Raises 404, 409 `not_a_device`,
    `not_quarantined`."""
    target = _lock_device(session, target_id)
    if target.health != "quarantined":
        raise conflict(
            f"{target.name} is not in quarantine: it is {target.health}.",
            "not_quarantined",
        )
    evidence = {"was": target.health_reason, "reason": reason}
    event = health.ReleaseDecision()
    apply_health_event(session, target, event, "release", actor=who, evidence=evidence)
    _audit(session, who, "release", target, {"reason": reason})
    publish_target(session, target)
    return target


def recheck(session: Session, target_id: str, who: str) -> Target:
    """Request a health check as soon as no job holds the device. Raises 404, 409 `not_a_device`."""
    target = _lock_device(session, target_id)
    _request_order(session, target, "check", who)
    apply_health_event(session, target, health.RecheckRequest(), "recheck", actor=who)
    publish_target(session, target)
    return target


def reboot(session: Session, target_id: str, who: str) -> Target:
    """Request a restart as soon as no job holds the device. Raises 404, 409 `not_a_device`, `too_many_reboots`."""
    target, at = _lock_device(session, target_id), clock.now()
    pending = queries.pending_orders(session, [target.id], at)
    if any(order.kind == "reboot" for order in pending):
        return target
    if device_orders.reboots_left(session, [target.id], at)[target.id] == 0:
        raise conflict(
            f"{target.name} was restarted {device_orders.MAX_REBOOTS} times within a day; another restart will "
            "not help. Look at its evidence, or restart it by hand.",
            "too_many_reboots",
        )
    _request_order(session, target, "reboot", who)
    publish_target(session, target)
    return target


def _request_order(session: Session, target: Target, kind: OrderKind, who: str) -> None:
    order, is_new = device_orders.request_order(session, target, kind, who)
    if is_new:
        evidence = {"order_id": order.id}
        record_event(
            session,
            target,
            "order",
            "order_requested",
            reason=kind,
            evidence=evidence,
            actor=who,
        )
        _audit(session, who, "recheck" if kind == "check" else "reboot", target, {})


def _audit(
    session: Session, who: str, action: str, target: Target, detail: dict[str, Any]
) -> None:
    audit.record(
        session,
        who,
        f"target.{action}",
        "target",
        target.id,
        {"name": target.name, **detail},
    )


def _lock_target(session: Session, target_id: str) -> Target:
    if queries.target(session, target_id) is None:
        raise not_found("target", target_id)
    return queries.lock_target(session, target_id)


def _refuse_without_agent(target: Target) -> None:
    """Raise 409 `no_agent` for a target of which only imports tell: it never gets a job."""
    if target.agent_id == IMPORTS_AGENT:
        raise conflict(f"{target.name} gets no jobs: {REFUSAL}.", "no_agent")


def _lock_device(session: Session, target_id: str) -> Target:
    """Lock a device. Raises 404, 409 `no_agent`, `not_a_device`."""
    target = _lock_target(session, target_id)
    _refuse_without_agent(target)
    if target.kind != "device":
        raise conflict(
            f"{target.name} is a host: only devices have health checks and restarts. To keep a host from "
            "getting jobs, put it into maintenance.",
            "not_a_device",
        )
    return target
