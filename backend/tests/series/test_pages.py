"""What people read of history and write beside it, over HTTP, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_contract.manifest_reader import read_manifest as read
from paceline_server.kernel.clock import FrozenClock
from paceline_server.series.service import NewestNames
from paceline_server.store.session import session_scope
from paceline_server.store.tables.decisions import Finding
from paceline_server.testing import nightly_jobs
from paceline_server.testing.nightly_jobs import TIME, NightlyJobs
from paceline_server.testing.scripted_agent import announce
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE, suite_manifest

API = "/api/v1"
OTHER = (BENCHMARK, "fallback", 2000)


class SeriesReader:
    """Someone who may read and write, and the past they look at."""

    def __init__(
        self,
        client: TestClient,
        past: NightlyJobs,
        headers: Mapping[str, str],
        agent_id: str,
    ) -> None:
        self.client, self.past, self.headers, self.agent_id = (
            client,
            past,
            dict(headers),
            agent_id,
        )

    def ask(self, method: str, path: str, status: int = 200, **sent: Any) -> Any:
        answer = self.client.request(
            method, f"{API}{path}", headers=self.headers, **sent
        )
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        return self.ask("GET", path, status, params=query)


@pytest.fixture
def desk(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    clock: FrozenClock,
) -> SeriesReader:
    who = enrolled()
    announce(who.agent_id, suite_manifest())
    return SeriesReader(
        client, NightlyJobs(who.target_id), token("read", "alerts:write"), who.agent_id
    )


def noise(count: int, level: float = 1000.0, seed: int = 1) -> list[float]:
    return [
        float(x)
        for x in level * np.exp(np.random.default_rng(seed).normal(0.0, 0.004, count))
    ]


def stepped(desk: SeriesReader) -> str:
    """A series that stepped up by 10 %, and a flat one beside it; the id of the first."""
    flat = noise(30, 500.0, seed=9)
    for value, other in zip(
        [*noise(20), *noise(10, 1100.0, seed=2)], flat, strict=True
    ):
        desk.past.night({TIME: value, OTHER: other})
    return next(one.id for one in nightly_jobs.series() if one.arm == "native")


def test_series_are_listed_found_by_words_and_filtered(desk: SeriesReader) -> None:
    stepped(desk)
    names = [(one["arm"], one["params"]) for one in desk.get("/series")["items"]]
    assert names == [("fallback", {"batch": 2000}), ("native", {"batch": 1000})]
    for query in (
        {"text": "NATIVE lab-1"},
        {"arm": "native"},
        {"changed": True},
        {"text": '"batch":1000'},
        {"target": desk.past.target_id, "suite": SUITE, "text": "native"},
    ):
        assert [one["arm"] for one in desk.get("/series", **query)["items"]] == [
            "native"
        ], query
    assert desk.get("/series", text="100%")["items"] == []
    (flat,) = desk.get("/series", changed=False)["items"]
    assert (flat["arm"], flat["points"], flat["changes"]) == ("fallback", 30, {})
    first = desk.get("/series", limit=1)
    rest = desk.get("/series", limit=1, cursor=first["next"])
    assert [first["items"][0]["arm"], rest["items"][0]["arm"], rest["next"]] == [
        "fallback",
        "native",
        None,
    ]


def test_a_series_page_says_where_it_stands(desk: SeriesReader) -> None:
    page = desk.get(f"/series/{stepped(desk)}")
    assert page["level"] == pytest.approx(1100.0, rel=0.01)
    assert [one["points"] for one in page["segments"]] == [20, 10]
    (change,) = page["changes"]
    assert (change["state"], change["n_before"], change["n_after"]) == (
        "standing",
        20,
        10,
    )
    assert change["words"] == "9.9 % slower: 1.001 µs → 1.1 µs"
    assert page["segments"][1]["starts_because"] == change["words"]
    assert page["segments"][0]["lower"] < 1000.0 < page["segments"][0]["upper"]
    rule = page["rule"]
    assert (rule["rule_id"], rule["mode"]) == (None, "active")
    assert rule["limit"] == pytest.approx(page["level"] * (1.0 + rule["min_effect"]))
    assert desk.get("/series/ser_none", 404)["code"] == "not_found"


def test_a_window_of_points_is_refetched_for_a_zoom(desk: SeriesReader) -> None:
    series_id = stepped(desk)
    whole = desk.get(f"/series/{series_id}/points")
    assert (whole["total"], whole["thinned"], whole["note"]) == (30, False, "")
    assert whole["tracks"] == ["load_1"]
    part = {"from": whole["points"][5]["at"], "to": whole["points"][9]["at"]}
    zoomed = desk.get(f"/series/{series_id}/points", **part)
    assert zoomed["points"] == whole["points"][5:10]
    assert (zoomed["first_at"], zoomed["last_at"]) == (
        whole["points"][0]["at"],
        whole["points"][-1]["at"],
    )
    refused = desk.get(
        f"/series/{series_id}/points", 400, **{"from": "2026-01-05T03:00:00"}
    )
    assert refused["code"] == "invalid_request"


def test_many_points_are_thinned_and_it_is_said(desk: SeriesReader) -> None:
    series_id = stepped(desk)
    said = desk.get(f"/series/{series_id}/points", max_points=10)
    values = [one["value"] for one in desk.get(f"/series/{series_id}/points")["points"]]
    shown = [one["value"] for one in said["points"]]
    assert said["thinned"]
    assert said["note"].startswith(f"{len(shown)} of 30 points are shown")
    assert {min(values), max(values), values[0], values[-1], values[20]} <= set(shown)


def test_people_write_beside_a_series_or_a_target_and_take_it_away(
    desk: SeriesReader,
) -> None:
    series_id = stepped(desk)
    at = "2026-01-20T12:00:00Z"
    note = desk.ask(
        "POST",
        "/annotations",
        201,
        json={"series_id": series_id, "at": at, "text": "new disk"},
    )
    of_target = {"target_id": desk.past.target_id, "at": at, "text": "moved to rack 2"}
    desk.ask("POST", "/annotations", 201, json=of_target)
    texts = [one["text"] for one in desk.get(f"/series/{series_id}")["annotations"]]
    assert texts == ["new disk", "moved to rack 2"]
    other = next(one.id for one in nightly_jobs.series() if one.id != series_id)
    assert [one["text"] for one in desk.get(f"/series/{other}")["annotations"]] == [
        "moved to rack 2"
    ]
    desk.ask("DELETE", f"/annotations/{note['id']}", 204)
    assert len(desk.get(f"/series/{series_id}")["annotations"]) == 1
    desk.ask("DELETE", f"/annotations/{note['id']}", 404)


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "body",
    [
        {"at": "2026-01-20T12:00:00Z", "text": "nowhere"},
        {
            "series_id": "a",
            "target_id": "b",
            "at": "2026-01-20T12:00:00Z",
            "text": "twice",
        },
        {"series_id": "a", "at": "2026-01-20T12:00:00", "text": "no zone"},
    ],
)
def test_a_note_needs_one_place_and_an_instant(
    desk: SeriesReader, body: dict[str, Any]
) -> None:
    desk.ask("POST", "/annotations", 422, json=body)


def test_who_may_only_read_writes_nothing(
    desk: SeriesReader, token: Callable[..., dict[str, str]]
) -> None:
    desk.headers = token("read")
    body = {"target_id": desk.past.target_id, "at": "2026-01-20T12:00:00Z", "text": "x"}
    assert desk.ask("POST", "/annotations", 403, json=body)["code"] == "forbidden"
    desk.ask("PUT", f"/suites/{SUITE}/retired/x", 403, json={"reason": "y"})


def renamed(**fields: Any) -> dict[str, Any]:
    """The manifest with its benchmark called `sort_many` now."""
    made = suite_manifest(rules=[])
    made["benchmarks"] = {"sort_many": {**made["benchmarks"][BENCHMARK], **fields}}
    made["knobs"] = {}  # they name the benchmark, too
    return made


def test_only_what_is_declared_no_longer_can_be_retired(desk: SeriesReader) -> None:
    stepped(desk)
    said = desk.ask(
        "PUT", f"/suites/{SUITE}/retired/{BENCHMARK}", 409, json={"reason": "old"}
    )
    assert said["code"] == "still_declared"
    announce(desk.agent_id, renamed())
    done = desk.ask(
        "PUT",
        f"/suites/{SUITE}/retired/{BENCHMARK}",
        json={"reason": "sort_many replaces it"},
    )
    assert (done["benchmark"], done["arm"], done["retired_by"]) == (
        BENCHMARK,
        None,
        "test",
    )
    assert [one["reason"] for one in desk.get(f"/suites/{SUITE}/retired")["items"]] == [
        "sort_many replaces it"
    ]
    desk.ask("PUT", f"/suites/{SUITE}/retired/never_was", 404, json={"reason": "typo"})
    desk.ask("DELETE", f"/suites/{SUITE}/retired/{BENCHMARK}", 204)
    desk.ask("DELETE", f"/suites/{SUITE}/retired/{BENCHMARK}", 404)


def test_a_renamed_benchmark_and_arm_keep_their_history(desk: SeriesReader) -> None:
    series_id = stepped(desk)
    manifest = renamed(
        arms=["fallback", "jni"],
        aliases=[BENCHMARK],
        arm_aliases={"jni": ["native"]},
        reference="fallback",
    )
    desk.past.names = NewestNames.of(read(manifest))
    desk.past.night(
        {("sort_many", "jni", 1000): 1100.0, ("sort_many", "fallback", 2000): 500.0}
    )
    page = desk.get(f"/series/{series_id}")
    assert (page["series"]["benchmark"], page["series"]["arm"]) == ("sort_many", "jni")
    assert page["series"]["points"] == 31
    assert [one["state"] for one in page["changes"]] == ["standing"]
    desk.past.night({TIME: 1100.0})
    assert desk.get(f"/series/{series_id}")["series"]["points"] == 32
    assert len(nightly_jobs.series()) == 2


def test_a_series_begun_under_the_new_name_is_joined_with_its_old_one(
    desk: SeriesReader,
) -> None:
    desk.past.stream(noise(10))
    new = ("sort_many", "native", 1000)
    desk.past.stream(noise(3, seed=2), name=new)
    assert len(nightly_jobs.series()) == 2
    (old,) = [one.id for one in nightly_jobs.series() if one.benchmark == BENCHMARK]
    with session_scope() as session:
        session.add(
            Finding(
                id="fnd_1",
                kind="history",
                role="candidate",
                series_id=old,
                run_id="run",
                job_id="job",
                method="m",
                parameters={},
                filters=[],
                window={},
                created_at=nightly_jobs.START,
            )
        )
    desk.past.names = NewestNames({BENCHMARK: "sort_many"})
    desk.past.stream(noise(1, seed=3), name=new)
    (joined,) = nightly_jobs.series()
    assert joined.benchmark == "sort_many"
    assert desk.get(f"/series/{joined.id}/points")["total"] == 14
    assert nightly_jobs.state_of(joined.id).points == 14
    with session_scope() as session:
        assert session.get_one(Finding, "fnd_1").series_id == joined.id != old
