"""Uploaded bytes → checked items. Pure: no manifest, no rows, no HTTP.

Place: the first thing that happens to a body, before any transaction. Invariants: never holds more than
`MAX_INFLATED` bytes of JSON; whatever arrives becomes checked items or a refusal that names the item and
field; what passes can be stored by both databases. Samples leave packed, ready to be written.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from paceline_contract.events import (
    INT64_MAX,
    MAX_COUNTERS,
    MAX_VALUES,
    EventError,
    StartEvent,
    event_type,
    parse_event,
)
from paceline_contract.items import INT32_MAX, Launch, SamplesColumns, Side
from paceline_contract.units import UNITS

from paceline_server.fleet.device_schemas import MAX_RAW, MAX_RAW_TEXT
from paceline_server.kernel.wire import is_storable

MAX_INFLATED: Final = 64 * 1024 * 1024
"""Largest body after inflating: about 1,800 full chunks. Bytes. What comes over the wire is bounded before it
is read, by `Settings.max_body_bytes`."""
MAX_ITEMS: Final = 1_000
MAX_LOG_LINE: Final = 65_536
"""Characters of one log line; the agent cuts longer ones."""
MAX_JSON_BYTES: Final = 1_048_576
"""Largest event or conditions item: what a bench-stream line may hold."""
MAX_REPORTED_TEXT: Final = 1_000
"""Characters of a line of a device's log, and of a note; the agent cuts longer ones."""
MAX_FIELD: Final = 200
MAX_FIELDS: Final = 32
"""Of one line, and characters of one of them; a manifest declares at most 17."""

Seq = Annotated[int, msgspec.Meta(ge=0, le=INT64_MAX)]


class _Item(msgspec.Struct, tag_field="kind", forbid_unknown_fields=True, gc=False):
    seq: Seq


class SamplesItem(SamplesColumns, kw_only=True):
    side: Side | None = None
    seq: Seq


class EventItem(_Item, tag="event", omit_defaults=True):
    """Without a side its digest is as before there were any, for spools that outlive an update."""

    launch: Launch
    event: dict[str, Any]
    side: Side | None = None


AtMs = Annotated[int, msgspec.Meta(ge=-INT64_MAX, le=INT64_MAX)]


class Raw(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What one command printed: `status` null when it did not end by itself."""

    command: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]
    at_ms: AtMs
    took_ms: Annotated[float, msgspec.Meta(ge=0)]
    text: Annotated[str, msgspec.Meta(max_length=MAX_RAW_TEXT)]
    status: Annotated[int, msgspec.Meta(ge=-INT32_MAX, le=INT32_MAX)] | None = None


class ConditionsItem(_Item, tag="conditions", omit_defaults=True):
    """Without raw texts its digest is as before there were any, for spools that outlive an update."""

    phase: Literal["before", "during", "after"]
    at_ms: AtMs
    values: dict[str, Any]
    raw: Annotated[list[Raw], msgspec.Meta(max_length=MAX_RAW)] = []


class LogItem(_Item, tag="log"):
    stream: Literal["workload", "build", "agent"]
    lines: Annotated[list[str], msgspec.Meta(max_length=1000)]


class Printed(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A number as an app printed it, in base units; the true one lies from `low` to `high`."""

    printed: Annotated[str, msgspec.Meta(max_length=MAX_FIELD)]
    value: Seq
    low: Seq
    high: Seq
    unit: Annotated[str, msgspec.Meta(max_length=MAX_FIELD)]


class ReportedItem(_Item, tag="reported"):
    launch: Launch | None
    side: Side | None
    pattern: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_FIELD)] | None
    at: Annotated[str, msgspec.Meta(max_length=MAX_FIELD)] | None
    fields: Annotated[
        dict[str, int | str | Printed], msgspec.Meta(max_length=MAX_FIELDS)
    ]
    text: Annotated[str, msgspec.Meta(max_length=MAX_REPORTED_TEXT)]
    note: Annotated[str, msgspec.Meta(max_length=MAX_REPORTED_TEXT)] | None


AnyItem = SamplesItem | EventItem | ConditionsItem | LogItem | ReportedItem


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    items: Annotated[list[AnyItem], msgspec.Meta(max_length=MAX_ITEMS)]


class BodyError(Exception):
    """A body that cannot be read: `body_too_large`, `unsupported_encoding` or `invalid_request`."""

    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        self.detail = detail
        super().__init__(f"{code}: {detail}")


class ItemError(Exception):
    """An item that is refused. `index` is its place in the body, `seq` its number if one could be read."""

    def __init__(
        self, index: int | None, seq: int | None, field: str, detail: str
    ) -> None:
        self.index = index
        self.seq = seq
        self.field = field
        self.detail = detail
        super().__init__(f"item {index} (seq {seq}): {field}: {detail}")


