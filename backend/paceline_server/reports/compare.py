"""Two revisions or two runs side by side: what differs around them first, then every measurement.

Place: above the stored reports of jobs. Invariant I11: across jobs nothing is judged; a row carries a verdict
only where an A/B job measured this very pair interleaved, and then ratio and interval are that job's. The
interval of a row that is only shown is the widest the two medians' intervals allow: it knows nothing of what
changed between two sessions, and says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from sqlalchemy.orm import Session

from paceline_server.detect.schemas import JobReportOut, MeasurementOut
from paceline_server.ingest.cases import params_key
from paceline_server.jobs.schemas import Judged
from paceline_server.kernel.errors import invalid_request
from paceline_server.reports import queries, sides
from paceline_server.reports.history_schemas import (
    CompareOut,
    CompareRowOut,
    EnvironmentDifferenceOut,
    MeasuredSideOut,
)
from paceline_server.reports.sides import Side
from paceline_server.series import environments
from paceline_server.series import service as history
from paceline_server.stats.words import change
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import Target

SHOWN = (
    "Shown, not judged: the two sides were measured in different jobs, so a difference may be the day and "
    "not the code. An A/B run measures both interleaved and decides."
)
JUDGED = (
    "Rows marked judged were decided by an A/B job that interleaved both revisions; all others are shown."
)

Key = tuple[str, str, str, str, str]
"""(target, benchmark, arm, params key, metric)."""


class Measured(NamedTuple):
    """One measurement of a side, and why it may not be judged."""

    row: MeasurementOut
    job_id: str
    excluded: str | None


@dataclass(frozen=True)
class Wanted:
    """What the page asks for; None: everything."""

    suite: str | None = None
    target: str | None = None
    benchmark: str | None = None
    metric: str | None = None
    hide_uncertain: bool = False


def compare(session: Session, base: str, head: str, wanted: Wanted) -> CompareOut:
    """Compare two runs (`run_…`) or revisions (the beginning of a commit). Raises 404, 400 naming a side."""
    left = sides.resolve(session, "base", base, wanted.suite)
    right = sides.resolve(session, "head", head, wanted.suite or left.suite)
    if left.suite != right.suite:
        raise invalid_request(f"base measured {left.suite}, head {right.suite}: they share nothing.")
    before, after = _measured(left, wanted), _measured(right, wanted)
    judged = {
        _key(row): row for row in queries.revisions_judged(session, left.suite, left.commit, right.commit)
    }
    floors = history.noise_floors(session, left.suite, {key[0] for key in {**before, **after}})
    targets = {one.target.id: one.target for one in (*left.reports, *right.reports)}
    simulated = {target.id for target in targets.values() if target.simulated}
    ids = history.series_ids(session, left.suite, left.branch)
    found = [
        (key, _row(About(key, targets[key[0]].name, ids.get(key), floors.get(key)),
                   before.get(key), after.get(key), judged.get(key)))
        for key in dict.fromkeys([*before, *after])
    ]  # fmt: skip
    found.sort(key=_clearest_first)
    rows = [row for _, row in found]
    kept = [row for row in rows if not wanted.hide_uncertain or row.significance == "clear"]
    differences, same = _environment(session, left, right, wanted.target)
    return CompareOut(
        suite=left.suite,
        base=left.out(),
        head=right.out(),
        note=JUDGED if any(row.judged for row in rows) else SHOWN,
        same_environment=same,
        environment=differences,
        summary=_summary(rows, simulated),
        hidden=len(rows) - len(kept),
        rows=kept,
    )


def _measured(side: Side, wanted: Wanted) -> dict[Key, Measured]:
    """The newest measurement of everything, in the order of the reports."""
    found: dict[Key, Measured] = {}
    for one in side.reports:
        if wanted.target not in (None, one.target.id):
            continue
        report = JobReportOut.model_validate(one.report)
        excluded = report.blockers[0] if report.blockers else None
        for row in report.measurements:
            if row.side == "base":  # of an A/B run the head is what it is called by
                continue
            if wanted.benchmark in (None, row.benchmark) and wanted.metric in (None, row.metric):
                key = (one.target.id, row.benchmark, row.arm, params_key(row.params), row.metric)
                found[key] = Measured(row, one.job.id, excluded)
    return found


def _key(row: Comparison) -> Key:
    return row.target_id, row.benchmark, row.arm, row.params_key, row.metric


class About(NamedTuple):
    """What a row is of, and what history knows of that."""

    key: Key
    target_name: str
    series_id: str | None
    mde: float | None


def _row(of: About, base: Measured | None, head: Measured | None, judged: Comparison | None) -> CompareRowOut:
    about = (head or base or _nobody()).row
    ratio, lower, upper = _ratio(base, head)
    asked = judged
    if judged is not None and judged.ratio is not None and judged.verdict != "inconclusive":
        ratio, lower, upper = judged.ratio, judged.lower, judged.upper
    else:
        judged = None
    left_out = judged is None and any(side is not None and side.excluded for side in (base, head))
    clear = sides.significance(ratio, lower, upper, of.mde)
    return CompareRowOut(
        benchmark=about.benchmark,
        arm=about.arm,
        params=about.params,
        metric=about.metric,
        unit=about.unit,
        direction=about.direction,
        target_id=of.key[0],
        target_name=of.target_name,
        series_id=of.series_id,
        base=_side_out(base),
        head=_side_out(head),
        ratio=ratio,
        lower=lower,
        upper=upper,
        mde=of.mde,
        words=_words(base, head, ratio, lower, upper),
        significance="uncertain" if left_out else clear,
        magnitude=sides.magnitude(ratio),
        judged=judged is not None,
        verdict=None if judged is None else cast(Judged, judged.verdict),
        verdict_job_id=None if asked is None else asked.job_id,
    )


def _nobody() -> Measured:
    raise AssertionError("a row comes from a measurement of one side at least")


def _side_out(one: Measured | None) -> MeasuredSideOut | None:
    if one is None:
        return None
    row = one.row
    return MeasuredSideOut(
        value=row.median, lower=row.median_lower, upper=row.median_upper, n=row.n, launches=row.launches,
        job_id=one.job_id, excluded=one.excluded,
    )  # fmt: skip


def _ratio(base: Measured | None, head: Measured | None) -> tuple[float | None, float | None, float | None]:
    """Cost of head ÷ cost of base, with the widest interval the two medians' intervals allow."""
    if base is None or head is None or min(base.row.median, head.row.median) <= 0.0:
        return None, None, None
    top, bottom = (head.row, base.row) if head.row.direction == "lower" else (base.row, head.row)
    ratio = top.median / bottom.median
    bounds = (top.median_lower, top.median_upper, bottom.median_lower, bottom.median_upper)
    if any(bound is None or bound <= 0.0 for bound in bounds):
        return ratio, None, None
    low, high, below, above = (float(bound) for bound in bounds if bound is not None)
    return ratio, low / above, high / below


