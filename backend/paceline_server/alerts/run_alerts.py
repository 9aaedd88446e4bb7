"""Raises and closes alerts about what a run's end shows without a comparison: gates, vanished cases, schedules.

A failure opens an alert at once, because a gate has its own statistic and a failed run is a fact. A gate that could
not be decided is only suspected until the next job cannot decide it either. What a pull request's head or another
branch than the project's default one shows raises nothing, except for the runs of a schedule, whatever their branch.

    fails ─▶ open, people told ─ holds again ─▶ fixed        undecided ─▶ suspected ─┬─ undecided or fails ─▶ open
                                                                                     └─ holds ─▶ unconfirmed
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from paceline_contract.manifest_reader import read_manifest
from paceline_contract.params import params_key, params_text
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.candidates import store_alert
from paceline_server.alerts.history import (
    SYSTEM,
    add_event,
    change_state,
    leave_shadow,
)
from paceline_server.alerts.rules import service as rules
from paceline_server.alerts.rules.applied_rule import AppliedRule
from paceline_server.alerts.rules.service import RuleSubject
from paceline_server.alerts.states import Event
from paceline_server.alerts.topics import NOTIFY
from paceline_server.detect import service as detect
from paceline_server.detect.schemas import GateOut
from paceline_server.ingest.arrivals import CaseKey, arrivals
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids
from paceline_server.series import service as series
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Alert, Finding
from paceline_server.store.tables.jobs import Job, Run

RunAlertKind = Literal["gate", "missing", "schedule"]
METHODS: Mapping[RunAlertKind, str] = {
    "gate": "gate/1",
    "missing": "vanished-cases/1",
    "schedule": "schedule/1",
}
ORDINARY = ("manual", "schedule", "ci")
"""Triggers of runs that measure a branch as it is."""
Outcome = Literal["fails", "undecided", "holds"]
OUTCOMES: tuple[tuple[str, Outcome], ...] = (
    ("fail", "fails"),
    ("inconclusive", "undecided"),
    ("pass", "holds"),
)
"""What the worst verdict of a gate's points means for it."""
VERBS: Mapping[Outcome, str] = {
    "fails": "fails",
    "undecided": "is undecided",
    "holds": "holds",
}
NAMED_CASES = 3
"""Cases named in a sentence; more are counted."""
ENDS = {
    "failed": "failed",
    "lost": "was lost",
    "expired": "did not happen",
}
"""How a scheduled job that gave no result ended. A person who cancels it knows."""


@dataclass(frozen=True)
class Observation:
    """What one job shows about one cause."""

    kind: RunAlertKind
    cause: tuple[str, ...]
    outcome: Outcome
    subject: RuleSubject
    title: str
    words: str
    points: frozenset[str]
    """What fails: an alert is over when all of its points hold. Of one that holds: what holds."""

    @property
    def key(self) -> str:
        """The cause as alerts store it."""
        return json.dumps([self.kind, *self.cause], separators=(",", ":"))


def evaluate(session: Session, job: Job, run: Run) -> None:
    """Raise, confirm and close the alerts that a job's end decides about. Doing it twice changes nothing."""
    for observation in _observations(session, job, run):
        _apply(session, observation, job)


def _observations(session: Session, job: Job, run: Run) -> Iterator[Observation]:
    target = queries.spoken_name(session, job.target_id)
    if run.schedule_id is not None:
        yield from _of_schedule(job, run, target)
    if job.state != "done" or not _measures_default_branch(session, run):
        return
    yield from _of_gates(session, job, run, target)
    yield from _of_cases(session, job, run, target)


def _measures_default_branch(session: Session, run: Run) -> bool:
    return (
        run.trigger in ORDINARY
        and not run.compares_revisions
        and not run.demonstration
        and not run.knobs
        and run.branch == queries.default_branch(session, run.project_id)
    )


def _of_schedule(job: Job, run: Run, target: str) -> Iterator[Observation]:
    how = ENDS.get(job.state)
    if how is None and job.state != "done":
        return
    yield Observation(
        "schedule",
        (str(run.schedule_id), job.target_id),
        "holds" if how is None else "fails",
        RuleSubject(run.suite, "", "", "", target),
        f"Scheduled run of {run.suite} {how or 'ended well'} on {target}",
        f"{run.created_by}: {jobs.reason_of_end(job)}",
        frozenset(("run",)),
    )


def _of_gates(
    session: Session, job: Job, run: Run, target: str
) -> Iterator[Observation]:
    """One observation per gate over all points of its params. What was waived neither fails nor holds."""
    by_gate: dict[tuple[str, ...], list[GateOut]] = defaultdict(list)
    for gate in detect.report_of(session, job.id).gates:
        decided = gate.verdict in ("pass", "fail", "inconclusive")
        if gate.level == "required" and decided and gate.waived is None:
            name = gate.derived or gate.metric
            by_gate[gate.benchmark, gate.arm, name, gate.statistic].append(gate)
    for (benchmark, arm, name, statistic), gates in by_gate.items():
        outcome, shown = next(
            (outcome, rows)
            for verdict, outcome in OUTCOMES
            if (rows := [gate for gate in gates if gate.verdict == verdict])
        )
        yield Observation(
            "gate",
            (run.suite, benchmark, arm, name, statistic, job.target_id),
            outcome,
            RuleSubject(run.suite, benchmark, arm, name, target),
            f"Gate {VERBS[outcome]}: {statistic} of {arm} {name} of {benchmark} on {target}",
            _gate_sentence(shown),
            frozenset(params_key(gate.params) for gate in shown),
        )


def _gate_sentence(gates: list[GateOut]) -> str:
    first = gates[0]
    where = params_text(first.params)
    limit = f"required {first.op} {first.target:g}"
    text = f"{first.reason} ({limit}{f', {where}' if where else ''})"
    return text if len(gates) == 1 else f"{text}; {len(gates)} points"


