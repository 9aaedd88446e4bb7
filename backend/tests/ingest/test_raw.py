"""Texts that a device's commands printed: stored with the values, returned on request, and bounded."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import pytest
from fastapi.testclient import TestClient
from paceline_server.ingest import uploads
from paceline_server.testing.scripted_agent import PREFIX, LeasedJob, conditions_item

THERMAL: dict[str, Any] = {
    "command": "dumpsys thermalservice",
    "status": 0,
    "at_ms": 12,
    "took_ms": 31.5,
    "text": "Thermal Status: 0\n",
}


def with_raw(seq: int, *raw: dict[str, Any]) -> dict[str, Any]:
    return {**conditions_item(seq, thermal_status=0), "raw": list(raw)}


def test_raw_texts_are_returned_only_on_request(
    client: TestClient, leased: LeasedJob, ci: dict[str, str]
) -> None:
    killed = {**THERMAL, "status": None, "text": ""}
    assert (
        leased.send(
            with_raw(0, THERMAL, killed), conditions_item(1, load=1)
        ).status_code
        == 200
    )
    path = f"{PREFIX}/jobs/{leased.job_id}/conditions"
    plain = client.get(path, headers=ci).json()["items"]
    assert [conditions["raw"] for conditions in plain] == [None, None]
    shown = client.get(f"{path}?expand=raw", headers=ci).json()["items"]
    assert [conditions["raw"] for conditions in shown] == [[THERMAL, killed], None]


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ([{**THERMAL, "text": "x" * 262_145}], "raw[0].text"),
        ([{**THERMAL, "text": "\0"}], "raw[0]"),
        ([{**THERMAL, "command": ""}], "raw[0].command"),
        ([THERMAL] * 65, "raw"),
        ([{**THERMAL, "text": "x" * 262_000}] * 5, "item"),
        ([{**THERMAL, "shell": "sh"}], "raw[0]"),
    ],
)
def test_excessive_raw_texts_are_refused_by_field(
    leased: LeasedJob, raw: list[dict[str, Any]], field: str
) -> None:
    answer = leased.send(with_raw(0, *raw))
    assert answer.status_code == 422
    assert f"items[0].{field}" in answer.json()["fields"]


def test_conditions_without_raw_texts_keep_their_digest(
    leased: LeasedJob,
) -> None:
    """A spool written by an agent of before is delivered once, whenever."""
    item = conditions_item(0, load=0.5)
    (checked,) = uploads.decode(msgspec.json.encode({"items": [item]}))
    before = msgspec.json.Encoder(order="sorted").encode(item)
    assert checked.digest == hashlib.sha256(before).digest()
    leased.send(item)
    assert leased.send({**item, "raw": []}).json() == {"stored": 0, "duplicates": 1}
