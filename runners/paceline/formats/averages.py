"""Pairs the averages that a log holds: a line that names the device, then one average per batch size and arm.

Any suite can declare such lines: a header has the fields `device` and `api`, an average `batch`, `arm` and `avg`.
A row compares two averages of one session. That is not a verdict, because there are no samples and the order of
measuring is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil, floor

import msgspec
from paceline_contract.items import PrintedNumber

from paceline.formats.declared import LogRecord, count_of, quantity_of
from paceline.formats.templates import MismatchError, Template

REFERENCE = "fallback"
SHARE_DIGITS = 10**4
"""Shares are given to a hundredth of a percent, their interval rounded outwards."""
INSUFFICIENT = "insufficient: no samples, only an average over batches nobody counted"

_HEADING = Template("{name:text} (API {api:count})")
_NOTE = re.compile(r"^(.{1,200}?\(API \d{1,4}\))[ \t]*(.{0,200})$", re.ASCII)
_ROUNDS = re.compile(r"warm-up \((\d{1,6}) rounds?\)", re.ASCII)
_NONE = re.compile(r"\b(?:no|without|bez) warm-up\b")
"""Words for "none" in headings in English and Polish."""


class SessionHeading(msgspec.Struct, frozen=True):
    """A heading that a person wrote above a session: the device's name and, optionally, the warm-up."""

    name: str
    api: int
    note: str
    warmup_rounds: int | None


class AverageRow(msgspec.Struct, frozen=True):
    """One batch size of one session: both averages and their difference.

    `share`: arm ÷ fallback − 1, above 0 where the arm is slower; `low` and `high`: what rounding leaves open.
    """

    arm: str
    batch: int
    average: PrintedNumber
    fallback: PrintedNumber
    lines: tuple[int, int]
    difference_ns: int
    share: float
    low: float
    high: float
    words: str
    comparison: str = INSUFFICIENT


class AverageSession(msgspec.Struct, frozen=True):
    """One printed run of the benchmark. `unpaired`: lines with averages that lack the other arm."""

    line: int | None
    device: str | None
    api: int | None
    heading: SessionHeading | None
    rows: list[AverageRow]
    unpaired: list[int]


def parse_heading(text: str) -> SessionHeading | None:
    """Parse a line such as `Xiaomi 13T Pro (API 35) - warm-up (1 round)`; None for other lines."""
    match = _NOTE.match(text.strip())
    if match is None:
        return None
    try:
        fields = _HEADING.read(match.group(1))
    except MismatchError:
        return None
    note = match.group(2).strip().lstrip("-\u2013\u2014: ")
    rounds = _ROUNDS.search(note)
    warmup = (
        int(rounds.group(1))
        if rounds is not None
        else 0
        if _NONE.search(note)
        else None
    )
    return SessionHeading(str(fields["name"]), count_of(fields, "api"), note, warmup)


def pair_averages(
    records: Iterable[LogRecord], headings: Mapping[int, SessionHeading]
) -> list[AverageSession]:
    """Split the records at each header and pair the averages of each part. `headings` are keyed by the number of the
    line below them."""
    parts: list[tuple[LogRecord | None, list[LogRecord]]] = []
    for record in records:
        if _is_header(record):
            parts.append((record, []))
        elif _is_average(record):
            if not parts:
                parts.append((None, []))
            parts[-1][1].append(record)
    return [_make_session(header, averages, headings) for header, averages in parts]


def _is_header(record: LogRecord) -> bool:
    device, api = record.fields.get("device"), record.fields.get("api")
    return isinstance(device, str) and isinstance(api, int)


def _is_average(record: LogRecord) -> bool:
    batch, arm, average = map(record.fields.get, ("batch", "arm", "avg"))
    return (
        isinstance(batch, int)
        and isinstance(arm, str)
        and isinstance(average, PrintedNumber)
    )


def _make_session(
    header: LogRecord | None,
    averages: list[LogRecord],
    headings: Mapping[int, SessionHeading],
) -> AverageSession:
    rows: list[AverageRow] = []
    records_by_key: dict[tuple[int, str], LogRecord] = {}
    for record in averages:
        batch, arm = count_of(record.fields, "batch"), str(record.fields["arm"])
        reference = records_by_key.get((batch, REFERENCE))
        if arm == REFERENCE:
            records_by_key[batch, arm] = record
            for key in [
                key for key in records_by_key if key[0] == batch and key[1] != REFERENCE
            ]:
                rows.append(_make_row(records_by_key.pop(key), record))
        elif reference is not None:
            rows.append(_make_row(record, reference))
        else:
            records_by_key[batch, arm] = record
    used = {line for row in rows for line in row.lines}
    unpaired = [record.line for record in averages if record.line not in used]
    if header is None:
        return AverageSession(None, None, None, None, rows, unpaired)
    api = count_of(header.fields, "api")
    heading = headings.get(header.line)
    if heading is not None and heading.api != api:
        heading = None
    return AverageSession(
        header.line, str(header.fields["device"]), api, heading, rows, unpaired
    )


def _make_row(arm: LogRecord, reference: LogRecord) -> AverageRow:
    average, fallback = (
        quantity_of(arm.fields, "avg"),
        quantity_of(reference.fields, "avg"),
    )
    name = str(arm.fields["arm"])
    if fallback.low == 0:
        low = high = share = Fraction(0)
        words = f"{REFERENCE} took no time as printed: nothing to compare with"
    else:
        share = Fraction(average.value, fallback.value) - 1
        low = Fraction(
            floor((Fraction(average.low, fallback.high) - 1) * SHARE_DIGITS),
            SHARE_DIGITS,
        )
        high = Fraction(
            ceil((Fraction(average.high, fallback.low) - 1) * SHARE_DIGITS),
            SHARE_DIGITS,
        )
        direction = "slower" if share > 0 else "faster"
        words = f"{name} {abs(float(100 * share)):.1f} % {direction} than {REFERENCE}"
        if low <= 0 <= high:
            words = f"{name} and {REFERENCE} are equal as printed"
    return AverageRow(
        arm=name,
        batch=count_of(arm.fields, "batch"),
        average=average,
        fallback=fallback,
        lines=(arm.line, reference.line),
        difference_ns=average.value - fallback.value,
        share=float(Fraction(round(share * SHARE_DIGITS), SHARE_DIGITS)),
        low=float(low),
        high=float(high),
        words=words,
    )
