"""Raises alerts about what the end of a run shows without a comparison: gates, witnesses, vanished cases, schedules.

A failure opens an alert at once, because a gate has its own statistic and a failed run is a fact. An undecided gate
raises a suspected alert, which opens if the gate is undecided or fails in the next job, too; so does a witness. These
and vanished cases are only watched on the project's default branch; runs of a schedule are watched on every branch.

    fails ─▶ open, people told ─ holds again ─▶ fixed        undecided ─▶ suspected ─┬─ undecided or fails ─▶ open
                                                                                     └─ holds ─▶ unconfirmed
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, TypeVar

from paceline_contract.manifest_reader import read_manifest
from paceline_contract.params import params_key, params_text
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.explanation import finding_sentence
from paceline_server.alerts.kind import (
    AlertEvidence,
    AlertKind,
    EndedJob,
    Observation,
    Outcome,
)
from paceline_server.alerts.rules.rule_book import (
    BuiltInRule,
    RuleSubject,
    default_rule,
    rule_for,
)
from paceline_server.alerts.schemas import AlertState
from paceline_server.alerts.states import Event
from paceline_server.detect import service as detect
from paceline_server.detect.schemas import GateOut, JobReportOut, WitnessOut
from paceline_server.detect.service import GateFigure, Role, gate_name, metric_of
from paceline_server.ingest.arrivals import CaseKey, list_arrivals
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids
from paceline_server.series import service as series
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.jobs import BASELINE_TRIGGERS, Job, Run

OUTCOMES_WORST_FIRST: tuple[tuple[str, Outcome], ...] = (
    ("fail", "fails"),
    ("inconclusive", "undecided"),
    ("pass", "holds"),
)
"""The outcome of a gate or a witness for each verdict; the worst verdict among its points decides."""
OUTCOME_VERBS: Mapping[Outcome, str] = {
    "fails": "fails",
    "undecided": "is undecided",
    "holds": "holds",
}
RAN_WORDS: Mapping[Outcome, str] = {
    "fails": "never ran",
    "undecided": "is not known to run",
    "holds": "ran",
}
NAMED_CASES = 3
"""Cases named in a sentence; more are counted."""
SCHEDULE_FAILURES = {
    "failed": "failed",
    "lost": "was lost",
    "expired": "did not happen",
}
"""What a title says of a scheduled job that gave no result, by its state. A cancelled job raises no alert, because
the person who cancelled it knows."""


@dataclass(frozen=True)
class ObservedPoints:
    """The points that give an observation its outcome: those that fail, are undecided or hold. An alert is over when
    all of its points hold.

    `failing`: the rows of a gate's failing points, whose figures are stored with the finding.
    """

    points: frozenset[str]
    failing: tuple[GateOut, ...] = ()


class RunEndKind(AlertKind[ObservedPoints]):
    """A kind of alert about what the end of a run shows by itself, so that no confirmation run is requested."""

    name: ClassVar[str]
    method: ClassVar[str]
    needs_run: ClassVar[bool] = False
    found_again: ClassVar[Mapping[AlertState, Event]] = {
        "suspected": Event.confirm,
        "inconclusive": Event.confirm,
    }

    @abstractmethod
    def inspect(
        self, session: Session, ended: EndedJob, target_name: str
    ) -> Iterator[Observation[ObservedPoints]]:
        """Yield what a job's end shows; the rules are applied by `observe`."""

    def observe(
        self, session: Session, ended: EndedJob
    ) -> Iterator[Observation[ObservedPoints]]:
        spoken_name = queries.spoken_name(session, ended.job.target_id)
        name = queries.target_name(session, ended.job.target_id)
        for seen in self.inspect(session, ended, spoken_name):
            if seen.outcome == "holds":
                yield seen
                continue
            subject = RuleSubject(
                seen.suite, seen.benchmark, seen.arm, seen.metric, name
            )
            rule = rule_for(session, self.name, subject)
            if rule.mode != "off":
                yield replace(seen, rule=rule)

    def needs_no_alert(
        self, session: Session, seen: Observation[ObservedPoints], newest: Alert | None
    ) -> bool:
        """Return whether a person marked the newest alert as expected, and no point fails beyond its points."""
        if newest is None or newest.state != "expected":
            return False
        return seen.evidence.points <= _failed_points(session, newest)

    def join(self, alert: Alert, seen: Observation[ObservedPoints]) -> None:
        alert.title, alert.words = seen.title, seen.words

    def recovery(
        self, session: Session, alert: Alert, seen: Observation[ObservedPoints]
    ) -> Observation[ObservedPoints] | None:
        failed = _failed_points(session, alert)
        return seen if failed <= seen.evidence.points else None

    def store_findings(
        self,
        session: Session,
        alert: Alert,
        seen: Observation[ObservedPoints],
        role: Role,
    ) -> None:
        points = set(seen.evidence.points)
        if role == "candidate":
            points |= _failed_points(session, alert)
        session.add(
            Finding(
                id=ids.new_id("fnd"),
                kind=seen.kind,
                role=role,
                alert_id=alert.id,
                comparison_id=None,
                series_id=None,
                change_id=None,
                numbers={
                    "words": seen.words,
                    "where": seen.title,
                    "points": sorted(points),
                    "figures": [
                        asdict(GateFigure.of(row)) for row in seen.evidence.failing
                    ],
                },
                run_id=seen.run_id,
                job_id=seen.job_id,
                method=self.method,
                parameters={},
                filters=[],
                window={"text": "the end of one job"},
                created_at=clock.now(),
            )
        )
        session.flush()

    def explain(self, evidence: AlertEvidence) -> str:
        alert, candidates = evidence.alert, evidence.with_role("candidate")
        if not candidates:
            return f"{alert.title}: {alert.words}."
        parts = [
            f"{alert.title}: {finding_sentence(candidates[-1])}.",
            f"Rule {alert.rule['name']}: {alert.rule['text']}",
        ]
        if alert.state == "suspected":
            parts.append("Nobody was told: the next run of the default branch decides.")
        return " ".join([*parts, *evidence.closing_sentences])

    def observation(
        self,
        job: Job,
        cause: Sequence[str],
        outcome: Outcome,
        *,
        suite: str,
        title: str,
        words: str,
        evidence: ObservedPoints,
    ) -> Observation[ObservedPoints]:
        """Return an observation of a job; `cause` tells its cause apart from other causes of this kind."""
        return Observation(
            kind=self.name,
            cause_key=json.dumps([self.name, *cause], separators=(",", ":")),
            outcome=outcome,
            title=title,
            words=words,
            rule=default_rule(self.name),
            evidence=evidence,
            run_id=job.run_id,
            job_id=job.id,
            target_id=job.target_id,
            suite=suite,
        )


