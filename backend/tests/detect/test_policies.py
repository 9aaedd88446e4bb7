"""Policy advice end to end: a baseline job is measured over HTTP, its advice stored and listed."""

from __future__ import annotations

import io
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.facts import JobFacts, JobIdentity, JobRequest
from paceline_server.detect.policies import service
from paceline_server.detect.policies.advice_sentences import explain_holds, headline
from paceline_server.detect.table import write_table
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import read_scope
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    bench_cases,
    passed_checks,
    suite_manifest,
)

pytestmark = pytest.mark.shapes("embedded")

PREFIX = "/api/v1"
EFFECTS = {1000: 0.25, 2000: -0.2}
"""5/4 and 4/5: the fit crosses 1 in the middle of the logarithms, at √2 · 1,000."""


def manifest(
    minimum: int | str = 1415,
    rounds: int | str | None = 5,
    batches: tuple[int, ...] = (1000, 2000),
    **more: Any,
) -> dict[str, Any]:
    policy: dict[str, Any] = {
        "name": "native_batch",
        "benchmark": BENCHMARK,
        "arm": "native",
        "reference": "fallback",
        "metric": "time",
        "param": "batch",
        "in_force": {"minimum": minimum},
        **more,
    }
    if rounds is not None:
        policy["in_force"]["warmup_rounds"] = rounds
    whole = suite_manifest(policies=[policy])
    batch = whole["benchmarks"][BENCHMARK]["params"]["batch"]
    batch.update(values=list(batches), unit="fingerprints")
    knob = {
        "kind": "int",
        "default": 1400,
        "minimum": 1,
        "maximum": 5000,
        "description": "d",
    }
    whole["knobs"]["minimum_batch"] = knob
    return whole


def cold_only_in_native(cases: Sequence[CaseSamples]) -> list[CaseSamples]:
    """Only native is cold at first: 49 % on top, 2.3 times less each round."""
    return [
        case
        if case.arm == "native"
        else replace(
            case,
            value=np.where(
                case.warmup, np.median(case.value[~case.warmup]), case.value
            ),
        )
        for case in cases
    ]