@dataclass(frozen=True, slots=True)
class Checked:
    """An item fit to be stored. `digest` identifies its content, however it was spelled."""

    item: AnyItem
    digest: bytes
    packed: Packed | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    """The arrays of a samples item, little-endian: int32 rounds and positions, int64 iterations and t_ns.

    `work` holds int64 counts, one row per name in `counters`. The item's own lists are emptied once packed:
    as Python numbers they are ten times as large.
    """

    values: NDArray[np.float64]
    rounds: bytes
    positions: bytes
    iterations: bytes
    t_ns: bytes
    counters: tuple[str, ...]
    work: bytes


def inflate(body: bytes, encoding: str) -> bytes:
    """The JSON of a body. Stops at `MAX_INFLATED` bytes, whatever the compressed data promises.

    Raises `BodyError`.
    """
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "x-gzip"):
        raise BodyError(
            "unsupported_encoding",
            f"Content-Encoding {encoding[:40]!r}: send gzip or none.",
        )
    parts: list[bytes] = []
    room, rest = MAX_INFLATED, body
    while True:
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(rest, room + 1)
        except zlib.error as error:
            raise BodyError(
                "invalid_request", f"The body is not gzip: {error}."
            ) from None
        room -= len(part)
        if room < 0:
            raise BodyError(
                "body_too_large",
                f"The body inflates to more than {MAX_INFLATED} bytes; send it in parts.",
            )
        parts.append(part)
        if not member.eof:
            raise BodyError("invalid_request", "The gzip body is cut short.")
        rest = member.unused_data
        if not rest:
            return parts[0] if len(parts) == 1 else b"".join(parts)


_decoder = msgspec.json.Decoder(_Body)
_canonical = msgspec.json.Encoder(order="sorted")


