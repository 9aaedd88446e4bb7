"""Finds measurements of one name that cannot be compared, because the meaning of the number changed.

Unit, direction and the work of an iteration give a number its meaning: nanoseconds and bytes have no ratio, and a
history that continues in another unit did not become slower or faster there.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple


class Declaration(NamedTuple):
    """What a workload declares about a metric; None for what it, or an older report, does not declare."""

    unit: str
    direction: str
    items: int | None = None
    """Items per iteration; `bytes` likewise."""
    bytes: int | None = None

    def text(self) -> str:
        """Return the declaration as a point of a series stores it."""
        return json.dumps(self, separators=(",", ":"))


@lru_cache(maxsize=1024)
def read_declaration(text: str | None) -> Declaration | None:
    """Return the declaration of a stored point; None for older points, which have none."""
    return None if text is None else Declaration(*json.loads(text))


class _Change(NamedTuple):
    """A change in words: each side as a full clause, and as the shorter text that follows the other side's clause."""

    base: str
    base_only: str
    head: str
    head_only: str
    joint: str = " and"


def incomparable(metric: str, base: Declaration, head: Declaration) -> str | None:
    """Return why head and base cannot be compared, as the end of a sentence; None if they can be."""
    change = _change(metric, base, head)
    if change is None:
        return None
    return f"not comparable: {change.base} at base{change.joint} {change.head_only} at head"


def changed_since(
    metric: str, before: Declaration | None, after: Declaration | None, commit: str
) -> str | None:
    """Return in words what a number means since `commit` and meant before; None if the meaning is the same."""
    if before is None or after is None:
        return None
    change = _change(metric, before, after)
    if change is None:
        return None
    return f"{change.head} since {commit[:12]}, {change.base_only} before"


def merge(before: Declaration | None, after: Declaration | None) -> Declaration | None:
    """Return the union of two declarations with the same meaning, of which each may lack a part."""
    if before is None or after is None:
        return after or before
    return after._replace(
        items=before.items if after.items is None else after.items,
        bytes=before.bytes if after.bytes is None else after.bytes,
    )


def _change(metric: str, base: Declaration, head: Declaration) -> _Change | None:
    if base.unit != head.unit:
        base_only, head_only = f"in {base.unit}", f"in {head.unit}"
        return _Change(
            f"{metric} is {base_only}", base_only, f"{metric} is {head_only}", head_only
        )
    if base.direction != head.direction:
        better = f"is better for {metric}"
        return _Change(
            f"{base.direction} {better}",
            base.direction,
            f"{head.direction} {better}",
            head.direction,
            ", and",
        )
    for noun, old, new in (
        ("items", base.items, head.items),
        ("bytes", base.bytes, head.bytes),
    ):
        if old is not None and new is not None and old != new:
            begin = "an iteration is"
            return _Change(
                f"{begin} {old} {noun}", str(old), f"{begin} {new} {noun}", str(new)
            )
    return None
