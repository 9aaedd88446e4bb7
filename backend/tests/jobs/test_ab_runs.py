"""A/B runs: asked for by people, by alerts and bisections; what agents are told and what they report back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock as clock_module
from paceline_server.store.session import session_scope
from paceline_server.store.tables.jobs import Run
from paceline_server.store.tables.messages import OutboxMessage
from paceline_server.testing.scripted_agent import (
    COMMIT,
    MANIFEST,
    ScriptedAgent,
    announce,
)
from sqlalchemy import select

PREFIX = "/api/v1"
OLD = "f" * 40
Make = Callable[..., Any]


def test_a_run_against_a_base_tells_the_agent_both_revisions(
    agent: ScriptedAgent, new_run: Make
) -> None:
    run = new_run(base_commit=OLD)
    assert (run["base_commit"], run["commit"], run["trigger"]) == (
        OLD,
        COMMIT,
        "manual",
    )
    assert agent.lease().lease["work"]["base_commit"] == OLD
    assert new_run()["base_commit"] is None


@pytest.mark.parametrize(
    "fields",
    [
        {"trigger": "a_a"},
        {"base_commit": COMMIT},
        {"base_commit": COMMIT[:9]},
        {"commit": COMMIT[:8], "base_commit": COMMIT},
    ],
)
def test_the_same_revision_on_both_sides_is_known_by_any_of_its_names(
    agent: ScriptedAgent, new_run: Make, fields: dict[str, str]
) -> None:
    run = new_run(**fields)
    assert run["base_commit"] == run["commit"]


def test_an_a_a_run_of_two_revisions_is_refused(
    client: TestClient, agent: ScriptedAgent, ci: dict[str, str]
) -> None:
    body = {"suite": "demo", "trigger": "a_a", "base_commit": OLD}
    answer = client.post(f"{PREFIX}/runs", json=body, headers=ci)
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["base_commit"])


HEAD = "c" * 40


def test_a_pull_request_tells_the_agent_its_head_and_the_branch_of_its_base(
    agent: ScriptedAgent, new_run: Make, client: TestClient, ci: dict[str, str]
) -> None:
    pull_request = {"number": 7, "url": "https://forge.example/7", "title": "Faster"}
    run = new_run(head=HEAD, base_branch="main", pull_request=pull_request)
    assert (run["commit"], run["base_commit"], run["base_branch"]) == (
        HEAD,
        None,
        "main",
    )
    assert (run["judges_head"], run["pull_request"]) == (True, pull_request)
    leased = agent.lease()
    work = leased.lease["work"]
    assert (work["base_branch"], work["base_commit"]) == ("main", None)
    assert work["judges_head"] is True
    assert leased.report("preparing", base_commit=OLD).status_code == 204
    assert leased.report("measuring", base_commit=OLD).status_code == 204
    now = client.get(f"{PREFIX}/runs/{run['id']}", headers=ci).json()
    assert now["base_commit"] == OLD
    other = leased.report("measuring", base_commit="d" * 40)
    assert (other.status_code, other.json()["code"]) == (409, "other_base")


def test_an_agent_may_not_choose_a_base_that_the_run_names(
    agent: ScriptedAgent, new_run: Make
) -> None:
    run = new_run(head=HEAD, base=OLD)
    assert (run["base_commit"], run["judges_head"]) == (OLD, True)
    refused = agent.lease().report("preparing", base_commit="d" * 40)
    assert refused.status_code == 409


def test_the_head_of_the_announced_branch_is_no_history_as_a_pull_request(
    agent: ScriptedAgent, new_run: Make
) -> None:
    assert new_run(head=COMMIT, base=OLD)["branch"] is None
    assert new_run(commit=COMMIT)["branch"] == "main"


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"head": HEAD}, ["base"]),
        ({"head": HEAD, "base": OLD, "base_branch": "main"}, ["base"]),
        ({"head": HEAD, "base": OLD, "commit": COMMIT}, ["commit"]),
        ({"head": HEAD, "base": OLD, "branch": "main"}, ["branch"]),
        ({"head": HEAD, "base_commit": OLD}, ["base", "base_commit"]),
        ({"base_branch": "main"}, ["base_branch"]),
        ({"base": OLD}, ["base"]),
        ({"pull_request": {"number": 1}}, ["pull_request"]),
        ({"head": HEAD, "base": OLD, "trigger": "a_a"}, ["trigger"]),
    ],
)
def test_revisions_that_contradict_each_other_are_refused_by_name(
    client: TestClient,
    agent: ScriptedAgent,
    ci: dict[str, str],
    fields: dict[str, Any],
    wrong: list[str],
) -> None:
    answer = client.post(f"{PREFIX}/runs", json={"suite": "demo", **fields}, headers=ci)
    assert (answer.status_code, sorted(answer.json()["fields"])) == (400, wrong)


@pytest.mark.parametrize("name", ["-x", "a b", "a..b:c", "", "a\nb"])
def test_a_branch_that_git_would_not_take_or_take_for_an_option_is_refused(
    client: TestClient, agent: ScriptedAgent, ci: dict[str, str], name: str
) -> None:
    body = {"suite": "demo", "head": HEAD, "base_branch": name}
    assert client.post(f"{PREFIX}/runs", json=body, headers=ci).status_code == 422


def test_what_the_agent_built_and_which_commits_lie_between_is_kept(
    agent: ScriptedAgent, new_run: Make, job_now: Make
) -> None:
    new_run(base_commit=OLD)
    leased = agent.lease()
    said = [
        {
            "commit": "b" * 40,
            "author": "Ada",
            "at": "2026-01-02T03:04:05Z",
            "subject": "Faster",
        },
        {
            "commit": COMMIT,
            "author": "Bob",
            "at": "2026-01-03T03:04:05Z",
            "subject": "Slower",
        },
    ]
    report = {
        "artifact_hash": "1" * 64,
        "base_artifact_hash": "2" * 64,
        "commits": said,
    }
    assert leased.report("measuring", **report).status_code == 204
    assert leased.report("uploading").status_code == 204
    job = job_now(leased.job_id)
    assert (job["artifact_hash"], job["base_artifact_hash"]) == ("1" * 64, "2" * 64)
    with session_scope() as session:
        assert jobs.commits_of(session, leased.job_id) == said
    assert leased.report("uploading", commits=said * 501).status_code == 422


def ab(original: dict[str, Any], **changes: Any) -> str:
    with session_scope() as session:
        run = jobs.ab_run(
            session,
            **{
                "original_run_id": original["id"],
                "base_commit": OLD,
                "commit": original["commit"],
                "benchmarks": ["sorting"],
                "params": {"n": [1000]},
                "target_id": original["jobs"][0]["target_id"],
                "trigger": "confirm",
                "not_before": clock_module.now(),
                **changes,
            },
        )
        return run.id


def test_old_against_new_is_asked_for_as_the_original_run_was_narrowed_to_the_doubt(
    client: TestClient, agent: ScriptedAgent, new_run: Make, ci: dict[str, str]
) -> None:
    original = new_run(launches=7, rounds=31, knobs={"engine": "b"})
    run_id = ab(original, alert_id="alt_1")
    run = client.get(f"{PREFIX}/runs/{run_id}", headers=ci).json()
    assert (run["trigger"], run["base_commit"], run["commit"]) == (
        "confirm",
        OLD,
        COMMIT,
    )
    assert (run["launches"], run["rounds"], run["knobs"]) == (7, 31, {"engine": "b"})
    assert (run["benchmarks"], run["params"], run["branch"]) == (
        ["sorting"],
        {"n": [1000]},
        "main",
    )
    assert len(run["jobs"]) == 1
    other = ab(original, trigger="bisect", commit="b" * 40, bisection_id="bis_1")
    with session_scope() as session:
        step = session.get_one(Run, other)
        assert (step.commit, step.branch, step.bisection_id) == (
            "b" * 40,
            None,
            "bis_1",
        )
        assert session.get_one(Run, run_id).confirms_alert_id == "alt_1"


def test_a_renamed_benchmark_is_asked_for_by_the_name_the_frozen_manifest_knows(
    agent: ScriptedAgent, enrolled: Make, new_run: Make
) -> None:
    original = new_run()
    benchmarks = {
        name: one for name, one in MANIFEST["benchmarks"].items() if name != "sorting"
    }
    benchmarks["sort_all"] = {
        **MANIFEST["benchmarks"]["sorting"],
        "aliases": ["sorting"],
    }
    announce(
        enrolled("lab-2").agent_id, {**MANIFEST, "benchmarks": benchmarks, "rules": []}
    )
    with session_scope() as session:
        assert session.get_one(
            Run, ab(original, benchmarks=["sort_all"])
        ).benchmarks == ["sorting"]


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.parametrize(
    "waiting", [{"alert_id": "alt_1"}, {"trigger": "bisect", "bisection_id": "bis_1"}]
)
def test_whoever_waits_for_an_ab_job_hears_when_it_ends_without_a_verdict(
    agent: ScriptedAgent,
    new_run: Make,
    client: TestClient,
    ci: dict[str, str],
    waiting: dict[str, str],
) -> None:
    original = new_run()
    client.post(f"{PREFIX}/runs/{original['id']}/cancel", headers=ci)
    ab(original, **waiting)
    leased = agent.measuring()
    leased.finish(-1, "failed", cause="build_failed", detail="base: no compiler")
    with session_scope() as session:
        rows = session.scalars(
            select(OutboxMessage).where(OutboxMessage.topic == "alerts.evaluate")
        )
        assert [row.key for row in rows] == [leased.job_id]
