"""Encodes blocks of rows as NDJSON and CSV.

Values that all rows of a block share are encoded once into a template, which is then filled in for each row. A
spreadsheet would run a text that begins like a formula, so CSV puts an apostrophe before it; NDJSON and Parquet keep
texts as they are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

import numpy as np

from paceline_server.publish.exports.shapes import Block, Column, TableShape

FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r")
"""Characters at the beginning of a text that make a spreadsheet read it as a formula (OWASP, CSV injection)."""
NUMBERS = ("int32", "int64", "real")
Encode = Callable[[Any], str]


def ndjson(shape: TableShape, blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield a JSON object per row and line."""
    for block in blocks:
        yield _encode_block(
            shape,
            block,
            lambda column: _json_text if column.kind != "real" else _json_real,
            lambda column: f"{json.dumps(column.name)}:",
            ("{", ",", "}\n"),
        )


def csv(shape: TableShape, blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield CSV (RFC 4180) with a header; null is an empty cell."""
    yield (",".join(column.name for column in shape.columns) + "\r\n").encode()
    for block in blocks:
        yield _encode_block(
            shape, block, _cell_encoder, lambda _: "", ("", ",", "\r\n")
        )


def _encode_block(
    shape: TableShape,
    block: Block,
    encoder: Callable[[Column], Encode],
    label: Callable[[Column], str],
    around: tuple[str, str, str],
) -> bytes:
    begin, between, end = around
    cells, varying = [], []
    for column in shape.columns:
        encode = encoder(column)
        if column.name in block.shared:
            text = encode(block.shared[column.name]).replace("%", "%%")
        else:
            text = "%s"
            varying.append(_texts(block.varying[column.name], encode))
        cells.append(label(column).replace("%", "%%") + text)
    template = begin + between.join(cells) + end
    if not varying:
        return (template % () * block.n).encode()
    return "".join([template % row for row in zip(*varying, strict=True)]).encode()


def _texts(values: Any, encode: Encode) -> Any:
    """Return the values to fill in. Whole numbers are left as they are, because Python writes them as JSON does."""
    if isinstance(values, np.ndarray):
        plain = values.tolist()
        return plain if values.dtype.kind == "i" else list(map(encode, plain))
    return list(map(encode, values))


def _json_text(value: Any) -> str:
    if isinstance(value, datetime):
        value = value.isoformat()
    if isinstance(value, bytes):
        value = value.hex()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _json_real(value: float | None) -> str:
    """Return a number in JSON; null if it is not finite, which JSON cannot express."""
    return "null" if value is None or not math.isfinite(value) else repr(float(value))


def _cell_encoder(column: Column) -> Encode:
    if column.kind == "real":
        return lambda value: "" if value is None else repr(float(value))
    if column.kind in NUMBERS:
        return lambda value: "" if value is None else str(value)
    if column.kind == "flag":
        return lambda value: "" if value is None else str(value).lower()
    if column.kind in ("json", "json_label", "counts"):
        return lambda value: "" if value is None else _quoted(_json_text(value))
    if column.kind == "bytes":
        return lambda value: "" if value is None else value.hex()
    return lambda value: "" if value is None else _quoted(_defuse_formula(value))


def _defuse_formula(value: str | datetime) -> str:
    text = value.isoformat() if isinstance(value, datetime) else value
    return f"'{text}" if text.startswith(FORMULA_BEGINS) else text


def _quoted(text: str) -> str:
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
