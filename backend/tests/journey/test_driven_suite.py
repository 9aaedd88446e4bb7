"""A suite whose workload is another tool's harness, measured by a real agent and judged by a server."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .stack import Stack, commit_all

pytestmark = [pytest.mark.journey, pytest.mark.shapes("scaled")]


def test_an_agent_measures_a_suite_of_a_harness_and_the_server_judges_its_arms(
    stack: Stack, tmp_path: Path
) -> None:
    """No other test has an agent start a harness; the server takes only what the manifest declares."""
    path = tmp_path / "repository"
    shutil.copytree(Path(__file__).parent / "driven", path)
    commit_all(path)
    stack.agent({"theirs": (path, "suite.toml")})
    job = stack.job_in(stack.measure("driven", launches=3, rounds=10), "done", "failed")
    assert (job["state"], job["verdict"]) == ("done", "fail"), job
    report = stack.get(f"/jobs/{job['id']}/report")
    verdicts = {
        row["params"]["n"]: row["verdict"]
        for row in report["comparisons"]
        if row["arm"] == "native"
    }
    assert verdicts == {64: "fail", 256: "pass"}
