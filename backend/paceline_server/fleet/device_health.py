"""Changes the health of a device and records why.

The pure state machine in `health.py` decides; this module applies its answer to the row. Callers hold the
row's lock. Health changes only through `apply_health_event`, in one transaction with an event that carries
the evidence.
"""

from __future__ import annotations

from typing import Any

import structlog
from sqlalchemy.orm import Session

from paceline_server.fleet import health, queries
from paceline_server.fleet.target_events import AGENT, SYSTEM, record_event
from paceline_server.kernel import clock
from paceline_server.store.tables.fleet import Target

log = structlog.get_logger("paceline.fleet")


def health_of(target: Target) -> health.Health:
    """Return the health that a target's row holds."""
    return health.Health(
        state=target.health,  # type: ignore[arg-type]  # only `apply_health_event` writes it
        reason=target.health_reason,
        failures=target.failures,
        checked=target.checked,
        check_after=target.check_after,
        held_for=tuple(target.held_for),  # type: ignore[arg-type]  # likewise
    )


def apply_health_event(
    session: Session,
    target: Target,
    event: health.Event,
    name: str,
    *,
    evidence: dict[str, Any] | None = None,
    actor: str = AGENT,
    record_unchanged: bool = False,
    quiet: bool = False,
) -> bool:
    """Apply an event to a target's health, and return whether the state changed.

    A target event called `name` is recorded if the state or the count of failures changed, or with
    `record_unchanged`; never with `quiet`.
    """
    before = health_of(target)
    after = health.step(before, event)
    at = clock.now()
    target.health, target.health_reason = after.state, after.reason
    target.failures, target.checked = after.failures, after.checked
    target.check_after, target.held_for = after.check_after, list(after.held_for)
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
        record_unchanged
        or (before.state, before.failures) != (after.state, after.failures)
    ):
        record_event(
            session,
            target,
            "health",
            name,
            states=(before.state, after.state),
            reason=after.reason,
            evidence={**(evidence or {}), "failures": after.failures},
            actor=actor,
        )
    return after.state != before.state


DEVICE_CAUSES = frozenset(
    {
        "device_lost",
        "device_rebooted",
        "device_refused",
        "device_unauthorized",
    }
)
"""Causes of a failed attempt that count against the device. Two are missing on purpose: after `device_storage_full`
the device rests by its own readings until there is room, and after `placing_failed` it still answers and lists its
files."""


def count_failed_attempt(
    session: Session,
    target_id: str,
    cause: str,
    detail: str | None,
    *,
    job_id: str,
    attempt: int,
) -> bool:
    """Count a failed attempt against its device if `cause` is one of `DEVICE_CAUSES`; return whether it was counted.

    Failures of benchmarks do not count, and a host has no health.
    """
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
    event = health.InfrastructureFailure(clock.now(), why)
    apply_health_event(
        session, target, event, "infrastructure_failed", evidence=evidence, actor=SYSTEM
    )
    return True


def reset_failures(session: Session, target_id: str, job_id: str) -> None:
    """Reset a device's count of failures after a job that measured to its end.

    The row is locked only if there are failures, so that the end of a job rarely waits for other writers.
    """
    if queries.kind_and_failures(session, target_id)[1] == 0:
        return
    target = queries.lock_target(session, target_id)
    evidence = {"job_id": job_id}
    apply_health_event(
        session,
        target,
        health.SuccessfulRun(),
        "run_succeeded",
        evidence=evidence,
        actor=SYSTEM,
    )
