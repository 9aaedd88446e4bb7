"""Wire shapes of what agents upload. Decoding happens in `wire.py` (msgspec); these document and answer.

One item is the unit of identity (I7): `(job, attempt, seq)`. Sent again with the same bytes it is a no-op,
with others it is 409 `item_conflict`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from paceline_server.fleet.device_schemas import MAX_RAW, RawIn
from paceline_server.kernel.wire import Request, Response


class SamplesItemIn(Request):
    """Up to 1,000 samples of one case and metric in one launch; the five arrays have one entry per sample.

    `values` are per iteration in the metric's base unit; `t_ns` is the workload's monotonic clock at the end
    of the timed region, `positions` the place of the arm in its round. `work` holds, by counter, what the
    timed region did: totals over its iterations. `side` is given exactly in an A/B job: which of the two
    revisions was measured.
    """

    kind: Literal["samples"]
    seq: int = Field(ge=0)
    launch: int = Field(ge=0)
    benchmark: str
    arm: str
    params: dict[str, int | str]
    metric: str
    unit: str
    direction: Literal["lower", "higher"]
    phase: Literal["warmup", "measure"]
    rounds: list[int]
    positions: list[int]
    iterations: list[int]
    t_ns: list[int]
    values: list[float]
    work: dict[str, list[int]] = Field(default_factory=dict, max_length=16)
    side: Literal["base", "head"] | None = None


class EventItemIn(Request):
    """Any other bench-stream event, verbatim (start, case, check, progress, warning, done, error). `side` as
    of samples."""

    kind: Literal["event"]
    seq: int = Field(ge=0)
    launch: int = Field(ge=0)
    event: dict[str, Any]
    side: Literal["base", "head"] | None = None


class ConditionsItemIn(Request):
    """`raw`, of a device: what its commands printed, kept beside the values read out of it; at most 64
    texts of 262,144 characters, and the whole item at most 1 MiB."""

    kind: Literal["conditions"]
    seq: int = Field(ge=0)
    phase: Literal["before", "during", "after"]
    at_ms: int
    values: dict[str, Any]
    raw: list[RawIn] = Field(default_factory=list, max_length=MAX_RAW)


class LogItemIn(Request):
    kind: Literal["log"]
    seq: int = Field(ge=0)
    stream: Literal["workload", "build", "agent"]
    lines: list[str] = Field(max_length=1000)


class PrintedIn(Request):
    """A number as an app printed it, in base units; the true one lies from `low` to `high`."""

    printed: str = Field(max_length=200)
    value: int = Field(ge=0)
    low: int = Field(ge=0)
    high: int = Field(ge=0)
    unit: str = Field(max_length=200)


class ReportedItemIn(Request):
    """A line of a device's log that has a shape its suite declares (`[[logcat]]`): an app's own figures, no
    samples. `launch`: in whose time it was logged, null where that is not known or between launches; `at`:
    the device's own time, as printed; `note`: why the line has no fields or no end, or, without a `pattern`,
    what is missing. `launch` and `side` as of samples."""

    kind: Literal["reported"]
    seq: int = Field(ge=0)
    launch: int | None = Field(ge=0)
    side: Literal["base", "head"] | None
    pattern: str | None = Field(max_length=200)
    at: str | None = Field(max_length=200)
    fields: dict[str, int | str | PrintedIn] = Field(max_length=32)
    text: str = Field(max_length=1000)
    note: str | None = Field(max_length=1000)


class ItemsIn(Request):
    """POST body, optionally `Content-Encoding: gzip`."""

    items: list[
        SamplesItemIn | EventItemIn | ConditionsItemIn | LogItemIn | ReportedItemIn
    ] = Field(max_length=1000)


class ItemsOut(Response):
    stored: int
    duplicates: int
