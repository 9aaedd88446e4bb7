"""Computes cluster bootstrap intervals, as samples of the same process are not independent (§2).

Launches are resampled first, then blocks inside them (Efron & Tibshirani 1993, §8; Davison & Hinkley 1997,
§3.8). The seed is fixed, so equal samples give equal intervals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from paceline_server.stats.constants import BOOTSTRAP_REPLICATES, BOOTSTRAP_SEED
from paceline_server.stats.samples import Floats, Interval, Ints

_CELLS = 4_000_000
"""Maximum values held at once; replicates are drawn in slices."""


def nan_mean(values: Floats) -> Floats:
    return np.asarray(np.nanmean(values, axis=1), dtype=np.float64)


def nan_median(values: Floats) -> Floats:
    return np.asarray(np.nanmedian(values, axis=1), dtype=np.float64)


def _pad(values: Floats, launch: Ints, order: Ints) -> tuple[Floats, Ints]:
    """Return the values by launch, shape (launches, longest), padded with NaN, and the sizes of the launches."""
    groups = [values[launch == number] for number in order]
    sizes = np.array([group.size for group in groups], dtype=np.int64)
    table = np.full((len(groups), int(sizes.max())), np.nan)
    for row, group in enumerate(groups):
        table[row, : group.size] = group
    return table, sizes


def _draw(
    rng: np.random.Generator, table: Floats, sizes: Ints, picks: NDArray[np.int64]
) -> Floats:
    """Return values resampled inside the picked launches, shape (replicates, launches · longest), padded with NaN."""
    count = sizes[picks]
    spots = np.floor(
        rng.random((*picks.shape, table.shape[1])) * count[..., None]
    ).astype(np.int64)
    drawn = table[picks[..., None], spots]
    drawn[np.arange(table.shape[1]) >= count[..., None]] = np.nan
    return np.asarray(drawn.reshape(picks.shape[0], -1), dtype=np.float64)


def cluster_replicates(
    samples: list[tuple[Floats, Ints]],
    statistic: Callable[[list[Floats]], Floats],
    replicates: int = BOOTSTRAP_REPLICATES,
    seed: int = BOOTSTRAP_SEED,
) -> Floats | None:
    """Return the replicates of a statistic of several groups measured in the same launches: shape (replicates, …).

    `samples` has (values, launch) of each group, shape (n_i,) each. Each replicate resamples the common launches
    once for all groups; `statistic` gets a (rows, values) array per group, padded with NaN, and returns shape
    (rows, …). None with fewer than two common launches.
    """
    common = np.array(
        sorted(
            set.intersection(
                *(set(np.unique(launch).tolist()) for _, launch in samples)
            )
        ),
        dtype=np.int64,
    )
    if common.size < 2:
        return None
    tables = [_pad(values, launch, common) for values, launch in samples]
    widest = max(table.size for table, _ in tables)
    step = max(1, min(replicates, _CELLS // widest))
    rng = np.random.default_rng(seed)
    parts: list[Floats] = []
    for start in range(0, replicates, step):
        rows = min(step, replicates - start)
        picks = rng.integers(0, common.size, size=(rows, common.size))
        parts.append(
            statistic([_draw(rng, table, sizes, picks) for table, sizes in tables])
        )
    return np.concatenate(parts)


def cluster_bootstrap(
    samples: list[tuple[Floats, Ints]],
    statistic: Callable[[list[Floats]], Floats],
    confidence: float,
    replicates: int = BOOTSTRAP_REPLICATES,
    seed: int = BOOTSTRAP_SEED,
) -> Interval:
    """Return the percentile interval of a statistic as in `cluster_replicates`, of shape (rows,). Without bounds if
    there are fewer than two common launches."""
    results = cluster_replicates(samples, statistic, replicates, seed)
    if results is None:
        return Interval(None, None)
    tail = (1.0 - confidence) / 2.0
    lower, upper = (float(x) for x in np.quantile(results, [tail, 1.0 - tail]))
    return Interval(lower, upper)
