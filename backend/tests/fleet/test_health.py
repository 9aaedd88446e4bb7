"""The health machine by itself: what each event makes of each state."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from paceline_server.fleet.health import (
    MAX_FAILURES,
    RECHECK_UNFIT_AFTER,
    RETRY_AFTER,
    CheckFailure,
    CheckOpportunity,
    CheckPass,
    DeviceReadings,
    Event,
    Health,
    InfrastructureFailure,
    QuarantineDecision,
    Reboot,
    RecheckRequest,
    RecoveryFailure,
    ReleaseDecision,
    SuccessfulRun,
    step,
)

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER = AT + timedelta(hours=1)
STATES = ("unknown", "checking", "good", "recovering", "suspect", "quarantined")
COOL = DeviceReadings(battery_c=25.0, battery_percent=80.0, thermal_status=0)

FOLLOWS: dict[str, tuple[Event, tuple[str, ...]]] = {
    # event → the state after it, from each of STATES in order
    "ask": (
        CheckOpportunity(AT),
        ("checking", "checking", "good", "recovering", "checking", "quarantined"),
    ),
    "passed": (
        CheckPass(),
        ("good", "good", "good", "recovering", "good", "quarantined"),
    ),
    "failed": (CheckFailure(AT, True, "w"), ("suspect",) * 5 + ("quarantined",)),
    "unfit": (
        CheckFailure(AT, False, "full"),
        ("unknown", "unknown", "unknown", "recovering", "unknown", "quarantined"),
    ),
    "failed during a job": (
        InfrastructureFailure(AT, "w"),
        ("suspect",) * 5 + ("quarantined",),
    ),
    "hot": (DeviceReadings(battery_c=35.0), ("recovering",) * 5 + ("quarantined",)),
    "cool": (
        COOL,
        ("unknown", "checking", "good", "unknown", "suspect", "quarantined"),
    ),
    "good run": (SuccessfulRun(), STATES),
    "restarted": (
        Reboot(),
        ("unknown", "checking", "unknown", "unknown", "suspect", "quarantined"),
    ),
    "gave up": (RecoveryFailure("w"), ("quarantined",) * 6),
    "recheck": (RecheckRequest(), ("checking",) * 5 + ("quarantined",)),
    "quarantine": (QuarantineDecision("w"), ("quarantined",) * 6),
    "release": (
        ReleaseDecision(),
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
    checked = after(Health(), CheckOpportunity(AT), CheckPass())
    assert (checked.state, checked.checked, checked.reason) == ("good", True, None)


def test_the_third_infrastructure_failure_without_a_good_run_quarantines_with_its_reason() -> (
    None
):
    lost = InfrastructureFailure(AT, "device lost: cable")
    once = after(Health(), CheckPass(), lost)
    twice = after(once, CheckOpportunity(LATER), CheckPass(), lost)
    thrice = after(twice, CheckOpportunity(LATER), CheckPass(), lost)
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
    lost = InfrastructureFailure(AT, "w")
    twice = after(
        Health(),
        lost,
        CheckOpportunity(LATER),
        CheckPass(),
        lost,
        CheckOpportunity(LATER),
        CheckPass(),
    )
    assert (twice.state, twice.failures) == ("good", 2)
    assert after(twice, lost).state == "quarantined"
    assert after(twice, SuccessfulRun(), lost).state == "suspect"


def test_a_failed_check_is_repeated_after_a_pause_and_not_before() -> None:
    for infrastructure, pause in ((True, RETRY_AFTER), (False, RECHECK_UNFIT_AFTER)):
        failed = step(Health("checking"), CheckFailure(AT, infrastructure, "w"))
        assert (
            step(failed, CheckOpportunity(AT + pause - timedelta(seconds=1))) == failed
        )
        assert step(failed, CheckOpportunity(AT + pause)).state == "checking"


def test_a_device_in_no_state_to_measure_is_not_counted_against() -> None:
    unfit = after(Health(), *[CheckFailure(AT, False, "storage is full")] * 5)
    assert (unfit.state, unfit.failures, unfit.reason) == (
        "unknown",
        0,
        "storage is full",
    )


@pytest.mark.parametrize(
    ("begins", "holds", "ends"),
    [
        (
            DeviceReadings(battery_c=35.0),
            DeviceReadings(battery_c=32.1),
            DeviceReadings(battery_c=32.0),
        ),
        (
            DeviceReadings(battery_percent=29.9),
            DeviceReadings(battery_percent=34.9),
            DeviceReadings(battery_percent=35.0),
        ),
        (
            DeviceReadings(thermal_status=2),
            DeviceReadings(thermal_status=1),
            DeviceReadings(thermal_status=0),
        ),
    ],
)
def test_a_rest_begins_at_the_outer_limit_and_ends_at_the_inner(
    begins: DeviceReadings, holds: DeviceReadings, ends: DeviceReadings
) -> None:
    good = Health("good", checked=True)
    assert step(good, holds).state == "good", "between the limits nothing begins"
    resting = step(good, begins)
    assert resting.state == "recovering"
    assert len(re.findall(r"\d+", resting.reason or "")) == 1, (
        "the limit that ends it, and no reading"
    )
    assert step(resting, holds).state == "recovering", "between the limits nothing ends"
    assert step(step(resting, holds), ends) == replace(good, reason=None)


def test_a_full_device_rests_until_a_reading_shows_room_and_is_checked_at_once_then() -> (
    None
):
    """A check that found it full would otherwise be repeated only after RECHECK_UNFIT_AFTER."""
    full, room = (
        DeviceReadings(free_bytes=(512 << 20) - 1),
        DeviceReadings(free_bytes=512 << 20),
    )
    resting = after(
        Health("checking"), CheckFailure(AT, False, "free_space: 3 MiB are free"), full
    )
    assert (resting.state, resting.held_for) == ("recovering", ("full",))
    assert resting.reason == "its storage is full, it rests until 512 MiB are free"
    assert step(resting, full).state == "recovering"
    assert after(resting, room, CheckOpportunity(AT)).state == "checking"
    assert after(resting, DeviceReadings(), CheckOpportunity(AT)).state == "checking", (
        "a check looks at what it does not tell"
    )
    assert after(Health("good", checked=True), full, room) == Health(
        "good", checked=True
    )


def test_what_the_device_cannot_say_neither_begins_nor_ends_a_rest() -> None:
    nothing = DeviceReadings()
    good = Health("good", checked=True)
    assert step(good, nothing) == good
    for hold in (
        DeviceReadings(battery_c=40.0),
        DeviceReadings(battery_percent=5.0),
        DeviceReadings(thermal_status=3),
    ):
        assert after(good, hold, nothing).state == "recovering"


@pytest.mark.parametrize(
    "hold", [DeviceReadings(battery_c=40.0), DeviceReadings(thermal_status=3)]
)
def test_a_rest_ends_though_the_device_does_not_tell_any_more_what_it_rests_for(
    hold: DeviceReadings,
) -> None:
    resting, silent = (
        step(Health("good", checked=True), hold),
        DeviceReadings(battery_percent=80.0),
    )
    for event in (Reboot(), RecheckRequest()):
        released = after(
            resting, event, silent, CheckOpportunity(AT), CheckPass(), silent
        )
        assert (released.state, released.held_for) == ("good", ())
        assert after(resting, event, hold).state == "recovering", (
            "what it still says holds it again"
        )


def test_a_cool_battery_stands_in_for_a_thermal_status_that_is_told_no_more() -> None:
    resting = step(
        Health("good", checked=True), DeviceReadings(thermal_status=3, battery_c=34.0)
    )
    assert step(resting, DeviceReadings(battery_c=33.0)).state == "recovering"
    assert step(resting, DeviceReadings(battery_c=32.0)).state == "good"


def test_it_rests_until_every_reason_is_over() -> None:
    both = step(
        Health("good", checked=True),
        DeviceReadings(battery_c=36.0, battery_percent=10.0),
    )
    cooled = step(both, DeviceReadings(battery_c=30.0, battery_percent=10.0))
    assert (cooled.state, cooled.held_for) == ("recovering", ("low_battery",))
    assert (
        step(cooled, DeviceReadings(battery_c=30.0, battery_percent=50.0)).state
        == "good"
    )


def test_a_device_in_doubt_is_checked_after_its_rest() -> None:
    unchecked = after(Health("unknown"), DeviceReadings(battery_c=36.0))
    assert step(unchecked, COOL).state == "unknown"
    assert (
        after(
            Health("suspect", failures=2), DeviceReadings(battery_c=36.0), COOL
        ).failures
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
    assert step(held, ReleaseDecision()) == Health(reason="released by a person"), (
        "a clean slate, not checked yet"
    )
