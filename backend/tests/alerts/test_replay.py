"""What a rule would have done, and rules that do nothing: from stored changes, points and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.alerts.rules.replay import USUAL
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.history import RetiredBenchmark
from paceline_server.testing.chronicle import Chronicle, chronicle
from sqlalchemy import event

pytestmark = pytest.mark.shapes("embedded")

FLAT = [100.0] * 10
Desk = Any


@pytest.fixture
def past(
    client: TestClient, clock: FrozenClock, enrolled: Callable[..., Any], token: Callable[..., dict[str, str]]
) -> Chronicle:
    return chronicle(client, clock, enrolled, token("read", "alerts:write"))


def replay(past: Chronicle, days: int = 30, rule_id: str | None = None, **changes: Any) -> dict[str, Any]:
    rule = {"name": "tried", "min_effect": 0.05, **changes}
    return dict(past.post("/rules/replay", {"rule": rule, "days": days, "rule_id": rule_id}))


@pytest.mark.shapes("embedded", "scaled")
def test_a_replay_counts_alerts_and_names_the_target_that_fires_most(
    past: Chronicle, enrolled: Callable[..., Any]
) -> None:
    other = enrolled("pixel-7").target_id
    for index in (-2, -4, -6):
        past.change(past.series(FLAT, benchmark=f"ledger_{-index}"), index, 0.1)
    past.change(past.series(FLAT, target_id=other), -3, 0.1)
    found = replay(past)
    assert found["words"] == "In the last 30 days it would have fired 4\u00d7, 3 on lab-1."
    assert [(one["target_name"], one["fired"]) for one in found["by_target"]] == [
        ("lab-1", 3),
        ("pixel-7", 1),
    ]
    assert [one["at"] for one in found["findings"]] == sorted(
        (one["at"] for one in found["findings"]), reverse=True
    )
    assert found["findings"][0]["words"] == "10.0 % slower"
    assert past.get("/rules")["items"] == []


def test_changes_of_one_target_at_one_commit_in_one_direction_are_one_alert(past: Chronicle) -> None:
    first, second = past.series(FLAT), past.series(FLAT, arm="fallback")
    for series in (first, second):
        past.change(series, -2, 0.1, commit="c" * 40)
    past.change(first, -2, -0.1, commit="c" * 40)
    assert (replay(past)["fired"], replay(past)["findings_total"]) == (1, 2)
    assert replay(past, direction="both")["fired"] == 2


@pytest.mark.parametrize(
    ("change", "fires"),
    [
        ({"state": "standing"}, True), ({"state": "accepted"}, True), ({"state": "suspect"}, False),
        ({"state": "vanished", "evaluations": 1}, False), ({"state": "vanished", "evaluations": 2}, True),
        ({"direction": "faster"}, False), ({"direction": "worse"}, True), ({"direction": "better"}, False),
    ],
)  # fmt: skip
def test_what_never_stood_or_got_better_would_not_have_fired(
    past: Chronicle, change: dict[str, Any], fires: bool
) -> None:
    past.change(past.series(FLAT), -2, 0.1, **change)
    found = replay(past)
    assert found["fired"] == int(fires)
    if not fires:
        assert found["words"] == "In the last 30 days it would not have fired."


def test_only_the_days_asked_for_and_only_large_enough_effects_count(past: Chronicle) -> None:
    past.change(past.series(FLAT), -6, 0.1)
    past.change(past.series(FLAT, benchmark="b"), -6, 0.049)
    assert replay(past)["fired"] == 1
    assert replay(past, days=3)["fired"] == 0
    assert replay(past, min_effect=0.049)["fired"] == 2


@pytest.mark.shapes("embedded", "scaled")
def test_a_rule_is_replayed_among_those_it_competes_with(past: Chronicle) -> None:
    past.change(past.series(FLAT), -2, 0.1)
    own = past.post("/rules", {"name": "own", "target": "lab-1", "min_effect": 0.5}, status=201)
    assert replay(past)["fired"] == 0
    assert replay(past, target="lab-1", benchmark="ledger_*")["fired"] == 1
    assert replay(past, target="lab-1", rule_id=own["id"])["fired"] == 1


def test_a_rule_that_asks_for_less_looks_at_the_points_again(past: Chronicle) -> None:
    """A step that stored detection has no change for, because it is smaller than what it looks for."""
    usual = USUAL
    values = 100.0 * np.exp(np.random.default_rng(7).normal(0.0, usual / 15, 60))
    values[45:] *= 1 + 0.7 * usual
    past.series(values.tolist())
    past.change(past.series(FLAT, benchmark="large"), -2, 0.1)
    found = replay(past, min_effect=0.5 * usual)
    assert [(one["source"], one["benchmark"]) for one in found["findings"]] == [
        ("stored", "large"), ("detected_again", "ledger_batch"),
    ]  # fmt: skip
    assert found["findings"][1]["effect"] == pytest.approx(0.7 * usual, rel=0.1)
    assert found["findings"][1]["words"].endswith("% worse")
    assert replay(past, min_effect=usual)["findings_total"] == 1
    assert replay(past, min_effect=0.5 * usual, days=10)["findings_total"] == 1


@pytest.mark.shapes("embedded", "scaled")
def test_points_are_read_by_the_chunk_and_series_beyond_the_limit_are_named(
    past: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = np.random.default_rng(7).normal(0.0, USUAL / 15, 60)
    values = (100.0 * np.exp(drawn)) * np.where(np.arange(60) < 45, 1.0, 1 + 0.7 * USUAL)
    for name in ("a", "b", "c"):
        past.series(values.tolist(), benchmark=name)
    read: list[str] = []
    with session_scope() as session:
        engine = session.get_bind()

    def count(*said: Any) -> None:
        read.append(said[2]) if "row_number()" in said[2] else None

    event.listen(engine, "before_cursor_execute", count)
    try:
        whole = replay(past, min_effect=0.5 * USUAL)
        assert (len({one["benchmark"] for one in whole["findings"]}), len(read)) == (3, 1)
        monkeypatch.setattr("paceline_server.alerts.rules.replay.MOST_SERIES", 2)
        found = replay(past, min_effect=0.5 * USUAL)
    finally:
        event.remove(engine, "before_cursor_execute", count)
    assert len({one["benchmark"] for one in found["findings"]}) == 2
    assert found["words"].endswith("for smaller steps: 1 more series, measured longer ago.")


def test_a_replay_in_shadow_says_that_nobody_would_have_been_told(past: Chronicle) -> None:
    past.change(past.series(FLAT), -2, 0.1)
    assert replay(past, mode="shadow")["words"] == (
        "In the last 30 days it would have fired 1\u00d7, all on lab-1. In mode shadow nobody would have "
        "been told."
    )


@pytest.mark.shapes("embedded", "scaled")
def test_an_arm_that_fails_in_several_jobs_on_end_is_one_alert(desk: Desk) -> None:
    """Real comparisons of jobs that were delivered and analysed: fails twice, passes, fails again."""
    for effects in ({1000: 0.126, 2000: 0.1}, {1000: 0.126, 2000: 0.1}, {1000: -0.6, 2000: -0.6}):
        desk.measure(effects)
        desk.confirm(effects) if effects[1000] > 0 and desk.alerts()[0]["state"] == "suspected" else None
    desk.measure({1000: 0.126, 2000: -0.6})
    rule = {"name": "tried", "kind": "arm_slower", "min_effect": 0.0}

    def tried(**changes: Any) -> dict[str, Any]:
        body = {"rule": {**rule, **changes}}
        answer = desk.lab.client.post("/api/v1/rules/replay", json=body, headers=dict(desk.headers))
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    assert (tried()["fired"], tried()["findings_total"]) == (2, 3)
    assert tried(min_effect=0.115)["findings_total"] == 2
    assert tried(min_effect=0.5)["fired"] == 0
    assert tried(target="other")["fired"] == 0


@pytest.mark.shapes("embedded", "scaled")
def test_orphans_are_rules_about_nothing_and_measurements_without_a_rule(past: Chronicle) -> None:
    past.series(FLAT)
    past.series(FLAT, params_key='{"batch":2}')
    past.series(FLAT, benchmark="random")
    past.series(FLAT, benchmark="retired")
    past.series(FLAT, benchmark="random", arm="gone")
    with session_scope() as session:
        for key in ("retired", "random/gone"):
            session.add(
                RetiredBenchmark(
                    suite="hashing", benchmark=key, reason="gone", retired_by="Ada",
                    retired_at=clock_module.now(),
                )
            )  # fmt: skip
    for name, patterns in {
        "alive": {"benchmark": "ledger_batch"},
        "beaten": {"benchmark": "ledger_*"},
        "gone": {"benchmark": "retired"},
        "typo": {"target": "lab-2"},
        "arms": {"kind": "arm_slower", "suite": "nowhere"},
    }.items():
        past.post("/rules", {"name": name, **patterns}, status=201)
    found = past.get("/rules/orphans")
    assert {one["name"]: one["reason"] for one in found["rules"]} == {
        "arms": "matches no arm of an announced suite",
        "beaten": "a more specific rule decides about everything it matches",
        "gone": "matches no series measured in the last 30 days",
        "typo": "matches no series measured in the last 30 days",
    }
    assert [(one["benchmark"], one["target_name"]) for one in found["unruled"]] == [("random", "lab-1")]
    assert found["words"] == "4 rules decide about nothing; 1 measurement has the built-in default only."
    past.clock.advance(31 * 86_400)
    assert len(past.get("/rules/orphans")["rules"]) == 5


@pytest.mark.shapes("embedded", "scaled")
def test_a_rule_of_arms_lives_while_an_announced_suite_has_the_arm(desk: Desk) -> None:
    body = {"name": "native", "kind": "arm_slower", "benchmark": "sort_*", "arm": "native"}
    for name, arm in (("native", "native"), ("reference", "fallback")):
        answer = desk.lab.client.post(
            "/api/v1/rules", json={**body, "name": name, "arm": arm}, headers=dict(desk.headers)
        )
        assert answer.status_code == 201, answer.text
    found = desk.get("/rules/orphans")
    assert [one["name"] for one in found["rules"]] == ["reference"]
