"""Judges whether a statistic holds the level a suite demands of it.

I12: a gate passes or fails only when the whole interval of its statistic lies on one
side of the level; with too few samples it is inconclusive and says how many it needs.

    median, pNN                     order statistics (David & Nagaraja §7.1)  ┐ as wide as launches
    mean                            cluster bootstrap, launches first         ┘ demand (`launch_effect`)
    sd, sd_percent                  jackknife by launch of ln(sd), Student's t (`spread`)
    launch_sd_percent               the same, of the medians of the launches
    min, max                        no interval: they are measured extremes, not estimates

    pass          level
    ├──────┤        ┃                 ├─────╂────┤  inconclusive          ┃   ├──────┤  fail       (op: <, <=)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from paceline_contract.units import quantity

from paceline_server.stats.binomial import quantile_interval
from paceline_server.stats.bootstrap import cluster_bootstrap, nan_mean
from paceline_server.stats.constants import (
    GATE_CLOSE_SHARE,
    GATE_CONFIDENCE,
    MIN_LAUNCHES,
)
from paceline_server.stats.launch_effect import widen_by_launches
from paceline_server.stats.paired import Verdict
from paceline_server.stats.samples import Floats, Interval, Ints
from paceline_server.stats.spread import (
    jackknife,
    launch_deviation,
    relative_deviation,
    standard_deviation,
)

METHOD = "gate-interval/2"
SAMPLES_METHOD = "gate-interval/1"
"""The method before the noise between launches widened intervals: samples of a launch counted as independent. By it a
gate whose values the request leaves out is undecided, and not out of place."""
UNDECIDED = "does not decide"
"""Stands in the reason of a gate whose interval includes its level."""
Op = Literal["<", "<=", ">", ">="]
Standing = Literal["pass", "close", "below"]
"""A figure holds the level, misses it by at most `GATE_CLOSE_SHARE` (close), or by more (below)."""
SPREADS: Mapping[str, Callable[[Floats, Ints], float]] = {
    "sd": standard_deviation,
    "sd_percent": relative_deviation,
    "launch_sd_percent": launch_deviation,
}


@dataclass(frozen=True)
class GateVerdict:
    """A verdict with its figure: `actual` is in the metric's base unit, in percent for `sd_percent`, or None."""

    verdict: Verdict
    reason: str
    actual: float | None
    interval: Interval


def holds_level(value: float, op: Op, level: float) -> bool:
    """Return whether `value op level` holds."""
    match op:
        case "<":
            return value < level
        case "<=":
            return value <= level
        case ">":
            return value > level
        case ">=":
            return value >= level


def judge_level(
    actual: float,
    interval: Interval,
    op: Op,
    level: float,
    *,
    by_samples: Interval | None = None,
    unit: str = "",
) -> tuple[Verdict, str]:
    """Compare an interval with a level; where the deciding bound is missing, the verdict is `inconclusive`.

    `by_samples`: the interval before launches widened it; the reason says where that one would have decided. `unit`: that
    of all of them; empty is a ratio or a count."""

    def text(bound: float | None) -> str:
        return "unknown" if bound is None else quantity(bound, unit, 6)

    upward = op in (">", ">=")
    worst = interval.lower if upward else interval.upper
    best = interval.upper if upward else interval.lower
    span = f"[{text(interval.lower)}, {text(interval.upper)}]"
    compared = f"{op} {text(level)}"
    if worst is not None and holds_level(worst, op, level):
        return "pass", f"{text(actual)} {compared} holds; interval {span}"
    if best is not None and not holds_level(best, op, level):
        return "fail", f"{text(actual)} {compared} does not hold; interval {span}"
    cause = ""
    if (
        by_samples is not None
        and judge_level(actual, by_samples, op, level)[0] != "inconclusive"
    ):
        cause = "its launches differ too much, "
    return (
        "inconclusive",
        f"{text(actual)} against {compared}: {cause}the interval {span} {UNDECIDED}",
    )


def quantile_of(statistic: str) -> float | None:
    """Return the quantile of a statistic: `p99.9` → 0.999, `median` → 0.5; None for statistics that are no quantile."""
    if statistic == "median":
        return 0.5
    number = statistic.removeprefix("p")
    return float(number) / 100.0 if number != statistic else None


def statistic_of(values: Floats, launch: Ints, statistic: str) -> float:
    """Return the statistic of `values`, shape (n,), n ≥ 1. Raises ValueError for an unknown statistic."""
    quantile = quantile_of(statistic)
    if quantile is not None:
        return float(np.quantile(values, quantile))
    if statistic in SPREADS:
        return SPREADS[statistic](values, launch)
    match statistic:
        case "mean":
            return float(values.mean())
        case "min":
            return float(values.min())
        case "max":
            return float(values.max())
        case _:
            raise ValueError(f"unknown statistic {statistic!r}")


