"""Raises alerts about usage policies: a shipped policy no longer picks the faster arm.

Advice that contradicts the policy only raises a suspected alert; a confirmation run of the same revision decides before
people are notified (I13). The advice of a confirmation is computed and never stored.

    holds: true ─▶ false ─▶ suspected ─ cool-down ─▶ confirmation run ─┬─ false ─▶ open, told
                                                                       ├─ true ──▶ unconfirmed
    open ─ a later job says true ─▶ fixed                              └─ null ──▶ inconclusive
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.explanation import (
    case_place,
    finding_place,
    finding_sentence,
)
from paceline_server.alerts.kind import (
    AlertEvidence,
    AlertKind,
    ConfirmationRun,
    Decision,
    EndedJob,
    Observation,
    Watched,
    no_verdict,
)
from paceline_server.alerts.rules.rule_book import AppliedRule
from paceline_server.detect import service as detect
from paceline_server.detect.policies import service as policies
from paceline_server.detect.service import Role
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids
from paceline_server.stats.constants import POLICY_CONFIDENCE
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.jobs import Job
from paceline_server.store.tables.policies import PolicyAdvice

NAME = "policy"
METHOD = "policy-advice/1"
RULE = AppliedRule(
    rule_id=None,
    version=None,
    name="policy-in-force",
    text="The usage policy that is shipped picks the faster arm on every target, after enough warm-up.",
    kind=NAME,
    min_effect=0.0,
    direction="worse",
    mode="active",
    muted=None,
)


class PolicyKind(AlertKind[PolicyAdvice]):
    """A shipped usage policy that measurements contradict."""

    names: ClassVar[tuple[str, ...]] = (NAME,)
    watches: ClassVar[Watched] = "points"

    def observe(
        self, session: Session, ended: EndedJob
    ) -> Iterator[Observation[PolicyAdvice]]:
        name = queries.spoken_name(session, ended.job.target_id)
        for row in policies.advice_of_job(session, ended.job.id):
            if row.holds is not None:
                yield _observation(row, name)

    def needs_no_alert(
        self, session: Session, seen: Observation[PolicyAdvice], newest: Alert | None
    ) -> bool:
        """Return whether the advice before was wrong already, and no alert about that was closed since."""
        before = policies.find_previous_advice(session, seen.evidence)
        if before is None or before.holds is not False:
            return False
        ended = newest is not None and newest.state in ("unconfirmed", "fixed")
        return not (
            ended and newest is not None and newest.updated_at >= before.measured_at
        )

    def join(self, alert: Alert, seen: Observation[PolicyAdvice]) -> None:
        alert.words = seen.words

    def store_findings(
        self,
        session: Session,
        alert: Alert,
        seen: Observation[PolicyAdvice],
        role: Role,
    ) -> None:
        _store_advice(session, alert, role, seen.evidence)

    def request_run(self, session: Session, alert: Alert) -> ConfirmationRun:
        """Request the same revision at the point of the params that the alert is about."""
        advice = queries.newest_numbers(session, alert.id)["advice"]
        cold = advice["cold"]["benchmark"] if advice["cold"] else None
        *_, point = json.loads(alert.cause_key)
        run = jobs.confirmation_run(
            session,
            alert_id=alert.id,
            original_run_id=alert.measured_run_id,
            benchmarks=[
                benchmark for benchmark in (alert.benchmark, cold) if benchmark
            ],
            params={name: [value] for name, value in json.loads(point).items()},
            target_id=alert.measured_target_id,
            not_before=clock.now(),
        )
        return ConfirmationRun(run, f"run {run.id}")

    def compute(self, session: Session, job: Job) -> list[PolicyAdvice]:
        """Return the advice from the confirmation's samples."""
        return detect.advise_again(session, job.id)

    def read_confirmation(
        self, session: Session, alert: Alert, ended: EndedJob
    ) -> Decision:
        if ended.job.state != "done":
            return no_verdict(ended.job, "the confirmation")
        _, _, policy, _, point = json.loads(alert.cause_key)
        again: PolicyAdvice | None = next(
            (
                advice
                for advice in ended.computed or ()
                if (advice.policy, advice.params_key) == (policy, point)
            ),
            None,
        )
        if again is None or again.holds is None:
            why = "it could not say" if again is None else str(again.advice["why"])
            return Decision("undecided", f"the second session left it open: {why}")
        _store_advice(session, alert, "confirmation", again)
        if again.holds:
            return Decision("cleared", str(again.advice["why"]))
        alert.words = str(again.advice["words"])
        return Decision("proven", str(again.advice["why"]))

    def explain(self, evidence: AlertEvidence) -> str:
        alert, candidates = evidence.alert, evidence.with_role("candidate")
        if not candidates:
            return f"{alert.title}: {alert.words}."
        first = candidates[0]
        parts = [
            f"On {evidence.target_name}, {finding_place(first)}: {finding_sentence(first)}.",
            f"Rule {alert.rule['name']}: {alert.rule['text']}",
        ]
        waiting = {
            "suspected": "It is not confirmed yet, and nobody was told: the same revision is measured again in a "
            "new session first.",
            "inconclusive": "It is not confirmed, and nobody was told: the new session could not say.",
        }
        confirmation = evidence.with_role("confirmation")
        if confirmation:
            parts.append(
                "The same revision, measured again in a new session, says: "
                f"{finding_sentence(confirmation[-1])}."
            )
        elif alert.state in waiting:
            parts.append(waiting[alert.state])
        return " ".join([*parts, *evidence.closing_sentences])