def _of_cases(
    session: Session, job: Job, run: Run, target: str
) -> Iterator[Observation]:
    """Cases that the job before measured, the manifest still declares and this job did not measure."""
    here = arrivals(session, job.id)
    cause = (run.suite, job.target_id)
    subject = RuleSubject(run.suite, "", "", "", target)
    before = queries.job_before(session, job, run, ORDINARY)
    gone = set() if before is None else arrivals(session, before).measured
    gone = gone - here.measured - here.unavailable.keys()
    if gone:
        declared = _declared(session, run)
        gone = {case for case in gone if case[:2] in declared}
    title = f"Cases of {run.suite} vanished on {target}"
    if gone:
        names = sorted(_case_name(case) for case in gone)
        rest = len(names) - NAMED_CASES
        words = ", ".join(names[:NAMED_CASES]) + (
            f" and {rest} more" if rest > 0 else ""
        )
        count = "1 case was" if len(names) == 1 else f"{len(names)} cases were"
        yield Observation(
            "missing",
            cause,
            "fails",
            subject,
            title,
            f"{count} measured by the job before and not by this one: {words}",
            frozenset(names),
        )
        return
    names = [_case_name(case) for case in here.measured]
    yield Observation(
        "missing",
        cause,
        "holds",
        subject,
        title,
        "the cases that had vanished were measured again",
        frozenset(names),
    )


def _declared(session: Session, run: Run) -> set[tuple[str, str]]:
    """(benchmark, arm) of what the manifest declares and nobody retired."""
    retired = series.retired_reasons(session, run.suite)
    return {
        (name, arm)
        for name, benchmark in read_manifest(run.manifest).benchmarks.items()
        for arm in benchmark.arms
        if name not in retired and series.retired_key(name, arm) not in retired
    }


def _case_name(case: CaseKey) -> str:
    benchmark, arm, point = case
    where = params_text(json.loads(point))
    return f"{benchmark} {arm}{f' at {where}' if where else ''}"


def _apply(session: Session, observation: Observation, job: Job) -> None:
    newest = queries.newest_of_cause(session, observation.key)
    if newest is not None and queries.has_finding(session, newest.id, job.id):
        return
    alert = queries.lock_living_alert(session, observation.key)
    if observation.outcome == "holds":
        if alert is not None:
            _close(session, alert, observation, job)
        return
    rule = rules.rules_in_force(session, observation.kind).rule_for(observation.subject)
    if rule.mode == "off":
        return
    if alert is None:
        if newest is not None and _is_accepted(session, newest, observation):
            return
        alert = _raise_alert(session, observation, job, rule)
        if alert is None:
            return
        is_news = observation.outcome == "fails"
    else:
        is_news = alert.state in ("suspected", "inconclusive")
        add_event(session, alert, "found_again", SYSTEM, observation.words)
        alert.title, alert.words = observation.title, observation.words
        if alert.shadow and not rule.shadow:
            leave_shadow(session, alert)
    _store_finding(session, alert, observation, job, "candidate")
    if is_news:
        change_state(session, alert, Event.confirm, SYSTEM, observation.words)
        outbox.add(session, NOTIFY, alert.id)


def _is_accepted(session: Session, newest: Alert, observation: Observation) -> bool:
    """Whether a person called this expected, and no other point fails since."""
    if newest.state != "expected":
        return False
    accepted = queries.newest_numbers(session, newest.id).get("points", ())
    return observation.points <= frozenset(accepted)


def _close(session: Session, alert: Alert, observation: Observation, job: Job) -> None:
    failed = queries.newest_numbers(session, alert.id).get("points", ())
    if not frozenset(failed) <= observation.points:
        return
    _store_finding(session, alert, observation, job, "recovery")
    is_open = alert.state in ("open", "acknowledged")
    event = Event.recover if is_open else Event.refute
    change_state(session, alert, event, SYSTEM, observation.words)


def _raise_alert(
    session: Session, observation: Observation, job: Job, rule: AppliedRule
) -> Alert | None:
    """A suspected alert; None when another transaction raised it first."""
    at, subject = clock.now(), observation.subject
    alert = Alert(
        id=ids.new_id("alt"),
        cause_key=observation.key,
        state="suspected",
        kind=observation.kind,
        cause=None,
        title=observation.title,
        suite=subject.suite,
        benchmark=subject.benchmark,
        arm=subject.arm,
        reference="",
        metric=subject.metric,
        target_id=job.target_id,
        demonstration=False,
        rule_id=rule.rule_id,
        rule_version=rule.version,
        shadow=rule.shadow,
        rule=rule.as_evidence(),
        words=observation.words,
        ratio=None,
        lower=None,
        upper=None,
        run_id=job.run_id,
        created_at=at,
        updated_at=at,
    )
    return store_alert(session, alert, observation.words)


def _store_finding(
    session: Session, alert: Alert, observation: Observation, job: Job, role: str
) -> None:
    points = set(observation.points)
    if role == "candidate":
        points.update(queries.newest_numbers(session, alert.id).get("points", ()))
    numbers: dict[str, Any] = {
        "words": observation.words,
        "where": observation.title,
        "points": sorted(points),
    }
    session.add(
        Finding(
            id=ids.new_id("fnd"),
            kind=observation.kind,
            role=role,
            alert_id=alert.id,
            comparison_id=None,
            series_id=None,
            change_id=None,
            numbers=numbers,
            run_id=job.run_id,
            job_id=job.id,
            method=METHODS[observation.kind],
            parameters={},
            filters=[],
            window={"text": "the end of one job"},
            created_at=clock.now(),
        )
    )
    session.flush()
