"""Stores what another tool measured as runs, with names and gates.

Such tools have no launches or rounds, so all samples of a benchmark are one launch and one round, and never make a
verdict. Params are named and typed as in the announced suite if that has the benchmark, and the suite's gates on times
apply to every imported arm. The importer of each format decides what its cases are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import numpy as np
from paceline_contract.events import ParamValue
from paceline_contract.imported_series import MAX_GATES, LeftOut, sentences
from paceline_contract.manifest import PRIMARY_METRIC, Benchmark, Manifest
from paceline_contract.manifest_reader import ManifestError, read_manifest
from paceline_contract.results import UNNAMED
from paceline_contract.units import MetricUnit
from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
from paceline_server.imports.schemas import ImportedRunOut, ImportedSeriesOut
from paceline_server.ingest import service as ingest
from paceline_server.jobs import service as jobs
from paceline_server.kernel.errors import ProblemError, invalid_request
from paceline_server.stats.samples import Floats, Ints
from paceline_server.stats.summary import tukey_outliers
from paceline_server.store.tables.fleet import Target

TEXT_PARAM = "value_text"
"""The param of a value that is no point of declared ones, where `value` is declared."""
MAX_REFUSED = 20
"""Most series that a refusal names."""
WHOLE = "0|[1-9][0-9]{0,17}"


@dataclass(frozen=True)
class ImportedCase:
    """A metric with the names it is stored under. `id` and `title` are the tool's names of the case and its benchmark.
    `values` are per iteration, in the metric's unit; `summary` says of what they are the only value, where the tool kept
    no samples."""

    id: str
    title: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: MetricUnit
    values: Floats
    iterations: Ints
    summary: str | None = None

    @property
    def samples(self) -> ingest.ImportedSamples:
        """Return what is stored of it."""
        return ingest.ImportedSamples(
            self.benchmark,
            self.arm,
            self.params,
            self.metric.name,
            self.metric.unit,
            self.metric.direction,
            self.values,
            self.iterations,
        )


class ImportedTool(NamedTuple):
    """The tool that measured, as manifests of its runs describe it. `suite` names them where no suite is given."""

    suite: str
    title: str
    artifacts: Sequence[str]
    run: Sequence[str]


@dataclass(frozen=True)
class ImportOrigin:
    """Where cases come from: the document, its tool, who imported it, the target, and the branch and commit that were
    measured. `suite` is the announced one whose gates apply; `at` is when it was measured, if the document says so; `fingerprint` is that of what it says about the
    target; `judged` and `notifies` say how its points count in history."""

    import_id: str
    tool: ImportedTool
    who: str
    target: Target
    branch: str
    commit: str | None
    suite_name: str | None
    suite: Manifest | None
    at: datetime | None = None
    fingerprint: str | None = None
    judged: bool = False
    notifies: bool = False


def find_suite(session: Session, name: str | None) -> Manifest | None:
    """Return the announced suite of this name; None without one. Raises 404."""
    if name is None:
        return None
    return read_manifest(catalog.find(session, name).manifest)


def store_runs(
    session: Session, cases: Sequence[ImportedCase], origin: ImportOrigin
) -> list[ImportedRunOut]:
    """Store cases as one run, or several where one cannot hold all gates. Raises 400 if no run can hold them."""
    parts = split_by_gates(cases, origin.suite)
    return [_store_run(session, part, origin) for part in parts]


def _store_run(
    session: Session,
    cases: Sequence[ImportedCase],
    origin: ImportOrigin,
) -> ImportedRunOut:
    job = jobs.store_imported_run(
        session,
        jobs.ImportedRun(
            suite=origin.suite_name or origin.tool.suite,
            source=origin.import_id,
            manifest=_manifest(cases, origin),
            commit=origin.commit,
            branch=origin.branch,
            target=origin.target,
            samples=sum(case.values.size for case in cases),
            created_by=origin.who,
            measured_at=origin.at,
            fingerprint=origin.fingerprint,
            judged=origin.judged,
            notifies=origin.notifies,
        ),
    )
    ingest.store_imported(session, job.id, [case.samples for case in cases])
    jobs.analyse_imported(session, job)
    return ImportedRunOut(
        run_id=job.run_id,
        job_id=job.id,
        baseline=origin.branch,
        commit=origin.commit,
        at=origin.at,
        series=[describe_series(case) for case in cases],
    )


def refuse_all(left_out: Sequence[LeftOut]) -> ProblemError:
    """Return the refusal of a document of which nothing can be stored, with the first reasons by series."""
    fields = {
        (entry.path or entry.id or "series")[:200]: entry.why[:500]
        for entry in left_out[:MAX_REFUSED]
    }
    why = next(sentences(left_out), "it has no figures")
    return invalid_request(f"No series can be stored: {why}.", fields)


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


def _manifest(cases: Sequence[ImportedCase], origin: ImportOrigin) -> dict[str, object]:
    manifest = manifest_of(cases, origin)
    try:
        read_manifest(manifest)
    except ManifestError as error:
        detail = f"no run can hold them: {error}"[:500]
        raise invalid_request(f"series: {detail}.", {"series": detail}) from None
    return manifest


def describe_series(case: ImportedCase) -> ImportedSeriesOut:
    """Return what people see of a case: its names, median and outliers."""
    mild, severe = tukey_outliers(case.values)
    return ImportedSeriesOut(
        id=case.id,
        benchmark=case.benchmark,
        arm=case.arm,
        params=case.params,
        metric=case.metric.name,
        unit=case.metric.unit,
        samples=int(case.values.size),
        median=float(np.median(case.values)),
        outliers_mild=mild,
        outliers_severe=severe,
        summary=case.summary,
    )


def make_params_of_value(
    value: str | None, declared: Benchmark | None
) -> dict[str, ParamValue]:
    """Return a value that has no names as params, named and typed as declared; as one text if it is no point of them.
    `01000` is not 1000."""
    if not value:
        return {}
    if declared is None or not declared.params:
        return {UNNAMED: value}
    several = len(declared.params) > 1
    point = _params_of_text(value) if several else dict.fromkeys(declared.params, value)
    return type_params(point, declared) or {
        UNNAMED if UNNAMED not in declared.params else TEXT_PARAM: value
    }


def type_params(
    point: Mapping[str, str], declared: Benchmark
) -> dict[str, ParamValue] | None:
    """Return a point with the types of the declared params; None if it is no point of them."""
    whole = {name for name, param in declared.params.items() if param.kind == "int"}
    if point.keys() != declared.params.keys() or not all(
        re.fullmatch(WHOLE, point[name]) for name in whole
    ):
        return None
    return {
        name: int(point[name]) if name in whole else point[name]
        for name in declared.params
    }


def _params_of_text(value: str) -> dict[str, str]:
    """Return the params of a text such as `batch=256,keys=16`; none if it is not such a list."""
    pairs = [part.partition("=") for part in value.split(",")]
    return {name: text for name, _, text in pairs if text}


def manifest_of(cases: Sequence[ImportedCase], origin: ImportOrigin) -> dict[str, Any]:
    """Return the manifest of an imported run: its benchmarks, and the gates of the suite that apply to them."""
    tool, suite = origin.tool, origin.suite
    benchmarks: dict[str, Any] = {}
    for case in cases:
        benchmark = benchmarks.setdefault(case.benchmark, _benchmark(case, tool))
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
        "suite": {
            "name": origin.suite_name or tool.suite,
            "title": f"Imported from {tool.title}",
        },
        "workloads": [
            {
                "name": tool.suite,
                "host": {
                    "build": [],
                    "artifacts": list(tool.artifacts),
                    "run": list(tool.run),
                },
            }
        ],
        "benchmarks": benchmarks,
        "gates": [] if suite is None else list(_gates(benchmarks, suite)),
    }


def _benchmark(case: ImportedCase, tool: ImportedTool) -> dict[str, Any]:
    return {
        "title": case.title,
        "workload": tool.suite,
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
