"""Computes the derived metrics of a job and words their values.

Every declared metric has a row at each expected point; a row without a value says why:
not measured, not available on this target, or none, which is an answer. The formulas
are in `stats.derived`; `gates` judges the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from paceline_contract.manifest import Derived, Manifest

from paceline_server.detect.compare import Circumstances
from paceline_server.detect.facts import CaseIndex
from paceline_server.detect.groups import Group
from paceline_server.detect.measure import WarmSamples
from paceline_server.detect.schemas import DerivedOut
from paceline_server.ingest.cases import Case, ParamValue, params_key
from paceline_server.stats import derived as formulas
from paceline_server.stats.derived import DerivedValue, Warm
from paceline_server.stats.plain_words import TIMES, percent
from paceline_server.stats.samples import CaseSamples, Direction

Unit = Literal["ratio", "share", "exponent", "param"]
UNITS: Mapping[str, Unit] = {
    "slope": "exponent",
    "overhead_between_arms": "share",
    "share_between_metrics": "share",
    "share_at_rate": "share",
    "crossover": "param",
}
PAIRED = {
    "overhead_between_arms": formulas.overhead_between_arms,
    "speedup_between_arms": formulas.speedup_between_arms,
}


@dataclass(frozen=True)
class DerivedRow:
    """One derived number, where it comes from, and what speaks against it.

    `missing`: this target cannot run an arm it needs; `defect`: the protocol it was measured with; `few`: too
    little was measured for a gate to decide.
    """

    declared: Derived
    arm: str
    group: Group
    found: DerivedValue
    missing: str | None = None
    defect: str | None = None
    few: str | None = None

    def out(self) -> DerivedOut:
        """The wire shape."""
        declared, found = self.declared, self.found
        return DerivedOut(
            name=declared.name,
            kind=declared.kind,
            benchmark=declared.benchmark,
            metric=declared.metric,
            arm=self.arm,
            base_arm=declared.base_arm,
            part=declared.part,
            param=declared.param,
            rate_bytes_per_s=declared.rate_bytes_per_s,
            params=dict(self.group.params),
            value=found.value,
            lower=found.interval.lower,
            upper=found.interval.upper,
            unit=UNITS.get(declared.kind, "ratio"),
            answered=found.answered,
            words=derived_sentence(declared, self.arm, found),
            note=self.note(),
            description=declared.description,
        )

    def note(self) -> str:
        """Why there is no value, or why not to trust it; empty when there is nothing to say."""
        if self.missing is not None:
            return self.missing
        if self.defect is not None:
            return self.defect
        if self.found.answered and self.found.value is None:
            return (
                f"no crossover: {derived_sentence(self.declared, self.arm, self.found)}"
            )
        return (
            ""
            if self.found.value is not None
            else f"not measured: {self.found.note or 'no samples'}"
        )


def _rate(bytes_per_s: int) -> str:
    """In the unit in which it is a whole number: MiB/s or MB/s."""
    mebi = bytes_per_s / 2**20
    return f"{mebi:g} MiB/s" if mebi.is_integer() else f"{bytes_per_s / 1e6:g} MB/s"


def derived_sentence(declared: Derived, arm: str, found: DerivedValue) -> str:
    """The value as a person says it; empty where there is none."""
    base, param, value = declared.base_arm, declared.param, found.value
    if value is None:
        if not found.answered:
            return ""
        return (
            f"{arm} is faster than {base} with confidence from no measured {param} on"
        )
    more = "more" if value >= 0 else "less"
    said = {
        "crossover": f"{arm} is faster than {base} from {param}={value:g} on"
        + (", the smallest measured, or below" if found.censored else ""),
        "degradation_across_param": f"{value:.3g}{TIMES} as slow at {param}={declared.to} as at "
        f"{declared.from_}",
        "speedup_between_arms": f"{arm} is {value:.3g}{TIMES} as fast as {base}",
        "overhead_between_arms": f"{arm} has {percent(value)} {more} {declared.metric} than {base}",
        "share_between_metrics": f"{percent(value)} of {declared.metric} is not {declared.part}",
        "share_at_rate": f"{percent(value)} of one thread at {_rate(declared.rate_bytes_per_s or 0)}",
        "slope": f"grows with {param} to the power of {value:.3g}",
        "ratio_across_param": f"{value:.3g}{TIMES} from {param}={declared.from_} to {declared.to}",
    }
    return said[declared.kind]


@dataclass(frozen=True)
class DerivedSources:
    """What derived metrics are made of."""

    index: CaseIndex
    warm: WarmSamples
    bytes_by_case: Mapping[tuple[str, str, str], int]
    known: Circumstances

    @classmethod
    def of(
        cls,
        index: CaseIndex,
        warm: WarmSamples,
        announced: Sequence[Case],
        known: Circumstances,
    ) -> DerivedSources:
        said = {
            (
                case.benchmark,
                params_key(case.params),
                case.arm,
            ): case.bytes_per_iteration
            for case in announced
            if case.bytes_per_iteration is not None
        }
        return cls(index, warm, said, known)

    def bytes_of(self, group: Group, arm: str) -> int | None:
        return self.bytes_by_case.get((group.benchmark, params_key(group.params), arm))

    def case(self, group: Group, metric: str, arm: str) -> CaseSamples | None:
        return self.index.get(group.benchmark, group.params, metric, arm)

    def direction(
        self, declared: Derived, arm: str, groups: Sequence[Group]
    ) -> Direction:
        """Which way is better, as the samples say."""
        cases = (self.case(group, declared.metric, arm) for group in groups)
        return next((case.direction for case in cases if case is not None), "lower")


def derived_rows(
    manifest: Manifest, groups: Sequence[Group], sources: DerivedSources
) -> list[DerivedRow]:
    """Every declared derived metric, of each of its arms, at every point of the params that it does not
    consume."""
    rows: list[DerivedRow] = []
    for declared in manifest.derived:
        own = [group for group in groups if group.benchmark == declared.benchmark]
        fitting = [group for group in own if group.matches(declared.params)]
        points = list(_points(declared, fitting))
        rows += [
            _row(declared, arm, *point, sources)
            for arm in declared.every_arm
            for point in points
        ]
    return rows


def _points(
    declared: Derived, groups: Sequence[Group]
) -> Iterator[tuple[Group, list[Group]]]:
    """Where the metric has a value, and the groups that value is made of."""
    if declared.param is None:
        yield from ((group, [group]) for group in groups)
        return
    rest: dict[str, tuple[Group, list[Group]]] = {}
    for group in groups:
        others = {
            name: value
            for name, value in group.params.items()
            if name != declared.param
        }
        at = (Group(group.benchmark, others), list[Group]())
        rest.setdefault(params_key(others), at)[1].append(group)
    yield from rest.values()


def _row(
    declared: Derived,
    arm: str,
    at: Group,
    members: Sequence[Group],
    sources: DerivedSources,
) -> DerivedRow:
    arms = [arm] if declared.base_arm is None else [arm, declared.base_arm]
    known = sources.known
    missing = next(
        (
            why
            for member in members
            if (why := known.unavailable.why(member, *arms)) is not None
        ),
        None,
    )
    defect = next(
        (
            why
            for member in members
            if (why := known.audits.why_not(member, *arms)) is not None
        ),
        None,
    )
    if missing is not None:
        return DerivedRow(declared, arm, at, DerivedValue(None), missing=missing)
    few = next(
        (
            why
            for member in members
            if (why := known.audits.too_few(member, *arms)) is not None
        ),
        None,
    )
    if declared.param is None:
        found = _value_at_point(declared, arm, members[0], sources)
    else:
        found = _value_across_param(declared, arm, members, sources)
    return DerivedRow(declared, arm, at, found, defect=defect, few=few)


def _value_at_point(
    declared: Derived, arm: str, group: Group, sources: DerivedSources
) -> DerivedValue:
    """A metric of one point."""
    paired = PAIRED.get(declared.kind)
    if paired is None:
        return _share(declared, arm, group, sources)
    own, base = (
        sources.case(group, declared.metric, name)
        for name in (arm, declared.base_arm or "")
    )
    if own is None or base is None:
        return DerivedValue(None, note=arm if own is None else declared.base_arm or "")
    return paired(own, base)


def _share(
    declared: Derived, arm: str, group: Group, sources: DerivedSources
) -> DerivedValue:
    whole = sources.warm.get(group, declared.metric, arm)
    if whole is None:
        return DerivedValue(None, note=f"{declared.metric} of {arm}")
    if declared.kind == "share_at_rate":
        size = sources.bytes_of(group, arm)
        if size is None:
            return DerivedValue(
                None, note=f"{arm} does not say its bytes_per_iteration"
            )
        return formulas.share_at_rate(whole, size, declared.rate_bytes_per_s or 0)
    part = sources.warm.get(group, declared.part or "", arm)
    if part is None:
        return DerivedValue(None, note=f"{declared.part} of {arm}")
    return formulas.share_between_metrics(part, whole)


def _value_across_param(
    declared: Derived, arm: str, members: Sequence[Group], sources: DerivedSources
) -> DerivedValue:
    """A metric that consumes a param."""
    param = declared.param or ""
    if declared.kind == "crossover":
        return _crossover(declared, arm, members, sources)
    points: dict[ParamValue, Warm] = {}
    for group in members:
        samples = sources.warm.get(group, declared.metric, arm)
        if samples is not None and param in group.params:
            points[group.params[param]] = samples
    if declared.kind == "slope":
        return formulas.slope(
            [
                (float(at), samples)
                for at, samples in points.items()
                if isinstance(at, int)
            ]
        )
    start = points.get(declared.from_) if declared.from_ is not None else None
    end = points.get(declared.to) if declared.to is not None else None
    if start is None or end is None:
        return DerivedValue(None)
    if declared.kind == "degradation_across_param":
        return formulas.degradation_across_param(
            start, end, sources.direction(declared, arm, members)
        )
    return formulas.ratio_across_param(start, end)


def _crossover(
    declared: Derived, arm: str, members: Sequence[Group], sources: DerivedSources
) -> DerivedValue:
    """Every owed value of the param must have been measured: a gap could hide where the arm loses."""
    points: list[tuple[int, CaseSamples, CaseSamples]] = []
    for group in members:
        at = group.params.get(declared.param or "")
        own = sources.case(group, declared.metric, arm)
        base = sources.case(group, declared.metric, declared.base_arm or "")
        if not isinstance(at, int) or own is None or base is None:
            return DerivedValue(
                None, note=f"{arm} and {declared.base_arm} at {declared.param}={at}"
            )
        points.append((at, own, base))
    return formulas.crossover(points)
