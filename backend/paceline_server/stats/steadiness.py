"""Decides which blocks of a launch are warm, by the warm-up drop and the check of halves (§1).

It runs per launch and arm on ln(value) in round order and only ever drops blocks from the front. A launch that
stays unsteady is flagged, and `detect` may then request another batch.

    first max(5, 10 %) blocks      halves differ?            halves of the rest differ?
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
    """`skip`: blocks to drop from the front after the warm-up; `shift`: log-ratio of the halves' medians."""

    skip: int
    unsteady: bool
    shift: float


def warmup_to_drop(
    marked: int,
    measured: int,
    minimum: int = WARMUP_MIN_BLOCKS,
    share: float = WARMUP_SHARE,
) -> int:
    """Return the number of measured blocks to drop if the workload marked `marked` blocks as warm-up.

    A metric that is read once per launch (a peak, a size) has no warm-up.
    """
    if measured <= 1:
        return 0
    return max(0, max(minimum, math.ceil(share * measured - 1e-9)) - marked)


def _halves(log_values: Floats) -> tuple[Floats, Floats, float]:
    """Return (first half, second half, log-ratio of their medians), without the middle of an odd count."""
    half = log_values.size // 2
    first, second = log_values[:half], log_values[log_values.size - half :]
    return first, second, median(second) - median(first)


def steadiness(
    log_values: Floats, p_limit: float = STEADY_P, shift_limit: float = STEADY_SHIFT
) -> Steadiness:
    """Decide whether a launch of an arm is steady: `log_values`, shape (n,), in round order, without the warm-up.

    A second half too short for the test to reach `p_limit` is judged by its shift alone. The limit is symmetric
    in the logarithm, so a time and its rate are judged alike.
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
    unsteady = abs(rest_shift) > limit and (
        not testable or mann_whitney_p(first, second) < p_limit
    )
    return Steadiness(skip, unsteady, shift)
