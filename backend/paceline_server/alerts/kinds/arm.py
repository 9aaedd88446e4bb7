"""Raises alerts about arms that fail their suite's rule against the reference, for one or more combinations of params.

What must stay true:
- a cause is a suite, benchmark, arm, metric, target and whether it was a demonstration, over all params;
- the suite's manifest decides what fails, a stored rule which failures raise an alert;
- a confirmation measures the failing points of the same revision again, and decides only about them;
- a demonstration proves no recovery.

    confirmation ─┬─ one of the failing points fails again ─▶ open
                  ├─ all of them pass ──────────────────────▶ unconfirmed
                  └─ else, or no verdict at all ────────────▶ inconclusive
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from paceline_contract.params import params_text
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.explanation import is_slower, values_by_param
from paceline_server.alerts.kind import (
    AlertEvidence,
    AlertKind,
    ConfirmationRun,
    Decision,
    EndedJob,
    Observation,
    Outcome,
    no_verdict,
)
from paceline_server.alerts.lifecycle import SYSTEM, add_event
from paceline_server.alerts.rules.rule_book import (
    AppliedRule,
    BuiltInRule,
    RuleSubject,
    rules_in_force,
)
from paceline_server.detect import service as detect
from paceline_server.detect.service import Role
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Comparison

NAME = "arm_slower"
ROLES: tuple[Role, ...] = ("candidate", "confirmation", "recovery")


@dataclass(frozen=True)
class ArmPoints:
    """The comparisons of a cause in one job: those the observation is about, of `measured` points."""

    shown: Sequence[Comparison]
    measured: int


class ArmKind(AlertKind[ArmPoints]):
    """An arm that is slower than the reference."""

    names: ClassVar[tuple[str, ...]] = (NAME,)
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {
        NAME: BuiltInRule(
            "as-shipped", "The rules of the suite's manifest apply as shipped."
        )
    }
    blames_code: ClassVar[bool] = True

    def observe(
        self, session: Session, ended: EndedJob
    ) -> Iterator[Observation[ArmPoints]]:
        """Yield one observation per cause. Heads of pull requests yield none: their runs report what they show."""
        job = ended.job
        if job.state != "done" or ended.run.judges_head:
            return
        comparisons = detect.comparisons_of_job(session, job.id)
        known = queries.known_comparisons(session, [row.id for row in comparisons])
        causes: dict[str, list[Comparison]] = defaultdict(list)
        for comparison in comparisons:
            if comparison.evidence["rule"] is not None:
                causes[cause_key(comparison)].append(comparison)
        book = rules_in_force(session, NAME)
        name = queries.target_name(session, job.target_id)
        spoken_name = queries.spoken_name(session, job.target_id)
        for points in causes.values():
            rule = book.rule_for(RuleSubject.of(points[0], name))
            failing = [point for point in points if point.verdict == "fail"]
            raising = [
                point
                for point in failing
                if is_slower(point) and rule.raises((point.ratio or 1.0) - 1.0)
            ]
            fresh = [point for point in raising if point.id not in known]
            if fresh:
                evidence = ArmPoints(fresh, len(points))
                yield _observation("fails", evidence, rule, spoken_name)
            elif not failing and not ended.run.demonstration:
                evidence = ArmPoints(points, len(points))
                seen = _observation("holds", evidence, rule, spoken_name)
                for of_demonstration in (False, True):
                    key = cause_key(points[0], demonstration=of_demonstration)
                    yield replace(seen, cause_key=key)

    def needs_no_alert(
        self, session: Session, seen: Observation[ArmPoints], newest: Alert | None
    ) -> bool:
        """Return whether a person called this slowdown expected and no point of the params has become slower since.
        A point that did not fail then counts as slower."""
        if newest is None or newest.state != "expected":
            return False
        accepted: dict[str, float] = {}
        for role in ("candidate", "confirmation"):
            for comparison in queries.evidence_keys(session, newest.id, role):
                if is_slower(comparison) and comparison.upper is not None:
                    accepted[comparison.params_key] = max(
                        comparison.upper,
                        accepted.get(comparison.params_key, comparison.upper),
                    )
        failing = seen.evidence.shown
        for comparison in failing:
            limit = accepted.get(comparison.params_key)
            if limit is None or (comparison.lower or 0.0) > limit:
                return False
        note = headline(failing, len(failing))
        add_event(session, newest, "seen_as_expected", SYSTEM, note)
        return True

    def join(self, alert: Alert, seen: Observation[ArmPoints]) -> None:
        """Show the newest numbers of an alert that people know."""
        if alert.state in ("open", "acknowledged"):
            _describe(alert, seen.evidence.shown, seen.evidence.measured)

    def store_findings(
        self, session: Session, alert: Alert, seen: Observation[ArmPoints], role: Role
    ) -> None:
        for comparison in seen.evidence.shown:
            detect.record_finding(session, comparison, role, alert.id)

    def recovery(
        self, session: Session, alert: Alert, seen: Observation[ArmPoints]
    ) -> Observation[ArmPoints] | None:
        """Return the passing points, once every point that failed before passes."""
        candidates = queries.evidence_keys(session, alert.id, "candidate")
        failed = {comparison.params_key for comparison in candidates}
        passing = [
            comparison
            for comparison in seen.evidence.shown
            if comparison.verdict == "pass" and comparison.params_key in failed
        ]
        if {comparison.params_key for comparison in passing} != failed:
            return None
        measured = seen.evidence.measured
        return replace(
            seen,
            evidence=ArmPoints(passing, measured),
            words=headline(passing, measured),
        )

    def request_run(self, session: Session, alert: Alert) -> ConfirmationRun:
        """Request the same revision and knobs, but only the failing points."""
        failing = queries.evidence_keys(session, alert.id, "candidate", alert.run_id)
        run = jobs.confirmation_run(
            session,
            alert_id=alert.id,
            original_run_id=alert.measured_run_id,
            benchmarks=[alert.benchmark],
            params=values_by_param(comparison.params for comparison in failing),
            target_id=alert.measured_target_id,
            not_before=clock.now(),
        )
        return ConfirmationRun(run, f"run {run.id}")

    def read_confirmation(
        self, session: Session, alert: Alert, ended: EndedJob
    ) -> Decision:
        """Decide by the points that failed before."""
        job = ended.job
        if job.state != "done":
            return no_verdict(job, "the confirmation")
        candidates = queries.evidence_keys(session, alert.id, "candidate", alert.run_id)
        failed = {comparison.params_key for comparison in candidates}
        again = [
            comparison
            for comparison in detect.comparisons_of_job(session, job.id)
            if (comparison.arm, comparison.metric) == (alert.arm, alert.metric)
            and comparison.params_key in failed
        ]
        known = queries.known_comparisons(session, [row.id for row in again])
        for comparison in again:
            if comparison.id not in known:
                detect.record_finding(session, comparison, "confirmation", alert.id)
        failing = [comparison for comparison in again if is_slower(comparison)]
        if failing:
            _describe(alert, failing, len(again))
            return Decision("proven", alert.words)
        if again and all(comparison.verdict == "pass" for comparison in again):
            return Decision("cleared", again[0].evidence["words"])
        reasons = (row.reason for row in again if row.verdict != "pass")
        return Decision("undecided", next(reasons, "nothing was measured again"))

    def explain(self, evidence: AlertEvidence) -> str:
        """Return what was found, how sure it is, whether it was confirmed, and the evidence."""
        alert = evidence.alert
        by_role = {
            role: [
                row.comparison
                for row in evidence.with_role(role)
                if row.comparison is not None
            ]
            for role in ROLES
        }
        if not by_role["candidate"]:
            return f"{alert.title}: {alert.words}."
        parts = [
            _found_sentence(
                alert, evidence.target_name, worst_comparison(by_role["candidate"])
            ),
            f"Rule {alert.rule['name']}: {alert.rule['text']}",
        ]
        if alert.demonstration:
            parts.append(
                "The run was a demonstration: a knob changed the work on purpose."
            )
        parts.append(_confirmation_sentence(alert, by_role["confirmation"]))
        if by_role["recovery"]:
            last = by_role["recovery"][-1]
            parts.append(
                f"In a later run {alert.arm} was {last.evidence['words']} and the alert was closed."
            )
        return " ".join(parts)


def cause_key(comparison: Comparison, *, demonstration: bool | None = None) -> str:
    """Return the key of the cause of an alert about an arm, over all params."""
    of_demonstration = (
        comparison.demonstration if demonstration is None else demonstration
    )
    parts = [
        comparison.suite,
        comparison.benchmark,
        comparison.arm,
        comparison.metric,
        comparison.target_id,
        of_demonstration,
    ]
    return json.dumps(parts, separators=(",", ":"))


def _observation(
    outcome: Outcome, evidence: ArmPoints, rule: AppliedRule, target_name: str
) -> Observation[ArmPoints]:
    worst = worst_comparison(evidence.shown)
    demonstration = " (demonstration)" if worst.demonstration else ""
    return Observation(
        kind=NAME,
        cause_key=cause_key(worst),
        outcome=outcome,
        title=f"{worst.arm} slower than {worst.reference}: {worst.benchmark} on {target_name}{demonstration}",
        words=headline(evidence.shown, evidence.measured),
        rule=_with_shipped_text(rule, worst.evidence["rule"]),
        evidence=evidence,
        run_id=worst.run_id,
        job_id=worst.job_id,
        target_id=worst.target_id,
        suite=worst.suite,
        benchmark=worst.benchmark,
        arm=worst.arm,
        reference=worst.reference,
        metric=worst.metric,
        demonstration=worst.demonstration,
        ratio=worst.ratio,
        lower=worst.lower,
        upper=worst.upper,
    )


def _with_shipped_text(rule: AppliedRule, shipped: Mapping[str, Any]) -> AppliedRule:
    """Return a rule with the manifest's text before its own; the built-in rule is the manifest's."""
    if rule.rule_id is None:
        return replace(rule, name=shipped["name"], text=shipped["text"])
    return replace(rule, text=f"{shipped['text']} {rule.text}")


def _describe(alert: Alert, failing: Sequence[Comparison], points: int) -> None:
    """Update the alert's headline and numbers from its newest evidence."""
    worst = worst_comparison(failing)
    alert.words = headline(failing, points)
    alert.ratio, alert.lower, alert.upper = worst.ratio, worst.lower, worst.upper


