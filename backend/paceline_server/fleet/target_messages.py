"""Writes the sentences that people read about a target: its health, its holds, its events."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple, cast

from paceline_server.fleet.device_schemas import ConfigurationErrorOut, HealthState
from paceline_server.fleet.target_state import (
    is_connected,
    is_in_maintenance,
    is_reachable,
)
from paceline_server.stats.configuration import describe_error
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target, TargetEvent

ADVICE: dict[HealthState, str | None] = {
    "unknown": "It is checked as soon as it is online; nothing to do.",
    "checking": "Its health check runs now or when it is online and free; nothing to do.",
    "good": None,
    "recovering": "It takes jobs again by itself; keep it charging and out of the sun. If it no longer "
    "reports the reading it rests for, request a check: a passed check ends the rest.",
    "suspect": "It is checked again in a minute. If this happens often, look at its cable, port and hub.",
    "quarantined": "Look at the evidence, fix the cause, then release it.",
}

_HEALTH: dict[HealthState, str] = {
    "unknown": "its health is not known yet",
    "checking": "its health is being checked",
    "good": "it is in good health",
    "recovering": "it is recovering",
    "suspect": "it failed and is checked again",
    "quarantined": "it is in quarantine",
}

_CONNECTION = {
    None: "it is not connected",
    "absent": "it is not connected",
    "offline": "it does not answer",
    "unauthorized": "it does not trust its agent",
    "booting": "it is starting",
}


def describe_configuration(names: list[str]) -> list[ConfigurationErrorOut]:
    """Return the configuration errors with these names, each with what to do about it."""
    return [
        ConfigurationErrorOut(
            name=name,
            text=describe_error(name).text,
            advice=describe_error(name).advice,
        )
        for name in names
    ]


def _describe_maintenance(target: Target) -> str:
    until = target.maintenance_until
    text = f"{target.maintenance_by} has it in maintenance"
    text += "" if until is None else f" until {until:%Y-%m-%d %H:%M} UTC"
    return _with_reason(text, target.maintenance_reason)


class Refusal(NamedTuple):
    """Why no job is leased for a target, since when, and what would change that."""

    text: str
    advice: str | None = None
    since: datetime | None = None


def refusals(target: Target, at: datetime, *, online: bool) -> list[Refusal]:
    """Return why no job is leased for it, the most important reason first; empty if it takes jobs."""
    if target.agent_id == IMPORTS_AGENT:
        return [Refusal(target.refuses or "")]
    refusals = []
    if is_in_maintenance(target, at):
        ends = "Its maintenance ends by itself or on its page."
        if target.maintenance_until is None:
            ends = "End its maintenance on its page."
        since = target.maintenance_since
        refusals.append(Refusal(_describe_maintenance(target), ends, since))
    if target.health == "quarantined":
        refusals.append(_refusal_by_health(target))
    if not is_connected(target):
        text = _with_reason(_CONNECTION[target.connection], target.connection_reason)
        refusals.append(
            Refusal(text, target.connection_advice, target.connection_since)
        )
    elif not online:
        advice = "Start its agent. If it runs, its log says why it does not reach the server."
        refusals.append(Refusal("its agent is silent", advice, target.last_seen_at))
    if target.kind == "device" and target.health not in ("good", "quarantined"):
        refusals.append(_refusal_by_health(target))
    if target.refuses:
        refusals.append(Refusal(target.refuses))
    return refusals


def _refusal_by_health(target: Target) -> Refusal:
    state = cast(HealthState, target.health)
    text = _with_reason(_HEALTH[state], target.health_reason)
    return Refusal(text, ADVICE[state], target.health_since)


def refusal_of(target: Target, at: datetime) -> Refusal | None:
    """Return one refusal with all reasons why no job is leased for it, and the advice and time of the most important
    one; None if it takes jobs."""
    reasons = refusals(target, at, online=is_reachable(target, at))
    if not reasons:
        return None
    return reasons[0]._replace(text="; ".join(reason.text for reason in reasons))


def _with_reason(text: str, reason: str | None) -> str:
    return f"{text}: {reason}" if reason else text


def describe_availability(
    target: Target, at: datetime, *, online: bool, busy: bool
) -> tuple[bool, str]:
    """Return (whether a job may be leased for it now, the sentence that says so)."""
    if reasons := refusals(target, at, online=online):
        return False, "takes no jobs: " + "; ".join(reason.text for reason in reasons)
    return (False, "takes no other job: it runs one") if busy else (True, "takes jobs")


_EVENTS = {
    "connected": "was reached",
    "disconnected": "is no longer reached",
    "connection": "changed how it is reached",
    "rebooted": "restarted",
    "moved": "was given to another agent",
    "claimed": "is announced by another agent, too, which is refused",
    "check_asked": "is due for a health check",
    "check_passed": "passed its health check",
    "check_failed": "failed its health check",
    "gates_read": "began or ended a rest",
    "infrastructure_failed": "failed during a job",
    "gave_up": "could not be recovered",
    "recheck": "is checked again",
    "quarantine": "was put into quarantine",
    "release": "was released from quarantine",
    "maintenance_on": "was put into maintenance",
    "maintenance_off": "was taken out of maintenance",
    "maintenance_ended": "left maintenance: its time was over",
    "order_requested": "has an order",
    "order_done": "carried out an order",
    "order_refused": "refused an order",
    "order_expired": "did not carry out an order in time",
    "recovery_step": "went through a recovery step",
}


def describe_event(event: TargetEvent) -> str:
    """Return one event of a target in a sentence."""
    text = _EVENTS.get(event.event, event.event.replace("_", " "))
    if event.actor not in ("agent", "system"):
        text += f" by {event.actor}"
    if event.from_state and event.to_state and event.from_state != event.to_state:
        text += f" ({event.from_state} → {event.to_state})"
    times = event.evidence.get("times", 1)
    if times != 1:
        text += f", {times} times since {event.evidence.get('since', '')[:16]}"
    return _with_reason(text, event.reason)
