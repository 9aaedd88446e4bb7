"""Sentences about rules, replays, orphans and precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.rules.schemas import (
    AlertRuleIn,
    PrecisionOut,
    TargetCountOut,
)
from paceline_server.kernel.globs import ANY
from paceline_server.stats.plain_words import TIMES, percent

LEAST_OUTCOMES = 5
"""Outcomes; a share of fewer would reflect chance rather than the rule."""
WORTH_IT = ("fixed", "expected", "acknowledged")
FALSE = ("invalid", "vanished", "infra")


def rule_sentence(spec: AlertRuleIn) -> str:
    """The text of a rule that was saved without one."""
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
    """How many of a rule's alerts were worth raising; no share below `LEAST_OUTCOMES`."""
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
    """`at least 3.1 % on host-1`."""
    return f"at least {percent(mde)} on {target}"


def replay_sentence(
    days: int,
    mode: str,
    fired: int,
    by_target: Sequence[TargetCountOut],
    demonstrations: int,
) -> str:
    """`In the last 30 days it would have fired 14×, 12 on host-1.` and what was left out."""
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
    if mode != "active":
        text = f"{text} In mode {mode} nobody would have been told."
    if demonstrations:
        which = (
            "one run that demonstrates"
            if demonstrations == 1
            else f"{demonstrations} runs that demonstrate"
        )
        text = f"{text} Demonstrations are left out: it would also have fired in {which} a slowdown."
    return text


def orphans_sentence(rules: int, unruled: int) -> str:
    """How many rules and measurements are orphans."""
    if not rules and not unruled:
        return "Every rule decides about something, and every measurement has a rule."
    left = (
        f"{_count(rules, 'rule')} {'decides' if rules == 1 else 'decide'} about nothing"
    )
    right = f"{_count(unruled, 'measurement')} {'has' if unruled == 1 else 'have'} the built-in default only"
    return f"{left}; {right}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
