"""Defines the declarative base, portable column types and names of constraints.

Timestamps are timezone-aware UTC on both databases. JSON is `jsonb` on PostgreSQL. Sample vectors are `float8[]` on
PostgreSQL and packed little-endian float64 on SQLite.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    JSON,
    ColumnElement,
    DateTime,
    Dialect,
    LargeBinary,
    MetaData,
    TypeDecorator,
)
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, JSONB
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeEngine

from paceline_server.store import vectors


class Base(DeclarativeBase):
    """Base class of all tables."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Timestamp(TypeDecorator[datetime]):
    """A UTC instant; naive values are refused. SQLite stores no time zone, so it is added on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        """The type to which a page's cursor converts a value; TypeDecorator itself returns `object`."""
        return datetime

    def process_bind_param(self, value: datetime | None, _: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("naive datetime: timestamps are stored in UTC with a zone")
        return value.astimezone(UTC)

    def process_result_value(
        self, value: datetime | None, _: Dialect
    ) -> datetime | None:
        if value is None:
            return None
        return (
            value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        )


class FloatVector(TypeDecorator[NDArray[np.float64]]):
    """A vector of float64, shape (n,), n ≤ 1,000, which is read as a numpy array on both databases.

    On PostgreSQL it is sent and read in binary form (`store/vectors.py`), because parsing text would cost more than
    everything else in ingest.
    """

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(ARRAY(DOUBLE_PRECISION))
        return dialect.type_descriptor(LargeBinary())

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        pack = (
            vectors.to_postgresql if dialect.name == "postgresql" else vectors.to_sqlite
        )
        return lambda value: None if value is None else pack(value)

    def result_processor(
        self,
        dialect: Dialect,
        coltype: object,  # noqa: ARG002 - SQLAlchemy passes it
    ) -> Callable[[Any], Any]:
        unpack = (
            vectors.from_postgresql
            if dialect.name == "postgresql"
            else vectors.from_sqlite
        )
        return lambda value: None if value is None else unpack(value)

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        return vectors.WireForm(column, type_=self)


Json = JSON().with_variant(JSONB(), "postgresql")

JsonOrNull = JSON(none_as_null=True).with_variant(
    JSONB(none_as_null=True), "postgresql"
)
"""Stores None as NULL, so that queries can use `IS NULL`; `Json` stores None as JSON's null."""

OrderedJson = JSON()
"""Keeps the order of names, as manifests need; `jsonb` does not. Queries cannot compare it."""
