"""Wire shapes of usage policy advice (stats/README.md §3), which `PolicyAdvice` rows store as JSON.

The server computes every number and sentence from samples (I17).
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_contract.events import ParamValue

from paceline_server.kernel.wire import Response

Answer = Literal["from", "always", "never", "undecided", "unknown"]
"""from: the arm wins from `value` on · always: at every measured value, so the crossover is at or below the
smallest · never: from no measured value on · undecided: the samples do not decide · unknown: not measured
sufficiently, see `reason`."""


class CrossoverPointOut(Response):
    """A measured value of the param. `ratio` is arm time ÷ reference time, below 1 for faster; `lower` and
    `upper` bound its 99.8 % interval; `fitted` is the isotonic fit through all values."""

    at: int
    ratio: float
    lower: float | None
    upper: float | None
    fitted: float
    winner: Literal["arm", "reference", "undecided"]
    blocks: int
    launches: int


class CrossoverOut(Response):
    """The value of the param from which on the arm wins, interpolated between measured values. Its `confidence`
    interval is `lower` to `upper`; null means below the smallest or above the largest measured value.
    `measured_from`: the smallest measured value from which on the arm wins at every one with 99.8 %
    confidence."""

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
    """False: the samples contradict a single crossover; `value` is then a measured value."""
    reason: str
    words: str
    points: list[CrossoverPointOut]


class PenaltyOut(Response):
    """The fitted slowdown (a fraction) against the warm level after `after` rounds of a fresh process."""

    after: int
    penalty: float


class WarmupOut(Response):
    """The warm-up `rounds` after which the arm is within the margin of its warm level; null if that was not
    reached or not measured. `calls_per_round`: calls in a round of the benchmark."""

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
    """The policy in force: the arm is used from `minimum` on, after `warmup_rounds` (null: not stated)."""

    minimum: int
    warmup_rounds: int | None


class AdviceOut(Response):
    """A job's advice about a policy, without the identity of job and target."""

    description: str | None
    benchmark: str
    arm: str
    reference: str
    metric: str
    param: str
    unit: str | None
    """The thing that the param counts, for example `fingerprints`; null if the manifest does not say."""
    margin_percent: float
    warm: CrossoverOut
    cold: CrossoverOut | None
    warmup: WarmupOut
    why: str
    """The reasons of `holds`."""
    words: str


class PolicyAdviceOut(AdviceOut):
    """Advice about a policy on a target. `holds`: the minimum in force lies in the interval or picks no losing
    arm, and its warm-up rounds suffice; null if undecided."""

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
