"""Imports criterion's results: one run per baseline, with every sample.

Criterion's group becomes the benchmark, its function the arm, and its value the params.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from paceline_contract.imported_series import (
    LeftOut,
    keep_one_of_each,
    leave_out,
    make_arm_name,
    metric_of,
    series_id,
    series_problem,
)
from paceline_contract.manifest import Manifest
from paceline_contract.text_names import make_name
from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.imports.importer import SampleImporter
from paceline_server.imports.runs import (
    ImportedCase,
    ImportedRevision,
    ImportedTool,
    ImportOrigin,
    find_suite,
    make_params_of_value,
    refuse_all,
    store_runs,
)
from paceline_server.imports.schemas import (
    LAST_RUN,
    CriterionIn,
    CriterionSeriesIn,
    ImportedRunOut,
    ImportIn,
)
from paceline_server.ingest import service as ingest

CRITERION = ImportedTool(
    "criterion", "criterion", ["target/criterion"], ["cargo", "bench"]
)


class CriterionImporter(SampleImporter[CriterionIn]):
    """Importer of what criterion measured."""

    def identity(self, document: CriterionIn, request: ImportIn) -> dict[str, Any]:
        """Return the document and where it was measured, because its runs depend on both."""
        measured_on = request.measured_on.model_dump(mode="json")
        dumped = document.model_dump(mode="json", exclude={"left_out"})
        return {**dumped, "measured_on": measured_on}

    def columns(self, document: CriterionIn, request: ImportIn) -> dict[str, Any]:
        """Return the columns of the document without its samples, which are stored with its runs."""
        return {
            "file": document.file,
            "sha256": document.sha256,
            "document": document.model_dump(mode="json", exclude={"series"}),
            "devices": [request.measured_on.on],
            "row_count": len(document.series),
        }

    def store_runs(
        self,
        session: Session,
        document: CriterionIn,
        request: ImportIn,
        who: str,
        import_id: str,
    ) -> tuple[list[ImportedRunOut], list[LeftOut]]:
        """Store one run per baseline and commit."""
        where = request.measured_on
        suite = find_suite(session, where.suite)
        target = fleet.ensure_imported_target(session, where.on)
        series, odd = storable_series(document)
        if not series:
            raise refuse_all(odd)
        cases, stored_before = _new_cases(
            session,
            target.id,
            [case_of(measured, suite, where.commit) for measured in series],
        )
        origin = ImportOrigin(import_id, CRITERION, who, target, where.suite, suite)
        return store_runs(session, cases, origin), [*odd, *stored_before]


def storable_series(
    document: CriterionIn,
) -> tuple[list[CriterionSeriesIn], list[LeftOut]]:
    """Return (the series that can be stored, those left out). The last run is not stored again under `new` if a saved
    baseline has its samples."""
    possible, odd = [], []
    for measured in document.series:
        problem = series_problem(measured)
        if problem is None:
            possible.append(measured)
        else:
            odd.append(leave_out(measured, problem))
    kept, more = keep_one_of_each(possible)
    saved = {
        _content(measured): measured
        for measured in kept
        if measured.baseline != LAST_RUN
    }
    series = []
    for measured in kept:
        baseline = saved.get(_content(measured))
        if measured.baseline == LAST_RUN and baseline is not None:
            baseline.last_run = True
        else:
            series.append(measured)
    return series, [*odd, *more]


def _content(series: CriterionSeriesIn) -> tuple[Hashable, ...]:
    samples = (tuple(series.iterations), tuple(series.times))
    return (series_id(series), series.unit, *samples)


def _new_cases(
    session: Session, target_id: str, cases: Sequence[ImportedCase]
) -> tuple[list[ImportedCase], list[LeftOut]]:
    """Return (the cases whose samples the target does not have, the others as left out)."""
    runs = ingest.find_runs_with_samples(
        session, target_id, [case.samples for case in cases]
    )
    new, stored = [], []
    for case, run_id in zip(cases, runs, strict=True):
        if run_id is None:
            new.append(case)
        else:
            why = f"these samples are stored for this target, in {run_id}"
            stored.append(LeftOut.of(case.id, case.path, why))
    return new, stored


def case_of(
    series: CriterionSeriesIn, suite: Manifest | None, last_commit: str | None
) -> ImportedCase:
    """Return a series as a case. Its names depend on nothing but its own texts and the suite. `last_commit` is that of
    the last run."""
    metric = metric_of(series.unit)
    if metric is None:
        raise ValueError(f"the unit {series.unit!r} was not checked")
    benchmark = make_name(series.benchmark)
    declared = None if suite is None else suite.benchmarks.get(benchmark)
    iterations = np.asarray(series.iterations, dtype=np.int64)
    return ImportedCase(
        id=series_id(series),
        title=series.benchmark,
        benchmark=benchmark,
        arm=make_arm_name(series.arm),
        params=make_params_of_value(series.value, declared),
        metric=metric,
        values=np.asarray(series.times) / iterations.astype(np.float64) * metric.scale,
        iterations=iterations,
        revision=ImportedRevision(
            series.baseline, last_commit if series.last_run else None
        ),
        path=series.path,
    )
