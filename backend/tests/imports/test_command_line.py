"""`paceline import --server` as a person runs it: a process, a real server, the original's own document."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from paceline.cli import app
from paceline.testing import commands
from paceline_contract.testing.waiting import WITHIN_S, wait_until
from paceline_server.testing.running_server import RunningServer
from typer.testing import CliRunner, Result

TEXT = """\
Xiaomi 13T Pro (API 35) - warm-up (1 round)
10-31 14:36:11.989 I LightLedgerBenchmark: Benchmark on 23078PND5G (API 35)
10-31 14:36:11.989 I LightLedgerBenchmark: Batch 1000: fallback avg=11.93 ms (0.01 ms/hash)
10-31 14:36:11.989 I LightLedgerBenchmark: Batch 1000: native  avg=13.43 ms (0.01 ms/hash)
"""


HASHING = Path(__file__).resolve().parents[3] / "native/hashing/suite.toml"


def connected(server: RunningServer, headers: dict[str, str]) -> httpx.Client:
    return httpx.Client(
        base_url=f"{server.url}/api/v1", headers=headers, timeout=WITHIN_S
    )


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
def test_an_imported_document_reaches_the_server_with_its_policy(
    server: RunningServer, token: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "summary.md"
    path.write_text(TEXT, encoding="utf-8")
    headers = token("ingest", "read")
    options = ("--suite", str(HASHING), "--in-force", "2000/1")
    output = import_output(
        server, headers, str(path), *options, "--title", "Light Ledger"
    )
    assert output.endswith(": 1 row.\n")
    with connected(server, headers) as client:
        (listed,) = client.get("/imports").json()["items"]
        document = client.get(f"/imports/{listed['id']}").json()
    assert (listed["title"], listed["source"]) == ("Light Ledger", "summary.md")
    (row,) = document["rows"]
    assert (row["words"], row["percent"]) == (
        "native 12.6 % slower than fallback",
        12.57,
    )
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
    assert "main: 1 series, run run_" in output
    assert "1f3c9ab." in output
    assert "nothing left out" in output
    with connected(server, headers) as client:
        (run,) = client.get("/runs", params={"trigger": "import"}).json()["items"]
        (listed,) = client.get("/imports").json()["items"]
        (imported_run,) = client.get(f"/imports/{listed['id']}").json()["runs"]
    assert (
        run["commit"],
        run["jobs"][0]["target_name"],
        run["jobs"][0]["samples"],
    ) == ("1f3c9ab", "ci-7", 3)
    assert (imported_run["run_id"], imported_run["series"][0]["median"]) == (
        run["id"],
        pytest.approx(13_700),
    )


@pytest.mark.shapes("embedded")
def test_another_tools_results_become_a_point_where_they_were_measured(
    server: RunningServer, token: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "bench.json"
    runs = {"command": "sort big", "times": [0.5, 0.25, 0.75]}
    path.write_text(json.dumps({"results": [runs]}), encoding="utf-8")
    headers = token("ingest", "read")
    origin = (
        "--commit",
        "1f3c9ab",
        "--branch",
        "trunk",
        "--at",
        "2021-03-04T05:06:07Z",
    )
    output = import_output(server, headers, str(path), *origin)
    assert "trunk: 1 series, run run_" in output
    assert "nothing left out" in output
    with connected(server, headers) as client:
        (listed,) = client.get("/imports").json()["items"]
        kept = client.get(f"/imports/{listed['id']}/original").content
        wait_until("its point", lambda: points_by_branch(client))
        assert points_by_branch(client) == {"trunk": [("1f3c9ab", 5e8)]}
    assert kept == path.read_bytes()


@pytest.fixture
def pipeline(
    server: RunningServer,
    token: Callable[..., dict[str, str]],
) -> Callable[..., Result]:
    """Run a command in this process as a pipeline with a server and a token."""
    secret = token("ingest", "read")["Authorization"].removeprefix("Bearer ")
    env = {"PACELINE_SERVER": server.url, "PACELINE_TOKEN": secret}
    return lambda *arguments: CliRunner().invoke(app, [*map(str, arguments)], env=env)


def history_of(path: Path, commits: int) -> Path:
    """Write a data.js."""
    entries = [
        {
            "commit": {"id": f"{number:040x}"},
            "date": 1_600_000_000_000 + number * 86_400_000,
            "benches": [{"name": "decode", "value": 100 + number, "unit": "ns/iter"}],
        }
        for number in range(commits)
    ]
    document = json.dumps({"entries": {"Rust": entries}})
    path.write_text(f"window.BENCHMARK_DATA = {document};", encoding="utf-8")
    return path


@pytest.mark.shapes("embedded")
def test_a_migration_that_was_stopped_stores_only_what_is_missing(
    pipeline: Callable[..., Result],
    server: RunningServer,
    token: Callable[..., dict[str, str]],
    tmp_path: Path,
) -> None:
    part, whole = history_of(tmp_path / "1.js", 2), history_of(tmp_path / "2.js", 5)
    migrate = ("migrate", "github-action-benchmark")
    on = ("--branch", "trunk", "--on", "ci-7")
    stopped = pipeline(*migrate, part, *on)
    assert stopped.exit_code == 0, stopped.output
    again = pipeline(*migrate, whole, *on)
    assert again.stdout.startswith("3 stored, 2 were there before, of 5 in ")
    with httpx.Client(
        base_url=f"{server.url}/api/v1", headers=token("read"), timeout=WITHIN_S
    ) as client:
        wait_until(
            "all points", lambda: len(points_by_branch(client).get("trunk", ())) == 5
        )
        assert points_by_branch(client)["trunk"] == [
            (f"{number:040x}", 100.0 + number) for number in range(5)
        ]
        (series,) = client.get("/series").json()["items"]
    assert (series["target_name"], series["suite"]) == (
        "ci-7",
        "github_action_benchmark",
    )


@pytest.mark.shapes("embedded")
def test_a_push_waits_for_the_server_and_nothing_to_compare_with_is_no_failure(
    pipeline: Callable[..., Result], tmp_path: Path
) -> None:
    path = tmp_path / "bench.txt"
    path.write_text("BenchmarkSort-2 10 5 ns/op\n", encoding="utf-8")
    push = ("push", path, "--commit", "1f3c9ab", "--on", "ci-7")
    summary = tmp_path / "summary.md"
    done = pipeline(*push, "--format", "markdown", "--output", summary)
    assert done.exit_code == 0, done.output
    assert "1 series, run run_" in done.stderr
    assert "No verdict: there is nothing to compare with yet" in done.stderr
    # What the server says is printed, and written in the same formats as by `submit`.
    assert ": inconclusive: " in done.stdout
    assert "1f3c9ab" in summary.read_text(encoding="utf-8")
    criterion = criterion_directory(
        tmp_path / "criterion",
        {"decode/new": (1_000.0, 0), "decode/main": (900.0, 24)},
    )
    last = pipeline("push", criterion, "--commit", "1f3c9ab")
    assert (last.exit_code, last.stderr.count("1 series, run run_")) == (0, 1)


@pytest.mark.shapes("embedded")
def test_a_command_says_whether_old_figures_are_judged_and_told(
    pipeline: Callable[..., Result],
    server: RunningServer,
    token: Callable[..., dict[str, str]],
    tmp_path: Path,
) -> None:
    """A push tells of a change however old its commit is, a backfill never, and an import by the age of its figures."""
    old = ("--at", "2021-03-04T05:06:07Z")
    expected: dict[tuple[str, ...], tuple[bool, bool]] = {
        ("push", *old): (True, True),
        ("push", "--backfill", *old): (True, False),
        ("push", "--backfill"): (True, False),
        ("import", "--judge", *old): (True, False),
        ("import", "--judge"): (True, True),
        ("import",): (False, False),
    }
    headers = token("ingest", "read")
    with connected(server, headers) as client:
        for figure, (arguments, said) in enumerate(expected.items(), 5):
            path = tmp_path / f"{figure}.txt"
            path.write_text(f"BenchmarkSort-2 10 {figure} ns/op\n", encoding="utf-8")
            command = arguments[0]
            options = (*arguments[1:], str(path), "--commit", f"{figure:07x}")
            if command == "push":
                done = pipeline(command, *options)
                assert done.exit_code == 0, done.output
            else:
                import_output(server, headers, *options)
            (newest,) = client.get("/imports", params={"limit": 1}).json()["items"]
            stored = client.get(f"/imports/{newest['id']}").json()
            assert stored["source"] == path.name
            assert (stored["judged"], stored["notifies"]) == said, arguments


def criterion_directory(
    root: Path, runs: dict[str, tuple[float, float]], **named: str
) -> Path:
    """Writes `NAME/BASELINE` → (nanoseconds, age in hours) as criterion does."""
    for path, (ns, hours) in runs.items():
        folder = root / path
        folder.mkdir(parents=True)
        group = {"group_id": folder.parent.name, "full_id": folder.parent.name, **named}
        (folder / "benchmark.json").write_text(json.dumps(group), encoding="utf-8")
        iterations = [10.0 * (at + 1) for at in range(20)]
        times = [count * (ns + at % 3) for at, count in enumerate(iterations)]
        sample = folder / "sample.json"
        sample.write_text(
            json.dumps({"iters": iterations, "times": times}), encoding="utf-8"
        )
        then = sample.stat().st_mtime - hours * 3600
        os.utime(sample, (then, then))
    return root


def points_by_branch(client: httpx.Client) -> dict[str, list[tuple[str, float]]]:
    """Branch → (commit, value) of each point of its only series."""
    return {
        series["branch"]: [
            (point["commit"], point["value"])
            for point in client.get(f"/series/{series['id']}/points").json()["points"]
        ]
        for series in client.get("/series").json()["items"]
    }


@pytest.mark.shapes("embedded")
def test_the_same_directory_after_another_commit_adds_only_what_was_measured(
    server: RunningServer, token: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    headers = token("ingest", "read")
    before = criterion_directory(
        tmp_path / "1",
        {"decode/new": (1_000.0, 0), "decode/main": (1_000.0, 0)},
    )
    after = criterion_directory(
        tmp_path / "2",
        {
            "decode/new": (2_000.0, 0),
            "decode/main": (1_000.0, 24),
            "gone/new": (1_000.0, 24),
            "long/new": (3_000.0, 0.001),
        },
    )
    odd = {"group_id": "long", "full_id": "long", "function_id": "x" * 201}
    (after / "long/new/benchmark.json").write_text(json.dumps(odd), encoding="utf-8")
    first = ("--format", "criterion", str(before), "--commit", "aaaaaaa")
    import_output(server, headers, *first)
    output = import_output(
        server, headers, "--format", "criterion", str(after), "--commit", "bbbbbbb"
    )
    assert "left out gone (gone/new): it was written before the last run" in output
    assert "left out long (long/new): its arm has 201 characters" in output
    assert "left out baseline main: saved baselines are not of the last run" in output
    assert output.count("left out long") == 1
    assert "3 series left out" in output
    with connected(server, headers) as client:
        newest = client.get("/imports").json()["items"][0]
        stored = client.get(f"/imports/{newest['id']}").json()
        both = {"main": [("aaaaaaa", 1_001.0), ("bbbbbbb", 2_001.0)]}
        wait_until(
            "points of both imports", lambda: points_by_branch(client) == both or None
        )
    assert [left["path"] for left in stored["left_out"]] == [
        "gone/new",
        None,
        "long/new",
    ]


REPORTS = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "reports"


@pytest.mark.skipif(
    not REPORTS.is_dir(),
    reason="the disk of this machine has no shared/data/reports beside the checkout",
)
@pytest.mark.shapes("embedded")
def test_the_reported_faults_give_right_answers(
    server: RunningServer, token: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    headers = token("ingest", "read")
    shutil.copytree(REPORTS, tmp_path / "reports", copy_function=shutil.copy)
    stale = tmp_path / "reports/crit-stale-2/gone/new/sample.json"
    earlier = stale.stat().st_mtime - 86_400
    os.utime(stale, (earlier, earlier))

    def stored(name: str, *options: str) -> str:
        path = str(tmp_path / "reports" / name)
        on = ("--on", options[0]) if options else ("--on", name)
        return import_output(
            server, headers, "--format", "criterion", path, *on, *options[1:]
        )

    # These files were copied just now.
    for name in ("unicode-a", "unicode-b", "symbols-a", "symbols-b", "empty-function"):
        assert "nothing left out" in stored(f"crit-{name}", "names", "--fresh")
    stored("crit-stale-1", "stale", "--commit", "a" * 40)
    assert "gone (gone/new)" in stored("crit-stale-2", "stale", "--commit", "b" * 40)
    assert "hash/32 (line 2): its unit is 'cycles'" in stored(
        "cargo-criterion-cycles.json"
    )
    assert "left out my bench (my" in stored("crit-twice", "twice", "--fresh")
    with connected(server, headers) as client:
        listed = wait_until(
            "ten series",
            lambda: (
                items
                if len(items := client.get("/series").json()["items"]) >= 10
                else None
            ),
        )
        newest = [
            (series["target_name"], series["branch"], series["value"])
            for series in listed
        ]
        points = {
            (series["target_name"], series["branch"]): [
                (point["commit"][:1], round(point["value"]))
                for point in client.get(f"/series/{series['id']}/points").json()[
                    "points"
                ]
            ]
            for series in listed
            if series["target_name"] == "stale"
        }
    assert len(newest) == 10
    assert len([series for series in newest if series[0] == "names"]) == 7
    assert points == {("stale", "main"): [("a", 1000), ("b", 1991)]}
