"""A history starts a new segment where its number begins to mean something else, and finds no step there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.series import job_points
from paceline_server.series.declarations import Declaration
from paceline_server.series.service import NewestNames
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.history import SeriesPoint
from paceline_server.testing import nightly_jobs
from paceline_server.testing.nightly_jobs import TIME, NightlyJobs, commit_of
from paceline_server.testing.sorting_suite import BENCHMARK
from sqlalchemy import select, update

pytestmark = pytest.mark.shapes("embedded")

API = "/api/v1"
Meaning = Mapping[str, Any]
READ: Meaning = {"items": 100, "bytes": 8}


class History:
    """The nights of one series, and its page."""

    def __init__(
        self, client: TestClient, nights: NightlyJobs, headers: Mapping[str, str]
    ) -> None:
        self._client, self._headers = client, dict(headers)
        self.nights = nights

    def record(self, level: float, count: int, meaning: Meaning = READ) -> None:
        scatter = np.random.default_rng(count).normal(0.0, 0.004, count)
        values = [float(value) for value in level * np.exp(scatter)]
        self.nights.stream(values, meaning=meaning)

    def get(self, path: str = "") -> Any:
        (series,) = nightly_jobs.series()
        answer = self._client.get(
            f"{API}/series/{series.id}{path}", headers=self._headers
        )
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def history(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    clock: FrozenClock,
) -> History:
    return History(client, NightlyJobs(enrolled().target_id), token("read"))


SINCE = f"since {commit_of(20)[:12]}"
CHANGES: list[tuple[Meaning, str]] = [
    ({"unit": "bytes"}, f"time is in bytes {SINCE}, in ns before"),
    ({"direction": "higher"}, f"higher is better for time {SINCE}, lower before"),
    ({"items": 7}, f"an iteration is 7 items {SINCE}, 100 before"),
    ({"bytes": 4096}, f"an iteration is 4096 bytes {SINCE}, 8 before"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_a_changed_declaration_starts_a_segment_that_names_it_and_no_step(
    history: History, change: Meaning, words: str
) -> None:
    history.record(1000.0, 20)
    history.record(7.0, 12, {**READ, **change})
    page = history.get()
    assert page["changes"] == []
    assert [segment["points"] for segment in page["segments"]] == [20, 12]
    assert page["segments"][1]["starts_because"] == words
    assert words in page["state"]
    assert [row["change"] for row in page["environments"]] == [None, words]
    units = [row["unit"] for row in page["environments"]]
    assert units == ["ns", change.get("unit", "ns")]
    assert page["series"]["unit"] == units[-1]
    points = history.get("/points")
    assert [point["environment"] for point in points["points"]] == [0] * 20 + [1] * 12


def test_steps_on_either_side_are_found_and_said_in_the_unit_of_their_time(
    history: History,
) -> None:
    history.record(1000.0, 20)
    history.record(1200.0, 15)
    assert [change.state for change in nightly_jobs.changes()] == ["standing"]
    in_bytes = {**READ, "unit": "bytes"}
    history.record(5e6, 20, in_bytes)
    history.record(6e6, 15, in_bytes)
    page = history.get()
    assert [segment["points"] for segment in page["segments"]] == [20, 15, 20, 15]
    by_state = {change["state"]: change["words"] for change in page["changes"]}
    assert by_state.keys() == {"superseded", "standing"}
    assert " ns → 1.2" in by_state["superseded"]
    assert "worse: " in by_state["standing"]
    reasons = [segment["starts_because"] for segment in page["segments"]]
    assert reasons[1] == by_state["superseded"]
    assert reasons[3] == by_state["standing"]


def test_a_new_environment_at_the_same_point_is_said_beside_it(
    history: History,
) -> None:
    history.record(1000.0, 6)
    night = history.nights.night
    night(
        {TIME: 3.0},
        meaning={"unit": "bytes"},
        fingerprint="e",
        factors={**nightly_jobs.FACTORS, "kernel": "6.1.0-13"},
    )
    change = history.get()["environments"][1]["change"]
    assert change == (
        f"time is in bytes since {commit_of(6)[:12]}, in ns before; "
        "kernel 6.1.0-12 → 6.1.0-13"
    )


@pytest.mark.parametrize("meaning", [{}, {"items": 100}, {"bytes": 8}])
def test_work_that_is_not_declared_is_no_change(
    history: History, meaning: Meaning
) -> None:
    history.record(1000.0, 6)
    history.record(1000.0, 6, meaning)
    history.record(1000.0, 6)
    assert len(history.get()["environments"]) == 1
    history.record(1000.0, 6, {"items": 99})
    assert history.get()["environments"][1]["change"].startswith("an iteration is 99")


def test_points_of_before_mean_what_their_series_said(history: History) -> None:
    history.record(1000.0, 8)
    with session_scope() as session:
        session.execute(update(SeriesPoint).values(declaration=None))
    history.record(1000.0, 4)
    assert len(history.get()["environments"]) == 1
    history.record(9.0, 4, {**READ, "unit": "bytes"})
    environments = history.get()["environments"]
    assert [row["unit"] for row in environments] == ["ns", "bytes"]
    with read_scope() as session:
        oldest = session.scalars(select(SeriesPoint).order_by(SeriesPoint.at)).first()
        assert oldest is not None
        assert oldest.declaration == Declaration("ns", "lower").text()


def test_a_late_point_of_another_unit_leaves_the_series_its_unit(
    history: History,
) -> None:
    history.record(1000.0, 6)
    history.nights.nights -= 3
    history.nights.night({TIME: 5.0}, meaning={"unit": "bytes"})
    assert history.get()["series"]["unit"] == "ns"


def test_joined_series_keep_what_their_points_meant(history: History) -> None:
    history.record(1000.0, 4)
    with session_scope() as session:
        session.execute(update(SeriesPoint).values(declaration=None))
    renamed = ("sort_many", "native", 1000)
    history.nights.night({renamed: 5.0}, meaning={"unit": "bytes"})
    assert len(nightly_jobs.series()) == 2
    with session_scope() as session:
        names = NewestNames({BENCHMARK: "sort_many"})
        job_points.adopt_newest_names(session, history.nights.suite, names)
    assert [row["unit"] for row in history.get()["environments"]] == ["ns", "bytes"]
