"""Rows → wire shapes of targets and agents, for answers and for live events. Decides nothing.

Place: under `service`, `actions` and `upkeep`. `state`, `hold` and whether it takes jobs are computed here
and nowhere else; the condition of a lease (`jobs/queries.py`) says the same in SQL, and a test holds them
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.fleet import orders, queries, words
from paceline_server.fleet.device_schemas import Action, CheckOut, OrderOut
from paceline_server.fleet.schemas import AgentOut, TargetOut
from paceline_server.kernel import clock, settings
from paceline_server.store import live_events
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Agent, Target, TargetOrder


def is_online(last_seen_at: datetime | None, at: datetime) -> bool:
    """Whether something last heard of then counts as reachable now."""
    if last_seen_at is None:
        return False
    return (at - last_seen_at).total_seconds() <= settings.current().offline_after_s


def is_reachable(target: Target, at: datetime) -> bool:
    """Whether a job could be sent to it: its agent speaks, and a device is connected to that."""
    return is_online(target.last_seen_at, at) and words.is_connected(target)


def is_free_to_use(target: Target, at: datetime) -> bool:
    """Reachable and held back by nothing: whoever asks for "every target" means this one too. That it must
    be checked first, or refuses for now, only makes its jobs wait."""
    return is_reachable(target, at) and words.hold_of(target, at)[0] is None


@dataclass(frozen=True, slots=True)
class _Around:
    """What other tables say about the targets that are shown, by target id."""

    agents: Mapping[str, str]
    active: Mapping[str, str]
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
    """Wire shapes, in order, with what other tables say from one query each. `raw`: with the steps of the
    last check and what its commands printed; `slim`: as `queries.slim` loaded them, without what is large."""
    at, wanted = clock.now(), [target.id for target in targets]
    devices = [target.id for target in targets if target.kind == "device"]
    waiting = [
        order
        for order in queries.pending_orders(session, devices)
        if order.expires_at > at
    ]
    refused = queries.refused_orders(session, devices, at - orders.EXPIRES_AFTER)
    around = _Around(
        agents=queries.agent_names(session, {target.agent_id for target in targets}),
        active=queries.active_jobs(session, wanted),
        orders=_by_target(waiting),
        refused=_by_target(refused),
        reboots_left=orders.reboots_left(session, devices, at),
    )
    return [_target_out(target, around, at, raw=raw, slim=slim) for target in targets]


def _by_target(rows: Sequence[TargetOrder]) -> dict[str, list[OrderOut]]:
    found: dict[str, list[OrderOut]] = {}
    for row in rows:
        found.setdefault(row.target_id, []).append(OrderOut.model_validate(row))
    return found


def _target_out(
    target: Target, around: _Around, at: datetime, *, raw: bool, slim: bool
) -> TargetOut:
    online, job_id = is_reachable(target, at), around.active.get(target.id)
    hold, hold_reason = words.hold_of(target, at)
    ok, said = words.takes_jobs(target, at, online=online, busy=job_id is not None)
    own = (
        "id",
        "kind",
        "name",
        "serial",
        "agent_id",
        "refuses",
        "fingerprint",
        "simulated",
        "last_seen_at",
        "boot_id",
    )
    shown: dict[str, Any] = {
        **{name: getattr(target, name) for name in own},
        "factors": {} if slim else target.factors,
        "preflight": [] if slim else target.preflight,
        "agent_name": around.agents.get(target.agent_id, ""),
        "imported": target.agent_id == IMPORTS_AGENT,
        "state": "offline" if not online else "busy" if job_id else "online",
        "hold": hold,
        "hold_reason": hold_reason,
        "active_job_id": job_id,
        "takes_jobs": {"ok": ok, "words": said},
        "maintenance": _maintenance(target, at),
        "actions": actions(
            target, waiting={one.kind for one in around.orders.get(target.id, [])}
        ),
        "health": _health(target),
        **_ONLY_DEVICES,
    }
    if target.kind == "device":
        shown |= {
            "connection": _connection(target),
            "gates": None
            if target.gates is None
            else {**target.gates, "at": target.gates_at},
            "configuration": words.configuration(target.configuration),
            "check": None if slim else _check(target, raw=raw),
            "orders": around.orders.get(target.id, []),
            "refused_orders": around.refused.get(target.id, []),
            "reboots_left": around.reboots_left.get(target.id, 0),
        }
    return TargetOut.model_validate(shown)


_ONLY_DEVICES: dict[str, Any] = {
    "connection": None,
    "gates": None,
    "configuration": [],
    "check": None,
    "orders": [],
    "refused_orders": [],
    "reboots_left": 0,
}
"""What a host has none of."""


def _health(target: Target) -> dict[str, Any]:
    advice = words.ADVICE[target.health] if target.kind == "device" else None  # type: ignore[index]
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
    if not words.in_maintenance(target, at):
        return None
    return {
        "by": target.maintenance_by,
        "reason": target.maintenance_reason,
        "until": target.maintenance_until,
        "since": target.maintenance_since,
    }


def _check(target: Target, *, raw: bool) -> CheckOut | None:
    if target.last_check is None:
        return None
    more = {"raw": target.last_check_raw} if raw else {"raw": [], "steps": []}
    return CheckOut.model_validate({**target.last_check, **more})


def actions(target: Target, waiting: set[str]) -> list[Action]:
    """What a person can do about it now."""
    found: list[Action] = ["maintenance"]
    if target.kind != "device":
        return found
    found.append("release" if target.health == "quarantined" else "quarantine")
    if "check" not in waiting:
        found.append("recheck")
    if "reboot" not in waiting:
        found.append("reboot")
    return found


def tell(session: Session, target: Target) -> None:
    """Let streams know that a target may look different now (also called when a lease begins or ends)."""
    session.flush()
    shown = {
        "id",
        "state",
        "hold",
        "active_job_id",
        "connection",
        "health",
        "takes_jobs",
    }
    data = targets_out(session, [target])[0].model_dump(mode="json", include=shown)
    live_events.emit(session, "target", None, None, data)


def agent_out(agent: Agent) -> AgentOut:
    """The wire shape of an agent."""
    return AgentOut(
        id=agent.id,
        name=agent.name,
        version=agent.version,
        state="online" if is_online(agent.last_seen_at, clock.now()) else "offline",
        last_seen_at=agent.last_seen_at,
        created_at=agent.created_at,
    )
