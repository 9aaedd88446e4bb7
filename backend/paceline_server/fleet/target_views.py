"""Turns rows of targets and agents into their wire shapes, for responses and live events.

Whether a target takes jobs is decided in `target_state.py`; sentences are in `target_messages.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.fleet import device_orders, queries, target_messages
from paceline_server.fleet.device_schemas import (
    Action,
    DeviceCheckOut,
    OrderKind,
    OrderOut,
)
from paceline_server.fleet.schemas import AgentOut, TargetOut
from paceline_server.fleet.target_state import (
    hold_of,
    is_in_maintenance,
    is_online,
    is_reachable,
)
from paceline_server.kernel import clock
from paceline_server.store import access, live_events
from paceline_server.store.session import read_scope
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Agent, Target, TargetOrder


@dataclass(frozen=True, slots=True)
class _RelatedRows:
    """Rows of other tables about the shown targets, by target id; `agents`: names by agent id."""

    agents: Mapping[str, str]
    active: Mapping[str, str | None]
    orders: Mapping[str, list[OrderOut]]
    refused: Mapping[str, list[OrderOut]]
    reboots_left: Mapping[str, int]


def targets_out(
    session: Session,
    targets: Sequence[Target],
    *,
    raw: bool = False,
    slim: bool = False,
) -> list[TargetOut]:
    """Return wire shapes in the order of `targets`; each other table is queried once.

    `raw` adds the steps of the last check and the output of its commands. `slim` leaves out the large fields
    that `queries.without_large_columns` did not load.
    """
    at = clock.now()
    devices = [target.id for target in targets if target.kind == "device"]
    refused = queries.refused_orders(session, devices, at - device_orders.EXPIRES_AFTER)
    related = _RelatedRows(
        agents=queries.agent_names(session, {target.agent_id for target in targets}),
        active=_active_jobs(session, [target.id for target in targets]),
        orders=_by_target(queries.pending_orders(session, devices, at)),
        refused=_by_target(refused),
        reboots_left=device_orders.reboots_left(session, devices, at),
    )
    return [_target_out(target, related, at, raw=raw, slim=slim) for target in targets]


def _active_jobs(session: Session, target_ids: list[str]) -> dict[str, str | None]:
    """Return, by target id, the job that holds it; None if that job's project is hidden from the session."""
    seen = queries.active_jobs(session, target_ids)
    return {**dict.fromkeys(held_for_others(session, target_ids)), **seen}


def held_for_others(
    session: Session, target_ids: Sequence[str] | None = None
) -> set[str]:
    """Return the ids of targets (of these, or all) that are held by jobs of projects hidden from the session."""
    projects = access.of_session(session).projects
    if projects is None:
        return set()
    with access.as_system(), read_scope() as system:
        return queries.held_outside(system, projects, target_ids)


def _by_target(rows: Sequence[TargetOrder]) -> dict[str, list[OrderOut]]:
    orders: dict[str, list[OrderOut]] = {}
    for row in rows:
        orders.setdefault(row.target_id, []).append(OrderOut.model_validate(row))
    return orders


def _target_out(
    target: Target, related: _RelatedRows, at: datetime, *, raw: bool, slim: bool
) -> TargetOut:
    is_device = target.kind == "device"
    online, job_id = is_reachable(target, at), related.active.get(target.id)
    busy = target.id in related.active
    hold, hold_reason = hold_of(target, at)
    takes_jobs, availability = target_messages.describe_availability(
        target, at, online=online, busy=busy
    )
    orders = related.orders.get(target.id, [])
    computed: dict[str, Any] = {
        "factors": {} if slim else target.factors,
        "preflight": [] if slim else target.preflight,
        "agent_name": related.agents.get(target.agent_id, ""),
        "imported": target.agent_id == IMPORTS_AGENT,
        "state": "offline" if not online else "busy" if busy else "online",
        "hold": hold,
        "hold_reason": hold_reason,
        "active_job_id": job_id,
        "takes_jobs": {"ok": takes_jobs, "words": availability},
        "maintenance": _maintenance(target, at),
        "actions": _possible_actions(target, {order.kind for order in orders}),
        "health": _health(target),
        "connection": _connection(target) if is_device else None,
        "gates": {**target.gates, "at": target.gates_at}
        if is_device and target.gates is not None
        else None,
        "configuration": target_messages.describe_configuration(target.configuration),
        "check": None if slim or not is_device else _check(target, raw=raw),
        "orders": orders,
        "refused_orders": related.refused.get(target.id, []),
        "reboots_left": related.reboots_left.get(target.id, 0),
    }
    return TargetOut.of_row(target, **computed)


def _health(target: Target) -> dict[str, Any]:
    advice = target_messages.ADVICE[target.health] if target.kind == "device" else None  # type: ignore[index]
    return {
        "state": target.health,
        "reason": target.health_reason,
        "since": target.health_since,
        "advice": advice,
        "failures": target.failures,
    }


def _connection(target: Target) -> dict[str, Any] | None:
    if target.connection is None:
        return None
    return {
        "state": target.connection,
        "reason": target.connection_reason,
        "advice": target.connection_advice,
        "route": target.connection_route,
        "since": target.connection_since,
    }


def _maintenance(target: Target, at: datetime) -> dict[str, Any] | None:
    if not is_in_maintenance(target, at):
        return None
    return {
        "by": target.maintenance_by,
        "reason": target.maintenance_reason,
        "until": target.maintenance_until,
        "since": target.maintenance_since,
    }


def _check(target: Target, *, raw: bool) -> DeviceCheckOut | None:
    if target.last_check is None:
        return None
    more = {"raw": target.last_check_raw} if raw else {"raw": [], "steps": []}
    return DeviceCheckOut.model_validate({**target.last_check, **more})


def _possible_actions(target: Target, ordered: set[OrderKind]) -> list[Action]:
    """Return the actions that a person can take now; `ordered`: kinds of orders that wait already. None about a target
    of which other tools report."""
    if target.agent_id == IMPORTS_AGENT:
        return []
    if target.kind != "device":
        return ["maintenance"]
    orders: dict[OrderKind, Action] = {"check": "recheck", "reboot": "reboot"}
    return [
        "maintenance",
        "release" if target.health == "quarantined" else "quarantine",
        *(action for kind, action in orders.items() if kind not in ordered),
    ]


PUBLISHED_FIELDS = {
    "id",
    "state",
    "hold",
    "connection",
    "health",
    "takes_jobs",
}


def publish_target(session: Session, target: Target) -> None:
    """Emit a live event with the target as it is now; also called when a lease begins or ends."""
    session.flush()
    view = targets_out(session, [target])[0]
    data = view.model_dump(mode="json", include=PUBLISHED_FIELDS)
    live_events.emit_target(session, target.id, data)


def agent_out(agent: Agent) -> AgentOut:
    """Return the wire shape of an agent."""
    online = is_online(agent.last_seen_at, clock.now())
    return AgentOut.of_row(agent, state="online" if online else "offline")
