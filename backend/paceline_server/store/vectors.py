"""Encodes float vectors for `store.base.FloatVector`; they are read back bit for bit.

SQLite gets packed little-endian float64. PostgreSQL gets its binary form of `float8[]` (`array_send` in
src/backend/utils/adt/arrayfuncs.c), all big-endian: int32 dimensions, int32 has-null flag, uint32 element type; per
dimension int32 length and int32 lower bound; per element int32 length and the value.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.adapt import Dumper
from psycopg.pq import Format
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

FLOAT8_OID = 701
FLOAT8_ARRAY_OID = 1022
HEADER = struct.Struct(">iiIii")
ELEMENT = np.dtype([("length", ">i4"), ("value", ">f8")])


class BinaryArray(bytes):
    """A float8[] in PostgreSQL's binary form."""


class _BinaryArrayDumper(Dumper):
    format = Format.BINARY
    oid = FLOAT8_ARRAY_OID

    def dump(self, obj: bytes) -> bytes:
        return bytes(obj)


psycopg.adapters.register_dumper(BinaryArray, _BinaryArrayDumper)


def to_postgresql(values: Any) -> BinaryArray:
    """Return PostgreSQL's binary form of a vector."""
    vector = np.asarray(values, dtype=np.float64)
    elements = np.empty(len(vector), dtype=ELEMENT)
    elements["length"] = 8
    elements["value"] = vector
    return BinaryArray(
        HEADER.pack(1, 0, FLOAT8_OID, len(vector), 1) + elements.tobytes()
    )


def from_postgresql(array: Any) -> NDArray[np.float64]:
    """Return the vector in the result of `array_send`."""
    raw = bytes(array)
    if len(raw) <= 12:  # An empty array has no dimension.
        return np.empty(0, dtype=np.float64)
    elements = np.frombuffer(raw, dtype=ELEMENT, offset=HEADER.size)
    return elements["value"].astype(np.float64)


def to_sqlite(values: Any) -> bytes:
    """Return a vector as packed little-endian bytes."""
    return np.asarray(values, dtype="<f8").tobytes()


def from_sqlite(packed: Any) -> NDArray[np.float64]:
    """Return the vector in packed bytes."""
    return np.frombuffer(packed, dtype="<f8").astype(np.float64)


class WireForm(FunctionElement[Any]):
    """A vector column in the form in which a query returns it: binary on PostgreSQL, unchanged on SQLite."""

    name = "wire_form"
    inherit_cache = True

    def __init__(self, *clauses: Any, type_: Any) -> None:
        super().__init__(*clauses)
        self.type = type_


@compiles(WireForm)
def _unchanged(element: WireForm, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(WireForm, "postgresql")
def _binary(element: WireForm, compiler: SQLCompiler, **options: Any) -> str:
    return f"array_send({compiler.process(element.clauses, **options)})"
