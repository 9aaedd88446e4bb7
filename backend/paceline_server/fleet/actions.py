"""What people do about a target: maintenance, quarantine, release, a check, a restart.

Place: behind the fleet's routes, above `life` and `orders`. Invariants: every action leaves an event of the
target and an entry of the audit log, with who; maintenance is independent of health, so ending it lets nobody
out of quarantine; what a device has and a host has not is refused for a host, in words.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from paceline_server.fleet import health, life, orders, queries, words
from paceline_server.fleet.device_schemas import MaintenanceIn, OrderKind
from paceline_server.fleet.events import keep
from paceline_server.fleet.shapes import tell
from paceline_server.kernel import clock
from paceline_server.kernel.errors import conflict, invalid_request, not_found
from paceline_server.store import audit
from paceline_server.store.tables.fleet import Target


def set_maintenance(
    session: Session, target_id: str, spec: MaintenanceIn, who: str
) -> Target:
    """Hold a target back, until an instant or a person, or give it free again; what health checks said
    stays. Raises 404, 400 for an end that is past."""
    target, at = _find(session, target_id), clock.now()
    if spec.on and spec.until is not None and spec.until <= at:
        raise invalid_request(
            "until: that is past.", {"until": "give an instant to come"}
        )
    was = words.in_maintenance(target, at)
    if not spec.on and target.maintenance_by is None:
        return target
    target.maintenance_by = who if spec.on else None
    target.maintenance_reason = spec.reason if spec.on else None
    target.maintenance_until = spec.until if spec.on else None
    target.maintenance_since = (
        (target.maintenance_since if was else at) if spec.on else None
    )
    event = "maintenance_on" if spec.on else "maintenance_off"
    until = None if spec.until is None or not spec.on else spec.until.isoformat()
    states = ("on" if was else "off", "on" if spec.on else "off")
    keep(
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
    tell(session, target)
    return target


def quarantine(session: Session, target_id: str, reason: str, who: str) -> Target:
    """Give a device no job until a person releases it. Raises 404, 409 `not_a_device`."""
    target = _device(session, target_id)
    life.apply(
        session, target, health.Quarantine(reason), "quarantine", actor=who, always=True
    )
    _audit(session, who, "quarantine", target, {"reason": reason})
    tell(session, target)
    return target


def release(session: Session, target_id: str, reason: str, who: str) -> Target:
    """Let a device out of quarantine: it is checked before it gets a job. Raises 404, 409 `not_a_device`,
    `not_quarantined`."""
    target = _device(session, target_id)
    if target.health != "quarantined":
        raise conflict(
            f"{target.name} is not in quarantine: it is {target.health}.",
            "not_quarantined",
        )
    evidence = {"was": target.health_reason, "reason": reason}
    life.apply(
        session, target, health.Release(), "release", actor=who, evidence=evidence
    )
    _audit(session, who, "release", target, {"reason": reason})
    tell(session, target)
    return target


def recheck(session: Session, target_id: str, who: str) -> Target:
    """Ask for a health check as soon as no job holds the device. Raises 404, 409 `not_a_device`."""
    target = _device(session, target_id)
    _order(session, target, "check", who)
    life.apply(session, target, health.Recheck(), "recheck", actor=who)
    tell(session, target)
    return target


def reboot(session: Session, target_id: str, who: str) -> Target:
    """Ask for a restart as soon as no job holds the device. Raises 404, 409 `not_a_device`,
    `too_many_reboots`."""
    target, at = _device(session, target_id), clock.now()
    if any(one.kind == "reboot" for one in orders.waiting(session, target.id, at)):
        return target
    if orders.reboots_left(session, [target.id], at)[target.id] == 0:
        raise conflict(
            f"{target.name} was restarted {orders.MAX_REBOOTS} times within a day; what two restarts did not "
            "mend, a third will not. Look at its evidence, or restart it by hand.",
            "too_many_reboots",
        )
    _order(session, target, "reboot", who)
    tell(session, target)
    return target


def _order(session: Session, target: Target, kind: OrderKind, who: str) -> None:
    order, new = orders.request(session, target, kind, who)
    if new:
        evidence = {"order_id": order.id}
        keep(
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


def _find(session: Session, target_id: str) -> Target:
    if queries.target(session, target_id) is None:
        raise not_found("target", target_id)
    return queries.lock_target(session, target_id)


def _device(session: Session, target_id: str) -> Target:
    target = _find(session, target_id)
    if target.kind != "device":
        raise conflict(
            f"{target.name} is a host: only a device has health checks and restarts. To hold a host back, "
            "put it into maintenance.",
            "not_a_device",
        )
    return target
