"""Fits non-increasing sequences by least squares (isotonic regression).

Uses the min-max form of pooling adjacent violators (Barlow et al. 1972, §1.2), which fits thousands of
bootstrap replicates at once.
"""

from __future__ import annotations

import numpy as np

from paceline_server.stats.samples import Floats


def non_increasing(rows: Floats, weights: Floats | None = None) -> Floats:
    """Return the non-increasing fit of each row, shape (…, n); `weights` > 0, shape (n,), equal by default."""
    count = rows.shape[-1]
    weights = np.ones(count) if weights is None else weights
    sums = np.cumsum(rows * weights, axis=-1)
    totals = np.cumsum(weights)
    fit = np.full(rows.shape, np.inf)
    for start in range(count):
        before = sums[..., start - 1 : start] if start else 0.0
        means = (sums[..., start:] - before) / (
            totals[start:] - (totals[start - 1] if start else 0.0)
        )
        highest = np.maximum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]
        np.minimum(fit[..., start:], highest, out=fit[..., start:])
    return fit
