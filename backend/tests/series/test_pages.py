"""Series pages, points, annotations and retired benchmarks over HTTP, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
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

pytestmark = pytest.mark.shapes("embedded", "scaled")

API = "/api/v1"
OTHER = (BENCHMARK, "fallback", 2000)


class SeriesReader:
    """A client that may read and write, and the nightly jobs behind the series."""

    def __init__(
        self,
        client: TestClient,
        nights: NightlyJobs,
        headers: Mapping[str, str],
        agent_id: str,
    ) -> None:
        self.client, self.nights, self.headers, self.agent_id = (
            client,
            nights,
            dict(headers),
            agent_id,
        )

    def ask(self, method: str, path: str, status: int = 200, **request: Any) -> Any:
        response = self.client.request(
            method, f"{API}{path}", headers=self.headers, **request
        )
        assert response.status_code == status, response.text
        return response.json() if response.content else None

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        return self.ask("GET", path, status, params=query)


@pytest.fixture
def reader(
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


def with_step(reader: SeriesReader) -> str:
    """Record a series that steps up by 10 % and a flat one; returns the id of the former."""
    flat = noise(30, 500.0, seed=9)
    for value, other in zip(
        [*noise(20), *noise(10, 1100.0, seed=2)], flat, strict=True
    ):
        reader.nights.night({TIME: value, OTHER: other})
    return next(series.id for series in nightly_jobs.series() if series.arm == "native")


def test_series_are_listed_searched_and_filtered(reader: SeriesReader) -> None:
    with_step(reader)
    names = [
        (series["arm"], series["params"]) for series in reader.get("/series")["items"]
    ]
    assert names == [("fallback", {"batch": 2000}), ("native", {"batch": 1000})]
    for query in (
        {"text": "NATIVE lab-1"},
        {"arm": "native"},
        {"changed": True},
        {"text": '"batch":1000'},
        {"target": reader.nights.target_id, "suite": SUITE, "text": "native"},
    ):
        assert [
            series["arm"] for series in reader.get("/series", **query)["items"]
        ] == ["native"], query
    assert reader.get("/series", text="100%")["items"] == []
    newest = max(series["at"] for series in reader.get("/series")["items"])
    for days in ({"from": newest}, {"to": newest}):
        answer = reader.ask("GET", "/series", params=days)
        assert len(answer["items"]) == 2, days
    after = (datetime.fromisoformat(newest) + timedelta(seconds=1)).isoformat()
    assert reader.ask("GET", "/series", params={"from": after})["items"] == []
    assert reader.ask("GET", "/series", 422, params={"from": "2026-11-28"})["fields"]
    (flat,) = reader.get("/series", changed=False)["items"]
    assert (flat["arm"], flat["points"], flat["changes"]) == ("fallback", 30, {})
    first = reader.get("/series", limit=1)
    rest = reader.get("/series", limit=1, cursor=first["next"])
    assert [first["items"][0]["arm"], rest["items"][0]["arm"], rest["next"]] == [
        "fallback",
        "native",
        None,
    ]


def test_a_series_page_shows_the_present_state(reader: SeriesReader) -> None:
    page = reader.get(f"/series/{with_step(reader)}")
    assert page["level"] == pytest.approx(1100.0, rel=0.01)
    assert [segment["points"] for segment in page["segments"]] == [20, 10]
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
    assert reader.get("/series/ser_none", 404)["code"] == "not_found"


def test_a_window_holds_exactly_its_points(reader: SeriesReader) -> None:
    series_id = with_step(reader)
    whole = reader.get(f"/series/{series_id}/points")
    assert (whole["total"], whole["thinned"], whole["note"]) == (30, False, "")
    assert whole["tracks"] == ["load_1"]
    part = {"from": whole["points"][5]["at"], "to": whole["points"][9]["at"]}
    zoomed = reader.get(f"/series/{series_id}/points", **part)
    assert zoomed["points"] == whole["points"][5:10]
    assert (zoomed["first_at"], zoomed["last_at"]) == (
        whole["points"][0]["at"],
        whole["points"][-1]["at"],
    )
    refused = reader.get(
        f"/series/{series_id}/points", 400, **{"from": "2026-01-05T03:00:00"}
    )
    assert refused["code"] == "invalid_request"


def test_many_points_are_thinned_with_a_note(reader: SeriesReader) -> None:
    series_id = with_step(reader)
    thinned = reader.get(f"/series/{series_id}/points", max_points=10)
    values = [
        point["value"] for point in reader.get(f"/series/{series_id}/points")["points"]
    ]
    shown = [point["value"] for point in thinned["points"]]
    assert thinned["thinned"]
    assert thinned["note"].startswith(f"{len(shown)} of 30 points are shown")
    assert {min(values), max(values), values[0], values[-1], values[20]} <= set(shown)


def test_annotations_of_a_series_or_target_are_created_and_deleted(
    reader: SeriesReader,
) -> None:
    series_id = with_step(reader)
    at = "2026-01-20T12:00:00Z"
    note = reader.ask(
        "POST",
        "/annotations",
        201,
        json={"series_id": series_id, "at": at, "text": "new disk"},
    )
    of_target = {
        "target_id": reader.nights.target_id,
        "at": at,
        "text": "moved to rack 2",
    }
    reader.ask("POST", "/annotations", 201, json=of_target)
    texts = [
        annotation["text"]
        for annotation in reader.get(f"/series/{series_id}")["annotations"]
    ]
    assert texts == ["new disk", "moved to rack 2"]
    other = next(
        series.id for series in nightly_jobs.series() if series.id != series_id
    )
    assert [
        annotation["text"]
        for annotation in reader.get(f"/series/{other}")["annotations"]
    ] == ["moved to rack 2"]
    reader.ask("DELETE", f"/annotations/{note['id']}", 204)
    assert len(reader.get(f"/series/{series_id}")["annotations"]) == 1
    reader.ask("DELETE", f"/annotations/{note['id']}", 404)


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
def test_an_annotation_needs_one_subject_and_an_instant(
    reader: SeriesReader, body: dict[str, Any]
) -> None:
    reader.ask("POST", "/annotations", 422, json=body)


def test_a_reader_cannot_write(
    reader: SeriesReader, token: Callable[..., dict[str, str]]
) -> None:
    reader.headers = token("read")
    body = {
        "target_id": reader.nights.target_id,
        "at": "2026-01-20T12:00:00Z",
        "text": "x",
    }
    assert reader.ask("POST", "/annotations", 403, json=body)["code"] == "forbidden"
    reader.ask("PUT", f"/suites/{SUITE}/retired/x", 403, json={"reason": "y"})


def rename_benchmark(**fields: Any) -> dict[str, Any]:
    """The manifest with its benchmark called `sort_many` now."""
    manifest = suite_manifest(rules=[])
    manifest["benchmarks"] = {
        "sort_many": {**manifest["benchmarks"][BENCHMARK], **fields}
    }
    manifest["knobs"] = {}  # they name the benchmark, too
    return manifest


def test_only_a_benchmark_that_is_no_longer_declared_can_be_retired(
    reader: SeriesReader,
) -> None:
    with_step(reader)
    refusal = reader.ask(
        "PUT", f"/suites/{SUITE}/retired/{BENCHMARK}", 409, json={"reason": "old"}
    )
    assert refusal["code"] == "still_declared"
    announce(reader.agent_id, rename_benchmark())
    retired = reader.ask(
        "PUT",
        f"/suites/{SUITE}/retired/{BENCHMARK}",
        json={"reason": "sort_many replaces it"},
    )
    assert (retired["benchmark"], retired["arm"], retired["retired_by"]) == (
        BENCHMARK,
        None,
        "test",
    )
    assert [
        benchmark["reason"]
        for benchmark in reader.get(f"/suites/{SUITE}/retired")["items"]
    ] == ["sort_many replaces it"]
    reader.ask(
        "PUT", f"/suites/{SUITE}/retired/never_was", 404, json={"reason": "typo"}
    )
    reader.ask("DELETE", f"/suites/{SUITE}/retired/{BENCHMARK}", 204)
    reader.ask("DELETE", f"/suites/{SUITE}/retired/{BENCHMARK}", 404)


def test_a_renamed_benchmark_and_arm_keep_their_history(reader: SeriesReader) -> None:
    series_id = with_step(reader)
    manifest = rename_benchmark(
        arms=["fallback", "jni"],
        aliases=[BENCHMARK],
        arm_aliases={"jni": ["native"]},
        reference="fallback",
    )
    reader.nights.names = NewestNames.of(read(manifest))
    reader.nights.night(
        {("sort_many", "jni", 1000): 1100.0, ("sort_many", "fallback", 2000): 500.0}
    )
    page = reader.get(f"/series/{series_id}")
    assert (page["series"]["benchmark"], page["series"]["arm"]) == ("sort_many", "jni")
    assert page["series"]["points"] == 31
    assert [change["state"] for change in page["changes"]] == ["standing"]
    reader.nights.night({TIME: 1100.0})
    assert reader.get(f"/series/{series_id}")["series"]["points"] == 32
    assert len(nightly_jobs.series()) == 2


def test_a_series_of_the_new_name_is_joined_with_the_old_series(
    reader: SeriesReader,
) -> None:
    reader.nights.stream(noise(10))
    new = ("sort_many", "native", 1000)
    reader.nights.stream(noise(3, seed=2), name=new)
    assert len(nightly_jobs.series()) == 2
    (old,) = [
        series.id for series in nightly_jobs.series() if series.benchmark == BENCHMARK
    ]
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
    reader.nights.names = NewestNames({BENCHMARK: "sort_many"})
    reader.nights.stream(noise(1, seed=3), name=new)
    (joined,) = nightly_jobs.series()
    assert joined.benchmark == "sort_many"
    assert reader.get(f"/series/{joined.id}/points")["total"] == 14
    assert nightly_jobs.state_of(joined.id).points == 14
    with session_scope() as session:
        assert session.get_one(Finding, "fnd_1").series_id == joined.id != old
