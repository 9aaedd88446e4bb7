"""Thins the points of a chart without losing what a person would look for.

Kept are both ends, the lowest and highest point of every bucket, and the points asked
for by index. Nothing is averaged: every point shown was measured.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

KEPT_PER_BUCKET = 2
"""points: the lowest and the highest."""


def thin_points(
    values: Sequence[float], limit: int, always: Collection[int] = ()
) -> list[int]:
    """Indexes to show of `values`, at most about `limit` besides those in `always`, ascending."""
    count = len(values)
    if count <= limit:
        return list(range(count))
    buckets = max(1, limit // KEPT_PER_BUCKET)
    kept = {0, count - 1, *(index for index in always if 0 <= index < count)}
    for bucket in range(buckets):
        own = range(bucket * count // buckets, (bucket + 1) * count // buckets)
        kept.add(min(own, key=lambda index: values[index]))
        kept.add(max(own, key=lambda index: values[index]))
    return sorted(kept)
