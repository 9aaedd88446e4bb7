"""Runs bisections: each step is one A/B job of the base against the middle commit.

A bisection starts when an A/B run has proven a change over several commits, or by hand.
At most one runs per alert; it sets only the alert's culprit, and its data never becomes
history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.bisect.search import (
    Answer,
    BisectionStep,
    MeasureCommit,
    SearchEnd,
    bounds,
    count_unnamed,
    culprit_sentence,
    next_step,
    progress_sentence,
    remaining_commits,
    remaining_range,
)
from paceline_server.alerts.explanation import side_of
from paceline_server.alerts.lifecycle import SYSTEM, add_event, publish_alert
from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.schemas import BisectionOut
from paceline_server.detect import history
from paceline_server.detect import service as detect
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids, settings
from paceline_server.kernel.errors import conflict, not_found
from paceline_server.store import audit
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.bisections import Bisection
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.jobs import Job, Run

MORE_LAUNCHES = 2
"""A repeated step has this many times the launches: twice the time narrows the interval by about a third."""
GIVEN_UP = ("vanished", "invalid", "unconfirmed")
"""States of an alert that end its bisection."""
UNMEASURABLE = frozenset(
    {
        "build_failed",
        "checkout_failed",
        "suite_invalid",
        "check_failed",
        "stream_invalid",
        "workload_hung",
        "workload_flooded",
        "workload_crashed",
        "workload_error",
        "workload_no_terminal",
    }
)
"""Causes of failure that lie in the commit, so that measuring it again would fail again."""


def begin_after_proof(
    session: Session, alert: Alert, job: Job, run: Run, proof: Comparison
) -> None:
    """Name the culprit of a locked alert if the proof's revisions are one commit apart, or else start the
    search between them."""
    commits = jobs.commits_of(session, job.id)
    if not commits or _is_running(session, alert.id):
        return
    if len(commits) == 1:
        culprit = {**commits[0], **_numbers(proof), "unit": _unit_of(session, alert)}
        _blame_commit(session, alert, culprit, "the only commit in between")
        return
    bisection = _new_bisection(
        session, alert, str(run.base_commit), commits, settings.current().bisect_budget
    )
    add_event(
        session,
        alert,
        "bisect_started",
        SYSTEM,
        f"{len(commits)} commits, {bisection.budget} A/B jobs",
    )
    _continue_search(
        session, alert, bisection, RunTemplate(job.run_id, dict(proof.params))
    )


def start_by_hand(
    session: Session, alert_id: str, budget: int | None, actor: str
) -> None:
    """Start a bisection for a person. Raises 404; 409 when there is nothing to search or a search is running."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None:
        raise not_found("alert", alert_id)
    if not kind_of(alert.kind).follows_series or alert.cause == "environment":
        raise conflict(
            "There is no commit to find: this alert does not blame the code."
        )
    who = queries.who_measured_elsewhere(session, alert.measured_run_id)
    if who is not None:
        raise conflict(
            f"There is no agent to measure commits with: {who} measured this."
        )
    if _is_running(session, alert_id):
        raise conflict("A bisection of this alert is running already.")
    if (
        alert.base_commit is None
        or alert.head_commit is None
        or alert.base_commit == alert.head_commit
    ):
        raise conflict("The alert names no two revisions to search between.")
    allowed = budget or settings.current().bisect_budget
    proofs = queries.proving_comparisons(session, alert_id)
    over_range = next(
        (proof for proof in proofs if len(proof[1].commits or []) > 1), None
    )
    if over_range is not None:
        proof, job, run = over_range
        bisection = _new_bisection(
            session, alert, str(run.base_commit), list(job.commits or []), allowed
        )
        origin = RunTemplate(job.run_id, dict(proof.params))
    else:
        bisection = _new_bisection(session, alert, alert.base_commit, [], allowed)
        origin = RunTemplate(alert.measured_run_id, _params_of(session, alert))
    add_event(session, alert, "bisect_started", actor, f"{bisection.budget} A/B jobs")
    audit.record(
        session, actor, "bisect", "alert", alert.id, {"budget": bisection.budget}
    )
    _continue_search(session, alert, bisection, origin)


def _is_running(session: Session, alert_id: str) -> bool:
    return any(
        bisection.state == "running"
        for bisection in queries.bisections_of_alert(session, alert_id)
    )


def _params_of(session: Session, alert: Alert) -> dict[str, Any]:
    """Return the params of the alert's worst series."""
    own = [
        (abs(change.effect), dict(series.params))
        for change, series in queries.series_of(session, alert.id)
        if (series.benchmark, series.arm, series.metric)
        == (alert.benchmark, alert.arm, alert.metric)
    ]
    return max(own, key=itemgetter(0))[1] if own else {}


