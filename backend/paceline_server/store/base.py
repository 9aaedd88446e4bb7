"""The declarative base, portable column types and naming of constraints.

Place: under every table. Invariant: timestamps are timezone-aware UTC on both databases; JSON is `jsonb` on
PostgreSQL; sample vectors are `float8[]` on PostgreSQL and packed little-endian float64 on SQLite.
Deliberately holds no queries and opens no sessions (`session.py`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import JSON, DateTime, Dialect, LargeBinary, MetaData, TypeDecorator
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, JSONB
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeEngine


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

    def process_bind_param(self, value: datetime | None, _: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("naive datetime: timestamps are stored in UTC with a zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class FloatVector(TypeDecorator[NDArray[np.float64]]):
    """A vector of float64, shape (n,), n ≤ 1,000. Read back as a numpy array on both databases."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(ARRAY(DOUBLE_PRECISION))
        return dialect.type_descriptor(LargeBinary())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if value is None:
            return None
        if dialect.name == "postgresql":
            return value.tolist() if isinstance(value, np.ndarray) else list(value)
        return np.asarray(value, dtype="<f8").tobytes()

    def process_result_value(self, value: Any, _: Dialect) -> NDArray[np.float64] | None:
        if value is None:
            return None
        if isinstance(value, (bytes, memoryview)):
            return np.frombuffer(value, dtype="<f8").astype(np.float64)
        return np.asarray(value, dtype=np.float64)


Json = JSON().with_variant(JSONB(), "postgresql")
