"""Reading streams on disk, for every golden vector of `native/protocol`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from paceline_contract.stream import MAX_LINE_BYTES
from paceline_server.ingest.stream import (
    case_samples,
    read_stream,
)

VECTORS = Path(__file__).parents[3] / "native" / "protocol" / "vectors"
NAMES = sorted(
    path.name.removesuffix(".expect.json") for path in VECTORS.glob("*.expect.json")
)
START = (
    b'{"type":"start","v":1,"suite":"s","workload":"w","launch":%d,"seed":1,"build":{},'
    b'"clock":{"name":"m","resolution_ns":1,"overhead_ns":0}}\n'
)
CASE = (
    b'{"type":"case","case":0,"benchmark":"b","arm":"a","params":{"n":1},'
    b'"metrics":[{"name":"time","unit":"ns","direction":"lower"},'
    b'{"name":"rate","unit":"op/s","direction":"higher"}]}\n'
)


def content(name: str) -> bytes:
    """The bytes of a vector; a `.generate.json` directive is expanded as the protocol's README says."""
    directive = VECTORS / f"{name}.generate.json"
    if not directive.exists():
        return (VECTORS / f"{name}.jsonl").read_bytes()
    plan = json.loads(directive.read_text())
    head, tail = '{"type":"warning","code":"padding","text":"', '"}'
    padded = head + "x" * (plan["line_bytes"] - len(head) - len(tail)) + tail
    lines = [*plan["prefix_lines"], padded, *plan.get("suffix_lines", [])]
    return "".join(f"{line}\n" for line in lines).encode()


def test_there_are_vectors() -> None:
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_the_reader_accepts_and_refuses_the_vectors_as_the_protocol_says(
    name: str,
) -> None:
    stream = read_stream(io.BytesIO(content(name)))
    assert {
        "ok": stream.fault is None,
        "fault": stream.fault
        and {"code": stream.fault.code, "line": stream.fault.line},
        "cases": len(stream.cases),
        "samples": len(stream.samples),
        "warnings": len(stream.warnings),
        "checks": len(stream.checks),
        "terminal": stream.terminal and stream.terminal.to_json_object()["type"],
    } == json.loads((VECTORS / f"{name}.expect.json").read_text())


def test_times_are_divided_by_iterations_and_rates_are_not() -> None:
    body = START % 3 + CASE
    for metric, values in (("time", "[800,1600]"), ("rate", "[5]")):
        body += (
            f'{{"type":"samples","case":0,"metric":"{metric}","launch":3,"round":7,"position":1,'
            f'"phase":"measure","iterations":8,"values":{values},"t_ns":9}}\n'
        ).encode()
    stream = read_stream(io.BytesIO(body + b'{"type":"done"}\n'))
    time, rate = case_samples([stream])
    assert (time.metric, time.value.tolist()) == ("time", [100.0, 200.0])
    assert (rate.metric, rate.value.tolist()) == ("rate", [5.0])
    assert time.launch.tolist() == [3, 3]
    assert time.round.tolist() == [7, 7]
    assert time.position.tolist() == [1, 1]
    assert not np.any(time.warmup)


def test_launches_are_joined_per_case_in_order_of_launch() -> None:
    streams = []
    for launch in (1, 0):
        sample = (
            f'{{"type":"samples","case":0,"metric":"time","launch":{launch},"round":0,"position":0,'
            f'"phase":"warmup","iterations":1,"values":[{launch + 10}],"t_ns":1}}\n'
        ).encode()
        streams.append(
            read_stream(
                io.BytesIO(START % launch + CASE + sample + b'{"type":"done"}\n')
            )
        )
    (joined,) = case_samples(streams)
    assert joined.launch.tolist() == [0, 1]
    assert joined.value.tolist() == [10.0, 11.0]
    assert joined.warmup.all()


def test_a_flood_without_newline_is_refused_after_one_line_of_memory() -> None:
    class Flood(io.RawIOBase):
        offered = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any writable buffer
            self.offered += len(buffer)
            buffer[:] = b"x" * len(buffer)
            return len(buffer)

    flood = Flood()
    stream = read_stream(io.BufferedReader(cast(io.RawIOBase, flood)))
    assert stream.fault is not None
    assert stream.fault.code == "line_too_long"
    assert flood.offered < 2 * MAX_LINE_BYTES
