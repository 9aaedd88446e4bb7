"""Decides the health of a device: a pure function from (health, event) to health.

A device that is not `good` gets no job. Only failures of the device or of the connection to it count against
it, never those of a benchmark, and only a person ends a quarantine. Maintenance, connection and lease are
independent of health. `device_health.py` stores the result.

```
             ask                   check_passed
  unknown ─────────▶ checking ─────────────────────▶ good
   ▲ ▲ ▲               │ │  ▲                        │ │ │
   │ │ └─check_failed──┘ │  │ ask, after a pause     │ │ │
   │ │   (its state)     │  │                        │ │ │
   │ │      check_failed ▼  │                        │ │ │
   │ │   (infrastructure) suspect ◀──────────────────┘ │ │
   │ │                       │   infrastructure_failed │ │
   │ │                       │   (a job lost it)       │ │
   │ └───────rebooted────────│─────────────────────────┘ │ gates_read: hot, throttling, low or full
   │                         │ the third failure         ▼ (from every state but quarantined)
   │                         │ without a good run   recovering ──gates_read: all over──▶ good, if a check
   │ release (a person)      ▼ between                         has passed since the last doubt; else unknown
   └──────────────────── quarantined ◀── quarantine (a person) and gave_up (the ladder), from every state

  recheck (a person): unknown, suspect, good, recovering ──▶ checking · rebooted: recovering ──▶ unknown
  run_succeeded: failures = 0, the state stays
```

| event | cause |
| --- | --- |
| `CheckOpportunity` (drawn as `ask`) | a heartbeat of a device that is online and not in maintenance |
| `CheckPass` `CheckFailure` `DeviceReadings` `Reboot` `RecoveryFailure` | a heartbeat (`heartbeats.py`) |
| `InfrastructureFailure` `SuccessfulRun` | the end of an attempt (`device_health.py`) |
| `RecheckRequest` `QuarantineDecision` `ReleaseDecision` | a person (`target_actions.py`) |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from paceline_server.fleet.device_schemas import HealthState

HOT_C: Final = 35.0
"""°C of the battery at which a device begins to rest: above, phones lower their clocks."""
COOL_C: Final = 32.0
"""°C at which it counts as cool again: three degrees lower, so that it does not alternate between rest and use."""
LOW_PERCENT: Final = 30.0
"""Percent of charge below which a device rests: some phones then lower their clocks to save power."""
CHARGED_PERCENT: Final = 35.0
"""Percent at which it counts as charged again."""
THROTTLING_STATUS: Final = 2
"""Android thermal status `moderate`, from which on the platform throttles (stats/README.md §1)."""
CALM_STATUS: Final = 0
"""Android thermal status `none`, at which throttling counts as over."""
FREE_BYTES_NEEDED: Final = 512 << 20
"""Bytes of free storage below which a device rests; the agent's readiness check `space` has the same number."""
MAX_FAILURES: Final = 3
"""Infrastructure failures without a successful run between them that lead to quarantine."""
RETRY_AFTER: Final = timedelta(seconds=60)
"""Pause before a suspect device is checked again, for its cable, port or system to settle."""
RECHECK_UNFIT_AFTER: Final = timedelta(minutes=5)
"""Pause after a check that found the device unfit: storage does not empty itself in a minute."""

