"""Units of the bench stream (C1) and which of them are totals over iterations. No conversions, no prose."""

from __future__ import annotations

from typing import Literal

Unit = Literal["ns", "bytes", "ops", "op/s", "bytes/s", "count"]
UNITS: frozenset[str] = frozenset({"ns", "bytes", "ops", "op/s", "bytes/s", "count"})
PER_ITERATION: frozenset[str] = frozenset({"ns", "bytes", "ops", "count"})
"""Values of these are totals over `iterations` on the wire and are divided by readers; rates are not."""
