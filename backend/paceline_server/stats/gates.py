"""Gates: does a statistic hold the level a suite demands of it?

Place: after `summary` and `derived`, before `detect`. Invariant (I12): three values. A gate passes or
fails only when the whole interval of its statistic lies on one side of the level; too few samples are
inconclusive, with the number it needs. Order-statistic intervals for percentiles (David & Nagaraja §7.1),
cluster bootstrap for the mean; smallest, largest and spread are compared as they are. Deliberately never
pages: gates end in an exit code.

    pass          level
    ├──────┤        ┃                 ├─────╂────┤  inconclusive          ┃   ├──────┤  fail       (op: <, <=)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from paceline_server.stats.binomial import quantile_interval, samples_needed
from paceline_server.stats.bootstrap import cluster_bootstrap, nan_mean
from paceline_server.stats.constants import GATE_CONFIDENCE, MIN_LAUNCHES
from paceline_server.stats.paired import Verdict
from paceline_server.stats.samples import Floats, Interval, Ints

Statistic = Literal["median", "mean", "p99", "min", "max", "sd_percent"]
Op = Literal["<", "<=", ">", ">="]
_QUANTILES: dict[str, float] = {"median": 0.5, "p99": 0.99}


@dataclass(frozen=True)
class GateVerdict:
    """`actual` is in the metric's base unit (percent for `sd_percent`); None when there was nothing to
    measure."""

    verdict: Verdict
    reason: str
    actual: float | None
    interval: Interval


def holds(value: float, op: Op, level: float) -> bool:
    """Whether `value op level`."""
    match op:
        case "<":
            return value < level
        case "<=":
            return value <= level
        case ">":
            return value > level
        case ">=":
            return value >= level


def judge_level(actual: float, interval: Interval, op: Op, level: float) -> tuple[Verdict, str]:
    """Three-valued comparison of an interval with a level; a missing bound decides nothing."""
    upward = op in (">", ">=")
    worst = interval.lower if upward else interval.upper
    best = interval.upper if upward else interval.lower
    span = f"[{_text(interval.lower)}, {_text(interval.upper)}]"
    if worst is not None and holds(worst, op, level):
        return "pass", f"{actual:.6g} {op} {level:g} holds; interval {span}"
    if best is not None and not holds(best, op, level):
        return "fail", f"{actual:.6g} {op} {level:g} does not hold; interval {span}"
    return "inconclusive", f"{actual:.6g} against {op} {level:g}: the interval {span} does not decide"


def _text(bound: float | None) -> str:
    return "unknown" if bound is None else f"{bound:.6g}"


def statistic_of(values: Floats, statistic: Statistic) -> float:
    """The statistic of `values`, shape (n,), n ≥ 1. `sd_percent` = 100 · sd ÷ mean (n − 1 below)."""
    if statistic == "sd_percent":
        mean = float(values.mean())
        sd = float(values.std(ddof=1)) if values.size > 1 else 0.0
        return 100.0 * sd / mean if mean else float("inf")
    if statistic in _QUANTILES:
        return float(np.quantile(values, _QUANTILES[statistic]))
    if statistic == "mean":
        return float(values.mean())
    return float(values.min() if statistic == "min" else values.max())


def judge_gate(values: Floats, launch: Ints, statistic: Statistic, op: Op, level: float) -> GateVerdict:
    """Judge one gate on the warm samples of one case: `values` and `launch`, shape (n,)."""
    nothing = Interval(None, None)
    if values.size == 0:
        return GateVerdict("inconclusive", "nothing was measured for this gate", None, nothing)
    actual = statistic_of(values, statistic)
    launches = int(np.unique(launch).size)
    if launches < MIN_LAUNCHES:
        reason = f"insufficient: {launches} launches; a gate needs at least {MIN_LAUNCHES}"
        return GateVerdict("inconclusive", reason, actual, nothing)
    if not np.isfinite(actual):
        return GateVerdict("inconclusive", f"{statistic} is not a number here (mean 0)", None, nothing)
    quantile = _QUANTILES.get(statistic)
    if quantile is not None:
        interval = quantile_interval(values, quantile, GATE_CONFIDENCE)
    elif statistic == "mean":
        interval = cluster_bootstrap([(values, launch)], lambda groups: nan_mean(groups[0]), GATE_CONFIDENCE)
    else:
        interval = Interval(actual, actual)
    verdict, reason = judge_level(actual, interval, op, level)
    needed = samples_needed(quantile, GATE_CONFIDENCE) if quantile is not None else 0
    if verdict == "inconclusive" and values.size < needed:
        reason = f"insufficient: {values.size} samples; the interval of {statistic} needs at least {needed}"
    return GateVerdict(verdict, reason, actual, interval)
