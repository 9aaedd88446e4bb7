"""Words policy advice: where an arm begins to win, after how much warm-up, and whether the
policy holds.

Pure. Every number in a sentence is one of the advice's (I17); "never" and "or below"
are stated, not omitted.
"""

from __future__ import annotations

import math

from paceline_contract.manifest import Policy

from paceline_server.detect.policies.advise import PolicyAssessment
from paceline_server.detect.policies.schemas import (
    AdviceOut,
    CrossoverOut,
    CrossoverPointOut,
    PenaltyOut,
    WarmupOut,
)
from paceline_server.stats.coldness import Coldness
from paceline_server.stats.constants import POLICY_CONFIDENCE
from paceline_server.stats.plain_words import percent
from paceline_server.stats.policy import Crossover, MeasuredPoint, MinimumVerdict


def headline(advised: PolicyAssessment, where: str = "this host") -> str:
    """`On pixel-8 native wins from 1,870 fingerprints (95 %: 1,400-2,300) after 1 warm-up round; policy in
    force: 2,000 / 1`, with a true dash."""
    point = " ".join(f"{name}={value}" for name, value in advised.params.items())
    at = f" at {point}" if point else ""
    warmup = (
        _after_warmup(advised.coldness)
        if advised.warm.answer in ("from", "always")
        else ""
    )
    said = crossover_words(advised.policy, advised.warm, advised.unit)
    rounds = advised.in_force.warmup_rounds
    in_force = f"{advised.in_force.minimum:,}" + (
        "" if rounds is None else f" / {rounds:,}"
    )
    return f"On {where}{at} {said}{warmup}; policy in force: {in_force}"


def crossover_words(policy: Policy, found: Crossover, unit: str | None) -> str:
    """`native wins from 1,870 fingerprints (95 %: 1,400-2,300)`."""
    arm = policy.arm
    if found.answer == "unknown":
        return f"nothing can be said of {arm}: {found.reason}"
    last = _count_with_unit(found.points[-1].at, policy, unit)
    if found.answer == "undecided":
        return f"it is open from where on {arm} wins: {found.reason}"
    if found.answer == "never":
        return f"{arm} wins from no measured value on, up to {last}"
    if found.answer == "always":
        return f"{arm} wins from the smallest measured, {_count_with_unit(found.points[0].at, policy, unit)}, or below"
    return f"{arm} wins from {_count_with_unit(found.value or 0, policy, unit)}{_interval(found)}"


def _count_with_unit(value: int, policy: Policy, unit: str | None) -> str:
    if unit is None:
        return f"{policy.param}={value:,}"
    singular = unit[:-1] if unit.endswith("s") and value == 1 else unit
    return f"{value:,} {singular}"


def _interval(found: Crossover) -> str:
    return _span(found.lower, found.upper)


def _span(lower: int | None, upper: int | None) -> str:
    level = f"{POLICY_CONFIDENCE * 100:g} %"
    if lower is None and upper is None:
        return ""
    if lower is None:
        return f" ({level}: {upper:,} or below)"
    if upper is None:
        return f" ({level}: {lower:,} or more)"
    if lower == upper:
        return f" ({level}: {lower:,})"
    return f" ({level}: {lower:,}\N{EN DASH}{upper:,})"


def _after_warmup(coldness: Coldness) -> str:
    """` after 1 warm-up round`, or why that is not known."""
    if coldness.rounds is None:
        return f" ({coldness.reason})" if coldness.penalties else ""
    if coldness.rounds == 0:
        return " without warm-up"
    return f" after {_rounds(coldness.rounds)}"


def _rounds(number: int) -> str:
    return f"{number:,} warm-up round{'' if number == 1 else 's'}"


def warmup_words(coldness: Coldness, margin_percent: float) -> str:
    """What the warm-up rounds say, in one sentence."""
    if coldness.rounds is None:
        return coldness.reason
    if coldness.rounds == 0:
        return (
            f"the first recorded round is within {margin_percent:g} % of the warm level"
        )
    said = f"within {margin_percent:g} % of the warm level after {_rounds(coldness.rounds)}"
    return said + _span(coldness.lower, coldness.upper)


