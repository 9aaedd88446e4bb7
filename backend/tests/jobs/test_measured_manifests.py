"""What an agent reads at the measured commits decides what a run measures, whatever was announced."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.jobs import expiry
from paceline_server.kernel.clock import FrozenClock
from paceline_server.testing.scripted_agent import (
    MANIFEST,
    ScriptedAgent,
    announce,
    samples_item,
)

PREFIX = "/api/v1"
OLD = "f" * 40
Make = Callable[..., Any]
Manifest = dict[str, Any]


def changed(*path: str, to: Any = None, **fields: Any) -> Manifest:
    """The announced manifest with another value at `path`, or other fields there."""
    manifest = copy.deepcopy(MANIFEST)
    table = manifest
    for name in path[:-1]:
        table = table[name]
    table[path[-1]] = {**table[path[-1]], **fields} if to is None else to
    return manifest


def without(benchmark: str) -> Manifest:
    benchmarks = {
        name: value
        for name, value in MANIFEST["benchmarks"].items()
        if name != benchmark
    }
    return {**MANIFEST, "benchmarks": benchmarks}


def renamed(old: str, new: str, *, aliases: bool = True) -> Manifest:
    manifest = copy.deepcopy(MANIFEST)
    manifest["benchmarks"][new] = manifest["benchmarks"].pop(old)
    if aliases:
        manifest["benchmarks"][new]["aliases"] = [old]
    return manifest


MORE = changed("benchmarks", "searching", to=MANIFEST["benchmarks"]["hashing"])
THREE_ARMS = changed("benchmarks", "sorting", arms=["old", "new", "slow"])
IN_BYTES = changed(
    "benchmarks",
    "sorting",
    "metrics",
    "time",
    to={"unit": "bytes", "direction": "lower"},
)


@pytest.fixture
def run_now(client: TestClient, ci: dict[str, str]) -> Make:
    def read(run_id: str, what: str = "") -> dict[str, Any]:
        return dict(client.get(f"{PREFIX}/runs/{run_id}{what}", headers=ci).json())

    return read


# --- the plan ---


@pytest.mark.parametrize(
    ("manifest", "benchmarks"),
    [
        (MANIFEST, ["sorting", "hashing"]),
        (MORE, ["sorting", "hashing", "searching"]),
        (without("hashing"), ["sorting"]),
        (renamed("hashing", "digesting", aliases=False), ["sorting", "digesting"]),
    ],
)
def test_a_run_of_the_whole_suite_measures_what_its_commit_declares(
    agent: ScriptedAgent,
    new_run: Make,
    run_now: Make,
    manifest: Manifest,
    benchmarks: list[str],
) -> None:
    run = new_run()
    leased = agent.lease()
    answer = leased.report_manifest(manifest)
    assert (answer.status_code, answer.json()) == (200, {"benchmarks": benchmarks})
    assert run_now(run["id"])["benchmarks"] == benchmarks


def test_completeness_counts_the_cases_of_the_measured_commit(
    agent: ScriptedAgent, new_run: Make, run_now: Make
) -> None:
    run = new_run(benchmarks=["sorting"])
    announced = run_now(run["id"], "/completeness")["declared"]
    assert agent.lease().report_manifest(THREE_ARMS).status_code == 200
    assert run_now(run["id"], "/completeness")["declared"] == announced * 3 // 2


def test_samples_are_held_to_the_manifest_that_was_reported(
    agent: ScriptedAgent, new_run: Make
) -> None:
    """The plan of the announcement was read before, and must not be kept."""
    new_run()
    leased = agent.measuring(THREE_ARMS)
    assert leased.send(samples_item(0, arm="slow")).status_code == 200
    refused = leased.send(samples_item(1, arm="quick"))
    assert (refused.status_code, refused.json()["code"]) == (422, "not_declared")
    assert "sorting has old, new, slow" in refused.json()["detail"]


def test_each_side_is_held_to_its_own_manifest(
    agent: ScriptedAgent, new_run: Make
) -> None:
    new_run(base_commit=OLD)
    leased = agent.measuring(IN_BYTES, MANIFEST)
    item = samples_item(0) | {"side": "base"}
    assert leased.send(item).status_code == 200
    assert leased.send({**item, "seq": 1, "side": "head"}).status_code == 422
    at_head = {**item, "seq": 1, "side": "head", "unit": "bytes"}
    assert leased.send(at_head).status_code == 200


@pytest.mark.parametrize(
    ("requested", "manifest", "benchmarks"),
    [
        (["sorting"], MORE, ["sorting"]),
        (["hashing"], renamed("hashing", "digesting"), ["digesting"]),
    ],
)
def test_named_benchmarks_are_found_by_the_names_of_the_measured_commit(
    agent: ScriptedAgent,
    new_run: Make,
    requested: list[str],
    manifest: Manifest,
    benchmarks: list[str],
) -> None:
    new_run(benchmarks=requested)
    assert agent.lease().report_manifest(manifest).json()["benchmarks"] == benchmarks


DEPTH = {
    "kind": "int",
    "default": 1,
    "minimum": 1,
    "maximum": 9,
    "description": "How deep.",
}
NEW_AT_COMMIT = changed(
    "benchmarks", "sorting", "params", "n", to={"kind": "int", "values": [0]}
) | {
    "knobs": {
        **MANIFEST["knobs"],
        "depth": DEPTH,
    }
}


@pytest.mark.parametrize(
    "case",
    [
        ({"benchmarks": ["searching"]}, MORE),
        ({"benchmarks": ["sorting"], "params": {"n": [0]}}, NEW_AT_COMMIT),
        ({"benchmarks": ["sorting"], "knobs": {"depth": 3}}, NEW_AT_COMMIT),
    ],
)
def test_what_only_the_measured_commit_declares_can_be_requested(
    agent: ScriptedAgent,
    new_run: Make,
    client: TestClient,
    ci: dict[str, str],
    case: tuple[dict[str, Any], Manifest],
) -> None:
    """The announced commit is another one. Its own manifest would refuse the same request."""
    requested, manifest = case
    body = {"suite": "demo", "commit": OLD, **requested}
    estimate = client.post(f"{PREFIX}/runs/estimate", json=body, headers=ci)
    assert estimate.status_code == 200, estimate.text
    new_run(commit=OLD, **requested)
    plan = agent.lease().report_manifest(manifest)
    assert plan.json() == {"benchmarks": requested["benchmarks"]}
    at_announced = client.post(
        f"{PREFIX}/runs", json={"suite": "demo", **requested}, headers=ci
    )
    assert at_announced.status_code == 400


def test_a_benchmark_of_today_is_found_at_a_commit_that_had_another_name_for_it(
    agent: ScriptedAgent, new_run: Make, client: TestClient, enrolled: Make
) -> None:
    newest = enrolled("lab-2")
    announce(newest.agent_id, renamed("hashing", "digesting"))
    new_run(benchmarks=["digesting"], targets=[newest.target_id])
    leased = ScriptedAgent(client, newest.headers).lease()
    assert leased.report_manifest(MANIFEST).json()["benchmarks"] == ["hashing"]


def test_without_a_report_the_announcement_decides(
    agent: ScriptedAgent, new_run: Make
) -> None:
    new_run()
    leased = agent.measuring()
    assert leased.send(samples_item(0)).status_code == 200
    assert leased.send(samples_item(1, arm="slow")).status_code == 422


# --- refusals ---


DEVICE_ONLY = changed(
    "workloads",
    to=[{"name": "w", "android": MANIFEST["workloads"][0]["host"] | {"run": ["w"]}}],
)


Refusal = tuple[dict[str, Any], tuple[Manifest, Manifest | None], str, str]
"""Fields of the request, the reported manifests, and the field and words of the refusal."""


@pytest.mark.parametrize(
    "case",
    [
        (
            {},
            ({**MANIFEST, "suite": {"name": "other", "title": "Other"}}, None),
            "manifest",
            "suite.toml at 0123456789ab is the suite 'other', and this run measures 'demo'. Give the suite its name back",
        ),
        (
            {"base_commit": OLD},
            (MANIFEST, {**MANIFEST, "suite": {"name": "other", "title": "Other"}}),
            "base_manifest",
            "suite.toml at ffffffffffff is the suite 'other'",
        ),
        ({}, ({**MANIFEST, "benchmarks": {}}, None), "manifest", "Mend it, and commit"),
        ({}, ({"anything": [1, {"else": None}]}, None), "manifest", "is not valid"),
        (
            {"base_commit": OLD},
            (MANIFEST, {**MANIFEST, "schema": 2}),
            "base_manifest",
            "The base manifest is not valid: schema",
        ),
        ({"base_commit": OLD}, (MANIFEST, None), "base_manifest", "of the base, too"),
        ({}, (MANIFEST, MANIFEST), "base_manifest", "leave it out"),
        (
            {"benchmarks": ["hashing"]},
            (without("hashing"), None),
            "benchmarks",
            "suite.toml at 0123456789ab: benchmarks: 'hashing' is not declared by demo; it has sorting.",
        ),
        (
            {"params": {"n": [50_000]}},
            (
                changed(
                    "benchmarks",
                    "sorting",
                    "params",
                    "n",
                    to={"kind": "int", "values": [10], "minimum": 1, "maximum": 20},
                ),
                None,
            ),
            "params.n",
            "found 50000",
        ),
        (
            {"knobs": {"engine": "b"}},
            ({**MANIFEST, "knobs": {}}, None),
            "knobs.engine",
            "declares no such knob",
        ),
        (
            {"base_commit": OLD, "benchmarks": ["hashing"]},
            (without("hashing"), MANIFEST),
            "benchmarks",
            "so there is nothing to compare. If a benchmark was renamed",
        ),
        ({}, (DEVICE_ONLY, None), "benchmarks", "does not run on a host"),
        (
            {"commit": OLD, "benchmarks": ["nope"]},
            (MORE, None),
            "benchmarks",
            "suite.toml at ffffffffffff: benchmarks: 'nope' is not declared by demo; it has sorting, hashing, searching.",
        ),
        (
            {"head": OLD, "base": "e" * 40, "benchmarks": ["sorting", "nope"]},
            (MORE, MANIFEST),
            "benchmarks",
            "Neither suite.toml at ffffffffffff nor suite.toml at eeeeeeeeeeee declares nope.",
        ),
    ],
)
def test_a_manifest_that_cannot_be_measured_is_refused_with_what_to_mend(
    agent: ScriptedAgent,
    new_run: Make,
    run_now: Make,
    case: Refusal,
) -> None:
    fields, reported, field, words = case
    run = new_run(**fields)
    answer = agent.lease().report_manifest(*reported)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert list(answer.json()["fields"]) == [field]
    assert words in answer.json()["detail"]
    assert run_now(run["id"])["benchmarks"] == run["benchmarks"], "nothing was kept"


def test_a_manifest_beyond_the_limit_of_bytes_is_refused(
    agent: ScriptedAgent, new_run: Make
) -> None:
    new_run()
    answer = agent.lease().report_manifest({**MANIFEST, "padding": "x" * 9_000_000})
    assert answer.status_code == 413


def test_a_manifest_with_text_that_no_database_stores_is_refused(
    agent: ScriptedAgent, new_run: Make
) -> None:
    new_run()
    suite = {**MANIFEST["suite"], "description": "a\0b"}
    answer = agent.lease().report_manifest({**MANIFEST, "suite": suite})
    assert answer.status_code == 422


# --- repeated, late and contradicting reports ---


def test_a_repeated_report_changes_nothing_and_has_the_same_answer(
    agent: ScriptedAgent, new_run: Make, run_now: Make
) -> None:
    run = new_run()
    leased = agent.lease()
    first = leased.report_manifest(MORE)
    before = run_now(run["id"])
    reordered = dict(reversed(MORE.items()))
    assert leased.report_manifest(reordered).json() == first.json()
    assert run_now(run["id"]) == before
    leased.report("preparing")
    leased.report("measuring")
    leased.send(samples_item(0))
    assert leased.report_manifest(MORE).json() == first.json(), "an answer was lost"


def test_another_manifest_than_the_first_is_refused(
    agent: ScriptedAgent, new_run: Make, run_now: Make
) -> None:
    run = new_run(base_commit=OLD)
    leased = agent.lease()
    assert leased.report_manifest(MORE, MANIFEST).status_code == 200
    for head, base in ((MANIFEST, MANIFEST), (MORE, THREE_ARMS)):
        answer = leased.report_manifest(head, base)
        assert (answer.status_code, answer.json()["code"]) == (409, "other_manifest")
        assert "Give both repositories the same commits" in answer.json()["detail"]
    assert "searching" in run_now(run["id"])["benchmarks"]


def test_once_an_attempt_measures_it_is_too_late(
    agent: ScriptedAgent, new_run: Make
) -> None:
    new_run()
    answer = agent.measuring().report_manifest(MORE)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_a_report_holds_for_the_next_attempt_and_for_an_agent_that_reports_nothing(
    agent: ScriptedAgent, new_run: Make, clock: FrozenClock
) -> None:
    new_run()
    agent.lease().report_manifest(THREE_ARMS)
    clock.advance(31)
    assert expiry.sweep() == 1
    second = agent.lease()
    assert second.report_manifest(MORE).json()["code"] == "other_manifest"
    assert second.report_manifest(THREE_ARMS).status_code == 200
    clock.advance(31)
    assert expiry.sweep() == 1
    third = agent.measuring()
    assert third.send(samples_item(0, arm="slow")).status_code == 200


def test_a_manifest_after_samples_that_another_allowed_is_refused(
    agent: ScriptedAgent, new_run: Make, client: TestClient, enrolled: Make
) -> None:
    """Another target of the run was measured by an agent that reports nothing."""
    other = enrolled("lab-2")
    announce(other.agent_id)
    new_run()
    agent.measuring().send(samples_item(0))
    late = ScriptedAgent(client, other.headers).lease()
    answer = late.report_manifest(MORE)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert "Repeat the run" in answer.json()["detail"]
    assert late.report_manifest(MANIFEST).status_code == 200


def test_all_targets_of_a_run_share_one_plan(
    agent: ScriptedAgent, new_run: Make, client: TestClient, enrolled: Make
) -> None:
    other = enrolled("lab-2")
    announce(other.agent_id)
    new_run()
    agent.lease().report_manifest(MORE)
    second = ScriptedAgent(client, other.headers).lease()
    assert second.lease["work"]["benchmarks"] == ["sorting", "hashing", "searching"]
    assert second.report_manifest(MANIFEST).json()["code"] == "other_manifest"
    assert second.report_manifest(MORE).status_code == 200
