"""A job must report the suite's checks and those of the workloads of its requested benchmarks."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import analyse
from paceline_server.detect.checks import check_rows
from paceline_server.detect.facts import JobFacts, JobIdentity, JobRequest
from paceline_server.ingest.cases import Check
from paceline_server.testing.sorting_suite import BENCHMARK, bench_cases, suite_manifest

FIRST, SECOND = "sorter", "hasher"
OTHER = "hash_batch"


def manifest_of(first: list[str], second: list[str], suite: list[str]) -> Manifest:
    manifest: dict[str, Any] = suite_manifest(expected={"checks": suite})
    (sorter,) = manifest["workloads"]
    manifest["workloads"] = [
        {**sorter, "checks": first},
        {**sorter, "name": SECOND, "checks": second},
    ]
    manifest["benchmarks"][OTHER] = {
        **manifest["benchmarks"][BENCHMARK],
        "workload": SECOND,
    }
    return read_manifest(manifest)


def check_results(
    manifest: Manifest, asked: list[str] | None, *seen: Check
) -> list[tuple[str, bool]]:
    return [
        (row.name, row.ok)
        for row in check_rows(manifest, JobRequest(benchmarks=asked), seen)
    ]


def ok(workload: str, name: str, launch: int = 0) -> Check:
    return Check(launch, name, True, "", workload)


@pytest.mark.parametrize(
    ("asked", "owed"),
    [
        (None, {"every", "own", "other"}),
        ([BENCHMARK], {"every", "own"}),
        ([OTHER], {"every", "other"}),
        ([OTHER, BENCHMARK], {"every", "own", "other"}),
    ],
)
def test_a_job_must_report_the_checks_of_its_requested_workloads(
    asked: list[str] | None, owed: set[str]
) -> None:
    rows = check_results(manifest_of(["own"], ["other"], ["every"]), asked)
    assert {name for name, _ in rows} == owed
    assert not any(fine for _, fine in rows)


def test_checks_that_were_reported_are_ok() -> None:
    manifest = manifest_of(["own"], ["other"], ["every"])
    reported = [ok(FIRST, "own"), ok(SECOND, "other", 3), ok(FIRST, "every")]
    assert check_results(manifest, None, *reported) == [
        ("own", True),
        ("other", True),
        ("every", True),
    ]


def test_a_check_of_one_workload_does_not_count_for_another() -> None:
    manifest = manifest_of(["same"], ["same"], [])
    assert check_results(manifest, None, ok(FIRST, "same"), ok(SECOND, "same")) == [
        ("same", True)
    ]
    (row,) = check_rows(manifest, JobRequest(), [ok(FIRST, "same")])
    assert (row.ok, row.detail) == (
        False,
        f"expected of workload {SECOND}, but no launch of it reported it",
    )
    assert check_results(manifest, [BENCHMARK], ok(FIRST, "same")) == [("same", True)]


def test_a_check_of_the_suite_may_come_from_any_workload() -> None:
    assert check_results(manifest_of([], [], ["every"]), None, ok(SECOND, "every")) == [
        ("every", True)
    ]


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (
            [],
            f"check own failed: expected of workload {FIRST}, but no launch of it reported it",
        ),
        (
            [ok(FIRST, "own"), Check(3, "own", False, "3 before 2", FIRST)],
            f"check own failed: in workload {FIRST}: 3 before 2",
        ),
    ],
)
def test_a_workloads_check_that_is_missing_or_failed_makes_everything_inconclusive(
    seen: list[Check], reason: str
) -> None:
    analysis = analyse(
        manifest_of(["own"], ["other"], []),
        JobFacts(bench_cases(1, {1000: 0.126, 2000: 0.126}), checks=seen),
        JobIdentity("sorting", "4f" * 20, None, "bench-host", None),
        JobRequest(benchmarks=[BENCHMARK]),
    )
    assert (analysis.verdict, analysis.reason, analysis.extendable) == (
        "inconclusive",
        reason,
        False,
    )
    assert {row.verdict for row in analysis.report.comparisons} == {"inconclusive"}


def test_an_undeclared_check_keeps_the_detail_of_its_workload() -> None:
    failed = Check(0, "extra", False, "odd", FIRST)
    (row,) = check_rows(manifest_of([], [], []), JobRequest(), [failed])
    assert (row.ok, row.detail) == (False, "odd")