def _unit_of(session: Session, alert: Alert) -> str:
    """Return the unit of the alert's metric."""
    changes = queries.series_of(session, alert.id)
    return next(
        (series.unit for _, series in changes if series.metric == alert.metric), "ns"
    )


def _new_bisection(
    session: Session,
    alert: Alert,
    base: str,
    commits: Sequence[Mapping[str, Any]],
    budget: int,
) -> Bisection:
    at = clock.now()
    bisection = Bisection(
        id=ids.new_id("bis"),
        alert_id=alert.id,
        state="running",
        base_commit=base,
        commits=[dict(commit) for commit in commits],
        good=-1,
        bad=len(commits) - 1,
        budget=budget,
        steps=[],
        culprit=None,
        created_at=at,
        updated_at=at,
    )
    session.add(bisection)
    session.flush()
    return bisection


def _continue_search(
    session: Session, alert: Alert, bisection: Bisection, origin: RunTemplate
) -> None:
    """Request the next A/B job, or end the bisection."""
    if not bisection.commits:
        _request_job(session, alert, bisection, None, origin)
        return
    answered = _answered_steps(bisection)
    spent_on_ends = sum(step["index"] is None for step in bisection.steps)
    budget, before = bisection.budget - spent_on_ends, count_unnamed(bisection.commits)
    following = next_step(len(bisection.commits), answered, budget, before)
    bisection.good, bisection.bad = bounds(len(bisection.commits), answered)
    if isinstance(following, SearchEnd):
        _end_bisection(session, alert, bisection, following)
    else:
        _request_job(session, alert, bisection, following, origin)


def _answered_steps(bisection: Bisection) -> list[BisectionStep]:
    return [
        BisectionStep(step["index"], step["verdict"])
        for step in bisection.steps
        if step["index"] is not None and step["verdict"] is not None
    ]


@dataclass(frozen=True)
class RunTemplate:
    """The run to copy launches and rounds from, and the one combination of params to measure. It is never the run of a
    repeated step, whose launches are multiplied."""

    run_id: str
    params: Mapping[str, Any]


def _request_job(
    session: Session,
    alert: Alert,
    bisection: Bisection,
    what: MeasureCommit | None,
    origin: RunTemplate,
) -> None:
    """Request an A/B job of the base against the commit of `what`; without `what`, against the head."""
    commit = str(
        alert.head_commit if what is None else bisection.commits[what.index]["commit"]
    )
    run = jobs.ab_run(
        session,
        original_run_id=origin.run_id,
        base_commit=bisection.base_commit,
        commit=commit,
        benchmarks=[alert.benchmark],
        params={name: [value] for name, value in origin.params.items()},
        target_id=alert.measured_target_id,
        trigger="bisect",
        bisection_id=bisection.id,
        times=MORE_LAUNCHES if what is not None and what.again else 1,
        not_before=clock.now(),
    )
    step = {
        "index": None if what is None else what.index,
        "commit": commit,
        "run_id": run.id,
        "job_id": None,
        "verdict": None,
        "ratio": None,
        "lower": None,
        "upper": None,
        "words": "measuring",
    }
    bisection.steps = [*bisection.steps, step]
    bisection.updated_at = clock.now()
    session.flush()


def advance(session: Session, job: Job, run: Run) -> None:
    """Store the result of a bisection's newest job and continue; results of other jobs are ignored."""
    bisection = queries.lock_bisection(session, str(run.bisection_id))
    if bisection is None or bisection.state != "running":
        return
    step = dict(bisection.steps[-1])
    alert = queries.lock_alert(session, bisection.alert_id)
    if alert is None or step["run_id"] != run.id or step["verdict"] is not None:
        return
    step |= {"job_id": job.id, **_answer_of_job(session, alert, job)}
    bisection.steps = [*bisection.steps[:-1], step]
    bisection.updated_at = clock.now()
    if alert.state in GIVEN_UP:
        _end_bisection(
            session,
            alert,
            bisection,
            SearchEnd("undecided", f"the alert is {alert.state} by now"),
        )
        return
    if step["index"] is None and not _set_range(session, alert, bisection, step, job):
        return
    first_run_id = bisection.steps[0]["run_id"]
    _continue_search(
        session,
        alert,
        bisection,
        RunTemplate(
            first_run_id, {name: values[0] for name, values in run.params.items()}
        ),
    )


