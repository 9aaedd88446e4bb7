"""Imports criterion's results: one run per baseline, with every sample.

Criterion has no launches or rounds, so all samples of a benchmark are one launch and one
round, and never make a verdict. Its group becomes the benchmark, its function the arm, and
its value the params. Params are named and typed as in the announced suite if that has the
benchmark, and the suite's gates on times apply to every imported arm.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from paceline_contract.events import ParamValue
from paceline_contract.imported_series import (
    MAX_GATES,
    LeftOut,
    keep_one_of_each,
    leave_out,
    make_arm_name,
    metric_of,
    sentences,
    series_id,
    series_problem,
)
from paceline_contract.manifest import PRIMARY_METRIC, Benchmark, Manifest
from paceline_contract.manifest_reader import ManifestError, read_manifest
from paceline_contract.text_names import make_name
from paceline_contract.units import MetricUnit
from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
from paceline_server.fleet import service as fleet
from paceline_server.imports.importer import Importer
from paceline_server.imports.schemas import (
    LAST_RUN,
    CriterionIn,
    CriterionSeriesIn,
    ImportDetailOut,
    ImportedRunOut,
    ImportedSeriesOut,
    ImportOut,
    LeftOutOut,
    MeasuredOnIn,
)
from paceline_server.ingest import service as ingest
from paceline_server.jobs import service as jobs
from paceline_server.kernel.errors import invalid_request
from paceline_server.stats.samples import Floats
from paceline_server.stats.summary import tukey_outliers
from paceline_server.store.tables.imports import ImportDocument


class CriterionImporter(Importer[CriterionIn]):
    """Importer of documents with samples, which become runs."""

    has_samples = True

    def identity(self, document: CriterionIn, where: MeasuredOnIn) -> dict[str, Any]:
        """Return the document and where it was measured, because its runs depend on both."""
        measured_on = where.model_dump(mode="json")
        dumped = document.model_dump(mode="json", exclude={"left_out"})
        return {**dumped, "measured_on": measured_on}

    def columns(self, document: CriterionIn, where: MeasuredOnIn) -> dict[str, Any]:
        """Return the columns of the document without its samples, which are stored with its runs."""
        return {
            "document": document.model_dump(mode="json", exclude={"series"}),
            "devices": [where.on],
            "row_count": len(document.series),
        }

    def store_samples(
        self,
        session: Session,
        document: CriterionIn,
        where: MeasuredOnIn,
        who: str,
        row: ImportDocument,
    ) -> None:
        runs, left_out = store_runs(session, document, where, who, row.id)
        row.document = {
            **row.document,
            "runs": [run.model_dump(mode="json") for run in runs],
            "left_out": [
                *row.document["left_out"],
                *(msgspec.to_builtins(entry) for entry in left_out),
            ],
        }
        row.row_count = sum(len(run.series) for run in runs)

    def detail(
        self,
        session: Session,  # noqa: ARG002 - of the interface
        row: ImportDocument,
        summary: ImportOut,
    ) -> ImportDetailOut:
        return ImportDetailOut(
            **summary.model_dump(),
            rows=[],
            policy=None,
            advice=[],
            other_lines=[],
            why_no_samples="",
            why_no_verdict=row.document["why_no_verdict"],
            runs=[ImportedRunOut.model_validate(run) for run in row.document["runs"]],
            left_out=[
                LeftOutOut.model_validate(entry)
                for entry in row.document.get("left_out", [])
            ],
        )


def store_runs(
    session: Session,
    document: CriterionIn,
    where: MeasuredOnIn,
    who: str,
    import_id: str,
) -> tuple[list[ImportedRunOut], list[LeftOut]]:
    """Store a document's samples as one run per baseline and commit, or several where one cannot hold all gates, without
    what is left out. Raises 404 for a suite
    that is not announced; 400 if nothing can be stored."""
    suite = (
        None
        if where.suite is None
        else read_manifest(catalog.find(session, where.suite).manifest)
    )
    target = fleet.ensure_imported_target(session, where.on)
    series, odd = storable_series(document)
    if not series:
        raise invalid_request(
            f"No series can be stored: {next(sentences(odd))}.", _fields(odd)
        )
    cases, stored_before = _new_cases(
        session, target.id, [case_of(measured, suite) for measured in series]
    )
    measured_at: dict[tuple[str, str | None], list[ImportedCase]] = defaultdict(list)
    for case in cases:
        commit = where.commit if case.series.last_run else None
        measured_at[case.series.baseline, commit].append(case)
    runs = [
        (*key, part)
        for key, measured in measured_at.items()
        for part in split_by_gates(measured, suite)
    ]
    stored = []
    for baseline, commit, own in runs:
        job = jobs.store_imported_run(
            session,
            jobs.ImportedRun(
                suite=where.suite or NO_SUITE,
                source=import_id,
                manifest=_manifest(own, where.suite, suite),
                commit=commit,
                branch=baseline,
                target=target,
                samples=sum(len(case.series.times) for case in own),
                created_by=who,
            ),
        )
        ingest.store_imported(session, job.id, [_samples(case) for case in own])
        jobs.analyse_imported(session, job)
        stored.append(
            ImportedRunOut(
                run_id=job.run_id,
                job_id=job.id,
                baseline=baseline,
                commit=commit,
                series=[_series(case) for case in own],
            )
        )
    return stored, [*odd, *stored_before]


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


def _fields(odd: Sequence[LeftOut]) -> dict[str, str]:
    """Return the fields of a refusal: the first series with the reasons."""
    return {
        (entry.path or entry.id or "series")[:200]: entry.why[:500]
        for entry in odd[:MAX_REFUSED]
    }


def _new_cases(
    session: Session, target_id: str, cases: Sequence[ImportedCase]
) -> tuple[list[ImportedCase], list[LeftOut]]:
    """Return (the cases whose samples the target does not have, the others as left out)."""
    runs = ingest.find_runs_with_samples(
        session, target_id, [_samples(case) for case in cases]
    )
    new, stored = [], []
    for case, run_id in zip(cases, runs, strict=True):
        if run_id is None:
            new.append(case)
        else:
            why = f"these samples are stored for this target, in {run_id}"
            stored.append(leave_out(case.series, why))
    return new, stored


def split_by_gates(
    cases: Sequence[ImportedCase], suite: Manifest | None
) -> list[list[ImportedCase]]:
    """Return the cases in parts of which each has at most as many gates as a run can hold. All cases of one arm of a
    benchmark stay together, because a suite has no more gates than that."""
    gates = Counter(gate.benchmark for gate in ([] if suite is None else suite.gates))
    part_of: dict[tuple[str, str], int] = {}
    part = held = 0
    for case in cases:
        if (case.benchmark, case.arm) not in part_of:
            held += gates[case.benchmark]
            if held > MAX_GATES:
                part, held = part + 1, gates[case.benchmark]
            part_of[case.benchmark, case.arm] = part
    parts: list[list[ImportedCase]] = [[] for _ in range(part + 1)]
    for case in cases:
        parts[part_of[case.benchmark, case.arm]].append(case)
    return parts


def _manifest(
    cases: Sequence[ImportedCase], name: str | None, suite: Manifest | None
) -> dict[str, object]:
    manifest = manifest_of(cases, name, suite)
    try:
        read_manifest(manifest)
    except ManifestError as error:
        detail = f"no run can hold them: {error}"[:500]
        raise invalid_request(f"series: {detail}.", {"series": detail}) from None
    return manifest


def _per_iteration(case: ImportedCase) -> Floats:
    """Return values per iteration in the metric's unit, shape (n,)."""
    series = case.series
    return (
        np.asarray(series.times)
        / np.asarray(series.iterations, dtype=np.float64)
        * case.metric.scale
    )


