"""Imported documents: the rows they amount to, the policy they state, and that nothing of them is judged."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy
from fastapi.testclient import TestClient
from paceline_server.imports.logcat import imported_rows
from paceline_server.imports.schemas import LogcatIn
from paceline_server.store import outbox
from paceline_server.store.session import Database, session_scope
from paceline_server.store.tables.policies import PolicyAdvice
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.sorting_suite import BENCHMARK, suite_manifest
from pydantic import ValidationError

PREFIX = "/api/v1"
TABLE = {
    ("Pixel 5 Emulator", 34, ""): [
        (1000, 211.35, 233.67),
        (5000, 624.90, 948.74),
        (10000, 877.67, 1011.73),
    ],
    ("Xiaomi 13T Pro", 35, "bez warm-up"): [
        (1000, 9.79, 7.83),
        (5000, 31.52, 36.17),
        (10000, 36.89, 59.18),
    ],
    ("Xiaomi 13T Pro", 35, "warm-up (1 round)"): [
        (1000, 13.43, 11.93),
        (5000, 37.74, 40.46),
        (10000, 57.05, 66.79),
    ],
}
"""The original's own table: (batch, native, fallback) in ms."""


def quantity(ms: float) -> dict[str, Any]:
    value = round(ms * 1e6)
    return {
        "printed": f"{ms:.2f} ms",
        "value": value,
        "low": value - 5000,
        "high": value + 5000,
        "unit": "ns",
    }


def document(**log: Any) -> dict[str, Any]:
    """A document as `paceline import` writes it for the original table with a policy."""
    line, records, sessions = 0, [], []
    for (name, api, note), rows in TABLE.items():
        line += 2
        model = "sdk_gphone64_x86_64" if "Emulator" in name else "23078PND5G"
        heading = {
            "name": name,
            "api": api,
            "note": note,
            "warmup_rounds": 1 if "1 round" in note else None,
        }
        session: dict[str, Any] = {
            "line": line,
            "device": model,
            "api": api,
            "heading": heading,
            "rows": [],
        }
        for batch, native, fallback in rows:
            lines = (line + 2, line + 1)
            for arm, ms, at in (
                ("fallback", fallback, lines[1]),
                ("native", native, lines[0]),
            ):
                text = f"I LightLedgerBenchmark: Batch {batch}: {arm} avg={ms:.2f} ms"
                records.append({"line": at, "pattern": "ledger.batch", "text": text})
            session["rows"].append(
                {
                    "arm": "native",
                    "batch": batch,
                    "average": quantity(native),
                    "fallback": quantity(fallback),
                    "lines": lines,
                    "share": 99.0,
                    "words": "the sender's own words",
                }
            )
            line += 2
        sessions.append(session)
    policy = {
        "minimum": 2000,
        "unit": "odcisków",
        "warmup_rounds": 1,
        "lines": [95, 96],
        "text": "2 000",
    }
    return {
        "v": 1,
        "format": "logcat",
        "file": "summary.md",
        "bytes": 4000,
        "sha256": "a" * 64,
        "samples": 0,
        "why_no_samples": "The log holds averages, not samples.",
        "log": {
            "lines": 100,
            "records": records,
            "sessions": sessions,
            "policy": policy,
            **log,
        },
    }


@pytest.fixture
def send(
    client: TestClient, token: Callable[..., dict[str, str]]
) -> Callable[..., Any]:
    headers = token("ingest", "read")

    def get(method: str, path: str, status: int, json: Any = None, **query: Any) -> Any:
        answer = client.request(
            method, f"{PREFIX}{path}", json=json, params=query, headers=headers
        )
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    return get


def test_the_origins_table_is_reproduced_with_computed_percentages(
    send: Callable[..., Any],
) -> None:
    stored = send("POST", "/imports", 201, {"document": document()})
    expected = [
        (name, api, batch, round(native * 1e6), round(fallback * 1e6))
        for (name, api, _), rows in TABLE.items()
        for batch, native, fallback in rows
    ]
    rows = stored["rows"]
    assert [
        (
            row["device"],
            row["api"],
            row["params"]["batch"],
            row["value_ns"],
            row["reference_ns"],
        )
        for row in rows
    ] == expected
    deltas = [-22.32, -323.84, -134.06, 1.96, -4.65, -22.29, 1.5, -2.72, -9.74]
    assert [row["delta_ns"] for row in rows] == [round(ms * 1e6) for ms in deltas]
    percents = [-9.55, -34.13, -13.25, 25.03, -12.86, -37.66, 12.57, -6.72, -14.58]
    assert [row["percent"] for row in rows] == percents
    assert (rows[3]["lower_percent"], rows[3]["upper_percent"]) == (24.89, 25.18)
    assert [row["words"] for row in rows][3:5] == [
        "native 25.0 % slower than fallback",
        "native 12.9 % faster than fallback",
    ]
    assert rows[3]["delta_words"] == "+1.96 ms"
    assert rows[3]["raw"] == [
        "I LightLedgerBenchmark: Batch 1000: fallback avg=7.83 ms",
        "I LightLedgerBenchmark: Batch 1000: native avg=9.79 ms",
    ]
    assert [row["variant"] for row in rows][::3] == [
        None,
        "bez warm-up",
        "warm-up (1 round)",
    ]


