"""The declarative base, portable column types and naming of constraints.

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
    """Every table of Paceline."""

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
    """UTC instants. SQLite forgets time zones, so they are put back on reading; naive values are refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        """What cursors of pages hold (a TypeDecorator alone would say `object`)."""
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
    """A vector of float64, shape (n,), n ≤ 1,000. Read back as a numpy array on both databases.

    On PostgreSQL it travels as the array's binary form both ways (see `store/vectors.py`): as text, parsing
    alone would cost more than everything else ingest does.
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
        return vectors.sent(column, type_=self)


Json = JSON().with_variant(JSONB(), "postgresql")

JsonOrNull = JSON(none_as_null=True).with_variant(
    JSONB(none_as_null=True), "postgresql"
)
"""For columns asked `IS NULL`: None is no value here, where `Json` keeps it as JSON's null."""

OrderedJson = JSON()
"""Keeps the order of names, which `jsonb` does not: for manifests. Cannot be compared."""
