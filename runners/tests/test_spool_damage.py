"""Tests of a spool with a damaged file: intact items are sent once, and damage is reported."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paceline.api import ApiClient
from paceline.delivery import DeliveryOutcome, deliver
from paceline.spool import Attempt, AttemptSpool, Spool
from paceline.testing.fake_server import FakeJob, FakeServer
from paceline_contract.attempts import FinishReport
from paceline_contract.items import UNNUMBERED, LogItem

ATTEMPT = Attempt("job-1", 1, "token-1")
ITEMS = 5

Damage = tuple[int, int]


def log(*lines: str) -> LogItem:
    return LogItem(seq=UNNUMBERED, stream="agent", lines=list(lines))


def filled_spool(root: Path, acknowledged: int = 0) -> tuple[Path, list[bytes]]:
    """A spool's directory with ITEMS lines, the first `acknowledged` of them acknowledged; and its items."""
    spool = Spool(root).create(ATTEMPT)
    spool.append([log(f"line {n}", "x" * n) for n in range(ITEMS)])
    batch = spool.next_batch()
    assert batch is not None
    if acknowledged:
        first = spool.next_batch(max_items=acknowledged)
        assert first is not None
        spool.acknowledge(first)
    return spool.directory, batch.items


def send_all(spool: AttemptSpool) -> list[bytes]:
    sent: list[bytes] = []
    while batch := spool.next_batch(max_items=2):
        sent += batch.items
        spool.acknowledge(batch)
    assert spool.is_drained
    return sent


@pytest.mark.parametrize(
    "value", [b"\n", b"\0", None], ids=["newline", "zero", "one bit"]
)
@pytest.mark.parametrize("acknowledged", [0, 3, ITEMS])
def test_one_damaged_byte_costs_at_most_its_own_item(
    tmp_path: Path, value: bytes | None, acknowledged: int
) -> None:
    """The server ends with every other item, unchanged, however many it had acknowledged before."""
    directory, items = filled_spool(tmp_path, acknowledged)
    path = directory / "items.ndjson"
    whole, acknowledged_file = path.read_bytes(), (directory / "acknowledged")
    at = acknowledged_file.read_text() if acknowledged else None
    for offset in range(len(whole)):
        changed = bytes([whole[offset] ^ 1]) if value is None else value
        path.write_bytes(whole[:offset] + changed + whole[offset + 1 :])
        acknowledged_file.unlink(missing_ok=True)
        if at is not None:
            acknowledged_file.write_text(at)
        spool = AttemptSpool(directory, ATTEMPT)
        sent = send_all(spool)
        assert len(set(sent)) == len(sent)
        missing = [item for item in items[acknowledged:] if item not in sent]
        assert not set(sent) - set(items[acknowledged:])
        hit = whole[:offset].count(b"\n")
        assert missing in ([], [items[hit]])
        assert missing == [] or changed != whole[offset : offset + 1]
        spool.append([log()])
        (new,) = send_all(spool)
        assert json.loads(new)["seq"] >= ITEMS


def test_lost_newline_is_restored(tmp_path: Path) -> None:
    directory, items = filled_spool(tmp_path)
    path = directory / "items.ndjson"
    whole = path.read_bytes()
    for offset in (offset for offset, byte in enumerate(whole) if byte == ord("\n")):
        path.write_bytes(whole[:offset] + b"#" + whole[offset + 1 :])
        (directory / "acknowledged").unlink(missing_ok=True)
        assert send_all(AttemptSpool(directory, ATTEMPT)) == items
        assert path.read_bytes() == whole


def damage(directory: Path, number: int) -> bytes:
    """Changes one letter inside line `number`; returns the line as it now is."""
    path = directory / "items.ndjson"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number] = lines[number].replace(b"line", b"lime")
    path.write_bytes(b"".join(lines))
    return lines[number]


def test_damaged_line_is_kept_once_with_the_reason(tmp_path: Path) -> None:
    directory, _ = filled_spool(tmp_path)
    line = damage(directory, 2)
    for _ in range(2):
        assert len(AttemptSpool(directory, ATTEMPT).damaged) == 1
    (kept,) = (tmp_path / "aside").iterdir()
    assert (kept / "items.damaged").read_bytes() == line
    assert "checksum does not match" in (kept / "reason.txt").read_text()
    assert [item.directory for item in Spool(tmp_path).load_undelivered()] == [
        directory
    ]


