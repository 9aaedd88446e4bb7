"""The events of the bench stream (C1, `native/protocol/README.md`), one frozen type each.

An instance holds known fields within their documented ranges, so it can be forwarded or stored as it is.
Order between events and limits of lines are left to `stream.py`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from paceline_contract.units import PER_ITERATION, UNITS, Unit

INT64_MAX: Final = 2**63 - 1
"""Largest integer of the stream: what every reader and both databases can hold."""
MAX_VALUES: Final = 1_000
"""Values in one `samples` event, and samples in one uploaded item (I7)."""
MAX_COUNTERS: Final = 16
"""Counters in one `samples` event or item."""

_NO_NUL = r"\A[^\x00]*\Z"
Text = Annotated[str, Meta(pattern=_NO_NUL)]
"""PostgreSQL text cannot hold U+0000."""
Name = Annotated[str, Meta(min_length=1, pattern=_NO_NUL)]
Natural = Annotated[int, Meta(ge=0, le=INT64_MAX)]
Positive = Annotated[int, Meta(ge=1, le=INT64_MAX)]
ParamValue = int | str
_ParamValue = Natural | Text
Direction = Literal["lower", "higher"]
Phase = Literal["warmup", "measure"]

FaultCode = Literal[
    "not_json",
    "not_object",
    "missing_field",
    "bad_field",
    "unknown_type",
    "unknown_unit",
    "line_too_long",
    "truncated",
    "after_terminal",
    "unknown_case",
    "duplicate_case",
    "no_start",
    "duplicate_start",
    "version",
]


class Event(msgspec.Struct, frozen=True, tag_field="type"):
    """Base class of all events."""

    def to_json_object(self) -> dict[str, Any]:
        """Return the event as plain JSON values with its `type`; known fields only, absent ones left out."""
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]


class Clock(msgspec.Struct, frozen=True):
    """The clock a workload measures with, and what one reading costs."""

    name: Name
    resolution_ns: Positive
    overhead_ns: Natural


class StartEvent(Event, frozen=True, tag="start"):
    """Identifies the workload. A stream has exactly one, as its first event."""

    v: Literal[1]
    suite: Name
    workload: Name
    launch: Natural
    seed: Natural
    build: dict[Name, Text]
    clock: Clock


class Metric(msgspec.Struct, frozen=True):
    """A quantity that a case has samples of."""

    name: Name
    unit: Unit
    direction: Direction


class CaseEvent(Event, frozen=True, tag="case"):
    """A benchmark, arm and params that samples refer to by number."""

    case: Natural
    benchmark: Name
    arm: Name
    params: dict[Name, _ParamValue]
    metrics: Annotated[list[Metric], Meta(min_length=1)]
    items_per_iteration: Natural | UnsetType = UNSET
    bytes_per_iteration: Natural | UnsetType = UNSET
    unavailable: Name | UnsetType = UNSET
    """Why this machine cannot run this arm; such a case has no samples."""

    @property
    def is_available(self) -> bool:
        """Return whether this machine can run the arm."""
        return self.unavailable is UNSET

    def metric(self, name: str) -> Metric | None:
        """Return the metric called `name`, if the case declares it."""
        return next((metric for metric in self.metrics if metric.name == name), None)


class SamplesEvent(Event, frozen=True, tag="samples", omit_defaults=True):
    """Values of one metric of one case in one round, each a total over `iterations` unless it is a rate."""

    case: Natural
    metric: Name
    launch: Natural
    round: Natural
    position: Natural
    phase: Phase
    iterations: Positive
    values: Annotated[list[Natural], Meta(min_length=1, max_length=MAX_VALUES)]
    t_ns: Natural
    work: Annotated[dict[Name, Natural], Meta(max_length=MAX_COUNTERS)] = {}
    """Counters of the work in the timed region, totals over `iterations`."""

    def per_iteration(self, unit: Unit) -> list[float]:
        """Return `values` per iteration in the base unit; rates are returned as they came."""
        divisor = self.iterations if unit in PER_ITERATION else 1
        return [value / divisor for value in self.values]


class CheckEvent(Event, frozen=True, tag="check"):
    """The outcome of one correctness check (I1)."""

    name: Name
    ok: bool
    detail: Text = ""


class ProgressEvent(Event, frozen=True, tag="progress"):
    """How much of its work the workload has done."""

    done: Natural
    total: Natural


class WarningEvent(Event, frozen=True, tag="warning"):
    """Something a person should know. The samples stay valid."""

    code: Name
    text: Text


class DoneEvent(Event, frozen=True, tag="done"):
    """The workload ended without an error. Last event of its stream."""


class ErrorEvent(Event, frozen=True, tag="error"):
    """The workload could not continue. Last event of its stream."""

    code: Name
    text: Text


Terminal = DoneEvent | ErrorEvent
AnyEvent = (
    StartEvent
    | CaseEvent
    | SamplesEvent
    | CheckEvent
    | ProgressEvent
    | WarningEvent
    | DoneEvent
    | ErrorEvent
)
_TYPES = {kind.__struct_config__.tag: kind for kind in get_args(AnyEvent)}
_MAP_VALUE_TYPES = {"params": _ParamValue, "build": Text, "work": Natural}
"""Fields that are maps, with the type of their values."""


class EventError(Exception):
    """An event is refused, with a code of C1, the wrong `field` if there is one, and what was expected."""

    def __init__(self, code: FaultCode, detail: str, field: str | None = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code: FaultCode = code
        self.detail = detail
        self.field = field


def event_type(value: object) -> str:
    """Return the `type` of a decoded event. Raises `EventError`."""
    if not isinstance(value, dict):
        raise EventError(
            "not_object", f"expected a JSON object, found {_kind_of(value)}"
        )
    if "type" not in value:
        raise EventError("missing_field", "type is missing", "type")
    kind = value["type"]
    if not isinstance(kind, str):
        raise EventError(
            "bad_field", f"type: expected text, found {_kind_of(kind)}", "type"
        )
    if kind not in _TYPES:
        known = ", ".join(map(str, _TYPES))
        raise EventError(
            "unknown_type", f"type: {kind[:80]!r} is not one of {known}", "type"
        )
    return kind


def parse_event(value: object) -> AnyEvent:
    """Return the event in a decoded JSON value; unknown fields are ignored. Raises `EventError`."""
    kind = _TYPES[event_type(value)]
    try:
        return msgspec.convert(value, kind)  # type: ignore[no-any-return]
    except msgspec.ValidationError as error:
        raise _event_error(str(error), value) from None


_MISSING = re.compile(r"Object missing required field `(.+)`")
_KINDS = {
    "int": "an integer",
    "float": "a number with a fraction",
    "str": "text",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def _event_error(message: str, event: Any) -> EventError:
    """Translate a message such as "Expected `int` >= 0 - at `$.values[3]`" from msgspec into an EventError."""
    text, _, place = message.partition(" - at ")
    field = place.rpartition("`$")[2].rstrip("`").removeprefix(".")
    if missing := _MISSING.fullmatch(text):
        field = f"{field}.{missing[1]}" if field else missing[1]
        return EventError("missing_field", f"{field} is missing", field)
    name, _, rest = field.partition("[")
    if rest == "...]" and name in _MAP_VALUE_TYPES:
        field = f"{name}.{_bad_key(event[name], _MAP_VALUE_TYPES[name])}"
    elif place.startswith("`key`"):
        text = f"A name in it: {text[0].lower()}{text[1:]}"
    value = _value_at(event, field)
    if text.startswith("Invalid enum value"):
        shown = repr(value)[:80]
        if field == "v":
            detail = f"v: this reader knows version 1 of the stream, not {shown}"
            return EventError("version", detail, field)
        if field.endswith(".unit"):
            detail = f"{field}: {shown} is not one of {', '.join(sorted(UNITS))}"
            return EventError("unknown_unit", detail, field)
        choices = get_args(Phase if field == "phase" else Direction)
        text = f"expected {' or '.join(choices)}, found {shown}"
    text = text.replace(f"`str` matching regex {_NO_NUL!r}", "text without U+0000")
    text = re.sub(r"`([^`]+)`", lambda match: _type_names(match[1]), text)
    text = text.replace(", got ", ", found ").replace(str(INT64_MAX), "2^63 - 1")
    return EventError("bad_field", f"{field}: {text[0].lower()}{text[1:]}", field)


def _type_names(types: str) -> str:
    return " or ".join(_KINDS.get(name, name) for name in types.split(" | "))


def _bad_key(values: dict[str, Any], kind: Any) -> str:
    """Return the first key whose value is not of `kind`: msgspec does not name it."""
    for key, value in values.items():
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            return key[:80]
    return "..."


def _value_at(event: Any, field: str) -> Any:
    value = event
    for part in re.findall(r"[^.\[\]]+", field):
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return value


def _kind_of(value: object) -> str:
    if value is None:
        return "null"
    for kind, words in ((bool, "a boolean"), (int | float, "a number"), (str, "text")):
        if isinstance(value, kind):
            return words
    return "a list" if isinstance(value, list) else "an object"
