"""What an agent uploads while it runs a job: samples in columns, events, conditions, log lines, reported lines.

Agent and server share these types, so that what one sends the other reads. `(job, attempt, seq)` identifies an
item (I7); the agent's spool assigns `seq`. Bodies are read and checked in `item_reader.py`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

import msgspec
from msgspec import Meta

from paceline_contract.events import (
    INT64_MAX,
    MAX_COUNTERS,
    MAX_VALUES,
    CaseEvent,
    Direction,
    Metric,
    Name,
    ParamValue,
    Phase,
    SamplesEvent,
)
from paceline_contract.units import Unit

INT32_MAX: Final = 2**31 - 1
MAX_ITEMS: Final = 1_000
"""Items of one request."""
MAX_JSON_BYTES: Final = 1_048_576
"""Largest item other than samples and log lines: what a line of the bench stream may hold."""
MAX_LINES: Final = 1_000
"""Lines of one `log` item."""
MAX_LINE: Final = 65_536
"""Characters of one of them."""
MAX_OUTPUTS: Final = 64
"""Command outputs kept with one observation or one health check."""
MAX_OUTPUT: Final = 262_144
"""Characters of one of them; `dumpsys` of a phone prints some tens of thousands."""
MAX_COMMAND: Final = 4_000
MAX_REPORTED: Final = 1_000
"""Characters of a line of a device's log, and of the note about it."""
MAX_FIELD: Final = 200
MAX_FIELDS: Final = 32
"""Fields of one line, and characters of one of them; a manifest declares at most 17."""

UNNUMBERED: Final = -1
"""The `seq` of an item that no spool has numbered yet; a server refuses it."""

Seq = Annotated[int, Meta(ge=0, le=INT64_MAX)]
Launch = Annotated[int, Meta(ge=0, le=INT32_MAX)]
AtMs = Annotated[int, Meta(ge=-INT64_MAX, le=INT64_MAX)]
"""Milliseconds on the agent's monotonic clock since its job began."""
SideName = Literal["base", "head"]
"""The revision of an A/B job that was measured; given exactly there."""
LogStream = Literal["workload", "build", "agent"]
ObservationPhase = Literal["before", "during", "after"]
Observed = float | int | str | dict[str, float] | list[float] | list[str]
"""A value that an agent observes; a server takes any JSON."""


class Item(
    msgspec.Struct, tag_field="kind", forbid_unknown_fields=True, kw_only=True, gc=False
):
    """Fields of every item."""

    seq: Seq


class Column(NamedTuple):
    """A column of whole numbers beside the values: which field of a `samples` event fills it, and its range."""

    field: str
    least: int
    most: int

    @property
    def packed_type(self) -> str:
        """Return the letter by which `struct` and numpy name the column's integers: 32 bits where they are enough."""
        return "i" if self.most <= INT32_MAX else "q"


COLUMNS: Final = MappingProxyType(
    {
        "rounds": Column("round", 0, INT32_MAX),
        "positions": Column("position", 0, INT32_MAX),
        "iterations": Column("iterations", 1, INT64_MAX),
        "t_ns": Column("t_ns", 0, INT64_MAX),
    }
)
"""Columns of `SamplesItem`; ingest packs each by its range and stores it under its name."""
COUNTS: Final = Column("work", 0, INT64_MAX)
"""The range of a counter."""


