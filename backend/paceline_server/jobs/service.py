"""Runs and their jobs: create, cancel, conclude. The front door of `jobs` for other features.

Place: above `leases`, `expiry`, `followups` and `transitions`; called by routes, by detect (`request_batch`,
`conclude`) and by alerts (`confirmation_run`, `ab_run`). Invariant: one call is one transaction's worth, and
what it leaves behind (live events, outbox rows) commits with it. Never waits and never talks to an agent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.jobs import outcomes, queries, shapes
from paceline_server.jobs.run_creation import EXPIRES_AFTER, store_run
from paceline_server.jobs.declarations import SuiteDeclaration, read_manifest
from paceline_server.jobs.outcomes import sentence_of, why_without_verdict
from paceline_server.jobs.followups import ab_run, commits_of, confirmation_run
from paceline_server.jobs.imported_runs import ImportedRun, analyse_imported, imported_run
from paceline_server.jobs.leases import HeldLease, LeaseClaim, finish, hold, lease_lost
from paceline_server.jobs.outcomes import WITHOUT_VERDICT
from paceline_server.jobs.declarations import Plan, plan_of
from paceline_server.jobs.queries import counting_attempts
from paceline_server.jobs.schemas import JobOut, RunIn, RunOut, Trigger, Verdict
from paceline_server.jobs.selection import Selection, select
from paceline_server.jobs.states import FINAL, HELD, MAX_BATCH, Event
from paceline_server.jobs.transitions import move, refresh_run, tell
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError, invalid_request, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import page
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run

__all__ = [
    "CANCEL",
    "WITHOUT_VERDICT",
    "HeldLease",
    "ImportedRun",
    "Plan",
    "Requested",
    "LeaseClaim",
    "ab_run",
    "analyse_imported",
    "cancel",
    "commits_of",
    "conclude",
    "confirmation_run",
    "counting_attempts",
    "create_run",
    "ending_of",
    "fail_analysis",
    "finish",
    "get_job",
    "get_run",
    "hold",
    "imported_run",
    "lease_lost",
    "list_runs",
    "plan_of",
    "request_batch",
    "requested",
    "sentence_of",
    "why_without_verdict",
]


CANCEL = "jobs.cancel"
"""Outbox topic: cancel a run, of a caller that holds locks which come after a job's."""


def create_run(
    session: Session, spec: RunIn, created_by: str, schedule_id: str | None = None
) -> RunOut:
    """Create a run and one queued job per target; with `base_commit` an A/B run, whose jobs measure both.

    Raises 404 `unknown_suite`, 400 `invalid_request` naming each wrong field, 409 `no_target`.
    """
    known = (
        spec.suppress if schedule_id is not None else ()
    )  # checked when the schedule was made
    suite, selection, targets = _checked(session, spec, known)
    commit = spec.commit or suite.commit
    run = Run(
        suite=suite.name,
        repository=suite.repository,
        manifest_path=suite.manifest_path,
        manifest=suite.manifest,
        commit=commit,
        base_commit=base_of(spec, commit),
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
        created_by=created_by,
    )
    return store_run(session, run, targets, clock.now(), spec.launches)


@dataclass(frozen=True)
class Requested:
    """What a request would measure and where, if it were made now. `targets` empty: none is online."""

    suite: Suite
    selection: Selection
    targets: Sequence[Target]


def requested(session: Session, spec: RunIn) -> Requested:
    """Check a request without making a run. Raises 404 `unknown_suite`, 400 naming each wrong field."""
    try:
        return Requested(*_checked(session, spec))
    except ProblemError as problem:
        if problem.code != "no_target":
            raise
    suite = queries.suite(session, spec.suite)
    if suite is None:
        raise not_found("suite", spec.suite)
    return Requested(suite, select(read_manifest(suite.manifest), spec), [])


def _branch_of(spec: RunIn, suite: Suite) -> str | None:
    """The branch whose history a run belongs to. Raises 400 for another branch than the announced one whose
    commit is not named: its head is not known here."""
    if spec.branch is not None:
        if spec.commit is None and spec.branch != suite.branch:
            detail = f"name the commit too: only the head of {suite.branch or 'no branch'} was announced"
            raise invalid_request(f"branch: {detail}.", {"branch": detail})
        return spec.branch
    return (
        suite.branch
        if spec.commit is None or suite.commit.startswith(spec.commit)
        else None
    )


def able_targets(session: Session, spec: RunIn) -> list[Target]:
    """The targets a schedule's request would get jobs for now. Raises as `create_run`."""
    return _checked(session, spec, spec.suppress)[2]


def check_run(session: Session, spec: RunIn) -> None:
    """Refuse what no target could ever carry out; that none is online now is no fault. Raises as
    `create_run`."""
    try:
        _checked(session, spec)
    except ProblemError as problem:
        if problem.code != "no_target":
            raise


def _checked(
    session: Session, spec: RunIn, known: Collection[str] = ()
) -> tuple[Suite, Selection, list[Target]]:
    """`known`: names of configuration errors that are taken though no target has them now."""
    suite = queries.suite(session, spec.suite)
    if suite is None:
        raise ProblemError(
            404,
            "unknown_suite",
            f"No agent has announced a suite {spec.suite!r}: register its repository with an agent.",
        )
    declared = read_manifest(suite.manifest)
    able = queries.targets_of_suite(session, spec.suite)
    reported = {name for target in able for name in target.configuration}
    selection = select(declared, spec, reported.union(known))
    targets = _targets(able, declared, spec, selection)
    if selection.faults:
        first = next(iter(selection.faults.items()))
        raise invalid_request(f"{first[0]}: {first[1]}.", selection.faults)
    return suite, selection, targets