def _answer_of_job(session: Session, alert: Alert, job: Job) -> dict[str, Any]:
    """Return the verdict of a job with its numbers and words."""
    no_numbers: dict[str, Any] = {"ratio": None, "lower": None, "upper": None}
    if job.state != "done":
        answer: Answer = "skipped" if job.cause in UNMEASURABLE else "failed"
        return {
            **no_numbers,
            "verdict": answer,
            "words": jobs.reason_of_end(job),
        }
    names = history.names_of(session, alert.suite)
    own = (*names.newest(alert.benchmark, alert.arm), alert.metric)
    comparisons = [
        comparison
        for comparison in detect.comparisons_of_job(session, job.id)
        if comparison.sides == "revisions"
        and (*names.newest(comparison.benchmark, comparison.arm), comparison.metric)
        == own
    ]
    if job.artifact_hash is not None and job.artifact_hash == job.base_artifact_hash:
        numbers = _numbers(comparisons[0]) if comparisons else no_numbers
        return {**numbers, "verdict": "pass", "words": "the same artifact as the base"}
    if len(comparisons) != 1:
        return {
            **no_numbers,
            "verdict": "inconclusive",
            "words": "the doubted series was not measured",
        }
    comparison = comparisons[0]
    answers: dict[str, Answer] = {
        "moved": "fail",
        "stayed": "pass",
        "unknown": "inconclusive",
    }
    answer = answers[side_of(comparison, worse=(alert.ratio or 1.0) >= 1.0)]
    words = (
        comparison.evidence["words"]
        if answer != "inconclusive"
        else f"{comparison.evidence['words']}: {comparison.reason}"
    )
    return {**_numbers(comparison), "verdict": answer, "words": words}


def _numbers(comparison: Comparison) -> dict[str, Any]:
    return {
        "ratio": comparison.ratio,
        "lower": comparison.lower,
        "upper": comparison.upper,
    }


def _set_range(
    session: Session,
    alert: Alert,
    bisection: Bisection,
    step: Mapping[str, Any],
    job: Job,
) -> bool:
    """Set the range of a bisection by hand from the commits of its first job; returns False if there is nothing to
    search."""
    commits = jobs.commits_of(session, job.id)
    if step["verdict"] == "fail" and commits:
        bisection.commits, bisection.good, bisection.bad = commits, -1, len(commits) - 1
        return True
    why = step["words"] if step["verdict"] != "fail" else "the agent named no commits"
    state = "failed" if step["verdict"] in ("fail", "skipped") else "undecided"
    bisection.state = state
    add_event(session, alert, "bisect_ended", SYSTEM, f"nothing to search: {why}")
    return False


def _end_bisection(
    session: Session, alert: Alert, bisection: Bisection, end: SearchEnd
) -> None:
    bisection.state = end.state
    if end.state != "found":
        left = remaining_range(
            bisection.base_commit, bisection.commits, bisection.good, bisection.bad
        )
        add_event(session, alert, "bisect_ended", SYSTEM, f"{end.why}: {left}")
        publish_alert(session, alert)
        return
    blamed = bisection.commits[bisection.bad]
    numbers = next(
        (
            step
            for step in reversed(bisection.steps)
            if step["verdict"] == "fail"
            and step["index"] in (bisection.bad, None)
            and step["commit"] == blamed["commit"]
        ),
        {"ratio": alert.ratio, "lower": alert.lower, "upper": alert.upper},
    )
    culprit = {
        **blamed,
        **{name: numbers[name] for name in ("ratio", "lower", "upper")},
    }
    culprit["unit"] = _unit_of(session, alert)
    bisection.culprit = culprit
    _blame_commit(
        session,
        alert,
        culprit,
        f"{len(bisection.steps)} A/B jobs among {len(bisection.commits)} commits",
    )


def _blame_commit(
    session: Session, alert: Alert, culprit: dict[str, Any], how: str
) -> None:
    alert.culprit = culprit
    add_event(
        session,
        alert,
        "culprit_found",
        SYSTEM,
        f"{culprit_sentence(culprit)} ({how})",
    )
    publish_alert(session, alert)


def bisection_of_alert(session: Session, alert: Alert) -> BisectionOut | None:
    """Return the newest bisection of an alert with its progress."""
    bisections = queries.bisections_of_alert(session, alert.id)
    if not bisections:
        return None
    newest = bisections[0]
    own = {
        name: getattr(newest, name)
        for name in BisectionOut.model_fields
        if hasattr(newest, name)
    }
    return BisectionOut.model_validate(
        {
            **own,
            "left": remaining_commits(
                newest.good, newest.bad, count_unnamed(newest.commits)
            ),
            "used": len(newest.steps),
            "words": progress_sentence(newest),
        }
    )