def headline(failing: Sequence[Comparison], of: int) -> str:
    """Return the worst of the failing comparisons in words, and how many of all combinations of params fail."""
    worst = worst_comparison(failing)
    where = params_text(worst.params)
    text = str(worst.evidence["words"]) + (f" at {where}" if where else "")
    return text if of <= 1 else f"{text}; {len(failing)} of {of} points fail"


def worst_comparison(comparisons: Sequence[Comparison]) -> Comparison:
    """Return the slowest; of equal ones, that with the greatest id. `comparisons` must not be empty."""
    return max(
        comparisons, key=lambda comparison: (comparison.ratio or 0.0, comparison.id)
    )


def _found_sentence(alert: Alert, target_name: str, worst: Comparison) -> str:
    where = params_text(worst.params)
    at = f" at {where}" if where else ""
    statistic = worst.evidence["statistic"]
    p = statistic["p_slow"]
    return (
        f"On {target_name}, {alert.arm} took longer than {alert.reference} in {alert.benchmark}{at}: "
        f"{worst.evidence['words']}. {statistic['above_margin']} of {worst.blocks} paired blocks in "
        f"{worst.launches} launches were more than {worst.evidence['margin_percent']:g} % slower "
        f"(p = {p:.2g}), and so were {statistic['launches_above']} of {worst.launches} "
        "launch medians."
    )


def _confirmation_sentence(alert: Alert, confirmation: Sequence[Comparison]) -> str:
    failing = [comparison for comparison in confirmation if is_slower(comparison)]
    if failing:
        worst = worst_comparison(failing)
        return f"A second run in a new session, after a pause, confirmed it: {worst.evidence['words']}."
    texts: dict[str, str] = {
        "suspected": "It is not confirmed yet: the same revision is measured again in a new session.",
        "unconfirmed": "A second run in a new session did not confirm it.",
        "inconclusive": "A second run in a new session could not decide.",
    }
    return texts.get(alert.state, "It was not confirmed by a second run.")