def decode(raw: bytes) -> list[Checked]:
    """The checked items of a JSON body. Raises `BodyError` or `ItemError`."""
    try:
        items = _decoder.decode(raw).items
    except msgspec.ValidationError as error:
        raise _located(raw, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BodyError(
            "invalid_request", f"The body is not JSON in UTF-8: {str(error)[:200]}."
        ) from None
    except RecursionError:
        raise BodyError("invalid_request", "The body is nested too deeply.") from None
    checked = []
    for index, item in enumerate(items):
        try:
            checked.append(_check(item))
        except _RefusedError as refused:
            raise ItemError(index, item.seq, refused.field, refused.detail) from None
        except RecursionError:
            raise ItemError(index, item.seq, "item", "nested too deeply") from None
    return checked


class _RefusedError(Exception):
    def __init__(self, field: str, detail: str) -> None:
        self.field = field
        self.detail = detail
        super().__init__(detail)


def _located(raw: bytes, message: str) -> ItemError:
    """Turn msgspec's "… - at `$.items[3].values[7]`" into the item's index, seq and field."""
    text, _, path = message.partition(" - at `$")
    head, _, rest = path.rstrip("`").partition("]")
    digits = head.removeprefix(".items[")
    if not digits.isdigit():
        return ItemError(None, None, path.rstrip("`").lstrip(".") or "body", text)
    index = int(digits)
    seq: object = None
    try:
        seq = msgspec.json.decode(raw)["items"][index]["seq"]
    except (
        msgspec.MsgspecError,
        UnicodeDecodeError,
        RecursionError,
        KeyError,
        IndexError,
        TypeError,
    ):
        seq = None
    known = seq if isinstance(seq, int) and not isinstance(seq, bool) else None
    return ItemError(index, known, rest.lstrip(".") or "item", text)


def _check(item: AnyItem) -> Checked:
    match item:
        case SamplesItem():
            return _check_samples(item)
        case EventItem():
            _check_event(item)
        case ConditionsItem():
            _check_storable("values", item.values)
            for index, one in enumerate(item.raw):
                if not is_storable(one.text) or not is_storable(one.command):
                    raise _RefusedError(
                        f"raw[{index}]", "contains U+0000 or a lone surrogate"
                    )
        case ReportedItem():
            _check_storable(
                "reported",
                {
                    name: getattr(item, name)
                    for name in ("pattern", "at", "text", "note")
                },
            )
            _check_storable("fields", msgspec.to_builtins(item.fields))
        case LogItem():
            for index, line in enumerate(item.lines):
                if len(line) > MAX_LOG_LINE:
                    raise _RefusedError(
                        f"lines[{index}]", f"longer than {MAX_LOG_LINE} characters"
                    )
                if not is_storable(line):
                    raise _RefusedError(f"lines[{index}]", "contains U+0000")
    encoded = _canonical.encode(item)
    if not isinstance(item, LogItem) and len(encoded) > MAX_JSON_BYTES:
        raise _RefusedError("item", f"larger than {MAX_JSON_BYTES} bytes")
    return Checked(item, hashlib.sha256(encoded).digest())


def _check_storable(where: str, value: dict[str, Any]) -> None:
    for key, each in value.items():
        if not is_storable(key):
            raise _RefusedError(where, "a name contains U+0000")
        if not is_storable(each):
            raise _RefusedError(
                f"{where}.{key[:60]}",
                "contains U+0000, a number that is not finite or one beyond 64 bits",
            )


def _check_event(item: EventItem) -> None:
    try:
        if event_type(item.event) == "samples":
            raise EventError(
                "unknown_type", "samples travel as items of kind samples", "type"
            )
        event = parse_event(item.event)
        if isinstance(event, StartEvent) and event.launch != item.launch:
            raise EventError("bad_field", "launch: is not the item's", "launch")
    except EventError as error:
        where = f"event.{error.field}" if error.field else "event"
        raise _RefusedError(where, f"{error.code}: {error.detail}") from None
    _check_storable("event", item.event)


def _check_samples(item: SamplesItem) -> Checked:
    n = len(item.values)
    if not 1 <= n <= MAX_VALUES:
        raise _RefusedError("values", f"{n} values; one item holds 1 to {MAX_VALUES}")
    if item.unit not in UNITS:
        raise _RefusedError("unit", f"unknown_unit: {item.unit[:40]!r}")
    if len(item.work) > MAX_COUNTERS or not all(item.work):
        raise _RefusedError(
            "work",
            f"expected at most {MAX_COUNTERS} counters with names that are not empty",
        )
    counters = tuple(sorted(item.work))
    if not is_storable(list(counters)):
        raise _RefusedError("work", "a name contains U+0000")
    for field in ("benchmark", "arm", "metric", "params"):
        if not is_storable(getattr(item, field)):
            raise _RefusedError(field, "contains U+0000 or a number beyond 64 bits")
    values = np.frombuffer(_struct("d", n).pack(*item.values), dtype="<f8")
    if not (values.min() >= 0.0 and np.isfinite(values).all()):
        bad = int(np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))[0])
        raise _RefusedError(f"values[{bad}]", "expected a finite number, not negative")
    packed = Packed(
        values=values,
        rounds=_packed("rounds", item.rounds, n, ("i", 0, INT32_MAX)),
        positions=_packed("positions", item.positions, n, ("i", 0, INT32_MAX)),
        iterations=_packed("iterations", item.iterations, n, ("q", 1, INT64_MAX)),
        t_ns=_packed("t_ns", item.t_ns, n, ("q", 0, INT64_MAX)),
        counters=counters,
        work=b"".join(
            _packed(f"work.{name}", item.work[name], n, ("q", 0, INT64_MAX))
            for name in counters
        ),
    )
    item.rounds = item.positions = item.iterations = item.t_ns = []
    item.values, item.work = [], {}
    return Checked(item, _samples_digest(item, packed), packed)


@lru_cache(maxsize=4096)
def _struct(code: str, n: int) -> struct.Struct:
    """Packs n numbers; on a list this is twice as fast as numpy."""
    return struct.Struct(f"<{n}{code}")


def _packed(
    name: str, numbers: Sequence[int], n: int, limits: tuple[str, int, int]
) -> bytes:
    code, least, most = limits
    if len(numbers) != n:
        raise _RefusedError(name, f"{len(numbers)} entries for {n} values")
    try:
        packed = _struct(code, n).pack(*numbers)
    except struct.error:  # beyond what the type holds
        packed = b""
    if not packed or np.frombuffer(packed, dtype=f"<{code}").min() < least:
        bad = next(
            index for index, number in enumerate(numbers) if not least <= number <= most
        )
        raise _RefusedError(
            f"{name}[{bad}]", f"expected a whole number from {least} to {most}"
        )
    return packed


def _samples_digest(item: SamplesItem, packed: Packed) -> bytes:
    series = (
        item.benchmark,
        item.arm,
        item.params,
        item.metric,
        item.unit,
        item.direction,
    )
    digest = hashlib.sha256(_canonical.encode((item.launch, item.phase, series)))
    for part in (packed.rounds, packed.positions, packed.iterations, packed.t_ns):
        digest.update(part)
    digest.update(packed.values.data)
    if (
        packed.counters
    ):  # without counters as before there were any, for spools that outlive an update
        digest.update(_canonical.encode(packed.counters) + packed.work)
    if item.side is not None:  # likewise
        digest.update(item.side.encode())
    return digest.digest()
