"""Every sample leaves in three formats, exactly as stored, in bounded memory."""

from __future__ import annotations

import csv
import io
import json
import os
import socket
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import duckdb
import httpx2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from paceline_contract.testing.waiting import WITHIN_S, wait_until
from paceline_server.ingest import service as ingest
from paceline_server.publish.exports import encoders, parquet
from paceline_server.publish.exports.samples import SAMPLES, sample_blocks
from paceline_server.publish.exports.shapes import Block, Column, TableShape
from paceline_server.store import outbox
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.samples import SampleChunk
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.running_server import RunningServer
from paceline_server.testing.scripted_agent import LeasedJob
from paceline_server.testing.two_projects import open_world

pytestmark = pytest.mark.shapes("embedded", "scaled")

API = "/api/v1"
IS_LONG = os.environ.get("PACELINE_TEST_LENGTH") == "long"
Row = dict[str, Any]


@pytest.fixture
def lab(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Lab:
    return open_lab(client, enrolled, token)


def get_samples(lab: Lab, run_id: str, **query: Any) -> Any:
    answer = lab.client.get(
        f"{API}/runs/{run_id}/samples", params=query, headers=dict(lab.headers)
    )
    assert answer.status_code == 200, answer.text
    return answer


def ndjson_rows(answer: Any) -> list[Row]:
    return [json.loads(line) for line in answer.text.splitlines()]


def with_counters(cases: list[Any]) -> list[Any]:
    """The first case counts allocations."""
    first, *others = cases
    first.work["allocations"] = np.arange(len(first.value)) * 2**40
    return [first, *others]


def measured(lab: Lab) -> LeasedJob:
    lab.request()
    return lab.deliver({1000: 0.126, 2000: -0.6}, alter=with_counters)


def test_samples_are_the_same_in_every_format_and_in_the_store(lab: Lab) -> None:
    leased = measured(lab)
    rows = ndjson_rows(get_samples(lab, leased.run_id))
    with read_scope() as session:
        stored = ingest.read_samples(session, leased.job_id)
    assert len(rows) == sum(len(case.value) for case in stored) == 500
    for case in stored:
        own = [
            row
            for row in rows
            if (row["benchmark"], row["arm"], row["metric"], row["params"])
            == (case.benchmark, case.arm, case.metric, case.params)
        ]
        assert [row["value"] for row in own] == case.value.tolist()
        assert [row["launch"] for row in own] == case.launch.tolist()
        assert [row["round"] for row in own] == case.round.tolist()
        assert [row["position"] for row in own] == case.position.tolist()
        assert [row["phase"] == "warmup" for row in own] == case.warmup.tolist()
        counts = [row["work"] and row["work"]["allocations"] for row in own]
        assert counts == list(case.work.get("allocations", [None] * len(own)))
    assert {row["counted"] for row in rows} == {True}

    file = io.BytesIO(get_samples(lab, leased.run_id, format="parquet").content)
    table = pq.read_table(file)
    for row, read in zip(rows, table.to_pylist(), strict=True):
        read["params"] = json.loads(read["params"])
        read["work"] = None if read["work"] is None else dict(read["work"])
        assert read == row
    assert table.schema.field("t_ns").metadata == {b"unit": b"ns"}
    assert table.schema.field("arm").type == pa.dictionary(pa.int32(), pa.string())

    text = get_samples(lab, leased.run_id, format="csv").text
    cells = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [float(row["value"]) for row in cells] == [row["value"] for row in rows]
    assert list(cells[0]) == list(rows[0])
    assert json.loads(cells[0]["params"]) == rows[0]["params"]


@pytest.mark.shapes("embedded")
def test_duckdb_reads_each_format_with_the_same_types(lab: Lab, tmp_path: Any) -> None:
    leased = measured(lab)
    for form in ("ndjson", "csv", "parquet"):
        answer = get_samples(lab, leased.run_id, format=form)
        (tmp_path / f"samples.{form}").write_bytes(answer.content)
    with duckdb.connect() as database:
        readers: dict[str, Callable[[str], Any]] = {
            "ndjson": lambda path: database.read_json(path, format="newline_delimited"),
            "csv": database.read_csv,
            "parquet": database.read_parquet,
        }
        totals = [
            read(f"{tmp_path}/samples.{form}")
            .filter("phase = 'measure'")
            .aggregate("arm, count(*), max(t_ns), sum(launch), max(value)")
            .order("arm")
            .fetchall()
            for form, read in readers.items()
        ]
    assert len(totals[0]) == 2
    assert totals[0] == totals[1] == totals[2]


def test_parts_by_cursor_are_the_whole(lab: Lab) -> None:
    leased = measured(lab)
    whole = get_samples(lab, leased.run_id).text
    address, parts = f"{API}/runs/{leased.run_id}/samples?limit=40", []
    while address:
        answer = lab.client.get(address, headers=dict(lab.headers))
        again = lab.client.get(address, headers=dict(lab.headers))
        assert again.content == answer.content
        parts.append(answer.text)
        address = answer.links.get("next", {}).get("url")
    assert len(parts) > 5
    assert "".join(parts) == whole


@pytest.mark.shapes("embedded")
def test_a_cursor_of_another_list_and_an_unknown_run_are_refused(lab: Lab) -> None:
    leased = measured(lab)
    headers = dict(lab.headers)
    for path, status in (
        ("run_no/samples", 404),
        (f"{leased.run_id}/samples?cursor=WyIiLDFd", 400),
        (f"{leased.run_id}/samples?format=xml", 422),
    ):
        answer = lab.client.get(f"{API}/runs/{path}", headers=headers)
        assert answer.status_code == status, answer.text


TABLES = ("alerts", "comparisons", "conditions", "findings", "points")


def test_tables_hold_every_row_in_every_format_whole_and_in_parts(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    world = open_world(client, enrolled, token)
    world.lab.request()
    world.lab.deliver({1000: 0.0}, conditions=[{"load": 0.5}, {"load": 0.7}])
    outbox.drain()
    headers = token("read")

    def get(table: str, **query: Any) -> Any:
        address = f"{API}/tables/{table}"
        return client.get(address, params=query, headers=headers)

    for table in TABLES:
        rows = ndjson_rows(get(table))
        assert rows, table
        read = pq.read_table(io.BytesIO(get(table, format="parquet").content))
        stamps = {
            field.name for field in read.schema if pa.types.is_timestamp(field.type)
        }
        for row, typed in zip(rows, read.to_pylist(), strict=True):
            for name, value in row.items():
                if name in stamps and value is not None:
                    assert typed[name].isoformat() == value
                elif isinstance(value, (dict, list)):
                    assert json.loads(typed[name]) == value
                else:
                    assert typed[name] == value, (table, name)
        cells = list(csv.DictReader(io.StringIO(get(table, format="csv").text)))
        assert [list(row) for row in cells] == [list(row) for row in rows]

        parts, query = [], {"limit": "1"}
        while query:
            answer = get(table, **query)
            assert len(answer.text.splitlines()) == 1
            parts.append(answer.text)
            following = answer.links.get("next", {}).get("url", "")
            query = dict(parse_qsl(urlsplit(following).query))
        assert "".join(parts) == get(table).text
        run_id = world.values["run_id"]
        of_run = ndjson_rows(get(table, run=run_id))
        assert of_run == [row for row in rows if row["run_id"] == run_id]
        assert not get(table, to="2020-01-01T00:00:00Z").text

    series_id = world.values["series_id"]
    of_series = ndjson_rows(get("points", series=series_id))
    points = client.get(f"{API}/series/{series_id}/points", headers=headers).json()
    assert [row["value"] for row in of_series] == [
        point["value"] for point in points["points"]
    ]
    assert get("points", series="ser_no").status_code == 404
    assert get("alerts", run="run_no").status_code == 404
    assert get("alerts", series=series_id).status_code == 400


FORMULAS = TableShape(
    "formulas",
    (
        Column("text", "text"),
        Column("label", "label"),
        Column("number", "real"),
        Column("counts", "counts"),
    ),
)


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=A1,"b"']
)
def test_csv_neutralises_texts_that_begin_like_formulas(text: str) -> None:
    block = Block(
        1, {"label": text}, {"text": [text], "number": [-1.5], "counts": [{}]}
    )
    table = b"".join(encoders.csv(FORMULAS, [block])).decode()
    _, row = csv.reader(io.StringIO(table, newline=""))
    assert row == [f"'{text}", f"'{text}", "-1.5", "{}"]
    line = b"".join(encoders.ndjson(FORMULAS, [block]))
    assert json.loads(line)["text"] == json.loads(line)["label"] == text


def test_what_json_cannot_say_is_null_and_templates_keep_percents() -> None:
    block = Block(
        2,
        {"label": '100 %s "é"', "counts": None},
        {"text": [None, "%d"], "number": np.array([np.nan, 0.1])},
    )
    lines = b"".join(encoders.ndjson(FORMULAS, [block])).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"text": None, "label": '100 %s "é"', "number": None, "counts": None},
        {"text": "%d", "label": '100 %s "é"', "number": 0.1, "counts": None},
    ]
    rows = b"".join(encoders.csv(FORMULAS, [block])).decode().splitlines()
    assert rows[2] == '%d,"100 %s ""é""",0.1,'


