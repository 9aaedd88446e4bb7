"""What was measured without a server and is kept on one: the offline verdict, the same pages, and refusals that leave nothing."""

from __future__ import annotations

import base64
import gzip
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from paceline.recordings import write_recording
from paceline.testing import commands
from paceline_contract.testing.waiting import WITHIN_S, wait_until
from paceline_contract.text_names import make_name
from paceline_server.detect.judge import analyse_recorded, read_directory, report_json
from paceline_server.kernel.clock import FrozenClock
from paceline_server.stats.voids import VoidLimits
from paceline_server.store import outbox
from paceline_server.testing.running_server import RunningServer
from paceline_server.testing.sorting_suite import (
    bench_cases,
    revision_bench_cases,
    suite_manifest,
    write_ab_directory,
    write_directory,
)

API = "/api/v1"
PROTOCOL = Path(__file__).parents[3] / "native/protocol"
GOLDEN = json.loads((PROTOCOL / "vectors/recordings.golden.json").read_bytes())
FASTER, SLOWER = {1000: -0.5, 2000: -0.6}, {1000: 0.126, 2000: -0.6}
HEAD = "4f" * 20
COMMITS = [
    {
        "commit": HEAD,
        "author": "Ada <ada@example.invalid>",
        "at": "2026-03-14T09:00:00+00:00",
        "subject": "Sort faster",
    }
]


@dataclass(frozen=True)
class Keeper:
    """Sends recordings as `paceline run --server` does."""

    client: TestClient
    headers: dict[str, str]

    def send(self, packed: bytes, **measured_on: str) -> Any:
        document = {
            "format": "paceline.recording/1",
            "gzip": base64.b64encode(packed).decode(),
        }
        body = {"document": document, "measured_on": measured_on}
        answer = self.client.post(f"{API}/imports", json=body, headers=self.headers)
        outbox.drain()
        return answer

    def keep(self, directory: Path, **changes: Any) -> Any:
        stored = write_recording(directory, **changes)
        body = stored.import_body(None)
        answer = self.client.post(f"{API}/imports", json=body, headers=self.headers)
        outbox.drain()
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def get(self, path: str, **query: str) -> Any:
        answer = self.client.get(f"{API}{path}", params=query, headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def keeper(client: TestClient, token: Callable[..., dict[str, str]]) -> Keeper:
    return Keeper(client, token("ingest", "read"))


def record_ab(directory: Path) -> None:
    sides = revision_bench_cases(1, {1000: 0.061, 2000: 0.0})
    write_ab_directory(directory, sides)
    rewrite_run(directory, commits=COMMITS)


def record_undecided(directory: Path) -> None:
    cases = bench_cases(1, {1000: 0.02, 2000: -0.6}, launches=10)
    write_directory(directory, cases)


def record_with_pauses(directory: Path) -> None:
    """A host whose CPU was taken away during the launches, and a benchmark that stopped when certain."""
    conditions = [
        {"phase": phase, "at_ms": at, "values": {"cpu_pressure_percent": share}}
        for phase, at, share in (("before", 0, 1.0), ("during", 900, 63.0))
    ]
    options = {
        "benchmarks": ["sort_batch"],
        "launches": 5,
        "rounds": 20,
        "stop_when_sure": True,
    }
    write_directory(
        directory,
        bench_cases(1, FASTER, launches=4),
        conditions=conditions,
        options=options,
    )


def rewrite_run(directory: Path, **changes: Any) -> None:
    path = directory / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    "record",
    [
        lambda path: write_directory(path, bench_cases(1, FASTER)),
        lambda path: write_directory(path, bench_cases(1, SLOWER)),
        record_undecided,
        record_with_pauses,
        record_ab,
    ],
    ids=["pass", "fail", "two batches", "disturbed", "two revisions"],
)
def test_the_server_decides_what_was_decided_without_it(
    keeper: Keeper, tmp_path: Path, record: Callable[[Path], None]
) -> None:
    record(tmp_path)
    offline = analyse_recorded(read_directory(tmp_path, None, None), VoidLimits())
    (stored,) = keeper.keep(tmp_path)["runs"]
    run = keeper.get(f"/runs/{stored['run_id']}")
    (job,) = run["jobs"]
    assert (job["verdict"], job["reason"]) == (offline.verdict, offline.reason)
    report = keeper.get(f"/jobs/{job['id']}/report")
    expected = report_json(offline)
    for part in ("checks", "measurements", "comparisons", "gates"):
        for row, again in zip(expected[part], report[part], strict=True):
            assert row.items() <= again.items(), part
    assert (run["trigger"], run["commit"], job["target_name"]) == (
        "recorded",
        HEAD,
        "bench-host",
    )
    assert run["base_commit"] == (report["base"] or {}).get("revision")
    assert keeper.get(f"/runs/{run['id']}/completeness")["complete"] is True


