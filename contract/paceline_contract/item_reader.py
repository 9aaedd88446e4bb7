"""Reads a body of uploaded items and names the item and field that is wrong.

Two things are left to ingest, which passes over the data anyway: the lengths and ranges of packed columns, and values
that a database cannot store.
"""

from __future__ import annotations

import msgspec

from paceline_contract.events import (
    EventError,
    StartEvent,
    event_type,
    parse_event,
)
from paceline_contract.items import AnyItem, EventItem, Items


class NotJsonError(Exception):
    """The body cannot be decoded at all."""


class ItemError(Exception):
    """An item that is refused: `index` is its place in the body, `seq` its number if one could be read."""

    def __init__(
        self, index: int | None, seq: int | None, field: str, detail: str
    ) -> None:
        self.index = index
        self.seq = seq
        self.field = field
        self.detail = detail
        super().__init__(f"item {index} (seq {seq}): {field}: {detail}")


_decoder = msgspec.json.Decoder(Items)


def read_items(raw: bytes) -> list[AnyItem]:
    """Return the items of a JSON body. Raises `NotJsonError` or `ItemError`."""
    try:
        items = _decoder.decode(raw).items
    except msgspec.ValidationError as error:
        raise _locate_error(raw, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotJsonError(
            f"The body is not JSON in UTF-8: {str(error)[:200]}."
        ) from None
    except RecursionError:
        raise NotJsonError("The body is nested too deeply.") from None
    for index, item in enumerate(items):
        refused = _refused_event(item) if isinstance(item, EventItem) else None
        if refused is not None:
            raise ItemError(index, item.seq, *refused)
    return items


def _refused_event(item: EventItem) -> tuple[str, str] | None:
    """Return (field, why) if the item holds no event of the bench stream, or one that has an item kind of its own."""
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
        return where, f"{error.code}: {error.detail}"
    except RecursionError:
        return "item", "nested too deeply"
    return None


def _locate_error(raw: bytes, message: str) -> ItemError:
    """Turn msgspec's "… - at `$.items[3].values[7]`" into the item's index, seq and field."""
    text, _, place = message.partition(" - at ")
    path = place.rpartition("`$")[2].rstrip("`")
    head, _, rest = path.partition("]")
    digits = head.removeprefix(".items[")
    if not digits.isdigit():
        return ItemError(None, None, path.lstrip(".") or "body", text)
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
    number = seq if isinstance(seq, int) and not isinstance(seq, bool) else None
    return ItemError(index, number, rest.lstrip(".") or "item", text)
