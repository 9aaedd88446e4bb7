"""Lists the correctness checks of a job and how they ended (I1).

A check that is not ok blocks every verdict. A job is expected to report the checks of
each workload it ran, and only that workload can report them, even where two workloads
name a check alike. A check that failed blocks whether it was expected or not.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline_contract.manifest import Manifest

from paceline_server.detect.facts import JobRequest
from paceline_server.detect.schemas import CheckOut
from paceline_server.ingest.cases import Check


def check_rows(
    manifest: Manifest, asked: JobRequest, seen: Sequence[Check]
) -> list[CheckOut]:
    """One row per check: ok if it passed in every launch and every workload that declares it reported it."""
    owed = _expected_by_workload(manifest, asked)
    rows: dict[str, CheckOut] = {}
    for check in seen:
        known = rows.get(check.name)
        if known is None or (known.ok and not check.ok):
            rows[check.name] = CheckOut(
                name=check.name, ok=check.ok, detail=_detail(check, owed)
            )
    for name in manifest.expected.checks:
        rows.setdefault(name, _missing(name, "expected, but no launch reported it"))
    for name, workloads in owed.items():
        said = {check.workload for check in seen if check.name == name}
        silent = [workload for workload in workloads if workload not in said]
        if silent and (name not in rows or rows[name].ok):
            rows[name] = _missing(
                name,
                f"expected of workload {', '.join(silent)}, but no launch of it reported it",
            )
    return list(rows.values())


def _expected_by_workload(
    manifest: Manifest, asked: JobRequest
) -> dict[str, list[str]]:
    """Check name → the workloads of this job that expect it."""
    ran = {
        benchmark.workload
        for name, benchmark in manifest.benchmarks.items()
        if asked.benchmarks is None or name in asked.benchmarks
    }
    owed: dict[str, list[str]] = {}
    for workload in manifest.workloads:
        for name in workload.checks if workload.name in ran else ():
            owed.setdefault(name, []).append(workload.name)
    return owed


def _detail(check: Check, owed: dict[str, list[str]]) -> str:
    """The message of the workload; of a failed check also the workload, if several declare it."""
    if check.ok or check.workload not in owed.get(check.name, ()):
        return check.detail
    return f"in workload {check.workload}: {check.detail or 'no detail'}"


def _missing(name: str, detail: str) -> CheckOut:
    return CheckOut(name=name, ok=False, detail=detail)
