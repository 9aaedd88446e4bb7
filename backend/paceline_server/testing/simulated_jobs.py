"""Simulated samples of jobs with the faults of real hosts: heavy tails, biased launches, drift, frequency steps.

Used by the A/A and power tests. The rates are those of stats/README.md §1: 3 of 40 launches of identical code are biased
by 2.5 to 11.8 %, either way. Seeded; no clock.
"""

from __future__ import annotations

import numpy as np

from paceline_server.stats.samples import CaseSamples, Floats

BIASED_SHARE = 0.075
WARMUP_ROUNDS = 5


def _noise(rng: np.random.Generator, sigma: float, size: tuple[int, int]) -> Floats:
    """Log noise of one arm: Student t (3 degrees), and one-sided spikes from interruptions."""
    body = sigma / np.sqrt(3.0) * rng.standard_t(3, size)
    spikes = (rng.random(size) < 0.03) * rng.exponential(0.25, size)
    return np.asarray(body + spikes)


def _common(rng: np.random.Generator, launches: int, rounds: int) -> Floats:
    """Return the disturbances that both arms share: a slope per launch, a slow wave, and sometimes a frequency step."""
    at = np.linspace(0.0, 1.0, rounds)[None, :]
    slope = rng.normal(0.0, 0.01, (launches, 1)) * at
    wave = 0.01 * np.sin(
        2
        * np.pi
        * (at * rng.uniform(0.5, 3, (launches, 1)) + rng.random((launches, 1)))
    )
    step = (rng.random((launches, 1)) < 0.1) * rng.normal(0.0, 0.06, (launches, 1))
    return np.asarray(slope + wave + step * (at > rng.uniform(0.2, 0.8, (launches, 1))))


def job_cases(
    rng: np.random.Generator,
    effect: float,
    *,
    launches: int = 5,
    rounds: int = 20,
    sigma: float | None = None,
    first_launch: int = 0,
    biased_share: float = BIASED_SHARE,
) -> tuple[CaseSamples, CaseSamples]:
    """Return (arm, reference) of one batch; the arm's true time is `1 + effect` times the reference's."""
    sigma = rng.uniform(0.003, 0.015) if sigma is None else sigma
    total = WARMUP_ROUNDS + rounds
    common = _common(rng, launches, total)
    biased = rng.random((launches, 1)) < biased_share
    bias = (
        biased
        * rng.choice([-1.0, 1.0], (launches, 1))
        * rng.uniform(0.025, 0.118, (launches, 1))
    )
    cold = 0.4 * np.exp(-np.arange(total) / 1.2)[None, :]
    level = np.log(rng.uniform(1e3, 1e7))
    log_arm = (
        level
        + common
        + cold
        + np.log1p(effect)
        + np.log1p(bias)
        + _noise(rng, sigma, (launches, total))
    )
    log_reference = level + common + 2 * cold + _noise(rng, sigma, (launches, total))
    launch = np.repeat(np.arange(first_launch, first_launch + launches), total)
    number = np.tile(np.arange(total), launches)
    drawn = (rng.random(launch.size) < 0.5).reshape(launches, total)
    leads = (
        np.arange(total) % 2 == WARMUP_ROUNDS % 2
    )  # a pair's other round mirrors its first
    first = np.where(leads, drawn, ~np.roll(drawn, 1, axis=1)).ravel()

    def case(arm: str, log_values: Floats, position: np.ndarray) -> CaseSamples:
        return CaseSamples(
            "b",
            arm,
            {"batch": 1000},
            "time",
            "ns",
            "lower",
            launch,
            number,
            position.astype(np.int64),
            np.exp(log_values).ravel(),
            number < WARMUP_ROUNDS,
        )

    return case("arm", log_arm, ~first), case("reference", log_reference, first)


def revision_cases(
    rng: np.random.Generator,
    effect: float,
    *,
    launches: int = 5,
    rounds: int = 20,
    sigma: float = 0.006,
    launch_sigma: float = 0.004,
    first_launch: int = 0,
    biased_share: float = BIASED_SHARE,
    level: float = 1e5,
) -> tuple[CaseSamples, CaseSamples]:
    """Return (head, base) of one batch of an A/B job; the head's true time is `1 + effect` times the base's.

    Unlike arms, revisions share no process: each launch of a side has its own level (`launch_sigma`), bias and drift.
    """
    total = WARMUP_ROUNDS + rounds
    launch = np.repeat(np.arange(first_launch, first_launch + launches), total)
    number = np.tile(np.arange(total), launches)

    def case(log_effect: float) -> CaseSamples:
        biased = rng.random((launches, 1)) < biased_share
        bias = (
            biased
            * rng.choice([-1.0, 1.0], (launches, 1))
            * rng.uniform(0.025, 0.118, (launches, 1))
        )
        own = rng.normal(0.0, launch_sigma, (launches, 1)) + np.log1p(bias)
        drift = (
            rng.normal(0.0, 0.003, (launches, 1))
            * np.linspace(0.0, 1.0, total)[None, :]
        )
        cold = 0.4 * np.exp(-np.arange(total) / 1.2)[None, :]
        log_values = (
            np.log(level)
            + log_effect
            + own
            + drift
            + cold
            + _noise(rng, sigma, (launches, total))
        )
        return CaseSamples(
            "b",
            "arm",
            {"batch": 1000},
            "time",
            "ns",
            "lower",
            launch,
            number,
            np.zeros(launch.size, dtype=np.int64),
            np.exp(log_values).ravel(),
            number < WARMUP_ROUNDS,
        )

    return case(float(np.log1p(effect))), case(0.0)


def extended(case: CaseSamples, more: CaseSamples) -> CaseSamples:
    """Return a case with another batch's samples appended."""
    join = np.concatenate
    return CaseSamples(
        case.benchmark,
        case.arm,
        case.params,
        case.metric,
        case.unit,
        case.direction,
        join([case.launch, more.launch]),
        join([case.round, more.round]),
        join([case.position, more.position]),
        join([case.value, more.value]),
        join([case.warmup, more.warmup]),
    )