def _words(
    base: Measured | None,
    head: Measured | None,
    ratio: float | None,
    lower: float | None,
    upper: float | None,
) -> str:
    if base is None:
        return "only measured at head"
    if head is None:
        return "only measured at base"
    if ratio is None:
        return "values that are not positive have no ratio"
    if lower is None or upper is None:
        return f"{change(ratio)} (too few samples for an interval)"
    return f"{change(ratio)} ({change(lower)} to {change(upper)})"


def _clearest_first(found: tuple[Key, CompareRowOut]) -> tuple[bool, int, float, str, str, str, str]:
    (target_id, benchmark, arm, params, _), row = found
    order = {"clear": 0, "below_noise": 1, "uncertain": 2}
    away = 0.0 if row.ratio is None else -abs(row.ratio - 1.0)
    return not row.judged, order[row.significance], away, benchmark, arm, params, target_id


def _summary(rows: Sequence[CompareRowOut], simulated: Collection[str]) -> str:
    """Over the rows of real targets; how many rows of simulated ones were left out of it."""
    both = [row for row in rows if row.ratio is not None]
    real = [row for row in both if row.target_id not in simulated]
    if not both:
        return "Nothing was measured on both sides."
    left_out = f" Not counted: {len(both) - len(real)} of simulated targets." if len(real) < len(both) else ""
    return _counted(real) + left_out if real else f"Only simulated targets were measured.{left_out}"


def _counted(both: Sequence[CompareRowOut]) -> str:
    clear = [row for row in both if row.significance == "clear" and row.ratio is not None]
    if not clear:
        return f"None of {len(both)} measurements differs clearly."
    slower = [row for row in clear if (row.ratio or 1.0) > 1.0]
    largest = max(clear, key=lambda row: abs((row.ratio or 1.0) - 1.0))
    return (
        f"{len(clear)} of {len(both)} measurements {'differs' if len(clear) == 1 else 'differ'} clearly: "
        f"{len(slower)} slower, {len(clear) - len(slower)} faster; most of all {largest.benchmark} "
        f"{largest.arm}, {change(largest.ratio or 1.0)}."
    )


def _environment(
    session: Session, left: Side, right: Side, target_id: str | None
) -> tuple[list[EnvironmentDifferenceOut], bool]:
    """What differs between the newest jobs of each target that both sides have; and whether nothing does."""
    pairs = [
        (base, right.newest[name])
        for name, base in left.newest.items()
        if name in right.newest and target_id in (None, name)
    ]
    jobs = [one.job for pair in pairs for one in pair]
    known = history.fingerprints_of_jobs(session, [job.id for job in jobs])
    was = {job.id: known.get(job.id, job.fingerprint) for job in jobs}
    factors = history.fingerprints(session, {one for one in was.values() if one})
    rows: list[EnvironmentDifferenceOut] = []
    for base, head in pairs:
        before, after = was[base.job.id], was[head.job.id]
        if before != after:
            both = factors.get(before or ""), factors.get(after or "")
            rows += _differences(base.target, *both)
    shared = bool(pairs)
    return rows, shared and not rows


def _differences(
    target: Target, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> list[EnvironmentDifferenceOut]:
    where = {"target_id": target.id, "target_name": target.name}
    name = target.spoken_name
    found = environments.differences(before, after) if before and after else []
    if not found:
        return [
            EnvironmentDifferenceOut(
                **where, factor=None, base=None, head=None,
                words=f"{name} changed between the two; how is not known",
            )
        ]  # fmt: skip
    return [
        EnvironmentDifferenceOut(
            **where, factor=one.factor, base=one.before, head=one.after,
            words=f"{name}: {one.words()}",
        )
        for one in found
    ]  # fmt: skip
