"""Parses the counters of a piece hasher, logged by Kotlin and by the JavaScript that calls it.

A pair of lines gives the overhead of the calls. Its interval covers rounding only; the spread of the
measurements is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from paceline.formats.templates import Template, Value

KOTLIN = "piece.kotlin"
"""The inner time: the digest alone."""
JS = "piece.js"
"""The outer time: the same calls, measured in JavaScript."""

NS_PER_S = 10**9
DECIMAL_MEGA = Fraction(10**6, 2**20)
"""Factor on a rate or size if its printer meant 10^6 bytes by MB."""
SHARE_DIGITS = 10**4
"""Shares are given to a hundredth of a percent, their interval rounded outwards."""


def _checks(values: Mapping[str, Value]) -> list[ConsistencyCheck]:
    average, longest = quantity_of(values, "avg"), quantity_of(values, "max")
    fits = average.low <= longest.high
    words = f"max {longest.printed} is {'at least' if fits else 'below'} the average {average.printed}"
    return [_throughput(values), ConsistencyCheck("max", fits, words)]


def _throughput(values: Mapping[str, Value]) -> ConsistencyCheck:
    """Compares bytes ÷ (calls × average) with the printed rate. The size of MB cancels out if both use the
    same."""
    count, size = count_of(values, "count"), quantity_of(values, "bytes")
    average, rate = quantity_of(values, "avg"), quantity_of(values, "throughput")
    if count == 0 or average.low == 0:
        return ConsistencyCheck(
            "throughput", None, "no calls, or no time: there is no rate to compare with"
        )
    implied = Fraction(size.value * NS_PER_S, count * average.value)
    low = Fraction(size.low * NS_PER_S, count * average.high)
    high = Fraction(size.high * NS_PER_S, count * average.low)
    words = f"{size.printed} in {count} x {average.printed} is {float(implied / 2**20):.1f} MB/s"
    if low <= rate.high and rate.low <= high:
        return ConsistencyCheck(
            "throughput", True, f"{words}, which agrees with {rate.printed}"
        )
    words += f", which does not agree with {rate.printed}"
    for factor, where in ((DECIMAL_MEGA, "throughput"), (1 / DECIMAL_MEGA, "bytes")):
        if low <= rate.high * factor and rate.low * factor <= high:
            words += (
                f"; it would if the MB of {where} were 10^6 bytes and the other 2^20"
            )
    return ConsistencyCheck("throughput", False, words)


LINES = (
    Line(
        name=KOTLIN,
        tag="JSTorrent-Hash",
        marker="Kotlin:",
        word=" hashes",
        template=Template(
            "Kotlin: {count:count} hashes, {bytes:size}, avg {avg:duration}, max {max:duration}, "
            "throughput {throughput:rate}"
        ),
        check=_checks,
    ),
    Line(
        name=JS,
        tag="JSTorrent-JS",
        marker="[NativeHasher]",
        word=" hashes",
        template=Template(
            "[NativeHasher] {count:count} hashes, {bytes:size}, avg {avg:duration}, max {max:duration}, "
            "throughput {throughput:rate}"
        ),
        check=_checks,
    ),
)


class Overhead(msgspec.Struct, frozen=True):
    """The part of an outer average outside the inner one: 1 − inner ÷ outer ("FFI overhead").

    `lines`: (inner, outer). `same_calls`: both count the same calls and bytes; otherwise the interval is not
    valid. `holds`: the inner time is not longer than the outer one.
    """

    lines: tuple[int, int]
    share: float
    low: float
    high: float
    same_calls: bool
    holds: bool
    words: str


def overheads(records: Iterable[LogRecord]) -> list[Overhead]:
    """Pairs each outer line with the inner line before it, because the inner layer logs before it returns."""
    pairs: list[Overhead] = []
    inner: LogRecord | None = None
    for record in records:
        if record.pattern == KOTLIN:
            inner = record
        elif record.pattern == JS and inner is not None:
            pair = _overhead(inner, record)
            if pair is not None:
                pairs.append(pair)
            inner = None
    return pairs


def _overhead(inner: LogRecord, outer: LogRecord) -> Overhead | None:
    inside, outside = quantity_of(inner.fields, "avg"), quantity_of(outer.fields, "avg")
    if outside.low == 0:
        return None
    same = count_of(inner.fields, "count") == count_of(
        outer.fields, "count"
    ) and _overlap(
        quantity_of(inner.fields, "bytes"), quantity_of(outer.fields, "bytes")
    )
    low = Fraction(
        floor((1 - Fraction(inside.high, outside.low)) * SHARE_DIGITS), SHARE_DIGITS
    )
    high = Fraction(
        ceil((1 - Fraction(inside.low, outside.high)) * SHARE_DIGITS), SHARE_DIGITS
    )
    share = 1 - Fraction(inside.value, outside.value)
    holds = high >= 0
    words = (
        f"({outside.printed} - {inside.printed}) / {outside.printed} = {float(100 * share):.1f} %, "
        f"from {float(100 * low):.2f} to {float(100 * high):.2f} % by rounding alone"
    )
    if not same:
        words += "; the two lines count different calls, so this is no share of the same time"
    if not holds:
        words += "; the inner time is longer than the outer one"
    rounded = Fraction(round(share * SHARE_DIGITS), SHARE_DIGITS)
    return Overhead(
        (inner.line, outer.line),
        float(rounded),
        float(low),
        float(high),
        same,
        holds,
        words,
    )


def _overlap(first: PrintedNumber, second: PrintedNumber) -> bool:
    return first.low <= second.high and second.low <= first.high
