"""Says when two measurements of one name cannot be compared, because what the number means was changed.

Unit, direction and the work of an iteration belong to a measurement's identity: a ratio of nanoseconds and bytes is no
ratio.
"""

from __future__ import annotations

from typing import NamedTuple


class Declaration(NamedTuple):
    """What a workload declares of a metric; None for what it, or an older report, does not say."""

    unit: str
    direction: str
    items: int | None = None
    """Items per iteration; `bytes` likewise."""
    bytes: int | None = None


def incomparable(metric: str, base: Declaration, head: Declaration) -> str | None:
    """Why head and base cannot be compared, as a sentence's end; None where they can be."""
    if base.unit != head.unit:
        change = f"{metric} is in {base.unit} at base and in {head.unit} at head"
    elif base.direction != head.direction:
        change = f"{base.direction} is better for {metric} at base, and {head.direction} at head"
    elif differ(base.items, head.items):
        change = f"an iteration is {base.items} items at base and {head.items} at head"
    elif differ(base.bytes, head.bytes):
        change = f"an iteration is {base.bytes} bytes at base and {head.bytes} at head"
    else:
        return None
    return f"not comparable: {change}"


def differ(base: int | None, head: int | None) -> bool:
    """Whether both sides say how much work an iteration is, and say different things."""
    return base is not None and head is not None and base != head
