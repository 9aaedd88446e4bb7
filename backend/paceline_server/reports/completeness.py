"""Lists every declared case of a run that has no samples, with the reason.

A case has arrived, is unavailable on its target, is still pending, or is missing with a
reason; none is left out (I12).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, cast

from paceline_contract.events import ParamValue
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import read_manifest
from sqlalchemy.orm import Session

from paceline_server.detect.facts import JobFacts, JobRequest
from paceline_server.detect.groups import expected_groups
from paceline_server.ingest.arrivals import Arrivals, arrivals
from paceline_server.ingest.cases import params_key
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
    TargetRefOut,
)
from paceline_server.series import service as history
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.history import Series
from paceline_server.store.tables.jobs import IMPORTED, Job, Run

MAX_MISSING = 500
"""Missing cases one answer lists; `missing_total` counts all. A run that delivered nothing owes thousands."""

Reason = Literal[
    "pending",
    "crash",
    "timeout",
    "error",
    "build",
    "skipped",
    "lost",
    "cancelled",
    "expired",
    "failed",
]
OF_CAUSE: Mapping[str, Reason] = {
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
"""Why a failed job lacks what it lacks."""
OF_STATE: Mapping[str, Reason] = {
    "lost": "lost",
    "cancelled": "cancelled",
    "expired": "expired",
    "done": "skipped",
}
TEXTS: Mapping[Reason, str] = {
    "pending": "not measured yet",
    "skipped": "the workload ended well and never measured it",
    "lost": "its agent was lost while measuring",
    "cancelled": "the run was cancelled before it was measured",
    "expired": "no agent took the job in time",
}

SPOKEN: Mapping[Reason, str] = {"build": "build failed"}
"""Reasons whose literal is no word for what happened."""

Case = tuple[str, str, str]
"""(benchmark, arm, params key)."""


class ExpectedCase(NamedTuple):
    """One case a job was asked for."""

    benchmark: str
    arm: str
    params: Mapping[str, ParamValue]

    @property
    def key(self) -> Case:
        return self.benchmark, self.arm, params_key(self.params)


def completeness(session: Session, run_id: str) -> CompletenessOut:
    """What of a run has arrived, right now. Raises 404."""
    run = queries.find_run(session, run_id)
    if run is None:
        raise not_found("run", run_id)
    manifest = read_manifest(run.manifest)
    counts: Counter[str] = Counter()
    missing: list[MissingCaseOut] = []
    for job, target in queries.jobs_of_run(session, run_id):
        here = arrivals(session, job.id)
        for case in _expected_cases(manifest, run, target, here):
            counts["declared"] += 1
            if case.key in here.measured:
                counts["arrived"] += 1
            elif case.key in here.unavailable:
                counts["unavailable"] += 1
            else:
                missing.append(_missing_case_out(job, target, case))
    pending = [case_out for case_out in missing if case_out.reason == "pending"]
    gone = [case_out for case_out in missing if case_out.reason != "pending"]
    return CompletenessOut(
        run_id=run.id,
        suite=run.suite,
        state=cast(RunState, run.state),
        trigger=cast(Trigger, run.trigger),
        words=_completeness_sentence(counts, len(pending), gone),
        complete=not missing,
        declared=counts["declared"],
        arrived=counts["arrived"],
        pending=len(pending),
        unavailable=counts["unavailable"],
        missing=gone[:MAX_MISSING],
        missing_total=len(gone),
        missing_groups=_missing_groups(gone),
        gone=[] if run.trigger == IMPORTED else _undeclared(session, run, manifest),
    )


def _expected_cases(
    manifest: Manifest, run: Run, target: Target, here: Arrivals
) -> Iterator[ExpectedCase]:
    """Every case that must arrive. Nobody asked another tool for anything: it owes what it brought."""
    for case in requested_cases(
        manifest, JobRequest(run.benchmarks, run.params), target.kind
    ):
        if run.trigger != IMPORTED or case.key in here.measured:
            yield case


def requested_cases(
    manifest: Manifest, asked: JobRequest, target_kind: str
) -> Iterator[ExpectedCase]:
    """Every case that is asked of a target of this kind."""
    section = "host" if target_kind == "host" else "android"
    fit = {
        workload.name
        for workload in manifest.workloads
        if getattr(workload, section) is not None
    }
    for group in expected_groups(manifest, asked, JobFacts(cases=())):
        benchmark = manifest.benchmarks[group.benchmark]
        if benchmark.workload in fit:
            for arm in benchmark.arms:
                yield ExpectedCase(group.benchmark, arm, group.params)


def _missing_case_out(job: Job, target: Target, case: ExpectedCase) -> MissingCaseOut:
    if job.state not in FINAL:
        reason: Reason = "pending"
    elif job.state == "failed":
        reason = OF_CAUSE.get(job.cause or "", "failed")
    else:
        reason = OF_STATE[job.state]
    # The group that shows it names the cause already ("24 cases: build failed").
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


def _missing_groups(gone: Sequence[MissingCaseOut]) -> list[MissingGroupOut]:
    """What is missing for one reason, as one entry: most cases first."""
    together: dict[tuple[str, str], list[MissingCaseOut]] = {}
    for case in gone:
        together.setdefault((case.reason, case.text), []).append(case)
    groups = []
    for cases in sorted(together.values(), key=len, reverse=True):
        first, count = cases[0], len(cases)
        noun = "case" if count == 1 else "cases"
        targets = {case.target_id: case.target_name for case in cases}
        groups.append(
            MissingGroupOut(
                reason=first.reason,
                words=f"{count} {noun}: {SPOKEN.get(first.reason, first.reason)}",
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
    counts: Mapping[str, int], pending: int, gone: list[MissingCaseOut]
) -> str:
    """`3 of 41 missing (2 crash, 1 skipped)`."""
    declared, elsewhere = counts.get("declared", 0), counts.get("unavailable", 0)
    parts = []
    if gone:
        by_reason = Counter(
            SPOKEN.get(case_out.reason, case_out.reason) for case_out in gone
        ).most_common()
        why = ", ".join(f"{number} {reason}" for reason, number in by_reason)
        parts.append(f"{len(gone)} of {declared} missing ({why})")
    if pending:
        parts.append(f"{pending} of {declared} still to come")
    if not parts:
        parts.append(
            f"all {declared - elsewhere} arrived"
            if declared
            else "nothing was asked for"
        )
    if elsewhere:
        parts.append(f"{elsewhere} not available on their target")
    return "; ".join(parts)


def _undeclared(session: Session, run: Run, manifest: Manifest) -> list[GoneOut]:
    """Benchmarks and arms that history has on this branch and this run's manifest declares no longer."""
    retired = history.retired_reasons(session, run.suite)
    found: dict[tuple[str, str | None], list[Series]] = {}
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
        found.setdefault((row.benchmark, arm), []).append(row)
    last = history.newest_points(
        session, [row.id for rows in found.values() for row in rows]
    )
    made = []
    for (benchmark, arm), rows in found.items():
        own = [last[row.id] for row in rows if row.id in last]
        if not own:
            continue
        newest = max(own, key=lambda point: point.at)
        name = benchmark if arm is None else f"{benchmark} {arm}"
        made.append(
            GoneOut(
                benchmark=benchmark,
                arm=arm,
                series=len(rows),
                last_at=newest.at,
                last_run_id=newest.run_id,
                words=f"{name} was last measured at {newest.commit[:12]} and is declared no more: retire it, "
                "restore it, or name it as an alias of what it is called now",
            )
        )
    return made
