"""Builds the matrix of a suite: one cell per benchmark and target.

A cell shows the value of one series, and the worst verdict and change of all its series.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, cast

from paceline_contract.manifest import Manifest
from paceline_contract.params import params_text
from paceline_contract.units import Unit
from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import Judged
from paceline_server.kernel import clock
from paceline_server.reports import queries
from paceline_server.reports.history_schemas import (
    MatrixCellOut,
    MatrixOut,
    MatrixRowOut,
    MatrixTargetOut,
    MatrixUnmeasuredOut,
)
from paceline_server.series import service as history
from paceline_server.series.schemas import ChangeOut
from paceline_server.series.service import SeriesStanding
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import IMPORTS_AGENT

STALE_AFTER = timedelta(days=7)
"""A value this old is stale: schedules are nightly or weekly, so at least one run was missed."""

ENDED_JOBS = 500
"""How many of the newest jobs are searched for jobs without a verdict: months of a nightly suite on a few targets."""

WORST_FIRST: tuple[Judged, ...] = ("fail", "inconclusive", "pass", "not_applicable")

Cell = tuple[str, str]
"""(benchmark, target)."""


def matrix(session: Session, suite: str, branch: str | None) -> MatrixOut:
    """Return the matrix of a suite on a branch, by default the one measured last. Raises 404.

    Of a suite that no agent announced, all imported series are shown, judged or not."""
    manifest, is_imported = catalog.find_measured(session, suite)
    imports: history.Imports = "all" if is_imported else "judged"
    branches = history.branches(session, suite, imports)
    last = (
        None
        if branch is not None or branches
        else queries.branch_run_last(session, suite)
    )
    chosen = branch if branch is not None else next(iter(branches), last or "")
    cells: dict[Cell, list[SeriesStanding]] = defaultdict(list)
    called = history.NewestNames.of(manifest)
    for standing in history.standings(session, suite, chosen, imports):
        cells[
            called.benchmark(standing.series.benchmark), standing.series.target_id
        ].append(standing)
    verdicts = _verdicts(queries.newest_judged(session, suite, chosen), called)
    unmeasured = _unmeasured_cells(
        queries.newest_ended_jobs(session, suite, chosen, ENDED_JOBS), called
    )
    targets = queries.targets(session, {target for _, target in [*cells, *unmeasured]})
    judged = {target.kind: manifest.on(target.kind) for target in targets}
    retired = history.retired_reasons(session, suite)
    names = list(
        dict.fromkeys([*manifest.benchmarks, *sorted(name for name, _ in cells)])
    )
    rows = [
        MatrixRowOut(
            benchmark=name,
            title=manifest.benchmarks[name].title
            if name in manifest.benchmarks
            else name,
            declared=is_imported or name in manifest.benchmarks,
            retired=retired.get(name),
            cells=[
                _cell(
                    judged[target.kind],
                    cells[name, target.id],
                    verdicts.get((name, target.id), ()),
                )
                for target in targets
                if (name, target.id) in cells
            ],
            unmeasured=[
                unmeasured[name, target.id]
                for target in targets
                if (name, target.id) in unmeasured
            ],
        )
        for name in names
    ]
    return MatrixOut(
        suite=suite,
        branch=chosen,
        branches=branches,
        targets=[
            MatrixTargetOut(
                id=target.id,
                name=target.name,
                kind=cast(Literal["host", "device"], target.kind),
                imported=target.agent_id == IMPORTS_AGENT,
            )
            for target in targets
        ],
        rows=rows,
    )


def _verdicts(
    rows: Sequence[Comparison], called: history.NewestNames
) -> dict[Cell, list[Comparison]]:
    """Return comparisons by the current name of their benchmark; those stored under that name replace those under older
    names."""
    verdicts: dict[Cell, list[Comparison]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.benchmark in called.benchmarks):
        cell = (called.benchmark(row.benchmark), row.target_id)
        if not verdicts[cell] or verdicts[cell][0].benchmark == row.benchmark:
            verdicts[cell].append(row)
    return verdicts


def _unmeasured_cells(
    ended: Sequence[queries.EndedJobRow], called: history.NewestNames
) -> dict[Cell, MatrixUnmeasuredOut]:
    """Return cells whose newest ended job has no verdict; `ended` has the newest first."""
    newest: dict[Cell, MatrixUnmeasuredOut | None] = {}
    for job, target, benchmarks in ended:
        out, why = jobs.job_with_reason(job, target)
        missed = MatrixUnmeasuredOut(
            target_id=target.id,
            outcome=out.outcome,
            cause=out.cause,
            words=why,
            at=out.finished_at or out.created_at,
            run_id=out.run_id,
            job_id=out.id,
        )
        for benchmark in benchmarks:
            judged = out.outcome not in jobs.WITHOUT_VERDICT
            newest.setdefault(
                (called.benchmark(benchmark), target.id), None if judged else missed
            )
    return {cell: missed for cell, missed in newest.items() if missed is not None}


def _cell(
    manifest: Manifest,
    standings: Sequence[SeriesStanding],
    compared: Sequence[Comparison],
) -> MatrixCellOut:
    shown_standing = min(
        standings, key=lambda standing: _headline_series(manifest, standing)
    )
    point, series = shown_standing.point, shown_standing.series
    newest = max(standing.point.at for standing in standings)
    changes = [change for standing in standings for change in standing.changes]
    worst = min(
        compared,
        key=lambda row: WORST_FIRST.index(cast(Judged, row.verdict)),
        default=None,
    )
    floors = [standing.mde for standing in standings if standing.mde is not None]
    stale = _stale_sentence(newest)
    return MatrixCellOut(
        target_id=series.target_id,
        series=len(standings),
        series_id=series.id,
        of=_series_label(shown_standing),
        unit=cast(Unit, series.unit),
        value=point.value,
        excluded=point.excluded,
        at=point.at,
        commit=point.commit,
        run_id=point.run_id,
        job_id=point.job_id,
        verdict=None if worst is None else cast(Judged, worst.verdict),
        verdict_words=_verdict_sentence(worst),
        change=_worst_change(changes),
        changes=dict(Counter(change.state for change in changes)),
        mde=max(floors, default=None),
        stale=stale is not None,
        stale_words=stale,
    )


def _headline_series(
    manifest: Manifest, standing: SeriesStanding
) -> tuple[bool, bool, str]:
    """Return the sort key that selects the series a cell shows: first the primary metric of an arm other than the
    reference, then the oldest series."""
    declared = manifest.benchmarks.get(standing.series.benchmark)
    if declared is None:
        return False, False, standing.series.id
    return (
        standing.series.metric != declared.primary_metric,
        standing.series.arm == declared.reference,
        standing.series.id,
    )


def _series_label(standing: SeriesStanding) -> str:
    params = params_text(standing.series.params)
    return f"{standing.series.arm} {standing.series.metric}" + (
        f", {params}" if params else ""
    )


def _worst_change(changes: Sequence[ChangeOut]) -> ChangeOut | None:
    """Return the largest standing change for the worse, then for the better, then suspected ones."""

    def rank(change: ChangeOut) -> tuple[bool, bool, float]:
        return (
            change.state != "standing",
            change.direction in ("faster", "better"),
            -abs(change.effect),
        )

    return min(changes, key=rank, default=None)


def _verdict_sentence(worst: Comparison | None) -> str:
    if worst is None:
        return "no arm is compared with another"
    at = params_text(worst.params)
    decided = worst.verdict in ("pass", "fail")
    words = worst.evidence["words"] if decided else worst.reason
    return f"{worst.arm}{f' at {at}' if at else ''}: {words}"


def _stale_sentence(newest: datetime) -> str | None:
    age = clock.now() - newest
    return f"not measured for {age.days} days" if age > STALE_AFTER else None
