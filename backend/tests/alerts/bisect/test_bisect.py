"""From a step in a series to the one commit: real commits, real services, simulated measurements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from paceline_server.series.service import NewestNames
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import session_scope
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.history import Series
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE, suite_manifest
from sqlalchemy import update

pytestmark = pytest.mark.shapes("embedded")
Hunting = Callable[..., Any]


@pytest.mark.parametrize(("culprit", "seed"), [(0, 1), (16, 4), (31, 6)])
def test_one_slow_commit_among_32_is_found_exactly_in_at_most_six_jobs(
    hunt: Hunting, culprit: int, seed: int
) -> None:
    hunting = hunt(culprit=culprit, seed=seed)
    alert = hunting.alert()
    assert (alert["state"], alert["base_commit"]) == ("suspected", hunting.revisions[0])
    hunting.work_off()
    alert = hunting.alert()
    assert alert["state"] == "open"
    assert alert["culprit"]["commit"] == hunting.revisions[1 + culprit]
    assert alert["culprit"]["subject"] == f"Change {culprit}"
    assert alert["culprit"]["ratio"] == pytest.approx(1.06, abs=0.02)
    assert alert["bisection"]["state"] == "found"
    assert hunting.jobs <= 6
    assert alert["bisection"]["left"] == 1
    assert "culprit_found" in [event["action"] for event in alert["history"]]
    assert f"Change {culprit}" in alert["explanation"]


def test_a_commit_that_takes_more_bytes_is_not_called_slower(hunt: Hunting) -> None:
    hunting = hunt(culprit=2, seed=10, commits=4)
    with session_scope() as session:
        session.execute(update(Series).values(unit="bytes"))
    hunting.work_off()
    alert = hunting.alert()
    blamed = alert["explanation"].partition("The commit to look at: ")[2]
    assert " % worse." in blamed
    assert " % worse." in alert["bisection"]["words"]


def test_progress_shows_while_it_searches(hunt: Hunting) -> None:
    hunting = hunt(culprit=20, seed=7)
    hunting.work_off(jobs=2)
    bisection = hunting.alert()["bisection"]
    assert (bisection["state"], bisection["used"], bisection["budget"]) == (
        "running",
        2,
        6,
    )
    assert (bisection["good"], bisection["bad"], bisection["left"]) == (15, 31, 16)
    assert [step["verdict"] for step in bisection["steps"]] == ["pass", None]
    assert "one of 16" in bisection["words"]
    assert bisection["culprit"] is None


def test_a_commit_that_does_not_build_is_stepped_around(hunt: Hunting) -> None:
    hunting = hunt(culprit=9, seed=8, commits=16, broken=[7])
    hunting.work_off()
    bisection = hunting.alert()["bisection"]
    assert bisection["steps"][0] | {"run_id": "", "job_id": ""} == {
        "index": 7,
        "commit": hunting.revisions[8],
        "run_id": "",
        "job_id": "",
        "verdict": "skipped",
        "ratio": None,
        "lower": None,
        "upper": None,
        "words": "the build failed: cc: error",
    }
    assert bisection["culprit"]["commit"] == hunting.revisions[10]


def test_a_culprit_hidden_by_a_commit_that_does_not_build_is_a_range(
    hunt: Hunting,
) -> None:
    hunting = hunt(culprit=3, seed=9, commits=4, broken=[2])
    hunting.work_off()
    alert = hunting.alert()
    assert (alert["bisection"]["state"], alert["culprit"]) == ("undecided", None)
    assert alert["bisection"]["left"] == 2
    assert "could be measured" in alert["history"][-1]["note"]


def test_a_commit_with_the_base_s_artifact_is_good_whatever_was_measured(
    hunt: Hunting,
) -> None:
    hunting = hunt(culprit=2, seed=10, commits=4, docs=[0, 1])
    hunting.work_off()
    bisection = hunting.alert()["bisection"]
    assert bisection["steps"][0]["words"] == "the same artifact as the base"
    assert bisection["culprit"]["subject"] == "Change 2"


@pytest.mark.shapes("embedded", "scaled")
def test_a_budget_that_ends_names_the_range_and_a_person_may_go_on(
    hunt: Hunting,
) -> None:
    hunting = hunt(culprit=20, seed=11)
    hunting.work_off(jobs=1)
    path = f"/alerts/{hunting.alert()['id']}/bisect"
    refused = hunting.post(path, {}, status=409)
    assert refused["detail"] == "A bisection of this alert is running already."
    hunting.work_off()
    again = hunting.post(path, {"budget": 2})
    assert (again["bisection"]["state"], again["bisection"]["budget"]) == ("running", 2)
    hunting.work_off()
    ended = hunting.alert()
    assert (ended["bisection"]["state"], ended["bisection"]["left"]) == ("exhausted", 8)
    assert "2 A/B jobs were spent; 8 commits are left" in ended["history"][-1]["note"]
    assert ended["culprit"]["subject"] == "Change 20"


def test_an_alert_that_history_opened_is_bisected_by_hand_beginning_with_its_ends(
    hunt: Hunting,
) -> None:
    hunting = hunt(culprit=5, seed=12, commits=8, broken=[7])
    hunting.work_off()
    hunting.nights(3, hunting.revisions[-1])
    opened = hunting.alert()
    assert (opened["state"], opened["bisection"]) == ("open", None)
    hunting.broken = frozenset()
    hunting.post(f"/alerts/{opened['id']}/bisect", {})
    hunting.work_off()
    bisection = hunting.alert()["bisection"]
    assert [step["index"] for step in bisection["steps"]][:2] == [None, 3]
    assert bisection["culprit"]["subject"] == "Change 5"


def test_an_alert_opened_after_a_rename_is_bisected_by_hand_under_the_name_it_was_measured_by(
    hunt: Hunting,
) -> None:
    hunting = hunt(culprit=5, seed=12, commits=8, broken=[7])
    hunting.work_off()
    manifest = suite_manifest(rules=[])
    manifest["benchmarks"] = {
        "sort_many": {**manifest["benchmarks"][BENCHMARK], "aliases": [BENCHMARK]}
    }
    manifest["knobs"] = {}  # they name the benchmark, too
    with session_scope() as session:
        session.get_one(Suite, (DEFAULT_PROJECT_ID, SUITE)).manifest = manifest
    hunting.past.names = NewestNames({BENCHMARK: "sort_many"})
    hunting.nights(3, hunting.revisions[-1])
    opened = hunting.alert()
    assert (opened["state"], opened["benchmark"]) == ("open", "sort_many")
    hunting.broken = frozenset()
    hunting.post(f"/alerts/{opened['id']}/bisect", {})
    hunting.work_off()
    assert hunting.alert()["bisection"]["culprit"]["subject"] == "Change 5"


def test_a_slow_commit_of_a_side_branch_is_found_as_the_merge_that_brought_it(
    hunt: Hunting,
) -> None:
    """Eight commits on the main branch, of which the fourth merges changes 3 to 5; change 4 is slow."""
    hunting = hunt(culprit=4, seed=15, commits=10, merged=range(3, 6))
    assert len(hunting.revisions) == 9
    hunting.work_off()
    bisection = hunting.alert()["bisection"]
    assert (bisection["state"], bisection["culprit"]["subject"]) == (
        "found",
        "Merge the side branch",
    )
    assert bisection["culprit"]["commit"] == hunting.revisions[4]


def test_nobody_looks_on_for_the_commit_of_an_alert_that_was_called_invalid(
    hunt: Hunting,
) -> None:
    hunting = hunt(culprit=20, seed=14)
    hunting.work_off(jobs=2)
    hunting.post(f"/alerts/{hunting.alert()['id']}/actions", {"action": "invalid"})
    hunting.work_off()
    ended = hunting.alert()
    assert (hunting.jobs, ended["bisection"]["state"]) == (3, "undecided")
    assert ended["history"][-1]["note"].startswith(
        "the alert is invalid by now: the commit is one of "
    )


def test_bisecting_needs_the_scope_and_an_alert(
    hunt: Hunting, token: Callable[..., dict[str, str]]
) -> None:
    hunting = hunt(culprit=1, seed=13, commits=2)
    path = f"/api/v1/alerts/{hunting.alert()['id']}/bisect"
    assert (
        hunting.lab.client.post(path, headers=token("read"), json={}).status_code == 403
    )
    assert (
        hunting.post("/alerts/alt_none/bisect", {}, status=404)["code"] == "not_found"
    )
