"""The life of an alert, as a pure function: (state, event) → state.

Place: the middle of `alerts`; `service.py` and `triage.py` ask here before they write. Invariant (I13):
nobody is told before `open`; only the machine decides about candidates, only people decide what an open
alert is. No rows, no I/O.

```
                  raise
                    │                      retry (the arm failed again)
                    ▼         undecide ◀───────────────────────────────┐
   refute ◀──── suspected ───────────────▶ inconclusive ───────────────┘
     │              │ confirm                  │ confirm (a late result), expected, invalid, infra
     ▼              ▼                          ▼
 unconfirmed      open ──acknowledge──▶ acknowledged
     ▲              │                          │
     │              └───────────┬──────────────┘
 refute, from                   │ fixed (a person) · recover (the system: the arm wins again)
 inconclusive too               │ expected · invalid · infra
                                ▼
                   fixed · expected · invalid · infra ──reopen──▶ open
```

| event | function |
| --- | --- |
| `raise_` `retry` | `service.evaluate` on a job whose arm failed its rule |
| `confirm` `refute` `undecide` | `service.evaluate` on the confirmation's job |
| `recover` | `service.evaluate` on a later job in which the arm wins |
| `acknowledge` `fixed` `expected` `invalid` `infra` `reopen` | `triage.act`, by a person or a program |
"""

from __future__ import annotations

from enum import StrEnum
from typing import cast, get_args

from paceline_server.alerts.schemas import Action, AlertState

LIVE: frozenset[AlertState] = frozenset({"suspected", "inconclusive", "open", "acknowledged"})
"""At most one of these per cause (unique partial index)."""

TOLD: frozenset[AlertState] = frozenset({"open", "acknowledged", "fixed", "expected", "invalid", "infra"})
"""States people may have heard of; changes into them are told live."""


class Event(StrEnum):
    raise_ = "raise"
    retry = "retry"
    confirm = "confirm"
    refute = "refute"
    undecide = "undecide"
    recover = "recover"
    acknowledge = "acknowledge"
    fixed = "fixed"
    expected = "expected"
    invalid = "invalid"
    infra = "infra"
    reopen = "reopen"


_TRIAGED: tuple[AlertState, ...] = ("inconclusive", "open", "acknowledged")

_RULES: dict[Event, tuple[tuple[AlertState, ...], AlertState]] = {
    Event.retry: (("inconclusive",), "suspected"),
    Event.confirm: (("suspected", "inconclusive"), "open"),
    Event.refute: (("suspected", "inconclusive"), "unconfirmed"),
    Event.undecide: (("suspected", "inconclusive"), "inconclusive"),
    Event.recover: (("open", "acknowledged"), "fixed"),
    Event.acknowledge: (("open",), "acknowledged"),
    Event.fixed: (("open", "acknowledged"), "fixed"),
    Event.expected: (_TRIAGED, "expected"),
    Event.invalid: (_TRIAGED, "invalid"),
    Event.infra: (_TRIAGED, "infra"),
    Event.reopen: (("fixed", "expected", "invalid", "infra"), "open"),
}


class IllegalTransitionError(Exception):
    """The event does not apply in this state."""


def step(state: AlertState | None, event: Event) -> AlertState:
    """The state after `event`; None is "not raised yet". Raises IllegalTransitionError."""
    if event is Event.raise_ and state is None:
        return "suspected"
    before, after = _RULES.get(event, ((), "suspected"))
    if state not in before:
        raise IllegalTransitionError(f"{event} does not apply to an alert that is {state or 'not raised'}")
    return after


def actions(state: AlertState) -> list[Action]:
    """What a person may do with an alert in this state, in the order of `Action`."""
    return [cast(Action, name) for name in get_args(Action) if state in _RULES[Event(name)][0]]
