"""Tests of the recovery ladder and the agent's health episodes: limits hold, and only a failed check starts recovery."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline.devices.health import (
    LIMITS,
    CheckDue,
    CheckFailed,
    CheckPassed,
    DeviceUnfit,
    Event,
    HealthEpisode,
    Ladder,
    RecoveryCapabilities,
    Rung,
    RungTried,
    State,
    may_lease,
    next_episode,
    next_rung,
)
from paceline.devices.reboots import DAY_S, PER_DAY, Reboots

from .support import Clock


def rungs_of_episode(capabilities: RecoveryCapabilities) -> list[Rung]:
    """Return the rungs of an episode in which no rung helps."""
    ladder = Ladder()
    rungs: list[Rung] = []
    while not rungs or rungs[-1] is not Rung.GIVE_UP:
        rungs.append(next_rung(ladder, capabilities))
        ladder = ladder.with_tried(rungs[-1])
    return rungs


def test_the_ladder_is_climbed_from_below_and_ends_in_giving_up() -> None:
    assert rungs_of_episode(
        RecoveryCapabilities(by_server=True, speaks=True, reboots_left=2)
    ) == [
        Rung.RECONNECT,
        Rung.RECONNECT,
        Rung.NEW_CONNECTION,
        Rung.NEW_CONNECTION,
        Rung.ADB_RECONNECT,
        Rung.REBOOT,
        Rung.GIVE_UP,
    ]


@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [
        (
            RecoveryCapabilities(by_server=False, speaks=True, reboots_left=2),
            {Rung.ADB_RECONNECT},
        ),
        (
            RecoveryCapabilities(by_server=True, speaks=False, reboots_left=2),
            {Rung.REBOOT},
        ),
        (
            RecoveryCapabilities(by_server=True, speaks=True, reboots_left=0),
            {Rung.REBOOT},
        ),
        (
            RecoveryCapabilities(
                by_server=True, speaks=True, reboots_left=2, survives_restart=False
            ),
            {Rung.REBOOT},
        ),
    ],
)
def test_a_rung_that_cannot_help_is_passed_over(
    capabilities: RecoveryCapabilities, missing: set[Rung]
) -> None:
    assert set(Rung) - set(rungs_of_episode(capabilities)) == missing


def test_no_rung_is_tried_more_often_than_its_limit() -> None:
    rungs = rungs_of_episode(
        RecoveryCapabilities(by_server=True, speaks=True, reboots_left=99)
    )
    assert {rung: rungs.count(rung) for rung in LIMITS} == LIMITS


def test_two_restarts_a_day_are_counted_across_restarts_of_the_agent(
    tmp_path: Path,
) -> None:
    clock, path = Clock(), tmp_path / "SER" / "reboots.json"
    for left in range(PER_DAY, 0, -1):
        assert Reboots(path, clock).left == left
        Reboots(path, clock).record()
        clock.now_s += 3600
    assert Reboots(path, clock).left == 0
    clock.now_s += DAY_S - 2 * 3600
    assert Reboots(path, clock).left == 1
    clock.now_s += 3600
    assert Reboots(path, clock).left == PER_DAY


def test_a_clock_that_was_set_back_gives_no_more_restarts(tmp_path: Path) -> None:
    clock = Clock()
    reboots = Reboots(tmp_path / "reboots.json", clock)
    reboots.record()
    reboots.record()
    clock.now_s -= 500
    assert reboots.left == 0


@pytest.mark.parametrize("content", [b"", b"[1,", b'["x"]', b"3", b"\xff"])
def test_a_count_that_cannot_be_read_allows_no_restart(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "reboots.json").write_bytes(content)
    assert Reboots(tmp_path / "reboots.json").left == 0


TABLE: list[tuple[State, Event, State]] = [
    ("idle", CheckDue("why"), "checking"),
    ("checking", CheckDue("why"), "checking"),
    ("recovering", CheckDue("why"), "recovering"),
    ("given_up", CheckDue("why"), "checking"),
    ("checking", CheckPassed(), "idle"),
    ("checking", CheckFailed("broken"), "recovering"),
    ("checking", DeviceUnfit("hot"), "idle"),
    ("recovering", RungTried(Rung.RECONNECT), "checking"),
    ("recovering", RungTried(Rung.REBOOT), "checking"),
    ("recovering", RungTried(Rung.GIVE_UP), "given_up"),
]


@pytest.mark.parametrize(("before", "event", "after"), TABLE)
def test_every_event_leads_from_a_state_to_its_one_state(
    before: State, event: Event, after: State
) -> None:
    assert next_episode(HealthEpisode(before), event).state == after


def test_an_episode_remembers_its_rungs_until_a_check_passes() -> None:
    episode = next_episode(
        next_episode(HealthEpisode(), CheckDue("the server")), CheckFailed("lost")
    )
    episode = next_episode(episode, RungTried(Rung.RECONNECT))
    episode = next_episode(
        next_episode(episode, CheckFailed("lost again")), RungTried(Rung.RECONNECT)
    )
    assert episode.ladder.tried == (Rung.RECONNECT, Rung.RECONNECT)
    assert next_episode(episode, CheckPassed()) == HealthEpisode()


def test_after_giving_up_only_a_new_demand_begins_a_new_episode() -> None:
    episode = next_episode(
        next_episode(next_episode(HealthEpisode(), CheckDue("x")), CheckFailed("lost")),
        RungTried(Rung.GIVE_UP),
    )
    assert not may_lease(episode, "good")
    assert next_episode(episode, CheckDue("a person asked")).ladder == Ladder()


@pytest.mark.parametrize(
    ("state", "health", "allowed"),
    [
        ("idle", "good", True),
        ("idle", None, True),
        ("idle", "suspect", False),
        ("idle", "unknown", False),
        ("idle", "recovering", False),
        ("idle", "quarantined", False),
        ("idle", "checking", False),
        ("checking", "good", False),
        ("recovering", "good", False),
        ("given_up", "good", False),
    ],
)
def test_only_a_good_device_outside_an_episode_asks_for_jobs(
    state: State, health: str | None, allowed: bool
) -> None:
    assert may_lease(HealthEpisode(state), health) is allowed
