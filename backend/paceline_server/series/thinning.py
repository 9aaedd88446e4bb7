"""Thins the points of a chart to both ends, the extremes of every bucket and requested points.

Points are never averaged: every point shown was measured.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

KEPT_PER_BUCKET = 2
"""Points kept of each bucket: the lowest and the highest."""


def thin_points(
    values: Sequence[float], limit: int, always: Collection[int] = ()
) -> list[int]:
    """Return indexes of `values` to show, ascending: at most about `limit`, besides those in `always`."""
    count = len(values)
    if count <= limit:
        return list(range(count))
    buckets = max(1, limit // KEPT_PER_BUCKET)
    kept = {0, count - 1, *(index for index in always if 0 <= index < count)}
    for bucket in range(buckets):
        indexes = range(bucket * count // buckets, (bucket + 1) * count // buckets)
        kept.add(min(indexes, key=lambda index: values[index]))
        kept.add(max(indexes, key=lambda index: values[index]))
    return sorted(kept)
