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
from jsonschema import Draft202012Validator
from paceline.events import Case, Check, Done, Event, Samples, Start, Warn, wire
from paceline.protocol import LINE_LIMIT_BYTES, BrokenStreamError, StreamReader

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


def read(chunks: Iterable[bytes]) -> tuple[list[Event], BrokenStreamError | None]:
    reader = StreamReader()
    events: list[Event] = []
    try:
        for chunk in chunks:
            events.extend(iter_into(events, reader, chunk))
        for event in reader.close():
            events.append(event)
    except BrokenStreamError as fault:
        return events, fault
    return events, None


def iter_into(events: list[Event], reader: StreamReader, chunk: bytes) -> list[Event]:
    """Appends one by one, so that events before a fault are kept; nothing is left to extend with."""
    for event in reader.feed(chunk):
        events.append(event)
    return []


def verdict(events: list[Event], fault: BrokenStreamError | None) -> dict[str, Any]:
    last = wire(events[-1])["type"] if events else None
    return {
        "ok": fault is None,
        "fault": fault and {"code": fault.code, "line": fault.line},
        "cases": sum(isinstance(event, Case) for event in events),
        "samples": sum(isinstance(event, Samples) for event in events),
        "warnings": sum(isinstance(event, Warn) for event in events),
        "checks": sum(isinstance(event, Check) for event in events),
        "terminal": last if last in ("done", "error") else None,
    }


def expected(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((VECTORS / f"{name}.expect.json").read_text())
    return value


def test_the_vectors_are_where_the_tests_look() -> None:
    assert {"ok", "giant_line", "two_terminals", "surrogate", "interleaved"} <= set(
        NAMES
    )


@pytest.mark.parametrize("name", NAMES)
def test_vector_read_at_once(name: str) -> None:
    assert verdict(*read([vector_bytes(name)])) == expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_vector_read_in_torn_pieces_means_the_same(name: str) -> None:
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
    with pytest.raises(BrokenStreamError) as caught:
        list(endless)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.code == "line_too_long"
    assert peak < 4 * LINE_LIMIT_BYTES


def test_totals_are_divided_by_iterations_and_rates_are_not() -> None:
    sample = Samples(0, "time", 0, 0, 0, "measure", 8, [800, 801], 5)
    assert sample.per_iteration("ns") == [100.0, 100.125]
    assert sample.per_iteration("count") == [100.0, 100.125]
    assert sample.per_iteration("op/s") == [800.0, 801.0]


def test_a_forwarded_event_carries_its_type_and_known_fields_only() -> None:
    events, _ = read([vector_bytes("unknown_field")])
    start = next(event for event in events if isinstance(event, Start))
    assert wire(start)["type"] == "start"
    assert set(wire(start)) == {
        "type",
        "v",
        "suite",
        "workload",
        "launch",
        "seed",
        "build",
        "clock",
    }
    assert wire(Done()) == {"type": "done"}


def test_a_fault_says_what_was_expected() -> None:
    _, fault = read([vector_bytes("bad_unit")])
    assert fault is not None
    assert "bytes/s" in fault.text
    assert "metrics[0].unit" in fault.text


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
