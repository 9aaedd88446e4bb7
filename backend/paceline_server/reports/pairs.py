"""Pairs what both sides of a comparison measured: ratio, interval, significance, order.

Every pair is ranked and counted, so that a page never hides what the sentence above it
counts. `compare` words a page of these pairs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, NotRequired

from paceline_contract.events import Direction, ParamValue
from paceline_contract.units import Unit
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from paceline_server.ingest.cases import params_key
from paceline_server.reports import sides
from paceline_server.reports.history_schemas import Significance
from paceline_server.reports.sides import ComparedSide
from paceline_server.series.service import FloorKey
from paceline_server.store.tables.decisions import Comparison

Key = FloorKey
"""Measurements of two sides meet by what a noise floor is of."""

DECIDED = ("pass", "fail")


class MeasurementRow(TypedDict):
    """What a comparison reads of a stored `MeasurementOut`: the rest is left alone."""

    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    direction: Direction
    launches: int
    n: int
    median: float
    median_lower: NotRequired[float | None]
    median_upper: NotRequired[float | None]
    side: NotRequired[Literal["base", "head"] | None]


class StoredReport(TypedDict):
    """The same of a stored `JobReportOut`."""

    measurements: list[MeasurementRow]
    blockers: NotRequired[list[str]]


_REPORT = TypeAdapter(StoredReport)


class MeasurementOfSide(NamedTuple):
    """One measurement of a side, and why it may not be judged."""

    row: MeasurementRow
    job_id: str
    excluded: str | None


class ComparedPair(NamedTuple):
    """One measurement of both sides. `ratio` is of costs, head ÷ base; `asked` is what an A/B job of this
    very pair said, `decided` the same if that was a verdict: then ratio and interval are its."""

    key: Key
    base: MeasurementOfSide | None
    head: MeasurementOfSide | None
    ratio: float | None
    lower: float | None
    upper: float | None
    mde: float | None
    significance: Significance
    asked: Comparison | None
    decided: Comparison | None

    @property
    def place(self) -> tuple[bool, int, float, str, str, str, str, str]:
        """Judged first, then the clearest, then the largest; the rest makes the order whole."""
        target_id, benchmark, arm, params, metric = self.key
        away = 0.0 if self.ratio is None else -abs(self.ratio - 1.0)
        return (
            self.decided is None,
            ORDER[self.significance],
            away,
            benchmark,
            arm,
            params,
            target_id,
            metric,
        )


ORDER: Mapping[Significance, int] = {"clear": 0, "below_noise": 1, "uncertain": 2}


def newest_measurements(side: ComparedSide) -> dict[Key, MeasurementOfSide]:
    """The newest measurement of everything, in the order of the reports."""
    found: dict[Key, MeasurementOfSide] = {}
    for reported in side.reports:
        report = _REPORT.validate_json(reported.report)
        excluded = next(iter(report.get("blockers", ())), None)
        for row in report["measurements"]:
            if (
                row.get("side") != "base"
            ):  # of an A/B run the head is what it is called by
                key = (
                    reported.target.id,
                    row["benchmark"],
                    row["arm"],
                    params_key(row["params"]),
                    row["metric"],
                )
                found[key] = MeasurementOfSide(row, reported.job.id, excluded)
    return found


def pair_measurements(
    before: Mapping[Key, MeasurementOfSide],
    after: Mapping[Key, MeasurementOfSide],
    floors: Mapping[Key, float],
    judged: Mapping[Key, Comparison],
) -> list[ComparedPair]:
    """Everything that one side measured at least, in the order of their places."""
    pairs = [
        _pair(key, before.get(key), after.get(key), floors.get(key), judged.get(key))
        for key in dict.fromkeys([*before, *after])
    ]
    return sorted(pairs, key=lambda pair: pair.place)


def digest_of_keys(pairs: Sequence[ComparedPair]) -> str:
    """Of the keys of these pairs in their order: what a cursor remembers of the rows before it."""
    return hashlib.sha256(
        json.dumps([pair.key for pair in pairs]).encode()
    ).hexdigest()[:16]


def _pair(
    key: Key,
    base: MeasurementOfSide | None,
    head: MeasurementOfSide | None,
    mde: float | None,
    asked: Comparison | None,
) -> ComparedPair:
    ratio, lower, upper = _ratio(base, head)
    decided = None
    if asked is not None and asked.ratio is not None and asked.verdict in DECIDED:
        ratio, lower, upper, decided = asked.ratio, asked.lower, asked.upper, asked
    left_out = (base is not None and base.excluded) or (
        head is not None and head.excluded
    )
    uncertain = left_out and decided is None
    significance = (
        "uncertain" if uncertain else sides.significance(ratio, lower, upper, mde)
    )
    return ComparedPair(
        key, base, head, ratio, lower, upper, mde, significance, asked, decided
    )


def _ratio(
    base: MeasurementOfSide | None, head: MeasurementOfSide | None
) -> tuple[float | None, float | None, float | None]:
    """Cost of head ÷ cost of base, with the widest interval the two medians' intervals allow."""
    if (
        base is None
        or head is None
        or min(base.row["median"], head.row["median"]) <= 0.0
    ):
        return None, None, None
    top, bottom = (
        (head.row, base.row)
        if head.row["direction"] == "lower"
        else (base.row, head.row)
    )
    ratio = top["median"] / bottom["median"]
    low, high = top.get("median_lower"), top.get("median_upper")
    below, above = bottom.get("median_lower"), bottom.get("median_upper")
    if low is None or high is None or below is None or above is None:
        return ratio, None, None
    if min(low, high, below, above) <= 0.0:
        return ratio, None, None
    return ratio, low / above, high / below
