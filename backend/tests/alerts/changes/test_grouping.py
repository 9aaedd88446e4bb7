"""Which changes have one cause: equal kind, overlapping range, no chains."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from paceline_contract.imported_series import make_arm_name
from paceline_contract.text_names import make_name
from paceline_server.alerts.changes.change_facts import (
    GroupableChange,
    TimeRange,
    group_by_cause,
)
from paceline_server.alerts.explanation import series_place
from paceline_server.store.tables.history import Series

START = datetime(2026, 3, 1, tzinfo=UTC)


def moved(
    name: str, after: int, upto: int, kind: str = "worse", p: float = 1e-4
) -> GroupableChange[str]:
    ends = [START + timedelta(days=day) for day in (after, upto)]
    return GroupableChange(name, (kind,), TimeRange(*ends), (p, name))


def keys(*moves: GroupableChange[str]) -> list[list[str]]:
    return [[change.key for change in group] for group in group_by_cause(moves)]


def test_ranges_that_share_an_instant_in_which_it_may_have_happened_overlap() -> None:
    assert keys(moved("a", 1, 3), moved("b", 2, 5)) == [["a", "b"]]
    assert keys(moved("a", 1, 3), moved("b", 3, 5)) == [["a"], ["b"]]


def test_the_other_direction_is_another_cause() -> None:
    assert keys(moved("a", 1, 3), moved("b", 1, 3, "better")) == [["a"], ["b"]]


def test_neighbours_do_not_chain_two_causes_together() -> None:
    """The middle one joins the surest it overlaps; the third overlaps only the middle one."""
    groups = keys(
        moved("a", 0, 4, p=1e-9), moved("m", 3, 6, p=1e-3), moved("z", 5, 9, p=1e-6)
    )
    assert groups == [["a", "m"], ["z"]]


def test_a_change_of_an_imported_series_is_placed_by_the_whole_text_of_its_names() -> (
    None
):
    names = {"benchmark": make_name("解析"), "arm": make_arm_name("n<=8")}
    series = Series(title="解析/n<=8", params={"size": 4}, **names)
    assert series_place(series) == "n<=8 in 解析 at size=4"
    assert series_place(Series(title=None, params={}, **names)) == (
        f"{names['arm']} in {names['benchmark']}"
    )


def test_the_surest_leads_and_the_order_given_does_not_matter() -> None:
    moves = [moved(str(n), n % 7, n % 7 + 3, p=1e-3 / (n + 1)) for n in range(30)]
    expected = group_by_cause(moves)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(moves))
        assert group_by_cause([moves[at] for at in order]) == expected
    assert expected[0][0].key == "29"
