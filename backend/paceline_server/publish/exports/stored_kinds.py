"""Tells the kind of an exported column from the type of the stored one."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    String,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from paceline_server.publish.exports.shapes import Kind

_KINDS: tuple[tuple[type[TypeEngine[Any]], Kind], ...] = (
    (JSON, "json"),
    (Boolean, "flag"),
    (BigInteger, "int64"),
    (Integer, "int64"),
    (Float, "real"),
    (DateTime, "instant"),
    (String, "label"),
    (LargeBinary, "bytes"),
)


def kind_of(stored: TypeEngine[Any]) -> Kind:
    """The kind of a stored column. Raises TypeError for one that exports do not know."""
    plain = stored.impl_instance if isinstance(stored, TypeDecorator) else stored
    for known, kind in _KINDS:
        if isinstance(plain, known):
            return kind
    raise TypeError(f"an export knows no column of type {stored!r}")