def test_a_recording_is_stored_once_and_its_points_are_those_of_its_branch(
    keeper: Keeper, tmp_path: Path
) -> None:
    write_directory(
        tmp_path,
        bench_cases(1, FASTER),
        branch="trunk",
        environment={"factors": {"cpu_model": "AMD EPYC", "governor": None}},
    )
    (tmp_path / "sorter.stderr.log").write_text("warming up\n", encoding="utf-8")
    first = keeper.keep(tmp_path)
    # It was written there, and making it again gives the same bytes.
    assert keeper.keep(tmp_path) == first
    assert (tmp_path / "recording.ndjson.gz").is_file()
    (listed,) = keeper.get("/imports")["items"]
    assert (listed["id"], listed["devices"]) == (first["id"], ["bench-host"])
    assert first["facts"] == {"cpu_model": "AMD EPYC"}
    series = keeper.get("/series")["items"]
    assert {one["branch"] for one in series} == {"trunk"}
    (point,) = keeper.get(f"/series/{series[0]['id']}/points")["points"]
    assert (point["commit"], point["excluded"]) == (HEAD, None)
    assert point["at"].startswith("2026-03-14T09:26:53")
    (run,) = keeper.get("/runs", trigger="recorded")["items"]
    log = keeper.get(f"/jobs/{run['jobs'][0]['id']}/log")["items"]
    assert [line["text"] for line in log] == ["warming up"]
    # No agent announced the suite, and it has its pages.
    (suite,) = keeper.get("/suites")["items"]
    assert (suite["name"], suite["imported"]) == (run["suite"], True)
    assert {
        row["benchmark"] for row in keeper.get("/matrix", suite=run["suite"])["rows"]
    }


def test_files_that_are_of_no_commit_are_shown_and_do_not_count(
    keeper: Keeper, tmp_path: Path
) -> None:
    for number, revision in enumerate((f"{HEAD}+dirty", "unversioned")):
        directory = tmp_path / str(number)
        directory.mkdir()
        cases = bench_cases(number, FASTER)
        write_directory(directory, cases, branch="trunk", revision=revision)
        facts = keeper.keep(directory)["facts"]
        assert ("uncommitted_changes" in facts) == revision.endswith("+dirty")
    runs = keeper.get("/runs")["items"]
    assert {run["commit"] for run in runs} == {HEAD, "unknown"}
    assert {run["verdict"] for run in runs} == {"pass"}
    for series in keeper.get("/series")["items"]:
        points = keeper.get(f"/series/{series['id']}/points")["points"]
        assert len(points) == 2
        assert all("those of no commit" in point["excluded"] for point in points)


def test_a_comparison_outside_history_has_the_texts_of_its_names(
    keeper: Keeper, tmp_path: Path
) -> None:
    """No series has them: only its document tells what a command was called."""
    command = "python3 work.py --größe 5"
    name = make_name(command)
    (declared,) = suite_manifest()["benchmarks"].values()
    manifest = suite_manifest(
        benchmarks={name: {**declared, "title": command}}, rules=[], knobs={}
    )
    cases, base = (
        [replace(case, benchmark=name) for case in side]
        for side in revision_bench_cases(1, {1000: 0.061, 2000: 0.0})
    )
    options = {"benchmarks": [name], "launches": 5, "rounds": 20}
    write_ab_directory(tmp_path, (cases, base), manifest=manifest, options=options)
    (stored,) = keeper.keep(tmp_path)["runs"]
    report = keeper.get(f"/jobs/{stored['job_id']}/report")
    assert report["comparisons"]
    assert report["name_texts"] == {name: command}
    assert keeper.get("/series")["items"] == []


