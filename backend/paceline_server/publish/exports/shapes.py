"""Describes exported tables: their formats, typed columns with their units, and blocks of rows.

A stored chunk has up to 1,000 samples of the same case. A block holds the values they share only once, which makes
encoding fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from numpy.typing import NDArray
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

TableName = Literal["alerts", "comparisons", "conditions", "findings", "points"]
TableFormat = Literal["ndjson", "csv", "parquet"]
MEDIA_TYPES: Mapping[TableFormat, str] = MappingProxyType(
    {
        "ndjson": "application/x-ndjson",
        "csv": "text/csv; charset=utf-8",
        "parquet": "application/vnd.apache.parquet",
    }
)


Kind = Literal[
    "label",
    "text",
    "int32",
    "int64",
    "real",
    "flag",
    "instant",
    "counts",
    "json",
    "json_label",
    "bytes",
]
"""Kinds of columns. `label`: text with few different values, dictionary-encoded in Parquet. `counts`: whole numbers by
name. `json`: any JSON, as text in CSV and Parquet; `json_label`: JSON with few different values. `bytes`: in
hexadecimal digits in NDJSON and CSV."""
LABELS = ("label", "json_label")


@dataclass(frozen=True)
class Column:
    """A column; `unit`: the unit of its numbers, if all have the same."""

    name: str
    kind: Kind
    unit: str | None = None


@dataclass(frozen=True)
class TableShape:
    """The columns of a table, in order."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Block:
    """`n` rows of a table. Each column is either in `shared`, with one value for all rows, or in `varying`, with `n`
    values: a numpy array of shape (n,) or another sequence."""

    n: int
    shared: Mapping[str, Any]
    varying: Mapping[str, Sequence[Any] | NDArray[Any]]

    @classmethod
    def of_rows(cls, shape: TableShape, rows: Sequence[Sequence[Any]]) -> Block:
        """Return a block of rows whose values are in the order of the columns."""
        columns = zip(*rows, strict=True) if rows else ((),) * len(shape.columns)
        names = (column.name for column in shape.columns)
        return cls(len(rows), {}, dict(zip(names, columns, strict=True)))


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
    """Return the kind of a stored column. Raises TypeError for a type that exports do not know."""
    plain = stored.impl_instance if isinstance(stored, TypeDecorator) else stored
    for known, kind in _KINDS:
        if isinstance(plain, known):
            return kind
    raise TypeError(f"an export knows no column of type {stored!r}")
