"""Tests `paceline.result/1` on a server: runs at the document's own time, commit and branch, and the file that is kept."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_contract.readers.registry import READERS, read_file
from paceline_contract.results import cases_without_figures, encode_result
from paceline_server.detect import history
from paceline_server.detect.recompute import recompute
from paceline_server.imports import originals
from paceline_server.imports import service as imports
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.testing.delivered_jobs import Lab

PREFIX = "/api/v1"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
AT = "2021-03-04T05:06:07Z"
FAILED = {"name": "broken", "benchmark": "broken", "failure": "no such file"}
SKIPPED = {"name": "wide", "benchmark": "wide", "unavailable": "no AVX-512"}


def metric(name: str = "time", unit: str = "ns", **figures: Any) -> dict[str, Any]:
    direction = "higher" if unit.endswith("/s") else "lower"
    return {"name": name, "unit": unit, "direction": direction, **figures}


def case(name: str, *metrics: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"name": name, "benchmark": name, "metrics": list(metrics), **changes}


TIMED = metric(samples=[[10, 1000], [10, 1020], [20, 2060]])


def result(*cases: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "format": "paceline.result/1",
        "tool": "google-benchmark",
        "cases": list(cases),
        **changes,
    }


def file_of(data: bytes, name: str = "bench.json") -> dict[str, Any]:
    return {"file": name, "gzip": base64.b64encode(gzip.compress(data)).decode()}


class Sender:
    """Sends requests as CI does."""

    def __init__(self, client: TestClient, headers: dict[str, str]) -> None:
        self._client, self._headers = client, headers

    def send(self, method: str, path: str, json: Any = None, **query: Any) -> Any:
        answer = self._client.request(
            method, f"{PREFIX}{path}", json=json, params=query, headers=self._headers
        )
        outbox.drain()
        return answer

    def get(self, path: str, **query: Any) -> Any:
        answer = self.send("GET", path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def store(self, document: dict[str, Any], status: int = 201, **body: Any) -> Any:
        answer = self.send("POST", "/imports", {"document": document, **body})
        assert answer.status_code == status, answer.text
        return answer.json()


@pytest.fixture
def ci(client: TestClient, token: Callable[..., dict[str, str]]) -> Sender:
    return Sender(client, token("ingest", "read", "alerts:write"))


@pytest.mark.shapes("embedded", "scaled")
def test_a_result_becomes_points_at_its_own_time_commit_and_branch(
    ci: Sender,
) -> None:
    """They are shown and never count, also after a recomputation."""
    document = result(
        case("BM_sort", TIMED, metric("cpu_time", samples=[[10, 900]])),
        case("seek", metric("throughput", "op/s", samples=[[7, 3000]]), arm="ours"),
        case("mean", metric(summary={"kind": "mean", "value": 331.95, "count": 9})),
        FAILED,
        SKIPPED,
        version="1.9.5",
        at=AT,
        commit=COMMIT,
        branch="trunk",
        target={"cpu": "AMD EPYC"},
    )
    stored = ci.store(document, measured_on={"on": "ci-7"})
    (run,) = stored["runs"]
    assert (run["baseline"], run["commit"], run["at"]) == ("trunk", COMMIT, AT)
    assert (stored["tool"], stored["facts"]) == (
        "google-benchmark 1.9.5",
        {"cpu": "AMD EPYC"},
    )
    assert [(left["id"], left["why"]) for left in stored["left_out"]] == [
        ("broken", "the tool reports a failure: no such file"),
        ("wide", "the tool skipped it: no AVX-512"),
    ]
    assert [
        (
            series["id"],
            series["arm"],
            series["metric"],
            series["median"],
            series["summary"],
        )
        for series in run["series"]
    ] == [
        ("BM_sort", "code", "time", 102.0, None),
        ("BM_sort", "code", "cpu_time", 90.0, None),
        ("seek/ours", "ours", "throughput", 3000.0, None),
        ("mean", "code", "time", 331.95, "mean"),
    ]
    listed = ci.get("/series")["items"]
    assert {
        (series["suite"], series["branch"], series["target_name"]) for series in listed
    } == {("google_benchmark", "trunk", "ci-7")}
    points = [
        point
        for series in listed
        for point in ci.get(f"/series/{series['id']}/points")["points"]
    ]
    assert len(points) == 4
    assert {(point["at"], point["commit"]) for point in points} == {(AT, COMMIT)}
    assert all(point["excluded"] for point in points)
    again = recompute()
    assert (again.points_added, again.points_changed) == (0, 0)
    assert ci.get(f"/runs/{run['run_id']}/completeness")["complete"]
    assert ci.get("/alerts")["items"] == []


@pytest.mark.shapes("embedded", "scaled")
def test_the_file_is_kept_as_it_was_and_the_result_is_stored_once(ci: Sender) -> None:
    data = b"\xff not what a reader must like \x00" * 50_000
    first = ci.store(result(case("a", TIMED)), original=file_of(data, 'b"ä.json'))
    assert (first["source"], first["original_bytes"]) == ('b"ä.json', len(data))
    answer = ci.send("GET", f"/imports/{first['id']}/original")
    assert answer.content == data
    assert answer.headers["content-disposition"] == (
        "attachment; filename*=UTF-8''b%22%C3%A4.json"
    )
    again = ci.store(result(case("a", TIMED)), 200, original=file_of(b"other"))
    assert again == first
    assert len(ci.get("/imports")["items"]) == 1
    refused = ci.send("DELETE", f"/imports/{first['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "samples_stay")


def test_without_a_file_the_document_is_kept_and_the_project_has_the_branch(
    ci: Sender,
) -> None:
    document = result(case("a", TIMED))
    stored = ci.store(document, title="Nightly")
    assert (stored["title"], stored["source"]) == ("Nightly", "google-benchmark.json")
    kept = ci.send("GET", f"/imports/{stored['id']}/original").content
    assert json.loads(kept) == document
    (run,) = stored["runs"]
    assert (run["baseline"], run["commit"], run["at"]) == ("main", None, None)
    (series,) = ci.get("/series")["items"]
    (point,) = ci.get(f"/series/{series['id']}/points")["points"]
    assert point["at"] >= stored["imported_at"][:10]


def test_equal_figures_of_two_commits_are_two_points(ci: Sender) -> None:
    """A count of allocations is the same at every commit."""
    count = metric("allocations", "count", samples=[[1, 5]])
    for commit, at in (("a" * 40, "2022-01-01T00:00:00Z"), ("b" * 40, AT)):
        ci.store(result(case("a", count), commit=commit, at=at))
    (series,) = ci.get("/series")["items"]
    points = ci.get(f"/series/{series['id']}/points")["points"]
    assert [point["commit"][0] for point in points] == ["b", "a"]


LOG = {
    "v": 1,
    "format": "logcat",
    "file": "log",
    "bytes": 1,
    "sha256": "0" * 64,
    "why_no_samples": "",
    "log": {"lines": 0},
}
BOMB = b"\0" * (originals.MAX_ORIGINAL_BYTES + 1)
CUT = {"file": "f", "gzip": base64.b64encode(gzip.compress(b"x" * 99)[:-9]).decode()}


@pytest.mark.parametrize(
    ("document", "body", "status", "said"),
    [
        (result(case("a", TIMED), at="2121-01-01T00:00:00Z"), {}, 400, "future"),
        (result(case("a", TIMED), at="0001-01-01T00:00:00+14:00"), {}, 400, "1970"),
        (result(case("a", TIMED), branch="b" * 201), {}, 400, "200 characters"),
        (result(), {}, 400, "no figures"),
        (result(FAILED), {}, 400, "no such file"),
        (result(case("x" * 201, TIMED)), {}, 400, "201 characters"),
        (result(case("a", TIMED, params={"size": ""})), {}, 400, "size is empty"),
        (
            result(case("a", metric(summary={"kind": "mean", "value": 1e19}))),
            {},
            400,
            "look at its unit",
        ),
        (result(case("a", metric(samples=[[1, 1.5]]))), {}, 422, "samples[0][1]"),
        (result(case("a", TIMED), commit="HEAD"), {}, 422, "commit"),
        (
            result(case("a", TIMED)),
            {"original": {"file": "f", "gzip": "%%"}},
            422,
            "Base64",
        ),
        (
            result(case("a", TIMED)),
            {"original": {"file": "f", "gzip": "aGVsbG8="}},
            422,
            "gzip",
        ),
        (result(case("a", TIMED)), {"original": CUT}, 422, "cut off"),
        (result(case("a", TIMED)), {"original": file_of(BOMB)}, 422, "67,108,864"),
        (result(case("a", TIMED)), {"measured_on": {"suite": "nobody"}}, 404, "suite"),
        (result(case("a", TIMED)), {"notify": True}, 422, "send judge as well"),
        (LOG, {"judge": True}, 422, "this document is a logcat"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_stored_is_refused_with_its_place_and_leaves_no_rows(
    ci: Sender, document: dict[str, Any], body: dict[str, Any], status: int, said: str
) -> None:
    assert said in str(ci.store(document, status, **body))
    assert ci.get("/imports")["items"] == []
    assert ci.get("/runs")["items"] == []


def test_units_that_differ_in_a_benchmark_leave_out_the_later_case(ci: Sender) -> None:
    stored = ci.store(
        result(
            case("a/1", TIMED, benchmark="a", params={"size": 1}),
            case(
                "a/2",
                metric(unit="bytes", samples=[[1, 1]]),
                benchmark="a",
                params={"size": "2"},
            ),
        )
    )
    ((series,),) = [run["series"] for run in stored["runs"]]
    assert series["params"] == {"size": "1"}
    (left,) = stored["left_out"]
    assert (
        left["why"]
        == "its time is in bytes, and in ns in another case of its benchmark"
    )


CAPTURED = Path(__file__).parents[3] / "contract/tests/captured"


def test_what_real_tools_wrote_is_stored_with_every_figure(ci: Sender) -> None:
    names = [tool.replace("-", "_") for tool in READERS]
    for path in [path for name in names for path in CAPTURED.glob(f"{name}-*")]:
        data = path.read_bytes()
        read = read_file(data)
        stored = ci.store(
            json.loads(encode_result(read)), original=file_of(data, path.name)
        )
        figures = sum(len(measured.metrics) for measured in read.cases)
        assert stored["row_count"] == figures, path.name
        left_out = [left["id"] for left in stored["left_out"]]
        assert left_out == [left.id for left in cases_without_figures(read)]
    suites = {series["suite"] for series in ci.get("/series", limit=200)["items"]}
    assert {"go", "jmh", "pytest_benchmark", "androidx_benchmark"} <= suites


NIGHT = timedelta(days=1)
FIRST_NIGHT = datetime(2026, 1, 5, tzinfo=UTC)


def commit_of(night: int) -> str:
    return f"{night:040x}"


@dataclass
class Nights:
    """Imports what another tool measured in one night after the other, of two benchmarks of which one is steady."""

    ci: Sender
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(26))

    def document(
        self, night: int, effect: float = 0.0, **changes: Any
    ) -> dict[str, Any]:
        """Return what is measured in a night; `effect`: how much slower `parse` is than at first."""
        figures = {"parse": 1000.0 * (1.0 + effect), "steady": 500.0}
        cases = []
        for name, level in figures.items():
            value = level * float(np.exp(self.rng.normal(0.0, 0.004)))
            cases.append(case(name, metric(samples=[[1000, round(value * 1000)]])))
        changes.setdefault("at", (FIRST_NIGHT + night * NIGHT).isoformat())
        return result(*cases, commit=commit_of(night), **changes)

    def move_in(self, documents: Sequence[dict[str, Any]]) -> None:
        """Import a history as a client sends it: one request after the other."""
        for document in documents:
            self.ci.store(document, judge=True)

    def series(self) -> dict[str, Any]:
        """Return the page of the series of `parse`."""
        (row,) = self.ci.get("/series", benchmark="parse")["items"]
        return dict(self.ci.get(f"/series/{row['id']}"))


@pytest.fixture
def nights(clock: FrozenClock, ci: Sender) -> Nights:
    return Nights(ci)


def _pause(clock: FrozenClock, seconds: float = history.BACKFILL_PAUSE_S) -> None:
    clock.advance(seconds)
    outbox.drain()


@pytest.mark.shapes("embedded", "scaled")
def test_a_history_moves_in_silently_and_what_is_pushed_after_it_is_told(
    nights: Nights, clock: FrozenClock
) -> None:
    """A step in it is found at its commit, and its series are evaluated once. A later regression has no A/B run, and is
    told once history holds it."""
    nights.move_in([nights.document(n, 0.1 if n >= 30 else 0.0) for n in range(48)])
    with read_scope() as session:
        pending = list(session.scalars(outbox.pending_keys(history.EVALUATE)))
        waits = [history.evaluate_job(session, key) is None for key in pending]
    assert waits == [True] * 47 + [False]
    _pause(clock)
    (change,) = nights.series()["changes"]
    assert (change["commit"], change["state"]) == (commit_of(30), "standing")
    assert nights.ci.get("/alerts")["items"] == []

    for night in range(48, 56):
        now = clock_module.now().isoformat()
        pushed = nights.ci.store(nights.document(night, 0.21, at=now), judge=True)
        assert (pushed["judged"], pushed["notifies"]) == (True, True)
        _pause(clock, 3600.0)
    (alert,) = nights.ci.get("/alerts")["items"]
    assert (alert["state"], alert["head_commit"]) == ("open", commit_of(48))
    shown = nights.ci.get(f"/alerts/{alert['id']}")
    assert shown["imported"]
    events = shown["history"]
    assert "notified" in [event["action"] for event in events]
    assert "another tool measured them" in str(events)
    refused = nights.ci.send("POST", f"/alerts/{alert['id']}/bisect", {})
    assert (refused.status_code, "another tool" in refused.text) == (409, True)
    triggers = {run["trigger"] for run in nights.ci.get("/runs")["items"]}
    assert triggers == {"import"}


def test_another_cpu_begins_a_new_environment_and_no_change(
    nights: Nights, clock: FrozenClock
) -> None:
    """Facts that differ at every run begin none, and a step in an earlier environment is found."""
    nights.move_in(
        [
            nights.document(
                night,
                0.05 * (night // 12),
                target={
                    "cpu": "EPYC" if night < 24 else "Xeon",
                    "load_avg": str(night),
                },
            )
            for night in range(36)
        ]
    )
    _pause(clock)
    series = nights.series()
    (step,) = series["changes"]
    assert (step["commit"], step["state"]) == (commit_of(12), "superseded")
    (_, begun) = series["environments"]
    assert begun["change"] == "cpu EPYC → Xeon"
    assert begun["first_at"][:10] == (FIRST_NIGHT + 24 * NIGHT).isoformat()[:10]


def test_a_corrected_file_replaces_what_was_imported_of_its_measurement(
    ci: Sender, lab: Lab
) -> None:
    """Its points count instead. Another file of the measurement, with other cases, does not."""
    measured = {"commit": COMMIT, "at": AT, "tool": "jmh"}
    where = {"suite": "sorting", "on": "ci-7"}
    first = ci.store(result(case("a", TIMED), **measured), measured_on=where)
    ci.store(result(case("b", TIMED), **measured), judge=True, measured_on=where)
    second = ci.store(
        result(case("a", TIMED), **measured), judge=True, measured_on=where
    )
    third = ci.store(
        result(case("a", metric(samples=[[10, 990]])), **measured),
        judge=True,
        measured_on=where,
    )
    replaced_by = [
        ci.get(f"/imports/{stored['id']}")["replaced_by"]
        for stored in (first, second, third)
    ]
    assert replaced_by == [second["id"], third["id"], None]
    (series,) = ci.get("/series", benchmark="a")["items"]
    points = ci.get(f"/series/{series['id']}/points")["points"]
    (newest,) = (run["run_id"] for run in third["runs"])
    assert [(point["value"], point["excluded"] is None) for point in points] == [
        (102.0, False),
        (102.0, False),
        (99.0, True),
    ]
    assert newest in points[1]["excluded"]
    matrix = ci.get("/matrix", suite="sorting")
    assert [target["imported"] for target in matrix["targets"]] == [True]
    cells = {row["benchmark"]: len(row["cells"]) for row in matrix["rows"]}
    assert (cells["a"], cells["b"]) == (1, 1)
    again = recompute()
    assert (again.points_added, again.points_changed) == (0, 0)


def test_a_mended_reader_replaces_what_it_reads_otherwise(ci: Sender) -> None:
    """What a person said about the origin stays."""
    data = next(CAPTURED.glob("google_benchmark-*")).read_bytes()
    today = json.loads(encode_result(read_file(data)))
    before = {**today, "cases": today["cases"][:1], "branch": "trunk"}
    stored = ci.store(before, judge=True, original=file_of(data))
    own = ci.store(result(case("a", TIMED)))
    with session_scope() as session:
        ids = imports.list_rereadable(session)
        said = [imports.reread(session, import_id, "test") for import_id in ids]
    newer = ci.get("/imports")["items"][0]["id"]
    assert said == [
        f"{stored['id']}: replaced by {newer}",
        f"{own['id']}: the same",
    ]
    detail = ci.get(f"/imports/{newer}")
    assert [run["baseline"] for run in detail["runs"]] == ["trunk"]
    assert (detail["judged"], detail["source"]) == (True, stored["source"])
    with session_scope() as session:
        assert imports.reread(session, newer, "test") == f"{newer}: the same"
        assert "replaced it" in imports.reread(session, stored["id"], "test")
