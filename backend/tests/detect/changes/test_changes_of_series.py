"""Points become levels and changes as jobs come in, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from paceline_server.detect.changes import service as detection
from paceline_server.kernel.clock import FrozenClock
from paceline_server.series import service
from paceline_server.stats import constants
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.history import Change, SeriesPoint, SeriesState
from paceline_server.testing import nightly_jobs
from paceline_server.testing.nightly_jobs import TIME, NightlyJobs, commit_of
from sqlalchemy import event, func, select


@pytest.fixture
def past(
    database: object, enrolled: Callable[..., Any], clock: FrozenClock
) -> NightlyJobs:
    return NightlyJobs(enrolled().target_id)


def noise(
    count: int, level: float = 1000.0, seed: int = 1, sigma: float = 0.004
) -> list[float]:
    """Points around a level, with 0.4 % scatter."""
    return [
        float(x)
        for x in level * np.exp(np.random.default_rng(seed).normal(0.0, sigma, count))
    ]


def rows(table: Any) -> list[dict[str, Any]]:
    """The rows of a table, ordered by its first columns, column by column."""
    columns = list(table.__table__.columns)
    with read_scope() as session:
        return [
            dict(row._mapping)
            for row in session.execute(select(*columns).order_by(*columns[:2]))
        ]


def test_a_step_is_suspected_then_confirmed_and_its_evidence_names_its_points(
    past: NightlyJobs,
) -> None:
    before = past.stream(noise(20))
    after = past.stream(noise(4, 1100.0, seed=2))
    (suspect,) = nightly_jobs.changes()
    assert (suspect.state, suspect.commit, suspect.before_commit) == (
        "suspect",
        commit_of(20),
        commit_of(19),
    )
    assert suspect.job_id == after[0]
    past.stream(noise(3, 1100.0, seed=3))
    (stands,) = nightly_jobs.changes()
    assert (stands.id, stands.state, stands.direction) == (
        suspect.id,
        "standing",
        "slower",
    )
    assert stands.effect == pytest.approx(0.10, abs=0.01)
    assert stands.evaluations >= 2
    evidence = stands.evidence
    assert evidence["window"][:24] == [*before, *after]
    assert len(evidence["window"]) == 27
    assert evidence["index"] == 20
    assert {check["name"] for check in evidence["filters"]} >= {
        "effect",
        "p_value",
        "false_discovery",
    }
    assert all(check["passed"] for check in evidence["filters"])


def test_a_kernel_change_starts_a_segment_with_its_reason_and_is_not_a_change_of_the_code(
    past: NightlyJobs,
) -> None:
    past.stream(noise(20))
    newer = {**nightly_jobs.FACTORS, "kernel": "6.1.0-13"}
    past.stream(noise(20, 1100.0, seed=2), fingerprint="e", factors=newer)
    assert nightly_jobs.changes() == []
    (series,) = nightly_jobs.series()
    with read_scope() as session:
        page = service.series_page(session, series.id)
    assert [segment.starts_because for segment in page.segments] == [
        "first point",
        "kernel 6.1.0-12 → 6.1.0-13",
    ]
    assert [segment.points for segment in page.segments] == [20, 20]
    assert page.environments[1].change == "kernel 6.1.0-12 → 6.1.0-13"
    assert page.level == pytest.approx(1100.0, rel=0.01)


def test_a_suspect_of_an_earlier_environment_is_no_longer_evaluated(
    past: NightlyJobs,
) -> None:
    past.stream(noise(20))
    past.stream(noise(3, 1100.0, seed=2))
    (change,) = nightly_jobs.changes("suspect")
    newer = {**nightly_jobs.FACTORS, "kernel": "6.1.0-13"}
    past.stream(noise(1), fingerprint="e", factors=newer)
    (kept,) = nightly_jobs.changes()
    assert (kept.id, kept.state) == (change.id, "vanished")


def test_a_step_of_an_earlier_environment_is_superseded_and_cuts_its_segment(
    past: NightlyJobs,
) -> None:
    past.stream(noise(20))
    past.stream(noise(10, 1100.0, seed=2))
    (change,) = nightly_jobs.changes("standing")
    newer = {**nightly_jobs.FACTORS, "kernel": "6.1.0-13"}
    past.stream(noise(3, 900.0, seed=3), fingerprint="e", factors=newer)
    (kept,) = nightly_jobs.changes()
    assert (kept.id, kept.state, kept.evidence) == (
        change.id,
        "superseded",
        change.evidence,
    )
    state = nightly_jobs.state_of(kept.series_id)
    assert [segment["points"] for segment in state.segments] == [20, 10, 3]
    assert "slower" in state.segments[1]["starts_because"]


def test_a_history_that_arrives_at_once_is_searched_as_far_as_it_goes(
    past: NightlyJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps are found that lie before the newest window and before the newest environment. Evaluations that another one
    overtook are dropped."""
    monkeypatch.setattr(constants, "HISTORY_MAX_POINTS", 40)
    past.stream(noise(25), evaluate=False)
    past.stream(noise(60, 1100.0, seed=2), evaluate=False)
    newer = {**nightly_jobs.FACTORS, "kernel": "6.1.0-13"}
    for seed, level in enumerate((1100.0, 1210.0), 3):
        values = noise(20, level, seed=seed)
        past.stream(values, fingerprint="e", factors=newer, evaluate=False)
    with read_scope() as session:
        heads = detection.list_series(session, None, None)
        evaluated = detection.evaluate_history(session, heads)
    with session_scope() as session:
        for rounds in evaluated:
            detection.store_evaluations(session, *rounds)
    assert [(change.commit, change.state) for change in nightly_jobs.changes()] == [
        (commit_of(25), "superseded"),
        (commit_of(105), "standing"),
    ]
    with session_scope() as session:
        (first, *_) = evaluated
        assert detection.store_evaluations(session, *first).series == 0


