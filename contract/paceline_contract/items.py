"""Samples as an agent uploads them: one case, metric and phase of one launch, in columns.

Agent and server share the shape; the spool adds the number that identifies an item within its attempt.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from paceline_contract.events import Direction, ParamValue, Phase, SamplesEvent

INT32_MAX: Final = 2**31 - 1
Launch = Annotated[int, Meta(ge=0, le=INT32_MAX)]
Side = Literal["base", "head"]


class SamplesColumns(
    msgspec.Struct,
    tag_field="kind",
    tag="samples",
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    gc=False,
):
    """One row per value: `rounds[i]`, `positions[i]`, `iterations[i]` and `t_ns[i]` are those of `values[i]`."""

    launch: Launch
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: str
    direction: Direction
    phase: Phase
    rounds: list[int]
    positions: list[int]
    iterations: list[int]
    t_ns: list[int]
    values: list[float]
    """Per iteration, in the base unit; rates as they came."""
    work: dict[str, list[int]] = {}
    """Counters, totals over `iterations`: one list per counter."""
    side: str | None = None
    """Of an A/B job."""

    def add(self, event: SamplesEvent, values: list[float]) -> None:
        """Append one event, its `values` per iteration; it must have the counters of this item."""
        for value in values:
            self.rounds.append(event.round)
            self.positions.append(event.position)
            self.iterations.append(event.iterations)
            self.t_ns.append(event.t_ns)
            self.values.append(value)
            for counter, counts in self.work.items():
                counts.append(event.work[counter])
