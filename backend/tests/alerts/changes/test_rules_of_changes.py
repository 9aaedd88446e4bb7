"""What rules make of changes: quiet improvements, shadows, silence, limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from paceline_server.kernel import clock as clock_module
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.history import NoiseFloor
from paceline_server.testing.nightly_jobs import changes
from paceline_server.testing.nightly_jobs import series as all_series
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE
from sqlalchemy import select

from .conftest import NATIVE, actions, mark_incident

pytestmark = pytest.mark.shapes("embedded")

HistoryDesk = Any
FALLBACK = (BENCHMARK, "fallback", 1000)
SLOWER = {NATIVE: 0.1, FALLBACK: 0.1}


@pytest.fixture
def rule(desk: HistoryDesk, token: Callable[..., dict[str, str]]) -> Callable[..., str]:
    """`rule(mode="shadow")` → the id of a saved history rule."""

    def save(**says: Any) -> str:
        body = {"name": "by-test", "kind": "history", **says}
        answer = desk.lab.client.post(
            "/api/v1/rules", json=body, headers=token("read", "alerts:write")
        )
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    return save


def _stepped(desk: HistoryDesk, effect: float = 0.1) -> list[dict[str, Any]]:
    desk.nights(20)
    desk.step(6, effect)
    return list(desk.alerts())


def test_a_rule_for_both_directions_raises_improvements_and_proves_them(
    desk: HistoryDesk, rule: Callable[..., str]
) -> None:
    rule(direction="both")
    (alert,) = _stepped(desk, -0.1)
    assert alert["title"] == "native in sort_batch at batch=1000 got faster on lab-1"
    desk.ab(-0.1)
    assert desk.alert()["state"] == "open"


def test_an_improvement_that_is_none_side_by_side_is_over(
    desk: HistoryDesk, rule: Callable[..., str]
) -> None:
    rule(direction="both")
    _stepped(desk, -0.1)
    desk.ab(0.0)
    assert desk.alert()["state"] == "unconfirmed"


@pytest.mark.shapes("embedded", "scaled")
def test_two_alerts_that_turn_out_to_be_one_shift_of_the_target_become_one(
    desk: HistoryDesk, rule: Callable[..., str]
) -> None:
    rule(direction="both")
    other = (BENCHMARK, "fallback", 1000)
    desk.names = [
        NATIVE,
        other,
        *((BENCHMARK, "fallback", batch) for batch in range(2000, 2006)),
    ]
    desk.nights(20)
    desk.step(10, {NATIVE: 0.1, other: -0.1})
    assert [alert["kind"] for alert in desk.alerts()] == ["history", "history"]
    mark_incident()
    desk.hear(changes()[0].evidence["window"][-1])
    kept, absorbed = sorted(desk.alerts(), key=lambda alert: alert["state"])
    assert (kept["kind"], kept["state"]) == ("environment", "suspected")
    assert absorbed["state"] == "unconfirmed"
    assert absorbed["history"][-1]["note"].startswith(f"part of alert {kept['id']}")
    assert {change.alert_id for change in changes()} == {kept["id"]}


def test_a_shadow_rule_goes_all_the_way_and_tells_nobody(
    desk: HistoryDesk, rule: Callable[..., str]
) -> None:
    rule_id = rule(mode="shadow")
    assert _stepped(desk) == []
    (alert,) = desk.alerts(shadow=True)
    assert alert["rule"]["name"] == "by-test"
    desk.ab(0.1)
    (opened,) = desk.alerts(shadow=True)
    assert opened["state"] == "open"
    assert "notified" not in [event["action"] for event in opened["history"]]
    assert desk.told() == []
    assert rule_id


@pytest.mark.parametrize("says", [{"mode": "off"}, {"min_effect": 0.2}])
def test_what_a_rule_does_not_ask_for_raises_nothing(
    desk: HistoryDesk, rule: Callable[..., str], says: dict[str, Any]
) -> None:
    rule(**says)
    assert _stepped(desk) == []
    with read_scope() as session:
        assert session.scalars(select(Finding)).all() == []


def _floor(desk: HistoryDesk, mde: float) -> None:
    """What an A/A job says of the series that steps."""
    with session_scope() as session:
        session.add(
            NoiseFloor(
                id="nfl_1",
                target_id=desk.lab.target_id,
                suite=SUITE,
                benchmark=BENCHMARK,
                arm="native",
                params={"batch": 1000},
                params_key='{"batch":1000}',
                metric="time",
                mde=mde,
                lower=0.9,
                upper=1.1,
                blocks=100,
                launches=5,
                evidence={},
                run_id="run_x",
                job_id="job_x",
                measured_at=clock_module.now(),
            )
        )


@pytest.mark.parametrize(("mde", "raised"), [(0.02, 0.03), (0.08, 0.08), (0.12, None)])
def test_the_built_in_rule_asks_for_no_less_than_the_target_resolves(
    desk: HistoryDesk, mde: float, raised: float | None
) -> None:
    _floor(desk, mde)
    texts = [alert["rule"]["text"] for alert in _stepped(desk, 0.1)]
    worse = "A measurement got worse by {} % or more and stayed so."
    assert (
        texts
        == {
            None: [],
            0.03: [worse.format("3.0")],
            0.08: [
                f"{worse.format('8.0')} Here less than that cannot be told from noise."
            ],
        }[raised]
    )
    (series,) = all_series()
    page = desk.get(f"/series/{series.id}")
    assert page["rule"]["min_effect"] == max(0.03, mde)


def test_a_rule_of_a_person_is_asked_for_what_it_says(
    desk: HistoryDesk, rule: Callable[..., str]
) -> None:
    rule(min_effect=0.09)
    _floor(desk, 0.12)
    assert len(_stepped(desk, 0.1)) == 1


def test_the_most_specific_rule_decides_alone(
    desk: HistoryDesk, rule: Callable[..., str]
) -> None:
    rule(mode="off", name="everything")
    rule(name="this-target", target="lab-1")
    (alert,) = _stepped(desk)
    assert alert["rule"]["name"] == "this-target"


def _both(desk: HistoryDesk) -> None:
    """Two series slow down; six more of the target do not, so it is no incident."""
    desk.names = [
        NATIVE,
        FALLBACK,
        *((BENCHMARK, "fallback", batch) for batch in range(2000, 2006)),
    ]
    desk.nights(20)
    desk.step(6, SLOWER)


def test_a_fix_that_did_not_hold_joins_the_alert_that_another_series_raised_of_the_same_commits(
    desk: HistoryDesk, rule: Callable[..., str]
) -> None:
    rule(name="quiet", arm="fallback", mode="off")
    _both(desk)
    desk.ab(0.1)
    alert = desk.alert()
    desk.post(f"/alerts/{alert['id']}/actions", {"action": "fixed"})
    rule(name="heard", arm="fallback", target="lab-1")
    desk.nights(1, SLOWER)
    assert [alert["state"] for alert in desk.alerts()] == ["fixed", "suspected"]
    desk.nights(6, SLOWER)
    first, other = desk.alerts()
    assert (first["state"], actions(first)[-1]) == ("fixed", "joined")
    assert other["id"] in first["history"][-1]["note"]
    assert {change.alert_id for change in changes()} == {other["id"]}


def test_a_finding_of_an_active_rule_takes_a_shadow_alert_out_of_the_shadow(
    desk: HistoryDesk, rule: Callable[..., str]
) -> None:
    rule(name="tried", arm="fallback", mode="shadow")
    rule(name="quiet", arm="native", mode="off")
    _both(desk)
    assert (desk.alerts(), len(desk.alerts(shadow=True))) == ([], 1)
    rule(name="heard", arm="native", target="lab-1")
    desk.nights(1, SLOWER)
    alert = desk.alert()
    assert alert["rule"]["name"] == "heard"
    assert "left_shadow" in actions(alert)
    assert {change.alert_id for change in changes()} == {alert["id"]}
