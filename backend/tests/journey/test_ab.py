"""Two commits, the second truly slower: through a server and a real agent, and by hand with `paceline ab`."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .stack import BIN, SHARED_HOST, Stack, base_env, commit_all

REPOSITORY = Path(__file__).parent / "revisions"
QUICK = {"launches": 4, "rounds": 12, "min_time_ns": 1000}

pytestmark = pytest.mark.journey


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, str, str]:
    """(path, the quick commit, the slow commit): in the second the arm `sum` does its work six times."""
    path = tmp_path / "repository"
    shutil.copytree(REPOSITORY, path)
    quick = commit_all(path)
    source = path / "spin.py"
    source.write_text(source.read_text().replace("REPEAT = 1", "REPEAT = 6"))
    return path, quick, commit_all(path)


@pytest.mark.timeout(900)
@pytest.mark.shapes("scaled")
def test_an_agent_measures_two_commits_and_the_server_tells_which_is_slower(
    stack: Stack, repository: tuple[Path, str, str]
) -> None:
    path, quick, slow = repository
    stack.agent({"theirs": (path, "suite.toml")}, name="host")
    job = stack.job_in(
        stack.measure("revisions", **QUICK, base_commit=quick), "done", "failed"
    )
    assert (job["state"], job["verdict"]) == ("done", "fail"), job
    report = stack.get(f"/jobs/{job['id']}/report")
    assert (report["revision"], report["base"]["revision"]) == (slow, quick)
    assert report["base"]["same_artifact"] is False
    assert job["artifact_hash"] != job["base_artifact_hash"]
    verdicts = {row["arm"]: row for row in report["comparisons"]}
    assert verdicts["sum"]["verdict"] == "fail"
    assert verdicts["sum"]["ratio"] > 3
    assert verdicts["sum"]["words"].startswith("head ")
    assert verdicts["plain"]["verdict"] == "pass", "what the commit did not touch"
    checks = {check["name"]: check["ok"] for check in report["checks"]}
    assert checks == {"base: adds_up": True, "adds_up": True}

    turned = stack.measure("revisions", **QUICK, commit=quick, base_commit=slow)
    assert stack.job_in(turned, "done", "failed")["verdict"] == "pass", (
        "the other way round it is a gain"
    )

    (path / "README").write_text("Only words.")
    words = stack.measure(
        "revisions", **QUICK, commit=commit_all(path), base_commit=slow
    )
    unaffected = stack.job_in(words, "done", "failed")
    assert (unaffected["verdict"], unaffected["samples"]) == ("pass", 0), unaffected
    assert unaffected["reason"].startswith("nothing slower: 1 benchmark is not ")

    same = stack.job_in(
        stack.measure("revisions", **QUICK, trigger="a_a"), "done", "failed"
    )
    assert (same["verdict"], same["artifact_hash"]) == (
        "pass",
        same["base_artifact_hash"],
    ), same
    floors: list[dict[str, Any]] = stack.get("/noise-floors", suite="revisions")[
        "items"
    ]
    assert {(one["arm"], one["job_id"]) for one in floors} == {
        ("plain", same["id"]),
        ("sum", same["id"]),
    }
    assert all(0.8 < one["mde"] < 10 for one in floors), (
        "beyond the margin of 80 %, and finite"
    )


FRESH = """
[benchmarks.fresh]
title = "Adding them again"
workload = "spin"
arms = ["plain", "sum"]
reference = "plain"
[benchmarks.fresh.metrics.time]
unit = "ns"
direction = "lower"
"""


@pytest.fixture
def unannounced(repository: tuple[Path, str, str]) -> tuple[str, str]:
    """(a commit that renames `spin` and adds `fresh`, one whose manifest is broken), neither at HEAD."""
    path, quick, _ = repository
    git = ["git", "-C", str(path), "checkout", "-q"]
    subprocess.run([*git, "-b", "feature", quick], check=True)
    source, manifest = path / "spin.py", path / "suite.toml"
    text = source.read_text()
    for old, new in (
        (
            "in enumerate(ARMS):",
            'in enumerate([*ARMS] * 2):\n    name = ("whirl", "fresh")[case // 2]',
        ),
        ('benchmark="spin"', "benchmark=name"),
        ("list(enumerate(ARMS.values()))", "list(enumerate([*ARMS.values()] * 2))"),
    ):
        assert old in text
        text = text.replace(old, new)
    source.write_text(text)
    renamed = manifest.read_text().replace("benchmarks.spin", "benchmarks.whirl")
    aliased = renamed.replace("margin_percent", 'aliases = ["spin"]\nmargin_percent')
    manifest.write_text(aliased + FRESH)
    changed = commit_all(path)
    manifest.write_text(aliased.replace('direction = "lower"', 'direction = "down"'))
    broken = commit_all(path)
    subprocess.run([*git, "main"], check=True)
    return changed, broken


@pytest.mark.timeout(900)
@pytest.mark.shapes("scaled")
def test_a_commit_is_measured_by_its_own_manifest_though_another_was_announced(
    stack: Stack,
    repository: tuple[Path, str, str],
    unannounced: tuple[str, str],
) -> None:
    path, quick, _ = repository
    changed, broken = unannounced
    stack.agent({"theirs": (path, "suite.toml")}, name="host")
    job = stack.job_in(
        stack.measure("revisions", **QUICK, commit=changed, base_commit=quick),
        "done",
        "failed",
    )
    assert (job["state"], job["verdict"]) == ("done", "pass"), job
    assert job["reason"] == (
        "head is not slower than base in 2 comparisons; new in head: fresh"
    )
    alone = stack.job_in(
        stack.measure("revisions", **QUICK, commit=changed), "done", "failed"
    )
    whole = stack.get(f"/runs/{alone['run_id']}/completeness")
    assert (whole["complete"], whole["declared"]) == (True, 4), whole
    refused = stack.job_in(
        stack.measure("revisions", **QUICK, commit=broken), "done", "failed"
    )
    assert refused["cause"] == "suite_invalid", refused
    assert "suite.toml:" in refused["cause_detail"]


@pytest.mark.timeout(600)
def test_paceline_ab_gives_the_same_verdict_without_a_server(
    tmp_path: Path, repository: tuple[Path, str, str]
) -> None:
    path, quick, _ = repository
    slower = _run_ab(path, tmp_path / "slower", "--base", quick)
    assert slower.returncode == 2, slower.stdout + slower.stderr
    assert "verdict: FAIL - spin: sum at head is " in slower.stdout
    assert "head against base" in slower.stdout
    record = json.loads((tmp_path / "slower" / "run.json").read_text())
    assert record["base"]["revision"] == quick
    same = _run_ab(path, tmp_path / "same", "--base", "HEAD")
    assert same.returncode == 0, same.stdout + same.stderr
    assert "an A/A comparison" in same.stderr
    assert "the same artifact on both sides" in same.stdout


def _run_ab(path: Path, out: Path, *revisions: str) -> subprocess.CompletedProcess[str]:
    options = [
        "--launches",
        "4",
        "--rounds",
        "12",
        "--out",
        str(out),
        "--data",
        str(out.parent / "state"),
    ]
    env = {**base_env(), **SHARED_HOST}
    command = [str(BIN / "paceline"), "ab", *revisions, *options]
    return subprocess.run(
        command, cwd=path, env=env, capture_output=True, text=True, check=False
    )
