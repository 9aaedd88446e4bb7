"""`paceline import --server` as a person runs it: a process, a real server, the original's own document."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from paceline.testing import commands
from paceline_server.testing.running_server import RunningServer

TEXT = """\
- For small batches (1 000 items) the Xiaomi 13T Pro shows a ~20% slowdown on the native path.
- Minimum native batch: **2 000 fingerprints**
- Warm-up: **1 round** before the first batch

Xiaomi 13T Pro (API 35) - warm-up (1 round)
10-31 14:36:11.989 I LightLedgerBenchmark: Benchmark on 23078PND5G (API 35)
10-31 14:36:11.989 I LightLedgerBenchmark: Batch 1000: fallback avg=11.93 ms (0.01 ms/hash)
10-31 14:36:11.989 I LightLedgerBenchmark: Batch 1000: native  avg=13.43 ms (0.01 ms/hash)
"""


def import_output(
    server: RunningServer, headers: dict[str, str], *arguments: str
) -> str:
    """The output of a successful import, run as a separate process."""
    secret = headers["Authorization"].removeprefix("Bearer ")
    environment = {**os.environ, "PACELINE_TOKEN": secret}
    stored = commands.run("import", *arguments, "--server", server.url, env=environment)
    assert stored.returncode == 0, stored.stderr
    return stored.stderr


@pytest.mark.shapes("embedded")
def test_an_imported_document_reaches_the_server_with_its_notes_and_policy(
    server: RunningServer, token: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "summary.md"
    path.write_text(TEXT, encoding="utf-8")
    headers = token("ingest", "read")
    output = import_output(
        server, headers, "--format", "logcat", str(path), "--title", "Light Ledger"
    )
    assert "1 row, 1 with something to note" in output
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers) as client:
        (listed,) = client.get("/imports").json()["items"]
        document = client.get(f"/imports/{listed['id']}").json()
    assert (listed["title"], listed["source"]) == ("Light Ledger", "summary.md")
    (row,) = document["rows"]
    assert (row["words"], row["percent"]) == (
        "native 12.6 % slower than fallback",
        12.57,
    )
    assert "says ~20 % slower (line 1)" in row["notes"][0]
    assert row["raw"][0].endswith("fallback avg=11.93 ms (0.01 ms/hash)")
    assert document["policy"]["in_force"] == {"minimum": 2000, "warmup_rounds": 1}


@pytest.mark.shapes("embedded")
def test_criterion_results_become_a_run_on_a_server(
    server: RunningServer, token: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    message = {
        "reason": "benchmark-complete",
        "id": "sign/dalek/32",
        "unit": "us",
        "throughput": [],
        "iteration_count": [10, 20, 30],
        "measured_values": [137.0, 274.2, 411.0],
    }
    path = tmp_path / "messages.jsonl"
    path.write_text(json.dumps(message) + "\n", encoding="utf-8")
    headers = token("ingest", "read")
    measured_on = ("--on", "ci-7", "--commit", "1f3c9ab")
    output = import_output(
        server, headers, "--format", "criterion", str(path), *measured_on
    )
    assert "new: 1 series, run run_" in output
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers) as client:
        (run,) = client.get("/runs", params={"trigger": "import"}).json()["items"]
        (listed,) = client.get("/imports", params={"format": "criterion"}).json()[
            "items"
        ]
        (imported_run,) = client.get(f"/imports/{listed['id']}").json()["runs"]
    assert (
        run["commit"],
        run["jobs"][0]["target_name"],
        run["jobs"][0]["samples"],
    ) == ("1f3c9ab", "ci-7", 3)
    assert (imported_run["run_id"], imported_run["series"][0]["median_ns"]) == (
        run["id"],
        pytest.approx(13_700),
    )
