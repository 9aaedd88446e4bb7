"""Returns tables in a requested format, whole or in parts.

A part's end is known before it is sent, so the cursor of the next part is in its header. An interrupted part can be
requested again with the same cursor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy.orm import Session

from paceline_server.jobs import service as jobs
from paceline_server.kernel.errors import invalid_request
from paceline_server.publish.exports import encoders, queries
from paceline_server.publish.exports.queries import ChunkKey, RowFilter
from paceline_server.publish.exports.rows import row_blocks, shape_of_rows
from paceline_server.publish.exports.samples import SAMPLES, sample_blocks
from paceline_server.publish.exports.shapes import (
    Block,
    TableFormat,
    TableName,
    TableShape,
)
from paceline_server.series import service as series
from paceline_server.store.page import decode_cursor, encode_cursor


@dataclass(frozen=True)
class TablePart:
    """A part of a table; `chunks` are read from the store while they are sent. `next`: the cursor of the following
    part, None in the last."""

    filename: str
    chunks: Iterator[bytes]
    next: str | None


def encode_table(
    shape: TableShape, blocks: Iterable[Block], form: TableFormat
) -> Iterator[bytes]:
    """Return an iterator over the pieces of a table in a format."""
    match form:
        case "ndjson":
            return encoders.ndjson(shape, blocks)
        case "csv":
            return encoders.csv(shape, blocks)
        case "parquet":
            # It takes half a second and 60 MB to load, which a server without exports saves.
            from paceline_server.publish.exports import parquet  # noqa: PLC0415

            return parquet.parquet(shape, blocks)


def samples_of_run(
    session: Session,
    run_id: str,
    form: TableFormat,
    *,
    limit: int | None,
    cursor: str | None,
) -> TablePart:
    """Return the samples of a run: all, or whole chunks with at least `limit` samples. Raises 404."""
    run = jobs.get_run(session, run_id)
    after = (
        None if cursor is None else ChunkKey(*decode_cursor(cursor, [str, int, int]))
    )
    last, following = None, None
    if limit is not None:
        last = _end_of_part(session, run_id, after, limit)
        following = None if last is None else encode_cursor(last)
    return TablePart(
        filename=f"samples-{run.id}.{form}",
        chunks=encode_table(SAMPLES, sample_blocks(run_id, after, last), form),
        next=following,
    )


def rows_of_table(
    session: Session,
    name: TableName,
    form: TableFormat,
    wanted: RowFilter,
    *,
    limit: int | None,
    cursor: str | None,
) -> TablePart:
    """Return the rows of a table: all, or `limit` of them. Raises 404 for an unknown run or series, 400 for a filter
    that the table does not have."""
    source = queries.SOURCES[name]
    if wanted.run_id is not None:
        jobs.get_run(session, wanted.run_id)
    if wanted.series_id is not None:
        if source.series is None:
            raise invalid_request(f"{name} are not of a series: leave out `series`")
        series.find(session, wanted.series_id)
    kinds = [key.type.python_type for key in source.keys]
    after = None if cursor is None else decode_cursor(cursor, kinds)
    last = None
    if limit is not None:
        last = queries.end_of_part(session, source, wanted, after, limit)
    return TablePart(
        filename=f"{name}.{form}",
        chunks=encode_table(
            shape_of_rows(name), row_blocks(name, wanted, after, last), form
        ),
        next=None if last is None else encode_cursor(last),
    )


def _end_of_part(
    session: Session, run_id: str, after: ChunkKey | None, limit: int
) -> ChunkKey | None:
    """Return the last chunk of a part with `limit` samples; None if no more chunks follow it."""
    end, samples = None, 0
    for key, n in queries.chunk_sizes(session, run_id, after):
        if samples >= limit:
            return end
        end, samples = key, samples + n
    return None
