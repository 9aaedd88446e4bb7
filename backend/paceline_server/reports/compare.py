"""Compares two revisions or two runs: what differs around them, then every measurement.

I11: nothing is judged across jobs. A row carries a verdict only where an A/B job
measured this pair interleaved, and then ratio and interval are that job's. Otherwise
the interval is the widest the two medians' intervals allow, and the row says that it
knows nothing of what changed between the sessions. Sentences and choices cover all
requested pairs; rows are one page of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy.orm import Session

from paceline_server.jobs.schemas import Judged
from paceline_server.kernel.errors import invalid_request
from paceline_server.reports import pairs, queries, sides
from paceline_server.reports.history_schemas import (
    ChoicesOut,
    CompareOut,
    CompareRowOut,
    EnvironmentDifferenceOut,
    MeasuredSideOut,
    TargetChoiceOut,
)
from paceline_server.reports.pairs import ComparedPair, Key, MeasurementOfSide
from paceline_server.reports.sides import ComparedSide
from paceline_server.series import environments
from paceline_server.series import service as history
from paceline_server.stats.plain_words import describe_ratio, direction_words
from paceline_server.store.page import decode_cursor, encode_cursor
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target

SHOWN = (
    "Shown, not judged: the two sides were measured in different jobs, so a difference may be the day and "
    "not the code. An A/B run measures both interleaved and decides."
)
JUDGED = "Rows marked judged were decided by an A/B job that interleaved both revisions; all others are shown."


@dataclass(frozen=True)
class MeasurementFilter:
    """What the page asks for; None: everything."""

    suite: str | None = None
    target: str | None = None
    benchmark: str | None = None
    metric: str | None = None
    hide_uncertain: bool = False

    @property
    def narrows(self) -> bool:
        """Whether not every measurement was asked for."""
        return (self.target, self.benchmark, self.metric) != (None, None, None)

    def holds(self, key: Key) -> bool:
        """Whether this measurement was asked for."""
        target, benchmark, _, _, metric = key
        asked = (
            (self.target, target),
            (self.benchmark, benchmark),
            (self.metric, metric),
        )
        return all(want in (None, have) for want, have in asked)


def compare(  # noqa: PLR0917 - as the route has them
    session: Session,
    base: str,
    head: str,
    wanted: MeasurementFilter,
    limit: int = 100,
    cursor: str | None = None,
) -> CompareOut:
    """Compare two runs (`run_…`) or revisions (the beginning of a commit), at most `limit` rows after the
    cursor. Raises 404, 400 naming a side or the cursor."""
    left = sides.resolve_side(session, "base", base, wanted.suite)
    right = sides.resolve_side(session, "head", head, wanted.suite or left.suite)
    if left.suite != right.suite:
        raise invalid_request(
            f"base measured {left.suite}, head {right.suite}: they share nothing."
        )
    before, after = pairs.newest_measurements(left), pairs.newest_measurements(right)
    targets = {
        report.target.id: report.target for report in (*left.reports, *right.reports)
    }
    found = _filtered_pairs(session, (left, right), (before, after), wanted)
    kept = [
        pair
        for pair in found
        if not wanted.hide_uncertain or pair.significance == "clear"
    ]
    shown, following = _page(kept, limit, cursor)
    ids = history.series_ids(
        session, left.suite, left.branch, {pair.key[1] for pair in shown}
    )
    differences, same = _environment(session, left, right, wanted.target)
    return CompareOut(
        suite=left.suite,
        base=left.out(),
        head=right.out(),
        note=JUDGED if any(pair.decided is not None for pair in found) else SHOWN,
        same_environment=same,
        environment=differences,
        summary=_summary(
            found, {target.id for target in targets.values() if target.simulated}
        ),
        choices=_choices({**before, **after}, targets),
        total=len(kept),
        hidden=len(found) - len(kept),
        rows=[
            _row(pair, targets[pair.key[0]].name, ids.get(pair.key)) for pair in shown
        ],
        next=following,
    )


def _filtered_pairs(
    session: Session,
    both: tuple[ComparedSide, ComparedSide],
    measured: tuple[Mapping[Key, MeasurementOfSide], Mapping[Key, MeasurementOfSide]],
    wanted: MeasurementFilter,
) -> list[ComparedPair]:
    """Every pair that was asked for, ranked."""
    left, right = both
    before, after = measured
    if wanted.narrows:
        before, after = (
            {key: one for key, one in side.items() if wanted.holds(key)}
            for side in measured
        )
    judged = {
        history.floor_key(row): row
        for row in queries.revisions_judged(
            session, left.suite, left.commit, right.commit
        )
    }
    floors = history.noise_floors(
        session, left.suite, {key[0] for key in {**before, **after}}
    )
    return pairs.pair_measurements(before, after, floors, judged)


def _page(
    kept: Sequence[ComparedPair], limit: int, cursor: str | None
) -> tuple[Sequence[ComparedPair], str | None]:
    """The pairs after the cursor, and the cursor of what follows them. A cursor holds where a page ended and
    which rows had stood before: a verdict or a job that came since may have moved any of them."""
    start, before = (0, "") if cursor is None else decode_cursor(cursor, [int, str])
    if cursor is not None and pairs.digest_of_keys(kept[: max(start, 0)]) != before:
        raise invalid_request(
            "The rows of this comparison have changed since that page: begin again."
        )
    end = start + limit
    return kept[start:end], encode_cursor(
        [end, pairs.digest_of_keys(kept[:end])]
    ) if end < len(kept) else None


def _choices(keys: Collection[Key], targets: Mapping[str, Target]) -> ChoicesOut:
    """What both sides together measured, whatever was asked for: a filter must offer the way back."""
    measured_on = {key[0] for key in keys}
    return ChoicesOut(
        targets=[
            TargetChoiceOut(id=one.id, name=one.name)
            for one in sorted(
                targets.values(), key=lambda target: (target.name, target.id)
            )
            if one.id in measured_on
        ],
        benchmarks=sorted({key[1] for key in keys}),
        metrics=sorted({key[4] for key in keys}),
    )


def _row(of: ComparedPair, target_name: str, series_id: str | None) -> CompareRowOut:
    about = next(side for side in (of.head, of.base) if side is not None).row
    return CompareRowOut(
        benchmark=about["benchmark"],
        arm=about["arm"],
        params=about["params"],
        metric=about["metric"],
        unit=about["unit"],
        direction=about["direction"],
        target_id=of.key[0],
        target_name=target_name,
        series_id=series_id,
        base=_side_out(of.base),
        head=_side_out(of.head),
        ratio=of.ratio,
        lower=of.lower,
        upper=of.upper,
        mde=of.mde,
        words=_row_sentence(of, about["unit"]),
        significance=of.significance,
        magnitude=sides.magnitude(of.ratio),
        judged=of.decided is not None,
        verdict=None if of.decided is None else cast(Judged, of.decided.verdict),
        verdict_job_id=None if of.asked is None else of.asked.job_id,
    )


def _side_out(one: MeasurementOfSide | None) -> MeasuredSideOut | None:
    if one is None:
        return None
    row = one.row
    return MeasuredSideOut(
        value=row["median"],
        lower=row.get("median_lower"),
        upper=row.get("median_upper"),
        n=row["n"],
        launches=row["launches"],
        job_id=one.job_id,
        excluded=one.excluded,
    )


def _row_sentence(of: ComparedPair, unit: str) -> str:
    if of.base is None:
        return "only measured at head"
    if of.head is None:
        return "only measured at base"
    if of.ratio is None:
        return "values that are not positive have no ratio"
    if of.lower is None or of.upper is None:
        return f"{describe_ratio(of.ratio, unit)} (too few samples for an interval)"
    return f"{describe_ratio(of.ratio, unit)} ({describe_ratio(of.lower, unit)} to {describe_ratio(of.upper, unit)})"


def _summary(found: Sequence[ComparedPair], simulated: Collection[str]) -> str:
    """Over the pairs of real targets; how many of simulated ones were left out of it."""
    both = [pair for pair in found if pair.ratio is not None]
    real = [pair for pair in both if pair.key[0] not in simulated]
    if not both:
        return "Nothing was measured on both sides."
    left_out = (
        f" Not counted: {len(both) - len(real)} of simulated targets."
        if len(real) < len(both)
        else ""
    )
    return (
        _count_real(real) + left_out
        if real
        else f"Only simulated targets were measured.{left_out}"
    )


def _count_real(both: Sequence[ComparedPair]) -> str:
    clear = [pair for pair in both if pair.significance == "clear"]
    if not clear:
        return f"None of {len(both)} measurements differs clearly."
    worse = [pair for pair in clear if (pair.ratio or 1.0) > 1.0]
    bad, good = _direction_words({_unit(pair) for pair in clear})
    largest = max(clear, key=lambda pair: abs((pair.ratio or 1.0) - 1.0))
    _, benchmark, arm, _, _ = largest.key
    return (
        f"{len(clear)} of {len(both)} measurements {'differs' if len(clear) == 1 else 'differ'} clearly: "
        f"{len(worse)} {bad}, {len(clear) - len(worse)} {good}; most of all {benchmark} "
        f"{arm}, {describe_ratio(largest.ratio or 1.0, _unit(largest))}."
    )


def _unit(of: ComparedPair) -> str:
    return str(
        next(side for side in (of.head, of.base) if side is not None).row["unit"]
    )


def _direction_words(units: Collection[str]) -> tuple[str, str]:
    """What is true of all: nothing but speeds got slower or faster."""
    said = {direction_words(unit) for unit in units}
    return said.pop() if len(said) == 1 else ("worse", "better")


def _environment(
    session: Session, left: ComparedSide, right: ComparedSide, target_id: str | None
) -> tuple[list[EnvironmentDifferenceOut], bool]:
    """What differs between the newest jobs of each target that both sides have; and whether nothing does."""
    pairs = [
        (base, right.newest[name])
        for name, base in left.newest.items()
        if name in right.newest and target_id in (None, name)
    ]
    jobs = [side.job for pair in pairs for side in pair]
    known = history.fingerprints_of_jobs(session, [job.id for job in jobs])
    was = {job.id: known.get(job.id, job.fingerprint) for job in jobs}
    factors = history.fingerprints(
        session, {fingerprint for fingerprint in was.values() if fingerprint}
    )
    rows: list[EnvironmentDifferenceOut] = []
    for base, head in pairs:
        before, after = was[base.job.id], was[head.job.id]
        if base.target.agent_id == IMPORTS_AGENT:
            rows.append(_unrecorded(base.target))
        elif before != after:
            both = factors.get(before or ""), factors.get(after or "")
            rows += _differences(base.target, *both)
    shared = bool(pairs)
    return rows, shared and not rows


def _unrecorded(target: Target) -> EnvironmentDifferenceOut:
    """Of figures another tool measured: its target was never asked, so nothing is known to be the same."""
    return EnvironmentDifferenceOut(
        target_id=target.id,
        target_name=target.name,
        factor=None,
        base=None,
        head=None,
        words=f"{target.spoken_name}: its figures were imported, and no environment was recorded with them",
    )


def _differences(
    target: Target, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> list[EnvironmentDifferenceOut]:
    where = {"target_id": target.id, "target_name": target.name}
    name = target.spoken_name
    found = environments.differences(before, after) if before and after else []
    if not found:
        return [
            EnvironmentDifferenceOut(
                **where,
                factor=None,
                base=None,
                head=None,
                words=f"{name} changed between the two; how is not known",
            )
        ]
    return [
        EnvironmentDifferenceOut(
            **where,
            factor=compared.factor,
            base=compared.before,
            head=compared.after,
            words=f"{name}: {compared.words()}",
        )
        for compared in found
    ]
