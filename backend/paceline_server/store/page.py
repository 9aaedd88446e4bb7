"""Pages through rows: a cursor is the sort key of the last row, so that inserts make pages neither repeat nor skip
rows.

A cursor is opaque, holds nothing secret and grants nothing, because every page applies filters and permissions again.
An invalid one, or one of another project, is a 400.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi import Query
from sqlalchemy import ColumnElement, Select, bindparam, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from paceline_server.kernel.errors import invalid_request
from paceline_server.kernel.wire import Instant, Page, is_storable
from paceline_server.store import access

Row = TypeVar("Row")
Shape = TypeVar("Shape")
Key = Sequence[str | int | datetime]

Limit = Annotated[int, Query(ge=1, le=200)]
"""Declare as `limit: Limit = 50`."""
Cursor = Annotated[str | None, Query(max_length=500)]
"""Declare as `cursor: Cursor = None`."""
From = Annotated[Instant | None, Query(alias="from")]
"""Declare as `since: From = None`: the first instant of a period, included."""
Before = Annotated[Instant | None, Query(alias="to")]
"""Declare as `until: Before = None`: the end of a period, not included."""


def encode_cursor(key: Key) -> str:
    """Return an opaque cursor for a sort key, which is valid only in the project of the request."""
    parts = [
        access.current().project or "",
        *(
            {"at": part.isoformat()} if isinstance(part, datetime) else part
            for part in key
        ),
    ]
    return (
        base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode())
        .decode()
        .rstrip("=")
    )


def decode_cursor(cursor: str, like: Sequence[type]) -> list[Any]:
    """Return the sort key in a cursor. Raises 400 `invalid_request` unless its parts have the types `like`."""
    try:
        raw = json.loads(
            base64.b64decode(
                cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True
            )
        )
        project, *key = [
            datetime.fromisoformat(part["at"]) if isinstance(part, dict) else part
            for part in raw
        ]
    except (ValueError, TypeError, KeyError, binascii.Error, RecursionError):
        raise invalid_request(
            "The cursor is not one of ours; start again without it."
        ) from None
    matches = (
        project == (access.current().project or "")
        and len(key) == len(like)
        and all(type(part) is kind for part, kind in zip(key, like, strict=False))
    )
    if not matches or not all(_is_bindable(part) for part in key):
        raise invalid_request(
            "The cursor belongs to another list; start again without it."
        )
    return key


def _is_bindable(part: object) -> bool:
    """Return whether the value can be a parameter of a statement."""
    if isinstance(part, datetime):
        return part.tzinfo is not None
    return is_storable(part)


def page(
    session: Session,
    query: Select[Any],
    keys: Sequence[InstrumentedAttribute[Any] | ColumnElement[Any]],
    key_of: Callable[[Any], Key],
    shape: Callable[[Any], Shape],
    *,
    limit: int,
    cursor: str | None,
    descending: bool = True,
) -> Page[Shape]:
    """Return a page of a query for one entity.

    `keys` are the sort columns, the last of them unique, all in the same direction; `key_of(row)` gives their values.
    """
    if cursor is not None:
        after = decode_cursor(cursor, [column.type.python_type for column in keys])
        # Parameters have the type of their column, because SQLite compares instants as text.
        bound = [
            bindparam(None, value, type_=column.type)
            for column, value in zip(keys, after, strict=True)
        ]
        query = query.where(
            tuple_(*keys) < tuple_(*bound)
            if descending
            else tuple_(*keys) > tuple_(*bound)
        )
    order = [column.desc() if descending else column.asc() for column in keys]
    rows = list(session.scalars(query.order_by(*order).limit(limit + 1)))
    more = len(rows) > limit
    rows = rows[:limit]
    return Page(
        items=[shape(row) for row in rows],
        next=encode_cursor(key_of(rows[-1])) if more else None,
    )
