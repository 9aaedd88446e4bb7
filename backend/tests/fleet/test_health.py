"""The health machine by itself: what each event makes of each state."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from paceline_server.fleet.health import (
    LOOK_AGAIN_AFTER,
    MAX_FAILURES,
    RETRY_AFTER,
    Ask,
    CheckFailed,
    CheckPassed,
    Event,
    GatesRead,
    GaveUp,
    Health,
    InfrastructureFailed,
    Quarantine,
    Rebooted,
    Recheck,
    Release,
    RunSucceeded,
    step,
)

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER = AT + timedelta(hours=1)
STATES = ("unknown", "checking", "good", "recovering", "suspect", "quarantined")
COOL = GatesRead(battery_c=25.0, battery_percent=80.0, thermal_status=0)

FOLLOWS: dict[str, tuple[Event, tuple[str, ...]]] = {
    # event → the state after it, from each of STATES in order
    "ask": (
        Ask(AT),
        ("checking", "checking", "good", "recovering", "checking", "quarantined"),
    ),
    "passed": (
        CheckPassed(),
        ("good", "good", "good", "recovering", "good", "quarantined"),
    ),
    "failed": (CheckFailed(AT, True, "w"), ("suspect",) * 5 + ("quarantined",)),
    "unfit": (
        CheckFailed(AT, False, "full"),
        ("unknown", "unknown", "unknown", "recovering", "unknown", "quarantined"),
    ),
    "lost by a job": (
        InfrastructureFailed(AT, "w"),
        ("suspect",) * 5 + ("quarantined",),
    ),
    "hot": (GatesRead(battery_c=35.0), ("recovering",) * 5 + ("quarantined",)),
    "cool": (
        COOL,
        ("unknown", "checking", "good", "unknown", "suspect", "quarantined"),
    ),
    "good run": (RunSucceeded(), STATES),
    "restarted": (
        Rebooted(),
        ("unknown", "checking", "unknown", "unknown", "suspect", "quarantined"),
    ),
    "gave up": (GaveUp("w"), ("quarantined",) * 6),
    "recheck": (Recheck(), ("checking",) * 5 + ("quarantined",)),
    "quarantine": (Quarantine("w"), ("quarantined",) * 6),
    "release": (
        Release(),
        ("unknown", "checking", "good", "recovering", "suspect", "unknown"),
    ),
}


@pytest.mark.parametrize("name", FOLLOWS)
def test_every_event_leads_from_every_state_where_the_table_says(name: str) -> None:
    event, after = FOLLOWS[name]
    assert tuple(step(Health(state), event).state for state in STATES) == after  # type: ignore[arg-type]


def after(health: Health, *events: Event) -> Health:
    for event in events:
        health = step(health, event)
    return health


def test_an_unknown_device_is_good_once_a_check_has_passed() -> None:
    checked = after(Health(), Ask(AT), CheckPassed())
    assert (checked.state, checked.checked, checked.reason) == ("good", True, None)


def test_the_third_infrastructure_failure_without_a_good_run_quarantines_with_its_reason() -> (
    None
):
    lost = InfrastructureFailed(AT, "device lost: cable")
    once = after(Health(), CheckPassed(), lost)
    twice = after(once, Ask(LATER), CheckPassed(), lost)
    thrice = after(twice, Ask(LATER), CheckPassed(), lost)
    assert [one.state for one in (once, twice, thrice)] == [
        "suspect",
        "suspect",
        "quarantined",
    ]
    assert thrice.failures == MAX_FAILURES
    assert "device lost: cable" in (thrice.reason or "")


def test_a_good_run_between_begins_the_count_again_and_a_passed_check_does_not() -> (
    None
):
    lost = InfrastructureFailed(AT, "w")
    twice = after(
        Health(), lost, Ask(LATER), CheckPassed(), lost, Ask(LATER), CheckPassed()
    )
    assert (twice.state, twice.failures) == ("good", 2)
    assert after(twice, lost).state == "quarantined"
    assert after(twice, RunSucceeded(), lost).state == "suspect"


def test_a_failed_check_is_repeated_after_a_pause_and_not_before() -> None:
    for infrastructure, pause in ((True, RETRY_AFTER), (False, LOOK_AGAIN_AFTER)):
        failed = step(Health("checking"), CheckFailed(AT, infrastructure, "w"))
        assert step(failed, Ask(AT + pause - timedelta(seconds=1))) == failed
        assert step(failed, Ask(AT + pause)).state == "checking"


def test_a_device_in_no_state_to_measure_is_not_counted_against() -> None:
    unfit = after(Health(), *[CheckFailed(AT, False, "storage is full")] * 5)
    assert (unfit.state, unfit.failures, unfit.reason) == (
        "unknown",
        0,
        "storage is full",
    )


@pytest.mark.parametrize(
    ("begins", "holds", "ends"),
    [
        (
            GatesRead(battery_c=35.0),
            GatesRead(battery_c=32.1),
            GatesRead(battery_c=32.0),
        ),
        (
            GatesRead(battery_percent=29.9),
            GatesRead(battery_percent=34.9),
            GatesRead(battery_percent=35.0),
        ),
        (
            GatesRead(thermal_status=2),
            GatesRead(thermal_status=1),
            GatesRead(thermal_status=0),
        ),
    ],
)
def test_a_rest_begins_at_the_outer_limit_and_ends_at_the_inner(
    begins: GatesRead, holds: GatesRead, ends: GatesRead
) -> None:
    good = Health("good", checked=True)
    assert step(good, holds).state == "good", "between the limits nothing begins"
    resting = step(good, begins)
    assert resting.state == "recovering"
    assert resting.reason
    assert step(resting, holds).state == "recovering", "between the limits nothing ends"
    assert step(step(resting, holds), ends) == replace(good, reason=None)


def test_a_full_device_rests_until_a_reading_shows_room_and_is_checked_at_once_then() -> (
    None
):
    """A check that found it full would otherwise be repeated only after LOOK_AGAIN_AFTER."""
    full, room = GatesRead(free_bytes=(512 << 20) - 1), GatesRead(free_bytes=512 << 20)
    resting = after(
        Health("checking"), CheckFailed(AT, False, "free_space: 3 MiB are free"), full
    )
    assert (resting.state, resting.held_for) == ("recovering", ("full",))
    assert "511 MiB free, rests until 512 MiB are" in (resting.reason or "")
    assert step(resting, full).state == "recovering"
    assert after(resting, room, Ask(AT)).state == "checking"
    assert after(resting, GatesRead(), Ask(AT)).state == "checking", (
        "a check looks at what it does not tell"
    )
    assert after(Health("good", checked=True), full, room) == Health(
        "good", checked=True
    )


def test_what_the_device_cannot_say_neither_begins_nor_ends_a_rest() -> None:
    nothing = GatesRead()
    good = Health("good", checked=True)
    assert step(good, nothing) == good
    for hold in (
        GatesRead(battery_c=40.0),
        GatesRead(battery_percent=5.0),
        GatesRead(thermal_status=3),
    ):
        assert after(good, hold, nothing).state == "recovering"


@pytest.mark.parametrize(
    "hold", [GatesRead(battery_c=40.0), GatesRead(thermal_status=3)]
)
def test_a_rest_ends_though_the_device_does_not_tell_any_more_what_it_rests_for(
    hold: GatesRead,
) -> None:
    resting, silent = (
        step(Health("good", checked=True), hold),
        GatesRead(battery_percent=80.0),
    )
    for event in (Rebooted(), Recheck()):
        released = after(resting, event, silent, Ask(AT), CheckPassed(), silent)
        assert (released.state, released.held_for) == ("good", ())
        assert after(resting, event, hold).state == "recovering", (
            "what it still says holds it again"
        )


def test_a_cool_battery_stands_in_for_a_thermal_status_that_is_told_no_more() -> None:
    resting = step(
        Health("good", checked=True), GatesRead(thermal_status=3, battery_c=34.0)
    )
    assert step(resting, GatesRead(battery_c=33.0)).state == "recovering"
    assert step(resting, GatesRead(battery_c=32.0)).state == "good"


def test_it_rests_until_every_reason_is_over() -> None:
    both = step(
        Health("good", checked=True), GatesRead(battery_c=36.0, battery_percent=10.0)
    )
    cooled = step(both, GatesRead(battery_c=30.0, battery_percent=10.0))
    assert (cooled.state, cooled.held_for) == ("recovering", ("low_battery",))
    assert step(cooled, GatesRead(battery_c=30.0, battery_percent=50.0)).state == "good"


def test_a_device_in_doubt_is_checked_after_its_rest() -> None:
    unchecked = after(Health("unknown"), GatesRead(battery_c=36.0))
    assert step(unchecked, COOL).state == "unknown"
    assert (
        after(Health("suspect", failures=2), GatesRead(battery_c=36.0), COOL).failures
        == 2
    )


def test_nothing_but_a_person_ends_a_quarantine() -> None:
    held = Health("quarantined", "w", failures=3)
    machine = [
        event
        for name, (event, _) in FOLLOWS.items()
        if name not in ("release", "quarantine", "gave up")
    ]
    assert after(held, *machine).state == "quarantined"
    assert step(held, Release()) == Health(reason="released by a person"), (
        "a clean slate, not checked yet"
    )
