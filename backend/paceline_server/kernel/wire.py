"""Defines the base classes of all wire shapes, the bodies of requests and responses.

A request is refused if it has an unknown field, a value of another type, or a value that a database cannot store.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Annotated, Any, Generic, Self, TypeVar

from paceline_contract.events import ParamValue
from paceline_contract.params import ParamError, parse_key
from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Strict,
    model_validator,
)

from paceline_server.kernel.errors import invalid_request

Item = TypeVar("Item")

INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ].*")
INSTANT_FORMAT = "an instant as in 2026-11-23T14:00:00Z"
MAX_DEPTH = 128
"""Levels of nested arrays and objects; a manifest has six. Much deeper values exhaust the stack of parsers."""


def _check_instant(value: Any) -> Any:
    if isinstance(value, datetime) or (
        isinstance(value, str) and INSTANT.fullmatch(value)
    ):
        return value
    raise ValueError(f"expected {INSTANT_FORMAT}")


Instant = Annotated[AwareDatetime, BeforeValidator(_check_instant), Strict(False)]
"""An instant in a body, as RFC 3339 text. Numbers, bare dates and times without a zone are refused."""


class Request(BaseModel):
    """The body of a request. Unknown fields are an error, and no value is converted to another type (`0` is not
    false)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unstorable(cls, data: Any) -> Any:
        """Refuse values that PostgreSQL cannot store, so that both databases behave the same."""
        if not is_storable(data):
            raise ValueError(
                "text contains NUL or a lone surrogate, a number is beyond 64 bits or not finite, "
                f"or something is nested deeper than {MAX_DEPTH}"
            )
        return data


def is_storable(value: Any) -> bool:
    """Return whether both databases can store `value` (plain JSON): it has no NUL, lone surrogate or NaN, integers
    fit in 64 bits, and nothing is nested deeper than `MAX_DEPTH`."""
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            return False
        inner: list[Any] = []
        for member in level:
            if isinstance(member, dict):
                if not all(map(_is_storable_scalar, member)):
                    return False
                inner.extend(member.values())
            elif isinstance(member, list):
                inner.extend(member)
            elif not _is_storable_scalar(member):
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
    """The body of a response. Fields with a default are always sent, so the OpenAPI schema marks them as required."""

    model_config = ConfigDict(
        from_attributes=True, json_schema_serialization_defaults_required=True
    )

    @classmethod
    def of_row(cls, row: object, **computed: Any) -> Self:
        """Return the wire shape of a database row: `computed` fields as given, all others by their names."""
        names = cls.model_fields.keys() - computed.keys()
        return cls.model_validate(
            {**{name: getattr(row, name) for name in names}, **computed}
        )


class Page(Response, Generic[Item]):
    """A page of a list; `next` is the opaque cursor of the following page, null on the last."""

    items: list[Item]
    next: str | None


class Problem(Response):
    """An error (RFC 9457 problem details); `code` is the literal that programs compare."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    fields: dict[str, str] | None = None


def params_of_query(text: str, example: str) -> dict[str, ParamValue]:
    """Parse a JSON object of params. Raises 400 with the `example` for anything else."""
    try:
        return parse_key(text)
    except ParamError:
        raise invalid_request(
            f"params: expected a JSON object such as {example}.",
            {"params": "a JSON object"},
        ) from None
