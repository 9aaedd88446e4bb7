"""Creates, lists, cancels and concludes runs and jobs. Other features use `jobs` only through this module.

Each function is one transaction's work; its live events and outbox rows commit with it. Nothing here waits or
talks to an agent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
from paceline_server.fleet import service as fleet
from paceline_server.jobs import queries, run_views
from paceline_server.jobs.declarations import (
    DEVICE_SECTION,
    RunPlan,
    SuiteDeclaration,
    plan_of,
    suite_declaration,
)
from paceline_server.jobs.followups import ab_run, commits_of, confirmation_run
from paceline_server.jobs.imported_runs import (
    ImportedRun,
    analyse_imported,
    store_imported_run,
    supersede_imported_run,
)
from paceline_server.jobs.leases import (
    HeldLease,
    LeaseClaim,
    check_lease,
    finish,
    lease_lost,
)
from paceline_server.jobs.outcomes import WITHOUT_VERDICT, first_error, reason_of_end
from paceline_server.jobs.queries import (
    counting_attempts,
    find_schedule,
    missed_schedules,
    projects_with_missed_schedules,
)
from paceline_server.jobs.recorded_runs import (
    RecordedRun,
    open_batch,
    open_recorded_run,
)
from paceline_server.jobs.run_creation import (
    EXPIRES_AFTER,
    default_launches,
    new_run,
    store_run,
)
from paceline_server.jobs.schemas import JobOut, RunIn, RunOut, Trigger, Verdict
from paceline_server.jobs.selection import Selection, select_measurements
from paceline_server.jobs.states import FINAL, HELD, MAX_BATCH, Event
from paceline_server.jobs.transitions import move, publish_job, refresh_run
from paceline_server.jobs.waiting import waiting_reasons
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError, invalid_request, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import page
from paceline_server.store.session import wait_for_lock
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import RECORDED, Job, Run

__all__ = [
    "CANCEL_TOPIC",
    "WITHOUT_VERDICT",
    "HeldLease",
    "ImportedRun",
    "LeaseClaim",
    "RecordedRun",
    "RunPlan",
    "RunPreview",
    "ab_run",
    "analyse_imported",
    "cancel",
    "check_lease",
    "commits_of",
    "conclude",
    "confirmation_run",
    "counting_attempts",
    "create_run",
    "default_launches",
    "fail_analysis",
    "find_schedule",
    "finish",
    "first_error",
    "get_job",
    "get_run",
    "job_with_reason",
    "lease_lost",
    "list_runs",
    "missed_schedules",
    "open_batch",
    "open_recorded_run",
    "plan_of",
    "preview_run",
    "projects_with_missed_schedules",
    "reason_of_end",
    "replace_verdict",
    "request_batch",
    "stops_when_sure",
    "store_imported_run",
    "supersede_imported_run",
]


CANCEL_TOPIC = "jobs.cancel"
"""Outbox topic for cancelling a run, for callers that must not lock jobs themselves."""


def create_run(
    session: Session, spec: RunIn, created_by: str, schedule_id: str | None = None
) -> RunOut:
    """Create a run and one queued job per target; with `base_commit` its jobs measure both revisions.

    Raises 404 `unknown_suite`, 400 `invalid_request` naming each wrong field, 409 `no_target`.
    """
    # The names a schedule suppresses were checked when it was created.
    also_suppressible = () if schedule_id is None else spec.suppress
    checked = _check_request(session, spec, also_suppressible)
    suite, selection = checked.suite, checked.selection
    if not checked.targets:
        raise ProblemError(
            409,
            "no_target",
            f"No target that can run {spec.suite} is online and free to use. Start its agent, end the "
            "maintenance, or name targets to queue jobs for them.",
        )
    commit = spec.head or spec.commit or suite.commit
    pull_request = spec.pull_request
    run = new_run(
        created_by,
        suite=suite.name,
        repository=suite.repository,
        manifest_path=suite.manifest_path,
        manifest=suite.manifest,
        commit=commit,
        base_commit=base_of(spec, commit),
        base_branch=spec.base_branch,
        pull_request=None if pull_request is None else pull_request.model_dump(),
        judges_head=spec.head is not None,
        stop_when_sure=stops_when_sure(spec, commit),
        whole_suite=not spec.benchmarks,
        concurrency_key=spec.concurrency_key,
        branch=_branch_of(spec, suite),
        trigger=spec.trigger,
        demonstration=selection.demonstration,
        benchmarks=selection.benchmarks,
        params=selection.params,
        knobs=selection.knobs,
        suppress=list(dict.fromkeys(spec.suppress)),
        rounds=spec.rounds,
        min_time_ns=spec.min_time_ns,
        schedule_id=schedule_id,
    )
    stored = store_run(session, run, checked.targets, clock.now(), spec.launches)
    if spec.concurrency_key is not None:
        _supersede_older(session, run.id, spec.concurrency_key)
    return stored


def stops_when_sure(spec: RunIn, commit: str) -> bool:
    """Return what a request says; else stop where two different revisions are compared."""
    if spec.stop_when_sure is not None:
        return spec.stop_when_sure
    return spec.has_base and base_of(spec, commit) != commit


def _supersede_older(session: Session, run_id: str, key: str) -> None:
    """Cancel the older runs of a key, and store in all of them that the new one supersedes them."""
    # The lock makes sure that one of two runs that are created at once sees the other.
    wait_for_lock(session, f"concurrency_key {key}")
    for older_id in queries.runs_of_key(session, key):
        if older_id != run_id:
            cancel(session, older_id)
            queries.lock_run(session, older_id).superseded_by = run_id


@dataclass(frozen=True)
class RunPreview:
    """The selection and the targets of a request if it were made now; `targets` is empty if none is online."""

    suite: Suite
    selection: Selection
    targets: Sequence[Target]


def preview_run(session: Session, spec: RunIn) -> RunPreview:
    """Check a request without creating a run. Raises 404 `unknown_suite`, 400 that names each wrong field."""
    return _check_request(session, spec)


def _measures_announced(spec: RunIn, suite: Suite) -> bool:
    """Return whether the commit to measure is the one whose manifest was announced."""
    commit = spec.head or spec.commit
    return commit is None or suite.commit.startswith(commit)


def _branch_of(spec: RunIn, suite: Suite) -> str | None:
    """Return the branch whose history a run belongs to.

    Raises 400 for a branch other than the announced one without a commit, because the server does not know its head.
    """
    if spec.head is not None:
        return None
    if spec.branch is not None:
        if spec.commit is None and spec.branch != suite.branch:
            detail = f"give the commit too: only the head of {suite.branch or 'no branch'} was announced"
            raise invalid_request(f"branch: {detail}.", {"branch": detail})
        return spec.branch
    return suite.branch if _measures_announced(spec, suite) else None


def targets_for_schedule(session: Session, spec: RunIn) -> Sequence[Target]:
    """Return the targets on which a schedule would run now. Raises as `preview_run` does."""
    return _check_request(session, spec, spec.suppress).targets


def _check_request(
    session: Session, spec: RunIn, also_suppressible: Collection[str] = ()
) -> RunPreview:
    """Check a request, and return its selection and targets. Raises as `preview_run` does.

    A request may suppress the configuration errors that a target has now, and those in `also_suppressible`.
    """
    suite = queries.suite(session, spec.suite)
    if suite is None:
        raise ProblemError(
            404,
            "unknown_suite",
            f"No agent has announced a suite {spec.suite!r}. {catalog.describe_announced(session)}",
        )
    if faults := _faults_of_sides(spec):
        field, fault = next(iter(faults.items()))
        raise invalid_request(f"{field}: {fault}.", faults)
    declared = suite_declaration(suite.manifest)
    able = queries.targets_of_suite(session, spec.suite)
    reported = {name for target in able for name in target.configuration}
    selection = select_measurements(
        declared,
        spec,
        reported.union(also_suppressible),
        is_final=_measures_announced(spec, suite),
    )
    targets = _choose_targets(session, able, declared, spec, selection)
    if selection.faults:
        first = next(iter(selection.faults.items()))
        raise invalid_request(f"{first[0]}: {first[1]}.", selection.faults)
    return RunPreview(suite, selection, targets)


def _faults_of_sides(spec: RunIn) -> dict[str, str]:
    """Return, by field, what is contradictory about the requested revisions."""
    faults: dict[str, str] = {}
    if spec.head is None:
        for name in ("base", "base_branch", "pull_request"):
            if getattr(spec, name) is not None:
                faults[name] = "give the head of the pull request too"
        return faults
    for name in ("commit", "base_commit", "branch"):
        if getattr(spec, name) is not None:
            faults[name] = "with head, give only base or base_branch beside it"
    if (spec.base is None) == (spec.base_branch is None):
        faults["base"] = "with head, give either base or base_branch"
    if spec.trigger == "a_a":
        faults["trigger"] = "an A/A run measures one revision; leave head out"
    return faults


def base_of(spec: RunIn, commit: str) -> str | None:
    """Return the base commit of an A/B or A/A run; None for other runs.

    A base that abbreviates `commit`, or that it abbreviates, becomes `commit`, which makes the run an A/A run.
    With the trigger `a_a` the base may be left out.
    """
    base = spec.base_commit or spec.base
    if base is None:
        return commit if spec.trigger == "a_a" else None
    if not (base.startswith(commit) or commit.startswith(base)):
        if spec.trigger == "a_a":
            detail = "an A/A run measures one revision on both sides: leave this out, or give the commit"
            raise invalid_request(f"base_commit: {detail}.", {"base_commit": detail})
        return base
    return commit


def _choose_targets(
    session: Session,
    of_suite: Sequence[Target],
    declared: SuiteDeclaration,
    spec: RunIn,
    selection: Selection,
) -> list[Target]:
    benchmarks, faults, at = selection.benchmarks, selection.faults, clock.now()
    able = {target.id: target for target in of_suite}
    if spec.targets is not None:
        for target_id in spec.targets:
            fault: str | None
            target = queries.target(session, target_id)
            if target is None:
                fault = f"there is no target {target_id!r}"
            else:
                fault = _misfit(declared, benchmarks, target)
                if fault is None and target_id not in able:
                    fault = f"no agent of {target.name} has announced {spec.suite}"
            if fault is not None:
                faults["targets"] = fault
                return []
        return [able[target_id] for target_id in dict.fromkeys(spec.targets)]
    return [
        target
        for target in able.values()
        if (not target.simulated or "simulated" in spec.suppress)
        and fleet.is_free_to_use(target, at)
        and all(_runs_on(declared, name, target) for name in benchmarks)
    ]


def _misfit(
    declared: SuiteDeclaration, benchmarks: Sequence[str], target: Target
) -> str | None:
    """Return why a target of this kind cannot measure the benchmarks, or None."""
    unfit = [name for name in benchmarks if not _runs_on(declared, name, target)]
    if not unfit:
        return None
    if not any(declared.runs_on(name, target.kind) for name in declared.benchmarks):
        section = DEVICE_SECTION[target.kind]
        return (
            f"{target.name} is a {target.kind}, and {declared.suite} has no build for {target.kind}s: no workload of "
            f"its suite.toml has a section `{section}`"
        )
    return f"{unfit[0]} does not run on a {target.kind} such as {target.name}"


def _runs_on(declared: SuiteDeclaration, benchmark: str, target: Target) -> bool:
    return benchmark not in declared.benchmarks or declared.runs_on(
        benchmark, target.kind
    )


def get_run(session: Session, run_id: str) -> RunOut:
    """Return a run with its jobs. Raises 404."""
    run = queries.run(session, run_id)
    if run is None:
        raise not_found("run", run_id)
    jobs = queries.jobs_of_runs(session, [run_id])[run_id]
    return run_views.run_out(run, jobs, waiting_reasons(session, jobs))


def get_job(session: Session, job_id: str) -> JobOut:
    """Return a job. Raises 404."""
    job_and_target = queries.job_with_target(session, job_id)
    if job_and_target is None:
        raise not_found("job", job_id)
    reasons = waiting_reasons(session, [job_and_target])
    return run_views.job_out(*job_and_target, reasons.get(job_id))


def job_with_reason(job: Job, target: Target) -> tuple[JobOut, str]:
    """Return an ended job, and the reason for its end in one line."""
    return run_views.job_out(job, target), reason_of_end(job)


def list_runs(
    session: Session,
    *,
    suite: str | None,
    target: str | None,
    state: str | None,
    trigger: Trigger | None,
    requested: tuple[datetime | None, datetime | None] = (None, None),
    with_imported: bool = True,
    limit: int,
    cursor: str | None,
) -> Page[RunOut]:
    """Return runs, the newest first, with their jobs. `requested`: from the first instant on, before the second."""
    runs: Page[Run] = page.page(
        session,
        queries.runs(
            suite, target, state, trigger, requested, with_imported=with_imported
        ),
        [Run.created_at, Run.id],
        lambda run: (run.created_at, run.id),
        lambda run: run,
        limit=limit,
        cursor=cursor,
    )
    jobs = queries.jobs_of_runs(session, [run.id for run in runs.items])
    reasons = waiting_reasons(
        session, [pair for pairs in jobs.values() for pair in pairs]
    )
    return Page[RunOut](
        items=[run_views.run_out(run, jobs[run.id], reasons) for run in runs.items],
        next=runs.next,
    )


def cancel(session: Session, run_id: str) -> RunOut:
    """Cancel the jobs that have not ended: queued ones at once, held ones through their agent. Raises 404."""
    if queries.run(session, run_id) is None:
        raise not_found("run", run_id)
    at = clock.now()
    for job in queries.lock_jobs_of_run(session, run_id):
        if job.state in HELD:
            attempt = queries.attempt(session, job.id, job.attempt)
            if attempt is not None and not attempt.cancel_requested:
                attempt.cancel_requested = True
                job.detail = "asked to stop"
                publish_job(session, job)
        elif job.state == "lost" or job.state not in FINAL:
            move(session, job, Event.cancel, at, cause="cancelled")
    refresh_run(session, run_id, at)
    return get_run(session, run_id)


def request_batch(session: Session, job_id: str) -> bool:
    """Queue the job's next batch of launches (analysing → queued).

    Returns False, without a change, if it is not analysing (cancelled meanwhile), has had its last batch, or if no agent
    measured it.
    """
    job = queries.lock_job(session, job_id)
    if job is None or job.state != "analysing" or job.batch >= MAX_BATCH:
        return False
    if session.get_one(Run, job.run_id).trigger == RECORDED:
        return False
    at = clock.now()
    job.expires_at = at + EXPIRES_AFTER
    move(session, job, Event.request_batch, at)
    return True


def conclude(session: Session, job_id: str, verdict: Verdict, reason: str) -> bool:
    """Store the job's verdict (analysing → done) and update its run.

    Returns False, without a change, if it is not analysing.
    """
    job = queries.lock_job(session, job_id)
    if job is None or job.state != "analysing":
        return False
    job.verdict, job.reason = verdict, reason
    move(session, job, Event.conclude, clock.now())
    return True


def replace_verdict(
    session: Session, job_id: str, verdict: Verdict, reason: str
) -> bool:
    """Give a concluded job another verdict, because a person waived its failure.

    Returns False, without a change, if it is not done."""
    job = queries.lock_job(session, job_id)
    if job is None or job.state != "done":
        return False
    job.verdict, job.reason = verdict, reason
    publish_job(session, job)
    refresh_run(session, job.run_id, clock.now())
    return True


def fail_analysis(session: Session, job_id: str, batch: int, detail: str) -> bool:
    """End a job whose analysis keeps failing (analysing → failed); its samples are kept.

    Returns False, without a change, if the job is no longer analysing this batch.
    """
    job = queries.lock_job(session, job_id)
    if job is None or (job.state, job.batch) != ("analysing", batch):
        return False
    move(
        session,
        job,
        Event.give_up_analysis,
        clock.now(),
        cause="analysis_failed",
        detail=detail,
    )
    return True
