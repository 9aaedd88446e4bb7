"""Tests on a server what criterion measured: runs with every sample, series with its names, and no verdict."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_contract.imported_series import make_arm_name
from paceline_contract.manifest import NAME, ONLY_ARM
from paceline_contract.text_names import make_name
from paceline_server.imports.schemas import ImportedSeriesOut
from paceline_server.imports.service import reread
from paceline_server.ingest import service as ingest
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.imports import ImportDocument
from paceline_server.testing.delivered_jobs import Lab, open_lab

PREFIX = "/api/v1"
SUITE = Path(__file__).parents[3] / "native/crypto/suite.toml"
SEED_US = {
    ("sign", "32"): 13.74,
    ("sign", "128"): 14.13,
    ("sign", "256"): 14.30,
    ("verify", "32"): 28.31,
    ("verify", "128"): 28.22,
    ("verify", "256"): 30.05,
}
"""The original's table of 2025-10-19: microseconds of one signature and one verification by message size."""


def series(benchmark: str, times: list[float], **names: Any) -> dict[str, Any]:
    """A case as the reader of Criterion makes it of one benchmark; `value` is its param."""
    value, unit = names.pop("value", None), names.pop("unit", "ns")
    arm = names.pop("arm", "dalek")
    iterations = names.pop("iterations", [1] * len(times))
    kind = UNITS[unit]
    samples = [
        [count, round(time)] for count, time in zip(iterations, times, strict=True)
    ]
    return {
        "name": "/".join(part for part in (benchmark, arm, value) if part),
        "benchmark": benchmark,
        "params": {"value": value} if value else {},
        "metrics": [
            {
                "name": kind[0],
                "unit": unit,
                "direction": kind[1],
                "samples": samples,
            }
        ],
        **({"arm": arm} if arm else {}),
        **names,
    }


UNITS = {
    "ns": ("time", "lower"),
    "bytes": ("bytes", "lower"),
    "count": ("count", "lower"),
    "op/s": ("throughput", "higher"),
}


def document(*of: dict[str, Any], **said: Any) -> dict[str, Any]:
    """What `paceline import target/criterion` sends of a last run."""
    return {
        "format": "paceline.result/1",
        "tool": "criterion",
        "cases": list(of),
        **said,
    }


def seed_document() -> dict[str, Any]:
    """The original printed one figure each, so each is one sample here, under the suite's names."""
    return document(
        *(series(name, [us * 1e3], value=size) for (name, size), us in SEED_US.items())
    )


