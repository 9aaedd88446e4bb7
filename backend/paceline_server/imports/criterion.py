"""Imports criterion's results: one run per baseline, with every sample.

All samples of a benchmark belong to one launch and one round, because criterion has
neither, so no number of them makes a verdict. Criterion's group becomes the benchmark,
its function the arm, and its value the one param, or several as `batch=256,keys=16`.
Where the announced suite has a benchmark of that name with these params, they are named
and typed as there, and the suite's gates on times apply to every imported arm.
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
from paceline_server.ingest.cases import params_key
from paceline_server.jobs import service as jobs
from paceline_server.kernel.errors import invalid_request
from paceline_server.stats.samples import Floats
from paceline_server.stats.summary import tukey_outliers
from paceline_server.store.tables.imports import ImportDocument

LAST_RUN = "new"
"""Criterion's name for what ran last: no saved baseline."""


class CriterionImporter(Importer[CriterionIn]):
    """Documents of samples, which become runs."""

    has_samples = True

    def identity(self, document: CriterionIn, where: MeasuredOnIn) -> dict[str, Any]:
        """Its runs also depend on where they were measured."""
        measured_on = where.model_dump(mode="json")
        return {**document.model_dump(mode="json"), "measured_on": measured_on}

    def columns(self, document: CriterionIn, where: MeasuredOnIn) -> dict[str, Any]:
        """Without its samples, which are kept once, as those of its runs."""
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
    """Store a document's samples as runs, in the order of its baselines. Raises 404 for a suite that nobody
    announced, 400 for names that no run can have."""
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
                samples=sum(len(case.said.times) for case in cases),
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
            detail = f"{case.id} is there twice in the baseline {case.said.baseline}: import one of them"
            raise invalid_request(f"series: {detail}.", {"series": detail})
        seen.add(key)
    found = manifest_of(cases, name, suite)
    try:
        read_manifest(found)
    except ManifestError as error:
        detail = f"no run can hold them: {error}"[:500]
        raise invalid_request(f"series: {detail}.", {"series": detail}) from None
    return found


def _per_iteration(case: ImportedCase) -> Floats:
    """Nanoseconds per iteration, shape (n,)."""
    said = case.said
    return (
        np.asarray(said.times)
        / np.asarray(said.iterations, dtype=np.float64)
        * NS_PER[said.unit or "ns"]
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
        np.asarray(case.said.iterations, dtype=np.int64),
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
    """A series under the names it is stored with; `id` is what criterion calls it."""

    id: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    said: CriterionSeriesIn


@dataclass
class UniqueNames:
    """Texts → names as manifests have them, each text its own."""

    taken: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """The same the other way round."""

    def of(self, text: str) -> str:
        """`Ed25519 / Sign` → `ed25519_sign`. A second text that would be called so gets six digits of its own
        digest after it: no count, which would depend on how many others there are."""
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
    """The series of one baseline, in order."""
    groups, arms = UniqueNames(), dict[str, UniqueNames]()
    values: dict[str, set[str]] = defaultdict(set)
    for measured in series:
        values[groups.of(measured.benchmark)].add(measured.value or "")
    found = []
    for one in series:
        benchmark = groups.of(one.benchmark)
        arm = arms.setdefault(benchmark, UniqueNames()).of(one.arm or NO_ARM)
        parts = [part for part in (one.benchmark, one.arm, one.value) if part]
        params = _params(
            one.value,
            values[benchmark],
            None if suite is None else suite.benchmarks.get(benchmark),
        )
        found.append(ImportedCase("/".join(parts), benchmark, arm, params, one))
    return found


def _params(
    value: str | None, beside: Collection[str], declared: Benchmark | None
) -> dict[str, ParamValue]:
    """A value as the declared params have it. Numbers only where all of the benchmark's values are some, as
    people write them: one param has one kind, and `01000` is not `1000`."""
    if not value:
        return {}
    if declared is None or not declared.params:
        return {PARAM: value}
    several = len(declared.params) > 1
    points = {
        text: _named(text) if several else dict.fromkeys(declared.params, text)
        for text in beside
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


def _named(value: str) -> dict[str, str]:
    """`batch=256,keys=16`, as `--case` writes params. Whatever is no such list has no names."""
    pairs = [part.partition("=") for part in value.split(",")]
    return {name: text for name, _, text in pairs if text}


def manifest_of(
    cases: Sequence[ImportedCase], name: str | None, suite: Manifest | None
) -> dict[str, Any]:
    """The manifest that an imported run freezes: what was measured, and the levels it is held against."""
    benchmarks: dict[str, Any] = {}
    for case in cases:
        one = benchmarks.setdefault(case.benchmark, _benchmark(case))
        if case.arm not in one["arms"]:
            one["arms"].append(case.arm)
        for key, value in case.params.items():
            kind = "int" if isinstance(value, int) else "enum"
            values = one["params"].setdefault(key, {"kind": kind, "values": []})[
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
        "title": case.said.benchmark,
        "workload": "criterion",
        "arms": [],
        "reference": case.arm,
        "params": {},
        "metrics": {METRIC: {"unit": "ns", "direction": "lower"}},
    }


def _gates(benchmarks: dict[str, Any], suite: Manifest) -> Iterator[dict[str, Any]]:
    """Levels of the suite on times of these benchmarks, for every imported arm, where the point was
    imported."""
    for gate in suite.gates:
        known = benchmarks.get(gate.benchmark or "")
        if known is None or gate.metric != METRIC:
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