def test_number_of_a_damaged_line_is_not_reused(tmp_path: Path) -> None:
    directory, _ = filled_spool(tmp_path)
    damage(directory, ITEMS - 1)
    spool = AttemptSpool(directory, ATTEMPT)
    spool.append([log("0")])
    assert [json.loads(item)["seq"] for item in send_all(spool)] == [0, 1, 2, 3, 5]


@pytest.fixture
def job(server: FakeServer) -> FakeJob:
    job = server.add_job("job-1", {}, "serial")
    job.attempt = 1
    return job


@pytest.fixture
def api(server: FakeServer) -> Iterator[ApiClient]:
    api = ApiClient(server.url, server.credential)
    yield api
    api.close()


def finished_spool(root: Path, acknowledged: int, job: FakeJob) -> Path:
    """A spool with its finish report; the server has the acknowledged items."""
    directory, items = filled_spool(root, acknowledged)
    AttemptSpool(directory, ATTEMPT).record_finish(FinishReport("done", -1))
    for item in map(json.loads, items[:acknowledged]):
        job.items[1, item["seq"]] = item
    return directory


def deliver_spool(api: ApiClient, root: Path) -> DeliveryOutcome:
    (spool,) = Spool(root).load_undelivered()
    return deliver(api, spool, spool.finish(), threading.Event(), 0.0)


@pytest.mark.parametrize("number", range(ITEMS))
def test_damage_to_acknowledged_items_has_no_effect(
    api: ApiClient, job: FakeJob, tmp_path: Path, number: int
) -> None:
    damage(finished_spool(tmp_path, number + 1, job), number)
    assert deliver_spool(api, tmp_path) is DeliveryOutcome.DELIVERED
    assert job.finish is not None
    assert (job.finish["outcome"], job.finish["last_seq"]) == ("done", ITEMS - 1)
    assert len(job.items) == ITEMS
    assert job.duplicates == 0


@pytest.mark.parametrize("number", range(ITEMS))
def test_damaged_item_that_the_server_has_is_no_loss(
    api: ApiClient, job: FakeJob, tmp_path: Path, number: int
) -> None:
    """The server's acknowledgement was lost; it accepts the finish report because it has the item."""
    directory = finished_spool(tmp_path, number + 1, job)
    damage(directory, number)
    (directory / "acknowledged").unlink()
    assert deliver_spool(api, tmp_path) is DeliveryOutcome.DELIVERED
    assert len(job.items) == ITEMS


@pytest.mark.parametrize("number", range(ITEMS))
def test_item_lost_before_it_was_sent_fails_the_attempt(
    api: ApiClient, job: FakeJob, tmp_path: Path, number: int
) -> None:
    damage(finished_spool(tmp_path, 0, job), number)
    assert deliver_spool(api, tmp_path) is DeliveryOutcome.REFUSED
    assert job.finish is not None
    assert job.finish["outcome"] == "failed"
    assert (
        f"send {number}" in job.finish["detail"]
        or f"Items {number} have" in job.finish["detail"]
    )
    assert "1 of its lines were damaged" in job.finish["detail"]
    assert {seq for _, seq in job.items} == set(range(ITEMS)) - {number}


def test_lost_last_lines_fail_the_attempt(
    api: ApiClient, job: FakeJob, tmp_path: Path
) -> None:
    path = finished_spool(tmp_path, 0, job) / "items.ndjson"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    assert deliver_spool(api, tmp_path) is DeliveryOutcome.REFUSED
    assert job.finish is not None
    assert job.finish["outcome"] == "failed"


SCATTERED = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=8)


@given(damages=SCATTERED, acknowledged=st.integers(0, ITEMS), cut=st.integers(0, 60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_only_intact_items_are_sent_once_and_in_order(
    tmp_path: Path, damages: list[Damage], acknowledged: int, cut: int
) -> None:
    shutil.rmtree(tmp_path)
    directory, items = filled_spool(tmp_path, acknowledged)
    path = directory / "items.ndjson"
    data = bytearray(path.read_bytes())
    for offset, value in damages:
        data[offset % len(data)] = value
    path.write_bytes(data[: len(data) - cut])
    first = AttemptSpool(directory, ATTEMPT)
    again = AttemptSpool(directory, ATTEMPT)
    assert (again.damaged, again.last_seq) == (first.damaged, first.last_seq)
    sent = send_all(again)
    numbers: list[Any] = [json.loads(item)["seq"] for item in sent]
    assert numbers == sorted(set(numbers))
    assert all(
        items[number] == item for number, item in zip(numbers, sent, strict=True)
    )
