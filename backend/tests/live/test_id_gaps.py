"""The rule that no event is skipped, drawn as ids that become visible over time. `place` is 4 throughout."""

from __future__ import annotations

from paceline_server.live.id_gaps import GIVE_UP_S, SETTLE_S, GapTracker

LATER = SETTLE_S + 0.01


def test_consecutive_ids_are_shown_at_once() -> None:
    assert GapTracker().count_showable(4, [5, 6, 7], (100, 100), 0.0) == 3


def test_ids_after_a_gap_wait() -> None:
    gaps = GapTracker()
    assert gaps.count_showable(4, [5, 7, 8], (100, 101), 0.0) == 1
    assert gaps.waiting


def test_a_gap_that_fills_is_shown_in_order() -> None:
    gaps = GapTracker()
    assert gaps.count_showable(4, [6], (100, 101), 0.0) == 0
    assert gaps.count_showable(4, [5, 6], (101, 101), 0.0) == 2
    assert not gaps.waiting


def test_a_gap_is_given_up_only_when_every_transaction_of_its_time_has_ended() -> None:
    gaps = GapTracker()
    assert gaps.count_showable(4, [6], (100, 103), 0.0) == 0
    assert gaps.count_showable(4, [6], (100, 103), LATER) == 0  # the fence is set: 103
    assert (
        gaps.count_showable(4, [6], (102, 110), LATER) == 0
    )  # 102 was open then and still is
    assert gaps.count_showable(4, [6], (103, 110), LATER) == 1


def test_the_fence_is_not_set_in_the_first_moment() -> None:
    """An id is drawn before its transaction shows up as open: an early fence could miss it."""
    gaps = GapTracker()
    assert gaps.count_showable(4, [6], (100, 100), 0.0) == 0
    assert gaps.count_showable(4, [6], (100, 100), SETTLE_S / 2) == 0
    assert gaps.count_showable(4, [6], (100, 101), LATER) == 0
    assert gaps.count_showable(4, [6], (101, 101), LATER) == 1


def test_a_second_gap_is_waited_for_on_its_own() -> None:
    gaps = GapTracker()
    gaps.count_showable(4, [6, 8], (100, 101), 0.0)
    gaps.count_showable(4, [6, 8], (100, 101), LATER)
    assert gaps.count_showable(4, [6, 8], (101, 102), LATER) == 1
    assert gaps.count_showable(6, [8], (101, 102), LATER) == 0


def test_a_transaction_that_never_ends_does_not_hold_streams_for_ever() -> None:
    gaps = GapTracker()
    gaps.count_showable(4, [6], (100, 101), 0.0)
    assert gaps.count_showable(4, [6], (100, 500), GIVE_UP_S) == 1