@pytest.fixture
def lab_of(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Callable[..., Lab]:
    return lambda **spec: open_lab(client, enrolled, token, manifest=manifest(**spec))


def _get(lab: Lab, path: str, status: int = 200, **query: Any) -> dict[str, Any]:
    answer = lab.client.get(f"{PREFIX}{path}", params=query, headers=dict(lab.headers))
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def test_a_baseline_job_says_from_where_the_arm_wins(
    lab_of: Callable[..., Lab],
) -> None:
    lab = lab_of()
    lab.request()
    leased = lab.deliver(EFFECTS, alter=cold_only_in_native)
    outbox.drain()
    (advice,) = _get(lab, "/policies")["items"]
    warm = advice["warm"]
    assert (warm["answer"], warm["measured_from"], warm["monotone"]) == (
        "from",
        2000,
        True,
    )
    assert 1350 < warm["lower"] <= warm["value"] <= warm["upper"] < 1480
    assert [point["winner"] for point in warm["points"]] == ["reference", "arm"]
    assert advice["words"].startswith(
        f"On lab-1 native wins from {warm['value']:,} fingerprints (95 %: "
    )
    assert advice["words"].endswith(
        "; policy in force: from 1,415, after 5 warm-up rounds"
    )
    assert (advice["target_name"], advice["job_id"]) == ("lab-1", leased.job_id)
    assert (advice["run_id"], advice["holds"]) == (leased.run_id, True)
    assert advice["in_force"] == {"minimum": 1415, "warmup_rounds": 5}
    assert advice["warmup"]["rounds"] == 4
    assert advice["warmup"]["penalties"][0]["penalty"] > 0.2
    assert advice["cold"] is None


@pytest.mark.shapes("embedded", "scaled")
def test_the_newest_advice_is_listed_and_the_older_is_history(
    lab_of: Callable[..., Lab],
) -> None:
    lab = lab_of()
    lab.measure(EFFECTS, seed=1)
    lab.measure({1000: -0.3, 2000: -0.4}, seed=2)
    (newest,) = _get(
        lab, "/policies", suite="sorting", policy="native_batch", target=lab.target_id
    )["items"]
    assert newest["warm"]["answer"] == "always"
    assert "from the smallest measured, 1,000 fingerprints, or below" in newest["words"]
    named: dict[str, Any] = {
        "suite": "sorting",
        "policy": "native_batch",
        "target": lab.target_id,
    }
    first = _get(lab, "/policies/history", **named, params="{}", limit=1)
    second = _get(lab, "/policies/history", **named, cursor=first["next"])
    assert [
        advice["warm"]["answer"] for advice in (*first["items"], *second["items"])
    ] == [
        "always",
        "from",
    ]
    assert second["next"] is None
    assert _get(lab, "/policies", policy="another")["items"] == []
    assert (
        _get(lab, "/policies/history", **named, params='{"message": 150}')["items"]
        == []
    )
    assert (
        _get(lab, "/policies/history", 400, **named, params="[1]")["code"]
        == "invalid_request"
    )


def test_a_policy_that_became_wrong_is_listed_beside_its_earlier_advice(
    lab_of: Callable[..., Lab],
) -> None:
    lab = lab_of(rounds=None)
    lab.measure({1000: 0.25, 2000: -0.2}, seed=1)
    leased = lab.measure({1000: 0.3, 2000: 0.2}, seed=2)
    with read_scope() as session:
        (now,) = service.advice_of_job(session, leased.job_id)
        before = service.find_previous_advice(session, now)
        assert before is not None
        assert (before.holds, now.holds) == (True, False)
        evidence = now.advice["evidence"]
        assert (
            evidence["parameters"]["seed"]
            == before.advice["evidence"]["parameters"]["seed"]
        )
        assert (evidence["policy"]["param"], evidence["parameters"]["confidence"]) == (
            "batch",
            0.95,
        )
        assert service.find_previous_advice(session, before) is None
    (listed,) = _get(lab, "/policies")["items"]
    assert listed["warm"]["answer"] == "never"
    assert listed["why"].startswith(
        "at 1,415 fingerprints the policy picks native, which takes 2"
    )


@pytest.mark.parametrize("spec", [{"knobs": {"slowdown_percent": 50}}, {"launches": 2}])
def test_a_demonstration_or_too_little_gives_no_advice(
    lab_of: Callable[..., Lab], spec: dict[str, Any]
) -> None:
    lab = lab_of()
    lab.measure(EFFECTS, **spec)
    assert _get(lab, "/policies")["items"] == []


def test_a_policy_may_be_a_knob_and_a_run_that_turned_one_is_no_baseline(
    lab_of: Callable[..., Lab],
) -> None:
    lab = lab_of(minimum="minimum_batch")
    lab.measure(EFFECTS, seed=1)
    lab.measure(EFFECTS, seed=2, knobs={"minimum_batch": 1900})
    named: dict[str, Any] = {
        "suite": "sorting",
        "policy": "native_batch",
        "target": lab.target_id,
    }
    history = _get(lab, "/policies/history", **named)["items"]
    assert [(advice["in_force"]["minimum"], advice["holds"]) for advice in history] == [
        (1400, True)
    ]


# --- without a database ----------------------------------------------------------------------------

IDENTITY = JobIdentity("sorting", "abc", None, "here", None)


def analyse_job(
    effects: Mapping[int, float],
    drop: tuple[str, int] | None = None,
    knobs: Mapping[str, int] | None = None,
    **spec: Any,
) -> Analysis:
    cases = cold_only_in_native(bench_cases(3, effects))
    cases = [case for case in cases if (case.arm, case.params["batch"]) != drop]
    whole = read_manifest(manifest(batches=tuple(effects), **spec))
    return analyse(
        whole,
        JobFacts(cases, checks=passed_checks(range(5))),
        IDENTITY,
        JobRequest(knobs=knobs or {}),
    )


def test_a_knob_is_judged_at_its_requested_value() -> None:
    (assessment,) = analyse_job(
        EFFECTS, minimum="minimum_batch", knobs={"minimum_batch": 1900}
    ).policies
    assert (assessment.in_force.minimum, assessment.holds) == (1900, False)
    assert explain_holds(assessment).startswith(
        "at 1,899 fingerprints the policy picks fallback, which takes "
    )


def cold_cases(effects: Mapping[int, float]) -> list[CaseSamples]:
    """Cases of a separate benchmark, in which the arm has another name."""
    named = {"native": "first", "fallback": "fallback"}
    return [
        replace(case, benchmark="sort_cold", arm=named[case.arm])
        for case in bench_cases(5, effects)
    ]


@pytest.mark.parametrize(("rounds", "holds"), [(5, True), (0, False)])
def test_a_policy_without_warm_up_must_be_right_when_cold_too(
    rounds: int, holds: bool
) -> None:
    raw = manifest(rounds=rounds, cold_benchmark="sort_cold", cold_arm="first")
    raw["benchmarks"]["sort_cold"] = {
        **raw["benchmarks"][BENCHMARK],
        "arms": ["fallback", "first"],
    }
    cases = [*bench_cases(3, EFFECTS), *cold_cases({1000: 0.5, 2000: 0.3})]
    analysis = analyse(
        read_manifest(raw), JobFacts(cases, checks=passed_checks(range(5))), IDENTITY
    )
    (assessment,) = analysis.policies
    assert assessment.cold is not None
    assert (assessment.warm.answer, assessment.cold.answer, assessment.holds) == (
        "from",
        "never",
        holds,
    )
    assert ("in a fresh process at 1,415" in explain_holds(assessment)) is not holds


def test_advice_is_given_at_every_point_of_the_other_params() -> None:
    raw = manifest()
    raw["benchmarks"][BENCHMARK]["params"]["message"] = {
        "kind": "int",
        "values": [32, 1024],
    }
    cases = [
        replace(case, params={**case.params, "message": message})
        for message, effects in ((32, EFFECTS), (1024, {1000: -0.2, 2000: -0.2}))
        for case in bench_cases(message, effects)
    ]
    assessments = analyse(
        read_manifest(raw), JobFacts(cases, checks=passed_checks(range(5))), IDENTITY
    ).policies
    assert [
        (dict(assessment.params), assessment.warm.answer) for assessment in assessments
    ] == [
        ({"message": 32}, "from"),
        ({"message": 1024}, "always"),
    ]
    assert headline(assessments[1], "this phone").startswith(
        "On this phone at message=1024 native wins from the "
    )


def test_a_target_that_cannot_run_the_arm_gets_no_advice() -> None:
    cases = [case for case in bench_cases(3, EFFECTS) if case.arm == "fallback"]
    analysis = analyse(
        read_manifest(manifest()),
        JobFacts(cases, checks=passed_checks(range(5))),
        IDENTITY,
    )
    assert analysis.policies == ()


def test_a_missing_value_prevents_advice() -> None:
    (assessment,) = analyse_job(EFFECTS, drop=("fallback", 2000)).policies
    assert assessment.warm.answer == "unknown"
    assert headline(assessment) == (
        "On this host nothing can be said of native: fallback was not measured at batch=2000; "
        "policy in force: from 1,415, after 5 warm-up rounds"
    )
    assert analyse_job(EFFECTS, drop=("native", 1000)).policies[0].holds is None


def test_a_failed_check_advises_nothing() -> None:
    cases = bench_cases(3, EFFECTS)
    analysis = analyse(
        read_manifest(manifest()), JobFacts(cases, checks=()), IDENTITY, JobRequest()
    )
    assert analysis.policies[0].warm.reason.startswith("check sorted failed")


def test_too_few_warm_up_rounds_are_named() -> None:
    (assessment,) = analyse_job(EFFECTS, rounds=1).policies
    assert (assessment.minimum.holds, assessment.suffices, assessment.holds) == (
        True,
        False,
        False,
    )
    reason = (
        "1,415 is inside the interval; 1 warm-up round does not suffice: within 2 % of"
    )
    assert explain_holds(assessment).startswith(reason)
    (sufficient,) = analyse_job(EFFECTS, rounds=5).policies
    assert sufficient.holds is True


def test_a_policy_without_warm_up_is_judged_by_its_minimum() -> None:
    (assessment,) = analyse_job(EFFECTS, rounds=None).policies
    assert (assessment.suffices, assessment.holds) == (None, True)
    assert headline(assessment).endswith("policy in force: from 1,415")


def test_judge_prints_policy_advice_in_a_line() -> None:
    out = io.StringIO()
    write_table(analyse_job(EFFECTS), out)
    text = out.getvalue()
    assert "\npolicies\n  native_batch: On this host native wins from 1," in text
    assert "policy in force: from 1,415, after 5 warm-up rounds: holds\n" in text


def test_the_policy_in_force_of_the_hashing_suite_is_the_librarys() -> None:
    native = Path(__file__).parents[3] / "native" / "hashing"
    sources = native / "jvm" / "ledger-hasher" / "src" / "main" / "kotlin"
    (source,) = sources.rglob("LedgerHasher.kt")
    match = re.search(
        r"MEASURED = LedgerPolicy\(minimumBatch = ([\d_]+), warmupRounds = (\d+)\)",
        source.read_text("utf-8"),
    )
    assert match is not None
    (policy,) = read_manifest(
        tomllib.loads((native / "suite.toml").read_text("utf-8"))
    ).policies
    assert (policy.in_force.minimum, policy.in_force.warmup_rounds) == (
        int(match[1]),
        int(match[2]),
    )
