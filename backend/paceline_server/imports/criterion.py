"""Imports criterion's results: one run per baseline, with every sample.

Criterion has no launches or rounds, so all samples of a benchmark are one launch and one
round, and never make a verdict. Its group becomes the benchmark, its function the arm, and
its value the params. Params are named and typed as in the announced suite if that has the
benchmark, and the suite's gates on times apply to every imported arm.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from paceline_contract.events import ParamValue
from paceline_contract.manifest import Benchmark, Manifest
from paceline_contract.manifest_reader import ManifestError, read_manifest
from paceline_contract.params import params_key
from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
from paceline_server.fleet import service as fleet
from paceline_server.imports.importer import Importer
from paceline_server.imports.schemas import (
    NS_PER,
    CriterionIn,
    CriterionSeriesIn,
    ImportDetailOut,
    ImportedRunOut,
    ImportedSeriesOut,
    ImportOut,
    MeasuredOnIn,
)
from paceline_server.ingest import service as ingest
from paceline_server.jobs import service as jobs
from paceline_server.kernel.errors import invalid_request
from paceline_server.stats.samples import Floats
from paceline_server.stats.summary import tukey_outliers
from paceline_server.store.tables.imports import ImportDocument

LAST_RUN = "new"
"""Criterion's name for its last run, which is no saved baseline."""


class CriterionImporter(Importer[CriterionIn]):
    """Importer of documents with samples, which become runs."""

    has_samples = True

    def identity(self, document: CriterionIn, where: MeasuredOnIn) -> dict[str, Any]:
        """The document and where it was measured, because its runs depend on both."""
        measured_on = where.model_dump(mode="json")
        return {**document.model_dump(mode="json"), "measured_on": measured_on}

    def columns(self, document: CriterionIn, where: MeasuredOnIn) -> dict[str, Any]:
        """The columns of the document without its samples, which are stored with its runs."""
        return {
            "document": document.model_dump(mode="json", exclude={"series"}),
            "devices": [where.on],
            "row_count": len(document.series),
            "note_count": 0,
        }

    def store_samples(
        self,
        session: Session,
        document: CriterionIn,
        where: MeasuredOnIn,
        who: str,
        row: ImportDocument,
    ) -> None:
        runs = store_runs(session, document, where, who, row.id)
        row.document = {
            **row.document,
            "runs": [run.model_dump(mode="json") for run in runs],
        }

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
        )


def store_runs(
    session: Session,
    document: CriterionIn,
    where: MeasuredOnIn,
    who: str,
    import_id: str,
) -> list[ImportedRunOut]:
    """Store a document's samples as one run per baseline. Raises 404 for a suite that is not announced; 400 for
    names that no run can have."""
    suite = (
        None
        if where.suite is None
        else read_manifest(catalog.find(session, where.suite).manifest)
    )
    target = fleet.imported_target(session, where.on)
    baselines = dict.fromkeys(series.baseline for series in document.series)
    prepared = []
    for baseline in baselines:
        cases = cases_of(
            [series for series in document.series if series.baseline == baseline], suite
        )
        prepared.append((baseline, cases, _manifest(cases, where.suite, suite)))
    stored = []
    for baseline, cases, manifest in prepared:
        job = jobs.store_imported_run(
            session,
            jobs.ImportedRun(
                suite=where.suite or NO_SUITE,
                source=import_id,
                manifest=manifest,
                commit=where.commit,
                branch=None if baseline == LAST_RUN else baseline,
                target=target,
                samples=sum(len(case.series.times) for case in cases),
                created_by=who,
            ),
        )
        ingest.store_imported(session, job.id, [_samples(case) for case in cases])
        jobs.analyse_imported(session, job)
        stored.append(
            ImportedRunOut(
                run_id=job.run_id,
                job_id=job.id,
                baseline=baseline,
                series=[_series(case) for case in cases],
            )
        )
    return stored


def _manifest(
    cases: Sequence[ImportedCase], name: str | None, suite: Manifest | None
) -> dict[str, object]:
    seen: set[tuple[str, str, str]] = set()
    for case in cases:
        key = (case.benchmark, case.arm, params_key(case.params))
        if key in seen:
            detail = f"{case.id} is there twice in the baseline {case.series.baseline}: import only one"
            raise invalid_request(f"series: {detail}.", {"series": detail})
        seen.add(key)
    manifest = manifest_of(cases, name, suite)
    try:
        read_manifest(manifest)
    except ManifestError as error:
        detail = f"no run can hold them: {error}"[:500]
        raise invalid_request(f"series: {detail}.", {"series": detail}) from None
    return manifest


def _per_iteration(case: ImportedCase) -> Floats:
    """Nanoseconds per iteration, shape (n,)."""
    series = case.series
    return (
        np.asarray(series.times)
        / np.asarray(series.iterations, dtype=np.float64)
        * NS_PER[series.unit or "ns"]
    )