def base_of(spec: RunIn, commit: str) -> str | None:
    """The base of an A/B run; a shorter name of `commit` itself becomes `commit`, so that an A/A run shows as
    one. A request of trigger `a_a` needs no base: it is the commit."""
    base = (
        commit
        if spec.trigger == "a_a" and spec.base_commit is None
        else spec.base_commit
    )
    if base is None:
        return None
    if not (base.startswith(commit) or commit.startswith(base)):
        if spec.trigger == "a_a":
            detail = "an A/A run measures one revision on both sides: leave it out, or give the commit itself"
            raise invalid_request(f"base_commit: {detail}.", {"base_commit": detail})
        return base
    return commit


def _targets(
    of_suite: Sequence[Target], declared: SuiteDeclaration, spec: RunIn, selection: Selection
) -> list[Target]:
    benchmarks, faults, at = selection.benchmarks, selection.faults, clock.now()
    able = {target.id: target for target in of_suite}
    if spec.targets is not None:
        chosen = [
            able[target_id]
            for target_id in dict.fromkeys(spec.targets)
            if target_id in able
        ]
        unknown = [target_id for target_id in spec.targets if target_id not in able]
        if unknown:
            faults["targets"] = (
                f"{unknown[0]!r} is no target whose agent announced {spec.suite}"
            )
        for target in chosen:
            unfit = [
                name for name in benchmarks if not _runs_on(declared, name, target)
            ]
            if unfit:
                faults["targets"] = (
                    f"{unfit[0]} does not run on a {target.kind} such as {target.name}"
                )
        return chosen
    wanted = [
        one
        for one in able.values()
        if not one.simulated or "simulated" in spec.suppress
    ]
    online = [target for target in wanted if fleet.is_free_to_use(target, at)]
    fit = [
        target
        for target in online
        if all(_runs_on(declared, name, target) for name in benchmarks)
    ]
    if not fit and not faults:
        raise ProblemError(
            409,
            "no_target",
            f"No target that can run {spec.suite} is online and free to use: start its agent, end the "
            "maintenance, or name targets to queue for them.",
        )
    return fit


def _runs_on(declared: SuiteDeclaration, benchmark: str, target: Target) -> bool:
    return benchmark not in declared.benchmarks or declared.runs_on(
        benchmark, target.kind
    )


def get_run(session: Session, run_id: str) -> RunOut:
    """A run with its jobs. Raises 404."""
    run = queries.run(session, run_id)
    if run is None:
        raise not_found("run", run_id)
    return shapes.run_out(run, queries.jobs_of_runs(session, [run_id])[run_id])


def get_job(session: Session, job_id: str) -> JobOut:
    """A job. Raises 404."""
    found = queries.job_with_target(session, job_id)
    if found is None:
        raise not_found("job", job_id)
    return shapes.job_out(*found)


def ending_of(job: Job, target: Target) -> tuple[JobOut, str]:
    """A job that is over, and why it ended as it did in one line."""
    return shapes.job_out(job, target), outcomes.why(
        shapes.summaries([(job, target)])[0]
    )


def list_runs(
    session: Session,
    *,
    suite: str | None,
    target: str | None,
    state: str | None,
    trigger: Trigger | None,
    limit: int,
    cursor: str | None,
) -> Page[RunOut]:
    """Runs, the newest first, with their jobs."""
    found: Page[Run] = page.page(
        session,
        queries.runs(suite, target, state, trigger),
        [Run.created_at, Run.id],
        lambda run: (run.created_at, run.id),
        lambda run: run,
        limit=limit,
        cursor=cursor,
    )
    jobs = queries.jobs_of_runs(session, [run.id for run in found.items])
    return Page[RunOut](
        items=[shapes.run_out(run, jobs[run.id]) for run in found.items],
        next=found.next,
    )


def cancel(session: Session, run_id: str) -> RunOut:
    """Cancel what has not ended: queued jobs at once, held ones by asking their agent. Raises 404."""
    if queries.run(session, run_id) is None:
        raise not_found("run", run_id)
    at = clock.now()
    for job in queries.lock_jobs_of_run(session, run_id):
        if job.state in HELD:
            attempt = queries.attempt(session, job.id, job.attempt)
            if attempt is not None and not attempt.cancel_requested:
                attempt.cancel_requested = True
                job.detail = "asked to stop"
                tell(session, job)
        elif job.state == "lost" or job.state not in FINAL:
            move(session, job, Event.cancel, at, cause="cancelled")
    refresh_run(session, run_id, at)
    return get_run(session, run_id)


def request_batch(session: Session, job_id: str) -> bool:
    """Queue the job's next batch of launches (analysing → queued).

    False, and nothing changed, when it is not analysing (cancelled meanwhile) or has had its last batch.
    """
    job = queries.lock_job(session, job_id)
    if job is None or job.state != "analysing" or job.batch >= MAX_BATCH:
        return False
    at = clock.now()
    job.expires_at = at + EXPIRES_AFTER
    move(session, job, Event.request_batch, at)
    return True


def conclude(session: Session, job_id: str, verdict: Verdict, reason: str) -> bool:
    """Store the job's verdict (analysing → done) and roll its run up.

    False, and nothing changed, when it is not analysing.
    """
    job = queries.lock_job(session, job_id)
    if job is None or job.state != "analysing":
        return False
    job.verdict, job.reason = verdict, reason
    move(session, job, Event.conclude, clock.now())
    return True


def fail_analysis(session: Session, job_id: str, batch: int, detail: str) -> bool:
    """End a job whose analysis cannot be carried out (analysing → failed); its run rolls up, its alert hears
    of it. What was measured is kept. False, and nothing changed, when that look is no longer waited for."""
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