@pytest.mark.shapes("embedded", "scaled")
def test_every_row_is_insufficient_for_want_of_samples(
    send: Callable[..., Any],
) -> None:
    stored = send("POST", "/imports", 201, {"document": document()})
    assert {row["verdict"] for row in stored["rows"]} == {"insufficient"}
    assert all(
        row["why"].startswith("insufficient: no samples") for row in stored["rows"]
    )
    for nothing in ("/runs", "/alerts", "/series"):
        assert send("GET", nothing, 200)["items"] == []


@pytest.mark.shapes("embedded", "scaled")
def test_the_same_document_is_stored_once_and_a_later_reading_beside_it(
    send: Callable[..., Any],
) -> None:
    first = send(
        "POST", "/imports", 201, {"document": document(), "title": "Light Ledger"}
    )
    again = send("POST", "/imports", 200, {"document": document()})
    assert again["id"] == first["id"]
    assert again["title"] == "Light Ledger"
    more = send("POST", "/imports", 201, {"document": document(lines=101)})
    listed = send("GET", "/imports", 200, limit=1)
    rest = send("GET", "/imports", 200, cursor=listed["next"])
    assert [row["id"] for row in (*listed["items"], *rest["items"])] == [
        more["id"],
        first["id"],
    ]
    assert rest["items"][0]["devices"] == [
        "Pixel 5 Emulator (API 34)",
        "Xiaomi 13T Pro (API 35)",
    ]
    assert rest["items"][0]["row_count"] == 9
    assert send("GET", "/imports", 200, format="jmh")["items"] == []


@pytest.mark.shapes("embedded", "scaled")
def test_the_same_document_stored_several_times_at_once_is_one(
    send: Callable[..., Any],
    client: TestClient,
    token: Callable[..., Any],
    together: Callable[..., list[Any]],
) -> None:
    headers, body = token("ingest", "read"), {"document": document()}
    posts = [lambda: client.post(f"{PREFIX}/imports", json=body, headers=headers)] * 6
    answers = together(*posts)
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(send("GET", "/imports", 200)["items"]) == 1


def test_the_list_does_not_load_what_the_documents_hold(
    database: Database, send: Callable[..., Any]
) -> None:
    send("POST", "/imports", 201, {"document": document()})
    statements: list[str] = []
    sqlalchemy.event.listen(
        database.engine,
        "before_cursor_execute",
        lambda *event: statements.append(str(event[2])),
    )
    assert send("GET", "/imports", 200)["items"][0]["row_count"] == 9
    of_imports = [text for text in statements if "FROM import_document" in text]
    assert len(of_imports) == 1
    assert "import_document.document" not in of_imports[0]


@pytest.mark.shapes("embedded", "scaled")
def test_a_forgotten_document_leaves_its_entry_in_the_audit_log(
    send: Callable[..., Any], client: TestClient, token: Callable[..., dict[str, str]]
) -> None:
    stored = send("POST", "/imports", 201, {"document": document()})
    send("DELETE", f"/imports/{stored['id']}", 204)
    assert send("GET", f"/imports/{stored['id']}", 404)["code"] == "not_found"
    log = client.get(
        f"{PREFIX}/audit", params={"object_kind": "import"}, headers=token("admin")
    ).json()
    assert [entry["action"] for entry in log["items"]] == [
        "import.remove",
        "import.create",
    ]
    assert [entry["words"].partition(" ")[2] for entry in log["items"]] == [
        "forgot import summary.md.",
        "stored import summary.md.",
    ]


def test_a_body_that_is_not_an_import_document_is_refused(
    send: Callable[..., Any],
) -> None:
    half = {"rows": [{"arm": "a", "batch": 1, "lines": [1, 2]}]}
    upside_down = document()
    upside_down["log"]["sessions"][0]["rows"][0]["average"] |= {"low": 9, "high": 3}
    for broken in (
        document() | {"v": 2},
        document() | {"format": "jmh"},
        document() | {"sha256": "x"},
        document() | {"log": {"lines": 1, "sessions": [half]}},
        upside_down,
    ):
        with pytest.raises(ValidationError):
            LogcatIn.model_validate(broken)
    assert (
        send("POST", "/imports", 422, {"document": upside_down})["code"]
        == "invalid_request"
    )


