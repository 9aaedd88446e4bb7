"""Rules over many series at once: incidents of a target, and multiplicity (§4.6, §4.7).

Pure; the order of the series does not matter. That many series moved together is
evidence; the caller decides about the cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paceline_server.stats import constants
from paceline_server.stats.ranktests import benjamini_hochberg


@dataclass(frozen=True, slots=True)
class Incident:
    """One run at which a target's series moved together; `share` of those that were measured around it."""

    run: int
    series: tuple[str, ...]
    share: float


def stands_in_round(
    p_values: Sequence[float], q: float = constants.HISTORY_FALSE_DISCOVERY_Q
) -> tuple[bool, ...]:
    """Which of a round's findings stand at false-discovery rate `q`; series without one count as p = 1."""
    return tuple(
        bool(kept)
        for kept in benjamini_hochberg(np.asarray(p_values, dtype=np.float64), q)
    )


def find_incidents(
    moved: Mapping[str, Sequence[int]],
    measured: int,
    *,
    share: float = constants.INCIDENT_SHARE,
    within: int = constants.INCIDENT_RUNS,
) -> tuple[Incident, ...]:
    """Runs around which at least `share` of a target's `measured` series moved, most series first.

    `moved` has the run positions of each series's changes. A change belongs to one incident only. One series
    is no incident: two must move.
    """
    left = {(name, run) for name, runs in moved.items() for run in runs}
    found: list[Incident] = []
    while left and measured > 0:
        around = {
            run: sorted({(name, at) for name, at in left if abs(at - run) <= within})
            for run in sorted({run for _, run in left})
        }
        run = min(
            around,
            key=lambda at: (
                -len({name for name, _ in around[at]}),
                sum(abs(run - at) for _, run in around[at]),
                at,
            ),
        )
        names = tuple(sorted({name for name, _ in around[run]}))
        if len(names) < 2 or len(names) / measured < share:
            break
        found.append(Incident(run, names, len(names) / measured))
        left -= set(around[run])
    return tuple(found)
