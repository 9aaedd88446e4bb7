"""Judges a policy stated outside the suite against the newest advice for a target.

The rule is that of the suite's own policies (`stats.policy.judge_minimum`). Stored advice has no resampled
curves, so a threshold between two measured values stays undecided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from paceline_contract.params import params_text

from paceline_server.detect.policies.advice_sentences import warmup_sentence
from paceline_server.detect.policies.advise import warmup_suffices
from paceline_server.detect.policies.schemas import CrossoverOut, PolicyAdviceOut
from paceline_server.stats.coldness import Coldness
from paceline_server.stats.plain_words import percent
from paceline_server.stats.policy import (
    Crossover,
    MeasuredPoint,
    MinimumVerdict,
    judge_minimum,
)
from paceline_server.store.tables.fleet import Target


@dataclass(frozen=True)
class PolicyOnTarget:
    """A target's advice, and whether the other policy holds there; None if undecided."""

    advice: PolicyAdviceOut
    simulated: bool
    holds: bool | None
    words: str
    why: str


def judge_on_target(
    advice: PolicyAdviceOut, target: Target, minimum: int, warmup_rounds: int | None
) -> PolicyOnTarget:
    """Judge using the arm from `minimum` on, after `warmup_rounds`, on the advice's target."""
    verdict = judge_minimum(_crossover(advice.warm), minimum, advice.margin_percent)
    parts, reasons = [verdict.holds], [_minimum(advice, verdict, minimum)]
    if warmup_rounds == 0 and advice.cold is not None:
        cold = judge_minimum(_crossover(advice.cold), minimum, advice.margin_percent)
        parts.append(cold.holds)
        reasons.append(f"in a fresh process {_minimum(advice, cold, minimum)}")
    if warmup_rounds is not None:
        enough, words = _warmup(advice, warmup_rounds)
        parts.append(enough)
        reasons.append(words)
    holds = False if False in parts else None if None in parts else True
    point = params_text(advice.params, " ")
    where = f"{target.spoken_name}{f' at {point}' if point else ''}"
    return PolicyOnTarget(
        advice,
        target.simulated,
        holds,
        f"On {where} {advice.warm.words}",
        "; ".join(reasons),
    )


def _crossover(stored: CrossoverOut) -> Crossover:
    points = tuple(
        MeasuredPoint(
            at=point.at,
            middle=math.log(point.ratio),
            lower=None if point.lower is None else math.log(point.lower),
            upper=None if point.upper is None else math.log(point.upper),
            fitted=math.log(point.fitted),
            winner=point.winner,
            blocks=point.blocks,
            launches=point.launches,
        )
        for point in stored.points
    )
    return Crossover(
        answer=stored.answer,
        points=points,
        value=stored.value,
        lower=stored.lower,
        upper=stored.upper,
        measured_from=stored.measured_from,
        monotone=stored.monotone,
        reason=stored.reason,
    )


def _minimum(advice: PolicyAdviceOut, verdict: MinimumVerdict, minimum: int) -> str:
    unit = advice.unit or advice.param
    if verdict.because == "picks_loser":
        picked, other = advice.arm, advice.reference
        if verdict.picked == "reference":
            picked, other = other, picked
        loss = percent(verdict.loss or 0.0)
        return f"at {verdict.loss_at or 0:,} {unit} it picks {picked}, which takes {loss} longer than {other}"
    return {
        "inside": f"{minimum:,} {unit} is inside the interval",
        "picks_winners": "it picks no loser at any measured value",
        "open": f"the samples do not say whether {minimum:,} {unit} is right",
        "unknown": "nothing was measured to compare it with",
    }[verdict.because]


def _warmup(advice: PolicyAdviceOut, rounds: int) -> tuple[bool | None, str]:
    warmup = advice.warmup
    coldness = Coldness(
        warmup.rounds,
        warmup.lower,
        warmup.upper,
        calls_per_round=warmup.calls_per_round,
        reason=warmup.reason,
    )
    suffices = warmup_suffices(coldness, rounds)
    return suffices, warmup_sentence(rounds, suffices, warmup.words)