def add_chunks(job_id: str, first: int, count: int) -> None:
    """Chunks number `first` to `count`, of 1,000 samples each, as an upload would store them."""
    numbers = np.arange(1_000)
    with session_scope() as session:
        for start in range(first, count, 500):
            session.add_all(
                SampleChunk(
                    job_id=job_id,
                    attempt=1,
                    seq=1_000_000 + seq,
                    launch=seq % 5,
                    side=None,
                    benchmark="sort",
                    arm=f"arm-{seq % 3}",
                    params={"batch": seq % 7},
                    metric="time",
                    unit="ns",
                    direction="lower",
                    phase="measure",
                    n=1_000,
                    values=np.random.default_rng(seq).normal(1e6, 1e4, 1_000),
                    rounds=numbers.astype("<i4").tobytes(),
                    positions=(numbers % 3).astype("<i4").tobytes(),
                    iterations=np.ones(1_000, "<i8").tobytes(),
                    t_ns=(numbers * 1_000_003 + seq).astype("<i8").tobytes(),
                    counters=None,
                    work=None,
                )
                for seq in range(start, min(start + 500, count))
            )
            session.flush()
            session.expunge_all()


def peak_bytes(chunks: Iterator[bytes]) -> tuple[int, int]:
    """(largest memory of Python and Arrow while the chunks are read, their bytes)."""
    before, pool = (
        pa.default_memory_pool(),
        pa.proxy_memory_pool(pa.default_memory_pool()),
    )
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        size = sum(map(len, chunks))
        return tracemalloc.get_traced_memory()[1] + pool.max_memory(), size
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


