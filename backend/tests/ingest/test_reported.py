"""Lines that a device's log reported: stored once, read in pages, bounded, and no samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.ingest import service as ingest
from paceline_server.store.session import read_scope
from paceline_server.testing.scripted_agent import (
    PREFIX,
    LeasedJob,
    log_item,
    reported_item,
)

Make = Callable[..., Any]
NOTE: dict[str, Any] = {
    "launch": None,
    "pattern": None,
    "at": None,
    "fields": {},
    "text": "",
    "note": "from here on none",
}


def test_reported_log_lines_are_stored_once_and_read_in_pages(
    client: TestClient, leased: LeasedJob, ci: dict[str, str]
) -> None:
    items = [
        reported_item(0),
        log_item(1, "hi"),
        reported_item(2, launch=1),
        reported_item(3, **NOTE),
    ]
    assert leased.send(*items).json() == {"stored": 4, "duplicates": 0}
    assert leased.send(*items).json() == {"stored": 0, "duplicates": 4}
    assert leased.finish(3).status_code == 204
    path = f"{PREFIX}/jobs/{leased.job_id}/reported"
    first = client.get(path, params={"limit": 2}, headers=ci).json()
    last = client.get(
        path, params={"limit": 2, "cursor": first["next"]}, headers=ci
    ).json()
    assert last["next"] is None
    sent = [
        {name: item[name] for name in item if name != "kind"}
        for item in items
        if item["seq"] != 1
    ]
    assert [*first["items"], *last["items"]] == sent
    assert client.get(f"{path}?after=2", headers=ci).json()["items"] == sent[2:]
    assert client.get(f"{PREFIX}/jobs/nowhere/reported", headers=ci).status_code == 404
    assert client.get(path).status_code == 401
    with read_scope() as session:
        assert ingest.read_samples(session, leased.job_id) == []


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"launch": 99}, "launch"),
        ({"side": "base"}, "side"),
        ({"launch": None, "side": "base"}, "side"),
        ({"text": "x" * 1_001}, "text"),
        ({"note": "x" * 1_001}, "note"),
        ({"text": "\0"}, "reported.text"),
        ({"pattern": ""}, "pattern"),
        ({"fields": {"batch": 2**63}}, "fields.batch"),
        ({"fields": {"batch": 0.5}}, "fields[...]"),
        ({"fields": {f"f{n}": n for n in range(33)}}, "fields"),
        ({"fields": {"arm": "x" * 1_048_576}}, "item"),
        ({"fields": {"avg": {"printed": "1ms", "value": 1}}}, "fields[...]"),
    ],
)
def test_too_many_reports_or_an_unknown_launch_are_refused_by_name(
    leased: LeasedJob, changes: dict[str, Any], field: str
) -> None:
    answer = leased.send(reported_item(0, **changes))
    assert answer.status_code == 422
    assert f"items[0].{field}" in answer.json()["fields"]
