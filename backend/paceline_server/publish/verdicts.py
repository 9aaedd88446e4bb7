"""Collects, orders and words the verdicts of a run, or of a directory judged offline, for every format.

What a reader must act on comes first: what failed the run, then what could not be decided, then what is slower but
watched by no rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from paceline_server.detect.analyse import Analysis
from paceline_server.detect.gate_figures import gate_name
from paceline_server.detect.reasons import is_deciding, order_reasons, reasons_of
from paceline_server.detect.schemas import ComparisonOut, GateOut, ReasonOut
from paceline_server.detect.unavailable import list_some
from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import JobOut, Outcome
from paceline_server.kernel import settings
from paceline_server.kernel.errors import ProblemError
from paceline_server.publish.schemas import SCHEMA, JobVerdictsOut, VerdictsOut
from paceline_server.reports import completeness
from paceline_server.reports import service as reports

SEVERITY = {"fail": 0, "inconclusive": 1, "pass": 3, "not_applicable": 4}
NOT_DECIDING = 2
"""The severity of an item that is slower or inconclusive but waived or watched by no rule: between inconclusive and
pass."""


@dataclass(frozen=True)
class RankedVerdict:
    """A comparison or a gate with its target. `severity`: how urgently it should be read, 0 first."""

    target: str
    item: ComparisonOut | GateOut
    decides: bool
    severity: int


def verdicts_of_run(session: Session, run_id: str) -> VerdictsOut:
    """Return the verdicts of a run as they are now. Raises 404."""
    run = jobs.get_run(session, run_id)
    arrived = completeness.completeness(session, run_id)
    public = settings.current().public_url
    of_jobs = [_of_job(session, job) for job in run.jobs]
    return VerdictsOut(
        schema=SCHEMA,
        run_id=run.id,
        url=f"{public}/runs/{run.id}" if public else None,
        suite=run.suite,
        commit=run.commit,
        base_commit=run.base_commit,
        base_branch=run.base_branch,
        pull_request=run.pull_request,
        branch=run.branch,
        outcome=run.outcome,
        reason=run.reason or "",
        reasons=_join_reasons(of_jobs),
        demonstration=run.demonstration,
        completeness=arrived.words,
        missing=[
            group for group in arrived.missing_groups if group.reason != "pending"
        ],
        jobs=of_jobs,
    )


def _join_reasons(of_jobs: Sequence[JobVerdictsOut]) -> list[ReasonOut]:
    """Return the reasons of all jobs, the most important first; each names its target if there are several."""
    return order_reasons(
        reason
        if len(of_jobs) == 1
        else reason.model_copy(
            update={
                "text": f"{job.target}: {reason.text}",
                "cases": [f"{job.target}: {case}" for case in reason.cases],
            }
        )
        for job in of_jobs
        for reason in job.reasons
    )


def _of_job(session: Session, job: JobOut) -> JobVerdictsOut:
    try:
        report = reports.get_report(session, job.id) if job.verdict else None
    except ProblemError as problem:
        if problem.code != "not_analysed":
            raise
        report = None
    reason = job.reason or job.cause_detail or job.detail or ""
    reasons = reasons_of(report) if report else []
    if job.outcome in jobs.WITHOUT_VERDICT:
        reasons = [ReasonOut(kind="job", verdict=None, text=reason, count=1)]
    return JobVerdictsOut(
        job_id=job.id,
        target=job.target_name,
        outcome=job.outcome,
        reason=reason,
        reasons=reasons,
        failure=job.failure,
        blockers=report.blockers if report else [],
        unaffected=report.unaffected if report else None,
        checks=report.checks if report else [],
        comparisons=report.comparisons if report else [],
        gates=report.gates if report else [],
        witnesses=report.witnesses if report else [],
    )


def verdicts_of_analysis(analysis: Analysis, failure: str | None) -> VerdictsOut:
    """Return the verdicts of a directory that was judged offline. `failure`: why its measurement is incomplete."""
    report = analysis.report
    outcome: Outcome = "failed" if failure else analysis.verdict
    reason = failure or analysis.reason
    return VerdictsOut(
        schema=SCHEMA,
        run_id=None,
        url=None,
        suite=report.suite,
        commit=report.revision,
        base_commit=report.base.revision if report.base else None,
        base_branch=None,
        pull_request=None,
        branch=None,
        outcome=outcome,
        reason=reason,
        reasons=reasons_of(report),
        demonstration=any(row.demonstration for row in report.comparisons),
        completeness=None,
        missing=[],
        jobs=[
            JobVerdictsOut(
                job_id=None,
                target=report.target,
                outcome=outcome,
                reason=reason,
                reasons=reasons_of(report),
                failure=None,
                blockers=report.blockers,
                unaffected=report.unaffected,
                checks=report.checks,
                comparisons=report.comparisons,
                gates=report.gates,
                witnesses=report.witnesses,
            )
        ],
    )


def ranked(verdicts: VerdictsOut) -> list[RankedVerdict]:
    """Return all comparisons and gates, the worst first; equals stay in the order of the report."""
    return sorted(_all_of(verdicts.jobs), key=_order)


def _all_of(rows: Iterable[JobVerdictsOut]) -> Iterable[RankedVerdict]:
    for job in rows:
        items: list[ComparisonOut | GateOut] = [*job.comparisons, *job.gates]
        for item in items:
            decides = is_deciding(item)
            yield RankedVerdict(job.target, item, decides, _severity(item, decides))


def _severity(item: ComparisonOut | GateOut, decides: bool) -> int:
    severity = SEVERITY[item.verdict]
    counts = decides and item.waived is None
    return severity if counts else max(severity, NOT_DECIDING)


def _order(verdict: RankedVerdict) -> tuple[float, ...]:
    item = verdict.item
    size = item.ratio if isinstance(item, ComparisonOut) else item.reached
    known_size = size if size is not None else 1.0
    worst_first = -known_size if isinstance(item, ComparisonOut) else known_size
    return (verdict.severity, worst_first)


FAILED: Mapping[str, str] = {
    "witness": "Never ran:",
    "regression": "Slower than base:",
    "gate": "Gate:",
    "arm": "Slower than its reference:",
}
UNDECIDED: Mapping[str, str] = {
    "witness": "Not known to have run:",
    "regression": "Undecided against base:",
    "gate": "Undecided gate:",
    "arm": "Undecided arm:",
    "blocker": "Not judged:",
    "missing": "Missing:",
}


def reason_heading(reason: ReasonOut) -> str:
    """Return the heading of a reason, which says its kind."""
    if reason.verdict is None:
        return "No verdict:"
    if reason.verdict == "waived":
        return "Waived:"
    headings = FAILED if reason.verdict == "fail" else UNDECIDED
    return headings.get(reason.kind, "Reason:")


def subject_words(item: ComparisonOut | GateOut) -> str:
    """Return what is judged, such as `time against kotlin`, or the name of a gate."""
    if isinstance(item, ComparisonOut):
        other = "base" if item.sides == "revisions" else item.reference
        return f"{item.metric} against {other}"
    return f"gate {gate_name(item)}"


def result_words(item: ComparisonOut | GateOut) -> str:
    """Return the result with its numbers and interval, as the API words it. Without a verdict it includes the reason;
    if it was waived, by whom and until when."""
    words = _finding_words(item)
    return words if item.waived is None else f"{words}; {item.waived.words}"


def _finding_words(item: ComparisonOut | GateOut) -> str:
    if isinstance(item, GateOut):
        return f"{item.reason} ({item.level})"
    if item.witness in ("fail", "inconclusive"):
        return item.reason
    if item.verdict in ("inconclusive", "not_applicable"):
        return f"{item.words}: {item.reason}" if item.ratio is not None else item.reason
    return item.words


def ran_sentence(verdicts: VerdictsOut) -> str:
    """Say which arms ran, as their witnesses show; empty without any."""
    ran = dict.fromkeys(
        f"{row.arm} of {row.benchmark}"
        for job in verdicts.jobs
        for row in job.witnesses
        if row.verdict == "pass"
    )
    return f"as their witnesses show, these arms ran: {list_some(ran)}" if ran else ""


def verdict_words(item: ComparisonOut | GateOut, decides: bool) -> str:
    """Return the verdict in words, in brackets if the run's verdict does not depend on it."""
    words = item.verdict.replace("_", " ")
    if item.waived is not None:
        return f"{words}, waived"
    return words if decides else f"({words})"
