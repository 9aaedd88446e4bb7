"""Parses what the outputs of several tools have in common: JSON documents, figures and units of time."""

from __future__ import annotations

import json
import math
import re
import reprlib
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, TypeVar

import msgspec

from paceline_contract.events import INT64_MAX
from paceline_contract.results import (
    MAX_BYTES,
    ResultError,
    Sample,
    find_depth,
)
from paceline_contract.units import NS_PER

LEAST_RATE = 1000
"""Rates below this, in whole units, would lose digits."""
T = TypeVar("T")
_ZIP: Final = b"PK\x03\x04"
CLOCK_TOLERANCE: Final = timedelta(days=1)
"""Times may be so far ahead of ours: hosts' clocks differ, and their zones."""
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")


def check_document(data: bytes, tool: str) -> None:
    """Raise ResultError for more than is read, and for an archive."""
    if len(data) > MAX_BYTES:
        raise ResultError(
            f"the results of {tool} have {len(data):,} bytes: expected at most {MAX_BYTES:,}"
        )
    if data.startswith(_ZIP):
        raise ResultError(
            f"the results of {tool} are in a zip archive: unpack it and give its files",
            0.0,
        )


def read_document(data: bytes, tool: str, shape: type[T]) -> T:
    """Return a tool's JSON as `shape`. Raises ResultError. Numbers may be NaN, which many tools write."""
    check_document(data, tool)
    try:
        # Python alone would read half of a pair, which no UTF-8 can hold, as bytes and as an escape.
        text = data.decode(json.detect_encoding(data))
        document = json.loads(text)
        if "\\u" in text:
            json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        place = getattr(error, "pos", 0)
        raise ResultError(
            f"the results of {tool} are not JSON: {error}", place / (len(data) + 1)
        ) from error
    try:
        return msgspec.convert(document, shape)
    except msgspec.ValidationError as error:
        raise ResultError(
            f"the results of {tool} have an unexpected form: {error}",
            find_depth(error),
        ) from error


def find_commit(text: str | None) -> str | None:
    """Return the commit in a text; None where a tool says something else instead of one."""
    return text if text is not None and _COMMIT.fullmatch(text) else None


def read_time(text: str | None, zone: tzinfo | None = None) -> datetime | None:
    """Return the time in a text of ISO 8601, in `zone` if it states none; None where the text or the zone says no time.
    Raises ResultError for a time in the future."""
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    if at.tzinfo is None:
        if zone is None:
            return None
        at = at.replace(tzinfo=zone)
    _refuse_future(at)
    return at


def read_milliseconds(value: int, where: str) -> datetime:
    """Return the time so many milliseconds after 1970. Raises ResultError, which says `where`, for a time in the future
    or beyond every calendar."""
    try:
        at = datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise ResultError(
            f"{where}: expected milliseconds since 1970, found {value}"
        ) from None
    _refuse_future(at)
    return at


def _refuse_future(at: datetime) -> None:
    if at > datetime.now(UTC) + CLOCK_TOLERANCE:
        raise ResultError(
            f"its time {at.isoformat()} is in the future: set the clock that wrote it, and correct the file"
        )


def ns_per(unit: str, where: str) -> float:
    """Return the nanoseconds of a unit of time. Raises ResultError, which says `where`."""
    if unit not in NS_PER:
        raise ResultError(
            f"{where}: expected a unit of time ({', '.join(NS_PER)}), found {unit!r}"
        )
    return NS_PER[unit]


def read_sample(
    figure: object, iterations: int, where: str, scale: float = 1
) -> Sample:
    """Return the sample of a figure per iteration, in units of which the metric's is `scale` times as small. Raises
    ResultError, which says `where`, for what is no figure."""
    total = _multiply(figure, scale, iterations, where)
    if total is None or iterations < 1:
        raise ResultError(
            f"{where}: expected a figure from 0, found {figure} over {iterations} iterations"
        )
    return Sample(iterations, round(total))


def read_figure(figure: object, where: str, scale: float = 1) -> float:
    """Return a figure that is no total, in units of which its own is `scale` times as large. Raises ResultError, which
    says `where`, for what is no figure."""
    value = _multiply(figure, scale, 1, where)
    if value is None:
        raise ResultError(f"{where}: expected a figure from 0, found {figure}")
    return float(value)


def _multiply(
    figure: object, scale: float, iterations: int, where: str
) -> float | None:
    """Return the product; None where it is beyond what a sample holds."""
    if isinstance(figure, bool) or not isinstance(figure, int | float):
        found = reprlib.repr(figure)
        raise ResultError(f"{where}: expected a number, found {found}")
    try:
        product = figure * scale * iterations
        is_figure = math.isfinite(product) and 0 <= product <= INT64_MAX
    except OverflowError:
        return None
    return product if is_figure else None
