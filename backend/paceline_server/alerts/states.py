"""Decides the state of an alert after an event, as a pure function: (state, event) → state.

Nobody is notified before `open`; the system alone decides about suspected alerts, and people alone judge open ones
(I13). `lifecycle.apply_event` applies it.

```
                  raise
                    │          undecide            retry (the arm failed again)
                    ▼        ┌──────────▶ inconclusive ────────────▶ suspected
   refute ◀──── suspected ───┤                 │
     │                       └──────┬──────────┘ confirm
     ▼                              ▼
 unconfirmed                      open ──acknowledge──▶ acknowledged
                                    │                        │
                                    └───────────┬────────────┘
                                                │ fixed (a person) · recover (the system: the effect is gone)
                                                │ expected · invalid · infra (inconclusive ones too)
                                                ▼
                              fixed · expected · invalid · infra ──reopen──▶ open
                                │  ▲ verify (the system saw that it is fixed)
                                └──┴─ relapse (the system saw that it is not) ──▶ open

 suspected · inconclusive · open · acknowledged ──vanish──▶ vanished ──reappear──▶ suspected
                                                               └──reopen (a person)──▶ open
```

| event | applied by `lifecycle` |
| --- | --- |
| `raise_` `retry` `reappear` | when a job shows a cause (`watch`) |
| `confirm` `refute` `undecide` | when its confirmation ended (`settle`); `confirm` also when no run is needed |
| `recover` | when a later job shows that the effect is gone |
| `verify` `relapse` | once enough points follow what a person called fixed |
| `vanish` | when with more points the change is no longer one |
| `acknowledge` `fixed` `expected` `invalid` `infra` `reopen` | for a person or a program (`triage.py`) |
"""

from __future__ import annotations

from enum import StrEnum
from typing import cast, get_args

from paceline_server.alerts.schemas import Action, AlertState

LIVE: frozenset[AlertState] = frozenset(
    {"suspected", "inconclusive", "open", "acknowledged"}
)
"""A cause has at most one alert in these states, which a unique partial index ensures."""

VISIBLE: frozenset[AlertState] = frozenset(
    {"open", "acknowledged", "fixed", "expected", "invalid", "infra"}
)
"""People may see alerts in these states. Changes into and out of them are published live."""


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
    verify = "verify"
    relapse = "relapse"
    vanish = "vanish"
    reappear = "reappear"


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
    Event.reopen: (("fixed", "expected", "invalid", "infra", "vanished"), "open"),
    Event.verify: (("fixed",), "fixed"),
    Event.relapse: (("fixed",), "open"),
    Event.vanish: (("suspected", "inconclusive", "open", "acknowledged"), "vanished"),
    Event.reappear: (("vanished",), "suspected"),
}


class IllegalTransitionError(Exception):
    """The event does not apply in this state."""


def next_state(state: AlertState | None, event: Event) -> AlertState:
    """Return the state after `event`; None means "not raised yet". Raises IllegalTransitionError."""
    if event is Event.raise_ and state is None:
        return "suspected"
    before, after = _RULES.get(event, ((), "suspected"))
    if state not in before:
        raise IllegalTransitionError(
            f"{event} does not apply to an alert that is {state or 'not raised'}"
        )
    return after


def possible_actions(state: AlertState) -> list[Action]:
    """Return the actions a person may take in this state, in the order of `Action`."""
    return [
        cast(Action, name)
        for name in get_args(Action)
        if state in _RULES[Event(name)][0]
    ]