def _observation(row: PolicyAdvice, target_name: str) -> Observation[PolicyAdvice]:
    advice = row.advice
    words = str(advice["words"])
    parts = [NAME, row.suite, row.policy, row.target_id, row.params_key]
    return Observation(
        kind=NAME,
        cause_key=json.dumps(parts, separators=(",", ":")),
        outcome="holds" if row.holds else "fails",
        title=f"Policy {row.policy} of {row.suite} is not right on {target_name}",
        words=words,
        rule=RULE,
        evidence=row,
        run_id=row.run_id,
        job_id=row.job_id,
        target_id=row.target_id,
        suite=row.suite,
        benchmark=advice["benchmark"],
        arm=advice["arm"],
        reference=advice["reference"],
        metric=advice["metric"],
        raised_because=f"{words}: {advice['why']}",
    )


def _store_advice(
    session: Session, alert: Alert, role: Role, row: PolicyAdvice
) -> None:
    """Store the whole advice as a finding, because advice is derived again later and explanations need the original
    (I16)."""
    advice, in_force = dict(row.advice), row.in_force
    warm = advice["warm"]
    session.add(
        Finding(
            id=ids.new_id("fnd"),
            kind=NAME,
            role=role,
            alert_id=alert.id,
            comparison_id=None,
            series_id=None,
            change_id=None,
            numbers={
                "words": advice["words"],
                "where": case_place(advice["arm"], advice["benchmark"], {}),
                "advice": advice,
                "in_force": dict(in_force),
            },
            run_id=row.run_id,
            job_id=row.job_id,
            method=METHOD,
            parameters={
                "confidence": POLICY_CONFIDENCE,
                "margin_percent": advice["margin_percent"],
            },
            filters=_filters(advice, in_force),
            window={
                "text": f"{len(warm['points'])} values of {advice['param']} measured in one job, "
                f"{sum(point['blocks'] for point in warm['points'])} rounds of both arms",
            },
            created_at=clock.now(),
        )
    )
    session.flush()


def _filters(
    advice: Mapping[str, Any], in_force: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the checks of the policy in force; each limit is the measured value."""
    warm, warmup, minimum = advice["warm"], advice["warmup"], in_force["minimum"]
    lower, upper = warm["lower"], warm["upper"]
    inside = (
        warm["value"] is not None
        and (lower or 0) <= minimum
        and (upper is None or minimum <= upper)
    )
    filters = [
        {
            "name": "minimum",
            "value": minimum,
            "limit": warm["value"],
            "passed": inside,
            "text": f"In force from {minimum:,}; measured: {warm['words']}.",
        },
    ]
    rounds = in_force["warmup_rounds"]
    if rounds is not None:
        needed = warmup["rounds"]
        filters.append(
            {
                "name": "warmup_rounds",
                "value": rounds,
                "limit": needed,
                "passed": needed is not None and rounds >= needed,
                "text": f"{rounds} warm-up rounds in force; measured: {warmup['words']}.",
            }
        )
    return [
        *filters,
        {
            "name": "holds",
            "value": None,
            "limit": None,
            "passed": False,
            "text": advice["why"],
        },
    ]
