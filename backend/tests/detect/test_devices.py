"""Devices have their own margin, reference and suppressed configuration errors."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect import service
from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.facts import JobFacts, JobIdentity, JobRequest
from paceline_server.detect.judge import read_directory
from paceline_server.detect.revisions import Revision, analyse_revisions
from paceline_server.detect.table import report_lines
from paceline_server.ingest.cases import Case, Conditions
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.fleet import Target
from paceline_server.testing.delivered_jobs import open_lab
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    bench_cases,
    passed_checks,
    revision_bench_cases,
    suite_manifest,
    write_directory,
)

IDENTITY = JobIdentity("sorting", "4f" * 20, "a" * 64, "phone", None)
FASTER = {1000: -0.5, 2000: -0.6}
EMULATOR = [Conditions("before", 0, {"configuration": ["emulator"], "cpus_online": 8})]


def suite_without_margin() -> dict[str, Any]:
    """The suite without a margin of its own."""
    manifest = copy.deepcopy(suite_manifest())
    del manifest["benchmarks"][BENCHMARK]["margin_percent"]
    return manifest


ABSENT = "a static program loads no libcrypto"


def with_two_references() -> dict[str, Any]:
    """The suite with a reference that no device has, and another one there."""
    manifest = suite_without_margin()
    about = manifest["benchmarks"][BENCHMARK]
    about["arms"] = ["openssl", *about["arms"]]
    about |= {"reference": "openssl", "device_reference": "fallback"}
    return manifest


def without_openssl() -> list[Case]:
    """The announcement of an arm that a launch cannot run."""
    params: list[dict[str, int | str]] = [{"batch": 1000}, {"batch": 2000}]
    return [
        Case(
            0,
            BENCHMARK,
            "openssl",
            each,
            (("time", "ns", "lower"),),
            None,
            None,
            ABSENT,
        )
        for each in params
    ]


def analyse_on_device(
    request: JobRequest,
    manifest: dict[str, Any] | None = None,
    *,
    announced: Sequence[Case] = (),
) -> Analysis:
    cases = bench_cases(1, FASTER)
    facts = JobFacts(
        cases, passed_checks(range(5)), conditions=EMULATOR, announced=announced
    )
    return analyse(
        read_manifest(manifest or suite_manifest()), facts, IDENTITY, request
    )


def test_a_device_has_the_wider_margin_unless_the_suite_declares_one() -> None:
    suppressed = ("emulator",)
    for manifest, kind, margin in (
        (suite_without_margin(), "host", 2.0),
        (suite_without_margin(), "device", 3.0),
        (suite_manifest(), "device", 2.0),
    ):
        request = JobRequest(target_kind=kind, suppress=suppressed)  # type: ignore[arg-type]  # literals
        analysis = analyse_on_device(request, manifest)
        assert {row.margin_percent for row in analysis.report.comparisons} == {margin}
        assert any(f"margin {margin:g} %" in line for line in report_lines(analysis))


def test_a_device_without_the_reference_has_its_arms_judged_against_its_own() -> None:
    """A phone has no libcrypto: without a reference of devices no arm of it would ever get a verdict."""
    suppressed, manifest = ("emulator",), with_two_references()
    on_host = analyse_on_device(
        JobRequest(suppress=suppressed), manifest, announced=without_openssl()
    )
    assert {(row.reference, row.verdict) for row in on_host.report.comparisons} == {
        ("openssl", "not_applicable")
    }
    analysis = analyse_on_device(
        JobRequest(target_kind="device", suppress=suppressed),
        manifest,
        announced=without_openssl(),
    )
    verdicts = {
        (row.arm, row.reference, row.verdict) for row in analysis.report.comparisons
    }
    assert verdicts == {
        ("native", "fallback", "pass"),
        ("openssl", "fallback", "not_applicable"),
    }
    assert analysis.verdict == "pass"
    assert any(
        line.startswith(f"{BENCHMARK}: time, reference fallback, margin 3 %")
        for line in report_lines(analysis)
    )


def test_a_configuration_error_voids_the_job_and_is_named() -> None:
    analysis = analyse_on_device(JobRequest(target_kind="device"))
    assert analysis.verdict == "inconclusive"
    assert "configuration error emulator" in analysis.reason
    assert analysis.report.suppressed == []


def test_a_suppressed_configuration_error_voids_nothing_and_stands_on_the_verdict() -> (
    None
):
    analysis = analyse_on_device(
        JobRequest(target_kind="device", suppress=("emulator", "debuggable"))
    )
    assert analysis.verdict == "pass"
    assert analysis.reason == "2 comparisons hold (suppressed: emulator)"
    assert analysis.report.suppressed == ["emulator"]
    assert any(line.startswith("suppressed") for line in report_lines(analysis))


def test_two_revisions_are_judged_by_the_same_rules() -> None:
    base, head = revision_bench_cases(1, {1000: 0.0, 2000: 0.0})
    older, newer = (
        Revision(
            commit * 20,
            commit * 32,
            JobFacts(cases, checks=passed_checks(range(5)), conditions=EMULATOR),
        )
        for commit, cases in (("0b", base), ("0a", head))
    )
    request = JobRequest(target_kind="device", suppress=("emulator",))
    analysis = analyse_revisions(
        read_manifest(suite_without_margin()), older, newer, IDENTITY, request=request
    )
    assert {row.margin_percent for row in analysis.report.comparisons} == {3.0}
    assert analysis.report.suppressed == ["emulator"]
    assert analysis.reason.endswith("(suppressed: emulator)")


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("suppress", [(), ("simulated",)])
@pytest.mark.parametrize("reported", [["emulator"], ["simulated"], None])
def test_the_servers_own_reason_voids_once_beside_the_agents(
    sides: int, suppress: tuple[str, ...], reported: list[str] | None
) -> None:
    conditions = (
        []
        if reported is None
        else [Conditions("before", 0, {"configuration": reported})]
    )
    cases, checks = bench_cases(1, FASTER), passed_checks(range(5))
    facts = JobFacts(cases, checks, conditions=conditions, configuration=("simulated",))
    manifest, request = (
        read_manifest(suite_without_margin()),
        JobRequest(target_kind="device", suppress=suppress),
    )
    if sides == 1:
        analysis = analyse(manifest, facts, IDENTITY, request)
    else:
        older, newer = (
            Revision(commit * 20, commit * 32, facts) for commit in ("0b", "0a")
        )
        analysis = analyse_revisions(manifest, older, newer, IDENTITY, request=request)
    codes = [void.code for void in analysis.voids if void.code == "simulated"]
    assert codes == ([] if suppress else ["simulated"])
    assert analysis.report.suppressed == list(suppress)


def test_a_directory_of_a_device_is_read_as_one(tmp_path: Path) -> None:
    options = {
        "benchmarks": [BENCHMARK],
        "launches": 5,
        "rounds": 20,
        "suppress": ["emulator"],
    }
    write_directory(
        tmp_path, bench_cases(1, FASTER), options=options, target_kind="device"
    )
    request = read_directory(tmp_path, None, None).request
    assert (request.target_kind, list(request.suppress)) == ("device", ["emulator"])


@pytest.mark.parametrize(
    ("suppress", "verdict"), [([], "inconclusive"), (["emulator"], "pass")]
)
def test_suppressed_errors_are_stored_with_the_report_the_job_and_every_comparison(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    suppress: list[str],
    verdict: str,
) -> None:
    lab = open_lab(client, enrolled, token)
    lab.request(suppress=suppress)
    readings: list[dict[str, Any]] = [
        {"phase": "before", "configuration": ["emulator"]},
        {"battery_c": 30.0},
        {"battery_c": 32.0},
    ]
    leased = lab.deliver(FASTER, conditions=readings)
    assert leased.lease["work"]["suppress"] == suppress
    outbox.drain()
    job = client.get(f"/api/v1/jobs/{leased.job_id}", headers=dict(lab.headers)).json()
    assert job["verdict"] == verdict
    report = client.get(
        f"/api/v1/jobs/{leased.job_id}/report", headers=dict(lab.headers)
    ).json()
    assert report["suppressed"] == suppress
    assert report["conditions"] == {"battery_c": {"median": 31.0, "max": 32.0}}
    with read_scope() as session:
        windows = [
            comparison.evidence["window"]
            for comparison in service.comparisons_of_job(session, leased.job_id)
        ]
    assert [window.get("suppressed", []) for window in windows] == [suppress] * 2
    path = f"/api/v1/targets/{lab.target_id}/conditions"
    (shown,) = client.get(path, headers=dict(lab.headers)).json()["jobs"]
    assert (shown["job_id"], shown["verdict"], shown["suppressed"]) == (
        leased.job_id,
        verdict,
        suppress,
    )
    assert shown["conditions"]["battery_c"]["max"] == 32.0


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize("suppress", [[], ["simulated"]])
def test_a_simulated_target_passes_labelled_even_if_its_agent_does_not_say_so(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    suppress: list[str],
) -> None:
    lab = open_lab(client, enrolled, token)
    with session_scope() as session:
        session.get_one(Target, lab.target_id).simulated = True
    lab.request(suppress=suppress)
    leased = lab.deliver(FASTER)
    outbox.drain()
    job = client.get(f"/api/v1/jobs/{leased.job_id}", headers=dict(lab.headers)).json()
    assert job["verdict"] == "pass"
    assert job["reason"].count("simulated") == 1
    report = client.get(
        f"/api/v1/jobs/{leased.job_id}/report", headers=dict(lab.headers)
    ).json()
    assert report["suppressed"] == ["simulated"]
