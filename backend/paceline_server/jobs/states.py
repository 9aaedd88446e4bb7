"""Decides which state of a job follows which: pure functions from (state, event) to state.

No other module decides this. `transitions.py` stores the result; how a job ended and what that means for its
run is in `outcomes.py`.

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
| `lease` | `leases.lease_next_job` |
| `wait` `prepare` `measure` `upload` | `leases.report_state` (repeating a state is a no-op: an answer was lost) |
| `revive` | `leases.renew` (the agent went on while the server or the network was away) |
| `late_result` | `leases.check_lease` (the first write that arrives after the lease ran out) |
| `finish_done` `finish_failed` `finish_cancelled` | `leases.finish` |
| `requeue` `give_up` `lose` | `expiry.expire_leases`; `leases.finish` when infrastructure failed early |
| `expire` | `expiry.expire_unleased` |
| `cancel` | `service.cancel` (a leased job is asked to stop; `finish_cancelled` or `cancel` ends it) |
| `request_batch` `conclude` | `service.request_batch` `service.conclude`, called by detect |
| `give_up_analysis` | `service.fail_analysis`, called by detect when the outbox stops trying |
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from paceline_server.jobs.schemas import JobState

MAX_REQUEUES = 2
"""So many infrastructure losses before measuring are retried silently."""

MAX_BATCH = 2
"""The highest batch number: a job is analysed at most three times (stats/README.md §2, alpha in three looks)."""

HELD: frozenset[JobState] = frozenset({"leased", "preparing", "measuring", "uploading"})
"""States in which an agent works on the job and its target is taken (I9)."""

FINAL: frozenset[JobState] = frozenset(
    {"done", "failed", "cancelled", "lost", "expired"}
)
"""States of an ended job; only `lost` may be revived, by a renewal or a late result."""

INFRASTRUCTURE_CAUSES = frozenset(
    {
        "agent_lost",
        "agent_error",
        "disk_full",
        "target_refused",
        "lease_lost",
        "device_lost",
        "device_rebooted",
        "device_refused",
        "device_storage_full",
        "device_unauthorized",
    }
)
"""Failures around the workload, which are retried if nothing was measured yet. Two are missing on purpose:
`checkout_failed`, because a missing commit stays missing and the person should know at once, and `placing_failed`,
because the agent has sent the file three times."""


class Event(StrEnum):
    lease = "lease"
    wait = "wait"
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
    Event.wait: (("leased",), "leased"),
    Event.prepare: (("leased", "preparing"), "preparing"),
    Event.measure: (("leased", "preparing", "measuring"), "measuring"),
    Event.upload: (
        ("leased", "preparing", "measuring", "uploading", "lost"),
        "uploading",
    ),
    Event.revive: (("lost",), "measuring"),
    Event.late_result: (("lost",), "uploading"),
    Event.finish_done: (("measuring", "uploading", "lost"), "analysing"),
    Event.finish_failed: (
        ("leased", "preparing", "measuring", "uploading", "lost"),
        "failed",
    ),
    Event.finish_cancelled: (
        ("leased", "preparing", "measuring", "uploading", "lost"),
        "cancelled",
    ),
    Event.requeue: (("leased", "preparing"), "queued"),
    Event.give_up: (("leased", "preparing"), "failed"),
    Event.lose: (("measuring", "uploading"), "lost"),
    Event.expire: (("queued",), "expired"),
    Event.cancel: (
        (
            "queued",
            "leased",
            "preparing",
            "measuring",
            "uploading",
            "analysing",
            "lost",
        ),
        "cancelled",
    ),
    Event.request_batch: (("analysing",), "queued"),
    Event.conclude: (("analysing",), "done"),
    Event.give_up_analysis: (("analysing",), "failed"),
}
"""For each event, (the states in which it may happen, the state that follows)."""

REPORTS: dict[Literal["leased", "preparing", "measuring", "uploading"], Event] = {
    "leased": Event.wait,
    "preparing": Event.prepare,
    "measuring": Event.measure,
    "uploading": Event.upload,
}
"""The event for each state that an agent reports. States may be skipped, for example with a cached artifact."""


class IllegalTransitionError(Exception):
    """The event cannot happen in this state; nothing was changed."""

    def __init__(self, state: JobState, event: Event) -> None:
        self.state: JobState = state
        self.event = event
        super().__init__(f"a job that is {state} cannot {event.replace('_', ' ')}")


def states_before(event: Event) -> frozenset[JobState]:
    """Return the states in which `event` may happen."""
    return frozenset(_RULES[event][0])


def step(state: JobState, event: Event) -> JobState:
    """Return the state after `event`. Raises `IllegalTransitionError`."""
    before, after = _RULES[event]
    if state not in before:
        raise IllegalTransitionError(state, event)
    return after


def on_lease_loss(state: JobState, *, requeues: int, cancel_requested: bool) -> Event:
    """Return what follows when the lease of a held job ran out.

    A requested cancel is carried out. Before measuring, the job is retried. Once there may be samples it is
    `lost`: its agent may go on or deliver the rest.
    """
    if cancel_requested:
        return Event.cancel
    if state in states_before(Event.lose):
        return Event.lose
    return Event.requeue if requeues < MAX_REQUEUES else Event.give_up


def on_failure(state: JobState, *, cause: str, requeues: int) -> Event:
    """Return what follows when an agent reports `failed`; failures of the workload are never retried."""
    before_measuring = state in states_before(Event.requeue)
    if before_measuring and cause in INFRASTRUCTURE_CAUSES and requeues < MAX_REQUEUES:
        return Event.requeue
    return Event.finish_failed