def _samples(case: ImportedCase) -> ingest.Imported:
    return ingest.Imported(
        case.benchmark,
        case.arm,
        case.params,
        METRIC,
        "ns",
        "lower",
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
        samples=int(values.size),
        median_ns=float(np.median(values)),
        outliers_mild=mild,
        outliers_severe=severe,
    )


METRIC = "time"
NO_ARM, NO_SUITE = "criterion", "criterion"
PARAM = "value"
MAX_NAME = 64
DIGITS = 6
WHOLE = "0|[1-9][0-9]{0,17}"


@dataclass(frozen=True)
class ImportedCase:
    """A series with the names it is stored under; `id` is its name in criterion."""

    id: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    series: CriterionSeriesIn


@dataclass
class UniqueNames:
    """Assigns each text a name that manifests allow, no two texts the same."""

    taken: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """The text of each name in `taken`."""

    def of(self, text: str) -> str:
        """`Ed25519 / Sign` → `ed25519_sign`. A second text with the same name gets digits of its digest appended,
        not a number, which would depend on the other texts."""
        if text not in self.taken:
            plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
            plain = (plain if plain[:1].isalpha() else f"b_{plain}".rstrip("_"))[
                :MAX_NAME
            ]
            digest = hashlib.sha256(text.encode()).hexdigest()
            name, digits = plain, DIGITS
            while self.texts.get(name, text) != text:
                name = f"{plain[: MAX_NAME - digits - 1]}_{digest[:digits]}"
                digits += 1
            self.taken[text], self.texts[name] = name, text
        return self.taken[text]


def cases_of(
    series: Sequence[CriterionSeriesIn], suite: Manifest | None
) -> list[ImportedCase]:
    """The series of a baseline as cases, in order."""
    groups, arms = UniqueNames(), dict[str, UniqueNames]()
    values: dict[str, set[str]] = defaultdict(set)
    for measured in series:
        values[groups.of(measured.benchmark)].add(measured.value or "")
    cases = []
    for measured in series:
        benchmark = groups.of(measured.benchmark)
        arm = arms.setdefault(benchmark, UniqueNames()).of(measured.arm or NO_ARM)
        parts = [
            part for part in (measured.benchmark, measured.arm, measured.value) if part
        ]
        params = _params(
            measured.value,
            values[benchmark],
            None if suite is None else suite.benchmarks.get(benchmark),
        )
        cases.append(ImportedCase("/".join(parts), benchmark, arm, params, measured))
    return cases


def _params(
    value: str | None, benchmark_values: Collection[str], declared: Benchmark | None
) -> dict[str, ParamValue]:
    """A value as params, named as declared. A param is a number only if all of the benchmark's values are
    numbers without leading zeros: a param has one kind, and `01000` is not `1000`."""
    if not value:
        return {}
    if declared is None or not declared.params:
        return {PARAM: value}
    several = len(declared.params) > 1
    points = {
        text: _params_of_text(text) if several else dict.fromkeys(declared.params, text)
        for text in benchmark_values
    }
    if any(point.keys() != declared.params.keys() for point in points.values()):
        return {PARAM: value}
    whole = {
        name: param.kind == "int"
        and all(re.fullmatch(WHOLE, point[name]) for point in points.values())
        for name, param in declared.params.items()
    }
    return {
        name: int(points[value][name]) if whole[name] else points[value][name]
        for name in whole
    }


def _params_of_text(value: str) -> dict[str, str]:
    """The params of a text such as `batch=256,keys=16`; none if it is not such a list."""
    pairs = [part.partition("=") for part in value.split(",")]
    return {name: text for name, _, text in pairs if text}


def manifest_of(
    cases: Sequence[ImportedCase], name: str | None, suite: Manifest | None
) -> dict[str, Any]:
    """The manifest of an imported run: its benchmarks, and the gates of the suite that apply to them."""
    benchmarks: dict[str, Any] = {}
    for case in cases:
        benchmark = benchmarks.setdefault(case.benchmark, _benchmark(case))
        if case.arm not in benchmark["arms"]:
            benchmark["arms"].append(case.arm)
        for key, value in case.params.items():
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
        "metrics": {METRIC: {"unit": "ns", "direction": "lower"}},
    }


def _gates(benchmarks: dict[str, Any], suite: Manifest) -> Iterator[dict[str, Any]]:
    """The suite's gates on times of these benchmarks, for every imported arm, if their point was imported. Levels
    for some CPUs are left out: nobody says on which one an import was measured."""
    for gate in suite.gates:
        known = benchmarks.get(gate.benchmark or "")
        if known is None or gate.metric != METRIC or gate.requires:
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