@pytest.mark.shapes("embedded")
def test_memory_of_parquet_does_not_grow_with_the_run(lab: Lab) -> None:
    """10⁷ samples under 300 MB in the long run; here, three times the samples in the same memory."""
    leased = measured(lab)
    add_chunks(leased.job_id, 0, 150)
    small, _ = peak_bytes(parquet.parquet(SAMPLES, sample_blocks(leased.run_id)))
    count = 10_000 if IS_LONG else 450
    add_chunks(leased.job_id, 150, count)
    large, size = peak_bytes(parquet.parquet(SAMPLES, sample_blocks(leased.run_id)))
    assert size > count * 1_000
    assert large < (300e6 if IS_LONG else 1.3 * small)


@pytest.mark.shapes("embedded")
def test_between_two_pieces_an_export_holds_no_connection_to_the_database(
    lab: Lab, database: Database
) -> None:
    leased = measured(lab)
    blocks = sample_blocks(leased.run_id)
    rows = next(blocks).n
    assert database.engine.pool.checkedout() == 0  # type: ignore[attr-defined] # a QueuePool
    assert rows + sum(block.n for block in blocks) == 500


STALLED = 45
"""More than the threads that serve requests."""


@pytest.mark.shapes("embedded")
def test_clients_that_stop_reading_keep_nobody_waiting(
    server: RunningServer, lab: Lab
) -> None:
    leased = measured(lab)
    add_chunks(leased.job_id, 0, 60)
    address = urlsplit(server.url)
    path = f"{API}/runs/{leased.run_id}"
    with ExitStack() as clients:
        for _ in range(STALLED):
            stalled = clients.enter_context(socket.socket())
            stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stalled.connect((address.hostname, address.port))
            stalled.sendall(
                f"GET {path}/samples HTTP/1.1\r\nHost: {address.netloc}\r\n"
                f"Authorization: {lab.headers['Authorization']}\r\n\r\n".encode()
            )
            assert stalled.recv(100).startswith(b"HTTP/1.1 200")
        answer = httpx2.get(
            f"{server.url}{path}", headers=lab.headers, timeout=WITHIN_S
        )
        assert answer.json()["id"] == leased.run_id
        assert len(server.server.server_state.connections) >= STALLED
    wait_until(
        "abandoned exports to end",
        lambda: not server.server.server_state.connections,
    )
