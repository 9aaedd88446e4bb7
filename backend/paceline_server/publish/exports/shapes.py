"""Describes exported tables: typed columns with their units, and blocks of rows.

Stored chunks hold up to 1,000 samples of the same case. A block keeps what they share once, which is what makes
encoding them fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

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
"""`label`: a text of few different values, dictionary-encoded in Parquet. `counts`: whole numbers by name. `json`:
any JSON, as text in CSV and Parquet; `json_label`: of few different values. `bytes`: in
hexadecimal digits in NDJSON and CSV."""
LABELS = ("label", "json_label")


@dataclass(frozen=True)
class Column:
    """A column; `unit`: of its numbers, where all of them have the same."""

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
    """Some rows of a table. Each column is in `shared`, with one value for all rows, or in `varying`, with `n`: a numpy
    array of shape (n,), or any sequence."""

    n: int
    shared: Mapping[str, Any]
    varying: Mapping[str, Sequence[Any] | NDArray[Any]]

    @classmethod
    def of_rows(cls, shape: TableShape, rows: Sequence[Sequence[Any]]) -> Block:
        """A block of rows whose values are in the order of the columns."""
        columns = zip(*rows, strict=True) if rows else ((),) * len(shape.columns)
        names = (column.name for column in shape.columns)
        return cls(len(rows), {}, dict(zip(names, columns, strict=True)))
