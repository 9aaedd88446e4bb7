"""The life of an alert about history, from points to people: proven side by side, or told to nobody."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_server.kernel import settings as process_settings
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.history import Change
from paceline_server.testing.nightly_jobs import changes, commit_of
from paceline_server.testing.sorting_suite import BENCHMARK
from sqlalchemy import select

from .conftest import INCIDENT, NATIVE, PATIENCE_S, actions, commits, mark_incident

pytestmark = pytest.mark.shapes("embedded")

HistoryDesk = Any
OTHER = (BENCHMARK, "native", 2000)
REFERENCE = (BENCHMARK, "fallback", 1000)
SAME = "5" * 64
SUSPECT = 4
"""Nights after a step at which detection suspects it without being sure."""
STANDING = 10
"""Nights after a step at which it stands: enough points, twice in a row."""


def _suspected(desk: HistoryDesk, effect: float = 0.1) -> dict[str, Any]:
    desk.nights(20)
    desk.nights(SUSPECT, effect)
    alert: dict[str, Any] = desk.alert()
    assert alert["state"] == "suspected"
    return alert


@pytest.mark.shapes("embedded", "scaled")
def test_a_step_is_told_only_after_old_and_new_were_measured_side_by_side(
    desk: HistoryDesk,
) -> None:
    alert = _suspected(desk)
    assert (alert["kind"], alert["cause"], alert["base_commit"]) == (
        "history",
        "code",
        commit_of(19),
    )
    assert desk.told() == []
    work = desk.ab(0.1)
    assert (work["base_commit"], work["commit"]) == (
        alert["base_commit"],
        alert["head_commit"],
    )
    assert (work["benchmarks"], work["params"]) == ([BENCHMARK], {"batch": [1000]})
    opened = desk.alert()
    assert opened["state"] == "open"
    assert actions(opened) == ["raise", "confirmation_requested", "confirm", "notified"]
    assert opened["findings"][-1]["sides"] == "revisions"
    assert 1.08 < opened["ratio"] < 1.12
    assert desk.told() == ["open"]


@pytest.mark.shapes("embedded", "scaled")
def test_a_page_has_its_window_in_short_and_whole_only_when_asked(
    desk: HistoryDesk,
) -> None:
    alert = _suspected(desk)
    (short,) = (finding["window"] for finding in alert["findings"])
    (whole,) = (
        finding["window"]
        for finding in desk.get(f"/alerts/{alert['id']}", expand="window")["findings"]
    )
    assert set(whole) == {"job_ids", "values"}
    jobs = whole["job_ids"]
    assert short == {"points": len(jobs), "first": jobs[0], "last": jobs[-1]}


def test_an_explanation_names_where_the_series_began_to_mean_something_else(
    desk: HistoryDesk,
) -> None:
    desk.nights(20, meaning={"unit": "bytes"})
    alert = _suspected(desk)
    (finding,) = desk.get(f"/alerts/{alert['id']}/explain")["findings"]
    changes_of_meaning = [segment["change"] for segment in finding["segments"]]
    assert changes_of_meaning == [
        f"time is in ns since {commit_of(6)[:12]}, in bytes before"
    ]


def test_one_answer_makes_a_bounded_number_of_findings_again(
    desk: HistoryDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    alert = _suspected(desk)
    monkeypatch.setattr("paceline_server.alerts.explanation.MOST_AGAIN", 0)
    (finding,) = desk.get(f"/alerts/{alert['id']}/explain", rederive=True)["findings"]
    assert finding["rederived"]["identical"] is None
    assert finding["rederived"]["text"].startswith("Not made again")


def test_the_proof_explains_itself_and_is_made_again_bit_for_bit(
    desk: HistoryDesk,
) -> None:
    alert = _suspected(desk)
    desk.ab(0.1)
    explanation = desk.get(f"/alerts/{alert['id']}/explain", rederive=True)
    change, proof = explanation["findings"]
    assert (
        proof["window"]["text"]
        == "100 rounds of head and base in 5 launches of one job"
    )
    assert proof["rederived"]["identical"], proof["rederived"]["text"]
    assert change["rederived"]["identical"], change["rederived"]["text"]
    assert "24 whose samples are no longer stored" in change["rederived"]["text"]
    assert "Cause: code, because " in explanation["sentence"]
    assert (
        "Old and new revision, interleaved in one job on the same target, say: "
        in explanation["sentence"]
    )


def test_a_suspicion_without_a_difference_side_by_side_is_over_and_nobody_hears(
    desk: HistoryDesk,
) -> None:
    _suspected(desk)
    desk.ab(0.0)
    closed = desk.alert()
    assert closed["state"] == "unconfirmed"
    assert "no difference" in closed["history"][-1]["note"]
    assert desk.told() == []
    desk.nights(STANDING, 0.1)
    assert [alert["state"] for alert in desk.alerts()] == ["unconfirmed"]


def test_the_same_artifact_on_both_sides_blames_the_environment_and_waits_for_history(
    desk: HistoryDesk,
) -> None:
    _suspected(desk)
    desk.ab(0.0, artifacts=(SAME, SAME))
    waiting = desk.alert()
    assert (waiting["kind"], waiting["cause"], waiting["state"]) == (
        "environment",
        "environment",
        "inconclusive",
    )
    assert desk.told() == []
    desk.nights(3, 0.1)
    opened = desk.alert()
    assert (opened["state"], opened["cause"]) == ("open", "environment")
    note = next(
        event["note"] for event in opened["history"] if event["action"] == "confirm"
    )
    assert (
        "Both revisions have the same artifact: not the code. History alone holds it"
        in note
    )


def test_one_artifact_before_and_after_is_the_environment_without_any_run(
    desk: HistoryDesk,
) -> None:
    desk.nights(20, artifact=SAME)
    desk.nights(SUSPECT, 0.1, artifact=SAME)
    alert = desk.alert()
    assert (alert["kind"], alert["cause"]) == ("environment", "environment")
    assert (
        "the same artifact (555555555555) was measured before and after"
        in alert["cause_text"]
    )
    desk.cool_down()
    waiting = desk.alert()
    assert (waiting["state"], waiting["confirmation_run_id"]) == ("inconclusive", None)
    desk.nights(3, 0.1, artifact=SAME)
    assert desk.alert()["state"] == "open"


def test_an_undecided_run_leaves_it_to_history_which_must_say_it_twice_with_five_points(
    desk: HistoryDesk,
) -> None:
    _suspected(desk)
    desk.ab(0.1, checks_ok=(True, False))
    undecided = desk.alert()
    assert undecided["state"] == "inconclusive"
    assert "could not decide" in undecided["history"][-1]["note"]
    assert desk.told() == []
    desk.nights(1, 0.1)
    assert desk.alert()["state"] == "inconclusive", (
        "of two looks at one place the first had four points"
    )
    desk.nights(1, 0.1)
    opened = desk.alert()
    assert opened["state"] == "open"
    note = next(
        event["note"] for event in opened["history"] if event["action"] == "confirm"
    )
    assert "could not decide" in note
    assert (
        "6 points at the new level, found at the same place in 2 evaluations in a row"
        in note
    )
    assert desk.told() == ["open"]


def test_a_build_that_fails_leaves_it_to_history(desk: HistoryDesk) -> None:
    _suspected(desk)
    desk.cool_down()
    leased = desk.lab.agent.lease()
    leased.report("preparing")
    answer = leased.finish(
        -1, "failed", cause="build_failed", detail="cc: no such file"
    )
    assert answer.status_code == 204, answer.text
    outbox.drain()
    undecided = desk.alert()
    assert undecided["state"] == "inconclusive"
    assert "cc: no such file" in undecided["history"][-1]["note"]
    desk.nights(3, 0.1)
    assert desk.alert()["state"] == "open"


def test_without_an_agent_in_the_time_set_history_decides_and_a_late_result_still_counts(
    desk: HistoryDesk,
) -> None:
    _suspected(desk)
    desk.cool_down()
    desk.clock.advance(PATIENCE_S)
    outbox.drain()
    waiting = desk.alert()
    assert waiting["state"] == "inconclusive"
    assert "no agent took the A/B run within 1 h" in waiting["history"][-1]["note"]
    desk.lab.deliver_ab({1000: 0.1, 2000: 0.0})
    outbox.drain()
    assert desk.alert()["state"] == "open"


@pytest.mark.shapes("embedded", "scaled")
def test_a_suspicion_that_later_points_deny_vanishes_and_its_run_is_called_off(
    desk: HistoryDesk,
) -> None:
    alert = _suspected(desk)
    desk.cool_down()
    _vanish(desk)
    gone = desk.alert()
    assert (gone["id"], gone["state"]) == (alert["id"], "vanished")
    run = desk.get(f"/runs/{gone['confirmation_run_id']}")
    assert run["state"] == "cancelled"
    assert desk.told() == []
    assert "raise" in actions(gone)


def _vanish(desk: HistoryDesk) -> None:
    """Detection no longer finds any change."""
    with session_scope() as session:
        rows = session.scalars(select(Change)).all()
        for row in rows:
            row.state = "vanished"
    desk.hear(rows[0].evidence["window"][-1])


def test_series_that_moved_together_are_one_alert_with_every_finding(
    desk: HistoryDesk,
) -> None:
    quiet = [(BENCHMARK, "fallback", batch) for batch in range(3000, 3008)]
    desk.names = [NATIVE, OTHER, *quiet]
    desk.nights(20)
    desk.step(STANDING, {NATIVE: 0.1, OTHER: 0.06})
    alert = desk.alert()
    assert alert["title"] == "2 series of sorting got slower on lab-1"
    assert {
        (finding["params"]["batch"], finding["kind"]) for finding in alert["findings"]
    } == {
        (1000, "history"),
        (2000, "history"),
    }
    assert 1.08 < alert["ratio"] < 1.12
    assert desk.ab(0.1)["params"] == {"batch": [1000, 2000]}


def test_a_later_series_joins_the_alert_of_its_cause(desk: HistoryDesk) -> None:
    desk.names = [
        NATIVE,
        OTHER,
        *((BENCHMARK, "fallback", batch) for batch in range(3000, 3008)),
    ]
    desk.nights(20)
    desk.nights(1, {NATIVE: 0.1})
    desk.nights(SUSPECT, {NATIVE: 0.1, OTHER: 0.06})
    desk.nights(1, {NATIVE: 0.1, OTHER: 0.06})
    assert len(desk.alert()["findings"]) == 2


@pytest.mark.shapes("embedded", "scaled")
def test_most_series_of_a_target_moving_together_are_one_incident(
    desk: HistoryDesk,
) -> None:
    desk.names = [NATIVE, OTHER, REFERENCE, (BENCHMARK, "fallback", 2000)]
    desk.nights(20)
    desk.step(STANDING, {NATIVE: 0.1, OTHER: 0.12, REFERENCE: -0.1})
    alert = desk.alert()
    assert (alert["kind"], alert["cause"]) == ("environment", "environment")
    assert alert["title"] == "Environment of lab-1 changed: 3 series moved together"
    assert len(alert["findings"]) == 3
    assert "3 of 4 series of this target" in alert["cause_text"]
    desk.ab(0.0)
    assert desk.alert()["state"] == "inconclusive"
    desk.nights(3, {NATIVE: 0.1, OTHER: 0.12, REFERENCE: -0.1})
    assert desk.alert()["state"] == "open"
    assert desk.told() == ["open"]


def test_what_looked_like_the_code_becomes_the_environment_when_detection_sees_an_incident(
    desk: HistoryDesk,
) -> None:
    _suspected(desk)
    mark_incident()
    desk.hear(changes()[0].evidence["window"][-1])
    turned = desk.alert()
    assert (turned["kind"], turned["cause"], actions(turned)[-1]) == (
        "environment",
        "environment",
        "cause",
    )
    assert turned["history"][-1]["note"] == f"environment: {INCIDENT}"


def test_an_incident_whose_revisions_differ_side_by_side_was_the_code(
    desk: HistoryDesk,
) -> None:
    desk.names = [NATIVE, OTHER]
    desk.nights(20)
    desk.step(STANDING, 0.1)
    assert desk.alert()["kind"] == "environment"
    desk.ab(0.1)
    opened = desk.alert()
    assert (opened["kind"], opened["cause"], opened["state"]) == (
        "history",
        "code",
        "open",
    )
    assert "it is the code" in next(
        e["note"] for e in opened["history"] if e["action"] == "confirm"
    )


def test_an_improvement_is_a_finding_that_pages_nobody(desk: HistoryDesk) -> None:
    desk.nights(20)
    desk.nights(STANDING, -0.1)
    assert desk.alerts() == []
    with read_scope() as session:
        kept = session.scalars(select(Finding)).one()
        assert (kept.kind, kept.alert_id, kept.series_id) == (
            "history",
            None,
            changes()[0].series_id,
        )
        assert (kept.numbers or {})["direction"] == "faster"


def test_evaluating_a_job_again_adds_nothing(desk: HistoryDesk) -> None:
    _suspected(desk)
    before = desk.alert()
    desk.hear(changes()[0].evidence["window"][-1])
    assert desk.alert() == before


def test_more_points_keep_one_alert_whose_range_may_move(desk: HistoryDesk) -> None:
    first = _suspected(desk)
    desk.nights(8, 0.1)
    later = desk.alert()
    assert later["id"] == first["id"]
    assert [finding["role"] for finding in later["findings"]].count("candidate") == 1


def test_one_commit_in_between_is_blamed_at_once(desk: HistoryDesk) -> None:
    _suspected(desk)
    desk.ab(0.1, commits=commits(20, 20))
    alert = desk.alert()
    assert alert["culprit"]["subject"] == "Change 20"
    assert alert["culprit"]["ratio"] == alert["ratio"]
    assert alert["bisection"] is None
    assert "the only commit in between" in alert["history"][-2]["note"]


def test_the_patience_and_the_budget_are_settings() -> None:
    assert process_settings.Settings().confirm_patience_s == 6 * 3600
    assert process_settings.Settings().bisect_budget == 6
