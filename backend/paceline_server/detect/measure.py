"""Describes what was measured: one row per case, and the warm samples behind it.

Only warm samples are described (§1). Count, percentiles and extremes are over all
values, also of a metric with several values per block. `compare` compares arms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from paceline_contract.manifest import Manifest
from paceline_contract.units import Unit

from paceline_server.detect.facts import CaseIndex
from paceline_server.detect.groups import Group
from paceline_server.detect.schemas import MeasurementOut
from paceline_server.ingest.cases import Case, params_key
from paceline_server.stats.blocks import warm_samples
from paceline_server.stats.derived import Warm
from paceline_server.stats.samples import CaseSamples, Floats, Ints
from paceline_server.stats.summary import probably_optimised_away, summarise


@dataclass
class WarmSamples:
    """The warm samples of every case, found once per job."""

    index: CaseIndex
    _found: dict[tuple[str, str, str, str], tuple[Floats, Ints, tuple[int, ...]]] = (
        field(default_factory=dict)
    )

    def of(self, case: CaseSamples) -> tuple[Floats, Ints, tuple[int, ...]]:
        """(values, launch, launches that are unsteady), shape (n,) each."""
        key = (case.benchmark, params_key(case.params), case.metric, case.arm)
        if key not in self._found:
            keep, unsteady = warm_samples(case)
            self._found[key] = case.value[keep], case.launch[keep], unsteady
        return self._found[key]

    def get(self, group: Group, metric: str, arm: str) -> Warm | None:
        """The warm samples of a case, None when there are none."""
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
    """One row per case with warm samples: groups in order, then declared metrics, then declared arms."""
    about = {
        (case.benchmark, params_key(case.params), case.arm): case for case in announced
    }
    rows = []
    for group in groups:
        benchmark = manifest.benchmarks[group.benchmark]
        for metric in benchmark.metrics:
            for arm in benchmark.arms:
                case = index.get(group.benchmark, group.params, metric, arm)
                said = about.get((group.benchmark, params_key(group.params), arm))
                row = None if case is None else _measurement(case, group, warm, said)
                if row is not None:
                    rows.append(row)
    return rows


def _measurement(
    case: CaseSamples, group: Group, warm: WarmSamples, said: Case | None
) -> MeasurementOut | None:
    values, launch, unsteady = warm.of(case)
    if not values.size:
        return None
    found = summarise(values, launch)
    flags = []
    if unsteady:
        flags.append(f"unsteady in {len(unsteady)} of {found.launches} launches")
    if probably_optimised_away(case.unit, found.median):
        flags.append("probably optimised away")
    return MeasurementOut(
        benchmark=group.benchmark,
        arm=case.arm,
        params=dict(group.params),
        metric=case.metric,
        unit=cast(Unit, case.unit),
        direction=case.direction,
        launches=found.launches,
        n=found.n,
        median=found.median,
        mean=found.mean,
        p99=found.p99,
        min=found.min,
        max=found.max,
        sd=found.sd,
        flags=flags,
        median_lower=found.median_lower,
        median_upper=found.median_upper,
        items=None if said is None else said.items_per_iteration,
        bytes=None if said is None else said.bytes_per_iteration,
    )
