"""Judges a policy stated outside the suite against what was measured on a target here.

Pure; `imports` asks. The rule is that of the suite's own policies
(`stats.policy.judge_minimum`), over the points of the newest stored advice. Without the
resampled curves nothing is known about a threshold between two measured values, so such
an answer stays open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
    """One target's advice, and whether the foreign policy is right there; None: the samples do not say."""

    advice: PolicyAdviceOut
    simulated: bool
    holds: bool | None
    words: str
    why: str


def judge_on_target(
    advice: PolicyAdviceOut, target: Target, minimum: int, warmup_rounds: int | None
) -> PolicyOnTarget:
    """Whether using the arm from `minimum` on, after `warmup_rounds`, is right on the advice's target."""
    judged = judge_minimum(_crossover(advice.warm), minimum, advice.margin_percent)
    parts, said = [judged.holds], [_minimum(advice, judged, minimum)]
    if warmup_rounds == 0 and advice.cold is not None:
        cold = judge_minimum(_crossover(advice.cold), minimum, advice.margin_percent)
        parts.append(cold.holds)
        said.append(f"in a fresh process {_minimum(advice, cold, minimum)}")
    if warmup_rounds is not None:
        enough, words = _warmup(advice, warmup_rounds)
        parts.append(enough)
        said.append(words)
    holds = False if False in parts else None if None in parts else True
    point = " ".join(f"{name}={value}" for name, value in advice.params.items())
    where = f"{target.spoken_name}{f' at {point}' if point else ''}"
    return PolicyOnTarget(
        advice,
        target.simulated,
        holds,
        f"On {where} {advice.warm.words}",
        "; ".join(said),
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


def _minimum(advice: PolicyAdviceOut, judged: MinimumVerdict, minimum: int) -> str:
    unit = advice.unit or advice.param
    if judged.because == "picks_loser":
        picked, other = advice.arm, advice.reference
        if judged.picked == "reference":
            picked, other = other, picked
        loss = percent(judged.loss or 0.0)
        return f"at {judged.loss_at or 0:,} {unit} it picks {picked}, which takes {loss} longer than {other}"
    return {
        "inside": f"{minimum:,} {unit} is inside the interval",
        "picks_winners": "it picks no loser at any measured value",
        "open": f"the samples do not say whether {minimum:,} {unit} is right",
        "unknown": "nothing was measured to compare it with",
    }[judged.because]


def _warmup(advice: PolicyAdviceOut, rounds: int) -> tuple[bool | None, str]:
    found = advice.warmup
    coldness = Coldness(
        found.rounds,
        found.lower,
        found.upper,
        calls_per_round=found.calls_per_round,
        reason=found.reason,
    )
    enough = warmup_suffices(coldness, rounds)
    one = rounds == 1
    ends = {
        True: "suffices" if one else "suffice",
        False: "does not suffice" if one else "do not suffice",
        None: "may or may not suffice",
    }[enough]
    return enough, f"{rounds:,} warm-up round{'' if one else 's'} {ends}: {found.words}"