@pytest.fixture
def lab(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Lab:
    return open_lab(
        client,
        enrolled,
        token,
        manifest=tomllib.loads(SUITE.read_text(encoding="utf-8")),
    )


@pytest.fixture
def send(
    lab: Lab, client: TestClient, token: Callable[..., dict[str, str]]
) -> Callable[..., Any]:
    del lab  # it has announced the suite
    return sender(client, token)


def sender(
    client: TestClient, token: Callable[..., dict[str, str]]
) -> Callable[..., Any]:
    """Sends a request as CI does, and returns the answer."""
    headers = token("ingest", "read")

    def get(method: str, path: str, status: int, json: Any = None, **query: Any) -> Any:
        answer = client.request(
            method, f"{PREFIX}{path}", json=json, params=query, headers=headers
        )
        assert answer.status_code == status, answer.text
        outbox.drain()
        return answer.json() if answer.content else None

    return get


def store(send: Callable[..., Any], body: dict[str, Any], **measured_on: Any) -> Any:
    return send("POST", "/imports", 201, {"document": body, "measured_on": measured_on})


def test_the_seeds_own_figures_are_close_for_signing_and_below_for_verifying(
    send: Callable[..., Any],
) -> None:
    """Against 100,000 a second at 32 bytes, where it took its 73,000; at 256 bytes its 69,930 are 30.07 %
    short, which is not within 30 %."""
    run = store(send, seed_document(), suite="crypto", on="seed-ci")["runs"][0]
    gates = send("GET", f"/jobs/{run['job_id']}/report", 200)["gates"]
    medians = {
        (gate["benchmark"], gate["params"]["message"]): (
            gate["standing"],
            round(gate["reached"], 3),
        )
        for gate in gates
        if gate["level"] == "required"
    }
    assert medians == {
        ("sign", 32): ("close", 0.728),
        ("sign", 256): ("below", 0.699),
        ("verify", 256): ("below", 0.333),
    }
    assert {(gate["arm"], gate["verdict"]) for gate in gates} == {
        ("dalek", "inconclusive")
    }


def test_the_crates_own_benches_meet_the_suites_gates(send: Callable[..., Any]) -> None:
    """`cargo bench` runs the workload's own arms under its names; `native/crypto/criterion` says how ids are
    made of them."""
    run = store(
        send,
        document(
            series("sign", [9_000.0] * 20, arm="aws_lc", value="256"),
            series("verify", [13_000.0] * 20, arm="ifma", value="256"),
            *(
                series(
                    "batch", [took] * 20, arm="ifma", value=f"batch={size},keys={keys}"
                )
                for size, keys, took in (
                    (8, "16", 70e3),
                    (256, "16", 500e3),
                    (256, "all", 900e3),
                )
            ),
        ),
        suite="crypto",
    )["runs"][0]
    assert [measured["params"] for measured in run["series"]][-1] == {
        "batch": 256,
        "keys": "all",
    }
    gates = send("GET", f"/jobs/{run['job_id']}/report", 200)["gates"]
    series_by_id = {
        (
            gate["benchmark"],
            *(value for _, value in sorted(gate["params"].items())),
        ): gate["standing"]
        for gate in gates
        if gate["level"] == "required"
    }
    assert series_by_id == {
        ("sign", 256): "pass",
        ("verify", 256): "close",
        ("batch", 256, "16"): "pass",
    }


def test_values_that_are_no_params_of_the_suite_keep_their_own_name(
    send: Callable[..., Any],
) -> None:
    values = ("batch=8,keys=16", "batch=8", "8")
    run = store(
        send,
        document(*(series("batch", [9.0] * 9, value=value) for value in values)),
        suite="crypto",
    )["runs"][0]
    assert [measured["params"] for measured in run["series"]] == [
        {"batch": 8, "keys": "16"},
        {"value": "batch=8"},
        {"value": "8"},
    ]
    whole = send("GET", f"/runs/{run['run_id']}/completeness", 200)
    assert (whole["complete"], whole["arrived"]) == (True, 3)


def test_an_imported_run_is_listed_with_its_samples_and_judged_by_nobody(
    send: Callable[..., Any],
) -> None:
    fast, slow = (
        series("hash", [10.0] * 60, arm="fast"),
        series("hash", [99.0] * 60, arm="slow"),
    )
    run = store(send, document(fast, slow))["runs"][0]
    (listed,) = send("GET", "/runs", 200, trigger="import")["items"]
    assert (listed["id"], listed["suite"], listed["state"]) == (
        run["run_id"],
        "criterion",
        "done",
    )
    assert listed["verdict"] == "inconclusive"
    assert listed["reason"].startswith(
        "imported: another tool measured it, one benchmark after"
    )
    (job,) = listed["jobs"]
    assert (job["target_name"], job["samples"]) == ("imported", 120)
    report = send("GET", f"/jobs/{run['job_id']}/report", 200)
    assert report["comparisons"] == []
    assert [
        (row["arm"], row["median"], row["n"]) for row in report["measurements"]
    ] == [
        ("fast", 10.0, 60),
        ("slow", 99.0, 60),
    ]
    whole = send("GET", f"/runs/{run['run_id']}/completeness", 200)
    assert (whole["complete"], whole["arrived"]) == (True, 2)
    assert send("GET", "/alerts", 200)["items"] == []
    assert send("GET", f"/runs/{run['run_id']}/comparisons", 200)["items"] == []


@pytest.mark.shapes("embedded", "scaled")
def test_every_sample_is_stored_per_iteration_and_outliers_are_counted_not_removed(
    send: Callable[..., Any],
) -> None:
    times = [1000.0 + at % 7 for at in range(2_498)] + [1013.0, 9000.0]
    imported = series(
        "hash",
        [10_000 * time for time in times],
        iterations=[10] * len(times),
    )
    run = store(send, document(imported))["runs"][0]
    (kept,) = run["series"]
    assert (kept["samples"], kept["outliers_mild"], kept["outliers_severe"]) == (
        2_500,
        1,
        1,
    )
    assert kept["median"] == pytest.approx(1.003e6)
    with read_scope() as session:
        (case,) = ingest.read_samples(session, run["job_id"])
    np.testing.assert_allclose(case.value, np.array(times) * 1e3)
    assert case.iterations is not None
    assert set(case.iterations) == {10}
    shown = send(
        "GET",
        f"/jobs/{run['job_id']}/distribution",
        200,
        benchmark="hash",
        metric="time",
        params="{}",
    )
    assert [(arm["arm"], arm["n"]) for arm in shown["arms"]] == [("dalek", 2_500)]


@pytest.mark.shapes("embedded", "scaled")
def test_the_same_document_is_stored_once_for_each_target(
    send: Callable[..., Any],
    client: TestClient,
    token: Callable[..., dict[str, str]],
    together: Callable[..., list[Any]],
) -> None:
    headers, body = (
        token("ingest", "read"),
        {"document": seed_document(), "measured_on": {"on": "a"}},
    )
    posts = [lambda: client.post(f"{PREFIX}/imports", json=body, headers=headers)] * 4
    answers = together(*posts)
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [201]
    store(send, seed_document(), on="b")
    assert len(send("GET", "/runs", 200, trigger="import")["items"]) == 2
    listed = send("GET", "/imports", 200, format="paceline.result/1")["items"]
    assert [(row["devices"], row["row_count"]) for row in listed] == [
        (["b"], 6),
        (["a"], 6),
    ]
    first = send("GET", f"/imports/{listed[0]['id']}", 200)
    assert (first["rows"], len(first["runs"][0]["series"])) == ([], 6)


def test_an_imported_target_takes_no_work_and_its_stand_in_is_no_agent(
    send: Callable[..., Any],
) -> None:
    store(send, seed_document(), on="seed-ci")
    store(
        send,
        document(series("hash", [100.0 + at % 5 for at in range(50)]), branch="main"),
        on="seed-ci",
    )
    target = next(
        target
        for target in send("GET", "/targets", 200)["items"]
        if target["name"] == "seed-ci"
    )
    assert (target["state"], target["takes_jobs"]["ok"]) == ("offline", False)
    assert target["refuses"].startswith("its figures were imported")
    assert target["takes_jobs"]["words"] == f"takes no jobs: {target['refuses']}"
    assert target["imported"]
    assert [agent["name"] for agent in send("GET", "/agents", 200)["items"]] == [
        "lab-1"
    ]
    assert send("GET", "/series", 200)["items"] != []
    assert send("GET", "/rules/orphans", 200)["unruled"] == [], (
        "no rule could decide about it"
    )
    assert [agent["name"] for agent in send("GET", "/overview", 200)["agents"]] == [
        "lab-1"
    ]


def test_what_exceeds_a_run_is_left_out_and_what_the_reader_left_out_is_kept(
    send: Callable[..., Any],
) -> None:
    problem = {"id": None, "path": "cut/new", "why": "expected JSON"}
    cases = [series(f"hash_{at}", [1.0]) for at in range(501)]
    answer = store(send, document(*cases, problems=[problem]))
    assert len(answer["runs"][0]["series"]) == 500
    first, second = answer["left_out"]
    assert first == problem
    assert second["id"] == "hash_500/dalek"
    assert "at most 500 benchmarks" in second["why"]


def test_figures_that_are_no_times_are_stored_as_what_they_are(
    send: Callable[..., Any],
) -> None:
    units = ("bytes", "count", "op/s", "ns")
    body = document(
        *(
            series("parse", [8.0] * 9, unit=unit, arm=f"a{at}")
            for at, unit in enumerate(units)
        ),
        branch="main",
    )
    run = store(send, body)["runs"][0]
    assert [
        (stored["arm"], stored["metric"], stored["unit"], stored["median"])
        for stored in run["series"]
    ] == [
        ("a0", "bytes", "bytes", 8.0),
        ("a1", "count", "count", 8.0),
        ("a2", "throughput", "op/s", 8.0),
        ("a3", "time", "ns", 8.0),
    ]
    listed = send("GET", "/series", 200)["items"]
    assert sorted(
        (stored["arm"], stored["unit"], stored["direction"]) for stored in listed
    ) == [
        ("a0", "bytes", "lower"),
        ("a1", "count", "lower"),
        ("a2", "op/s", "higher"),
        ("a3", "ns", "lower"),
    ]
    whole = send("GET", f"/runs/{run['run_id']}/completeness", 200)
    assert (whole["complete"], whole["missing_total"]) == (True, 0)


def test_a_document_whose_samples_became_runs_stays(send: Callable[..., Any]) -> None:
    document = store(send, seed_document())
    assert send("DELETE", f"/imports/{document['id']}", 409)["code"] == "samples_stay"


LOSSY = [
    "Sign/Ed25519",
    "sign ed25519",
    "Sign",
    "n<=8",
    "n>=8",
    "解析",
    "編碼",
    "über",
    "uber ",
    "9 lives",
    "a__b",
    "_a",
    "a_",
    "x" * 65,
    "x" * 66,
    "🦀",
    "",
]


def test_a_name_is_the_text_or_has_a_digest_where_its_plain_form_loses_anything() -> (
    None
):
    for plain in ("sign", "sha_256", "x" * 64, "a1_b2", "b"):
        assert make_name(plain) == plain
    names = [make_name(text) for text in LOSSY]
    assert names[:2] == [
        "sign_ed25519__8b4b58134904662b",
        "sign_ed25519__c19f30216065afcd",
    ]
    assert len(set(names)) == len(LOSSY)
    assert all(re.fullmatch(NAME, name) for name in names)
    again = [make_name(name) for name in names]
    assert not {*again} & {*names}, "a text like a name with a digest gets its own"
    assert (make_arm_name(None), make_arm_name("")) == (ONLY_ARM, ONLY_ARM)
    assert make_arm_name(ONLY_ARM) not in (ONLY_ARM, make_name(f"{ONLY_ARM} "))


@pytest.mark.parametrize(
    ("first", "second"),
    [("解析", "編碼"), ("n<=8", "n>=8"), ("Map::get", "map get"), ("é", "è")],
)
def test_no_import_takes_over_the_history_of_another_name(
    send: Callable[..., Any], first: str, second: str
) -> None:
    """Each is imported alone, and then both in the other order, as group, function and value."""
    for number, texts in enumerate(([first], [second], [second, first])):
        own = [100.0 + number + at % 5 for at in range(50)]
        store(
            send,
            document(
                *(series(text, own, arm="f") for text in texts),
                *(series("group", own, arm=text) for text in texts),
                *(
                    series("group", own, value=text, name=f"value {text}")
                    for text in texts
                ),
                branch="main",
            ),
        )
    listed = send("GET", "/series", 200)["items"]
    titles = {stored["title"] for stored in listed}
    assert titles == {
        f"{first}/f",
        f"{second}/f",
        f"group/{first}",
        f"group/{second}",
        None,
    }
    (found, *_) = send("GET", "/series", 200, text=first.split(maxsplit=1)[0])["items"]
    assert first.split(maxsplit=1)[0].lower() in str(found).lower()
    assert len(listed) == 6
    assert {stored["points"] for stored in listed} == {2}


@pytest.mark.shapes("embedded", "scaled")
def test_imported_series_are_separate_from_measured_ones(
    lab: Lab, send: Callable[..., Any]
) -> None:
    """The imported series are of the same branch, and of a benchmark that the suite lacks."""
    own = lab.request(suite="crypto", branch="main", benchmarks=["sign"])
    before = send("GET", "/suites/crypto", 200)["last_run_at"]
    body = document(
        series("attestation", [10.0] * 60, value="256"),
        series("sign", [10.0] * 60, arm="ours", value="32"),
        series("sign", [10.0] * 60, value="128"),
        branch="main",
    )
    run = store(send, body, suite="crypto", on="laptop")["runs"][0]
    assert send("GET", f"/runs/{own['id']}/completeness", 200)["gone"] == []
    owed = send("GET", f"/runs/{run['run_id']}/completeness", 200)
    assert (owed["gone"], owed["declared"], owed["arrived"], owed["missing_total"]) == (
        [],
        3,
        3,
        0,
    )
    matrix = send("GET", "/matrix", 200, suite="crypto")
    assert (matrix["branches"], matrix["targets"]) == ([], [])
    assert send("GET", "/suites/crypto", 200)["last_run_at"] == before
    assert len(send("GET", "/series", 200, suite="crypto")["items"]) == 3, (
        "and is there for who looks"
    )


def test_a_value_is_a_number_of_a_declared_param_whatever_the_other_values_are(
    send: Callable[..., Any],
) -> None:
    body = document(
        *(series("sign", [10.0] * 9, value=value) for value in ("32", "032", "all")),
        branch="main",
    )
    run = store(send, body, suite="crypto")["runs"][0]
    assert [measured["params"] for measured in run["series"]] == [
        {"message": 32},
        {"value": "032"},
        {"value": "all"},
    ]
    alone = document(series("sign", [11.0] * 9, value="32"), branch="main")
    store(send, alone, suite="crypto")
    points = [stored["points"] for stored in send("GET", "/series", 200)["items"]]
    assert sorted(points) == [1, 1, 2]


@pytest.mark.parametrize(
    ("group", "function"), [("解析", "n<=8"), ("a/b c", None), ("plain", "Map::get/2")]
)
def test_reports_and_comparisons_have_the_text_of_every_name_with_a_digest(
    send: Callable[..., Any], group: str, function: str | None
) -> None:
    before, main = (
        store(send, document(measured, branch=branch))["runs"][0]
        for branch, measured in (
            ("before", series(group, [100.0] * 50, arm=function, value="1/2")),
            ("main", series(group, [300.0] * 50, arm=function, value="1/2")),
        )
    )
    texts = {
        name: text
        for name, text in (
            (make_name(group), group),
            (make_arm_name(function), function or ""),
        )
        if name not in ("plain", ONLY_ARM)
    }
    report = send("GET", f"/jobs/{main['job_id']}/report", 200)
    assert report["name_texts"] == texts
    compared = send("GET", "/compare", 200, base=before["run_id"], head=main["run_id"])
    assert compared["name_texts"] == texts


def test_an_import_with_more_gates_than_a_run_holds_is_stored_in_parts(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    """The gates of 20 points apply to each of 27 arms: 540, and a run holds 500."""
    crypto = tomllib.loads(SUITE.read_text(encoding="utf-8"))
    gates = [
        {
            "benchmark": "sign",
            "arm": "ours",
            "metric": "time",
            "op": "<=",
            "required": 1.0,
            "params": {"message": message},
        }
        for message in range(20)
    ]
    open_lab(client, enrolled, token, manifest={**crypto, "gates": gates})
    send = sender(client, token)
    runs = store(
        send,
        document(
            *(series("sign", [9.0, 9.5], arm="f0", value=f"{at}") for at in range(20)),
            *(series("sign", [9.0], arm=f"f{at}", value="0") for at in range(1, 27)),
        ),
        suite="crypto",
    )["runs"]
    assert [len(run["series"]) for run in runs] == [44, 2]
    judged = [
        send("GET", f"/jobs/{run['job_id']}/report", 200)["gates"] for run in runs
    ]
    assert {gate["arm"] for gate in judged[1]} == {"f25", "f26"}
    assert len({gate["arm"] for part in judged for gate in part}) == 27


def test_two_imported_runs_are_never_said_to_have_had_the_same_environment(
    send: Callable[..., Any],
) -> None:
    own = series("hash", [at + 100.0 for at in range(50)])
    before, main = (
        store(send, document(own, branch=branch), on="ci-7")["runs"][0]
        for branch in ("before", "main")
    )
    comparison = send(
        "GET", "/compare", 200, base=before["run_id"], head=main["run_id"]
    )
    assert comparison["same_environment"] is False
    (difference,) = comparison["environment"]
    assert (difference["factor"], difference["target_name"]) == (None, "ci-7")
    assert (
        difference["words"]
        == "ci-7: its figures were imported, and no environment was recorded with them"
    )


def test_a_document_of_criterions_own_former_format_is_shown_and_stays(
    send: Callable[..., Any],
) -> None:
    """Of what was stored as such, only the document is left to show; its samples are in its runs."""
    stored = store(send, seed_document())
    with session_scope() as session:
        row = session.get_one(ImportDocument, stored["id"])
        row.format = "criterion"
        row.document = {
            "why_no_verdict": "One after another.",
            "runs": row.document["runs"],
            "left_out": [],
        }
    shown = send("GET", f"/imports/{stored['id']}", 200)
    assert (shown["format"], shown["runs"]) == ("criterion", stored["runs"])
    assert (shown["judged"], shown["tool"]) == (False, None)
    assert send("DELETE", f"/imports/{stored['id']}", 409)["code"] == "samples_stay"
    with session_scope() as session:
        assert "left as it is" in reread(session, stored["id"], "ops")
    refused = {"document": {"v": 1, "format": "criterion"}}
    assert "paceline.result/1" in str(send("POST", "/imports", 422, refused))


def test_documents_imported_before_metrics_had_units_are_still_shown() -> None:
    shown = ImportedSeriesOut.model_validate(
        {
            "id": "hash",
            "benchmark": "hash",
            "arm": "criterion",
            "params": {},
            "samples": 3,
            "median_ns": 5.0,
            "outliers_mild": 0,
            "outliers_severe": 0,
        }
    )
    assert (shown.median, shown.unit, shown.metric) == (5.0, "ns", "time")
