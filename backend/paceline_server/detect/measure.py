"""Summarises the warm samples of each case (stats/README.md §1), and the conditions of a job.

Counts, percentiles and extremes cover all values, also of a metric with several values per block. Arms are
compared in `compare`, conditions judged in `stats.voids`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

import numpy as np
from paceline_contract.manifest import Manifest
from paceline_contract.params import params_key
from paceline_contract.units import Unit

from paceline_server.detect.facts import CaseIndex
from paceline_server.detect.groups import Group
from paceline_server.detect.schemas import MeasurementOut
from paceline_server.ingest.cases import Case, Conditions
from paceline_server.stats.blocks import warm_samples
from paceline_server.stats.derived import Warm
from paceline_server.stats.samples import CaseSamples, Floats, Ints
from paceline_server.stats.summary import probably_optimised_away, summarise


@dataclass
class WarmSamples:
    """The warm samples of every case, selected once per job. `by_block`: of one launch, whose blocks take the place of
    launches wherever these are resampled."""

    index: CaseIndex
    by_block: bool = False
    _selected: dict[tuple[str, str, str, str], tuple[Floats, Ints, tuple[int, ...]]] = (
        field(default_factory=dict)
    )

    def of(self, case: CaseSamples) -> tuple[Floats, Ints, tuple[int, ...]]:
        """Return (values, launch, unsteady launches); values and launch have shape (n,)."""
        key = (case.benchmark, params_key(case.params), case.metric, case.arm)
        if key not in self._selected:
            keep, unsteady = warm_samples(case)
            values, launch = case.value[keep], case.launch[keep]
            launch = np.arange(values.size) if self.by_block else launch
            self._selected[key] = values, launch, unsteady
        return self._selected[key]

    def get(self, group: Group, metric: str, arm: str) -> Warm | None:
        """Return the warm samples of a case; None without any."""
        case = self.index.get(group.benchmark, group.params, metric, arm)
        if case is None:
            return None
        values, launch, _ = self.of(case)
        return (values, launch) if values.size else None


def measurements(
    manifest: Manifest,
    groups: Sequence[Group],
    index: CaseIndex,
    warm: WarmSamples,
    announced: Sequence[Case] = (),
) -> list[MeasurementOut]:
    """Return one row per case with warm samples, by group, metric and arm in declared order."""
    announced_cases = {
        (case.benchmark, params_key(case.params), case.arm): case for case in announced
    }
    rows = []
    for group in groups:
        benchmark = manifest.benchmarks[group.benchmark]
        for metric in benchmark.metrics:
            for arm in benchmark.arms:
                case = index.get(group.benchmark, group.params, metric, arm)
                announcement = announced_cases.get(
                    (group.benchmark, params_key(group.params), arm)
                )
                row = (
                    None
                    if case is None
                    else _measurement(case, group, warm, announcement)
                )
                if row is not None:
                    rows.append(row)
    return rows


def _measurement(
    case: CaseSamples, group: Group, warm: WarmSamples, announcement: Case | None
) -> MeasurementOut | None:
    values, launch, unsteady = warm.of(case)
    if not values.size:
        return None
    summary = summarise(values, launch)
    flags = []
    if unsteady:
        flags.append(f"unsteady in {len(unsteady)} of {summary.launches} launches")
    if probably_optimised_away(case.unit, summary.median):
        flags.append("probably optimised away")
    return MeasurementOut(
        benchmark=group.benchmark,
        arm=case.arm,
        params=dict(group.params),
        metric=case.metric,
        unit=cast(Unit, case.unit),
        direction=case.direction,
        launches=summary.launches,
        n=summary.n,
        median=summary.median,
        mean=summary.mean,
        p99=summary.p99,
        min=summary.min,
        max=summary.max,
        sd=summary.sd,
        flags=flags,
        median_lower=summary.median_lower,
        median_upper=summary.median_upper,
        items=None if announcement is None else announcement.items_per_iteration,
        bytes=None if announcement is None else announcement.bytes_per_iteration,
    )


def summarise_tracks(
    readings: Iterable[Conditions],
) -> dict[str, dict[Literal["median", "max"], float]]:
    """Return median and maximum of each numeric track during the measurement.

    A list (cores) counts as its mean, an object (sensors) as its maximum."""
    tracks: dict[str, list[float]] = defaultdict(list)
    for reading in readings:
        if reading.phase == "during":
            for name, raw in reading.values.items():
                value = _number(raw)
                if value is not None:
                    tracks[name].append(value)
    return {
        name: {"median": float(np.median(values)), "max": max(values)}
        for name, values in sorted(tracks.items())
    }


def _number(raw: object) -> float | None:
    if isinstance(raw, list | tuple):
        numbers = [value for value in map(_number, raw) if value is not None]
        return sum(numbers) / len(numbers) if numbers else None
    if isinstance(raw, Mapping):
        numbers = [value for value in map(_number, raw.values()) if value is not None]
        return max(numbers, default=None)
    if (
        isinstance(raw, bool)
        or not isinstance(raw, int | float)
        or not math.isfinite(raw)
    ):
        return None
    return float(raw)
