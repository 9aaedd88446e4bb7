"""Tests that a wrong upload is answered with a client error that names the item and the field."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paceline_contract.item_reader import ItemError
from paceline_server.ingest import uploads
from paceline_server.kernel.settings import Settings
from paceline_server.testing.scripted_agent import (
    LeasedJob,
    conditions_item,
    event_item,
    log_item,
    samples_item,
)

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


REFUSED: dict[str, list[Any]] = {
    "seq": [-1, 2**63, "1", 1.5, None, True],
    "launch": [-1, 5, 2**31, 2**63],
    "benchmark": ["sorting\0", 7],
    "arm": [None],
    "unit": ["ms", "s"],
    "direction": ["sideways"],
    "phase": ["cooldown"],
    "params": [
        {"n": 2**63, "order": "random"},
        {"n": 1000.5, "order": "random"},
        {"n": True, "order": "random"},
        {"n\0": 1},
        [],
    ],
    "values": [[], [1.0] * 1001, [-1.0], ["1"], [None], [True], None],
    "rounds": [[], [0, 1], [-1], [2**31], [2**63], [0.5], ["0"]],
    "positions": [[], [-1], [2**31]],
    "iterations": [[], [0], [-1], [2**63], [2**80]],
    "t_ns": [[], [-1], [2**63]],
    "kind": ["odd", None],
    "extra": [1],
}
"""Field of a samples item → values that no manifest allows."""

UNDECLARED: dict[str, list[Any]] = {
    "benchmark": ["nope", ""],
    "arm": ["nope"],
    "metric": ["nope"],
    "unit": ["op/s"],
    "direction": ["higher"],
    "params": [
        {},
        {"n": 1000},
        {"n": 0, "order": "random"},
        {"n": "1000", "order": "random"},
        {"n": 1000, "order": "up"},
        {"n": 1000, "order": "random", "x": 1},
    ],
}
"""Field of a samples item → values that this suite does not declare."""


@pytest.mark.shapes("embedded")
def test_a_wrong_samples_item_is_refused_with_its_number_and_the_field_named(
    stored: Make, leased: LeasedJob, subtests: pytest.Subtests
) -> None:
    for code, field, wrong in [
        (code, field, value)
        for code, refused in (
            ("invalid_request", REFUSED),
            ("not_declared", UNDECLARED),
        )
        for field, values in refused.items()
        for value in values
    ]:
        with subtests.test(field=field, wrong=repr(wrong)[:40]):
            answer = leased.send(samples_item(40), {**samples_item(41), field: wrong})
            problem = answer.json()
            assert answer.headers["content-type"] == "application/problem+json"
            assert (answer.status_code, problem["code"]) == (422, code)
            if field not in ("seq", "kind"):
                assert "item 1 (seq 41)" in problem["detail"]
            where = "" if field in ("kind", "extra") else field
            assert any(
                place.startswith(f"items[1].{where}") for place in problem["fields"]
            ), problem
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
            {
                "type": "case",
                "case": 0,
                "benchmark": "sorting",
                "arm": "nope",
                "params": {},
                "metrics": [{"name": "time", "unit": "ns", "direction": "lower"}],
            },
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
]
"""Items of the other kinds that are refused, and the field named."""


@pytest.mark.shapes("embedded")
def test_items_of_the_other_kinds_are_refused_with_the_field_named(
    stored: Make, leased: LeasedJob, subtests: pytest.Subtests
) -> None:
    for item, field in REFUSED_ITEMS:
        with subtests.test(field=field, kind=item["kind"]):
            answer = leased.send(item)
            is_undeclared = field in ("event.suite", "event.arm")
            assert (answer.status_code, answer.json()["code"]) == (
                422,
                "not_declared" if is_undeclared else "invalid_request",
            )
            assert list(answer.json()["fields"]) == [f"items[0].{field}"]
    assert stored() == 0


def bodies() -> dict[str, tuple[bytes, str, int, str]]:
    """Bodies that hold no items: (bytes, encoding, status, code)."""
    good = json.dumps({"items": [samples_item(0)]}).encode()
    zeros = gzip.compress(b"0" * (uploads.MAX_INFLATED + 1), 9)
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
        "bad utf-8": (
            good.replace(b"sorting", b"\xff\xfe"),
            "",
            400,
            "invalid_request",
        ),
        "an array": (b"[]", "", 422, "invalid_request"),
        "a number": (b"7", "", 422, "invalid_request"),
        "nothing": (b"{}", "", 422, "invalid_request"),
        "more": (b'{"items":[],"x":1}', "", 422, "invalid_request"),
        "arrays": (b"[" * 100_000, "", 422, "invalid_request"),
        "too deep": (
            b'{"items":[{"kind":"event","seq":0,"launch":0,"event":{"x":'
            + b"[" * 100_000,
            "",
            400,
            "invalid_request",
        ),
        "deep event": (
            b'{"items":[{"kind":"event","seq":0,"launch":0,"event":{"type":"done","x":'
            + b"[" * 900
            + b"]" * 900
            + b"}}]}",
            "",
            422,
            "invalid_request",
        ),
        "too many": (
            json.dumps({"items": [log_item(n) for n in range(1001)]}).encode(),
            "",
            422,
            "invalid_request",
        ),
        "too large": (
            b" " * (Settings().max_body_bytes + 1),
            "",
            413,
            "body_too_large",
        ),
        "gzip bomb": (zeros, "gzip", 413, "body_too_large"),
        "nested bomb": (bomb, "gzip", 400, "invalid_request"),
        "not gzip": (good, "gzip", 400, "invalid_request"),
        "cut gzip": (gzip.compress(good)[:-4], "gzip", 400, "invalid_request"),
        "gzip and more": (gzip.compress(good) + b"xx", "gzip", 400, "invalid_request"),
        "broken checksum": (
            gzip.compress(good)[:-8] + bytes(8),
            "gzip",
            400,
            "invalid_request",
        ),
        "zlib": (zlib.compress(good), "gzip", 400, "invalid_request"),
        "brotli": (good, "br", 415, "unsupported_encoding"),
    }


@pytest.mark.shapes("embedded")
def test_a_body_without_items_is_answered_with_a_client_error(
    stored: Make, leased: LeasedJob, subtests: pytest.Subtests
) -> None:
    for name, (body, encoding, status, code) in bodies().items():
        with subtests.test(name):
            headers = {"Content-Encoding": encoding} if encoding else {}
            answer = leased.post("items", content=body, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (status, code), (
                answer.text
            )
            assert answer.headers["content-type"] == "application/problem+json"
    assert stored() == 0


def test_inflating_stops_at_the_limit() -> None:
    with pytest.raises(uploads.BodyError, match="body_too_large"):
        uploads.inflate(gzip.compress(b"0" * (uploads.MAX_INFLATED + 1)), "gzip")
    assert (
        len(uploads.inflate(gzip.compress(b"0" * uploads.MAX_INFLATED), "gzip"))
        == uploads.MAX_INFLATED
    )


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(
        ["samples", "event", "log", "sorting", "old", "time", "ns", "\0", "\ud800"]
    )
)
ODD = (
    LEAVES
    | st.lists(LEAVES, max_size=3)
    | st.dictionaries(st.text(max_size=3), LEAVES, max_size=3)
)
BASES: list[dict[str, Any]] = [
    samples_item(0),
    event_item(0, START),
    conditions_item(0, load=1.0),
    log_item(0, "x"),
]


@settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(base=st.sampled_from(BASES), data=st.data())
def test_a_changed_upload_is_decoded_or_refused_and_never_an_error_of_the_server(
    base: dict[str, Any], data: st.DataObject
) -> None:
    changed = dict(base)
    for field in data.draw(
        st.lists(st.sampled_from([*base, "event", "x"]), min_size=1, max_size=3)
    ):
        changed[field] = data.draw(ODD)
    text = json.dumps({"items": [changed]})
    cut = data.draw(st.integers(0, len(text)) | st.just(len(text)))
    try:
        uploads.decode(text[:cut].encode("utf-8", "surrogatepass"))
    except (uploads.BodyError, ItemError):
        return
