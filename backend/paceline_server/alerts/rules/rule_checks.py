"""Checks a rule before it is saved: what it would decide about, and whether targets can resolve its effect (I14).

The rule competes as if it were saved: as the newest version, in place of the rule it replaces. Its effect may not be
below the newest noise floor of any series that it would then decide about. Rules of arms are not checked, because their
effect is added to the manifest's margin, so they only raise fewer alerts. The sentences about rules are here, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from paceline_contract.params import params_text
from sqlalchemy.orm import Session

from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.rules.rule_book import (
    PatternedRule,
    RuleSubject,
    covers,
    most_specific,
)
from paceline_server.alerts.rules.schemas import (
    AlertRuleIn,
    FloorOut,
    PrecisionOut,
    TargetCountOut,
)
from paceline_server.kernel.errors import ProblemError
from paceline_server.kernel.globs import ANY
from paceline_server.series import service as series_service
from paceline_server.stats import constants
from paceline_server.stats.plain_words import TIMES, percent
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion

LEAST_OUTCOMES = 5
"""No share is given of fewer outcomes than this, because it would reflect chance rather than the rule."""
WORTH_IT = ("fixed", "expected", "acknowledged")
FALSE = ("invalid", "vanished", "infra")


def rule_sentence(spec: AlertRuleIn) -> str:
    """Return the text of a rule that was saved without one."""
    about = f"{_named('metric', spec.metric)} of {_named('benchmark', spec.benchmark)}"
    where = f"{_named('arm', spec.arm)}, {_named('suite', spec.suite)}, {_named('target', spec.target)}"
    built_in = kind_of(spec.kind).built_in_rules[spec.kind]
    if not built_in.has_effect:
        return f"{built_in.text[:-1]} ({about}; {where})."
    what = "moves either way" if spec.direction == "both" else "gets worse"
    if spec.kind == "arm_slower":
        return f"An arm that fails its suite's rule by {percent(spec.min_effect)} or more: {about} ({where})."
    return f"{about[0].upper()}{about[1:]} ({where}) {what} by {percent(spec.min_effect)} or more and stays so."


def _named(noun: str, pattern: str) -> str:
    return f"any {noun}" if pattern == ANY else f"{noun} {pattern}"


def precision_out(states: Mapping[str, int]) -> PrecisionOut:
    """Return how many of a rule's alerts were worth raising; no share below `LEAST_OUTCOMES`."""
    worth_it = sum(states.get(state, 0) for state in WORTH_IT)
    false = sum(states.get(state, 0) for state in FALSE)
    judged = worth_it + false
    undecided = sum(states.values()) - judged
    share = worth_it / judged if judged >= LEAST_OUTCOMES else None
    if not judged:
        words = "No alert of this rule has been judged yet."
    elif share is None:
        words = f"{worth_it} of {judged} alerts were worth it: too few for a share."
    else:
        words = f"{worth_it} of {judged} alerts were worth it ({share * 100:.0f} %)."
    return PrecisionOut(
        worth_it=worth_it, false=false, undecided=undecided, share=share, words=words
    )


def at_least(mde: float, target: str) -> str:
    """Return a noise floor in words, such as `at least 3.1 % on host-1`."""
    return f"at least {percent(mde)} on {target}"


def replay_sentence(
    days: int,
    rule: AlertRuleIn,
    fired: int,
    by_target: Sequence[TargetCountOut],
    demonstrations: int,
) -> str:
    """Return `In the last 30 days it would have fired 14×, 12 on host-1.`, then which findings were
    replayed and what was left out."""
    period = "In the last day" if days == 1 else f"In the last {days} days"
    if not fired:
        text = f"{period} it would not have fired."
    else:
        most = by_target[0]
        where = (
            f"all on {most.target_name}"
            if most.fired == fired
            else f"{most.fired} on {most.target_name}"
        )
        text = f"{period} it would have fired {fired}{TIMES}, {where}."
    text = f"{text} Only findings of kind {rule.kind} were replayed."
    if rule.mode != "active":
        text = f"{text} In mode {rule.mode} nobody would have been told."
    if demonstrations:
        which = (
            "one run that demonstrates"
            if demonstrations == 1
            else f"{demonstrations} runs that demonstrate"
        )
        text = f"{text} Demonstrations are left out: it would also have fired in {which} a slowdown."
    return text


def orphans_sentence(rules: int, unruled: int) -> str:
    """Return how many rules and measurements are orphans."""
    if not rules and not unruled:
        return "Every rule decides about something, and every measurement has a rule."
    left = (
        f"{_count(rules, 'rule')} {'decides' if rules == 1 else 'decide'} about nothing"
    )
    right = f"{_count(unruled, 'measurement')} {'has' if unruled == 1 else 'have'} the built-in default only"
    return f"{left}; {right}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


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
        """Return whether the candidate would decide about `subject`."""
        if not covers(self.candidate, subject):
            return False
        return most_specific([*self.others, self.candidate], subject) is self.candidate


def build_contest(
    spec: AlertRuleIn,
    rule_id: str | None,
    at: datetime,
    in_force: Sequence[tuple[AlertRule, AlertRuleVersion]],
) -> RuleContest:
    """Return `spec` saved at `at`, in place of `rule_id` if given, among the rules of its kind."""
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
    """Return the highest noise floor among the series the rule decides about; None if none was measured."""
    worst: FloorOut | None = None
    for floor, target in series_service.floors_of_real_targets(session):
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
                words=at_least(floor.mde, target),
            )
    return worst


def refuse_undetectable(spec: AlertRuleIn) -> None:
    """Raise 422 `below_detection` for a rule of history that asks for smaller steps than detection finds."""
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
    """Raise 422 `below_noise_floor`, naming the floor and its series, or `below_detection`."""
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
        fields={"min_effect": at_least(worst.mde, worst.target_name)},
    )
