"""Base classes of every wire shape. Invariant: unknown request fields are refused, timestamps are UTC.

Place in the journey: the edge of HTTP, below every feature's `schemas.py`. Holds no feature knowledge.
"""

from __future__ import annotations

import math
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

Item = TypeVar("Item")


class Request(BaseModel):
    """A body sent to us: unknown fields are an error, so that a typo never passes silently."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, data: Any) -> Any:
        """Refuse text that PostgreSQL cannot store, so that both databases answer alike."""
        if not is_storable(data):
            raise ValueError(
                "text contains NUL or a lone surrogate, or a number beyond 64 bits or not finite"
            )
        return data


def is_storable(value: Any) -> bool:
    """Whether both databases can store `value` (plain JSON): no NUL, no lone surrogate, no NaN, |int| <
    2^63."""
    if isinstance(value, str):
        return "\x00" not in value and not _has_surrogate(value)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if isinstance(value, dict):
        return all(is_storable(key) and is_storable(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(is_storable, value))
    return True


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class Response(BaseModel):
    """A body sent by us. What has a default is still always sent, and the contract says so."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)


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
