"""Imports `paceline.result/1`, what a reader made of any tool's output: one run, at the document's own time and commit.

A tool's benchmark, arm and params keep their texts as names. A summary is the only value of its case and stays marked
as one; cases that failed or were skipped are named and have no figures. The points of a judged document count in
history; of two documents about one measurement, the later one replaces the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np
from paceline_contract.events import ParamValue
from paceline_contract.imported_series import (
    LARGEST,
    MAX_PART,
    LeftOut,
    keep_one_of_each,
    limit_entries,
    make_arm_name,
    name_problem,
    series_id,
)
from paceline_contract.manifest import Manifest
from paceline_contract.readers.parsing import CLOCK_TOLERANCE
from paceline_contract.readers.registry import READERS, read_file
from paceline_contract.results import (
    UNNAMED,
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    cases_without_figures,
    encode_result,
    read_result,
    result_id,
)
from paceline_contract.text_names import make_name
from paceline_contract.units import PER_ITERATION, MetricUnit, Unit
from sqlalchemy.orm import Session

from paceline_server.detect import service as detect
from paceline_server.fleet import service as fleet
from paceline_server.imports import queries
from paceline_server.imports.importer import SampleImporter, make_digest
from paceline_server.imports.originals import Original, pack_original
from paceline_server.imports.runs import (
    ImportedCase,
    ImportedTool,
    ImportOrigin,
    find_suite,
    make_params_of_value,
    refuse_all,
    store_runs,
    type_params,
)
from paceline_server.imports.schemas import (
    MAX_SERIES,
    ImportedRunOut,
    ImportIn,
    ResultIn,
)
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError, invalid_request
from paceline_server.stats.samples import Floats, Ints
from paceline_server.store import outbox
from paceline_server.store.tables.imports import ImportDocument

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
NEWS_FOR = timedelta(days=3)
"""People hear of changes in documents that were measured this recently: what is older is a history that moves in."""
WHY_NO_VERDICT = (
    "Another tool measured this and nobody watched its target: there are no launches, rounds or blocks, so nothing here "
    "is a verdict. `paceline ab` with the same command gets one."
)


class _Origin(msgspec.Struct):
    """When, at which commit and on which branch a document was measured, as it says."""

    at: datetime | None
    commit: str | None
    branch: str | None


class ResultImporter(SampleImporter[ResultIn]):
    """Importer of `paceline.result/1`."""

    def identity(self, document: ResultIn, request: ImportIn) -> dict[str, Any]:
        """Return the document's id, where it was measured and whether it is judged. The file it was read from may differ,
        for example in spaces."""
        measured_on = request.measured_on.model_dump(mode="json")
        identity = {"result": result_id(document.result), "measured_on": measured_on}
        return {**identity, "judged": True} if request.judge else identity

    def columns(self, document: ResultIn, request: ImportIn) -> dict[str, Any]:
        result = document.result
        return {
            "file": f"{result.tool[:100]}.json",
            "document": {
                "why_no_verdict": WHY_NO_VERDICT,
                "tool": " ".join(filter(None, (result.tool, result.version))),
                "facts": {**result.build, **result.target},
                "left_out": [],
                "judged": request.judge,
                "notifies": request.judge and is_news(result.at, request.notify),
                "reader": result.tool,
                "origin": msgspec.to_builtins(
                    _Origin(result.at, result.commit, result.branch)
                ),
                "measured_on": request.measured_on.model_dump(mode="json"),
            },
            "devices": [request.measured_on.on],
            "row_count": 0,
            "measurement": _measurement_of(result, request),
        }

    def make_original(self, document: ResultIn) -> Original:
        return pack_original(encode_result(document.result))

    def store_runs(
        self,
        session: Session,
        document: ResultIn,
        request: ImportIn,
        who: str,
        import_id: str,
    ) -> tuple[list[ImportedRunOut], list[LeftOut]]:
        """Store one run, or several where one cannot hold all gates."""
        result, where = document.result, request.measured_on
        suite = find_suite(session, where.suite)
        cases, left_out = plan_cases(result, suite)
        target = fleet.ensure_imported_target(session, where.on)
        tool = ImportedTool(
            make_name(re.sub(r"[-.]", "_", result.tool)),
            result.tool,
            ["."],
            [result.tool],
        )
        origin = ImportOrigin(
            import_id,
            tool,
            who,
            target,
            result.branch or queries.default_branch(session),
            result.commit or where.commit,
            where.suite,
            suite,
            result.at,
            fleet.report_facts(session, target, result.target, result.build),
            request.judge,
            request.judge and is_news(result.at, request.notify),
        )
        return store_runs(session, cases, origin), left_out

    def store_samples(
        self,
        session: Session,
        document: ResultIn,
        request: ImportIn,
        who: str,
        row: ImportDocument,
    ) -> None:
        super().store_samples(session, document, request, who, row)
        for older in queries.documents_of_measurement(session, row):
            if _case_ids(older) & _case_ids(row):
                self.replace(session, older, row)

    def replace(
        self, session: Session, older: ImportDocument, row: ImportDocument
    ) -> None:
        """Let the points of a corrected document count instead of those of an older one, whose samples stay."""
        older.replaced_by = row.id
        for run in older.document["runs"]:
            jobs.supersede_imported_run(
                session, run["run_id"], row.document["runs"][0]["run_id"]
            )
            outbox.add(session, detect.EXTEND_HISTORY, run["job_id"])

    def read_again(self, row: ImportDocument, data: bytes) -> Result:
        """Return what today's reader makes of a document's file, with the origin that the document had. Raises
        ResultError."""
        tool = row.document["reader"]
        try:
            result = read_result(data)
        except ResultError:
            result = read_file(data, tool if tool in READERS else None)
        origin = msgspec.convert(row.document["origin"], _Origin)
        return msgspec.structs.replace(result, **msgspec.structs.asdict(origin))


def is_news(at: datetime | None, notify: bool | None) -> bool:
    """Return whether people hear of changes at the points of a judged document, measured at such a time: what the request
    says, or else if that is recent or unknown."""
    if notify is not None:
        return notify
    return at is None or at > clock.now() - NEWS_FOR


def _measurement_of(result: Result, request: ImportIn) -> str | None:
    """Return what identifies the measurement that a document is about; None where its commit or time is unknown."""
    commit = result.commit or request.measured_on.commit
    if commit is None or result.at is None:
        return None
    at = result.at.astimezone(UTC).isoformat()
    on = request.measured_on.on
    return make_digest([result.tool, result.build, on, commit, result.branch, at])


def _case_ids(row: ImportDocument) -> set[str]:
    """Return the tool's names of a document's cases: files of one measurement that share none are parts of it."""
    return {series["id"] for run in row.document["runs"] for series in run["series"]}


def plan_cases(
    result: Result, suite: Manifest | None
) -> tuple[list[ImportedCase], list[LeftOut]]:
    """Return (what is stored of a document, what is left out). Raises 400 if nothing can be stored."""
    _check_origin(result)
    cases, odd = storable_cases(result, suite)
    left_out = limit_entries([*cases_without_figures(result), *odd])
    if not cases:
        raise refuse_all(left_out)
    return cases, left_out


def _check_origin(result: Result) -> None:
    """Raise 400 for a time that cannot be, a branch that no series can have, and for too many figures."""
    latest = clock.now() + CLOCK_TOLERANCE
    if result.at is not None and result.at > latest:
        raise _refuse_field(
            "at",
            f"{result.at.isoformat()} is in the future: check the clock that wrote it",
        )
    if result.at is not None and result.at < EARLIEST:
        raise _refuse_field("at", "expected a time since 1970")
    if result.branch is not None and len(result.branch) > MAX_PART:
        raise _refuse_field("branch", f"expected at most {MAX_PART} characters")
    series = sum(len(case.metrics) for case in result.cases)
    if series > MAX_SERIES:
        raise _refuse_field(
            "cases",
            f"expected at most {MAX_SERIES:,} metrics in all, found {series:,}: split the document",
        )


def _refuse_field(name: str, why: str) -> ProblemError:
    return invalid_request(f"{name}: {why}.", {f"document.{name}": why})


def storable_cases(
    result: Result, suite: Manifest | None
) -> tuple[list[ImportedCase], list[LeftOut]]:
    """Return (a case for each metric that can be stored, the others)."""
    left_out: list[LeftOut] = []
    named: list[MeasuredCase] = []
    for case in result.cases:
        if not case.metrics:
            continue
        why = name_problem(case.benchmark, case.arm, case.value) or _param_problem(case)
        if why is None:
            named.append(case)
        else:
            left_out.append(LeftOut.of(case.name, None, why))
    kept, excess = keep_one_of_each(named)
    units: dict[tuple[str, str], Unit] = {}
    cases: list[ImportedCase] = []
    for storable in kept:
        for measured in _cases_of(storable, suite):
            unit = units.setdefault(
                (measured.benchmark, measured.metric.name), measured.metric.unit
            )
            why = _figure_problem(measured, unit)
            if why is None:
                cases.append(measured)
            else:
                left_out.append(LeftOut.of(storable.name, None, why))
    return cases, [*left_out, *excess]


def _param_problem(case: MeasuredCase) -> str | None:
    for name, value in case.params.items():
        if value == "" and name != UNNAMED:
            return f"its param {name} is empty"
    return None


def _figure_problem(case: ImportedCase, unit: Unit) -> str | None:
    name = case.metric.name
    if case.metric.unit != unit:
        return f"its {name} is in {case.metric.unit}, and in {unit} in another case of its benchmark"
    largest = float(case.values.max())
    if largest > LARGEST:
        return f"its {name} is {largest:g} {unit} for one iteration: look at its unit"
    return None


def _cases_of(case: MeasuredCase, suite: Manifest | None) -> Iterator[ImportedCase]:
    """Yield a case for each metric. Its names depend on nothing but its own texts and the suite."""
    benchmark = make_name(case.benchmark)
    for metric in case.metrics:
        is_total = metric.unit in PER_ITERATION
        values, iterations = _figures_of(metric, is_total=is_total)
        yield ImportedCase(
            id=series_id(case),
            title=case.benchmark,
            benchmark=benchmark,
            arm=make_arm_name(case.arm),
            params=_params_of(case, benchmark, suite),
            metric=MetricUnit(make_name(metric.name), metric.unit, metric.direction),
            values=values,
            iterations=iterations,
            summary=None if metric.summary is None else metric.summary.kind,
        )


def _figures_of(metric: MeasuredMetric, *, is_total: bool) -> tuple[Floats, Ints]:
    """Return (the values of an iteration, over how many iterations each was measured); a rate is a value itself."""
    if metric.summary is not None:
        return np.array([metric.summary.value]), np.ones(1, dtype=np.int64)
    iterations, totals = np.array(metric.samples, dtype=np.int64).T
    values = totals.astype(np.float64)
    return (values / iterations if is_total else values), iterations


def _params_of(
    case: MeasuredCase, benchmark: str, suite: Manifest | None
) -> dict[str, ParamValue]:
    """Return the params of a case, named and typed as in the suite if they are a point of it, and texts otherwise."""
    declared = None if suite is None else suite.benchmarks.get(benchmark)
    if case.params.keys() <= {UNNAMED}:
        return make_params_of_value(case.value, declared)
    point = {make_name(name): str(value) for name, value in case.params.items()}
    typed = None if declared is None else type_params(point, declared)
    return {**point} if typed is None else typed
