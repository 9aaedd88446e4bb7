"""Parses LightLedger's benchmark lines: a header with the device, then one average per batch size and arm.

A row compares two averages of one session. That is not a verdict, because there are no samples and the order of
measuring is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor

import msgspec
from paceline_contract.items import PrintedNumber

from paceline.formats.declared import (
    ConsistencyCheck,
    Line,
    LogRecord,
    count_of,
    quantity_of,
)
from paceline.formats.ledger_prose import ProseClaim
from paceline.formats.templates import MismatchError, Template, Value

HEADER = "ledger.device"
BATCH = "ledger.batch"
REFERENCE = "fallback"
SHARE_DIGITS = 10**4
"""Shares are given to a hundredth of a percent, their interval rounded outwards."""
INSUFFICIENT = "insufficient: no samples, only an average over batches nobody counted"

_TAG = "LightLedgerBenchmark"
_HEADING = Template("{name:text} (API {api:count})")
_NOTE = re.compile(r"^(.{1,200}?\(API \d{1,4}\))[ \t]*(.{0,200})$", re.ASCII)
_ROUNDS = re.compile(r"warm-up \((\d{1,6}) rounds?\)", re.ASCII)
_NONE = re.compile(r"\b(?:no|without|bez) warm-up\b")
"""Words for "none" in headings in English and Polish."""


def _no_checks(_values: Mapping[str, Value]) -> list[ConsistencyCheck]:
    return []


def _per_hash(values: Mapping[str, Value]) -> list[ConsistencyCheck]:
    batch, average = count_of(values, "batch"), quantity_of(values, "avg")
    each = quantity_of(values, "per_hash")
    if batch == 0:
        return [ConsistencyCheck("per_hash", None, "a batch of 0 has no time per hash")]
    agrees = each.low * batch <= average.high and average.low <= each.high * batch
    words = f"{average.printed} / {batch} is {average.value / batch:,.0f} ns"
    return [
        ConsistencyCheck(
            "per_hash",
            agrees,
            f"{words}, {'within' if agrees else 'not within'} {each.printed} as printed",
        )
    ]


LINES = (
    Line(
        name=HEADER,
        tag=_TAG,
        marker="Benchmark on ",
        word="(API ",
        template=Template("Benchmark on {device:text} (API {api:count})"),
        check=_no_checks,
    ),
    Line(
        name=BATCH,
        tag=_TAG,
        marker="Batch ",
        word=" avg=",
        template=Template(
            "Batch {batch:count}: {arm:name} avg={avg:duration} ({per_hash:duration}/hash)"
        ),
        check=_per_hash,
    ),
)


class LedgerHeading(msgspec.Struct, frozen=True):
    """A heading that a person wrote above a session: the device's name and, optionally, the warm-up."""

    name: str
    api: int
    note: str
    warmup_rounds: int | None


class LedgerRow(msgspec.Struct, frozen=True):
    """One batch size of one session: both averages and their difference.

    `share`: arm ÷ fallback − 1, above 0 where the arm is slower; `low` and `high`: what rounding leaves open.
    `notes`: where the document's own sentences disagree.
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
    notes: list[str] = []


class LedgerSession(msgspec.Struct, frozen=True):
    """One printed run of the benchmark. `unpaired`: lines with averages that lack the other arm."""

    line: int | None
    device: str | None
    api: int | None
    heading: LedgerHeading | None
    rows: list[LedgerRow]
    unpaired: list[int]


def heading_of(text: str) -> LedgerHeading | None:
    """Parses a line such as `Xiaomi 13T Pro (API 35) - warm-up (1 round)`; None for other lines."""
    split = _NOTE.match(text.strip())
    if split is None:
        return None
    try:
        fields = _HEADING.read(split.group(1))
    except MismatchError:
        return None
    note = split.group(2).strip().lstrip("-\u2013\u2014: ")
    rounds = _ROUNDS.search(note)
    warmup = (
        int(rounds.group(1))
        if rounds is not None
        else 0
        if _NONE.search(note)
        else None
    )
    return LedgerHeading(str(fields["name"]), count_of(fields, "api"), note, warmup)


def sessions(
    records: Iterable[LogRecord],
    headings: Mapping[int, LedgerHeading],
    claims: Sequence[ProseClaim] = (),
) -> list[LedgerSession]:
    """Splits the records at each header. `headings` are keyed by the number of the line below; `claims` are compared
    with the rows they are about."""
    cut: list[tuple[LogRecord | None, list[LogRecord]]] = []
    for record in records:
        if record.pattern == HEADER:
            cut.append((record, []))
        elif record.pattern == BATCH:
            if not cut:
                cut.append((None, []))
            cut[-1][1].append(record)
    parsed = [_session(header, averages, headings) for header, averages in cut]
    names = [name for session in parsed if (name := _name(session)) is not None]
    if not claims:
        return parsed
    return [_compare_with_claims(session, claims, names) for session in parsed]


def _name(session: LedgerSession) -> str | None:
    """The name by which sentences refer to the session's device."""
    return session.device if session.heading is None else session.heading.name


def _compare_with_claims(
    session: LedgerSession, claims: Sequence[ProseClaim], names: Sequence[str]
) -> LedgerSession:
    rows = [
        msgspec.structs.replace(
            row,
            notes=[
                note for claim in claims for note in _notes(session, row, claim, names)
            ],
        )
        for row in session.rows
    ]
    return msgspec.structs.replace(session, rows=rows)


def _notes(
    session: LedgerSession, row: LedgerRow, claim: ProseClaim, names: Sequence[str]
) -> list[str]:
    if claim.batch != row.batch or not claim.about_device(_name(session) or "", names):
        return []
    if row.fallback.low == 0 or claim.holds(row.low, row.high):
        return []
    claimed = f"{'~' if claim.about else ''}{claim.printed} % {'slower' if claim.percent > 0 else 'faster'}"
    return [f"line {claim.line} says {claimed}; the printed averages say {row.words}"]


def _session(
    header: LogRecord | None,
    averages: list[LogRecord],
    headings: Mapping[int, LedgerHeading],
) -> LedgerSession:
    rows: list[LedgerRow] = []
    waiting: dict[tuple[int, str], LogRecord] = {}
    for record in averages:
        batch, arm = count_of(record.fields, "batch"), str(record.fields["arm"])
        reference = waiting.get((batch, REFERENCE))
        if arm == REFERENCE:
            waiting[batch, arm] = record
            for key in [
                key for key in waiting if key[0] == batch and key[1] != REFERENCE
            ]:
                rows.append(_row(waiting.pop(key), record))
        elif reference is not None:
            rows.append(_row(record, reference))
        else:
            waiting[batch, arm] = record
    used = {line for row in rows for line in row.lines}
    unpaired = [record.line for record in averages if record.line not in used]
    if header is None:
        return LedgerSession(None, None, None, None, rows, unpaired)
    api = count_of(header.fields, "api")
    heading = headings.get(header.line)
    if heading is not None and heading.api != api:
        heading = None
    return LedgerSession(
        header.line, str(header.fields["device"]), api, heading, rows, unpaired
    )


def _row(arm: LogRecord, reference: LogRecord) -> LedgerRow:
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
    return LedgerRow(
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
