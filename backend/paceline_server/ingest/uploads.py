"""Inflates an uploaded body, and checks and packs its items for the database.

The contract's reader reads the items. At most `MAX_INFLATED` bytes of JSON are held. A body becomes either checked
items, which both databases can store, or a refusal that names item and field. The arrays of samples are packed, ready
to be written.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from paceline_contract.item_reader import ItemError, NotJsonError, read_items
from paceline_contract.items import (
    COLUMNS,
    COUNTS,
    MAX_JSON_BYTES,
    AnyItem,
    Column,
    ConditionsItem,
    EventItem,
    LogItem,
    ReportedItem,
    SamplesItem,
)

from paceline_server.kernel.wire import is_storable

MAX_INFLATED: Final = 64 * 1024 * 1024
"""Bytes of the largest body after inflating: about 1,800 full chunks. Before it is read, `Settings.max_body_bytes`
bounds the body as sent."""


class BodyError(Exception):
    """A body that cannot be read: `body_too_large`, `unsupported_encoding` or `invalid_request`."""

    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        self.detail = detail
        super().__init__(f"{code}: {detail}")


@dataclass(frozen=True, slots=True)
class CheckedItem:
    """An item that can be stored. `digest` identifies its content, however its JSON was written."""

    item: AnyItem
    digest: bytes
    packed: Packed | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    """The arrays of a samples item, little-endian, of the types that the contract gives their columns.

    `work` holds int64 counts, one row per name in `counters`. The item's own lists are emptied when they are packed,
    because lists of Python numbers are ten times as large.
    """

    values: NDArray[np.float64]
    columns: dict[str, bytes]
    counters: tuple[str, ...]
    work: bytes


def inflate(body: bytes, encoding: str) -> bytes:
    """Return the JSON of a body. Raises `BodyError`, for example as soon as it inflates to more than `MAX_INFLATED`
    bytes."""
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


_canonical = msgspec.json.Encoder(order="sorted")


def decode(raw: bytes) -> list[CheckedItem]:
    """Return the checked items of a JSON body. Raises `BodyError` or `ItemError`."""
    try:
        items = read_items(raw)
    except NotJsonError as error:
        raise BodyError("invalid_request", str(error)) from None
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


def _check(item: AnyItem) -> CheckedItem:
    match item:
        case SamplesItem():
            return _check_samples(item)
        case EventItem():
            _check_storable("event", item.event)
        case ConditionsItem():
            _check_storable("values", item.values)
            for index, output in enumerate(item.raw):
                if not is_storable(output.text) or not is_storable(output.command):
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
                if not is_storable(line):
                    raise _RefusedError(f"lines[{index}]", "contains U+0000")
    encoded = _canonical.encode(item)
    if not isinstance(item, LogItem) and len(encoded) > MAX_JSON_BYTES:
        raise _RefusedError("item", f"larger than {MAX_JSON_BYTES} bytes")
    return CheckedItem(item, hashlib.sha256(encoded).digest())


def _check_storable(where: str, value: dict[str, Any]) -> None:
    for key, field in value.items():
        if not is_storable(key):
            raise _RefusedError(where, "a name contains U+0000")
        if not is_storable(field):
            raise _RefusedError(
                f"{where}.{key[:60]}",
                "contains U+0000, a number that is not finite or one beyond 64 bits",
            )


def _check_samples(item: SamplesItem) -> CheckedItem:
    n = len(item.values)
    counters = tuple(sorted(item.work))
    for field in ("benchmark", "arm", "metric", "params"):
        if not is_storable(getattr(item, field)):
            raise _RefusedError(field, "contains U+0000 or a number beyond 64 bits")
    values = np.frombuffer(_struct("d", n).pack(*item.values), dtype="<f8")
    if not (values.min() >= 0.0 and np.isfinite(values).all()):
        bad = int(np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))[0])
        raise _RefusedError(f"values[{bad}]", "expected a finite number, not negative")
    packed = Packed(
        values=values,
        columns={
            name: _pack_column(name, getattr(item, name), n, column)
            for name, column in COLUMNS.items()
        },
        counters=counters,
        work=b"".join(
            _pack_column(f"work.{name}", item.work[name], n, COUNTS)
            for name in counters
        ),
    )
    for name in COLUMNS:
        setattr(item, name, [])
    item.values, item.work = [], {}
    return CheckedItem(item, _samples_digest(item, packed), packed)


@lru_cache(maxsize=4096)
def _struct(code: str, n: int) -> struct.Struct:
    """Return a struct that packs n numbers; on a list it is twice as fast as numpy."""
    return struct.Struct(f"<{n}{code}")


def _pack_column(name: str, numbers: Sequence[int], n: int, column: Column) -> bytes:
    code, least, most = column.packed_type, column.least, column.most
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
    for column in packed.columns.values():
        digest.update(column)
    digest.update(packed.values.data)
    # An item without counters or side has the digest it had in older versions, whose spools may still be delivered.
    if packed.counters:
        digest.update(_canonical.encode(packed.counters) + packed.work)
    if item.side is not None:
        digest.update(item.side.encode())
    return digest.digest()
