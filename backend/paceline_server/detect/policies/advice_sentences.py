"""Describes policy advice in words: from where an arm wins, after how much warm-up, and whether the policy holds.

Every number in a sentence is one of the advice's (I17).
"""

from __future__ import annotations

import math

from paceline_contract.manifest import Policy
from paceline_contract.params import params_text

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


def headline(assessment: PolicyAssessment, where: str = "this host") -> str:
    """Return words such as `On pixel-8 native wins from 1,870 fingerprints (95 %: 1,400-2,300) after 1 warm-up round;
    policy in force: from 2,000, after 1 warm-up round`."""
    point = params_text(assessment.params, " ")
    at_point = f" at {point}" if point else ""
    warmup = (
        _after_warmup(assessment.coldness)
        if assessment.warm.answer in ("from", "always")
        else ""
    )
    crossover = crossover_words(assessment.policy, assessment.warm, assessment.unit)
    rounds = assessment.in_force.warmup_rounds
    in_force = f"from {assessment.in_force.minimum:,}" + (
        "" if rounds is None else f", after {_rounds(rounds)}"
    )
    return f"On {where}{at_point} {crossover}{warmup}; policy in force: {in_force}"


def crossover_words(policy: Policy, crossover: Crossover, unit: str | None) -> str:
    """Return words such as `native wins from 1,870 fingerprints (95 %: 1,400-2,300)`."""
    arm = policy.arm
    if crossover.answer == "unknown":
        return f"nothing can be said of {arm}: {crossover.reason}"
    last = _count_with_unit(crossover.points[-1].at, policy, unit)
    if crossover.answer == "undecided":
        return f"it is open from where on {arm} wins: {crossover.reason}"
    if crossover.answer == "never":
        return f"{arm} wins from no measured value on, up to {last}"
    if crossover.answer == "always":
        return f"{arm} wins from the smallest measured, {_count_with_unit(crossover.points[0].at, policy, unit)}, or below"
    return f"{arm} wins from {_count_with_unit(crossover.value or 0, policy, unit)}{_span(crossover.lower, crossover.upper)}"


def _count_with_unit(value: int, policy: Policy, unit: str | None) -> str:
    if unit is None:
        return f"{policy.param}={value:,}"
    singular = unit[:-1] if unit.endswith("s") and value == 1 else unit
    return f"{value:,} {singular}"


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
    """Return words such as ` after 1 warm-up round`, or why that is not known."""
    if coldness.rounds is None:
        return f" ({coldness.reason})" if coldness.penalties else ""
    if coldness.rounds == 0:
        return " without warm-up"
    return f" after {_rounds(coldness.rounds)}"


def _rounds(number: int) -> str:
    return f"{number:,} warm-up round{'' if number == 1 else 's'}"


def warmup_words(coldness: Coldness, margin_percent: float) -> str:
    """Return the needed warm-up as a sentence."""
    if coldness.rounds is None:
        return coldness.reason
    if coldness.rounds == 0:
        return (
            f"the first recorded round is within {margin_percent:g} % of the warm level"
        )
    sentence = f"within {margin_percent:g} % of the warm level after {_rounds(coldness.rounds)}"
    return sentence + _span(coldness.lower, coldness.upper)


def warmup_sentence(rounds: int, suffices: bool | None, needed: str) -> str:
    """Explain whether so many warm-up rounds suffice, and how many are needed."""
    if suffices is None:
        verb = "may or may not suffice"
    elif suffices:
        verb = "suffices" if rounds == 1 else "suffice"
    else:
        verb = "does not suffice" if rounds == 1 else "do not suffice"
    return f"{_rounds(rounds)} {verb}: {needed}"


def explain_holds(assessment: PolicyAssessment) -> str:
    """Give the reasons of `holds`, part by part."""
    parts = [_minimum_words(assessment, assessment.minimum, "")]
    if assessment.cold_minimum is not None:
        parts.append(
            _minimum_words(assessment, assessment.cold_minimum, "in a fresh process ")
        )
    rounds = assessment.in_force.warmup_rounds
    if rounds is not None:
        needed = warmup_words(assessment.coldness, assessment.margin_percent)
        parts.append(warmup_sentence(rounds, assessment.suffices, needed))
    return "; ".join(parts)


def _minimum_words(
    assessment: PolicyAssessment, verdict: MinimumVerdict, when: str
) -> str:
    policy, minimum = assessment.policy, assessment.in_force.minimum
    if verdict.because == "picks_loser":
        picked, other = policy.arm, policy.reference
        if verdict.picked == "reference":
            picked, other = other, picked
        loss_at = _count_with_unit(verdict.loss_at or 0, policy, assessment.unit)
        loss = percent(verdict.loss or 0.0)
        return f"{when}at {loss_at} the policy picks {picked}, which takes {loss} longer than {other}"
    sentences = {
        "inside": f"{minimum:,} is inside the interval",
        "picks_winners": "the policy picks no loser at any measured value",
        "open": f"the samples do not say whether {minimum:,} is right",
        "unknown": "there is nothing to compare the policy with",
    }[verdict.because]
    return when + sentences


def advice_out(assessment: PolicyAssessment, where: str) -> AdviceOut:
    """Return the wire shape of an assessment; `where` as in `headline`."""
    policy = assessment.policy
    return AdviceOut(
        description=policy.description,
        benchmark=policy.benchmark,
        arm=policy.arm,
        reference=policy.reference,
        metric=policy.metric,
        param=policy.param,
        unit=assessment.unit,
        margin_percent=assessment.margin_percent,
        warm=_crossover_out(policy, policy.benchmark, assessment.warm, assessment.unit),
        cold=None
        if assessment.cold is None
        else _crossover_out(
            policy, policy.cold_benchmark or "", assessment.cold, assessment.unit
        ),
        warmup=_warmup_out(assessment.coldness, assessment.margin_percent),
        why=explain_holds(assessment),
        words=headline(assessment, where),
    )


def _crossover_out(
    policy: Policy, benchmark: str, crossover: Crossover, unit: str | None
) -> CrossoverOut:
    return CrossoverOut(
        benchmark=benchmark,
        answer=crossover.answer,
        value=crossover.value,
        lower=crossover.lower,
        upper=crossover.upper,
        confidence=POLICY_CONFIDENCE,
        measured_from=crossover.measured_from,
        smallest=crossover.points[0].at if crossover.points else None,
        largest=crossover.points[-1].at if crossover.points else None,
        monotone=crossover.monotone,
        reason=crossover.reason,
        words=crossover_words(policy, crossover, unit),
        points=[_point_out(point) for point in crossover.points],
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


def _warmup_out(coldness: Coldness, margin_percent: float) -> WarmupOut:
    return WarmupOut(
        rounds=coldness.rounds,
        lower=coldness.lower,
        upper=coldness.upper,
        confidence=POLICY_CONFIDENCE,
        margin_percent=margin_percent,
        calls_per_round=coldness.calls_per_round,
        reason=coldness.reason,
        words=warmup_words(coldness, margin_percent),
        penalties=[
            PenaltyOut(after=rounds, penalty=penalty)
            for rounds, penalty in enumerate(coldness.penalties)
        ],
    )
