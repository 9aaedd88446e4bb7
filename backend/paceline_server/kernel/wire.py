"""Base classes of every wire shape. Invariant: unknown request fields are refused, timestamps are UTC.

Place in the journey: the edge of HTTP, below every feature's `schemas.py`. Holds no feature knowledge.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Strict,
    model_validator,
)

Item = TypeVar("Item")

INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ].*")
INSTANT_WORDS = "an instant as in 2026-11-23T14:00:00Z"
DEEPEST = 128
"""Arrays and objects in one another; a manifest has six. Deeper ones exhaust the stack of what reads them."""


def _written_instant(value: Any) -> Any:
    if isinstance(value, datetime) or (
        isinstance(value, str) and INSTANT.fullmatch(value)
    ):
        return value
    raise ValueError(f"expected {INSTANT_WORDS}")


Instant = Annotated[AwareDatetime, BeforeValidator(_written_instant), Strict(False)]
"""A time in a body, as RFC 3339 writes it: JSON has no type of its own for one, so it is the one that is
read from text. Numbers, bare dates and times without a zone are refused."""


class Request(BaseModel):
    """A body sent to us: unknown fields are an error, so that a typo never passes silently, and no value is
    bent into the type that is wanted (`0` is not false)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, data: Any) -> Any:
        """Refuse text that PostgreSQL cannot store, so that both databases answer alike."""
        if not is_storable(data):
            raise ValueError(
                "text contains NUL or a lone surrogate, a number is beyond 64 bits or not finite, "
                f"or something is nested deeper than {DEEPEST}"
            )
        return data


def is_storable(value: Any) -> bool:
    """Whether both databases can store `value` (plain JSON): no NUL, no lone surrogate, no NaN, |int| <
    2^63, and nothing nested deeper than `DEEPEST`."""
    level, depth = [value], 0
    while level:
        if depth > DEEPEST:
            return False
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                if not all(map(_is_storable_scalar, each)):
                    return False
                inner.extend(each.values())
            elif isinstance(each, list):
                inner.extend(each)
            elif not _is_storable_scalar(each):
                return False
        level, depth = inner, depth + 1
    return True


def _is_storable_scalar(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" not in value and not _has_surrogate(value)
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class Response(BaseModel):
    """A body sent by us. What has a default is still always sent, and the contract says so."""

    model_config = ConfigDict(
        from_attributes=True, json_schema_serialization_defaults_required=True
    )

    @classmethod
    def of_row(cls, row: object, **computed: Any) -> Self:
        """The wire shape of a database row: `computed` fields as given, all others by their names."""
        names = cls.model_fields.keys() - computed.keys()
        return cls.model_validate(
            {**{name: getattr(row, name) for name in names}, **computed}
        )


class Page(Response, Generic[Item]):
    """One keyset page; `next` is the opaque cursor of the following page, null on the last."""

    items: list[Item]
    next: str | None


class Problem(Response):
    """RFC 9457 problem details; `code` is the literal a program switches on."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    fields: dict[str, str] | None = None
