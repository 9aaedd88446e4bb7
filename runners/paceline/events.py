"""The vocabulary of the bench stream (C1): one frozen type per event, already checked.

Place in the journey: what `protocol.py` yields and everything else in `runners/` consumes.
Invariant: an instance holds only known fields within their documented ranges, so it can be forwarded as is.
Does not parse, and knows no wire shape of the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

ParamValue = int | str
Unit = Literal["ns", "bytes", "ops", "op/s", "bytes/s", "count"]
Direction = Literal["lower", "higher"]
Phase = Literal["warmup", "measure"]

UNITS: frozenset[str] = frozenset({"ns", "bytes", "ops", "op/s", "bytes/s", "count"})
RATE_UNITS: frozenset[str] = frozenset({"op/s", "bytes/s"})
"""Units of values that are not totals over `iterations` and therefore are never divided."""


class Clock(msgspec.Struct, frozen=True):
    name: str
    resolution_ns: int
    overhead_ns: int


class Start(msgspec.Struct, frozen=True, tag_field="type", tag="start"):
    v: int
    suite: str
    workload: str
    launch: int
    seed: int
    build: dict[str, str]
    clock: Clock


class Metric(msgspec.Struct, frozen=True):
    name: str
    unit: Unit
    direction: Direction


class Case(
    msgspec.Struct, frozen=True, tag_field="type", tag="case", omit_defaults=True
):
    case: int
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metrics: list[Metric]
    items_per_iteration: int | None = None
    bytes_per_iteration: int | None = None
    unavailable: str | None = None
    """Why this machine cannot run this arm; such a case has no samples."""

    def metric(self, name: str) -> Metric | None:
        return next((metric for metric in self.metrics if metric.name == name), None)


class Samples(
    msgspec.Struct, frozen=True, tag_field="type", tag="samples", omit_defaults=True
):
    case: int
    metric: str
    launch: int
    round: int
    position: int
    phase: Phase
    iterations: int
    values: list[int]
    t_ns: int
    work: dict[str, int] = {}
    """Counters of what the timed region did, totals over `iterations`."""

    def per_iteration(self, unit: Unit) -> list[float]:
        """`values` per iteration in the base unit; rates are returned as they came."""
        divisor = 1 if unit in RATE_UNITS else self.iterations
        return [value / divisor for value in self.values]


class Check(msgspec.Struct, frozen=True, tag_field="type", tag="check"):
    name: str
    ok: bool
    detail: str = ""


class Progress(msgspec.Struct, frozen=True, tag_field="type", tag="progress"):
    done: int
    total: int


class Warn(msgspec.Struct, frozen=True, tag_field="type", tag="warning"):
    code: str
    text: str


class Done(msgspec.Struct, frozen=True, tag_field="type", tag="done"):
    pass


class Failed(msgspec.Struct, frozen=True, tag_field="type", tag="error"):
    code: str
    text: str


Event = Start | Case | Samples | Check | Progress | Warn | Done | Failed
Terminal = Done | Failed


def wire(event: Event) -> Mapping[str, object]:
    """The event as plain JSON values with its `type`, known fields only."""
    return msgspec.to_builtins(event)  # type: ignore[no-any-return]