def test_storing_needs_ingest_and_reading_needs_read(
    client: TestClient, token: Callable[..., dict[str, str]]
) -> None:
    refused = client.post(
        f"{PREFIX}/imports", json={"document": document()}, headers=token("read")
    )
    assert refused.status_code == 403
    assert client.get(f"{PREFIX}/imports").status_code == 401


def test_an_average_of_no_time_is_compared_with_nothing() -> None:
    zero = document()
    zero["log"]["sessions"][0]["rows"][0]["fallback"] = {
        "printed": "0.00 ms",
        "value": 0,
        "low": 0,
        "high": 5000,
        "unit": "ns",
    }
    row = imported_rows(LogcatIn.model_validate(zero))[0]
    assert (row.percent, row.upper_percent) == (None, None)
    assert "nothing to compare with" in row.words


POLICY = {
    "name": "native_batch",
    "benchmark": BENCHMARK,
    "arm": "native",
    "reference": "fallback",
    "metric": "time",
    "param": "batch",
    "in_force": {"minimum": 1415, "warmup_rounds": 5},
}


@pytest.fixture
def lab(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Lab:
    whole = suite_manifest(policies=[POLICY])
    whole["benchmarks"][BENCHMARK]["params"]["batch"].update(
        values=[1000, 2000], unit="fingerprints"
    )
    return open_lab(client, enrolled, token, manifest=whole)


def test_the_policy_in_force_is_compared_with_our_measurements(
    lab: Lab, send: Callable[..., Any]
) -> None:
    """Native wins at 2,000 and loses at 1,000: 2,000 picks no loser, 1,000 does."""
    lab.request()
    lab.deliver({1000: 0.25, 2000: -0.2})
    outbox.drain()
    stored = send("POST", "/imports", 201, {"document": document()})
    assert stored["policy"]["in_force"] == {"minimum": 2000, "warmup_rounds": 1}
    assert (
        stored["policy"]["words"]
        == "native from 2,000 odcisków on, after 1 warm-up round"
    )
    here, pixel, xiaomi = stored["advice"]
    assert (here["target_name"], here["policy"], here["simulated"]) == (
        "lab-1",
        "native_batch",
        False,
    )
    assert here["words"].startswith("On lab-1 native wins from ")
    assert "it picks no loser at any measured value" in here["why"]
    assert [(advice["target_name"], advice["holds"]) for advice in (pixel, xiaomi)] == [
        ("Pixel 5 Emulator (API 34)", None),
        ("Xiaomi 13T Pro (API 35)", None),
    ]
    assert pixel["why"].startswith("insufficient: no samples")
    other = document()
    other["log"]["policy"] |= {"minimum": 1000, "warmup_rounds": None}
    wrong = send("POST", "/imports", 201, {"document": other})["advice"][0]
    assert (wrong["holds"], here["holds"]) == (False, True)
    assert (
        "at 1,000 fingerprints it picks native, which takes 24.9 % longer than fallback"
        in wrong["why"]
    )


@pytest.mark.shapes("embedded", "scaled")
def test_each_point_of_the_params_has_its_own_advice_row(
    lab: Lab, send: Callable[..., Any]
) -> None:
    """Newer advice about another param or reference hides nothing, however much of it there is."""
    lab.request()
    lab.deliver({1000: 0.25, 2000: -0.2})
    outbox.drain()
    with session_scope() as session:
        row = session.scalars(sqlalchemy.select(PolicyAdvice)).one()
        own = {name: getattr(row, name) for name in row.__mapper__.column_attrs.keys()}  # noqa: SIM118
        newer = own | {"measured_at": own["measured_at"] + timedelta(hours=1)}
        session.add(
            PolicyAdvice(
                **newer
                | {"id": "adv_150", "params": {"message": 150}, "params_key": "m"}
            )
        )
        for number in range(201):
            about = {
                **own["advice"],
                **({"param": "size"} if number % 2 else {"reference": "system"}),
            }
            other = {
                "id": f"adv_{number:03}x",
                "params_key": f"{number}",
                "advice": about,
            }
            session.add(PolicyAdvice(**newer | other))
    stored = send("POST", "/imports", 201, {"document": document()})
    measured = [
        advice for advice in stored["advice"] if advice["target_id"] is not None
    ]
    assert [advice["params"] for advice in measured] == [{"message": 150}, {}]
    assert measured[0]["words"].startswith("On lab-1 at message=150 native wins from ")
    assert measured[1]["words"].startswith("On lab-1 native wins from ")


def test_a_document_without_a_policy_is_compared_with_nothing(
    send: Callable[..., Any],
) -> None:
    stored = send("POST", "/imports", 201, {"document": document(policy=None)})
    assert (stored["policy"], stored["advice"]) == (None, [])