def test_excluded_points_are_kept_and_never_judged(past: NightlyJobs) -> None:
    past.stream(noise(20))
    past.stream(
        noise(10, 2000.0, seed=2), excluded="conditions void: the target was throttling"
    )
    past.stream(noise(5, seed=3))
    assert nightly_jobs.changes() == []
    (series,) = nightly_jobs.series()
    assert nightly_jobs.state_of(series.id).points == 25
    with read_scope() as session:
        points = service.points_of(session, series.id, None, None, 500)
    assert (
        points.total,
        sum(point.excluded is not None for point in points.points),
    ) == (
        35,
        10,
    )


@pytest.mark.parametrize("odd", [0.0, -5.0])
def test_a_point_without_a_ratio_is_left_out_and_hides_no_change(
    past: NightlyJobs, odd: float
) -> None:
    """One such point made a whole series unusable: its standing changes vanished, and nobody was told."""
    past.stream(noise(20))
    past.stream(noise(20, 1200.0, seed=2))
    (change,) = nightly_jobs.changes("standing")
    past.stream([odd])
    past.stream(noise(5, 1200.0, seed=3))
    assert [(row.id, row.state) for row in nightly_jobs.changes()] == [
        (change.id, "standing")
    ]
    with read_scope() as session:
        points = service.points_of(session, change.series_id, None, None, 500)
    (left_out,) = (point for point in points.points if point.excluded is not None)
    assert left_out.excluded == (
        f"the median is {odd:g} ns, and only values above zero have a ratio to others"
    )


def test_a_change_that_vanishes_keeps_its_history(past: NightlyJobs) -> None:
    past.stream(noise(20))
    past.stream(noise(4, 1060.0, seed=2))
    (suspect,) = nightly_jobs.changes("suspect")
    past.stream(noise(14, seed=3))
    (gone,) = nightly_jobs.changes()
    assert (gone.id, gone.state, gone.found_at) == (
        suspect.id,
        "vanished",
        suspect.found_at,
    )
    assert gone.evidence["window"]
    past.stream(noise(12, 1200.0, seed=4))
    assert [change.state for change in nightly_jobs.changes()] == [
        "vanished",
        "standing",
    ]


@pytest.mark.shapes("embedded", "scaled")
def test_evaluating_again_changes_no_row_not_even_a_time(
    past: NightlyJobs, clock: FrozenClock
) -> None:
    past.stream(noise(20))
    job = past.stream(noise(8, 1100.0, seed=2))[-1]
    tables = (Change, SeriesState, SeriesPoint)
    before = [rows(table) for table in tables]
    clock.advance(3600)
    outcome = past.evaluate(job)
    assert (outcome.series, outcome.differing, outcome.changes.total()) == (1, 0, 0)
    assert [rows(table) for table in tables] == before


@pytest.mark.shapes("embedded", "scaled")
def test_a_job_recorded_twice_leaves_its_points_once(past: NightlyJobs) -> None:
    past.stream(noise(3))
    with session_scope() as session:
        count = session.scalar(select(func.count()).select_from(SeriesPoint))
    assert count == 3


def test_an_evaluation_overtaken_by_a_newer_point_is_dropped(
    past: NightlyJobs,
) -> None:
    old = past.stream(noise(20))[-1]
    with read_scope() as session:
        evaluated = list(
            detection.evaluate_series(session, detection.series_of_job(session, old))
        )
    past.night({TIME: 1000.0})
    with session_scope() as session:
        assert detection.store_evaluations(session, evaluated).series == 0


