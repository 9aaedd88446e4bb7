"""The formats of exported tables."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

TableName = Literal["alerts", "comparisons", "conditions", "findings", "points"]
TableFormat = Literal["ndjson", "csv", "parquet"]
MEDIA_TYPES: Mapping[TableFormat, str] = MappingProxyType(
    {
        "ndjson": "application/x-ndjson",
        "csv": "text/csv; charset=utf-8",
        "parquet": "application/vnd.apache.parquet",
    }
)
