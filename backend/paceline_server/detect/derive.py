"""Computes the derived metrics of a job, with their values in words.

Every declared metric has a row for each of its groups; a row without a value says why. The formulas are in
`stats.derived`; `gates` judges the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from paceline_contract.events import Direction, ParamValue
from paceline_contract.manifest import Derived, Manifest
from paceline_contract.params import params_key, params_text

from paceline_server.detect.compare import Circumstances
from paceline_server.detect.facts import CaseIndex, JobRequest
from paceline_server.detect.groups import Group
from paceline_server.detect.measure import WarmSamples
from paceline_server.detect.schemas import DerivedOut
from paceline_server.ingest.cases import Case
from paceline_server.stats import derived as formulas
from paceline_server.stats.derived import DerivedValue, Warm
from paceline_server.stats.gates import SAMPLES_METHOD
from paceline_server.stats.plain_words import TIMES, percent
from paceline_server.stats.samples import CaseSamples

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
    """A derived value with the reasons not to trust it.

    `missing`: the target cannot run an arm, or the request leaves out a value that it needs. `defect`: the protocol was
    violated. `too_few`: there are too few samples for a gate to decide.
    """

    declared: Derived
    arm: str
    group: Group
    result: DerivedValue
    missing: str | None = None
    defect: str | None = None
    too_few: str | None = None

    def out(self) -> DerivedOut:
        """Return the wire shape."""
        declared, result = self.declared, self.result
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
            value=result.value,
            lower=result.interval.lower,
            upper=result.interval.upper,
            unit=UNITS.get(declared.kind, "ratio"),
            answered=result.answered,
            words=derived_sentence(declared, self.arm, result),
            note=self.note(),
            description=declared.description,
        )

    def note(self) -> str:
        """Return why there is no value, or why not to trust it; else empty."""
        if self.missing is not None:
            return self.missing
        if self.defect is not None:
            return self.defect
        if self.result.answered and self.result.value is None:
            return f"no crossover: {derived_sentence(self.declared, self.arm, self.result)}"
        return (
            ""
            if self.result.value is not None
            else f"not measured: {self.result.note or 'no samples'}"
        )


def _rate_text(bytes_per_s: int) -> str:
    """Return a rate in MiB/s if that is a whole number, else in MB/s."""
    mebi = bytes_per_s / 2**20
    return f"{mebi:g} MiB/s" if mebi.is_integer() else f"{bytes_per_s / 1e6:g} MB/s"


def derived_sentence(declared: Derived, arm: str, result: DerivedValue) -> str:
    """Return the value in words; empty without a value."""
    base, param, value = declared.base_arm, declared.param, result.value
    if value is None:
        if not result.answered:
            return ""
        return (
            f"{arm} is faster than {base} with confidence from no measured {param} on"
        )
    more = "more" if value >= 0 else "less"
    sentences = {
        "crossover": f"{arm} is faster than {base} from {param}={value:g} on"
        + (", the smallest measured, or below" if result.censored else ""),
        "degradation_across_param": f"{value:.3g}{TIMES} as slow at {param}={declared.to} as at "
        f"{declared.from_}",
        "speedup_between_arms": f"{arm} is {value:.3g}{TIMES} as fast as {base}",
        "overhead_between_arms": f"{arm} has {percent(value)} {more} {declared.metric} than {base}",
        "share_between_metrics": f"{percent(value)} of {declared.metric} is not {declared.part}",
        "share_at_rate": f"{percent(value)} of one thread at {_rate_text(declared.rate_bytes_per_s or 0)}",
        "slope": f"grows with {param} to the power of {value:.3g}",
        "ratio_across_param": f"{value:.3g}{TIMES} from {param}={declared.from_} to {declared.to}",
    }
    return sentences[declared.kind]


@dataclass(frozen=True)
class DerivedSources:
    """The samples and circumstances that derived metrics are computed from."""

    index: CaseIndex
    warm: WarmSamples
    bytes_by_case: Mapping[tuple[str, str, str], int]
    circumstances: Circumstances

    @classmethod
    def of(
        cls,
        index: CaseIndex,
        warm: WarmSamples,
        announced: Sequence[Case],
        circumstances: Circumstances,
    ) -> DerivedSources:
        bytes_by_case = {
            (
                case.benchmark,
                params_key(case.params),
                case.arm,
            ): case.bytes_per_iteration
            for case in announced
            if case.bytes_per_iteration is not None
        }
        return cls(index, warm, bytes_by_case, circumstances)

    def bytes_of(self, group: Group, arm: str) -> int | None:
        return self.bytes_by_case.get((group.benchmark, params_key(group.params), arm))

    def case(self, group: Group, metric: str, arm: str) -> CaseSamples | None:
        return self.index.get(group.benchmark, group.params, metric, arm)

    def direction(
        self, declared: Derived, arm: str, groups: Sequence[Group]
    ) -> Direction:
        """Return the better direction of a metric, from its samples."""
        cases = (self.case(group, declared.metric, arm) for group in groups)
        return next((case.direction for case in cases if case is not None), "lower")


def derived_rows(
    manifest: Manifest, groups: Sequence[Group], sources: DerivedSources
) -> list[DerivedRow]:
    """Return one row per declared metric, arm and combination of the params that the metric does not consume."""
    rows: list[DerivedRow] = []
    for declared in manifest.derived:
        matching = [
            group
            for group in groups
            if group.benchmark == declared.benchmark and group.matches(declared.params)
        ]
        points = list(_group_by_point(declared, matching))
        rows += [
            _compute_row(declared, arm, *point, sources)
            for arm in declared.every_arm
            for point in points
        ]
    return rows


def _group_by_point(
    declared: Derived, groups: Sequence[Group]
) -> Iterator[tuple[Group, list[Group]]]:
    """Yield each group for which the metric has a value, and the groups from which it is computed."""
    if declared.param is None:
        yield from ((group, [group]) for group in groups)
        return
    points: dict[str, tuple[Group, list[Group]]] = {}
    for group in groups:
        other_params = {
            name: value
            for name, value in group.params.items()
            if name != declared.param
        }
        point = (Group(group.benchmark, other_params), list[Group]())
        points.setdefault(params_key(other_params), point)[1].append(group)
    yield from points.values()


def _compute_row(
    declared: Derived,
    arm: str,
    point: Group,
    members: Sequence[Group],
    sources: DerivedSources,
) -> DerivedRow:
    arms = [arm] if declared.base_arm is None else [arm, declared.base_arm]

    def first_reason(find_reason: Callable[..., str | None]) -> str | None:
        reasons = (find_reason(member, *arms) for member in members)
        return next((reason for reason in reasons if reason is not None), None)

    unavailable, audits, witnesses = (
        sources.circumstances.unavailable,
        sources.circumstances.audits,
        sources.circumstances.witnesses,
    )
    missing = first_reason(unavailable.why)
    if sources.circumstances.look.gate_method != SAMPLES_METHOD:
        missing = missing or _why_not_selected(
            declared, members, sources.circumstances.request
        )
    if missing is not None:
        return DerivedRow(declared, arm, point, DerivedValue(None), missing=missing)
    if declared.param is None:
        result = _compute_at_point(declared, arm, members[0], sources)
    else:
        result = _compute_across_param(declared, arm, members, sources)
    return DerivedRow(
        declared,
        arm,
        point,
        result,
        defect=first_reason(witnesses.why_not) or first_reason(audits.why_not),
        too_few=first_reason(audits.too_few),
    )


def _why_not_selected(
    declared: Derived, members: Sequence[Group], request: JobRequest
) -> str | None:
    """Explain which values of its param a metric needs that the request leaves out; None if it has enough of them."""
    param = declared.param
    if param is None or param not in request.params:
        return None
    values = {group.params.get(param) for group in members}
    ends = [end for end in (declared.from_, declared.to) if end is not None]
    lacking = [params_text({param: end}) for end in ends if end not in values]
    if not ends and len(values) < 2:
        lacking = [f"two values of {param}"]
    if not lacking:
        return None
    return f"not measured by this selection: it needs {' and '.join(lacking)}"


def _compute_at_point(
    declared: Derived, arm: str, group: Group, sources: DerivedSources
) -> DerivedValue:
    """Return the value of a metric that needs a single group."""
    formula = PAIRED.get(declared.kind)
    if formula is None:
        return _compute_share(declared, arm, group, sources)
    case, base_case = (
        sources.case(group, declared.metric, name)
        for name in (arm, declared.base_arm or "")
    )
    if case is None or base_case is None:
        return DerivedValue(None, note=arm if case is None else declared.base_arm or "")
    return formula(case, base_case)


def _compute_share(
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


def _compute_across_param(
    declared: Derived, arm: str, members: Sequence[Group], sources: DerivedSources
) -> DerivedValue:
    """Return the value of a metric that consumes a param."""
    param = declared.param or ""
    if declared.kind == "crossover":
        return _compute_crossover(declared, arm, members, sources)
    points: dict[ParamValue, Warm] = {}
    for group in members:
        samples = sources.warm.get(group, declared.metric, arm)
        if samples is not None and param in group.params:
            points[group.params[param]] = samples
    if declared.kind == "slope":
        return formulas.slope(
            [
                (float(value), samples)
                for value, samples in points.items()
                if isinstance(value, int)
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


def _compute_crossover(
    declared: Derived, arm: str, members: Sequence[Group], sources: DerivedSources
) -> DerivedValue:
    """Return the crossover. There is none if an expected value was not measured, since the gap may hide a loss."""
    points: list[tuple[int, CaseSamples, CaseSamples]] = []
    for group in members:
        value = group.params.get(declared.param or "")
        case = sources.case(group, declared.metric, arm)
        base_case = sources.case(group, declared.metric, declared.base_arm or "")
        if not isinstance(value, int) or case is None or base_case is None:
            return DerivedValue(
                None, note=f"{arm} and {declared.base_arm} at {declared.param}={value}"
            )
        points.append((value, case, base_case))
    return formulas.crossover(points)