class SamplesItem(Item, tag="samples", omit_defaults=True):
    """Up to 1,000 samples of one case, metric and phase in one launch: `rounds[i]`, `positions[i]`, `iterations[i]`
    and `t_ns[i]` are those of `values[i]`. `t_ns` is the workload's monotonic clock at the end of the timed region,
    a position the arm's place in its round."""

    launch: Launch
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    direction: Direction
    phase: Phase
    rounds: list[int]
    positions: list[int]
    iterations: list[int]
    t_ns: list[int]
    values: Annotated[list[float], Meta(min_length=1, max_length=MAX_VALUES)]
    """Per iteration, in the base unit; rates as they came."""
    work: Annotated[dict[Name, list[int]], Meta(max_length=MAX_COUNTERS)] = {}
    """Counters of what the timed region did, totals over `iterations`: one list per counter."""
    side: SideName | None = None

    @classmethod
    def begin(
        cls, case: CaseEvent, metric: Metric, event: SamplesEvent, side: SideName | None
    ) -> Self:
        """Return an item for events like this one, without any yet."""
        return cls(
            seq=UNNUMBERED,
            launch=event.launch,
            benchmark=case.benchmark,
            arm=case.arm,
            params=case.params,
            metric=metric.name,
            unit=metric.unit,
            direction=metric.direction,
            phase=event.phase,
            values=[],
            work={counter: [] for counter in event.work},
            side=side,
            **{name: [] for name in COLUMNS},
        )

    def add(self, event: SamplesEvent, values: list[float]) -> None:
        """Append one event, its `values` per iteration; it must have the counters of this item."""
        self.values += values
        for name, column in COLUMNS.items():
            getattr(self, name).extend([getattr(event, column.field)] * len(values))
        for counter, counts in self.work.items():
            counts.extend([event.work[counter]] * len(values))


class EventItem(Item, tag="event", omit_defaults=True):
    """Any other event of the bench stream as it came: start, case, check, progress, warning, done or error."""

    launch: Launch
    event: dict[str, Any]
    side: SideName | None = None


class CommandOutput(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The output of a command on a device, kept so that a better parser can read it again. `status`: null if the
    command did not end by itself; then `text` gives the reason.
    """

    command: Annotated[str, Meta(min_length=1, max_length=MAX_COMMAND)]
    at_ms: AtMs
    took_ms: Annotated[float, Meta(ge=0)]
    text: Annotated[str, Meta(max_length=MAX_OUTPUT)]
    status: Annotated[int, Meta(ge=-INT32_MAX, le=INT32_MAX)] | None = None


class Conditions(msgspec.Struct, frozen=True, omit_defaults=True):
    """The conditions of a target at one time. `raw`: the outputs that the values were read from; a host has none."""

    phase: ObservationPhase
    at_ms: AtMs
    values: dict[str, Observed]
    raw: list[CommandOutput] = []


class ConditionsItem(Item, tag="conditions", omit_defaults=True):
    """An observation (`Conditions`) of a job's target."""

    phase: ObservationPhase
    at_ms: AtMs
    values: dict[str, Any]
    raw: Annotated[list[CommandOutput], Meta(max_length=MAX_OUTPUTS)] = []

    @classmethod
    def of(cls, seen: Conditions) -> Self:
        """Return the item that carries an observation."""
        return cls(
            seq=UNNUMBERED,
            phase=seen.phase,
            at_ms=seen.at_ms,
            values=seen.values,
            raw=seen.raw,
        )


class LogItem(Item, tag="log"):
    """Lines that a workload, a build or the agent printed."""

    stream: LogStream
    lines: Annotated[
        list[Annotated[str, Meta(max_length=MAX_LINE)]], Meta(max_length=MAX_LINES)
    ]


class PrintedNumber(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A number that an app printed, in base units: `value` as printed; the true value is from `low` to `high`."""

    printed: Annotated[str, Meta(max_length=MAX_FIELD)]
    value: Seq
    low: Seq
    high: Seq
    unit: Annotated[str, Meta(max_length=MAX_FIELD)]


class ReportedItem(Item, tag="reported"):
    """A line of a device's log that a suite declares (`[[logcat]]`): figures of the app, not samples.

    `launch`: the launch during which it was logged, null if unknown; `at`: the device's time, as printed; `note`: why
    the line has no fields or was cut, or, without a `pattern`, which lines are missing.
    """

    launch: Launch | None
    side: SideName | None
    pattern: Annotated[str, Meta(min_length=1, max_length=MAX_FIELD)] | None
    at: Annotated[str, Meta(max_length=MAX_FIELD)] | None
    fields: Annotated[dict[str, int | str | PrintedNumber], Meta(max_length=MAX_FIELDS)]
    text: Annotated[str, Meta(max_length=MAX_REPORTED)]
    note: Annotated[str, Meta(max_length=MAX_REPORTED)] | None


AnyItem = SamplesItem | EventItem | ConditionsItem | LogItem | ReportedItem


class Items(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request that uploads items."""

    items: Annotated[list[AnyItem], Meta(max_length=MAX_ITEMS)]