def _samples(case: ImportedCase) -> ingest.ImportedSamples:
    return ingest.ImportedSamples(
        case.benchmark,
        case.arm,
        case.params,
        case.metric.name,
        case.metric.unit,
        case.metric.direction,
        _per_iteration(case),
        np.asarray(case.series.iterations, dtype=np.int64),
    )


def _series(case: ImportedCase) -> ImportedSeriesOut:
    values = _per_iteration(case)
    mild, severe = tukey_outliers(values)
    return ImportedSeriesOut(
        id=case.id,
        benchmark=case.benchmark,
        arm=case.arm,
        params=case.params,
        metric=case.metric.name,
        unit=case.metric.unit,
        samples=int(values.size),
        median=float(np.median(values)),
        outliers_mild=mild,
        outliers_severe=severe,
    )


NO_SUITE = "criterion"
PARAM, TEXT_PARAM = "value", "value_text"
"""The param of a value that is no point of declared ones; the second where `value` is declared."""
MAX_REFUSED = 20
"""Most series that a refusal names."""
WHOLE = "0|[1-9][0-9]{0,17}"


@dataclass(frozen=True)
class ImportedCase:
    """A series with the names it is stored under; `id` is its name in criterion."""

    id: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: MetricUnit
    series: CriterionSeriesIn


