"""What an agent may upload, what is refused and how, and that nothing is stored twice or by halves."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paceline_server.ingest import service as ingest
from paceline_server.ingest import wire
from paceline_server.ingest.stream import case_samples, read_stream
from paceline_server.store.session import read_scope
from paceline_server.store.tables.messages import Incident, LiveEvent
from paceline_server.store.tables.samples import Item, SampleChunk
from paceline_server.testing.scripted_agent import (
    LeasedJob,
    ScriptedAgent,
    announce,
    conditions_item,
    event_item,
    log_item,
    samples_item,
)
from sqlalchemy import event, func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

PREFIX = "/api/v1"
VECTORS = Path(__file__).parents[3] / "native" / "protocol" / "vectors"
Make = Callable[..., Any]
START = {
    "type": "start", "v": 1, "suite": "demo", "workload": "w", "launch": 0, "seed": 1, "build": {},
    "clock": {"name": "m", "resolution_ns": 1, "overhead_ns": 0},
}  # fmt: skip


@pytest.fixture
def ci(token: Make) -> dict[str, str]:
    return dict(token("ingest", "read"))


@pytest.fixture
def leased(client: TestClient, enrolled: Make, ci: dict[str, str]) -> LeasedJob:
    """A job that is being measured."""
    lab = enrolled("lab-1")
    announce(lab.agent_id)
    assert client.post(f"{PREFIX}/runs", json={"suite": "demo"}, headers=ci).status_code == 201
    job = ScriptedAgent(client, lab.headers).lease()
    assert job.report("measuring").status_code == 204
    return job


def stored(table: type[Any] = Item) -> int:
    with read_scope() as session:
        return session.scalars(select(func.count()).select_from(table)).one()


def test_what_is_sent_twice_is_stored_once(leased: LeasedJob) -> None:
    items = [
        samples_item(0, [1.0, 2.0]),
        event_item(1, START),
        conditions_item(2, load=0.5),
        log_item(3, "hi"),
    ]
    assert leased.send(*items).json() == {"stored": 4, "duplicates": 0}
    assert leased.send(*items, samples_item(4)).json() == {"stored": 1, "duplicates": 4}
    assert leased.send(samples_item(5), samples_item(5)).json() == {"stored": 1, "duplicates": 1}
    assert (stored(), stored(SampleChunk)) == (6, 3)


def test_the_same_content_spelled_otherwise_is_a_duplicate(leased: LeasedJob) -> None:
    item = samples_item(0, [1.0])
    leased.send(item)
    respelled = json.dumps({"items": [dict(reversed(item.items()))]}, indent=3).replace("1.0", "1.00e0")
    assert leased.post("items", content=respelled).json() == {"stored": 0, "duplicates": 1}


def test_one_identity_with_two_contents_is_a_conflict_and_an_incident(leased: LeasedJob) -> None:
    leased.send(samples_item(0, [1.0]))
    answer = leased.send(samples_item(1), samples_item(0, [2.0]))
    assert (answer.status_code, answer.json()["code"]) == (409, "item_conflict")
    assert answer.json()["fields"] == {"seq": "0"}
    assert stored() == 1
    with read_scope() as session:
        (incident,) = session.scalars(select(Incident)).all()
        assert (incident.code, incident.detail["seq"]) == ("item_conflict", 0)
        assert incident.detail["job_id"] == leased.job_id
    assert leased.send(samples_item(0, [1.0]), samples_item(1)).json() == {"stored": 1, "duplicates": 1}
    assert leased.send(samples_item(7, [1.0]), samples_item(7, [2.0])).json()["code"] == "item_conflict"


def test_two_requests_with_the_same_items_at_once_store_them_once(leased: LeasedJob, together: Make) -> None:
    items = [samples_item(seq) for seq in range(20)]
    answers = [answer.json() for answer in together(*[lambda: leased.send(*items)] * 8)]
    assert sorted(answer["stored"] for answer in answers) == [0] * 7 + [20]
    assert stored(SampleChunk) == 20


def test_gzip_is_taken(leased: LeasedJob) -> None:
    body = gzip.compress(json.dumps({"items": [samples_item(0)]}).encode())
    gz = {"Content-Encoding": "gzip"}
    assert leased.post("items", content=body, headers=gz).json() == {"stored": 1, "duplicates": 0}
    two_members = gzip.compress(b'{"items":') + gzip.compress(b"[]}")
    assert leased.post("items", content=two_members, headers=gz).json() == {"stored": 0, "duplicates": 0}


REFUSED: dict[str, list[Any]] = {
    "seq": [-1, 2**63, "1", 1.5, None, True],
    "launch": [-1, 5, 2**31, 2**63],
    "benchmark": ["nope", "", "sorting\0", 7],
    "arm": ["nope", None],
    "metric": ["nope"],
    "unit": ["ms", "s", "op/s"],
    "direction": ["higher", "sideways"],
    "phase": ["cooldown"],
    "params": [
        {}, {"n": 1000}, {"n": 0, "order": "random"}, {"n": "1000", "order": "random"},
        {"n": 1000, "order": "up"}, {"n": 1000, "order": "random", "x": 1}, {"n": 2**63, "order": "random"},
        {"n": 1000.5, "order": "random"}, {"n": True, "order": "random"}, {"n\0": 1}, [],
    ],
    "values": [[], [1.0] * 1001, [-1.0], ["1"], [None], [True], None],
    "rounds": [[], [0, 1], [-1], [2**31], [2**63], [0.5], ["0"]],
    "positions": [[], [-1], [2**31]],
    "iterations": [[], [0], [-1], [2**63], [2**80]],
    "t_ns": [[], [-1], [2**63]],
    "kind": ["odd", None],
    "extra": [1],
}  # fmt: skip
"""Field of a samples item → values that are refused."""


@pytest.mark.parametrize("shape", ["embedded"], indirect=True)
def test_a_samples_item_out_of_contract_is_refused_by_seq_and_field(
    leased: LeasedJob, subtests: pytest.Subtests
) -> None:
    for field, wrong in [(field, value) for field, values in REFUSED.items() for value in values]:
        with subtests.test(field=field, wrong=repr(wrong)[:40]):
            answer = leased.send(samples_item(40), {**samples_item(41), field: wrong})
            problem = answer.json()
            assert answer.headers["content-type"] == "application/problem+json"
            assert (answer.status_code, problem["code"]) == (422, "invalid_request")
            if field not in ("seq", "kind"):
                assert "item 1 (seq 41)" in problem["detail"]
            where = "" if field in ("kind", "extra") else field
            assert any(place.startswith(f"items[1].{where}") for place in problem["fields"]), problem
    assert stored() == 0


REFUSED_ITEMS: list[tuple[dict[str, Any], str]] = [
        (event_item(0, {"type": "progress", "done": 2**63, "total": 1}), "event.done"),
        (event_item(0, {"type": "progress", "done": 1}), "event.total"),
        (event_item(0, {"type": "odd"}), "event.type"),
        (event_item(0, {}), "event.type"),
        (event_item(0, {"type": "samples"}), "event.type"),
        (event_item(0, {"type": "warning", "code": "c", "text": "a\0b"}), "event.text"),
        (event_item(0, {"type": "done", "note": "a\0b"}), "event.note"),
        (event_item(0, {"type": "done", "n": 2**63}), "event.n"),
        (event_item(0, {"type": "done", "n": {"deep": [2**64]}}), "event.n"),
        (event_item(0, {"type": "check", "name": "", "ok": True}), "event.name"),
        (event_item(0, START, launch=1), "event.launch"),
        (event_item(0, START | {"v": 2}), "event.v"),
        (event_item(0, START | {"suite": "other"}), "event.suite"),
        (event_item(0, {"type": "done"}, launch=9), "launch"),
        (
            event_item(
                0,
                {"type": "case", "case": 0, "benchmark": "sorting", "arm": "nope", "params": {}, "metrics": [
                    {"name": "time", "unit": "ns", "direction": "lower"}]},
            ),
            "event.arm",
        ),
        (conditions_item(0, load="\0"), "values.load"),
        (conditions_item(0, load=2**70), "values.load"),
        (conditions_item(0) | {"phase": "later"}, "phase"),
        (conditions_item(0) | {"at_ms": 2**63}, "at_ms"),
        (conditions_item(0, note="x" * 1_100_000), "item"),
        (log_item(0, "ok", "a\0b"), "lines[1]"),
        (log_item(0, "x" * 70_000), "lines[0]"),
        (log_item(0, *["x"] * 1001), "lines"),
        (log_item(0) | {"stream": "kernel"}, "stream"),
]  # fmt: skip
"""Items of the other kinds that are refused, and the field named."""


@pytest.mark.parametrize("shape", ["embedded"], indirect=True)
def test_another_item_out_of_contract_is_refused_by_field(
    leased: LeasedJob, subtests: pytest.Subtests
) -> None:
    for item, field in REFUSED_ITEMS:
        with subtests.test(field=field, kind=item["kind"]):
            answer = leased.send(item)
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
            assert list(answer.json()["fields"]) == [f"items[0].{field}"]
    assert stored() == 0


def bodies() -> dict[str, tuple[bytes, str, int, str]]:
    """Bodies that are no items: (bytes, encoding, status, code)."""
    good = json.dumps({"items": [samples_item(0)]}).encode()
    zeros = gzip.compress(b"0" * (wire.MAX_INFLATED + 1), 9)
    bomb = gzip.compress(gzip.compress(b"\0" * 200_000_000, 9) * 2)
    return {
        "empty": (b"", "", 400, "invalid_request"),
        "garbage": (b"\x80\x81\xff", "", 400, "invalid_request"),
        "truncated": (good[:-9], "", 400, "invalid_request"),
        "nan": (good.replace(b"100.0", b"NaN"), "", 400, "invalid_request"),
        "infinity": (good.replace(b"100.0", b"-Infinity"), "", 400, "invalid_request"),
        "beyond float": (good.replace(b"100.0", b"1e999"), "", 422, "invalid_request"),
        "raw nul": (good.replace(b"sorting", b"sor\0ing"), "", 400, "invalid_request"),
        "surrogate": (good.replace(b"sorting", b"\\ud800"), "", 400, "invalid_request"),
        "bad utf-8": (good.replace(b"sorting", b"\xff\xfe"), "", 400, "invalid_request"),
        "an array": (b"[]", "", 422, "invalid_request"),
        "a number": (b"7", "", 422, "invalid_request"),
        "nothing": (b"{}", "", 422, "invalid_request"),
        "more": (b'{"items":[],"x":1}', "", 422, "invalid_request"),
        "arrays": (b"[" * 100_000, "", 422, "invalid_request"),
        "too deep": (
            b'{"items":[{"kind":"event","seq":0,"launch":0,"event":{"x":' + b"[" * 100_000,
            "", 400, "invalid_request",
        ),
        "deep event": (
            b'{"items":[{"kind":"event","seq":0,"launch":0,"event":{"type":"done","x":'
            + b"[" * 900 + b"]" * 900 + b"}}]}", "", 422, "invalid_request",
        ),
        "too many": (
            json.dumps({"items": [log_item(n) for n in range(1001)]}).encode(), "", 422, "invalid_request",
        ),
        "too large": (b" " * (wire.MAX_COMPRESSED + 1), "", 413, "body_too_large"),
        "gzip bomb": (zeros, "gzip", 413, "body_too_large"),
        "nested bomb": (bomb, "gzip", 400, "invalid_request"),
        "not gzip": (good, "gzip", 400, "invalid_request"),
        "cut gzip": (gzip.compress(good)[:-4], "gzip", 400, "invalid_request"),
        "gzip and more": (gzip.compress(good) + b"xx", "gzip", 400, "invalid_request"),
        "broken checksum": (gzip.compress(good)[:-8] + bytes(8), "gzip", 400, "invalid_request"),
        "zlib": (zlib.compress(good), "gzip", 400, "invalid_request"),
        "brotli": (good, "br", 415, "unsupported_encoding"),
    }  # fmt: skip


@pytest.mark.parametrize("shape", ["embedded"], indirect=True)
def test_a_body_that_is_no_items_is_a_problem_of_the_client(
    leased: LeasedJob, subtests: pytest.Subtests
) -> None:
    for name, (body, encoding, status, code) in bodies().items():
        with subtests.test(name):
            headers = {"Content-Encoding": encoding} if encoding else {}
            answer = leased.post("items", content=body, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
            assert answer.headers["content-type"] == "application/problem+json"
    assert stored() == 0


def test_inflating_stops_at_the_limit() -> None:
    with pytest.raises(wire.BodyError, match="body_too_large"):
        wire.inflate(gzip.compress(b"0" * (wire.MAX_INFLATED + 1)), "gzip")
    assert len(wire.inflate(gzip.compress(b"0" * wire.MAX_INFLATED), "gzip")) == wire.MAX_INFLATED


LEAVES = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=4)
    | st.sampled_from(["samples", "event", "log", "sorting", "old", "time", "ns", "\0", "\ud800"])
)  # fmt: skip
ODD = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(max_size=3), LEAVES, max_size=3)
BASES: list[dict[str, Any]] = [
    samples_item(0), event_item(0, START), conditions_item(0, load=1.0), log_item(0, "x"),
]  # fmt: skip


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=st.sampled_from(BASES), data=st.data())
def test_whatever_is_sent_becomes_items_or_a_refusal(base: dict[str, Any], data: st.DataObject) -> None:
    changed = dict(base)
    for field in data.draw(st.lists(st.sampled_from([*base, "event", "x"]), min_size=1, max_size=3)):
        changed[field] = data.draw(ODD)
    text = json.dumps({"items": [changed]})
    cut = data.draw(st.integers(0, len(text)) | st.just(len(text)))
    try:
        wire.decode(text[:cut].encode("utf-8", "surrogatepass"))
    except (wire.BodyError, wire.ItemError):
        return


def test_whatever_the_wire_accepts_the_database_can_store(leased: LeasedJob) -> None:
    odd = {"type": "warning", "code": "\u0001\u2028'\"\\", "text": "\U0001f600\uffff\ufeff", "n": -(2**63)}
    items = [
        event_item(0, odd), conditions_item(1, **{"": -0.0, "'; --": [1e308, 5e-324, 2**63 - 1, None]}),
        log_item(2, "", "\x7f\x1b[31m", "\u202e"),
        samples_item(3, [0.0, 5e-324, 1.7976931348623157e308], rounds=[2**31 - 1] * 3,
                     iterations=[2**63 - 1] * 3, t_ns=[2**63 - 1] * 3),
    ]  # fmt: skip
    assert leased.send(*items).json() == {"stored": 4, "duplicates": 0}
    assert leased.send(*items).json() == {"stored": 0, "duplicates": 4}
    assert leased.finish(3).status_code == 204
    with read_scope() as session:
        (case,) = ingest.blocks(session, leased.job_id)
        assert case.value.tolist() == [0.0, 5e-324, 1.7976931348623157e308]
        assert case.round.tolist() == [2**31 - 1] * 3
        assert ingest.warnings(session, leased.job_id)[0].text == "\U0001f600\uffff\ufeff"


def test_what_was_sent_is_read_back_in_order_of_launch(leased: LeasedJob) -> None:
    leased.send(
        event_item(0, START | {"launch": 1}, launch=1),
        samples_item(1, [3.0, 4.0], launch=1, rounds=[5, 6], positions=[1, 0]),
        samples_item(2, [1.0, 2.0], launch=0, phase="warmup"),
        samples_item(3, [9.0], arm="new"),
        samples_item(4, [7.0], metric="throughput", unit="op/s", direction="higher"),
        event_item(5, {"type": "check", "name": "sorted", "ok": False, "detail": "row 3"}, launch=1),
        event_item(6, {"type": "check", "name": "sorted", "ok": True}),
        conditions_item(7, temperature_c=41.5),
    )
    with read_scope() as session:
        assert ingest.blocks(session, leased.job_id) == []
    assert leased.finish(7).status_code == 204
    with read_scope() as session:
        cases = ingest.blocks(session, leased.job_id)
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


def test_a_request_leaves_few_live_events_however_many_chunks(leased: LeasedJob) -> None:
    items = [samples_item(seq, [float(seq)] * 500, rounds=list(range(500))) for seq in range(30)]
    items += [event_item(30 + seq, {"type": "progress", "done": seq, "total": 9}) for seq in range(9)]
    items.append(log_item(39, *[f"line {n}" for n in range(500)]))
    leased.send(*items)
    with read_scope() as session:
        events = [
            each for each in session.scalars(select(LiveEvent).order_by(LiveEvent.id))
            if each.kind in ("samples", "progress", "log")
        ]  # fmt: skip
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
    leased.send(log_item(0, "a", "b", "c"), log_item(1), samples_item(2), log_item(3, "d", "e"))
    path = f"{PREFIX}/jobs/{leased.job_id}/log"
    seen, query = [], {"limit": "2"}
    while True:
        page = client.get(path, params=query, headers=ci).json()
        seen.append([line["text"] for line in page["items"]])
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert seen == [["a", "b"], ["c", "d"], ["e"]]
    after = client.get(path, params={"after": 0}, headers=ci).json()["items"]
    assert [(line["seq"], line["text"]) for line in after] == [(3, "d"), (3, "e")]
    tail = client.get(path, params={"tail": "true", "limit": 3}, headers=ci).json()["items"]
    assert [line["text"] for line in tail] == ["c", "d", "e"]


def test_conditions_are_read_in_pages(client: TestClient, leased: LeasedJob, ci: dict[str, str]) -> None:
    leased.send(*[conditions_item(seq, load=seq) for seq in range(5)])
    path = f"{PREFIX}/jobs/{leased.job_id}/conditions"
    first = client.get(path, params={"limit": 3}, headers=ci).json()
    rest = client.get(path, params={"limit": 3, "cursor": first["next"]}, headers=ci).json()
    assert [each["values"]["load"] for each in first["items"] + rest["items"]] == [0, 1, 2, 3, 4]
    assert rest["next"] is None
    assert client.get(path, params={"after": 3}, headers=ci).json()["items"][0]["seq"] == 4


def test_a_failing_commit_answers_5xx_and_stores_nothing(leased: LeasedJob) -> None:
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


def test_uploads_are_for_agents_only(client: TestClient, leased: LeasedJob, ci: dict[str, str]) -> None:
    leased.headers = ci
    assert leased.send(samples_item(0)).status_code == 403
    leased.headers = {}
    assert leased.send(samples_item(0)).status_code == 401


EVENT_FAULTS = {"bad_field", "missing_field", "unknown_type", "unknown_unit", "version"}


def vector_events(name: str) -> list[Any]:
    lines = (VECTORS / f"{name}.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line.strip()]


def manifest_for(events: list[Any]) -> dict[str, Any]:
    """A manifest that declares what a vector measures."""
    suite = next(each["suite"] for each in events if each.get("type") == "start")
    return {
        "schema": 1,
        "suite": {"name": suite, "title": "Vector"},
        "workloads": [{"name": "w", "host": {"build": [], "artifacts": ["w"], "run": ["w"]}}],
        "benchmarks": {
            "ledger_batch": {
                "title": "b", "workload": "w", "arms": ["fallback", "native"], "reference": "fallback",
                "params": {"batch": {"kind": "int", "values": [1000, 2000], "minimum": 1, "maximum": 10**6}},
                "metrics": {"time": {"unit": "ns", "direction": "lower"}},
            }
        },
    }  # fmt: skip


def items_of(events: list[Any]) -> list[dict[str, Any]]:
    """A stream's events as an agent uploads them: values divided by iterations, everything else verbatim."""
    cases = {each["case"]: each for each in events if each["type"] == "case"}
    items = []
    for seq, each in enumerate(events):
        if each["type"] != "samples":
            items.append(event_item(seq, each))
            continue
        case, n = cases[each["case"]], len(each["values"])
        items.append(
            samples_item(
                seq,
                [value / each["iterations"] for value in each["values"]],
                benchmark=case["benchmark"],
                arm=case["arm"],
                params=case["params"],
                phase=each["phase"],
                rounds=[each["round"]] * n,
                positions=[each["position"]] * n,
                iterations=[each["iterations"]] * n,
                t_ns=[each["t_ns"]] * n,
            )
        )
    return items


