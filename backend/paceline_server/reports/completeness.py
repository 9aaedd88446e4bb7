"""Lists every declared case of a run that has no samples, with the reason.

Each case has arrived, is unavailable on its target, is not affected by the change and so not measured again, is
pending, or is missing for a reason (I12).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from paceline_contract.events import ParamValue
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import read_manifest
from paceline_contract.params import params_key, parse_key
from sqlalchemy.orm import Session

from paceline_server.detect.facts import JobFacts, JobRequest
from paceline_server.detect.groups import expected_groups
from paceline_server.ingest.arrivals import Arrivals, list_arrivals
from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import RunState, Trigger
from paceline_server.jobs.states import FINAL
from paceline_server.kernel.errors import not_found
from paceline_server.reports import queries
from paceline_server.reports.history_schemas import (
    CompletenessOut,
    GoneOut,
    MissingCaseOut,
    MissingGroupOut,
    MissingReason,
    TargetRefOut,
)
from paceline_server.series import service as history
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.history import Series
from paceline_server.store.tables.jobs import IMPORTED, Job, Run

MAX_MISSING = 500
"""Missing cases listed per response; `missing_total` counts all, which may be thousands."""

REASON_OF_CAUSE: Mapping[str, MissingReason] = {
    "workload_crashed": "crash",
    "workload_hung": "timeout",
    "workload_error": "error",
    "stream_invalid": "error",
    "workload_no_terminal": "error",
    "workload_flooded": "error",
    "check_failed": "error",
    "build_failed": "build",
    "checkout_failed": "build",
    "suite_invalid": "build",
}
"""Why the cases of a failed job are missing, by its cause."""
REASON_OF_STATE: Mapping[str, MissingReason] = {
    "lost": "lost",
    "cancelled": "cancelled",
    "expired": "expired",
    "done": "skipped",
}
TEXTS: Mapping[MissingReason, str] = {
    "pending": "not measured yet",
    "skipped": "the workload ended well and never measured it",
    "lost": "its agent was lost while measuring",
    "cancelled": "the run was cancelled before it was measured",
    "expired": "no agent took the job in time",
}

REASON_PHRASES: Mapping[MissingReason, str] = {"build": "build failed"}
"""Phrases for reasons that do not read well as they are."""

Case = tuple[str, str, str]
"""(benchmark, arm, params key)."""


class ExpectedCase(NamedTuple):
    """A case that a job should measure."""

    benchmark: str
    arm: str
    params: Mapping[str, ParamValue]

    @property
    def key(self) -> Case:
        return self.benchmark, self.arm, params_key(self.params)


def completeness(session: Session, run_id: str) -> CompletenessOut:
    """Return which cases of a run have arrived so far, and why others are missing. Raises 404."""
    run = queries.find_run(session, run_id)
    if run is None:
        raise not_found("run", run_id)
    manifest = read_manifest(run.manifest)
    counts: Counter[str] = Counter()
    not_arrived: list[MissingCaseOut] = []
    for job, target in queries.jobs_of_run(session, run_id):
        here = list_arrivals(session, job.id)
        for case in _expected_cases(manifest, run, target, here):
            counts["declared"] += 1
            if case.key in here.measured:
                counts["arrived"] += 1
            elif case.key in here.unavailable:
                counts["unavailable"] += 1
            elif case.benchmark in (job.unaffected or {}):
                counts["unaffected"] += 1
            else:
                not_arrived.append(_missing_case(job, target, case))
    pending = [case for case in not_arrived if case.reason == "pending"]
    missing = [case for case in not_arrived if case.reason != "pending"]
    return CompletenessOut(
        run_id=run.id,
        suite=run.suite,
        state=cast(RunState, run.state),
        trigger=cast(Trigger, run.trigger),
        words=_completeness_sentence(counts, len(pending), missing),
        complete=not not_arrived,
        declared=counts["declared"],
        arrived=counts["arrived"],
        pending=len(pending),
        unavailable=counts["unavailable"],
        unaffected=counts["unaffected"],
        missing=missing[:MAX_MISSING],
        missing_total=len(missing),
        missing_groups=_missing_groups(missing),
        gone=[]
        if run.trigger == IMPORTED
        else _undeclared_cases(session, run, manifest),
    )


def _expected_cases(
    manifest: Manifest, run: Run, target: Target, here: Arrivals
) -> Iterator[ExpectedCase]:
    """Yield every case that must arrive. An import requests nothing, so only the cases it has are expected."""
    if run.trigger == IMPORTED:
        for benchmark, arm, key in sorted(here.measured):
            yield ExpectedCase(benchmark, arm, parse_key(key))
        return
    yield from requested_cases(
        manifest, JobRequest(run.benchmarks, run.params), target.kind
    )


def requested_cases(
    manifest: Manifest, request: JobRequest, target_kind: str
) -> Iterator[ExpectedCase]:
    """Yield every case that a request measures on a target of this kind."""
    fit = manifest.benchmarks_on(target_kind)
    for group in expected_groups(manifest, request, JobFacts(cases=())):
        benchmark = manifest.benchmarks[group.benchmark]
        if group.benchmark in fit:
            for arm in benchmark.arms:
                yield ExpectedCase(group.benchmark, arm, group.params)


def _missing_case(job: Job, target: Target, case: ExpectedCase) -> MissingCaseOut:
    if job.state not in FINAL:
        reason: MissingReason = "pending"
    elif job.state == "failed":
        reason = REASON_OF_CAUSE.get(job.cause or "", "failed")
    else:
        reason = REASON_OF_STATE[job.state]
    # The text does not repeat the reason, which the group's heading has ("24 cases: build failed").
    text = (
        TEXTS.get(reason)
        or jobs.first_error(job.cause_detail)
        or jobs.reason_of_end(job)
    )
    return MissingCaseOut(
        target_id=target.id,
        target_name=target.name,
        job_id=job.id,
        benchmark=case.benchmark,
        arm=case.arm,
        params=dict(case.params),
        reason=reason,
        text=text[:500],
    )


def _missing_groups(missing: Sequence[MissingCaseOut]) -> list[MissingGroupOut]:
    """Return the missing cases, grouped by reason, the largest group first."""
    by_reason: dict[tuple[str, str], list[MissingCaseOut]] = {}
    for case in missing:
        by_reason.setdefault((case.reason, case.text), []).append(case)
    groups = []
    for cases in sorted(by_reason.values(), key=len, reverse=True):
        first, count = cases[0], len(cases)
        noun = "case" if count == 1 else "cases"
        targets = {case.target_id: case.target_name for case in cases}
        groups.append(
            MissingGroupOut(
                reason=first.reason,
                words=f"{count} {noun}: {REASON_PHRASES.get(first.reason, first.reason)}",
                count=count,
                text=first.text,
                targets=[
                    TargetRefOut(id=target, name=name)
                    for target, name in targets.items()
                ],
            )
        )
    return groups


def _completeness_sentence(
    counts: Mapping[str, int], pending: int, missing: list[MissingCaseOut]
) -> str:
    """Return the completeness in words, such as `3 of 41 missing (2 crash, 1 skipped)`."""
    declared, unavailable, unaffected = (
        counts.get(name, 0) for name in ("declared", "unavailable", "unaffected")
    )
    parts = []
    if missing:
        counted = Counter(
            REASON_PHRASES.get(case.reason, case.reason) for case in missing
        ).most_common()
        why = ", ".join(f"{number} {reason}" for reason, number in counted)
        parts.append(f"{len(missing)} of {declared} missing ({why})")
    if pending:
        parts.append(f"{pending} of {declared} still to come")
    if not declared:
        parts.append("nothing was requested")
    elif not parts and declared > unaffected:
        arrived = declared - unavailable - unaffected
        parts.append(
            f"{'the only case' if arrived == 1 else f'all {arrived} cases'} arrived"
        )
    if unaffected:
        parts.append(f"{unaffected} not affected and not measured again")
    if unavailable:
        parts.append(f"{unavailable} not available on their target")
    return "; ".join(parts)


def _undeclared_cases(session: Session, run: Run, manifest: Manifest) -> list[GoneOut]:
    """Return benchmarks and arms in the branch's history that the run's manifest no longer declares."""
    retired = history.retired_reasons(session, run.suite)
    gone: dict[tuple[str, str | None], list[Series]] = {}
    names = history.NewestNames.of(manifest)
    for row in history.of_suite(session, run.suite, run.branch or ""):
        benchmark, arm_now = names.newest(row.benchmark, row.arm)
        declared = manifest.benchmarks.get(benchmark)
        if declared is not None and arm_now in declared.arms:
            continue
        if (
            row.benchmark in retired
            or history.retired_key(row.benchmark, row.arm) in retired
        ):
            continue
        arm = None if declared is None else row.arm
        gone.setdefault((row.benchmark, arm), []).append(row)
    last = history.newest_points(
        session, [row.id for rows in gone.values() for row in rows]
    )
    undeclared = []
    for (benchmark, arm), rows in gone.items():
        points = [last[row.id] for row in rows if row.id in last]
        if not points:
            continue
        newest = max(points, key=lambda point: point.at)
        name = benchmark if arm is None else f"{benchmark} {arm}"
        undeclared.append(
            GoneOut(
                benchmark=benchmark,
                arm=arm,
                series=len(rows),
                last_at=newest.at,
                last_run_id=newest.run_id,
                words=f"{name} was last measured at {newest.commit[:12]} and is no longer declared: retire it, "
                "declare it again, or name it as an alias of its new name",
            )
        )
    return undeclared
