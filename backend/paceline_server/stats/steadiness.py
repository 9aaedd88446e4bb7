"""Which blocks of a launch are warm: the warm-up drop and the halves check (§1).

Place: before `paired`; runs per launch and arm on ln(value) in round order.
Invariant: only ever shortens a launch from its front. Deliberately does not extend a launch: that process has
ended when its job is judged. The "extend once" of §1 is another batch of the same job: `detect` marks a pair
with an unsteady launch extendable at the first look, and the batch is requested unless the job is decided all
the same (a fail, or a pass of everything on the blocks kept, is final). Either way the launch is flagged
`unsteady` in the evidence and in the measurements.

    first max(5, 10 %) blocks      halves differ?            halves of what is left differ?
    ────────dropped────────▶ kept ──no──────────────▶ steady
                                  └─yes─▶ second half kept ──no──▶ trimmed
                                                           └─yes─▶ trimmed and `unsteady`
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from paceline_server.stats.constants import (
    STEADY_P,
    STEADY_SHIFT,
    WARMUP_MIN_BLOCKS,
    WARMUP_SHARE,
)
from paceline_server.stats.ranktests import mann_whitney_p
from paceline_server.stats.samples import Floats, median


@dataclass(frozen=True)
class Steadiness:
    """`skip`: how many blocks to drop from the front, beyond the warm-up; `shift`: log-ratio of the halves'
    medians."""

    skip: int
    unsteady: bool
    shift: float


def warmup_to_drop(
    marked: int,
    measured: int,
    minimum: int = WARMUP_MIN_BLOCKS,
    share: float = WARMUP_SHARE,
) -> int:
    """How many measured blocks of a launch to drop, when its workload already marked `marked` as warm-up.

    A metric read once per launch (a peak, a size) has no warm-up.
    """
    if measured <= 1:
        return 0
    return max(0, max(minimum, math.ceil(share * measured - 1e-9)) - marked)


def _halves(log_values: Floats) -> tuple[Floats, Floats, float]:
    """(first half, second half, log-ratio of their medians); the middle of an odd count is left out."""
    half = log_values.size // 2
    first, second = log_values[:half], log_values[log_values.size - half :]
    return first, second, median(second) - median(first)


def steadiness(
    log_values: Floats, p_limit: float = STEADY_P, shift_limit: float = STEADY_SHIFT
) -> Steadiness:
    """Check one launch of one arm: `log_values`, shape (n,), in round order, warm-up already dropped.

    A second half too short for the test to reach `p_limit` is judged by its shift alone: it has already been
    caught moving once. The limit is symmetric in the logarithm, so a time and its rate are judged alike.
    """
    limit = math.log1p(shift_limit)
    n = int(log_values.size)
    if n < 4:
        return Steadiness(0, False, 0.0)
    first, second, shift = _halves(log_values)
    if abs(shift) <= limit or mann_whitney_p(first, second) >= p_limit:
        return Steadiness(0, False, shift)
    skip = n - n // 2
    rest = log_values[skip:]
    if rest.size < 4:
        return Steadiness(skip, True, shift)
    first, second, rest_shift = _halves(rest)
    testable = 2.0 / math.comb(2 * first.size, first.size) < p_limit
    moving = abs(rest_shift) > limit and (
        not testable or mann_whitney_p(first, second) < p_limit
    )
    return Steadiness(skip, moving, shift)