def test_a_slower_arm_that_no_agent_can_measure_again_is_not_waited_for(
    keeper: Keeper, tmp_path: Path, clock: FrozenClock
) -> None:
    write_directory(
        tmp_path, bench_cases(1, SLOWER), started_at=clock.now().isoformat()
    )
    keeper.keep(tmp_path)
    clock.advance(3600)
    outbox.drain()
    (alert,) = keeper.get("/alerts")["items"]
    assert alert["state"] == "inconclusive"
    history = keeper.get(f"/alerts/{alert['id']}")["history"]
    notes = [event["note"] or "" for event in history]
    assert any("no agent can measure it again" in note for note in notes), notes
    assert len(keeper.get("/runs")["items"]) == 1


def packed(directory: Path) -> bytes:
    return write_recording(directory).packed


def with_lines(change: Callable[[list[Any]], None]) -> Callable[[bytes], bytes]:
    """Return a function that changes the lines of a recording, as JSON."""

    def changed(data: bytes) -> bytes:
        lines = [json.loads(line) for line in gzip.decompress(data).splitlines()]
        change(lines)
        text = "\n".join(json.dumps(line) for line in lines)
        return gzip.compress(f"{text}\n".encode())

    return changed


def in_items(old: str, new: str) -> Callable[[bytes], bytes]:
    """Return a function that changes the text of a recording's items."""

    def changed(data: bytes) -> bytes:
        head, _, items = gzip.decompress(data).decode().partition("\n")
        assert old in items
        return gzip.compress(f"{head}\n{items.replace(old, new)}".encode())

    return changed


def with_head(**fields: Any) -> Callable[[bytes], bytes]:
    return with_lines(lambda lines: lines[0].update(fields))


@pytest.mark.parametrize(
    ("damage", "said", "status"),
    [
        (lambda _: b"", "a whole gzip", 422),
        (lambda data: data[:-9], "cut off", 422),
        (lambda data: data[:90] + bytes([data[90] ^ 16]) + data[91:], "gzip", 422),
        (lambda data: data + data, "more behind it", 422),
        (lambda _: gzip.compress(bytes(65 << 20)), "67,108,864 bytes", 422),
        (lambda _: gzip.compress(b"[" * 100_000), "first line", 422),
        (lambda _: gzip.compress(b"\xff\xfe"), "first line", 422),
        (with_head(started_at="2121-01-01T00:00:00Z"), "in the future", 400),
        (with_head(started_at="1969-01-01T00:00:00Z"), "before 1970", 400),
        (with_lines(lambda lines: lines[0]["head"].update(manifest={})), "suite", 400),
        (
            with_lines(lambda lines: lines[0]["head"]["manifest"].update(x="\0")),
            "U+0000",
            400,
        ),
        (in_items('"values":[', '"values":[NaN,'), "not JSON", 400),
        (in_items('"values":[', '"values":[1e999,'), "item", 422),
        (in_items('"values":[', '"values":[-1,'), "values", 422),
    ],
)
def test_what_is_no_whole_recording_is_refused_and_leaves_nothing(
    keeper: Keeper,
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    said: str,
    status: int,
) -> None:
    write_directory(tmp_path, bench_cases(1, FASTER, launches=2, rounds=3))
    whole = packed(tmp_path)
    refused = keeper.send(damage(whole))
    assert (refused.status_code, said in refused.text) == (status, True), refused.text
    assert keeper.get("/imports")["items"] == []
    assert keeper.get("/runs")["items"] == []
    assert keeper.get("/targets")["items"] == []
    assert keeper.send(whole, on="ci-7").status_code == 201


def packed_lines(vector: Any) -> bytes:
    lines = [json.dumps(line, separators=(",", ":")) for line in vector["lines"]]
    return gzip.compress("".join(f"{line}\n" for line in lines).encode())


