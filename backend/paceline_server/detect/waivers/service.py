"""Gives, lists and revokes waivers, and applies them and known alerts to the verdicts of jobs.

A waiver is applied when a job is judged, and when it is given, to the runs that it was given for. A verdict that
passed by a waiver stays when the waiver ends; the next run fails. What was measured, and the alerts about it, stay as
they are.

    job judged `fail` ─▶ mark what is waived or known ─▶ reasons left? ─▶ fail | inconclusive | pass, visibly waived
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.detect import queries as detect_queries
from paceline_server.detect.analyse import Analysis
from paceline_server.detect.gate_figures import GateFigure, worst_of
from paceline_server.detect.queries import JobContext
from paceline_server.detect.reasons import (
    join_reasons,
    reasons_of,
    verdict_of,
    waived_sentence,
)
from paceline_server.detect.schemas import JobReportOut
from paceline_server.detect.waivers import queries
from paceline_server.detect.waivers.matching import (
    KnownAlert,
    WaivedRun,
    concerns,
    covers,
    waive,
    waiver_words,
)
from paceline_server.detect.waivers.schemas import WaiverIn, WaiverOut, WaiverState
from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import Verdict
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import invalid_request, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import audit
from paceline_server.store.page import page
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import BASELINE_TRIGGERS, Job, Run
from paceline_server.store.tables.waivers import Waiver

LONGEST = timedelta(days=366)
"""A permission that nobody looks at again is a changed gate: change the gate."""
LOOK_BACK = timedelta(days=30)
"""How old a failed run may be that a new waiver lets pass."""
RUNS_AT_ONCE = 100


def apply(session: Session, context: JobContext, analysis: Analysis) -> Analysis:
    """Return the analysis of a job with what is waived or known taken out of its verdict.

    Confirmations, bisections and A/A runs decide about alerts and noise, not about what may be merged."""
    if analysis.verdict != "fail" or context.run.trigger not in BASELINE_TRIGGERS:
        return analysis
    outcome = _judge_again(
        session, context.run, context.target, analysis.report, clock.now()
    )
    if outcome is None:
        return analysis
    is_open = any(
        judged.decides and judged.pair.outcome.extendable for judged in analysis.ruled
    )
    return replace(
        analysis,
        report=outcome.report,
        verdict=outcome.verdict,
        reason=outcome.reason,
        extendable=outcome.verdict == "inconclusive" and is_open,
    )


@dataclass(frozen=True)
class _JudgedAgain:
    report: JobReportOut
    verdict: Verdict
    reason: str


def _judge_again(
    session: Session, run: Run, target: Target, report: JobReportOut, at: datetime
) -> _JudgedAgain | None:
    """Judge a failed job again with waivers; None if nothing of it is waived."""
    marked = waive(
        report,
        queries.in_force(session, run.suite, at),
        _known_alerts(session, run.suite, target.id),
        _waived_run(run, target),
    )
    if marked == report:
        return None
    reasons = reasons_of(marked)
    verdict = verdict_of(reasons)
    held = "what counts holds" if verdict == "pass" else ""
    parts = [join_reasons(reasons, verdict), held, waived_sentence(reasons)]
    return _JudgedAgain(marked, verdict, "; ".join(part for part in parts if part))


def _waived_run(run: Run, target: Target) -> WaivedRun:
    request = run.pull_request
    number = None if request is None else int(request["number"])
    return WaivedRun(run.id, run.commit, number, target.id, run.demonstration)


def _known_alerts(session: Session, suite: str, target_id: str) -> list[KnownAlert]:
    """Return the slowdowns of arms and failing gates that people know: of each cause the newest alert, if it is
    acknowledged or expected."""
    newest = {
        alert.cause_key: alert
        for alert in reversed(queries.known_alerts(session, suite, target_id))
    }
    known_alerts = [
        alert
        for alert in newest.values()
        if alert.state in ("acknowledged", "expected")
    ]
    accepted: dict[str, dict[str, float]] = defaultdict(dict)
    alert_ids = [alert.id for alert in known_alerts]
    for alert_id, params, upper in queries.failing_evidence(session, alert_ids):
        accepted[alert_id][params] = max(upper, accepted[alert_id].get(params, upper))
    figures: dict[str, list[GateFigure]] = defaultdict(list)
    for alert_id, figure in queries.gate_figures(session, alert_ids):
        figures[alert_id].append(figure)
    return [
        KnownAlert(
            alert.id,
            alert.state,
            alert.benchmark,
            alert.arm,
            alert.metric,
            alert.demonstration,
            accepted[alert.id],
            figures[alert.id],
        )
        for alert in known_alerts
    ]


def create(session: Session, body: WaiverIn, created_by: str) -> WaiverOut:
    """Store a waiver, and let the runs pass for which it was given. Raises 400, 404 for an unknown run."""
    at = clock.now()
    if not at < body.expires_at <= at + LONGEST:
        detail = f"expected an instant within the next {LONGEST.days} days"
        raise invalid_request(f"expires_at: {detail}.", {"expires_at": detail})
    waiver = Waiver(
        id=ids.new_id("wvr"),
        **body.model_dump(),
        created_by=created_by,
        created_at=at,
    )
    if body.run_id is not None:
        _limit_to_measured(session, waiver, body.run_id)
    session.add(waiver)
    session.flush()
    audit.record(
        session,
        created_by,
        "create",
        "waiver",
        waiver.id,
        {"reason": waiver.reason, "what": waiver_words(waiver)},
    )
    _let_pass(session, waiver, at)
    return _out(waiver, at)


def _limit_to_measured(session: Session, waiver: Waiver, run_id: str) -> None:
    """Let the waiver end where something becomes worse than in the run that it is given for."""
    run = queries.run(session, run_id)
    if run is None:
        raise not_found("run", run_id)
    if run.suite != waiver.suite:
        detail = f"run {run_id} is of suite {run.suite}"
        raise invalid_request(f"run_id: {detail}.", {"run_id": detail})
    reports = [
        JobReportOut.model_validate(row.report)
        for job in jobs.get_run(session, run_id).jobs
        if (row := detect_queries.report(session, job.id)) is not None
    ]
    ratios = [
        row.upper or row.ratio
        for report in reports
        for row in report.comparisons
        if row.verdict == "fail" and covers(waiver, row)
    ]
    gates = [
        row
        for report in reports
        for row in report.gates
        if row.verdict == "fail" and covers(waiver, row)
    ]
    known_ratios = [ratio for ratio in ratios if ratio is not None]
    if waiver.worst_ratio is None and known_ratios:
        waiver.worst_ratio = max(known_ratios)
    # A pattern may cover gates in both directions, of which no figure is the worse one.
    directions = {gate.op[0] for gate in gates}
    if waiver.worst_actual is None and len(directions) == 1:
        ends = [end for gate in gates if (end := worst_of(gate)) is not None]
        if ends:
            waiver.worst_actual = max(ends) if directions == {"<"} else min(ends)


def _let_pass(session: Session, waiver: Waiver, at: datetime) -> None:
    """Judge the failed runs again that a new waiver names: by its run, its commits or its pull request."""
    if waiver.run_id is None and waiver.commits is None and waiver.pull_request is None:
        return
    for job, run, target in queries.failed_jobs(
        session, waiver.suite, at - LOOK_BACK, RUNS_AT_ONCE
    ):
        named = (
            waiver.run_id == run.id
            or waiver.commits is not None
            or waiver.pull_request is not None
        )
        if (
            named
            and run.trigger in BASELINE_TRIGGERS
            and concerns(waiver, _waived_run(run, target))
        ):
            _judge_job_again(session, job, run, target, at)


def _judge_job_again(
    session: Session, job: Job, run: Run, target: Target, at: datetime
) -> None:
    row = detect_queries.report(session, job.id)
    if row is None:
        return
    report = JobReportOut.model_validate(row.report)
    outcome = _judge_again(session, run, target, report, at)
    if outcome is not None and jobs.replace_verdict(
        session, job.id, outcome.verdict, outcome.reason
    ):
        row.report = outcome.report.model_dump(mode="json")


def get(session: Session, waiver_id: str) -> WaiverOut:
    """Return a waiver. Raises 404."""
    waiver = queries.waiver(session, waiver_id)
    if waiver is None:
        raise not_found("waiver", waiver_id)
    return _out(waiver, clock.now())


def list_waivers(
    session: Session, *, suite: str | None, limit: int, cursor: str | None
) -> Page[WaiverOut]:
    """Return the waivers, the newest first, including those that ended."""
    at = clock.now()
    return page(
        session,
        queries.waivers(suite),
        [Waiver.created_at, Waiver.id],
        lambda waiver: (waiver.created_at, waiver.id),
        lambda waiver: _out(waiver, at),
        limit=limit,
        cursor=cursor,
    )


def revoke(session: Session, waiver_id: str, revoked_by: str) -> WaiverOut:
    """End a waiver now; repeatable. Raises 404."""
    waiver = queries.lock_waiver(session, waiver_id)
    if waiver is None:
        raise not_found("waiver", waiver_id)
    at = clock.now()
    if waiver.revoked_at is None:
        waiver.revoked_at, waiver.revoked_by = at, revoked_by
        audit.record(session, revoked_by, "revoke", "waiver", waiver.id)
    return _out(waiver, at)


def _out(waiver: Waiver, at: datetime) -> WaiverOut:
    state: WaiverState = "active" if waiver.expires_at > at else "expired"
    if waiver.revoked_at is not None:
        state = "revoked"
    return WaiverOut.of_row(waiver, state=state, words=waiver_words(waiver))
