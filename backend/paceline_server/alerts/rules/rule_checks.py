"""Checks a rule before it is saved: what it would decide about, and whether targets can resolve what it asks (I14).

The rule competes as it would once saved: as the newest version, in place of the rule it
replaces. It may not ask for less than the newest noise floor of any series that it would
then decide about. Rules of arms are not checked: their effect is added to the manifest's
margin, so they only raise fewer alerts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from paceline_contract.params import params_text
from sqlalchemy.orm import Session

from paceline_server.alerts.rules import queries, rule_sentences
from paceline_server.alerts.rules.rule_book import (
    PatternedRule,
    RuleSubject,
    covers,
    most_specific,
)
from paceline_server.alerts.rules.schemas import AlertRuleIn, FloorOut
from paceline_server.kernel.errors import ProblemError
from paceline_server.stats import constants
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion


@dataclass(eq=False)
class RuleCandidate:
    """The patterns of a rule as it would be saved."""

    suite: str
    benchmark: str
    arm: str
    metric: str
    target: str
    created_at: datetime
    rule_id: str


@dataclass(frozen=True)
class RuleContest:
    """A candidate and the rules of its kind it competes with."""

    candidate: RuleCandidate
    others: Sequence[PatternedRule]

    def decides(self, subject: RuleSubject) -> bool:
        """Whether the candidate would decide about `subject`."""
        if not covers(self.candidate, subject):
            return False
        return most_specific([*self.others, self.candidate], subject) is self.candidate


def build_contest(
    spec: AlertRuleIn,
    rule_id: str | None,
    at: datetime,
    in_force: Sequence[tuple[AlertRule, AlertRuleVersion]],
) -> RuleContest:
    """`spec` saved at `at`, in place of `rule_id` if given, among the rules of its kind."""
    candidate = RuleCandidate(
        spec.suite,
        spec.benchmark,
        spec.arm,
        spec.metric,
        spec.target,
        at,
        rule_id or "",
    )
    others = [
        version
        for rule, version in in_force
        if rule.id != rule_id and version.kind == spec.kind
    ]
    return RuleContest(candidate, others)


def noisiest_floor(session: Session, contest: RuleContest) -> FloorOut | None:
    """The highest noise floor among the series the rule decides about; None if none was measured."""
    worst: FloorOut | None = None
    for floor, target in queries.newest_floors(session):
        subject = RuleSubject.of(floor, target)
        if (worst is None or floor.mde > worst.mde) and contest.decides(subject):
            own = (
                "mde",
                "suite",
                "benchmark",
                "arm",
                "metric",
                "params",
                "target_id",
                "measured_at",
            )
            values = {name: getattr(floor, name) for name in own}
            worst = FloorOut(
                **values,
                target_name=target,
                words=rule_sentences.at_least(floor.mde, target),
            )
    return worst


def refuse_undetectable(spec: AlertRuleIn) -> None:
    """Raises 422 `below_detection` for a rule of history that asks for smaller steps than detection finds."""
    least = constants.HISTORY_MIN_EFFECT
    if spec.kind != "history" or spec.mode == "off" or spec.min_effect >= least:
        return
    raise ProblemError(
        422,
        "below_detection",
        f"History looks for steps from {percent(least)} on, whatever a rule says. Ask for at least {least}.",
        fields={"min_effect": f"at least {percent(least)}"},
    )


def refuse_below_noise(
    session: Session, spec: AlertRuleIn, contest: RuleContest
) -> None:
    """Raises 422 `below_noise_floor`, naming the floor and its series, or `below_detection`."""
    refuse_undetectable(spec)
    if spec.kind != "history" or spec.mode == "off":
        return
    worst = noisiest_floor(session, contest)
    if worst is None or worst.mde <= spec.min_effect:
        return
    where = params_text(worst.params)
    series = (
        f"{worst.benchmark} {worst.arm} {worst.metric}{f' at {where}' if where else ''}"
    )
    raise ProblemError(
        422,
        "below_noise_floor",
        f"The smallest effect that can be told from noise is {worst.words} ({series}, measured by an A/A job "
        f"on {worst.measured_at:%Y-%m-%d}). Ask for that much, or leave that series to a rule of its own.",
        fields={"min_effect": rule_sentences.at_least(worst.mde, worst.target_name)},
    )
