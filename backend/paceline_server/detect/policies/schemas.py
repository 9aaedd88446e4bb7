"""Wire shapes of usage policy advice (STATISTICS §3).

Place: stored as JSON with a `PolicyAdvice` row, served by `routes`. Every number and sentence is computed on
the server from samples (I17). Holds no logic.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_contract.events import ParamValue

from paceline_server.kernel.wire import Response

Answer = Literal["from", "always", "never", "undecided", "unknown"]
"""from: the arm wins from `value` on · always: at every measured value; the crossover is the smallest of them
or lies below · never: at no measured value from which on it keeps winning · undecided: the samples leave it
open · unknown: too little, or nothing fit to judge, was measured; `reason` says what is missing."""


class CrossoverPointOut(Response):
    """One measured value of the param. `ratio` = arm time ÷ reference time, below 1 is faster;
    `lower`/`upper`: its 99.8 % interval; `fitted`: the isotonic fit through all values."""

    at: int
    ratio: float
    lower: float | None
    upper: float | None
    fitted: float
    winner: Literal["arm", "reference", "undecided"]
    blocks: int
    launches: int


class CrossoverOut(Response):
    """From which value of the param on the arm wins. `value`: estimated between measured values; its
    `confidence` interval is `lower` to `upper`, of which `lower` null says "or below the smallest measured"
    and `upper` null "or beyond the largest". `measured_from`: the smallest measured value from which on the
    arm wins with 99.8 % confidence at every measured value."""

    benchmark: str
    answer: Answer
    value: int | None
    lower: int | None
    upper: int | None
    confidence: float
    measured_from: int | None
    smallest: int | None
    largest: int | None
    monotone: bool
    """False: the samples contradict a single crossover; `value` is then a measured one."""
    reason: str
    words: str
    points: list[CrossoverPointOut]


class PenaltyOut(Response):
    """How much slower than when warm the arm is after `after` rounds of a fresh process: a share, fitted."""

    after: int
    penalty: float


class WarmupOut(Response):
    """`rounds`: after how many warm-up rounds the arm is as fast as when warm, but for the margin; null when
    that was not reached or not measured. `calls_per_round`: what one round of the bench ran."""

    rounds: int | None
    lower: int | None
    upper: int | None
    confidence: float
    margin_percent: float
    calls_per_round: int | None
    reason: str
    words: str
    penalties: list[PenaltyOut]


class InForceOut(Response):
    """The policy that is shipped: the arm is used from `minimum` on, after `warmup_rounds` (null: it names
    none)."""

    minimum: int
    warmup_rounds: int | None


class AdviceOut(Response):
    """What one job says of one policy on one target, without who and where."""

    description: str | None
    benchmark: str
    arm: str
    reference: str
    metric: str
    param: str
    unit: str | None
    """What the param counts, `fingerprints`; null when the manifest does not say."""
    margin_percent: float
    warm: CrossoverOut
    cold: CrossoverOut | None
    warmup: WarmupOut
    why: str
    """What `holds` rests on."""
    words: str


class PolicyAdviceOut(AdviceOut):
    """`holds`: whether the policy in force is right on this target: its minimum lies in the interval, or it
    picks no losing arm, and its warm-up rounds suffice; null: the samples do not say."""

    id: str
    suite: str
    policy: str
    params: dict[str, ParamValue]
    target_id: str
    target_name: str
    in_force: InForceOut
    holds: bool | None
    run_id: str
    job_id: str
    commit: str
    measured_at: datetime
