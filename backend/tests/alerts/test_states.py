"""The life of an alert as a table: which event applies where, and what people may do."""

from __future__ import annotations

from typing import get_args

import pytest
from paceline_server.alerts.schemas import Action, AlertState
from paceline_server.alerts.states import (
    LIVE,
    VISIBLE,
    Event,
    IllegalTransitionError,
    next_state,
    possible_actions,
)

STATES: tuple[AlertState | None, ...] = (None, *get_args(AlertState))

LEGAL: dict[tuple[AlertState | None, Event], AlertState] = {
    (None, Event.raise_): "suspected",
    ("inconclusive", Event.retry): "suspected",
    ("suspected", Event.confirm): "open",
    ("inconclusive", Event.confirm): "open",
    ("suspected", Event.refute): "unconfirmed",
    ("inconclusive", Event.refute): "unconfirmed",
    ("suspected", Event.undecide): "inconclusive",
    ("inconclusive", Event.undecide): "inconclusive",
    ("open", Event.recover): "fixed",
    ("acknowledged", Event.recover): "fixed",
    ("open", Event.acknowledge): "acknowledged",
    ("open", Event.fixed): "fixed",
    ("acknowledged", Event.fixed): "fixed",
    ("inconclusive", Event.expected): "expected",
    ("inconclusive", Event.invalid): "invalid",
    ("inconclusive", Event.infra): "infra",
    ("open", Event.expected): "expected",
    ("open", Event.invalid): "invalid",
    ("open", Event.infra): "infra",
    ("acknowledged", Event.expected): "expected",
    ("acknowledged", Event.invalid): "invalid",
    ("acknowledged", Event.infra): "infra",
    ("fixed", Event.reopen): "open",
    ("expected", Event.reopen): "open",
    ("invalid", Event.reopen): "open",
    ("infra", Event.reopen): "open",
    ("vanished", Event.reopen): "open",
    ("fixed", Event.verify): "fixed",
    ("fixed", Event.relapse): "open",
    ("suspected", Event.vanish): "vanished",
    ("inconclusive", Event.vanish): "vanished",
    ("open", Event.vanish): "vanished",
    ("acknowledged", Event.vanish): "vanished",
    ("vanished", Event.reappear): "suspected",
}


@pytest.mark.parametrize("event", list(Event))
@pytest.mark.parametrize("state", STATES)
def test_every_event_in_every_state(state: AlertState | None, event: Event) -> None:
    if (state, event) in LEGAL:
        assert next_state(state, event) == LEGAL[state, event]
    else:
        with pytest.raises(IllegalTransitionError, match=event.value):
            next_state(state, event)


def test_only_a_confirmation_a_person_or_a_fix_that_did_not_hold_opens_an_alert() -> (
    None
):
    opening = {
        (before, event) for (before, event), after in LEGAL.items() if after == "open"
    }
    assert {event for _, event in opening} == {
        Event.confirm,
        Event.reopen,
        Event.relapse,
    }
    assert [before for before, event in opening if event is Event.relapse] == ["fixed"]


def test_people_decide_nothing_about_a_candidate() -> None:
    assert possible_actions("suspected") == []
    assert possible_actions("unconfirmed") == []
    assert possible_actions("open") == [
        "acknowledge",
        "fixed",
        "expected",
        "invalid",
        "infra",
    ]
    assert possible_actions("acknowledged") == ["fixed", "expected", "invalid", "infra"]
    assert possible_actions("fixed") == ["reopen"]
    assert possible_actions("vanished") == ["reopen"]
    assert set(get_args(Action)) <= {event.value for event in Event}


def test_nobody_is_told_of_what_is_not_confirmed() -> None:
    assert not VISIBLE & {"suspected", "unconfirmed", "inconclusive", "vanished"}
    closed = {state for state in VISIBLE if possible_actions(state) == ["reopen"]}
    assert {"open", "acknowledged"} | closed == VISIBLE
    assert not LIVE & closed