def _failed_points(session: Session, alert: Alert) -> frozenset[str]:
    return frozenset(queries.newest_numbers(session, alert.id).get("points", ()))


def _measures_default_branch(session: Session, ended: EndedJob) -> bool:
    job, run = ended.job, ended.run
    return (
        job.state == "done"
        and run.trigger in BASELINE_TRIGGERS
        and run.judged
        and not run.compares_revisions
        and not run.demonstration
        and not run.knobs
        and run.branch == queries.default_branch(session, run.project_id)
    )


Row = TypeVar("Row", GateOut, WitnessOut)


class GateKind(RunEndKind):
    """A required gate that fails or stays undecided, or an arm of which a witness says so.

    Where its arm never ran, a gate shows nothing of its own: then the arm has the only alert.
    """

    name: ClassVar[str] = "gate"
    names: ClassVar[tuple[str, ...]] = (name,)
    method: ClassVar[str] = "gate/1"
    blames_code: ClassVar[bool] = True
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {
        name: BuiltInRule(
            "default-gate",
            "A required gate fails, an arm runs its fallback, or that stays undecided, on the default branch.",
            has_effect=False,
        )
    }

    def inspect(
        self, session: Session, ended: EndedJob, target_name: str
    ) -> Iterator[Observation[ObservedPoints]]:
        """Yield one observation per gate and per witness, over all points of its params. Waived points are left out."""
        if not _measures_default_branch(session, ended):
            return
        report = detect.report_of(session, ended.job.id)
        if not report.blockers:
            yield from self._observe_witnesses(ended, report, target_name)
        yield from self._observe_gates(ended, report, target_name)

    def _observe_gates(
        self, ended: EndedJob, report: JobReportOut, target_name: str
    ) -> Iterator[Observation[ObservedPoints]]:
        job, run = ended.job, ended.run
        by_gate: dict[tuple[str, ...], list[GateOut]] = defaultdict(list)
        for gate in report.gates:
            is_decided = gate.verdict in ("pass", "fail", "inconclusive")
            is_own = bool(report.blockers) or gate.witness in (None, "pass")
            if (
                gate.level == "required"
                and is_decided
                and is_own
                and gate.waived is None
            ):
                by_gate[
                    gate.benchmark, gate.arm, metric_of(gate), gate.statistic
                ].append(gate)
        for (benchmark, arm, metric, statistic), gates in by_gate.items():
            outcome, shown = _select_worst(gates)
            name = gate_name(shown[0])
            seen = self.observation(
                job,
                (run.suite, benchmark, arm, metric, statistic, job.target_id),
                outcome,
                suite=run.suite,
                title=f"Gate {name} {OUTCOME_VERBS[outcome]}: {arm} of {benchmark} on {target_name}",
                words=_gate_sentence(shown),
                evidence=ObservedPoints(
                    frozenset(params_key(gate.params) for gate in shown),
                    tuple(shown) if outcome == "fails" else (),
                ),
            )
            yield replace(seen, benchmark=benchmark, arm=arm, metric=metric)

    def _observe_witnesses(
        self, ended: EndedJob, report: JobReportOut, target_name: str
    ) -> Iterator[Observation[ObservedPoints]]:
        job, run = ended.job, ended.run
        by_arm: dict[tuple[str, str], list[WitnessOut]] = defaultdict(list)
        for witness in report.witnesses:
            by_arm[witness.benchmark, witness.arm].append(witness)
        for (benchmark, arm), witnesses in by_arm.items():
            outcome, shown = _select_worst(witnesses)
            where = params_text(shown[0].params)
            points = frozenset(
                params_key(row.params)
                for row in report.measurements
                if any(
                    detect.concerns_case(witness, row.benchmark, row.arm, row.params)
                    for witness in shown
                )
            )
            seen = self.observation(
                job,
                (run.suite, benchmark, arm, "", "witness", job.target_id),
                outcome,
                suite=run.suite,
                title=f"{arm} {RAN_WORDS[outcome]}: {benchmark} on {target_name}",
                words=_with_count(
                    f"{shown[0].words}{f' ({where})' if where else ''}", len(shown)
                ),
                evidence=ObservedPoints(points),
            )
            yield replace(seen, benchmark=benchmark, arm=arm)

    def needs_no_alert(
        self, session: Session, seen: Observation[ObservedPoints], newest: Alert | None
    ) -> bool:
        """Return whether a person marked the newest alert as expected, no point fails beyond its points, and none
        became worse. The findings of old alerts have no figures; then only the points are compared."""
        if newest is None or not super().needs_no_alert(session, seen, newest):
            return False
        figures = [
            GateFigure(**figure)
            for numbers in queries.all_numbers(session, newest.id)
            for figure in numbers.get("figures", ())
        ]
        return not figures or all(
            any(figure.admits(row) for figure in figures)
            for row in seen.evidence.failing
        )