def explain_holds(advised: PolicyAssessment) -> str:
    """What `holds` rests on, part by part."""
    parts = [_minimum_words(advised, advised.minimum, "")]
    if advised.cold_minimum is not None:
        parts.append(
            _minimum_words(advised, advised.cold_minimum, "in a fresh process ")
        )
    rounds = advised.in_force.warmup_rounds
    if rounds is not None:
        needed = warmup_words(advised.coldness, advised.margin_percent)
        one = rounds == 1
        ends = {
            True: "suffices" if one else "suffice",
            False: "does not suffice" if one else "do not suffice",
            None: "may or may not suffice",
        }[advised.suffices]
        parts.append(f"{_rounds(rounds)} {ends}: {needed}")
    return "; ".join(parts)


def _minimum_words(advised: PolicyAssessment, judged: MinimumVerdict, when: str) -> str:
    policy, minimum = advised.policy, advised.in_force.minimum
    if judged.because == "picks_loser":
        picked, other = policy.arm, policy.reference
        if judged.picked == "reference":
            picked, other = other, picked
        at = _count_with_unit(judged.loss_at or 0, policy, advised.unit)
        loss = percent(judged.loss or 0.0)
        return f"{when}at {at} the policy picks {picked}, which takes {loss} longer than {other}"
    said = {
        "inside": f"{minimum:,} is inside the interval",
        "picks_winners": "the policy picks no loser at any measured value",
        "open": f"the samples do not say whether {minimum:,} is right",
        "unknown": "there is nothing to compare the policy with",
    }[judged.because]
    return when + said


def advice_out(advised: PolicyAssessment, where: str) -> AdviceOut:
    """The wire shape, with its words; `where` as in `headline`."""
    policy = advised.policy
    return AdviceOut(
        description=policy.description,
        benchmark=policy.benchmark,
        arm=policy.arm,
        reference=policy.reference,
        metric=policy.metric,
        param=policy.param,
        unit=advised.unit,
        margin_percent=advised.margin_percent,
        warm=_crossover_out(policy, policy.benchmark, advised.warm, advised.unit),
        cold=None
        if advised.cold is None
        else _crossover_out(
            policy, policy.cold_benchmark or "", advised.cold, advised.unit
        ),
        warmup=_warmup_out(advised.coldness, advised.margin_percent),
        why=explain_holds(advised),
        words=headline(advised, where),
    )


def _crossover_out(
    policy: Policy, benchmark: str, found: Crossover, unit: str | None
) -> CrossoverOut:
    return CrossoverOut(
        benchmark=benchmark,
        answer=found.answer,
        value=found.value,
        lower=found.lower,
        upper=found.upper,
        confidence=POLICY_CONFIDENCE,
        measured_from=found.measured_from,
        smallest=found.points[0].at if found.points else None,
        largest=found.points[-1].at if found.points else None,
        monotone=found.monotone,
        reason=found.reason,
        words=crossover_words(policy, found, unit),
        points=[_point_out(point) for point in found.points],
    )


def _point_out(point: MeasuredPoint) -> CrossoverPointOut:
    return CrossoverPointOut(
        at=point.at,
        ratio=math.exp(point.middle),
        lower=None if point.lower is None else math.exp(point.lower),
        upper=None if point.upper is None else math.exp(point.upper),
        fitted=math.exp(point.fitted),
        winner=point.winner,
        blocks=point.blocks,
        launches=point.launches,
    )


def _warmup_out(found: Coldness, margin_percent: float) -> WarmupOut:
    return WarmupOut(
        rounds=found.rounds,
        lower=found.lower,
        upper=found.upper,
        confidence=POLICY_CONFIDENCE,
        margin_percent=margin_percent,
        calls_per_round=found.calls_per_round,
        reason=found.reason,
        words=warmup_words(found, margin_percent),
        penalties=[
            PenaltyOut(after=at, penalty=share)
            for at, share in enumerate(found.penalties)
        ],
    )
