"""Compares two revisions or two runs: the differences of their environments, then every measurement.

Nothing is judged across jobs (I11). A row has a verdict only if an A/B job measured the pair interleaved, and then
ratio and interval are that job's; other rows have no verdict. Sentences and choices cover all requested pairs, rows are
one page of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from paceline_contract.manifest_reader import read_manifest
from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
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
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target

SHOWN = (
    "Shown, not judged: the two sides were measured in different jobs, so a difference may be the day and "
    "not the code. An A/B run measures both interleaved and decides."
)
JUDGED = "Rows marked judged were decided by an A/B job that interleaved both revisions; all others are shown."


@dataclass(frozen=True)
class MeasurementFilter:
    """The filter of the page; None does not filter."""

    suite: str | None = None
    target: str | None = None
    benchmark: str | None = None
    metric: str | None = None
    hide_uncertain: bool = False

    @property
    def narrows(self) -> bool:
        """True if it leaves out any measurement."""
        return (self.target, self.benchmark, self.metric) != (None, None, None)

    def matches(self, key: Key) -> bool:
        """Return whether a measurement passes the filter."""
        target, benchmark, _, _, metric = key
        return (
            self.target in (None, target)
            and self.benchmark in (None, benchmark)
            and self.metric in (None, metric)
        )


def compare(  # noqa: PLR0917 - as the route has them
    session: Session,
    base: str,
    head: str,
    wanted: MeasurementFilter,
    limit: int = 100,
    cursor: str | None = None,
) -> CompareOut:
    """Compare two runs (`run_…`) or revisions (an abbreviated commit), at most `limit` rows after the cursor.
    Raises 404 and 400, naming the side or the cursor."""
    base_side = sides.resolve_side(session, "base", base, wanted.suite)
    head_side = sides.resolve_side(
        session, "head", head, wanted.suite or base_side.suite
    )
    if base_side.suite != head_side.suite:
        raise invalid_request(
            f"The base measured the suite {base_side.suite}, the head {head_side.suite}: they have nothing in common. "
            "Choose two sides of one suite."
        )
    names = _newest_names(session, base_side, head_side)
    before, after = (
        pairs.newest_measurements(base_side, names),
        pairs.newest_measurements(head_side, names),
    )
    targets = {
        report.target.id: report.target
        for report in (*base_side.reports, *head_side.reports)
    }
    compared = _filtered_pairs(
        session, (base_side, head_side), (before, after), wanted, names
    )
    kept = [
        pair
        for pair in compared
        if not wanted.hide_uncertain or pair.significance == "clear"
    ]
    shown, following = _page(kept, limit, cursor)
    ids = history.series_ids(
        session, base_side.suite, base_side.branch, {pair.key[1] for pair in shown}
    )
    differences, same = _environment(session, base_side, head_side, wanted.target)
    choices = _choices({**before, **after}, targets)
    compared_names = {name for pair in compared for name in pair.key[1:3]}
    texts = history.name_texts(session, [*choices.benchmarks, *compared_names])
    return CompareOut(
        suite=base_side.suite,
        base=base_side.out(),
        head=head_side.out(),
        note=JUDGED if any(pair.decided is not None for pair in compared) else SHOWN,
        same_environment=same,
        environment=differences,
        summary=_summary(
            compared,
            {target.id for target in targets.values() if target.simulated},
            texts,
        ),
        choices=choices,
        total=len(kept),
        hidden=len(compared) - len(kept),
        rows=[
            _row(pair, targets[pair.key[0]].name, ids.get(pair.key)) for pair in shown
        ],
        name_texts=texts,
        next=following,
    )


def _newest_names(
    session: Session, base: ComparedSide, head: ComparedSide
) -> pairs.Names:
    """Return the names of benchmarks and arms by the aliases of both sides' manifests and of the newest announcement."""
    announced = catalog.announced_manifest(session, base.suite)
    manifests = [base.runs[0].manifest, head.runs[0].manifest, announced]
    names_of_manifests = [
        history.NewestNames.of(read_manifest(raw))
        for raw in manifests
        if raw is not None
    ]

    def newest(benchmark: str, arm: str) -> tuple[str, str]:
        for names in names_of_manifests:
            benchmark, arm = names.newest(benchmark, arm)
        return benchmark, arm

    return newest


def _filtered_pairs(
    session: Session,
    both: tuple[ComparedSide, ComparedSide],
    measured: tuple[Mapping[Key, MeasurementOfSide], Mapping[Key, MeasurementOfSide]],
    wanted: MeasurementFilter,
    names: pairs.Names,
) -> list[ComparedPair]:
    """Return every pair that passes the filter, ranked."""
    left, right = both
    before, after = measured
    if wanted.narrows:
        before, after = (
            {
                key: measurement
                for key, measurement in side.items()
                if wanted.matches(key)
            }
            for side in measured
        )
    judged: dict[Key, Comparison] = {}
    for row in queries.revisions_judged(session, left.suite, left.commit, right.commit):
        benchmark, arm = names(row.benchmark, row.arm)
        key = (row.target_id, benchmark, arm, row.params_key, row.metric)
        judged[key] = row
    floors = history.noise_floors(
        session, left.suite, {key[0] for key in {**before, **after}}
    )
    return pairs.pair_measurements(before, after, floors, judged)


