"""Reads alerts, comparisons, conditions, findings and points as exported tables.

Like samples, they are read in pages, each in its own transaction.
"""

from __future__ import annotations

from collections.abc import Iterator

from paceline_server.publish.exports import queries
from paceline_server.publish.exports.queries import SOURCES, Key, RowFilter
from paceline_server.publish.exports.shapes import Block, Column, TableShape, kind_of
from paceline_server.store.session import read_scope

ROWS_AT_ONCE = 500
UNITS = {"at_ms": "ms", "ratio": "1", "share_slower": "1"}
"""Units of columns whose numbers have the same unit in all rows; `value` has the unit that its row names."""


def shape_of_rows(name: str) -> TableShape:
    """Return the columns of a table."""
    return TableShape(
        name,
        tuple(
            Column(
                column.key,
                "json_label" if column.key == "params" else kind_of(column.type),
                UNITS.get(column.key),
            )
            for column in SOURCES[name].columns
        ),
    )


def row_blocks(
    name: str, wanted: RowFilter, after: Key | None = None, last: Key | None = None
) -> Iterator[Block]:
    """Yield the rows of a table after a key, up to and including another."""
    source, shape = SOURCES[name], shape_of_rows(name)
    width = len(source.keys)
    while True:
        with read_scope() as session:
            rows = queries.source_rows(
                session, source, wanted, after, last, limit=ROWS_AT_ONCE
            )
        if rows:
            after = rows[-1][:width]
            yield Block.of_rows(shape, [row[width:] for row in rows])
        if len(rows) < ROWS_AT_ONCE:
            return
