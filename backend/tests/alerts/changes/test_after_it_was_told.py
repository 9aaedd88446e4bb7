"""What later points do to an alert that people know, and what people do to its changes."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_server.series.service import NewestNames
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import session_scope
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.history import Change
from paceline_server.testing.nightly_jobs import changes, commit_of, state_of
from paceline_server.testing.nightly_jobs import series as all_series
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE, suite_manifest
from sqlalchemy import select

from .conftest import actions

pytestmark = pytest.mark.shapes("embedded")

HistoryDesk = Any


def _opened(desk: HistoryDesk, effect: float = 0.1) -> dict[str, Any]:
    desk.nights(20)
    desk.step(6, effect)
    desk.ab(effect)
    alert: dict[str, Any] = desk.alert()
    assert alert["state"] == "open"
    return alert


def _act(desk: HistoryDesk, alert: dict[str, Any], action: str) -> dict[str, Any]:
    return dict(desk.post(f"/alerts/{alert['id']}/actions", {"action": action}))


def test_a_short_slow_stretch_ends_the_alert_once_enough_points_are_back(
    desk: HistoryDesk,
) -> None:
    _opened(desk)
    desk.nights(4)
    assert desk.alert()["state"] == "open"
    desk.nights(6)
    assert (desk.alert()["state"], actions(desk.alert())[-1]) == ("fixed", "recover")


@pytest.mark.shapes("embedded", "scaled")
def test_a_level_that_comes_back_and_stands_closes_the_alert_with_the_change_as_evidence(
    desk: HistoryDesk,
) -> None:
    _opened(desk)
    desk.nights(10, 0.1)
    desk.nights(12)
    closed = desk.alert()
    assert (closed["state"], actions(closed)[-1]) == ("fixed", "recover")
    assert closed["findings"][-1]["role"] == "recovery"
    assert "back at the level before" in closed["history"][-1]["note"]


def test_half_a_fix_closes_nothing(desk: HistoryDesk) -> None:
    _opened(desk, 0.2)
    desk.nights(10, 0.1)
    assert desk.alert()["state"] == "open"


def test_what_a_person_called_fixed_is_verified_by_later_points(
    desk: HistoryDesk,
) -> None:
    alert = _opened(desk)
    _act(desk, alert, "fixed")
    desk.nights(10)
    verified = desk.alert()
    assert (verified["state"], actions(verified)[-1]) == ("fixed", "verify")
    desk.nights(3)
    assert actions(desk.alert()).count("verify") == 1


def test_what_a_person_called_fixed_and_is_not_comes_back_after_as_many_points_as_a_change_needs(
    desk: HistoryDesk,
) -> None:
    alert = _opened(desk)
    _act(desk, alert, "fixed")
    desk.nights(4, 0.1)
    assert desk.alert()["state"] == "fixed"
    desk.nights(2, 0.1)
    back = desk.alert()
    assert back["state"] == "open"
    assert "relapse" in actions(back)
    note = next(
        event["note"] for event in back["history"] if event["action"] == "relapse"
    )
    assert note.startswith(
        "called fixed, but the 5 runs since are at the level of the alert"
    )
    assert desk.told()[-1] == "open"


def test_a_verified_fix_that_slows_again_reopens_the_same_alert_once_side_by_side_says_so(
    desk: HistoryDesk,
) -> None:
    alert = _opened(desk)
    _act(desk, alert, "fixed")
    desk.nights(10)
    assert actions(desk.alert())[-1] == "verify"
    desk.step(6, 0.1)
    waiting = desk.alert()
    assert (waiting["state"], waiting["id"]) == ("fixed", alert["id"])
    desk.ab(0.1)
    again = desk.alert()
    assert (again["state"], again["id"]) == ("open", alert["id"])
    assert actions(again)[-2:] == ["relapse", "notified"]
    assert again["head_commit"] != alert["head_commit"]


def test_a_verified_fix_that_only_seems_to_slow_again_stays_fixed(
    desk: HistoryDesk,
) -> None:
    alert = _opened(desk)
    _act(desk, alert, "fixed")
    desk.nights(10)
    desk.step(6, 0.1)
    desk.ab(0.0)
    calm = desk.alert()
    assert (calm["state"], calm["id"]) == ("fixed", alert["id"])
    assert actions(calm)[-1] == "code_cleared"


def _vanish(desk: HistoryDesk) -> None:
    with session_scope() as session:
        rows = session.scalars(select(Change)).all()
        for row in rows:
            row.state = "vanished"
    desk.hear(rows[0].evidence["window"][-1])


def test_what_only_history_spoke_for_vanishes_with_it_and_keeps_its_own_history(
    desk: HistoryDesk,
) -> None:
    desk.nights(20)
    desk.nights(4, 0.1)
    desk.ab(0.1, checks_ok=(False, True))
    desk.nights(2, 0.1)
    assert desk.alert()["state"] == "open"
    _vanish(desk)
    gone = desk.alert()
    assert gone["state"] == "vanished"
    assert actions(gone)[:3] == ["raise", "confirmation_requested", "undecide"]
    assert actions(gone)[-1] == "vanish"


def test_what_was_proven_side_by_side_does_not_vanish_with_history(
    desk: HistoryDesk,
) -> None:
    _opened(desk)
    _vanish(desk)
    assert desk.alert()["state"] == "open"


def test_a_vanished_alert_whose_change_is_found_again_is_the_same_alert(
    desk: HistoryDesk,
) -> None:
    desk.nights(20)
    desk.nights(4, 0.1)
    first = desk.alert()
    desk.cool_down()
    _vanish(desk)
    desk.nights(2, 0.1)
    again = desk.alert()
    assert (again["id"], again["state"]) == (first["id"], "suspected")
    assert "reappear" in actions(again)
    desk.ab(0.1)
    assert desk.alert()["state"] == "open"


def test_what_people_expect_is_the_new_baseline_until_they_change_their_mind(
    desk: HistoryDesk,
) -> None:
    alert = _opened(desk)
    _act(desk, alert, "expected")
    assert [change.state for change in changes()] == ["accepted"]
    desk.nights(6, 0.1)
    assert desk.alert()["state"] == "expected"
    _act(desk, alert, "reopen")
    assert [change.state for change in changes()] == ["standing"]


def test_one_alert_called_expected_accepts_no_change_of_another(
    desk: HistoryDesk,
) -> None:
    first = _opened(desk)
    desk.nights(8, 0.1)
    desk.step(8, 0.25)
    second = desk.alerts()[1]
    desk.ab(0.136)
    _act(desk, second, "expected")
    states = {change.alert_id: change.state for change in changes()}
    assert states == {first["id"]: "standing", second["id"]: "accepted"}
    _act(desk, second, "reopen")
    assert {change.state for change in changes()} == {"standing"}


@pytest.mark.shapes("embedded", "scaled")
def test_taking_expected_back_restores_what_it_accepted_and_nothing_else(
    desk: HistoryDesk,
) -> None:
    first = _opened(desk)
    desk.nights(8, 0.1)
    desk.step(8, 0.25)
    second = desk.alerts()[1]
    desk.ab(0.136)
    with session_scope() as session:
        row = session.scalars(
            select(Change).where(Change.alert_id == first["id"])
        ).one()
        row.alert_id, row.state = None, "suspect"
    _act(desk, second, "expected")
    assert [change.state for change in changes()] == ["accepted", "accepted"]
    _act(desk, second, "reopen")
    assert [change.state for change in changes()] == ["suspect", "standing"]
    assert all("accepted" not in change.evidence for change in changes())
    (series,) = all_series()
    assert state_of(series.id).baseline_job_id is None


def test_the_commit_a_person_names_is_the_baseline_and_one_that_can_be_none_is_refused(
    desk: HistoryDesk,
) -> None:
    alert = _opened(desk)
    (change,) = changes()
    path, body = f"/alerts/{alert['id']}/actions", {"action": "expected"}
    for wrong in ("f" * 40, commit_of(3)):
        refusal = desk.post(path, body | {"baseline_commit": wrong}, status=400)
        assert set(refusal["fields"]) == {"baseline_commit"}
        assert (desk.alert()["state"], changes()[0].state) == ("open", "standing")
    desk.post(path, body | {"baseline_commit": commit_of(24)})
    assert changes()[0].state == "accepted"
    baseline = state_of(change.series_id).baseline_job_id
    assert baseline == change.evidence["window"][24] != change.job_id


def test_what_only_history_spoke_for_ends_when_the_target_becomes_another_environment(
    desk: HistoryDesk,
) -> None:
    desk.nights(20)
    desk.nights(4, 0.1)
    assert desk.alert()["state"] == "suspected"
    desk.nights(1, fingerprint="e")
    gone = desk.alert()
    assert (gone["state"], actions(gone)[-1]) == ("vanished", "vanish")
    assert gone["history"][-1]["note"].startswith(
        "measured on another environment since"
    )


def test_what_was_proven_outlives_its_environment_says_so_once_and_ends_when_the_level_is_back(
    desk: HistoryDesk,
) -> None:
    _opened(desk)
    desk.nights(3, 0.1, fingerprint="e")
    open_still = desk.alert()
    assert (open_still["state"], actions(open_still).count("superseded")) == ("open", 1)
    desk.nights(5, fingerprint="e")
    assert (desk.alert()["state"], actions(desk.alert())[-1]) == ("fixed", "recover")


def test_a_benchmark_renamed_before_its_ab_run_is_measured_and_proven_under_its_old_name(
    desk: HistoryDesk,
) -> None:
    desk.nights(20)
    desk.step(6, 0.1)
    manifest = suite_manifest(rules=[])
    manifest["benchmarks"] = {
        "sort_many": {**manifest["benchmarks"][BENCHMARK], "aliases": [BENCHMARK]}
    }
    manifest["knobs"] = {}  # they name the benchmark, too
    with session_scope() as session:
        suite = session.get_one(Suite, (DEFAULT_PROJECT_ID, SUITE))
        suite.manifest = manifest
    desk.past.names = NewestNames({BENCHMARK: "sort_many"})
    desk.nights(1, 0.1)
    assert [series.benchmark for series in all_series()] == ["sort_many"]
    assert desk.ab(0.1)["benchmarks"] == [BENCHMARK]
    assert desk.alert()["state"] == "open"
