"""Tests that uploads are stored whole and once, cause few live events, and are read back in order."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.ingest import service as ingest
from paceline_server.ingest.reader import LOG_CHUNKS, log_text
from paceline_server.store.session import read_scope
from paceline_server.store.tables.messages import Incident, LiveEvent
from paceline_server.store.tables.samples import SampleChunk
from paceline_server.testing.scripted_agent import (
    LeasedJob,
    conditions_item,
    event_item,
    log_item,
    samples_item,
)
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

pytestmark = pytest.mark.shapes("embedded", "scaled")

PREFIX = "/api/v1"
Make = Callable[..., Any]

START = {
    "type": "start",
    "v": 1,
    "suite": "demo",
    "workload": "w",
    "launch": 0,
    "seed": 1,
    "build": {},
    "clock": {"name": "m", "resolution_ns": 1, "overhead_ns": 0},
}


def test_an_item_sent_twice_is_stored_once(stored: Make, leased: LeasedJob) -> None:
    items = [
        samples_item(0, [1.0, 2.0]),
        event_item(1, START),
        conditions_item(2, load=0.5),
        log_item(3, "hi"),
    ]
    assert leased.send(*items).json() == {"stored": 4, "duplicates": 0}
    assert leased.send(*items, samples_item(4)).json() == {"stored": 1, "duplicates": 4}
    assert leased.send(samples_item(5), samples_item(5)).json() == {
        "stored": 1,
        "duplicates": 1,
    }
    assert (stored(), stored(SampleChunk)) == (6, 3)


def test_a_check_is_of_the_workload_that_reported_it(leased: LeasedJob) -> None:
    said: list[tuple[int, dict[str, Any]]] = [
        (0, {**START, "workload": "first"}),
        (0, {"type": "check", "name": "same", "ok": True}),
        (0, {"type": "done"}),
        (0, {**START, "workload": "second"}),
        (0, {"type": "check", "name": "same", "ok": False}),
        (1, {**START, "workload": "first", "launch": 1}),
        (1, {"type": "check", "name": "same", "ok": True}),
    ]
    items = [event_item(seq, event, launch) for seq, (launch, event) in enumerate(said)]
    leased.report("measuring")
    assert leased.send(*reversed(items)).status_code == 200
    assert leased.finish(len(items) - 1).status_code == 204
    with read_scope() as session:
        reported = [
            (check.launch, check.workload, check.ok)
            for check in ingest.checks(session, leased.job_id)
        ]
    assert reported == [(0, "first", True), (0, "second", False), (1, "first", True)]


def test_the_same_content_in_other_json_is_a_duplicate(leased: LeasedJob) -> None:
    item = samples_item(0, [1.0])
    leased.send(item)
    respelled = json.dumps({"items": [dict(reversed(item.items()))]}, indent=3).replace(
        "1.0", "1.00e0"
    )
    assert leased.post("items", content=respelled).json() == {
        "stored": 0,
        "duplicates": 1,
    }


def test_one_identity_with_two_contents_is_a_conflict_and_an_incident(
    stored: Make, leased: LeasedJob
) -> None:
    leased.send(samples_item(0, [1.0]))
    answer = leased.send(samples_item(1), samples_item(0, [2.0]))
    assert (answer.status_code, answer.json()["code"]) == (409, "item_conflict")
    assert answer.json()["fields"] == {"seq": "0"}
    assert stored() == 1
    with read_scope() as session:
        (incident,) = session.scalars(select(Incident)).all()
        assert (incident.code, incident.detail["seq"]) == ("item_conflict", 0)
        assert incident.detail["job_id"] == leased.job_id
    assert leased.send(samples_item(0, [1.0]), samples_item(1)).json() == {
        "stored": 1,
        "duplicates": 1,
    }
    assert (
        leased.send(samples_item(7, [1.0]), samples_item(7, [2.0])).json()["code"]
        == "item_conflict"
    )


def test_two_requests_with_the_same_items_at_once_store_them_once(
    stored: Make, leased: LeasedJob, together: Make
) -> None:
    items = [samples_item(seq) for seq in range(20)]
    answers = [answer.json() for answer in together(*[lambda: leased.send(*items)] * 8)]
    assert sorted(answer["stored"] for answer in answers) == [0] * 7 + [20]
    assert stored(SampleChunk) == 20


def test_gzip_bodies_are_accepted(leased: LeasedJob) -> None:
    body = gzip.compress(json.dumps({"items": [samples_item(0)]}).encode())
    gz = {"Content-Encoding": "gzip"}
    assert leased.post("items", content=body, headers=gz).json() == {
        "stored": 1,
        "duplicates": 0,
    }
    two_members = gzip.compress(b'{"items":') + gzip.compress(b"[]}")
    assert leased.post("items", content=two_members, headers=gz).json() == {
        "stored": 0,
        "duplicates": 0,
    }


def test_whatever_the_wire_accepts_the_database_can_store(leased: LeasedJob) -> None:
    odd = {
        "type": "warning",
        "code": "\u0001\u2028'\"\\",
        "text": "\U0001f600\uffff\ufeff",
        "n": -(2**63),
    }
    items = [
        event_item(0, odd),
        conditions_item(1, **{"": -0.0, "'; --": [1e308, 5e-324, 2**63 - 1, None]}),
        log_item(2, "", "\x7f\x1b[31m", "\u202e"),
        samples_item(
            3,
            [0.0, 5e-324, 1.7976931348623157e308],
            rounds=[2**31 - 1] * 3,
            iterations=[2**63 - 1] * 3,
            t_ns=[2**63 - 1] * 3,
        ),
    ]
    assert leased.send(*items).json() == {"stored": 4, "duplicates": 0}
    assert leased.send(*items).json() == {"stored": 0, "duplicates": 4}
    assert leased.finish(3).status_code == 204
    with read_scope() as session:
        (case,) = ingest.read_samples(session, leased.job_id)
        assert case.value.tolist() == [0.0, 5e-324, 1.7976931348623157e308]
        assert case.round.tolist() == [2**31 - 1] * 3
        assert (
            ingest.warnings(session, leased.job_id)[0].text == "\U0001f600\uffff\ufeff"
        )


def test_samples_are_read_back_in_order_of_launch(leased: LeasedJob) -> None:
    leased.send(
        event_item(0, START | {"launch": 1}, launch=1),
        samples_item(1, [3.0, 4.0], launch=1, rounds=[5, 6], positions=[1, 0]),
        samples_item(2, [1.0, 2.0], launch=0, phase="warmup"),
        samples_item(3, [9.0], arm="new"),
        samples_item(4, [7.0], metric="throughput", unit="op/s", direction="higher"),
        event_item(
            5,
            {"type": "check", "name": "sorted", "ok": False, "detail": "row 3"},
            launch=1,
        ),
        event_item(6, {"type": "check", "name": "sorted", "ok": True}),
        conditions_item(7, temperature_c=41.5),
    )
    with read_scope() as session:
        assert ingest.read_samples(session, leased.job_id) == []
    assert leased.finish(7).status_code == 204
    with read_scope() as session:
        cases = ingest.read_samples(session, leased.job_id)
        checks = ingest.checks(session, leased.job_id)
        (seen,) = ingest.conditions(session, leased.job_id)
    assert [(case.arm, case.metric) for case in cases] == [
        ("old", "time"),
        ("new", "time"),
        ("old", "throughput"),
    ]
    first = cases[0]
    assert first.value.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert first.launch.tolist() == [0, 0, 1, 1]
    assert first.round.tolist() == [0, 1, 5, 6]
    assert first.position.tolist() == [0, 0, 1, 0]
    assert first.warmup.tolist() == [True, True, False, False]
    assert first.value.dtype == np.float64
    assert [(check.launch, check.ok, check.detail) for check in checks] == [
        (0, True, ""),
        (1, False, "row 3"),
    ]
    assert seen.values == {"temperature_c": 41.5}


def test_a_request_leaves_few_live_events_however_many_chunks(
    leased: LeasedJob,
) -> None:
    items = [
        samples_item(seq, [float(seq)] * 500, rounds=list(range(500)))
        for seq in range(30)
    ]
    items += [
        event_item(30 + seq, {"type": "progress", "done": seq, "total": 9})
        for seq in range(9)
    ]
    items.append(log_item(39, *[f"line {n}" for n in range(500)]))
    leased.send(*items)
    with read_scope() as session:
        events = [
            each
            for each in session.scalars(select(LiveEvent).order_by(LiveEvent.id))
            if each.kind in ("samples", "progress", "log")
        ]
    assert [each.kind for each in events] == ["samples", "progress", "log"]
    samples, progress, log = (each.data for each in events)
    assert (samples["n"], len(samples["values"])) == (15_000, 20)
    assert samples["values"] == sorted(samples["values"])
    assert progress == {"launch": 0, "launches": 5, "done": 8, "total": 9}
    assert log["lines"][-1] == "line 499"
    assert len(log["lines"]) == 200


def test_live_series_are_thinned_and_count_everything(leased: LeasedJob) -> None:
    for seq in range(4):
        leased.send(samples_item(seq, [float(seq)] * 100, rounds=list(range(100))))
    leased.send(samples_item(4, [5.0], arm="new"))
    with read_scope() as session:
        old, new = ingest.live_series(session, leased.job_id)
    assert (old.arm, old.n, old.median, len(old.values)) == ("old", 400, 1.5, 150)
    assert (new.arm, new.n, new.values) == ("new", 1, [5.0])


def test_the_log_is_read_in_pages_and_from_its_end(
    client: TestClient, leased: LeasedJob, ci: dict[str, str]
) -> None:
    leased.send(
        log_item(0, "a", "b", "c"), log_item(1), samples_item(2), log_item(3, "d", "e")
    )
    path = f"{PREFIX}/jobs/{leased.job_id}/log"
    lines, query = [], {"limit": "2"}
    while True:
        page = client.get(path, params=query, headers=ci).json()
        lines.append([line["text"] for line in page["items"]])
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert lines == [["a", "b"], ["c", "d"], ["e"]]
    after = client.get(path, params={"after": 0}, headers=ci).json()["items"]
    assert [(line["seq"], line["text"]) for line in after] == [(3, "d"), (3, "e")]
    tail = client.get(path, params={"tail": "true", "limit": 3}, headers=ci).json()[
        "items"
    ]
    assert [line["text"] for line in tail] == ["c", "d", "e"]


def test_the_whole_log_is_a_text_file(
    client: TestClient, leased: LeasedJob, ci: dict[str, str]
) -> None:
    """More chunks than are read at once, so that it goes on where it stopped."""
    leased.send(
        *[
            log_item(seq, f"{seq}a", f"\t{seq}b é")
            for seq in range(0, 3 * LOG_CHUNKS, 2)
        ]
    )
    path = f"{PREFIX}/jobs/{leased.job_id}/log"
    answer = client.get(path, params={"format": "text"}, headers=ci)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    name = f"demo-lab-1-{leased.job_id}-attempt-1.log"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.text == "".join(
        f"{seq}a\n\t{seq}b é\n" for seq in range(0, 3 * LOG_CHUNKS, 2)
    )
    assert (
        client.get(path, params={"format": "text", "attempt": 2}, headers=ci).text == ""
    )
    assert client.get(path, params={"format": "text"}).status_code == 401
    nobody = client.get(
        f"{PREFIX}/jobs/none/log", params={"format": "text"}, headers=ci
    )
    assert (nobody.status_code, nobody.json()["code"]) == (404, "not_found")


def test_a_text_log_is_read_in_bounded_pieces(leased: LeasedJob) -> None:
    """The store is asked for a few chunks at a time, and only as fast as somebody takes the lines."""
    leased.send(*[log_item(seq, "x") for seq in range(5 * LOG_CHUNKS)])
    asked: list[str] = []

    def count(*arguments: Any) -> None:
        asked.extend(
            text for text in arguments if isinstance(text, str) and "log_chunk" in text
        )

    with read_scope() as session:
        whole = log_text(session, leased.job_id, attempt=None)
        bind = session.get_bind()
    event.listen(bind, "before_cursor_execute", count)
    try:
        assert next(whole.lines) == "x\n"
        assert len(asked) == 1
        assert list(whole.lines) == ["x\n"] * (5 * LOG_CHUNKS - 1)
        assert len(asked) == 6
    finally:
        event.remove(bind, "before_cursor_execute", count)


def test_conditions_are_read_in_pages(
    client: TestClient, leased: LeasedJob, ci: dict[str, str]
) -> None:
    leased.send(*[conditions_item(seq, load=seq) for seq in range(5)])
    path = f"{PREFIX}/jobs/{leased.job_id}/conditions"
    first = client.get(path, params={"limit": 3}, headers=ci).json()
    rest = client.get(
        path, params={"limit": 3, "cursor": first["next"]}, headers=ci
    ).json()
    assert [each["values"]["load"] for each in first["items"] + rest["items"]] == [
        0,
        1,
        2,
        3,
        4,
    ]
    assert rest["next"] is None
    assert (
        client.get(path, params={"after": 3}, headers=ci).json()["items"][0]["seq"] == 4
    )


def test_a_failing_commit_answers_5xx_and_stores_nothing(
    stored: Make, leased: LeasedJob
) -> None:
    def disk_full(_: Session) -> None:
        raise OperationalError("COMMIT", None, OSError("No space left on device"))

    event.listen(Session, "before_commit", disk_full)
    try:
        answer = leased.send(samples_item(0))
    finally:
        event.remove(Session, "before_commit", disk_full)
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert (stored(), stored(SampleChunk)) == (0, 0)
    assert leased.send(samples_item(0)).json() == {"stored": 1, "duplicates": 0}


def test_uploads_are_for_agents_only(
    client: TestClient, leased: LeasedJob, ci: dict[str, str]
) -> None:
    leased.headers = ci
    assert leased.send(samples_item(0)).status_code == 403
    leased.headers = {}
    assert leased.send(samples_item(0)).status_code == 401
