"""One target moved while its siblings did not: the alert says `target`, and who stayed (I15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from paceline_server.alerts.changes.causes import (
    SiblingTarget,
    code_or_target,
    environment_cause_of,
    siblings_of,
)
from paceline_server.alerts.changes.change_facts import ChangeEdges, ChangeFacts
from paceline_server.kernel import clock
from paceline_server.store.tables.history import Change, Series, SeriesPoint
from paceline_server.testing.delivered_jobs import open_lab
from paceline_server.testing.nightly_jobs import NightlyJobs

from .conftest import LEVEL, NATIVE

pytestmark = pytest.mark.shapes("embedded")

HistoryDesk = Any


@pytest.fixture
def sibling(
    desk: HistoryDesk, enrolled: Callable[..., Any], token: Any
) -> Callable[[float, int], None]:
    """The same nights on another target, `effect` slower from night 20 on, for `after` nights."""

    def measure(effect: float, after: int) -> None:
        past = NightlyJobs(
            open_lab(desk.lab.client, enrolled, token, name="lab-2").target_id
        )
        for night in range(20 + after):
            past.night(
                {NATIVE: LEVEL * 1.3 * (1.0 + effect * (night >= 20))}, evaluate=False
            )

    return measure


@pytest.mark.parametrize(
    "case",
    [
        (
            0.0,
            10,
            "target",
            "only lab-1 moved; with the same commits these did not: lab-2 (exactly as fast)",
        ),
        (0.1, 10, "code", "other targets moved with it: lab-2 (10.0 % slower)"),
        (0.0, 2, "code", "no other target measured enough of the same commits"),
    ],
)
def test_siblings_decide_between_code_and_target(
    desk: HistoryDesk,
    sibling: Callable[[float, int], None],
    case: tuple[float, int, str, str],
) -> None:
    effect, after, cause, because = case
    sibling(effect, after)
    desk.nights(20)
    desk.step(10, 0.1)
    alert = desk.alert()
    assert (alert["kind"], alert["cause"]) == ("history", cause)
    assert because in alert["cause_text"]
    desk.ab(0.1)
    assert (desk.alert()["cause"], desk.alert()["state"]) == (cause, "open")


def _fact(**new: Any) -> ChangeFacts:
    """A change from commit a to commit b; `new` replaces columns of the point after it."""
    at = clock.now()

    def point(job: str, commit: str, **columns: Any) -> SeriesPoint:
        own = {
            "artifact_hash": commit * 64,
            "fingerprint": "f",
            "value": 1.0,
            "run_id": "r",
            "at": at,
        }
        return SeriesPoint(series_id="s", job_id=job, commit=commit, **(own | columns))

    change = Change(
        id="c",
        series_id="s",
        job_id="2",
        direction="slower",
        effect=0.1,
        lower=0.09,
        upper=0.11,
        evidence={},
        cause=None,
    )
    series = Series(
        id="s", direction="lower", arm="native", benchmark="sort", params={}, unit="ns"
    )
    points = {"1": point("1", "a"), "2": point("2", "b", **new)}
    return ChangeFacts(change, series, points, ChangeEdges("1", "1", "2", "2"))


def test_a_fingerprint_that_changed_in_between_is_the_environment_and_names_the_factors() -> (
    None
):
    factors = {"f": {"kernel": "6.1", "cpu": "x"}, "g": {"kernel": "6.2", "cpu": "x"}}
    cause = environment_cause_of(_fact(fingerprint="g"), factors)
    assert cause is not None
    assert (cause.cause, cause.because) == (
        "environment",
        "the target itself changed in between: kernel 6.1 → 6.2",
    )
    assert cause.evidence["factors"] == [
        {"factor": "kernel", "before": "6.1", "after": "6.2"}
    ]
    assert environment_cause_of(_fact(), factors) is None


def test_the_same_artifact_is_never_the_code_whatever_else_changed() -> None:
    cause = environment_cause_of(_fact(artifact_hash="a" * 64, fingerprint="g"), {})
    assert cause is not None
    assert cause.because.startswith("the same artifact (aaaaaaaaaaaa)")


def test_unknown_artifacts_are_called_unknown() -> None:
    assert "not known" in code_or_target(_fact(artifact_hash=None), "lab-1", []).because


def test_what_other_targets_did_is_said_in_the_words_of_the_metric() -> None:
    """`rss_peak` of 100 → 112 MiB is not slower."""
    stayed, moved = (
        SiblingTarget("s", 0.99, 9, 9, False),
        SiblingTarget("m", 1.12, 9, 9, True),
    )
    reasons = {}
    for unit in ("bytes", "ns"):
        fact = _fact()
        fact.series.unit = unit
        reasons[unit] = [
            code_or_target(fact, "lab-1", [target]).because
            for target in (stayed, moved)
        ]
    assert "s (1.0 % better)" in reasons["bytes"][0]
    assert "m (12.0 % worse)" in reasons["bytes"][1]
    assert "s (1.0 % faster)" in reasons["ns"][0]
    assert "m (12.0 % slower)" in reasons["ns"][1]


def test_one_sibling_that_moved_clears_the_target_and_half_a_shift_counts_as_moved() -> (
    None
):
    stayed, moved = (SiblingTarget(name, 1.0, 9, 9, name == "m") for name in ("s", "m"))
    assert code_or_target(_fact(), "lab-1", [stayed]).cause == "target"
    assert code_or_target(_fact(), "lab-1", [stayed, moved]).cause == "code"
    values = {"a": 1.0, "b": 1.06}
    points = [
        (
            "lab-2",
            SeriesPoint(
                series_id="t", job_id=str(at), commit=commit, value=values[commit]
            ),
        )
        for at, commit in enumerate("aaabbb")
    ]
    (sibling,) = siblings_of(_fact(), frozenset("a"), frozenset("b"), points)
    assert (sibling.moved, sibling.n_before, sibling.n_after) == (True, 3, 3)
    both = siblings_of(_fact(), frozenset("ab"), frozenset("b"), points)
    assert both == [], "a commit measured on both sides says nothing"