def vectors(*, ok: bool) -> list[str]:
    """Vectors an agent could upload: whole streams, or streams whose fault lies in one event."""
    names = []
    for path in sorted(VECTORS.glob("*.expect.json")):
        name = path.name.removesuffix(".expect.json")
        expected = json.loads(path.read_text())
        if not (VECTORS / f"{name}.jsonl").exists() or expected["ok"] is not ok:
            continue
        if ok or expected["fault"]["code"] in EVENT_FAULTS:
            names.append(name)
    return names


@pytest.mark.parametrize("name", vectors(ok=True))
def test_an_accepted_vector_arrives_whole(
    client: TestClient, enrolled: Make, ci: dict[str, str], name: str
) -> None:
    events = vector_events(name)
    if any(set(each.get("params", {})) - {"batch"} for each in events):
        pytest.skip("measures a param of its own; the manifest check is tested elsewhere")
    lab = enrolled("lab-1")
    announce(lab.agent_id, manifest_for(events))
    suite = manifest_for(events)["suite"]["name"]
    assert client.post(f"{PREFIX}/runs", json={"suite": suite}, headers=ci).status_code == 201
    job = ScriptedAgent(client, lab.headers).lease()
    job.report("measuring")
    items = items_of(events)
    answer = job.send(*items)
    assert answer.json() == {"stored": len(items), "duplicates": 0}, answer.text
    assert job.finish(len(items) - 1).status_code == 204
    expected = json.loads((VECTORS / f"{name}.expect.json").read_text())
    stream = read_stream(VECTORS / f"{name}.jsonl")
    with read_scope() as session:
        assert len(ingest.cases(session, job.job_id)) == expected["cases"]
        assert len(ingest.checks(session, job.job_id)) == expected["checks"]
        assert len(ingest.warnings(session, job.job_id)) == expected["warnings"]
        uploaded = ingest.blocks(session, job.job_id)
    for ours, raw in zip(uploaded, case_samples([stream]), strict=True):
        assert (ours.benchmark, ours.arm, ours.params, ours.metric) == (
            raw.benchmark, raw.arm, raw.params, raw.metric,
        )  # fmt: skip
        assert ours.value.tolist() == raw.value.tolist()
        assert ours.round.tolist() == raw.round.tolist()
        assert ours.warmup.tolist() == raw.warmup.tolist()


