"""What a rule would have done, and rules that do nothing: from stored changes, points and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.stats.constants import HISTORY_MIN_EFFECT
from paceline_server.store.session import session_scope
from paceline_server.store.tables.retired_benchmarks import RetiredBenchmark
from paceline_server.testing.recorded_history import RecordedHistory, record_history

pytestmark = pytest.mark.shapes("embedded")

FLAT = [100.0] * 10
AlertLab = Any


@pytest.fixture
def past(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> RecordedHistory:
    return record_history(client, clock, enrolled, token("read", "alerts:write"))


def replay(
    past: RecordedHistory, days: int = 30, rule_id: str | None = None, **changes: Any
) -> dict[str, Any]:
    rule = {"name": "tried", "min_effect": 0.05, **changes}
    return dict(
        past.post("/rules/replay", {"rule": rule, "days": days, "rule_id": rule_id})
    )


@pytest.mark.shapes("embedded", "scaled")
def test_a_replay_counts_alerts_and_names_the_target_that_fires_most(
    past: RecordedHistory, enrolled: Callable[..., Any]
) -> None:
    other = enrolled("pixel-7").target_id
    for index in (-2, -4, -6):
        past.change(past.series(FLAT, benchmark=f"ledger_{-index}"), index, 0.1)
    past.change(past.series(FLAT, target_id=other), -3, 0.1)
    replayed = replay(past)
    assert replayed["words"] == (
        "In the last 30 days it would have fired 4\u00d7, 3 on lab-1. Only findings of kind history were replayed."
    )
    assert [
        (target["target_name"], target["fired"]) for target in replayed["by_target"]
    ] == [
        ("lab-1", 3),
        ("pixel-7", 1),
    ]
    assert [finding["at"] for finding in replayed["findings"]] == sorted(
        (finding["at"] for finding in replayed["findings"]), reverse=True
    )
    assert replayed["findings"][0]["words"] == "10.0 % slower"
    assert past.get("/rules")["items"] == []


def test_changes_of_one_target_at_one_commit_in_one_direction_are_one_alert(
    past: RecordedHistory,
) -> None:
    first, second = past.series(FLAT), past.series(FLAT, arm="fallback")
    for series in (first, second):
        past.change(series, -2, 0.1, commit="c" * 40)
    past.change(first, -2, -0.1, commit="c" * 40)
    assert (replay(past)["fired"], replay(past)["findings_total"]) == (1, 2)
    assert replay(past, direction="both")["fired"] == 2


@pytest.mark.parametrize(
    ("effect", "change", "fires"),
    [
        (0.1, {"state": "standing"}, True),
        (0.1, {"state": "accepted"}, True),
        (0.1, {"state": "suspect"}, False),
        (0.1, {"state": "vanished", "evaluations": 1}, False),
        (0.1, {"state": "vanished", "evaluations": 2}, True),
        (-0.1, {}, False),
    ],
)
def test_what_never_stood_or_got_better_would_not_have_fired(
    past: RecordedHistory, effect: float, change: dict[str, Any], fires: bool
) -> None:
    past.change(past.series(FLAT), -2, effect, **change)
    replayed = replay(past)
    assert replayed["fired"] == int(fires)
    if not fires:
        assert replayed["words"].startswith(
            "In the last 30 days it would not have fired."
        )


def test_only_the_days_asked_for_and_only_large_enough_effects_count(
    past: RecordedHistory,
) -> None:
    past.change(past.series(FLAT), -6, 0.1)
    past.change(past.series(FLAT, benchmark="b"), -6, 0.049)
    assert replay(past)["fired"] == 1
    assert replay(past, days=3)["fired"] == 0
    assert replay(past, min_effect=0.049)["fired"] == 2


@pytest.mark.shapes("embedded", "scaled")
def test_a_rule_is_replayed_among_those_it_competes_with(past: RecordedHistory) -> None:
    past.change(past.series(FLAT), -2, 0.1)
    own = past.post(
        "/rules", {"name": "own", "target": "lab-1", "min_effect": 0.5}, status=201
    )
    assert replay(past)["fired"] == 0
    assert replay(past, target="lab-1", benchmark="ledger_*")["fired"] == 1
    assert replay(past, target="lab-1", rule_id=own["id"])["fired"] == 1


def test_a_rule_that_asks_for_less_than_history_looks_for_is_refused_with_the_number(
    past: RecordedHistory,
) -> None:
    """Else a replay would promise alerts that nobody can raise."""
    rule = {"name": "tried", "min_effect": 0.0149}
    for path, body, status in (
        ("/rules/replay", {"rule": rule}, 422),
        ("/rules", rule, 422),
        ("/rules", {**rule, "name": "ends", "mode": "off"}, 201),
        ("/rules", {**rule, "name": "least", "min_effect": HISTORY_MIN_EFFECT}, 201),
    ):
        refusal = past.post(path, body, status=status)
        if status == 422:
            assert (refusal["code"], refusal["fields"]) == (
                "below_detection",
                {"min_effect": "at least 1.5 %"},
            )
            assert "from 1.5 % on" in refusal["detail"]


def test_a_rate_that_fell_is_asked_about_as_when_an_alert_is_raised(
    past: RecordedHistory,
) -> None:
    """100 to 90 op/s is 11.1 % worse beside an arm, in an alert and here."""
    rate = past.series(FLAT, metric="throughput", unit="op/s", direction="higher")
    past.change(rate, -2, -0.1, direction="worse")
    assert replay(past, min_effect=0.105)["findings"][0]["words"] == "11.1 % worse"
    assert replay(past, min_effect=0.112)["fired"] == 0
    past.change(rate, -4, 0.1, direction="better")
    assert replay(past, min_effect=0.05)["fired"] == 1
    assert replay(past, min_effect=0.09, direction="both")["fired"] == 2


def test_a_replay_in_shadow_says_that_nobody_would_have_been_told(
    past: RecordedHistory,
) -> None:
    past.change(past.series(FLAT), -2, 0.1)
    assert replay(past, mode="shadow")["words"] == (
        "In the last 30 days it would have fired 1\u00d7, all on lab-1. Only findings of kind history were "
        "replayed. In mode shadow nobody would have been told."
    )


@pytest.mark.shapes("embedded", "scaled")
def test_an_arm_that_fails_in_several_jobs_on_end_is_one_alert(desk: AlertLab) -> None:
    """Real comparisons of jobs that were delivered and analysed: fails twice, passes, fails again."""
    for effects in (
        {1000: 0.126, 2000: 0.1},
        {1000: 0.126, 2000: 0.1},
        {1000: -0.6, 2000: -0.6},
    ):
        desk.measure(effects)
        desk.confirm(effects) if effects[1000] > 0 and desk.alerts()[0][
            "state"
        ] == "suspected" else None
    desk.measure({1000: 0.126, 2000: -0.6})
    rule = {"name": "tried", "kind": "arm_slower", "min_effect": 0.0}

    def tried(**changes: Any) -> dict[str, Any]:
        body = {"rule": {**rule, **changes}}
        answer = desk.lab.client.post(
            "/api/v1/rules/replay", json=body, headers=dict(desk.headers)
        )
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    assert (tried()["fired"], tried()["findings_total"]) == (2, 3)
    assert tried(min_effect=0.115)["findings_total"] == 2
    assert tried(min_effect=0.5)["fired"] == 0
    assert tried(target="other")["fired"] == 0


def test_a_replay_about_arms_says_that_demonstrations_are_left_out(
    desk: AlertLab,
) -> None:
    desk.measure({1000: 0.126, 2000: -0.6}, knobs={"slowdown_percent": 40})
    rule = {"name": "tried", "kind": "arm_slower", "min_effect": 0.0}
    answer = desk.lab.client.post(
        "/api/v1/rules/replay", json={"rule": rule}, headers=dict(desk.headers)
    )
    assert answer.json()["fired"] == 0
    assert answer.json()["words"] == (
        "In the last 30 days it would not have fired. Only findings of kind arm_slower were replayed. "
        "Demonstrations are left out: it would also have fired in one run that demonstrates a slowdown."
    )


@pytest.mark.shapes("embedded", "scaled")
def test_orphans_are_rules_about_nothing_and_measurements_without_a_rule(
    past: RecordedHistory,
) -> None:
    past.series(FLAT)
    past.series(FLAT, params_key='{"batch":2}')
    past.series(FLAT, benchmark="random")
    past.series(FLAT, benchmark="retired")
    past.series(FLAT, benchmark="random", arm="gone")
    with session_scope() as session:
        for key in ("retired", "random/gone"):
            session.add(
                RetiredBenchmark(
                    suite="hashing",
                    benchmark=key,
                    reason="gone",
                    retired_by="Ada",
                    retired_at=clock_module.now(),
                )
            )
    for name, patterns in {
        "alive": {"benchmark": "ledger_batch"},
        "beaten": {"benchmark": "ledger_*"},
        "gone": {"benchmark": "retired"},
        "typo": {"target": "lab-2"},
        "arms": {"kind": "arm_slower", "suite": "nowhere"},
    }.items():
        past.post("/rules", {"name": name, **patterns}, status=201)
    orphans = past.get("/rules/orphans")
    assert {rule["name"]: rule["reason"] for rule in orphans["rules"]} == {
        "arms": "matches no arm of an announced suite",
        "beaten": "a more specific rule decides about everything it matches",
        "gone": "matches no series measured in the last 30 days",
        "typo": "matches no series measured in the last 30 days",
    }
    assert [
        (measurement["benchmark"], measurement["target_name"])
        for measurement in orphans["unruled"]
    ] == [("random", "lab-1")]
    assert (
        orphans["words"]
        == "4 rules decide about nothing; 1 measurement has the built-in default only."
    )
    past.clock.advance(31 * 86_400)
    assert len(past.get("/rules/orphans")["rules"]) == 5


@pytest.mark.shapes("embedded", "scaled")
def test_a_rule_of_arms_lives_while_an_announced_suite_has_the_arm(
    desk: AlertLab,
) -> None:
    body = {
        "name": "native",
        "kind": "arm_slower",
        "benchmark": "sort_*",
        "arm": "native",
    }
    for name, arm in (("native", "native"), ("reference", "fallback")):
        answer = desk.lab.client.post(
            "/api/v1/rules",
            json={**body, "name": name, "arm": arm},
            headers=dict(desk.headers),
        )
        assert answer.status_code == 201, answer.text
    orphans = desk.get("/rules/orphans")
    assert [rule["name"] for rule in orphans["rules"]] == ["reference"]
