"""Pairs what both sides of a comparison measured: ratio, interval, significance, order.

Every pair is ranked before paging, so that sentences can count all of them. `compare.py` builds the pages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NotRequired

from paceline_contract.events import Direction, ParamValue
from paceline_contract.items import SideName
from paceline_contract.params import params_key
from paceline_contract.units import Unit
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from paceline_server.detect import service as detect
from paceline_server.detect.schemas import WitnessOut
from paceline_server.reports import sides
from paceline_server.reports.history_schemas import Significance
from paceline_server.reports.sides import ComparedSide
from paceline_server.series.declarations import Declaration, incomparable
from paceline_server.series.service import FloorKey
from paceline_server.store.tables.decisions import Comparison

Key = FloorKey
"""Measurements of two sides are paired by the key of a noise floor."""

DECIDED = ("pass", "fail")


class MeasurementRow(TypedDict):
    """The part of a stored `MeasurementOut` that a comparison reads."""

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
    side: NotRequired[SideName | None]
    items: NotRequired[int | None]
    bytes: NotRequired[int | None]


class StoredReport(TypedDict):
    """The part of a stored `JobReportOut` that a comparison reads."""

    measurements: list[MeasurementRow]
    blockers: NotRequired[list[str]]
    disturbances: NotRequired[list[str]]
    witnesses: NotRequired[list[WitnessOut]]


_REPORT = TypeAdapter(StoredReport)


class MeasurementOfSide(NamedTuple):
    """A measurement of a side, and why it may not be judged."""

    row: MeasurementRow
    job_id: str
    excluded: str | None


class ComparedPair(NamedTuple):
    """A measurement on both sides; `ratio` is the cost of head ÷ base. `measured_by` is the comparison of an A/B
    job of this pair. `decided` is the same if it has a verdict; then ratio and interval are its own."""

    key: Key
    base: MeasurementOfSide | None
    head: MeasurementOfSide | None
    ratio: float | None
    lower: float | None
    upper: float | None
    mde: float | None
    significance: Significance
    measured_by: Comparison | None
    decided: Comparison | None

    @property
    def any_side(self) -> MeasurementOfSide:
        """The head, or the base if only that was measured."""
        return next(side for side in (self.head, self.base) if side is not None)

    @property
    def place(self) -> tuple[bool, int, float, str, str, str, str, str]:
        """Sort key: judged first, then the clearest, then the largest; the names make it total."""
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


Names = Callable[[str, str], tuple[str, str]]
"""The newest names of a benchmark and an arm."""


def newest_measurements(
    side: ComparedSide, names: Names
) -> dict[Key, MeasurementOfSide]:
    """Return the newest measurement of each key, by newest names, in the order of the reports."""
    newest: dict[Key, MeasurementOfSide] = {}
    for reported in side.reports:
        report = _REPORT.validate_json(reported.report)
        excluded = next(
            iter((*report.get("blockers", ()), *report.get("disturbances", ()))), None
        )
        named = [
            (row, names(row["benchmark"], row["arm"])) for row in report["measurements"]
        ]
        # A measurement that has a name itself comes after one that has it as an alias, and replaces it.
        named.sort(key=lambda pair: pair[1] == (pair[0]["benchmark"], pair[0]["arm"]))
        for row, (benchmark, arm) in named:
            if row.get("side") != "base":  # an A/B run is named by its head
                key = (
                    reported.target.id,
                    benchmark,
                    arm,
                    params_key(row["params"]),
                    row["metric"],
                )
                fallback = detect.describe_fallback(
                    report.get("witnesses", ()),
                    row["benchmark"],
                    row["arm"],
                    row["params"],
                )
                newest[key] = MeasurementOfSide(
                    row, reported.job.id, excluded or fallback
                )
    return newest


def pair_measurements(
    before: Mapping[Key, MeasurementOfSide],
    after: Mapping[Key, MeasurementOfSide],
    floors: Mapping[Key, float],
    judged: Mapping[Key, Comparison],
) -> list[ComparedPair]:
    """Return every measurement of either side as a pair, ranked."""
    pairs = [
        _pair(key, before.get(key), after.get(key), floors.get(key), judged.get(key))
        for key in dict.fromkeys([*before, *after])
    ]
    return sorted(pairs, key=lambda pair: pair.place)


def digest_of_keys(pairs: Sequence[ComparedPair]) -> str:
    """Return a digest of the keys of these pairs, in order, for a cursor."""
    return hashlib.sha256(
        json.dumps([pair.key for pair in pairs]).encode()
    ).hexdigest()[:16]


def _pair(
    key: Key,
    base: MeasurementOfSide | None,
    head: MeasurementOfSide | None,
    mde: float | None,
    comparison: Comparison | None,
) -> ComparedPair:
    changed = _changed_declaration(key, base, head)
    if changed is not None and head is not None:
        head = head._replace(excluded=changed)
    ratio, lower, upper = (None, None, None) if changed else _ratio(base, head)
    decided = None
    if (
        changed is None
        and comparison is not None
        and comparison.ratio is not None
        and comparison.verdict in DECIDED
    ):
        ratio, lower, upper, decided = (
            comparison.ratio,
            comparison.lower,
            comparison.upper,
            comparison,
        )
    left_out = (base is not None and base.excluded) or (
        head is not None and head.excluded
    )
    uncertain = left_out and decided is None
    significance = (
        "uncertain" if uncertain else sides.significance(ratio, lower, upper, mde)
    )
    return ComparedPair(
        key, base, head, ratio, lower, upper, mde, significance, comparison, decided
    )


def _changed_declaration(
    key: Key, base: MeasurementOfSide | None, head: MeasurementOfSide | None
) -> str | None:
    """Return why the sides cannot be compared, if the measurement means something else on each."""
    if base is None or head is None:
        return None
    metric = key[4]
    return incomparable(metric, _declaration(base.row), _declaration(head.row))


def _declaration(row: MeasurementRow) -> Declaration:
    return Declaration(
        row["unit"], row["direction"], row.get("items"), row.get("bytes")
    )


def _ratio(
    base: MeasurementOfSide | None, head: MeasurementOfSide | None
) -> tuple[float | None, float | None, float | None]:
    """Return the cost of head ÷ base, with the widest interval that the two medians' intervals allow."""
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