def _gate_sentence(gates: list[GateOut]) -> str:
    first = gates[0]
    where = params_text(first.params)
    limit = f"required {first.op} {first.target:g}"
    text = f"{first.reason} ({limit}{f', {where}' if where else ''})"
    return _with_count(text, len(gates))


def _with_count(text: str, points: int) -> str:
    return text if points == 1 else f"{text}; {points} points"


def _select_worst(rows: Sequence[Row]) -> tuple[Outcome, list[Row]]:
    """Return the outcome of the worst verdict among decided rows, and the rows that have it."""
    return next(
        (outcome, worst)
        for verdict, outcome in OUTCOMES_WORST_FIRST
        if (worst := [row for row in rows if row.verdict == verdict])
    )


class MissingKind(RunEndKind):
    """Cases that the previous job measured and this one did not, although the manifest still declares them."""

    name: ClassVar[str] = "missing"
    names: ClassVar[tuple[str, ...]] = (name,)
    method: ClassVar[str] = "vanished-cases/1"
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {
        name: BuiltInRule(
            "default-missing",
            "Cases that were measured before are not measured any more.",
            has_effect=False,
        )
    }

    def inspect(
        self, session: Session, ended: EndedJob, target_name: str
    ) -> Iterator[Observation[ObservedPoints]]:
        if not _measures_default_branch(session, ended):
            return
        job, run = ended.job, ended.run
        arrived = list_arrivals(session, job.id)
        previous_id = queries.job_before(session, job, run, BASELINE_TRIGGERS)
        vanished = (
            set()
            if previous_id is None
            else list_arrivals(session, previous_id).measured
        )
        vanished = vanished - arrived.measured - arrived.unavailable.keys()
        if vanished:
            declared = _declared_arms(session, run)
            vanished = {case for case in vanished if case[:2] in declared}
        names = sorted(map(_case_name, vanished or arrived.measured))
        words = "the cases that had vanished were measured again"
        if vanished:
            count = "1 case was" if len(names) == 1 else f"{len(names)} cases were"
            words = f"{count} measured by the job before and not by this one: {_list_cases(names)}"
        yield self.observation(
            job,
            (run.suite, job.target_id),
            "fails" if vanished else "holds",
            suite=run.suite,
            title=f"Cases of {run.suite} vanished on {target_name}",
            words=words,
            evidence=ObservedPoints(frozenset(names)),
        )