def _page(
    kept: Sequence[ComparedPair], limit: int, cursor: str | None
) -> tuple[Sequence[ComparedPair], str | None]:
    """Return the pairs after the cursor, and the next cursor. A cursor holds the position and a digest of the rows
    before it, because a new verdict or job can reorder them."""
    start, before = (0, "") if cursor is None else decode_cursor(cursor, [int, str])
    if cursor is not None and pairs.digest_of_keys(kept[: max(start, 0)]) != before:
        raise invalid_request(
            "The rows of this comparison have changed since that page: begin again."
        )
    end = start + limit
    if end >= len(kept):
        return kept[start:end], None
    following = encode_cursor([end, pairs.digest_of_keys(kept[:end])])
    return kept[start:end], following


def _choices(keys: Collection[Key], targets: Mapping[str, Target]) -> ChoicesOut:
    """Return all values that both sides measured, ignoring the filter, so that a page can widen the filter again."""
    measured_on = {key[0] for key in keys}
    return ChoicesOut(
        targets=[
            TargetChoiceOut(id=target.id, name=target.name)
            for target in sorted(
                targets.values(), key=lambda target: (target.name, target.id)
            )
            if target.id in measured_on
        ],
        benchmarks=sorted({key[1] for key in keys}),
        metrics=sorted({key[4] for key in keys}),
    )


def _row(pair: ComparedPair, target_name: str, series_id: str | None) -> CompareRowOut:
    about = pair.any_side.row
    _, benchmark, arm, _, _ = pair.key
    return CompareRowOut(
        benchmark=benchmark,
        arm=arm,
        params=about["params"],
        metric=about["metric"],
        unit=about["unit"],
        direction=about["direction"],
        target_id=pair.key[0],
        target_name=target_name,
        series_id=series_id,
        base=_side_out(pair.base),
        head=_side_out(pair.head),
        ratio=pair.ratio,
        lower=pair.lower,
        upper=pair.upper,
        mde=pair.mde,
        words=_row_sentence(pair, about["unit"]),
        significance=pair.significance,
        magnitude=sides.magnitude(pair.ratio),
        judged=pair.decided is not None,
        verdict=None if pair.decided is None else cast(Judged, pair.decided.verdict),
        verdict_job_id=None if pair.measured_by is None else pair.measured_by.job_id,
    )


def _side_out(measured: MeasurementOfSide | None) -> MeasuredSideOut | None:
    if measured is None:
        return None
    row = measured.row
    return MeasuredSideOut(
        value=row["median"],
        lower=row.get("median_lower"),
        upper=row.get("median_upper"),
        n=row["n"],
        launches=row["launches"],
        job_id=measured.job_id,
        excluded=measured.excluded,
    )


def _row_sentence(pair: ComparedPair, unit: str) -> str:
    if pair.base is None:
        return "only measured at head"
    if pair.head is None:
        return "only measured at base"
    if pair.ratio is None:
        return "values that are not positive have no ratio"
    if pair.lower is None or pair.upper is None:
        return f"{describe_ratio(pair.ratio, unit)} (too few samples for an interval)"
    return f"{describe_ratio(pair.ratio, unit)} ({describe_ratio(pair.lower, unit)} to {describe_ratio(pair.upper, unit)})"


def _summary(
    compared: Sequence[ComparedPair],
    simulated: Collection[str],
    texts: Mapping[str, str],
) -> str:
    """Return a sentence about the pairs of real targets, and how many pairs of simulated targets it leaves out.
    `texts`: the whole text of names that hold a digest of it."""
    both = [pair for pair in compared if pair.ratio is not None]
    real = [pair for pair in both if pair.key[0] not in simulated]
    if not both:
        return "Nothing was measured on both sides."
    left_out = (
        f" Not counted: {len(both) - len(real)} of simulated targets."
        if len(real) < len(both)
        else ""
    )
    if not real:
        return f"Only simulated targets were measured.{left_out}"
    return _count_clear(real, texts) + left_out


def _count_clear(both: Sequence[ComparedPair], texts: Mapping[str, str]) -> str:
    clear = [pair for pair in both if pair.significance == "clear"]
    if not clear:
        return f"None of {len(both)} measurements differs clearly."
    worse = [pair for pair in clear if (pair.ratio or 1.0) > 1.0]
    bad, good = _direction_words({pair.any_side.row["unit"] for pair in clear})
    largest = max(clear, key=lambda pair: abs((pair.ratio or 1.0) - 1.0))
    _, benchmark, arm, _, _ = largest.key
    return (
        f"{len(clear)} of {len(both)} measurements {'differs' if len(clear) == 1 else 'differ'} clearly: "
        f"{len(worse)} {bad}, {len(clear) - len(worse)} {good}; most of all "
        f"{texts.get(benchmark, benchmark)} {texts.get(arm, arm)}, {describe_ratio(largest.ratio or 1.0, largest.any_side.row['unit'])}."
    )


def _direction_words(units: Collection[str]) -> tuple[str, str]:
    """Return (`slower`, `faster`) if all units are times, else (`worse`, `better`)."""
    directions = {direction_words(unit) for unit in units}
    return directions.pop() if len(directions) == 1 else ("worse", "better")


def _environment(
    session: Session, left: ComparedSide, right: ComparedSide, target_id: str | None
) -> tuple[list[EnvironmentDifferenceOut], bool]:
    """Return how the environment of the newest jobs differs on each target of both sides, and whether it is known to
    be the same."""
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
        both = factors.get(before or ""), factors.get(after or "")
        if base.target.agent_id == IMPORTS_AGENT and not all(both):
            rows.append(_unrecorded_environment(base.target))
        elif before != after:
            rows += _differences(base.target, *both)
    return rows, bool(pairs) and not rows


def _unrecorded_environment(target: Target) -> EnvironmentDifferenceOut:
    """Return the entry of a target whose figures were imported, without a record of its environment."""
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
    differences = environments.differences(before, after) if before and after else []
    if not differences:
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
        for compared in differences
    ]
