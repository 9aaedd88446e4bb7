"""Lists the correctness checks of a job and their results (I1).

A failed or missing check blocks every verdict. Each workload must report its own checks, even if another
workload has a check of the same name.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline_contract.manifest import Manifest

from paceline_server.detect.facts import JobRequest
from paceline_server.detect.schemas import CheckOut
from paceline_server.ingest.cases import Check


def check_rows(
    manifest: Manifest, request: JobRequest, seen: Sequence[Check]
) -> list[CheckOut]:
    """Return one row per check: ok if every launch passed it and every workload that declares it reported it."""
    expected = expected_checks(manifest, request)
    rows: dict[str, CheckOut] = {}
    for check in seen:
        row = rows.get(check.name)
        if row is None or (row.ok and not check.ok):
            rows[check.name] = CheckOut(
                name=check.name, ok=check.ok, detail=_detail(check, expected)
            )
    for name, workloads in expected.items():
        if not workloads:
            rows.setdefault(name, _missing(name, "expected, but no launch reported it"))
        reporting = {check.workload for check in seen if check.name == name}
        unreported = [workload for workload in workloads if workload not in reporting]
        if unreported and (name not in rows or rows[name].ok):
            rows[name] = _missing(
                name,
                f"expected of workload {', '.join(unreported)}, but no launch of it reported it",
            )
    return list(rows.values())


def expected_checks(manifest: Manifest, request: JobRequest) -> dict[str, list[str]]:
    """Return the checks that must pass, each with the workloads of this job that declare it. It has none if the suite
    declares it for all together."""
    ran = {
        benchmark.workload
        for name, benchmark in manifest.benchmarks.items()
        if request.benchmarks is None or name in request.benchmarks
    }
    expected: dict[str, list[str]] = {name: [] for name in manifest.expected.checks}
    for workload in manifest.workloads:
        for name in workload.checks if workload.name in ran else ():
            expected.setdefault(name, []).append(workload.name)
    return expected


def _detail(check: Check, expected: dict[str, list[str]]) -> str:
    """Return the check's detail; a failed check also names its workload."""
    if check.ok or check.workload not in expected.get(check.name, ()):
        return check.detail
    return f"in workload {check.workload}: {check.detail or 'no detail'}"


def _missing(name: str, detail: str) -> CheckOut:
    return CheckOut(name=name, ok=False, detail=detail)
