"""Encodes blocks of rows as one Parquet file while they are read.

Each row group is sent as soon as it is encoded, so that memory does not grow with the table. Units and the table's name
are in the metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paceline_server.publish.exports.shapes import (
    LABELS,
    Block,
    Column,
    TableShape,
)

ROW_GROUP_ROWS = 131_072
"""Rows of a row group: about 10 MiB of samples before compression. Readers skip and parallelise by row group."""
ROW_GROUP_BLOCKS = 1_024
"""Maximum blocks of a row group, because each column of a block takes some hundred bytes besides its values."""
MAX_GROUP_ROWS = 2 * ROW_GROUP_ROWS
"""More rows than any group has, so that pyarrow never splits a group."""
COMPRESSION = "zstd"
LABEL = pa.dictionary(pa.int32(), pa.string())
TYPES = {
    "label": LABEL,
    "json_label": LABEL,
    "text": pa.string(),
    "json": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "real": pa.float64(),
    "flag": pa.bool_(),
    "instant": pa.timestamp("us", tz="UTC"),
    "bytes": pa.binary(),
    "counts": pa.map_(pa.string(), pa.int64()),
}


def schema_of(shape: TableShape) -> Any:
    """Return the Arrow schema, with `unit` in the metadata of the columns that have one."""
    fields = [
        pa.field(
            column.name,
            TYPES[column.kind],
            metadata={"unit": column.unit} if column.unit else None,
        )
        for column in shape.columns
    ]
    return pa.schema(fields, metadata={"paceline.table": shape.name})


def parquet(shape: TableShape, blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield the bytes of a file, a row group at a time."""
    schema, sink = schema_of(shape), _Sink()
    labels = [column.name for column in shape.columns if column.kind in LABELS]
    with pq.ParquetWriter(
        sink, schema, compression=COMPRESSION, use_dictionary=labels
    ) as writer:
        for group in _group(blocks):
            writer.write_table(_table(schema, shape, group), MAX_GROUP_ROWS)
            group.clear()  # The memory is freed before the next group is read.
            yield sink.take()
    yield sink.take()


def _group(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    group: list[Block] = []
    rows = 0
    for block in blocks:
        group.append(block)
        rows += block.n
        if rows >= ROW_GROUP_ROWS or len(group) >= ROW_GROUP_BLOCKS:
            yield group
            group, rows = [], 0
    if group:
        yield group


def _table(schema: Any, shape: TableShape, group: Sequence[Block]) -> Any:
    table = pa.Table.from_batches([_batch(schema, shape, block) for block in group])
    # A column chunk whose dictionary changes would be written without a dictionary.
    return table.unify_dictionaries()


def _batch(schema: Any, shape: TableShape, block: Block) -> Any:
    arrays = [
        _shared_array(column, block.shared[column.name], block.n)
        if column.name in block.shared
        else _varying_array(column, block.varying[column.name])
        for column in shape.columns
    ]
    return pa.record_batch(arrays, schema=schema)


def _shared_array(column: Column, value: Any, n: int) -> Any:
    if value is None:
        return pa.nulls(n, TYPES[column.kind])
    if column.kind in LABELS:
        return pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(n, np.int32)), pa.array([_text(value)])
        )
    return pa.repeat(pa.scalar(_arrow_value(column, value), TYPES[column.kind]), n)


def _varying_array(column: Column, values: Sequence[Any] | NDArray[Any]) -> Any:
    if column.kind in ("json", "counts", *LABELS):
        converted = [_arrow_value(column, value) for value in values]
        if column.kind in LABELS:
            return pa.array(converted, pa.string()).dictionary_encode()
        return pa.array(converted, TYPES[column.kind])
    return pa.array(values, TYPES[column.kind])


def _arrow_value(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.kind == "counts":
        return list(value.items())
    return _text(value) if column.kind in ("json", *LABELS) else value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class _Sink:
    """A file object that holds written bytes until they are taken."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._written = 0

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._written += len(part)
        return len(part)

    def tell(self) -> int:
        return self._written

    def take(self) -> bytes:
        """Return the bytes that were written since the last call."""
        written = b"".join(self._parts)
        self._parts.clear()
        return written

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def flush(self) -> None:
        """Do nothing, because nothing is buffered elsewhere."""

    def close(self) -> None:
        """Do nothing, because the bytes stay until they are taken."""
