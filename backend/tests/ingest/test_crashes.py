"""`kill −9` of the server in the middle of uploads: acknowledged items are stored once (I8)."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.store.session import Database, read_scope
from paceline_server.store.tables.samples import Item, ReportedLine, SampleChunk
from paceline_server.testing.scripted_agent import (
    LeasedJob,
    ScriptedAgent,
    announce,
    reported_item,
    samples_item,
)
from paceline_server.testing.server_process import ServerProcess, server_process
from sqlalchemy import select

pytestmark = pytest.mark.shapes("embedded", "scaled")

KILLS = 50
LONGEST_LIFE_S = 0.12
"""A life is cut somewhere between its first acknowledged request and this much later."""
CHUNKS = 8
REPORTED_EVERY = 4
Make = Callable[..., Any]


def item_of(seq: int) -> dict[str, Any]:
    """Every fourth item is a line of a device's log, the others are samples."""
    if seq % REPORTED_EVERY == 0:
        return reported_item(seq, text=f"line {seq}")
    return samples_item(seq, [float(seq)] * 50)


class Uploader:
    """Sends numbered chunks, each again until it is acknowledged, as an agent's spool does."""

    def __init__(self, job: LeasedJob) -> None:
        self.job = job
        self.acknowledged = 0
        """Every seq below this was acknowledged."""
        self.sent = 0
        self.refused: list[str] = []
        self.heard = threading.Event()
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.is_set():
            first = self.acknowledged
            items = [item_of(first + n) for n in range(CHUNKS)]
            self.sent = max(self.sent, first + CHUNKS)
            try:
                answer = self.job.send(*items)
            except httpx.TransportError:
                self.stop.wait(0.01)  # the server is dead; try again
                continue
            if answer.status_code != 200:
                self.refused.append(answer.text)
                return
            self.acknowledged += CHUNKS
            self.heard.set()


def leased_job(
    server: ServerProcess,
    client: httpx.Client,
    agent_headers: dict[str, str],
    ci: dict[str, str],
) -> LeasedJob:
    server.start()
    assert (
        client.post("/api/v1/runs", json={"suite": "demo"}, headers=ci).status_code
        == 201
    )
    job = ScriptedAgent(client, agent_headers).lease()
    assert job.report("measuring").status_code == 204
    return job


def test_no_acknowledged_chunk_is_lost_or_doubled_by_kills_at_any_point(
    shape: Any,
    database: Database,
    enrolled: Make,
    token: Make,
    tmp_path: Path,
) -> None:
    lab, ci = enrolled("lab-1"), token("ingest", "read")
    rng = random.Random(20261120)  # noqa: S311 - reproducible
    announce(lab.agent_id)
    settings = {
        "PACELINE_DATABASE_URL": shape.database_url,
        "PACELINE_REDIS_URL": shape.redis_url or "",
        "PACELINE_DATA_DIR": str(tmp_path / "data"),
        "PACELINE_LEASE_S": "3600",
        "PACELINE_HEARTBEAT_S": "3600",
    }
    with (
        server_process(settings) as server,
        httpx.Client(base_url=server.url, timeout=WITHIN_S) as client,
    ):
        job = leased_job(server, client, lab.headers, ci)
        uploader = Uploader(job)
        thread = threading.Thread(target=uploader.run)
        thread.start()
        for _ in range(KILLS):
            uploader.heard.clear()
            assert uploader.heard.wait(WITHIN_S), uploader.refused
            threading.Event().wait(rng.uniform(0, LONGEST_LIFE_S))
            server.kill()
            server.start()
        uploader.stop.set()
        thread.join(WITHIN_S)
        assert not uploader.refused
        acknowledged = uploader.acknowledged
        with read_scope() as session:
            here = list(session.scalars(select(Item.seq).order_by(Item.seq)))
        assert here[:acknowledged] == list(range(acknowledged))
        assert len(here) == len(set(here)) <= uploader.sent
        uploader.stop.clear()
        assert job.send(*map(item_of, here[acknowledged:])).json() == {
            "stored": 0,
            "duplicates": len(here) - acknowledged,
        }
        assert job.finish(len(here) - 1).status_code == 204
    with read_scope() as session:
        chunks = list(
            session.execute(
                select(SampleChunk.seq, SampleChunk.values).order_by(SampleChunk.seq)
            )
        )
        lines = list(
            session.execute(
                select(ReportedLine.seq, ReportedLine.text).order_by(ReportedLine.seq)
            )
        )
    assert sorted([seq for seq, _ in (*chunks, *lines)]) == here
    assert lines == [(seq, f"line {seq}") for seq in here if seq % REPORTED_EVERY == 0]
    assert all(values.tolist() == [float(seq)] * 50 for seq, values in chunks)
    assert acknowledged >= KILLS * CHUNKS