@pytest.mark.parametrize("shape", ["embedded"], indirect=True)
@pytest.mark.parametrize("name", vectors(ok=False))
def test_a_vector_with_a_faulty_event_is_refused_at_that_event(leased: LeasedJob, name: str) -> None:
    fault = json.loads((VECTORS / f"{name}.expect.json").read_text())["fault"]
    line = (VECTORS / f"{name}.jsonl").read_bytes().split(b"\n")[fault["line"] - 1]
    faulty = json.loads(line)
    if faulty.get("type") == "samples" and name in ("undeclared_metric", "other_launch"):
        faulty = (
            samples_item(3, metric="rss_peak") if name == "undeclared_metric" else samples_item(3, launch=9)
        )
        answer = leased.send(faulty)
    elif faulty.get("type") == "samples":
        fields = {
            "phase": faulty.get("phase"), "iterations": [faulty.get("iterations")],
            "values": faulty["values"],
        }  # fmt: skip
        if name in ("huge_int", "fraction", "float_integer", "exponent"):
            pytest.skip("a quotient of floats cannot show it; the agent's reader refuses the stream")
        answer = leased.send(samples_item(3) | fields)
    else:
        answer = leased.send(event_item(3, faulty))
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), answer.text
    assert "item 0 (seq 3)" in answer.json()["detail"]
    assert stored() == 0
