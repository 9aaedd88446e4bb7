"""The health of a device, as a pure function: (health, event) → health.

Place: the middle of the life of a device; `life.py` asks here before it writes, agents bring the evidence.
Invariants: a device that is not `good` gets no job; only what lies between us and the device, or the device
itself, counts against it (a benchmark that fails is the benchmark's affair); nobody is let out of quarantine
but by a person. Maintenance is no state of this machine: a person's flag, independent of it, as are
connection and lease. Holds no rows, no clock and no I/O.

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

| event | who brings it |
| --- | --- |
| `Ask` | a heartbeat of a device that is online and not in maintenance (`life.hear`) |
| `CheckPassed` `CheckFailed` `GatesRead` `Rebooted` `GaveUp` | the agent's heartbeat (`life.hear`) |
| `InfrastructureFailed` `RunSucceeded` | the end of an attempt (`life.attempt_failed`, `run_succeeded`) |
| `Recheck` `Quarantine` `Release` | a person (`actions.py`) |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from paceline_server.fleet.device_schemas import HealthState

HOT_C: Final = 35.0
"""°C of the battery from which on a device rests: above, phones begin to lower their clocks. Issue 5."""
COOL_C: Final = 32.0
"""°C at which it counts as cool again: three below, so that it does not go to and fro. Issue 5."""
LOW_PERCENT: Final = 30.0
"""percent of charge below which a device rests: some phones then save power by their clocks. Issue 5."""
CHARGED_PERCENT: Final = 35.0
"""percent at which it counts as charged again. Issue 5."""
THROTTLING_STATUS: Final = 2
"""Android thermal status `moderate`: from there on the platform throttles (PowerManager), as in §1."""
CALM_STATUS: Final = 0
"""Android thermal status `none`, at which throttling counts as over."""
FREE_BYTES_NEEDED: Final = 512 << 20
"""bytes of free storage below which a device rests; the agent's gate `space` has the same number."""
MAX_FAILURES: Final = 3
"""infrastructure failures without a good run between; then a person has to look. Issue 5."""
RETRY_AFTER: Final = timedelta(seconds=60)
"""Pause before a suspect device is checked again: time for its cable, its port or itself to settle."""
LOOK_AGAIN_AFTER: Final = timedelta(minutes=5)
"""Pause after a check that found it unfit for a while: storage does not empty itself in a minute."""

Hold = Literal["hot", "throttling", "low_battery", "full"]


