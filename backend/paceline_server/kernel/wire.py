"""Base classes of every wire shape. Invariant: unknown request fields are refused, timestamps are UTC.

Place in the journey: the edge of HTTP, below every feature's `schemas.py`. Holds no feature knowledge.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

Item = TypeVar("Item")


class Request(BaseModel):
    """A body sent to us: unknown fields are an error, so that a typo never passes silently."""

    model_config = ConfigDict(extra="forbid")


class Response(BaseModel):
    """A body sent by us."""

    model_config = ConfigDict(from_attributes=True)


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
