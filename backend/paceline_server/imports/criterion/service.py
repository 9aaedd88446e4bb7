"""Criterion's document as runs: one per baseline, with every sample.

Place: beside the log's documents, under `imports.service`; it writes through the services of the features
whose rows they are. Invariants: every sample is stored as it was measured; all samples of a benchmark are of
one launch and one round, for criterion has neither, so no count of them ever makes a verdict; the ordinary
analysis follows and says that it was imported.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy.orm import Session

from paceline_server.catalog import manifest as manifests
from paceline_server.catalog import service as catalog
from paceline_server.catalog.manifest import Manifest, ManifestError
from paceline_server.fleet import service as fleet
from paceline_server.imports.criterion import naming
from paceline_server.imports.criterion.naming import Case
from paceline_server.imports.criterion.schemas import (
    NS_PER,
    CriterionIn,
    ImportedRunOut,
    ImportedSeriesOut,
    MeasuredOnIn,
)
from paceline_server.ingest import service as ingest
from paceline_server.ingest.cases import params_key
from paceline_server.jobs import service as jobs
from paceline_server.kernel.errors import invalid_request
from paceline_server.stats.samples import Floats
from paceline_server.stats.summary import tukey_outliers

LAST_RUN = "new"
"""Criterion's name for what ran last: no saved baseline."""


def keep(
    session: Session,
    document: CriterionIn,
    where: MeasuredOnIn,
    who: str,
    import_id: str,
) -> list[ImportedRunOut]:
    """Store a document's samples as runs, in the order of its baselines. Raises 404 for a suite that nobody
    announced, 400 for names that no run can have."""
    suite = (
        None
        if where.suite is None
        else manifests.read(catalog.find(session, where.suite).manifest)
    )
    target = fleet.imported_target(session, where.on)
    baselines = dict.fromkeys(one.baseline for one in document.series)
    prepared = []
    for baseline in baselines:
        cases = naming.cases_of(
            [one for one in document.series if one.baseline == baseline], suite
        )
        prepared.append((baseline, cases, _manifest(cases, where.suite, suite)))
    stored = []
    for baseline, cases, manifest in prepared:
        job = jobs.store_imported_run(
            session,
            jobs.ImportedRun(
                suite=where.suite or naming.NO_SUITE,
                source=import_id,
                manifest=manifest,
                commit=where.commit,
                branch=None if baseline == LAST_RUN else baseline,
                target=target,
                samples=sum(len(case.said.times) for case in cases),
                created_by=who,
            ),
        )
        ingest.store_imported(session, job.id, [_samples(case) for case in cases])
        jobs.analyse_imported(session, job)
        series = [_series(case) for case in cases]
        stored.append(
            ImportedRunOut(
                run_id=job.run_id, job_id=job.id, baseline=baseline, series=series
            )
        )
    return stored


def _manifest(
    cases: Sequence[Case], name: str | None, suite: Manifest | None
) -> dict[str, object]:
    seen: set[tuple[str, str, str]] = set()
    for case in cases:
        key = (case.benchmark, case.arm, params_key(case.params))
        if key in seen:
            detail = f"{case.id} is there twice in the baseline {case.said.baseline}: import one of them"
            raise invalid_request(f"series: {detail}.", {"series": detail})
        seen.add(key)
    found = naming.manifest_of(cases, name, suite)
    try:
        manifests.read(found)
    except ManifestError as error:
        detail = f"no run can hold them: {error}"[:500]
        raise invalid_request(f"series: {detail}.", {"series": detail}) from None
    return found


def _per_iteration(case: Case) -> Floats:
    """Nanoseconds per iteration, shape (n,)."""
    said = case.said
    return (
        np.asarray(said.times)
        / np.asarray(said.iterations, dtype=np.float64)
        * NS_PER[said.unit or "ns"]
    )


def _samples(case: Case) -> ingest.Imported:
    return ingest.Imported(
        case.benchmark,
        case.arm,
        case.params,
        naming.METRIC,
        "ns",
        "lower",
        _per_iteration(case),
        np.asarray(case.said.iterations, dtype=np.int64),
    )


def _series(case: Case) -> ImportedSeriesOut:
    values = _per_iteration(case)
    mild, severe = tukey_outliers(values)
    return ImportedSeriesOut(
        id=case.id,
        benchmark=case.benchmark,
        arm=case.arm,
        params=case.params,
        samples=int(values.size),
        median_ns=float(np.median(values)),
        outliers_mild=mild,
        outliers_severe=severe,
    )