@dataclass(frozen=True, slots=True)
class Health:
    """What is known of a device. `checked`: a check has passed since the last doubt; `held_for`: why it
    recovers; `check_after`: no check before; `failures`: of infrastructure, since the last good run."""

    state: HealthState = "unknown"
    reason: str | None = None
    failures: int = 0
    checked: bool = False
    check_after: datetime | None = None
    held_for: tuple[Hold, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """The device could be checked at `at`."""

    at: datetime


@dataclass(frozen=True, slots=True)
class CheckPassed:
    pass


@dataclass(frozen=True, slots=True)
class CheckFailed:
    at: datetime
    infrastructure: bool
    why: str


@dataclass(frozen=True, slots=True)
class GatesRead:
    """Null: the device could not say, which is neither hot nor cool."""

    battery_c: float | None = None
    battery_percent: float | None = None
    thermal_status: int | None = None
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class InfrastructureFailed:
    at: datetime
    why: str


@dataclass(frozen=True, slots=True)
class RunSucceeded:
    pass


@dataclass(frozen=True, slots=True)
class Rebooted:
    pass


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The recovery ladder has no step left."""

    why: str


@dataclass(frozen=True, slots=True)
class Recheck:
    pass


@dataclass(frozen=True, slots=True)
class Quarantine:
    why: str


@dataclass(frozen=True, slots=True)
class Release:
    pass


Event = (
    Ask
    | CheckPassed
    | CheckFailed
    | GatesRead
    | InfrastructureFailed
    | RunSucceeded
    | Rebooted
    | GaveUp
    | Recheck
    | Quarantine
    | Release
)


def step(health: Health, event: Event) -> Health:  # noqa: PLR0911 - one line per event is the machine
    """The health after `event`; the same where it changes nothing. Every event may come in every state."""
    match event:
        case Ask(at):
            return _ask(health, at)
        case CheckPassed():
            return _check_passed(health)
        case CheckFailed(at, infrastructure, why):
            return (
                _failed(health, at, why) if infrastructure else _unfit(health, at, why)
            )
        case InfrastructureFailed(at, why):
            return _failed(health, at, why)
        case GatesRead():
            return _gates_read(health, event)
        case RunSucceeded():
            return replace(health, failures=0)
        case Rebooted():
            return _rebooted(health)
        case GaveUp(why) | Quarantine(why):
            return replace(
                health, state="quarantined", reason=why, checked=False, held_for=()
            )
        case Recheck():
            return _recheck(health)
        case Release():
            return (
                Health(reason="released by a person")
                if health.state == "quarantined"
                else health
            )


def _ask(health: Health, at: datetime) -> Health:
    due = health.check_after is None or health.check_after <= at
    if health.state not in ("unknown", "suspect") or not due:
        return health
    return replace(health, state="checking", check_after=None)


def _check_passed(health: Health) -> Health:
    passed = replace(health, checked=True, check_after=None)
    if health.state == "quarantined":
        return health
    return (
        passed
        if health.state == "recovering"
        else replace(passed, state="good", reason=None)
    )


def _failed(health: Health, at: datetime, why: str) -> Health:
    """An infrastructure failure, of a check or of a job."""
    counted = replace(health, failures=health.failures + 1, checked=False, held_for=())
    if health.state == "quarantined":
        return health
    if counted.failures >= MAX_FAILURES:
        why = f"{counted.failures} infrastructure failures without a good run between; the last: {why}"
        return replace(counted, state="quarantined", reason=why, check_after=None)
    return replace(counted, state="suspect", reason=why, check_after=at + RETRY_AFTER)


def _unfit(health: Health, at: datetime, why: str) -> Health:
    """A check that found the device in no state to measure, which is nobody's fault."""
    if health.state == "quarantined":
        return health
    doubted = replace(health, checked=False, check_after=at + LOOK_AGAIN_AFTER)
    return (
        doubted
        if health.state == "recovering"
        else replace(doubted, state="unknown", reason=why)
    )


def _gates_read(health: Health, gates: GatesRead) -> Health:
    if health.state == "quarantined":
        return health
    holds = _holds(health.held_for, gates)
    if holds:
        return replace(
            health, state="recovering", reason=_resting(holds, gates), held_for=holds
        )
    if health.state != "recovering":
        return health
    # What a check found unfit meanwhile is over with the rest: the next check waits for nothing.
    rested = replace(health, held_for=(), check_after=None)
    return replace(rested, state="good" if health.checked else "unknown", reason=None)


def _holds(held: tuple[Hold, ...], gates: GatesRead) -> tuple[Hold, ...]:
    """Why it must rest: what begins now, and what is not over. An unknown reading ends nothing, but for a
    thermal status, for which a cool battery stands in (some devices stop telling it, and would rest for
    ever), and for free storage, which a check looks at again."""
    c, percent, status = gates.battery_c, gates.battery_percent, gates.thermal_status
    found: list[Hold] = []
    if (c is None or c > COOL_C) if "hot" in held else (c is not None and c >= HOT_C):
        found.append("hot")
    calm = (
        status <= CALM_STATUS if status is not None else (c is not None and c <= COOL_C)
    )
    if (
        not calm
        if "throttling" in held
        else (status is not None and status >= THROTTLING_STATUS)
    ):
        found.append("throttling")
    if (
        (percent is None or percent < CHARGED_PERCENT)
        if "low_battery" in held
        else (percent is not None and percent < LOW_PERCENT)
    ):
        found.append("low_battery")
    if gates.free_bytes is not None and gates.free_bytes < FREE_BYTES_NEEDED:
        found.append("full")
    return tuple(found)


def _resting(holds: tuple[Hold, ...], gates: GatesRead) -> str:
    c = "unknown" if gates.battery_c is None else f"{gates.battery_c:g} °C"
    percent = (
        "unknown" if gates.battery_percent is None else f"{gates.battery_percent:g} %"
    )
    status = "unknown" if gates.thermal_status is None else f"{gates.thermal_status}"
    free_mib = 0 if gates.free_bytes is None else gates.free_bytes >> 20
    words: dict[Hold, str] = {
        "hot": f"its battery is hot: {c}, rests until {COOL_C:g} °C",
        "throttling": f"it throttles: thermal status {status}, rests until {CALM_STATUS}",
        "low_battery": f"its battery is low: {percent}, rests until {CHARGED_PERCENT:g} %",
        "full": f"its storage is full: {free_mib} MiB free, rests until {FREE_BYTES_NEEDED >> 20} MiB are",
    }
    return "; ".join(words[hold] for hold in holds)


def _rebooted(health: Health) -> Health:
    """What it rested for was read in another boot: the next readings say whether it still must."""
    doubted = replace(health, checked=False, held_for=())
    if health.state not in ("good", "recovering"):
        return doubted
    return replace(doubted, state="unknown", reason="it restarted")


def _recheck(health: Health) -> Health:
    """It ends a rest too, which begins again with the first reading that says so: a person can always get a
    device out of a rest whose reading the device gives no more."""
    if health.state == "quarantined":
        return health
    return replace(
        health,
        state="checking",
        reason="a person asked for a check",
        check_after=None,
        held_for=(),
    )