@pytest.mark.shapes("embedded", "scaled")
def test_many_series_that_move_together_are_one_shift_of_the_target(
    past: NightlyJobs,
) -> None:
    names = [(f"bench_{number}", "native", 1000) for number in range(6)]
    levels = [noise(30, 1000.0, seed=number + 10) for number in range(6)]
    for night in range(30):
        moved = 1.1 if night >= 22 else 1.0
        past.night(
            {
                name: levels[at][night] * (moved if at < 3 else 1.0)
                for at, name in enumerate(names)
            }
        )
    changes = nightly_jobs.changes("standing")
    assert len(changes) == 3
    assert {change.cause for change in changes} == {"environment"}
    assert {change.evidence["incident"]["text"] for change in changes} == {
        "3 of 6 series of this target (50.0 %) moved within 2 runs of each other"
    }


def test_one_moving_series_of_many_is_no_shift_of_the_target(
    past: NightlyJobs,
) -> None:
    names = [(f"bench_{number}", "native", 1000) for number in range(6)]
    levels = [noise(30, 1000.0, seed=number + 10) for number in range(6)]
    for night in range(30):
        past.night(
            {
                name: levels[at][night] * (1.1 if night >= 22 and at == 0 else 1.0)
                for at, name in enumerate(names)
            }
        )
    (change,) = nightly_jobs.changes("standing")
    assert (change.cause, "incident" in change.evidence) == (None, False)


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(("since", "together"), [(99, False), (100, True)])
def test_series_without_points_for_a_hundred_runs_are_not_counted_for_the_target(
    past: NightlyJobs, since: int, together: bool
) -> None:
    """Three that moved are all that are left, or three of eleven."""
    past.night(
        {(f"given_up_{number}", "native", 1000): 1000.0 for number in range(8)},
        evaluate=False,
    )
    levels = [noise(since, 1000.0, seed=number + 10) for number in range(3)]
    for night in range(since):
        moved = 1.1 if night >= since - 8 else 1.0
        values = {
            (f"bench_{at}", "native", 1000): level[night] * moved
            for at, level in enumerate(levels)
        }
        past.night(values, evaluate=night >= since - 1)
    changes = nightly_jobs.changes("standing")
    assert len(changes) == 3
    assert {"incident" in change.evidence for change in changes} == {together}


def test_an_accepted_change_is_the_baseline_and_stays_unchanged(
    past: NightlyJobs,
) -> None:
    past.stream(noise(20))
    past.stream(noise(8, 1100.0, seed=2))
    (change,) = nightly_jobs.changes("standing")
    with session_scope() as session:
        detection.accept_changes(session, [change.id], by="alr_1")
    past.stream(noise(8, 1100.0, seed=3))
    (kept,) = nightly_jobs.changes()
    assert (kept.state, kept.evaluations) == ("accepted", change.evaluations)
    assert nightly_jobs.state_of(kept.series_id).baseline_job_id == change.job_id
    past.stream(noise(8, 1250.0, seed=4))
    assert [change.state for change in nightly_jobs.changes()] == [
        "accepted",
        "standing",
    ]
    with session_scope() as session:
        detection.withdraw_changes(session, [change.id], by="alr_1")
    assert nightly_jobs.changes()[0].state == "standing"
    assert nightly_jobs.state_of(kept.series_id).baseline_job_id is None


def test_a_baseline_from_a_commit_accepts_everything_up_to_there(
    past: NightlyJobs,
) -> None:
    past.stream(noise(20))
    past.stream(noise(8, 1100.0, seed=2))
    (change,) = nightly_jobs.changes("standing")
    with session_scope() as session:
        detection.accept_changes(session, [change.id], by="alr_1", commit=commit_of(22))
    assert nightly_jobs.changes()[0].state == "accepted"
    assert (
        nightly_jobs.state_of(change.series_id).last_job_id
        != nightly_jobs.state_of(change.series_id).baseline_job_id
    )
    past.stream(noise(6, 1100.0, seed=3))
    assert [change.state for change in nightly_jobs.changes()] == ["accepted"]


def test_the_number_of_queries_does_not_grow_with_the_series(
    past: NightlyJobs, database: Database
) -> None:
    points: list[str] = []
    event.listen(
        database.engine, "before_cursor_execute", lambda *call: points.append(call[2])
    )

    def queries(count: int, prefix: str) -> int:
        names = [(f"{prefix}_{number}", "native", 1000) for number in range(count)]
        for value in noise(13):
            past.night(dict.fromkeys(names, value), evaluate=False)
        job = past.night(
            {name: 1000.0 + at for at, name in enumerate(names)}, evaluate=False
        )
        points.clear()
        past.evaluate(job)
        return len(points)

    assert queries(40, "many") == queries(4, "few")
