"""The bench stream reader, held to the golden vectors every reader shares."""

from __future__ import annotations

import itertools
import json
import random
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from paceline_contract.events import (
    AnyEvent,
    CaseEvent,
    CheckEvent,
    DoneEvent,
    ErrorEvent,
    EventError,
    SamplesEvent,
    StartEvent,
    WarningEvent,
    parse_event,
)
from paceline_contract.stream import MAX_LINE_BYTES, StreamError, StreamReader

VECTORS = Path(__file__).parents[2] / "native" / "protocol" / "vectors"
NAMES = sorted(
    path.name.removesuffix(".expect.json") for path in VECTORS.glob("*.expect.json")
)


def vector_bytes(name: str) -> bytes:
    plain = VECTORS / f"{name}.jsonl"
    if plain.exists():
        return plain.read_bytes()
    directive = json.loads((VECTORS / f"{name}.generate.json").read_text())
    head, tail = '{"type":"warning","code":"padding","text":"', '"}'
    padding = "x" * (directive["line_bytes"] - len(head) - len(tail))
    lines = [
        *directive["prefix_lines"],
        head + padding + tail,
        *directive.get("suffix_lines", []),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def read(chunks: Iterable[bytes]) -> tuple[list[AnyEvent], StreamError | None]:
    reader = StreamReader()
    events: list[AnyEvent] = []
    try:
        for chunk in chunks:
            events.extend(iter_into(events, reader, chunk))
        for event in reader.close():
            events.append(event)
    except StreamError as fault:
        return events, fault
    return events, None


def iter_into(
    events: list[AnyEvent], reader: StreamReader, chunk: bytes
) -> list[AnyEvent]:
    """Append one by one, so that events before a fault are kept; nothing is left to extend with."""
    for event in reader.feed(chunk):
        events.append(event)
    return []


def verdict(events: list[AnyEvent], fault: StreamError | None) -> dict[str, Any]:
    last = events[-1].to_json_object()["type"] if events else None
    return {
        "ok": fault is None,
        "fault": fault and {"code": fault.code, "line": fault.line},
        "cases": sum(isinstance(event, CaseEvent) for event in events),
        "samples": sum(isinstance(event, SamplesEvent) for event in events),
        "warnings": sum(isinstance(event, WarningEvent) for event in events),
        "checks": sum(isinstance(event, CheckEvent) for event in events),
        "terminal": last if last in ("done", "error") else None,
    }


def expected(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((VECTORS / f"{name}.expect.json").read_text())
    return value


def test_the_vectors_exist() -> None:
    assert {"ok", "giant_line", "two_terminals", "surrogate", "interleaved"} <= set(
        NAMES
    )


@pytest.mark.parametrize("name", NAMES)
def test_vectors_read_at_once_give_the_expected_events(name: str) -> None:
    assert verdict(*read([vector_bytes(name)])) == expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_vectors_read_in_pieces_give_the_same_events(name: str) -> None:
    data = vector_bytes(name)
    rng = random.Random(name)  # noqa: S311 - reproducible, not secret
    largest = 7 if len(data) < 100_000 else 70_000
    chunks, at = [], 0
    while at < len(data):
        size = rng.randint(1, largest)
        chunks.append(data[at : at + size])
        at += size
    assert verdict(*read(chunks)) == expected(name)


def test_memory_stays_bounded_while_an_endless_line_arrives() -> None:
    reader = StreamReader()
    list(reader.feed(vector_bytes("ok").splitlines(keepends=True)[0]))
    block = b"x" * 65_536
    endless = itertools.chain.from_iterable(reader.feed(block) for _ in range(100_000))
    tracemalloc.start()
    with pytest.raises(StreamError) as caught:
        list(endless)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.code == "line_too_long"
    assert peak < 4 * MAX_LINE_BYTES


def test_totals_are_divided_by_iterations_and_rates_are_not() -> None:
    sample = SamplesEvent(0, "time", 0, 0, 0, "measure", 8, [800, 801], 5)
    assert sample.per_iteration("ns") == [100.0, 100.125]
    assert sample.per_iteration("count") == [100.0, 100.125]
    assert sample.per_iteration("op/s") == [800.0, 801.0]


def test_a_forwarded_event_carries_its_type_and_known_fields_only() -> None:
    events, _ = read([vector_bytes("unknown_field")])
    start = next(event for event in events if isinstance(event, StartEvent))
    assert start.to_json_object()["type"] == "start"
    assert set(start.to_json_object()) == {
        "type",
        "v",
        "suite",
        "workload",
        "launch",
        "seed",
        "build",
        "clock",
    }
    assert DoneEvent().to_json_object() == {"type": "done"}


def test_a_fault_names_what_was_expected() -> None:
    _, fault = read([vector_bytes("bad_unit")])
    assert fault is not None
    assert "bytes/s" in fault.detail
    assert "metrics[0].unit" in fault.detail


LINE_FAULTS = {
    "bad_field",
    "missing_field",
    "unknown_type",
    "unknown_unit",
    "not_object",
    "version",
}
"""Faults that one line shows by itself; the others need the stream, or are not JSON at all."""
SCHEMA = Draft202012Validator(
    json.loads((VECTORS.parent / "event.schema.json").read_text())
)
BEYOND_THE_SCHEMA = {
    "float_integer",
    "exponent",
    "other_launch",
    "undeclared_metric",
    "unavailable_with_samples",
    "work_float",
}
"""JSON Schema takes `7.0` and `7e0` for integers, and sees one line at a time; readers do better."""


@pytest.mark.parametrize("name", NAMES)
def test_the_event_schema_agrees_with_the_vectors(name: str) -> None:
    expected = json.loads((VECTORS / f"{name}.expect.json").read_text())
    lines = vector_bytes(name).split(b"\n")
    fault = expected["fault"]
    for line in lines[: fault["line"] - 1 if fault else len(lines)]:
        if line.strip():
            SCHEMA.validate(json.loads(line))
    if fault and fault["code"] in LINE_FAULTS and name not in BEYOND_THE_SCHEMA:
        assert not SCHEMA.is_valid(json.loads(lines[fault["line"] - 1])), lines[
            fault["line"] - 1
        ]


START = (
    b'{"type":"start","v":1,"suite":"s","workload":"w","launch":0,"seed":1,"build":{},'
    b'"clock":{"name":"m","resolution_ns":1,"overhead_ns":0}}'
)
CASE = (
    b'{"type":"case","case":0,"benchmark":"b","arm":"a","params":{"n":1},'
    b'"metrics":[{"name":"time","unit":"ns","direction":"lower"}]}'
)
VALUES: st.SearchStrategy[object] = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        2**63,
        2**80,
        0.5,
        "",
        "time",
        "ns",
        "a\0",
        "\ud800",
        [],
        [1],
        [[]],
        {},
        {"name": 1},
    ]
)
FIELDS = st.sampled_from(
    [
        "v",
        "suite",
        "case",
        "metric",
        "launch",
        "metrics",
        "params",
        "values",
        "iterations",
        "clock",
        "build",
    ]
)
KINDS = st.sampled_from(
    ["start", "case", "samples", "check", "progress", "warning", "done", "error", "?"]
)