def _list_cases(names: Sequence[str]) -> str:
    rest = len(names) - NAMED_CASES
    return ", ".join(names[:NAMED_CASES]) + (f" and {rest} more" if rest > 0 else "")


def _declared_arms(session: Session, run: Run) -> set[tuple[str, str]]:
    """Return (benchmark, arm) of every arm that the manifest declares and nobody retired."""
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


class ScheduleKind(RunEndKind):
    """A run of a schedule that gave no result."""

    name: ClassVar[str] = "schedule"
    names: ClassVar[tuple[str, ...]] = (name,)
    method: ClassVar[str] = "schedule/1"
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {
        name: BuiltInRule(
            "default-schedule",
            "A run of a schedule fails, is lost or does not happen.",
            has_effect=False,
        )
    }

    def inspect(
        self,
        session: Session,  # noqa: ARG002 - of the interface
        ended: EndedJob,
        target_name: str,
    ) -> Iterator[Observation[ObservedPoints]]:
        job, run = ended.job, ended.run
        failure = SCHEDULE_FAILURES.get(job.state)
        if run.schedule_id is None or (failure is None and job.state != "done"):
            return
        yield self.observation(
            job,
            (str(run.schedule_id), job.target_id),
            "holds" if failure is None else "fails",
            suite=run.suite,
            title=f"Scheduled run of {run.suite} {failure or 'ended well'} on {target_name}",
            words=f"{run.created_by}: {jobs.reason_of_end(job)}",
            evidence=ObservedPoints(frozenset(("run",))),
        )
