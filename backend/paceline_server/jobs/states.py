"""The life of a job and of a run, as pure functions: (state, event) → state.

Place: the middle of `jobs`; `service.py` asks here before it writes. Invariant: no other module decides which
state follows which. Holds no rows, no clock and no I/O.

```
              lease                report(preparing)      report(measuring)        report(uploading)
   ┌─ queued ───────▶ leased ─────────▶ preparing ──────────▶ measuring ──────────────▶ uploading
   │   ▲  ▲             │                   │                     │  finish(done)           │ finish(done)
   │   │  │             └────────┬──────────┘                     └────────┬────────────────┤
   │   │  │ lease ran out, or    │                     lease ran out │     ▼                │
   │   │  └─ infrastructure ─────┘                                   │  analysing ◀─────────┤
   │   │     failed (≤ 2 times)                                      │     │  │             │
   │   │                                                             ▼     │  │ conclude    │
   │   └── request_batch (≤ 2 more batches) ────────────── lost ◀──────────┘  ▼             │
   │                                             late result │            done              │
   │  cancel: every state before `done`                      └── of the right attempt ──────┘ (uploading)
   └─▶ cancelled        renewed by the right attempt, target free: lost ─▶ measuring
                        nobody leased it in time: queued ─▶ expired
                        the analysis gave up: analysing ─▶ failed
                        finish(failed), or infrastructure failed a third time: leased … uploading ─▶ failed
```

| event | function in `service.py`/`leases.py`/`expiry.py` |
| --- | --- |
| `lease` | `leases.lease` |
| `prepare` `measure` `upload` | `leases.report_state` (repeating a state is a no-op: an answer was lost) |
| `revive` | `leases.renew` (the agent went on while the server or the network was away) |
| `late_result` | `leases.hold` (the first write that arrives after the lease ran out) |
| `finish_done` `finish_failed` `finish_cancelled` | `leases.finish` |
| `requeue` `give_up` `lose` | `expiry.expire_leases`; `leases.finish` when infrastructure failed early |
| `expire` | `expiry.expire_unleased` |
| `cancel` | `service.cancel` (a leased job is asked to stop; `finish_cancelled` or `cancel` ends it) |
| `request_batch` `conclude` | `service.request_batch` `service.conclude`, called by detect |
| `give_up_analysis` | `service.fail_analysis`, called by detect when the outbox stops trying |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from paceline_server.jobs.schemas import JobState, RunState, Verdict

MAX_REQUEUES = 2
"""Infrastructure losses before measuring that are retried silently (DESIGN §4)."""

MAX_BATCH = 2
"""Highest batch number: a first look and at most two more (STATISTICS §2, alpha spent over three looks)."""

HELD: frozenset[JobState] = frozenset({"leased", "preparing", "measuring", "uploading"})
"""An agent works on it and its target is taken (I9)."""

FINAL: frozenset[JobState] = frozenset({"done", "failed", "cancelled", "lost", "expired"})
"""Nothing is expected any more; `lost` alone may be revived, by a renewal or a late result."""

INFRASTRUCTURE_CAUSES = frozenset({
    "agent_lost", "agent_error", "disk_full", "target_refused", "lease_lost",
    "device_lost", "device_rebooted", "device_refused", "device_storage_full", "device_unauthorized",
})  # fmt: skip
"""Failures of the surroundings, worth another try if nothing was measured yet. `checkout_failed` is not here:
a commit that cannot be found stays unfound, and the person who asked should read it at once."""


class Event(StrEnum):
    lease = "lease"
    prepare = "prepare"
    measure = "measure"
    upload = "upload"
    revive = "revive"
    late_result = "late_result"
    finish_done = "finish_done"
    finish_failed = "finish_failed"
    finish_cancelled = "finish_cancelled"
    requeue = "requeue"
    give_up = "give_up"
    lose = "lose"
    expire = "expire"
    cancel = "cancel"
    request_batch = "request_batch"
    conclude = "conclude"
    give_up_analysis = "give_up_analysis"


_RULES: dict[Event, tuple[tuple[JobState, ...], JobState]] = {
    Event.lease: (("queued",), "leased"),
    Event.prepare: (("leased", "preparing"), "preparing"),
    Event.measure: (("leased", "preparing", "measuring"), "measuring"),
    Event.upload: (("leased", "preparing", "measuring", "uploading", "lost"), "uploading"),
    Event.revive: (("lost",), "measuring"),
    Event.late_result: (("lost",), "uploading"),
    Event.finish_done: (("measuring", "uploading", "lost"), "analysing"),
    Event.finish_failed: (("leased", "preparing", "measuring", "uploading", "lost"), "failed"),
    Event.finish_cancelled: (("leased", "preparing", "measuring", "uploading", "lost"), "cancelled"),
    Event.requeue: (("leased", "preparing"), "queued"),
    Event.give_up: (("leased", "preparing"), "failed"),
    Event.lose: (("measuring", "uploading"), "lost"),
    Event.expire: (("queued",), "expired"),
    Event.cancel: (
        ("queued", "leased", "preparing", "measuring", "uploading", "analysing", "lost"),
        "cancelled",
    ),
    Event.request_batch: (("analysing",), "queued"),
    Event.conclude: (("analysing",), "done"),
    Event.give_up_analysis: (("analysing",), "failed"),
}
"""Event → (states it may happen in, state that follows)."""

REPORTS: dict[Literal["preparing", "measuring", "uploading"], Event] = {
    "preparing": Event.prepare,
    "measuring": Event.measure,
    "uploading": Event.upload,
}
"""What an agent says it does next → event. Skipping forward is allowed (a cached artifact)."""


class IllegalTransitionError(Exception):
    """The event cannot happen in this state; nothing was changed."""

    def __init__(self, state: JobState, event: Event) -> None:
        self.state: JobState = state
        self.event = event
        super().__init__(f"a job that is {state} cannot {event.replace('_', ' ')}")


def allowed(event: Event) -> frozenset[JobState]:
    """The states in which `event` may happen."""
    return frozenset(_RULES[event][0])


def step(state: JobState, event: Event) -> JobState:
    """The state after `event`. Raises `IllegalTransitionError`."""
    before, after = _RULES[event]
    if state not in before:
        raise IllegalTransitionError(state, event)
    return after


def on_lease_loss(state: JobState, *, requeues: int, cancel_requested: bool) -> Event:
    """What follows when the lease of a held job ran out.

    A person who asked to stop is obeyed; before measuring nothing is lost but time, so it is tried again;
    once samples exist they are kept and the job waits, `lost`, for its agent to go on or to deliver the rest.
    """
    if cancel_requested:
        return Event.cancel
    if state in allowed(Event.lose):
        return Event.lose
    return Event.requeue if requeues < MAX_REQUEUES else Event.give_up


def on_failure(state: JobState, *, cause: str, requeues: int) -> Event:
    """What follows when an agent reports `failed`: workload faults are never silently retried."""
    before_measuring = state in allowed(Event.requeue)
    if before_measuring and cause in INFRASTRUCTURE_CAUSES and requeues < MAX_REQUEUES:
        return Event.requeue
    return Event.finish_failed


@dataclass(frozen=True, slots=True)
class JobSummary:
    """What the roll-up of a run needs of each job."""

    state: JobState
    verdict: Verdict | None
    reason: str | None
    target_name: str


@dataclass(frozen=True, slots=True)
class RollUp:
    state: RunState
    verdict: Verdict | None
    reason: str | None


_WORDS: dict[str, str] = {
    "failed": "failed",
    "lost": "lost its agent",
    "expired": "was not leased in time",
    "cancelled": "was cancelled",
}


def roll_up(jobs: Iterable[JobSummary]) -> RollUp:
    """State, verdict and reason of a run from its jobs.

    `fail` needs one job that concluded `fail`; `pass` needs every job done and passing; everything else that
    is over is `inconclusive` (I12), except a run that was cancelled, which says nothing.
    """
    summaries = list(jobs)
    states = {job.state for job in summaries}
    failing = [job for job in summaries if job.state == "done" and job.verdict == "fail"]
    if not states <= FINAL:
        return RollUp("queued" if states == {"queued"} else "active", None, None)
    state: RunState = "done"
    if states & {"failed", "lost", "expired"}:
        state = "failed"
    elif "cancelled" in states:
        state = "cancelled"
    if failing:
        return RollUp(state, "fail", _reason(failing))
    if state == "cancelled":
        return RollUp(state, None, None)
    doubtful = [job for job in summaries if job.state != "done" or job.verdict != "pass"]
    if doubtful:
        return RollUp(state, "inconclusive", _reason(doubtful))
    return RollUp(state, "pass", _reason(summaries))


REASON_CHARACTERS = 1000
"""Of a run's reason: what one line of a list and one message of a channel can hold."""
TARGETS_NAMED = 3


def _reason(jobs: list[JobSummary]) -> str:
    """Each reason once, after the targets that gave it; whole ones only, the rest is counted."""
    told: dict[str, list[str]] = {}
    for job in jobs:
        names = told.setdefault(job.reason or _WORDS.get(job.state, "no reason given"), [])
        if job.target_name not in names:
            names.append(job.target_name)
    said = [f"{_targets(names)}: {reason}" for reason, names in told.items()]
    fit = len(said)
    while fit > 1 and len(_counted(said, fit)) > REASON_CHARACTERS:
        fit -= 1
    text = _counted(said, fit)
    return text if len(text) <= REASON_CHARACTERS else f"{text[: REASON_CHARACTERS - 1]}…"


def _counted(said: list[str], first: int) -> str:
    rest = len(said) - first
    more = [f"and {rest} more {'reason' if rest == 1 else 'reasons'}"] if rest else []
    return "; ".join([*said[:first], *more])


def _targets(names: list[str]) -> str:
    rest = len(names) - TARGETS_NAMED
    return f"{', '.join(names[:TARGETS_NAMED])}{f' and {rest} more' if rest > 0 else ''}"