def interval_of(values: Floats, launch: Ints, statistic: str) -> Interval:
    """Return the interval of a statistic by its samples, as the module's table names it; each bound holds with 99 %."""
    quantile = quantile_of(statistic)
    if quantile is not None:
        return quantile_interval(values, quantile, GATE_CONFIDENCE)
    if statistic in SPREADS:
        return jackknife(SPREADS[statistic], values, launch, GATE_CONFIDENCE)
    if statistic == "mean":
        return cluster_bootstrap(
            [(values, launch)], lambda groups: nan_mean(groups[0]), GATE_CONFIDENCE
        )
    actual = statistic_of(values, launch, statistic)
    return Interval(actual, actual)


def _widen(
    interval: Interval, actual: float, values: Floats, launch: Ints, statistic: str
) -> Interval:
    """Return the interval as wide as launches demand; that of a spread is theirs already, and an extreme has none."""
    if quantile_of(statistic) is None and statistic != "mean":
        return interval
    by_launch = [
        statistic_of(values[launch == number], launch[launch == number], statistic)
        for number in np.unique(launch)
    ]
    return widen_by_launches(interval, actual, by_launch)


def interval_of_launch(values: Floats, statistic: str) -> Interval:
    """Return the interval of a statistic by the values of one launch. It has no bounds for a spread, which a launch does not
    show, and for an extreme, which each other launch may move."""
    quantile = quantile_of(statistic)
    if quantile is not None:
        return quantile_interval(values, quantile, GATE_CONFIDENCE)
    if statistic == "mean":
        return interval_of(values, np.arange(values.size), statistic)
    return Interval(None, None)


def share_reached(actual: float, op: Op, level: float) -> float | None:
    """Return the share of the level that a figure reaches, as a ratio of speeds: 1 is the level, 0.73 is 27 % short.

    None unless both are above 0.
    """
    if not (0.0 < actual < math.inf and level > 0.0):
        return None
    share = actual / level if op in (">", ">=") else level / actual
    return share if math.isfinite(share) else None


def standing_of(actual: float, op: Op, level: float) -> Standing:
    """Return whether the figure itself meets the level, whatever its interval is."""
    if holds_level(actual, op, level):
        return "pass"
    share = share_reached(actual, op, level)
    return "close" if share is not None and share >= 1.0 - GATE_CLOSE_SHARE else "below"


def samples_to_pass(statistic: str, op: Op) -> int:
    """Return the smallest sample count with which a gate on this percentile can pass; 0 for other statistics."""
    quantile = quantile_of(statistic)
    if quantile is None:
        return 0
    beyond = quantile if op in ("<", "<=") else 1.0 - quantile
    return math.ceil(
        math.log((1.0 - GATE_CONFIDENCE) / 2.0 * (1.0 + 1e-12)) / math.log(beyond)
    )


def judge_gate(
    values: Floats,
    launch: Ints,
    statistic: str,
    op: Op,
    level: float,
    *,
    method: str = METHOD,
    unit: str = "",
) -> GateVerdict:
    """Judge one gate by `method` on the warm samples of one case: `values`, in `unit`, and `launch`, shape (n,)."""
    nothing = Interval(None, None)
    if values.size == 0:
        return GateVerdict(
            "inconclusive", "nothing was measured for this gate", None, nothing
        )
    actual = statistic_of(values, launch, statistic)
    launches = int(np.unique(launch).size)
    if launches < MIN_LAUNCHES:
        reason = (
            f"insufficient: {launches} launches; a gate needs at least {MIN_LAUNCHES}"
        )
        return GateVerdict("inconclusive", reason, actual, nothing)
    if not np.isfinite(actual):
        return GateVerdict(
            "inconclusive", f"{statistic} is not a number here (mean 0)", None, nothing
        )
    by_samples = interval = interval_of(values, launch, statistic)
    if method != SAMPLES_METHOD:
        interval = _widen(interval, actual, values, launch, statistic)
    shown_in = "%" if statistic.endswith("_percent") else unit
    verdict, reason = judge_level(
        actual, interval, op, level, by_samples=by_samples, unit=shown_in
    )
    needed = samples_to_pass(statistic, op)
    if verdict == "inconclusive" and values.size < needed:
        reason = (
            f"insufficient: {statistic} needs {needed:,} samples, has {values.size:,}"
        )
    return GateVerdict(verdict, reason, actual, interval)


def absolute_value(value: float, interval: Interval) -> tuple[float, Interval]:
    """Return |value| and its interval, which begins at 0 if the sign is undecided; no end if a bound is missing."""
    lower, upper = interval.lower, interval.upper
    if lower is None or upper is None:
        least = 0.0
        if lower is not None and lower > 0:
            least = lower
        elif upper is not None and upper < 0:
            least = -upper
        return abs(value), Interval(least, None)
    nearest = 0.0 if lower <= 0.0 <= upper else min(abs(lower), abs(upper))
    return abs(value), Interval(nearest, max(abs(lower), abs(upper)))
