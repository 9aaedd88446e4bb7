"""Simulated histories with known steps on realistic noise, to score the history detector with.

Used by tests and `scripts/detectors`. A seed always gives the same series. The families differ from the shared sets,
which are resampled real residuals, so that a bound that holds on both was not tuned to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Rng = np.random.Generator
Noise = Callable[[Rng, int, float], Any]

MARGIN = 5
"""How many points an index may be from a step and still match it (stats/README.md §5)."""

GAP = 12
"""The fewest points between steps, and to either end."""


@dataclass(frozen=True, slots=True)
class History:
    """Values, oldest first, and the indexes of the steps that were put into them."""

    values: list[float]
    truth: list[int]


def white(rng: Rng, n: int, sigma: float) -> Any:
    return rng.normal(0.0, sigma, n)


def heavy(rng: Rng, n: int, sigma: float) -> Any:
    """Student's t with 3 degrees of freedom."""
    return rng.standard_t(3, n) * sigma


def two_modes(rng: Rng, n: int, sigma: float) -> Any:
    """Return a host that flips between two levels at random, 4 to 15 sigma apart."""
    return rng.normal(0.0, sigma, n) + (
        rng.random(n) < rng.uniform(0.1, 0.4)
    ) * sigma * rng.uniform(4.0, 15.0)


def autocorrelated(rng: Rng, n: int, sigma: float, rho: float = 0.5) -> Any:
    """AR(1) with the given scatter."""
    shocks = rng.normal(0.0, sigma * np.sqrt(1.0 - rho**2), n + 50)
    for t in range(1, n + 50):
        shocks[t] += rho * shocks[t - 1]
    return shocks[50:]


def rounded(rng: Rng, n: int, sigma: float) -> Any:
    """Return a coarse clock: few distinct values."""
    raster = sigma * float(rng.choice([0.5, 1.0, 2.0, 4.0]))
    return (
        np.round((rng.normal(0.0, sigma, n) + rng.uniform(0.0, raster)) / raster)
        * raster
    )


def disturbed(rng: Rng, n: int, sigma: float) -> Any:
    """Return a quiet host with occasional disturbances of up to thirty times its scatter."""
    wide = rng.random(n) < rng.uniform(0.05, 0.2)
    return rng.normal(0.0, sigma, n) + wide * rng.normal(0.0, 12.0 * sigma, n)


FAMILIES: dict[str, Noise] = {
    "white": white,
    "heavy": heavy,
    "two_modes": two_modes,
    "autocorrelated": autocorrelated,
    "rounded": rounded,
    "disturbed": disturbed,
}


def nulls(family: str, count: int, seed: int, n: int = 250) -> list[History]:
    """Series without a step."""
    rng = np.random.default_rng(seed)
    return [_history(rng, family, n, []) for _ in range(count)]


def stepped(
    family: str, count: int, seed: int, lengths: Sequence[int] = (60, 120, 300)
) -> list[History]:
    """Series with none to three steps of 1 to 8 sigma, at least 2 %."""
    rng = np.random.default_rng(seed)
    histories = []
    for _ in range(count):
        n = int(rng.choice(lengths))
        places = np.sort(
            rng.integers(GAP, n - GAP + 1, int(rng.choice([0, 1, 1, 2, 3])))
        )
        if np.any(np.diff(places) < GAP):
            places = places[:1]
        histories.append(_history(rng, family, n, [int(place) for place in places]))
    return histories


def _history(rng: Rng, family: str, n: int, truth: list[int]) -> History:
    sigma = float(rng.choice([0.01, 0.02, 0.05]))
    x = np.asarray(FAMILIES[family](rng, n, sigma), dtype=np.float64)
    for place in truth:
        size = max(0.02, float(np.exp(rng.uniform(0.0, np.log(8.0)))) * sigma)
        x[place:] += size * float(rng.choice([-1.0, 1.0]))
    return History(np.exp(x + rng.uniform(-9.0, 3.0)).tolist(), truth)


@dataclass(frozen=True, slots=True)
class Score:
    """`false_per_1000` and `alarming` are of series without a step, the others of all series."""

    precision: float
    recall: float
    f1: float
    false_per_1000: float
    alarming: float


def count_matches(detected: Sequence[int], truth: Sequence[int]) -> int:
    """Return the number of one-to-one matches within MARGIN points; each true step takes the nearest index left."""
    free, hits = set(detected), 0
    for place in truth:
        near = [index for index in free if abs(index - place) <= MARGIN]
        if near:
            free.remove(min(near, key=lambda index: abs(index - place)))
            hits += 1
    return hits


def score(
    histories: Sequence[History], detect: Callable[[list[float]], list[int]]
) -> Score:
    """Return how well `detect` finds the steps of `histories`."""
    answers = [detect(history.values) for history in histories]
    hits = sum(
        count_matches(detected, history.truth)
        for detected, history in zip(answers, histories, strict=True)
    )
    named, true = (
        sum(map(len, answers)),
        sum(len(history.truth) for history in histories),
    )
    precision, recall = hits / named if named else 1.0, hits / true if true else 1.0
    quiet = [
        (detected, history)
        for detected, history in zip(answers, histories, strict=True)
        if not history.truth
    ]
    points = sum(len(history.values) for _, history in quiet)
    return Score(
        precision,
        recall,
        2.0 * precision * recall / (precision + recall) if precision + recall else 0.0,
        1000.0 * sum(len(detected) for detected, _ in quiet) / points
        if points
        else 0.0,
        sum(bool(detected) for detected, _ in quiet) / len(quiet) if quiet else 0.0,
    )


def replayed(
    history: History,
    detect: Callable[[list[float]], list[int]],
    stands: Callable[..., Sequence[int]],
) -> list[tuple[int, int]]:
    """Return (index, number of points at the alert), when the series grows by points and two evaluations must agree."""
    raised: list[tuple[int, int]] = []
    before: list[int] = []
    for n in range(12, len(history.values) + 1):
        now = [index for index in detect(history.values[:n]) if n - index >= MARGIN]
        for index in stands(before, now):
            if all(abs(index - place) > MARGIN for place, _ in raised):
                raised.append((index, n))
        before = now
    return raised
