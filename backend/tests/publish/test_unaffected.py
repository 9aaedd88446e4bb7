"""What is the same at base and head is not measured again: no case is missing, and every document says what and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.store import outbox
from paceline_server.testing.delivered_jobs import ARTIFACT, Lab, open_lab
from paceline_server.testing.scripted_agent import LeasedJob
from paceline_server.testing.sorting_suite import BENCHMARK, suite_manifest

PREFIX = "/api/v1"
OTHER = "sort_other"
DIGEST = "d" * 64
SAME = {1000: 0.0, 2000: 0.0}
HEAD = {"head": "c" * 40, "base": "b" * 40}
GATE = {"arm": "native", "metric": "time", "op": "<=", "required": 1e9}
REQUEST = {"number": 7, "url": "https://forge.example/7"}


def _manifest(workload: str = "sorter", *checks: str) -> dict[str, Any]:
    """The suite with another benchmark, in a workload of its own or in the same one."""
    plain = suite_manifest()
    benchmarks, workloads = plain["benchmarks"], plain["workloads"]
    title = "Sort another batch"
    other = {**benchmarks[BENCHMARK], "title": title, "workload": workload}
    if workload != workloads[0]["name"]:
        workloads.append({**workloads[0], "name": workload})
    return suite_manifest(
        benchmarks={**benchmarks, OTHER: other},
        workloads=workloads,
        gates=[{**GATE, "benchmark": OTHER}],
        expected={"checks": ["sorted", *checks]},
    )


@pytest.fixture
def lab(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Lab:
    return open_lab(client, enrolled, token, manifest=_manifest())


def _read(lab: Lab, path: str, **params: str) -> Any:
    answer = lab.client.get(f"{PREFIX}{path}", params=params, headers=dict(lab.headers))
    assert answer.status_code == 200, answer.text
    is_json = answer.headers["content-type"].startswith("application/json")
    return answer.json() if is_json else answer.text


def _end_without_a_launch(lab: Lab, *names: str) -> str:
    """Report that these are the same on both sides, and end the job at once; returns its run."""
    leased = _begin_without(lab, *names)
    assert leased.finish(-1).status_code == 204
    outbox.drain()
    return leased.run_id


def _begin_without(lab: Lab, *names: str) -> LeasedJob:
    """Report that these are the same on both sides, and begin to measure the others."""
    leased = lab.agent.lease()
    assert leased.lease["work"]["skips_unaffected"]
    digests = dict.fromkeys(names, DIGEST)
    for state, facts in (
        ("preparing", {}),
        ("measuring", {"artifact_hash": ARTIFACT, "unaffected": digests}),
    ):
        assert leased.report(state, **facts).status_code == 204
    return leased


@pytest.mark.shapes("embedded", "scaled")
def test_a_pull_request_that_changes_nothing_passes_and_says_so_everywhere(
    lab: Lab,
) -> None:
    lab.request(**HEAD, pull_request=REQUEST)
    run_id = _end_without_a_launch(lab, BENCHMARK, OTHER)
    document = _read(lab, f"/runs/{run_id}/verdicts")
    reason = "nothing slower: 2 benchmarks are not affected and not measured again"
    assert (document["outcome"], document["reasons"]) == ("pass", [])
    assert document["reason"].endswith(reason), document["reason"]
    assert document["completeness"] == "8 not affected and not measured again"
    (job,) = document["jobs"]
    assert job["unaffected"]["digests"] == {BENCHMARK: DIGEST, OTHER: DIGEST}
    assert job["unaffected"]["words"] == (
        "Not measured again, because their built files, command, environment and declarations have the digest "
        f"of base: {BENCHMARK}, {OTHER}. Their 1 gate is not judged: unchanged."
    )
    completeness = _read(lab, f"/runs/{run_id}/completeness")
    assert (completeness["complete"], completeness["unaffected"]) == (True, 8)
    text = _read(lab, f"/runs/{run_id}/verdicts", format="markdown")
    assert "sort\\_other. Their 1 gate is not judged: unchanged." in text
    junit = _read(lab, f"/runs/{run_id}/verdicts", format="junit")
    assert f'name="{OTHER}"' in junit
    assert 'failures="0" errors="0"' in junit


def test_what_is_affected_is_judged_and_the_rest_is_neither_missing_nor_a_gate(
    lab: Lab,
) -> None:
    lab.request(**HEAD, pull_request=REQUEST)
    leased = lab.deliver_ab({1000: 0.12, 2000: 0.0}, unaffected={OTHER: DIGEST})
    outbox.drain()
    document = _read(lab, f"/runs/{leased.run_id}/verdicts")
    assert document["outcome"] == "fail"
    assert {reason["kind"] for reason in document["reasons"]} == {"regression", "arm"}
    ending = "; 1 benchmark is not affected and not measured again"
    assert document["reason"].endswith(ending)
    wanted = "all 4 cases arrived; 4 not affected and not measured again"
    assert document["completeness"] == wanted
    assert document["jobs"][0]["gates"] == []


@pytest.mark.parametrize(
    ("workload", "outcome"), [("other", "pass"), ("sorter", "inconclusive")]
)
def test_a_check_of_the_suite_is_not_expected_of_a_workload_that_was_not_launched(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    workload: str,
    outcome: str,
) -> None:
    manifest = _manifest(workload, "found")
    lab = open_lab(client, enrolled, token, manifest=manifest)
    lab.request(**HEAD)
    leased = lab.deliver_ab(SAME, unaffected={OTHER: DIGEST})
    outbox.drain()
    document = _read(lab, f"/runs/{leased.run_id}/verdicts")
    assert document["outcome"] == outcome, document["reason"]


def test_what_is_left_out_is_not_undecided(lab: Lab) -> None:
    lab.request(**HEAD)
    leased = _begin_without(lab, OTHER)
    assert leased.post("undecided").json() == {"benchmarks": [BENCHMARK]}


def test_what_an_agent_left_out_of_a_run_about_noise_is_missing(lab: Lab) -> None:
    lab.request(trigger="a_a", commit="c" * 40)
    leased = lab.deliver_ab(SAME, unaffected={OTHER: DIGEST})
    assert not leased.lease["work"]["skips_unaffected"]
    outbox.drain()
    assert "missing" in _read(lab, f"/runs/{leased.run_id}/completeness")["words"]


def test_what_an_earlier_batch_measured_is_judged_though_a_later_one_left_it_out(
    lab: Lab,
) -> None:
    lab.request(**HEAD)
    leased = lab.deliver_ab({1000: 0.02, 2000: 0.0}, sigma=0.05)
    outbox.drain()
    again = lab.deliver_ab(
        {1000: 0.02, 2000: 0.0}, sigma=0.05, unaffected={BENCHMARK: DIGEST}
    )
    assert again.job_id == leased.job_id
    outbox.drain()
    report = _read(lab, f"/jobs/{again.job_id}/report")
    assert report["unaffected"] is None


def test_each_target_has_what_it_left_out_itself(
    lab: Lab, enrolled: Callable[..., Any]
) -> None:
    other = open_lab(
        lab.client, enrolled, lambda *_: {}, name="lab-2", manifest=_manifest()
    )
    run = lab.request(**HEAD, targets=[lab.target_id, other.target_id])
    _end_without_a_launch(lab, BENCHMARK, OTHER)
    other.deliver_ab(SAME, unaffected={OTHER: DIGEST})
    outbox.drain()
    document = _read(lab, f"/runs/{run['id']}/verdicts")
    assert document["outcome"] == "pass", document["reason"]
    left_out = {job["target"]: job["unaffected"] for job in document["jobs"]}
    counts = sorted(len(row["digests"]) for row in left_out.values())
    assert counts == [1, 2]
    text = _read(lab, f"/runs/{run['id']}/verdicts", format="markdown")
    assert text.count("Not measured again, because") == 2
    assert f"{min(left_out)}: Not measured again" in text
