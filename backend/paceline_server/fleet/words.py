"""What people read about a target: health, holds, events, in sentences. Pure; decides nothing."""

from __future__ import annotations

from datetime import datetime

from paceline_server.fleet.device_schemas import ConfigurationErrorOut, HealthState
from paceline_server.stats.configuration import words_of
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target, TargetEvent

ADVICE: dict[HealthState, str | None] = {
    "unknown": "It is checked as soon as it is online; nothing to do.",
    "checking": "Its health check runs now or when it is online and free; nothing to do.",
    "good": None,
    "recovering": "It takes jobs again by itself; keep it charging and out of the sun. If what it rests "
    "for is unknown by now, check it again: a passed check ends the rest.",
    "suspect": "It is checked again in a minute. If it happens often: its cable, its port, its hub.",
    "quarantined": "Look at the evidence, set it right, then release it.",
}

_HEALTH: dict[HealthState, str] = {
    "unknown": "its health is not known yet",
    "checking": "its health is being checked",
    "good": "it is in good health",
    "recovering": "it recovers",
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


def configuration(names: list[str]) -> list[ConfigurationErrorOut]:
    """Configuration errors by name, with what to do."""
    return [
        ConfigurationErrorOut(
            name=name, text=words_of(name).text, advice=words_of(name).advice
        )
        for name in names
    ]


def maintenance(by: str, reason: str | None, until: datetime | None) -> str:
    """Who holds it back, why and until when."""
    said = f"{by} has it in maintenance"
    said += "" if until is None else f" until {until:%Y-%m-%d %H:%M} UTC"
    return said if not reason else f"{said}: {reason}"


def hold_of(target: Target, at: datetime) -> tuple[str | None, str | None]:
    """(hold, reason) as every client knows them: a person before quarantine before cooling."""
    if in_maintenance(target, at):
        return "maintenance", target.maintenance_reason
    if target.health == "quarantined":
        return "quarantined", target.health_reason
    return (
        ("cooling", target.health_reason)
        if target.health == "recovering"
        else (None, None)
    )


def in_maintenance(target: Target, at: datetime) -> bool:
    """Whether a person holds it back now."""
    ended = target.maintenance_until is not None and target.maintenance_until <= at
    return target.maintenance_by is not None and not ended


def is_connected(target: Target) -> bool:
    """Whether its agent reaches it: a host's always does."""
    return target.kind != "device" or target.connection == "online"


def refusals(target: Target, at: datetime, *, online: bool) -> list[str]:
    """Why no job is leased for it, the most telling first; empty when nothing is in the way."""
    found = []
    if (
        target.agent_id == IMPORTS_AGENT
    ):  # all else would be about a program it never had
        return [target.refuses or ""]
    if in_maintenance(target, at):
        by, why, until = (
            target.maintenance_by or "",
            target.maintenance_reason,
            target.maintenance_until,
        )
        found.append(maintenance(by, why, until))
    if target.health == "quarantined":
        found.append(_with(_HEALTH["quarantined"], target.health_reason))
    if not is_connected(target):
        found.append(_with(_CONNECTION[target.connection], target.connection_reason))
    elif not online:
        found.append("its agent is silent")
    if target.kind == "device" and target.health not in ("good", "quarantined"):
        found.append(_with(_HEALTH[target.health], target.health_reason))  # type: ignore[index]  # a state
    if target.refuses:
        found.append(target.refuses)
    return found


def _with(text: str, reason: str | None) -> str:
    return f"{text}: {reason}" if reason else text


def takes_jobs(
    target: Target, at: datetime, *, online: bool, busy: bool
) -> tuple[bool, str]:
    """(whether a job may be leased for it now, the sentence)."""
    found = refusals(target, at, online=online)
    if found:
        return False, "takes no jobs: " + "; ".join(found)
    return (False, "takes no other job: it runs one") if busy else (True, "takes jobs")


_EVENTS = {
    "connected": "was reached",
    "disconnected": "is not reached any more",
    "connection": "changed how it is reached",
    "rebooted": "restarted",
    "moved": "is driven by another agent",
    "check_asked": "is due for a health check",
    "check_passed": "passed its health check",
    "check_failed": "failed its health check",
    "gates_read": "was hot, low or full, or is no more",
    "infrastructure_failed": "was lost by a job",
    "gave_up": "could not be recovered",
    "recheck": "is checked again",
    "quarantine": "was put into quarantine",
    "release": "was released from quarantine",
    "maintenance_on": "was put into maintenance",
    "maintenance_off": "was given free again",
    "maintenance_ended": "is free again: its maintenance is over",
    "order_requested": "has an order",
    "order_done": "carried out an order",
    "order_refused": "refused an order",
    "order_expired": "never carried out an order",
    "recovery_step": "was tried to be recovered",
}


def event(row: TargetEvent) -> str:
    """One step of a target's life in a sentence."""
    said = _EVENTS.get(row.event, row.event.replace("_", " "))
    steps = row.from_state != row.to_state and row.from_state and row.to_state
    moved = f" ({row.from_state} → {row.to_state})" if steps else ""
    by = "" if row.actor in ("agent", "system") else f" by {row.actor}"
    times = row.evidence.get("times", 1)
    again = (
        ""
        if times == 1
        else f", {times} times since {row.evidence.get('since', '')[:16]}"
    )
    return _with(f"{said}{by}{moved}{again}", row.reason)