RestReason = Literal["hot", "throttling", "low_battery", "full"]
REST_SENTENCES: Final[Mapping[RestReason, str]] = {
    "hot": f"its battery is hot, it rests until {COOL_C:g} °C",
    "throttling": f"it throttles, it rests until thermal status {CALM_STATUS}",
    "low_battery": f"its battery is low, it rests until {CHARGED_PERCENT:g} %",
    "full": f"its storage is full, it rests until {FREE_BYTES_NEEDED >> 20} MiB are free",
}
"""Why a device rests and what ends the rest. The current reading is not part of it, because it changes with every
heartbeat."""


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a device.

    `failures`: infrastructure failures since the last successful run; `checked`: a check has passed since the last
    failure or restart; `check_after`: no check is due before then; `held_for`: why it rests.
    """

    state: HealthState = "unknown"
    reason: str | None = None
    failures: int = 0
    checked: bool = False
    check_after: datetime | None = None
    held_for: tuple[RestReason, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckOpportunity:
    """The device could be checked at `at`."""

    at: datetime


@dataclass(frozen=True, slots=True)
class CheckPass:
    pass


@dataclass(frozen=True, slots=True)
class CheckFailure:
    at: datetime
    infrastructure: bool
    why: str


@dataclass(frozen=True, slots=True)
class DeviceReadings:
    """Readings of a device; one that it did not report is None, and makes it neither hot nor cool."""

    battery_c: float | None = None
    battery_percent: float | None = None
    thermal_status: int | None = None
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class InfrastructureFailure:
    at: datetime
    why: str


@dataclass(frozen=True, slots=True)
class SuccessfulRun:
    pass


@dataclass(frozen=True, slots=True)
class Reboot:
    pass


@dataclass(frozen=True, slots=True)
class RecoveryFailure:
    """The recovery ladder has no step left."""

    why: str


@dataclass(frozen=True, slots=True)
class RecheckRequest:
    pass


@dataclass(frozen=True, slots=True)
class QuarantineDecision:
    why: str


@dataclass(frozen=True, slots=True)
class ReleaseDecision:
    pass


Event = (
    CheckOpportunity
    | CheckPass
    | CheckFailure
    | DeviceReadings
    | InfrastructureFailure
    | SuccessfulRun
    | Reboot
    | RecoveryFailure
    | RecheckRequest
    | QuarantineDecision
    | ReleaseDecision
)


def step(health: Health, event: Event) -> Health:  # noqa: PLR0911 - one case per event
    """Return the health after `event`; unchanged if the event has no meaning in this state."""
    match event:
        case CheckOpportunity(at):
            return _begin_check_if_due(health, at)
        case CheckPass():
            return _after_good_check(health)
        case CheckFailure(at, infrastructure, why):
            return (
                _after_failure(health, at, why)
                if infrastructure
                else _after_unfit_check(health, at, why)
            )
        case InfrastructureFailure(at, why):
            return _after_failure(health, at, why)
        case DeviceReadings():
            return _apply_readings(health, event)
        case SuccessfulRun():
            return replace(health, failures=0)
        case Reboot():
            return _after_reboot(health)
        case RecoveryFailure(why) | QuarantineDecision(why):
            return replace(
                health, state="quarantined", reason=why, checked=False, held_for=()
            )
        case RecheckRequest():
            return _after_recheck_request(health)
        case ReleaseDecision():
            return (
                Health(reason="released by a person")
                if health.state == "quarantined"
                else health
            )


def _begin_check_if_due(health: Health, at: datetime) -> Health:
    due = health.check_after is None or health.check_after <= at
    if health.state not in ("unknown", "suspect") or not due:
        return health
    return replace(health, state="checking", check_after=None)


def _after_good_check(health: Health) -> Health:
    passed = replace(health, checked=True, check_after=None)
    if health.state == "quarantined":
        return health
    return (
        passed
        if health.state == "recovering"
        else replace(passed, state="good", reason=None)
    )


def _after_failure(health: Health, at: datetime, why: str) -> Health:
    """Return the health after an infrastructure failure of a check or a job."""
    counted = replace(health, failures=health.failures + 1, checked=False, held_for=())
    if health.state == "quarantined":
        return health
    if counted.failures >= MAX_FAILURES:
        why = f"{counted.failures} infrastructure failures without a successful run between them; the last: {why}"
        return replace(counted, state="quarantined", reason=why, check_after=None)
    return replace(counted, state="suspect", reason=why, check_after=at + RETRY_AFTER)


def _after_unfit_check(health: Health, at: datetime, why: str) -> Health:
    """Return the health after a check that found the device hot, low or full, which is not a failure."""
    if health.state == "quarantined":
        return health
    unchecked = replace(health, checked=False, check_after=at + RECHECK_UNFIT_AFTER)
    return (
        unchecked
        if health.state == "recovering"
        else replace(unchecked, state="unknown", reason=why)
    )


def _apply_readings(health: Health, readings: DeviceReadings) -> Health:
    if health.state == "quarantined":
        return health
    reasons = _rest_reasons(health.held_for, readings)
    if reasons:
        return replace(
            health,
            state="recovering",
            reason="; ".join(REST_SENTENCES[reason] for reason in reasons),
            held_for=reasons,
        )
    if health.state != "recovering":
        return health
    # The next check is due at once, because the reason why the last one failed may have ended with the rest.
    rested = replace(health, held_for=(), check_after=None)
    return replace(rested, state="good" if health.checked else "unknown", reason=None)


def _rest_reasons(
    held: tuple[RestReason, ...], readings: DeviceReadings
) -> tuple[RestReason, ...]:
    """Return why the device must rest: reasons that begin now and reasons that are not over.

    A missing reading does not end a rest, with two exceptions: a cool battery stands in for a missing thermal
    status, which some devices stop reporting, and the next health check reads free storage again.
    """
    c, percent, status = (
        readings.battery_c,
        readings.battery_percent,
        readings.thermal_status,
    )
    reasons: list[RestReason] = []
    if (c is None or c > COOL_C) if "hot" in held else (c is not None and c >= HOT_C):
        reasons.append("hot")
    calm = (
        status <= CALM_STATUS if status is not None else (c is not None and c <= COOL_C)
    )
    if (
        not calm
        if "throttling" in held
        else (status is not None and status >= THROTTLING_STATUS)
    ):
        reasons.append("throttling")
    if (
        (percent is None or percent < CHARGED_PERCENT)
        if "low_battery" in held
        else (percent is not None and percent < LOW_PERCENT)
    ):
        reasons.append("low_battery")
    if readings.free_bytes is not None and readings.free_bytes < FREE_BYTES_NEEDED:
        reasons.append("full")
    return tuple(reasons)


def _after_reboot(health: Health) -> Health:
    """Return the health after a restart. A rest ends, because its readings are from before the restart."""
    unchecked = replace(health, checked=False, held_for=())
    if health.state not in ("good", "recovering"):
        return unchecked
    return replace(unchecked, state="unknown", reason="it restarted")


def _after_recheck_request(health: Health) -> Health:
    """Return the health after a person asked for a check. This ends a rest, so that a person can free a device that
    no longer reports the reading it rests for; the next reading may begin it again."""
    if health.state == "quarantined":
        return health
    return replace(
        health,
        state="checking",
        reason="a person asked for a check",
        check_after=None,
        held_for=(),
    )
