"""Tests the dashboard's reads over HTTP, on both databases."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import clock, ids
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import Target
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.recorded_history import record_history
from sqlalchemy import event, insert, select

PREFIX = "/api/v1"
FASTER = {1000: -0.5, 2000: -0.6}
SLOWER = {1000: 0.126, 2000: -0.6}


def _get(lab: Lab, path: str, status: int = 200, **query: Any) -> dict[str, Any]:
    answer = lab.client.get(f"{PREFIX}{path}", params=query, headers=dict(lab.headers))
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def test_the_overview_counts_every_state_and_lists_agents_and_runs(lab: Lab) -> None:
    empty = _get(lab, "/overview")
    assert empty["alerts_by_state"] == dict.fromkeys(
        (
            "suspected",
            "unconfirmed",
            "inconclusive",
            "open",
            "acknowledged",
            "fixed",
            "expected",
            "invalid",
            "infra",
            "vanished",
        ),
        0,
    )
    assert [agent["name"] for agent in empty["agents"]] == ["lab-1"]
    leased = lab.measure(SLOWER)
    overview = _get(lab, "/overview")
    assert overview["alerts_by_state"]["suspected"] == 1
    assert [run["id"] for run in overview["runs"]] == [leased.run_id]
    assert overview["runs"][0]["verdict"] == "fail"


def test_the_menu_counts_what_waits_on_real_targets_only(lab: Lab) -> None:
    lab.measure(SLOWER)
    lab.request()
    with session_scope() as session:
        target = session.get_one(Target, lab.target_id)
        target.health = "quarantined"
        session.scalars(select(Alert)).one().state = "open"
    assert _get(lab, "/waiting") == {
        "alerts_open": 1,
        "runs_queued": 1,
        "targets_quarantined": 1,
    }
    with session_scope() as session:
        session.get_one(Target, lab.target_id).simulated = True
    assert _get(lab, "/waiting") == {
        "alerts_open": 0,
        "runs_queued": 1,
        "targets_quarantined": 0,
    }


def test_a_report_has_the_shape_of_make_bench_and_says_where(lab: Lab) -> None:
    leased = lab.measure(SLOWER)
    report = _get(lab, f"/jobs/{leased.job_id}/report")
    assert set(report) == {
        "suite",
        "revision",
        "artifact_hash",
        "target",
        "started_at",
        "checks",
        "measurements",
        "comparisons",
        "derived",
        "gates",
        "audits",
        "unavailable",
        "witnesses",
        "blockers",
        "disturbances",
        "next_steps",
        "method",
        "gate_method",
        "reasons",
        "missing",
        "base",
        "unaffected",
        "saved",
        "added",
        "removed",
        "suppressed",
        "conditions",
        "name_texts",
    }
    assert {row["target_name"] for row in report["comparisons"]} == {"lab-1"}
    assert len(report["measurements"]) == 4


@pytest.mark.shapes("embedded")
def test_a_report_that_is_not_there_yet_has_its_own_code(lab: Lab) -> None:
    lab.request()
    leased = lab.deliver(FASTER)
    assert _get(lab, f"/jobs/{leased.job_id}/report", 404)["code"] == "not_analysed"
    assert _get(lab, "/jobs/job_none/report", 404)["code"] == "not_found"


@pytest.mark.shapes("embedded", "scaled")
def test_comparisons_of_a_run_are_paged_in_order(lab: Lab) -> None:
    leased = lab.measure(SLOWER)
    first = _get(lab, f"/runs/{leased.run_id}/comparisons", limit=1)
    second = _get(
        lab, f"/runs/{leased.run_id}/comparisons", limit=1, cursor=first["next"]
    )
    rows = [*first["items"], *second["items"]]
    assert [row["params"] for row in rows] == [{"batch": 1000}, {"batch": 2000}]
    assert second["next"] is None
    slower = rows[0]
    assert slower["verdict"] == "fail"
    assert "% slower (99.8 % interval: " in slower["words"]
    assert len(slower["launch_ratios"]) == 5
    assert (slower["target_name"], slower["job_id"]) == ("lab-1", leased.job_id)
    assert _get(lab, "/runs/run_none/comparisons", 404)["code"] == "not_found"


@pytest.mark.shapes("embedded")
def test_arms_say_rule_and_summary_in_words(lab: Lab) -> None:
    lab.measure(SLOWER)
    arms = _get(lab, "/arms", suite="sorting", benchmark="sort_batch")
    assert (arms["reference"], arms["metric"]) == ("fallback", "time")
    assert (
        "more than 2 % slower that chance explains it at most once in 1,000 jobs"
        in arms["rule"]
    )
    assert arms["rule"].startswith(
        "The native path is slower than the fallback it should beat."
    )
    assert arms["summary"].startswith(
        "On lab-1 native is slower than fallback at 1 of 2 points (12."
    )
    assert "faster than fallback at 1 of 2 points (60." in arms["summary"]
    assert arms["summary"].endswith(".")
    assert [row["params"]["batch"] for row in arms["comparisons"]] == [1000, 2000]


@pytest.mark.shapes("embedded")
def test_arms_before_any_run_are_empty_but_explained(lab: Lab) -> None:
    arms = _get(lab, "/arms", suite="sorting", benchmark="sort_batch")
    assert (arms["comparisons"], arms["summary"]) == (
        [],
        "Nothing has been compared yet.",
    )


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "query",
    [{"suite": "none"}, {"benchmark": "none"}, {"metric": "none"}],
    ids=lambda query: next(iter(query)),
)
def test_arms_of_what_does_not_exist_are_not_found(
    lab: Lab, query: dict[str, str]
) -> None:
    whole: dict[str, Any] = {"suite": "sorting", "benchmark": "sort_batch", **query}
    assert _get(lab, "/arms", 404, **whole)["code"] == "not_found"


def test_arms_show_the_newest_of_each_point_and_target(
    lab: Lab, enrolled: Callable[..., Any], token: Callable[..., dict[str, str]]
) -> None:
    lab.measure(SLOWER, seed=1)
    lab.measure({2000: 0.3}, seed=2, params={"batch": [2000]})
    other = open_lab(lab.client, enrolled, token, name="lab-2")
    other.measure(FASTER, seed=3)
    rows = _get(lab, "/arms", suite="sorting", benchmark="sort_batch")["comparisons"]
    assert [
        (row["target_name"], row["params"]["batch"], row["verdict"]) for row in rows
    ] == [
        ("lab-1", 1000, "fail"),
        ("lab-1", 2000, "fail"),
        ("lab-2", 1000, "pass"),
        ("lab-2", 2000, "pass"),
    ]
    only = _get(
        lab, "/arms", suite="sorting", benchmark="sort_batch", target=other.target_id
    )
    assert {row["target_name"] for row in only["comparisons"]} == {"lab-2"}


def test_a_demonstration_never_hides_a_real_measurement(lab: Lab) -> None:
    lab.measure(SLOWER, seed=1, knobs={"slowdown_percent": 50})
    rows = _get(lab, "/arms", suite="sorting", benchmark="sort_batch")["comparisons"]
    assert {row["demonstration"] for row in rows} == {True}
    lab.measure(FASTER, seed=2)
    lab.measure(SLOWER, seed=3, knobs={"slowdown_percent": 50})
    rows = _get(lab, "/arms", suite="sorting", benchmark="sort_batch")["comparisons"]
    assert {(row["demonstration"], row["verdict"]) for row in rows} == {(False, "pass")}


@pytest.mark.shapes("embedded")
def test_a_distribution_is_thinned_and_compared_in_words(lab: Lab) -> None:
    leased = lab.measure(FASTER, launches=10, rounds=100)
    params = json.dumps({"batch": 1000})
    query: dict[str, Any] = {
        "benchmark": "sort_batch",
        "metric": "time",
        "params": params,
    }
    distribution = _get(lab, f"/jobs/{leased.job_id}/distribution", **query)
    assert {arm["arm"]: arm["n"] >= 450 for arm in distribution["arms"]} == {
        "native": True,
        "fallback": True,
    }
    for arm in distribution["arms"]:
        points = arm["points"]
        assert 2 <= len(points) <= 150
        assert [point["share"] for point in points] == sorted(
            point["share"] for point in points
        )
        assert points[-1]["share"] == 1.0
    assert "half of " in distribution["summary"].lower()
    assert distribution["summary"].endswith(
        "outer 1 % on each side aside, the two do not overlap."
    )
    assert distribution["unit"] == "ns"


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "params", ["{", "[]", '{"batch": 1.5}', '{"batch": null}', "[" * 3000]
)
def test_broken_params_of_a_distribution_are_a_400(lab: Lab, params: str) -> None:
    leased = lab.measure(FASTER)
    query: dict[str, Any] = {
        "benchmark": "sort_batch",
        "metric": "time",
        "params": params,
    }
    assert (
        _get(lab, f"/jobs/{leased.job_id}/distribution", 400, **query)["code"]
        == "invalid_request"
    )


@pytest.mark.shapes("embedded")
def test_a_distribution_of_what_was_not_measured_is_not_found(lab: Lab) -> None:
    leased = lab.measure(FASTER)
    query = {"benchmark": "sort_batch", "metric": "time", "params": '{"batch": 7}'}
    assert (
        _get(lab, f"/jobs/{leased.job_id}/distribution", 404, **query)["code"]
        == "not_found"
    )
    assert _get(lab, "/jobs/job_none/distribution", 404, **query)["code"] == "not_found"


def test_a_live_series_shows_what_has_arrived(lab: Lab) -> None:
    lab.request()
    leased = lab.deliver(FASTER)
    series = _get(lab, f"/jobs/{leased.job_id}/live-series")
    assert len(series["items"]) == 4
    assert {row["n"] for row in series["items"]} == {125}


@pytest.mark.shapes("embedded")
def test_reports_need_the_read_scope(
    lab: Lab, token: Callable[..., dict[str, str]]
) -> None:
    for path in (
        "/overview",
        "/jobs/j/report",
        "/runs/r/comparisons",
        "/jobs/j/live-series",
    ):
        assert lab.client.get(f"{PREFIX}{path}").status_code == 401
        assert (
            lab.client.get(f"{PREFIX}{path}", headers=token("ingest")).status_code
            == 403
        )


@pytest.mark.shapes("embedded")
def test_arms_stay_fast_with_a_long_history(lab: Lab) -> None:
    """With 3,000 stored comparisons of one benchmark, the page must not read them all."""
    leased = lab.measure(SLOWER)
    with session_scope() as session:
        first = session.scalars(
            select(Comparison).where(Comparison.job_id == leased.job_id)
        ).first()
        assert first is not None
        columns = {
            column.key: getattr(first, column.key)
            for column in Comparison.__table__.columns
        }
        rows = [
            {
                **columns,
                "id": ids.new_id("cmp"),
                "measured_at": clock.now() - timedelta(hours=hours),
            }
            for hours in range(1, 3001)
        ]
        session.execute(insert(Comparison), rows)
    read: list[Comparison] = []

    def note(row: Comparison, *_: object) -> None:
        read.append(row)

    event.listen(Comparison, "load", note)
    try:
        arms = _get(lab, "/arms", suite="sorting", benchmark="sort_batch")
    finally:
        event.remove(Comparison, "load", note)
    assert len(arms["comparisons"]) == 2
    assert 2 <= len(read) < 30


@pytest.mark.shapes("embedded", "scaled")
def test_the_overview_publishes_our_own_false_alarms(
    client: TestClient,
    request: pytest.FixtureRequest,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    frozen: FrozenClock = request.getfixturevalue("clock")
    past = record_history(client, frozen, enrolled, token("read"))
    assert (
        past.get("/overview")["false_alarms"]["words"]
        == "No alert was opened in the last 90 days; demonstrations and simulated targets do not count."
    )
    past.alert("vanished")
    frozen.advance(91 * 86_400)
    for state in ("vanished", "invalid", "fixed", "open"):
        past.alert(state)
    past.alert("vanished", opened=False)
    past.alert("invalid", shadow=True)
    past.alert("invalid", demonstration=True)
    few = past.get("/overview")["false_alarms"]
    assert (few["opened"], few["vanished"], few["invalid"], few["share"]) == (
        4,
        1,
        1,
        None,
    )
    past.alert("expected")
    false_alarms = past.get("/overview")["false_alarms"]
    assert false_alarms["share"] == 0.4
    assert false_alarms["words"] == (
        "2 of 5 alerts opened in the last 90 days were false (40.0 %): 1 vanished, 1 called invalid."
    )