def test_golden_recordings_are_stored_with_their_ids(keeper: Keeper) -> None:
    for vector in GOLDEN["accepted"]:
        stored = keeper.send(packed_lines(vector))
        assert stored.status_code == 201, (vector["name"], stored.text)
        assert stored.json()["sha256"] == vector["sha256"], vector["name"]
        (run,) = stored.json()["runs"]
        assert keeper.get(f"/runs/{run['run_id']}")["state"] == "done", vector["name"]


def test_golden_recordings_out_of_contract_are_refused_and_leave_nothing(
    keeper: Keeper,
) -> None:
    for vector in GOLDEN["refused"]:
        refused = keeper.send(packed_lines(vector))
        assert refused.status_code in (400, 422), (vector["name"], refused.text)
        assert vector["why"] in refused.text, (vector["name"], refused.text)
    for path in ("/imports", "/runs", "/targets"):
        assert keeper.get(path)["items"] == []


@pytest.mark.timeout(600)
@pytest.mark.shapes("embedded")
def test_a_comparison_of_two_commits_is_kept_at_once_or_when_the_server_is_back(
    server: RunningServer,
    token: Callable[..., dict[str, str]],
    port: int,
    tmp_path: Path,
) -> None:
    """Real processes: `run` with a server, `ab` without one, and `push` of its directory later."""
    secret = token("ingest", "read")["Authorization"].removeprefix("Bearer ")
    environment = {**os.environ, "PACELINE_TOKEN": secret}
    repository = tmp_path / "repository"
    repository.mkdir()
    script = repository / "work.py"
    for size in (1, 200 << 20):
        script.write_text(f"data = bytearray({size})\n", encoding="utf-8")
        commit(repository)

    def paceline(*arguments: str) -> subprocess.CompletedProcess[str]:
        return commands.run(*arguments, env=environment, cwd=repository)

    command = ("--launches", "3", "--", "python3", "work.py")
    kept = paceline(
        "run", "--out", str(tmp_path / "run"), "--server", server.url, *command
    )
    assert kept.returncode == 0, kept.stderr
    compare = ("ab", "--base", "HEAD~1", "--data", str(tmp_path / "state"))
    away = f"http://127.0.0.1:{port}"
    out = tmp_path / "ab"
    alone = paceline(*compare, "--out", str(out), "--server", away, *command)
    assert alone.returncode == 3, alone.stderr
    assert f"paceline push {out} --server {away}" in alone.stderr
    pushed = paceline("push", str(out), "--server", server.url)
    assert pushed.returncode == 3, pushed.stderr
    again = paceline("push", str(out), "--server", server.url)
    assert "It is on the server already." in again.stderr
    with httpx.Client(
        base_url=f"{server.url}/api/v1", headers=token("read"), timeout=WITHIN_S
    ) as client:
        runs = wait_until("both ended", lambda: ended_runs(client, 2))
        compared, measured = runs
    assert f"{server.url}/runs/{measured['id']}" in kept.stderr
    head, base = list_commits(repository)
    assert (measured["commit"], measured["branch"]) == (head, "main")
    assert (compared["commit"], compared["base_commit"]) == (head, base)
    for run, directory in ((measured, "run"), (compared, "ab")):
        recorded = read_directory(tmp_path / directory, None, None)
        offline = analyse_recorded(recorded, VoidLimits())
        (job,) = run["jobs"]
        assert (job["verdict"], job["reason"]) == (offline.verdict, offline.reason)
        assert job["samples"] > 0


def ended_runs(client: httpx.Client, count: int) -> list[Any]:
    items: list[Any] = client.get("/runs").json()["items"]
    return items if [run["state"] for run in items] == ["done"] * count else []


def commit(repository: Path) -> None:
    """Commit everything in a directory, which becomes a repository."""
    git = ["git", "-C", str(repository), "-c", "user.name=t"]
    git += ["-c", "user.email=t@example.invalid"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "a revision"], check=True)


def list_commits(repository: Path) -> list[str]:
    """Return the commits of a repository, the newest first."""
    git = ["git", "-C", str(repository), "log", "--format=%H"]
    listed = subprocess.run(git, check=True, capture_output=True, text=True)
    return listed.stdout.split()
