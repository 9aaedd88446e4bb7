"""Applies rules over many series: shifts of a whole target, and control of false discoveries (§4.6, §4.7).

The order of the series does not matter. The caller decides about the cause of a shift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paceline_server.stats import constants
from paceline_server.stats.ranktests import benjamini_hochberg


@dataclass(frozen=True, slots=True)
class TargetShift:
    """A run around which series of a target moved together; `share` of the measured series."""

    run: int
    series: tuple[str, ...]
    share: float


def stands_in_round(
    p_values: Sequence[float], q: float = constants.HISTORY_FALSE_DISCOVERY_Q
) -> tuple[bool, ...]:
    """Return which changes of a round stand at false-discovery rate `q`; series without any count as p = 1."""
    return tuple(
        bool(kept)
        for kept in benjamini_hochberg(np.asarray(p_values, dtype=np.float64), q)
    )


def find_target_shifts(
    moved: Mapping[str, Sequence[int]],
    measured: int,
    *,
    share: float = constants.TARGET_SHIFT_SHARE,
    within: int = constants.TARGET_SHIFT_RUNS,
) -> tuple[TargetShift, ...]:
    """Return the runs around which at least `share` of a target's `measured` series moved, most series first.

    `moved` has the run positions of each series's changes. A change belongs to a single shift, and a shift has at
    least two series.
    """
    unassigned = {(name, run) for name, runs in moved.items() for run in runs}
    shifts: list[TargetShift] = []
    while unassigned and measured > 0:
        changes_by_run = {
            run: sorted(
                {
                    (name, other_run)
                    for name, other_run in unassigned
                    if abs(other_run - run) <= within
                }
            )
            for run in sorted({run for _, run in unassigned})
        }
        run = min(
            changes_by_run,
            key=lambda other_run: (
                -len({name for name, _ in changes_by_run[other_run]}),
                sum(abs(run - other_run) for _, run in changes_by_run[other_run]),
                other_run,
            ),
        )
        names = tuple(sorted({name for name, _ in changes_by_run[run]}))
        if len(names) < 2 or len(names) / measured < share:
            break
        shifts.append(TargetShift(run, names, len(names) / measured))
        unassigned -= set(changes_by_run[run])
    return tuple(shifts)