def case_of(series: CriterionSeriesIn, suite: Manifest | None) -> ImportedCase:
    """Return a series as a case. Its names depend on nothing but its own texts and the suite."""
    metric = metric_of(series.unit)
    if metric is None:
        raise ValueError(f"the unit {series.unit!r} was not checked")
    benchmark = make_name(series.benchmark)
    declared = None if suite is None else suite.benchmarks.get(benchmark)
    params = _params(series.value, declared)
    return ImportedCase(
        series_id(series), benchmark, make_arm_name(series.arm), params, metric, series
    )


def _params(value: str | None, declared: Benchmark | None) -> dict[str, ParamValue]:
    """Return a value as params, named and typed as declared; as one text if it is no point of them. `01000` is not
    1000."""
    if not value:
        return {}
    if declared is None or not declared.params:
        return {PARAM: value}
    several = len(declared.params) > 1
    point = _params_of_text(value) if several else dict.fromkeys(declared.params, value)
    whole = {name for name, param in declared.params.items() if param.kind == "int"}
    if point.keys() != declared.params.keys() or not all(
        re.fullmatch(WHOLE, point[name]) for name in whole
    ):
        return {PARAM if PARAM not in declared.params else TEXT_PARAM: value}
    return {
        name: int(point[name]) if name in whole else point[name]
        for name in declared.params
    }


def _params_of_text(value: str) -> dict[str, str]:
    """Return the params of a text such as `batch=256,keys=16`; none if it is not such a list."""
    pairs = [part.partition("=") for part in value.split(",")]
    return {name: text for name, _, text in pairs if text}


def manifest_of(
    cases: Sequence[ImportedCase], name: str | None, suite: Manifest | None
) -> dict[str, Any]:
    """Return the manifest of an imported run: its benchmarks, and the gates of the suite that apply to them."""
    benchmarks: dict[str, Any] = {}
    for case in cases:
        benchmark = benchmarks.setdefault(case.benchmark, _benchmark(case))
        if case.arm not in benchmark["arms"]:
            benchmark["arms"].append(case.arm)
        metric = case.metric
        benchmark["metrics"][metric.name] = {
            "unit": metric.unit,
            "direction": metric.direction,
        }
        declared = None if suite is None else suite.benchmarks.get(case.benchmark)
        for key, value in case.params.items():
            if declared and declared.params and key not in declared.params:
                continue  # no point of the declared params, so not a part of their grid
            kind = "int" if isinstance(value, int) else "enum"
            values = benchmark["params"].setdefault(key, {"kind": kind, "values": []})[
                "values"
            ]
            if value not in values:
                values.append(value)
    return {
        "schema": 1,
        "suite": {"name": name or NO_SUITE, "title": "Imported from criterion"},
        "workloads": [
            {
                "name": "criterion",
                "host": {
                    "build": [],
                    "artifacts": ["target/criterion"],
                    "run": ["cargo", "bench"],
                },
            }
        ],
        "benchmarks": benchmarks,
        "gates": [] if suite is None else list(_gates(benchmarks, suite)),
    }


def _benchmark(case: ImportedCase) -> dict[str, Any]:
    return {
        "title": case.series.benchmark,
        "workload": "criterion",
        "arms": [],
        "reference": case.arm,
        "params": {},
        "metrics": {},
    }


def _gates(benchmarks: dict[str, Any], suite: Manifest) -> Iterator[dict[str, Any]]:
    """Yield the suite's gates on times of these benchmarks, for every imported arm, if their point was imported. Levels
    for some CPUs are left out: nobody says on which one an import was measured."""
    for gate in suite.gates:
        known = benchmarks.get(gate.benchmark or "")
        if known is None or gate.metric != PRIMARY_METRIC or gate.requires:
            continue
        params = known["params"]
        if any(
            name not in params or value not in params[name]["values"]
            for name, value in gate.params.items()
        ):
            continue
        for arm in known["arms"]:
            own = msgspec.to_builtins(msgspec.structs.replace(gate, name=None, arm=arm))
            yield {key: value for key, value in own.items() if value is not None}