def spelled_json(kind: str, fields: dict[str, object]) -> bytes:
    return json.dumps({"type": kind, **fields}, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


@given(
    st.lists(
        st.binary(max_size=40)
        | st.builds(spelled_json, KINDS, st.dictionaries(FIELDS, VALUES, max_size=8)),
        max_size=5,
    ),
    st.booleans(),
)
def test_any_input_ends_with_a_terminal_or_a_fault_at_a_line(
    lines: list[bytes], started: bool
) -> None:
    before = [START, CASE] if started else []
    text = b"\n".join([*before, *lines])
    events, fault = read([text])
    assert fault is None or 1 <= fault.line <= text.count(b"\n") + 2
    assert fault is not None or isinstance(events[-1], DoneEvent | ErrorEvent)


SAMPLES = {
    "type": "samples",
    "case": 0,
    "metric": "time",
    "launch": 0,
    "round": 0,
    "position": 0,
    "phase": "measure",
    "iterations": 1,
    "values": [1],
    "t_ns": 1,
}


@pytest.mark.parametrize(
    ("change", "code", "detail"),
    [
        (
            {"values": [1, 1.5]},
            "bad_field",
            "values[1]: expected an integer, found a number with a fraction",
        ),
        ({"values": []}, "bad_field", "values: expected a list of length >= 1"),
        ({"iterations": 0}, "bad_field", "iterations: expected an integer >= 1"),
        ({"t_ns": 2**63}, "bad_field", "t_ns: expected an integer <= 2^63 - 1"),
        (
            {"phase": "hot"},
            "bad_field",
            "phase: expected warmup or measure, found 'hot'",
        ),
        ({"metric": ""}, "bad_field", "metric: expected text of length >= 1"),
        ({"metric": "a\0"}, "bad_field", "metric: expected text without U+0000"),
        ({"work": {"items": -1}}, "bad_field", "work.items: expected an integer >= 0"),
        (
            {"work": {"": 1}},
            "bad_field",
            "work: a name in it: expected text of length >= 1",
        ),
        ({"work": None}, "bad_field", "work: expected an object, found null"),
        (
            {"type": "sample"},
            "unknown_type",
            "type: 'sample' is not one of start, case, samples",
        ),
        ({"type": 1}, "bad_field", "type: expected text, found a number"),
    ],
)
def test_a_refused_event_names_its_field_and_what_was_expected(
    change: dict[str, object], code: str, detail: str
) -> None:
    with pytest.raises(EventError) as caught:
        parse_event({**SAMPLES, **change})
    assert caught.value.code == code
    assert caught.value.detail.startswith(detail)


def test_a_param_that_is_refused_is_named() -> None:
    case = json.loads(CASE)
    with pytest.raises(EventError, match=r"params.m: expected an integer or text"):
        parse_event({**case, "params": {"n": 1, "m": 1.5}})


def test_absent_fields_stay_absent_when_an_event_is_forwarded() -> None:
    case = json.loads(CASE)
    assert parse_event(case).to_json_object() == case
    assert "work" not in parse_event(SAMPLES).to_json_object()
    named = {**case, "unavailable": "needs AVX-512"}
    event = parse_event(named)
    assert isinstance(event, CaseEvent)
    assert not event.is_available
    assert event.to_json_object() == named
