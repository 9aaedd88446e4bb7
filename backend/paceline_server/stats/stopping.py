"""Decides by which rule a pair or gate is judged in a job that stops a benchmark as soon as its verdict is certain.

Such a job looks at a pair after each launch from the second on. Before all planned launches ran, too few show the noise
between launches: a verdict then demands an extra margin beyond every launch bias that was measured, of the whole
interval and of every launch. Its alpha is taken from that of the first batch, so that all looks together spend what the
fixed design spends.

A gate is decided before all planned launches where the interval of each of its launches, by itself, lies beyond the
level, and the farther the fewer they are. The figures are in README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paceline_server.stats import constants
from paceline_server.stats.derived import widen_ratio
from paceline_server.stats.gates import Op, absolute_value, judge_level
from paceline_server.stats.paired import PairPolicy, Verdict
from paceline_server.stats.samples import Interval


def policy_after(launches: int, planned: int, policy: PairPolicy) -> PairPolicy:
    """Return the policy by which a pair with so many of its `planned` launches is judged."""
    if launches < planned:
        return _demand_certainty(policy, f"after {launches} of {planned} launches")
    first, *later = policy.look_alpha
    early_looks = max(0, planned - constants.EARLY_MIN_LAUNCHES)
    return replace(
        policy, look_alpha=(first - early_looks * constants.EARLY_ALPHA, *later)
    )


def _demand_certainty(policy: PairPolicy, when: str) -> PairPolicy:
    """Return the policy of a look before all planned launches; `when` is said with the verdict."""
    early = constants.EARLY_EXTRA_PERCENT / 100.0
    extra = (1.0 + policy.extra_percent / 100.0) * (1.0 + early) - 1.0
    return replace(
        policy,
        look_alpha=(constants.EARLY_ALPHA,) * len(policy.look_alpha),
        min_launches=constants.EARLY_MIN_LAUNCHES,
        launch_share=1.0,
        launch_certainty=None,
        extra_percent=100.0 * extra,
        disturbed=f"{policy.disturbed} {when}".lstrip(),
    )


def level_extra_percent(launches: int) -> float | None:
    """Return by how much each of so many launches must lie beyond a level, before all planned ones ran; None: they are too
    few."""
    extras = constants.EARLY_LEVEL_PERCENT
    place = launches - constants.EARLY_MIN_LAUNCHES
    return None if place < 0 else extras[min(place, len(extras) - 1)]


def judge_by_launches(
    by_launch: Sequence[Interval],
    gate: tuple[Op, float],
    kind: str = "",
    *,
    absolute: bool = False,
) -> Verdict:
    """Judge a gate (its comparison and level) before all planned launches ran, by the interval of each launch. `kind`: of
    the derived metric; `absolute`: the gate is on the size of the value."""
    extra = level_extra_percent(len(by_launch))
    if extra is None:
        return "inconclusive"
    wider = widen_ratio(kind, join_launches(by_launch), extra)
    if absolute:
        _, wider = absolute_value(0.0, wider)
    return judge_level(0.0, wider, *gate)[0]


def join_launches(by_launch: Sequence[Interval]) -> Interval:
    """Return the interval that holds those of all launches; without a bound that one of them lacks."""
    lowers = [interval.lower for interval in by_launch if interval.lower is not None]
    uppers = [interval.upper for interval in by_launch if interval.upper is not None]
    return Interval(
        min(lowers) if lowers and len(lowers) == len(by_launch) else None,
        max(uppers) if uppers and len(uppers) == len(by_launch) else None,
    )
