"""Analyses jobs that delivered a batch: requests another batch, or concludes the job and stores the result.

Reading and computing hold no lock; the result commits together with the job's new state, once per (job, batch).
Findings never change (I16).

    job.analyse(job:batch) ─▶ read ─▶ analyse ─┬─ inconclusive, batches left ─▶ request_batch
                                               └─ else ─▶ conclude + comparisons ─▶ alerts.evaluate(job)
                                                                    baseline ─▶ history.extend(job)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import msgspec
from paceline_contract.imported_series import texts_of_names
from paceline_contract.items import SideName
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import read_manifest
from paceline_contract.names import SidePairing
from paceline_contract.params import params_key
from sqlalchemy.orm import Session

from paceline_server.detect import noise, queries
from paceline_server.detect.analyse import Analysis, JudgedPair, analyse
from paceline_server.detect.compare import comparison_out, evidence_of, rederive
from paceline_server.detect.facts import (
    CaseIndex,
    JobFacts,
    JobIdentity,
    JobRequest,
    LaunchBuild,
    Look,
)
from paceline_server.detect.findings import Role, record_finding
from paceline_server.detect.gate_figures import GateFigure, gate_name, metric_of
from paceline_server.detect.policies import service as policies
from paceline_server.detect.pull_requests import analyse_pull_request
from paceline_server.detect.queries import JobContext, findings_with_comparisons
from paceline_server.detect.reasons import reasons_of
from paceline_server.detect.revisions import Revision, analyse_revisions
from paceline_server.detect.schemas import ComparisonOut, GateOut, JobReportOut
from paceline_server.detect.stopping import list_undecided
from paceline_server.detect.unaffected import analyse_affected
from paceline_server.detect.waivers import service as waivers
from paceline_server.detect.witnesses import concerns_case, describe_fallback
from paceline_server.ingest import service as ingest
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids, settings
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.stats import gates
from paceline_server.stats.paired import METHOD, VOIDING_METHOD, PairVerdict
from paceline_server.stats.voids import VoidLimits
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Comparison, JobReport
from paceline_server.store.tables.policies import PolicyAdvice

EXTEND_HISTORY = "history.extend"
"""Outbox topic of a concluded baseline job; the key is its id."""
WHY_IMPORTED = (
    "another tool measured it, one benchmark after the other in one process, and nobody watched the target: "
    "its figures are shown and not judged"
)
"""Why an imported job has no verdict (I2, I11), and its points do not count."""
WHY_NOT_COMPARED = (
    "another tool measured it, one benchmark after the other in one process, and nobody watched the target: "
    "its history is judged, and its arms and gates are not"
)
"""Why an imported job has no verdict whose points count (I11, I22)."""

__all__ = [
    "GateFigure",
    "JobAnalysis",
    "RepeatedReport",
    "Role",
    "advise_again",
    "analyse_job",
    "comparisons_of_job",
    "concerns_case",
    "conclude_job",
    "describe_fallback",
    "findings_of",
    "gate_name",
    "give_up_job",
    "judge_again",
    "metric_of",
    "record_finding",
    "rederive_finding",
    "report_of",
    "undecided_benchmarks",
    "void_limits",
]

findings_of = findings_with_comparisons
comparisons_of_job = queries.comparisons_of_job


@dataclass(frozen=True)
class JobAnalysis:
    """The analysis of a job after one of its batches."""

    job_id: str
    batch: int
    analysis: Analysis


def analyse_job(session: Session, key: str) -> JobAnalysis | None:
    """Analyse a look of a job; `key` is `job:batch`. None if the job no longer waits for it."""
    job_id, _, batch = key.rpartition(":")
    context = queries.context(session, job_id)
    if (
        context is None
        or context.job.state != "analysing"
        or context.job.batch != int(batch)
    ):
        return None
    return JobAnalysis(job_id, context.job.batch, _analyse(session, context))


def undecided_benchmarks(session: Session, job_id: str) -> list[str]:
    """Return the benchmarks of a running job that further launches of its first batch may still decide.

    All that it measures are returned for a later batch, and for a run that does not stop when sure. Raises 404.
    """
    context = queries.context(session, job_id)
    if context is None:
        raise not_found("job", job_id)
    run = context.run
    manifest = read_manifest(run.manifest)
    at_base = None if run.base_manifest is None else read_manifest(run.base_manifest)
    left_out = context.job.unaffected or {}
    requested = _list_requested_benchmarks(context, manifest, at_base)
    names = [name for name in requested if name not in left_out]
    if not run.stop_when_sure or context.job.batch > 0:
        return names
    return list_undecided(
        _analyse(session, context, under_way=True),
        names,
        batch_is_over=False,
        thorough=run.trigger in _THOROUGH_TRIGGERS,
    )


def void_limits() -> VoidLimits:
    """Return the void limits of stats/README.md §1, with those that the operator raised."""
    configured = settings.current()
    return VoidLimits.of_operator(
        configured.pressure_limit_percent, configured.drift_limit_percent
    )


def _analyse(
    session: Session,
    context: JobContext,
    *,
    as_of: datetime | None = None,
    limits: VoidLimits | None = None,
    method: str = METHOD,
    gate_method: str = gates.METHOD,
    under_way: bool = False,
) -> Analysis:
    """Analyse a look of a job by `method`, and its gates by `gate_method`.

    `as_of`: ignore what other jobs of the run got later. `limits`: use these instead of this server's. `under_way`: use
    the samples of an attempt that has not ended, too.
    """
    job, run = context.job, context.run
    other_comparisons = queries.other_comparisons(session, run.id, job.id, as_of)
    manifest = read_manifest(run.manifest)
    at_base = None if run.base_manifest is None else read_manifest(run.base_manifest)
    identity = JobIdentity(
        run.suite, run.commit, job.artifact_hash, context.target.name, job.started_at
    )
    request = JobRequest(
        _list_requested_benchmarks(context, manifest, at_base),
        run.params,
        job.launches,
        run.rounds,
        run.demonstration,
        run.knobs,
        target_kind="device" if context.target.kind == "device" else "host",
        suppress=_list_expected_errors(context),
        stop_when_sure=run.stop_when_sure,
    )
    look = Look(
        number=job.batch,
        other_p_values=tuple(
            _read_p_value(comparison)
            for comparison in other_comparisons
            if comparison.verdict != "not_applicable"
        ),
        unjudged_jobs=queries.unjudged_jobs(session, run.id, job.id, as_of),
        limits=limits or void_limits(),
        method=method,
        gate_method=gate_method,
    )
    if context.is_imported:
        return _remove_comparisons(
            analyse(
                manifest,
                _read_facts(session, context, under_way=under_way),
                identity,
                request,
                look,
            )
        )
    if not run.compares_revisions:
        return analyse(
            manifest,
            _read_facts(session, context, under_way=under_way),
            identity,
            request,
            look,
        )
    base, head = (
        Revision(
            commit,
            artifact,
            _read_facts(session, context, side, under_way=under_way),
            at_base if side == "base" else None,
        )
        for commit, artifact, side in _list_sides(context)
    )
    judge = (
        analyse_pull_request
        if run.judges_head
        else partial(analyse_revisions, thorough=run.trigger in _THOROUGH_TRIGGERS)
    )
    return analyse_affected(
        manifest,
        (base, head),
        request,
        job.unaffected or {},
        lambda declared, at_base, affected: judge(
            declared, at_base, head, identity, request=affected, look=look
        ),
        judges_gates=run.judges_head,
    )


def _list_requested_benchmarks(
    context: JobContext, manifest: Manifest, at_base: Manifest | None
) -> list[str]:
    """Return the benchmarks that the run names, or else all that any side declares for this kind of target."""
    if not context.run.whole_suite:
        return context.run.benchmarks
    sides = [manifest] if at_base is None else [manifest, at_base]
    names = [name for side in sides for name in side.benchmarks_on(context.target.kind)]
    return list(dict.fromkeys(names))


def _list_sides(context: JobContext) -> list[tuple[str, str | None, SideName]]:
    """Return commit, artifact and name of the base, then of the head."""
    run, job = context.run, context.job
    # An agent that could not announce its merge base has measured one all the same.
    base = run.base_commit or f"the merge base with {run.base_branch}"
    return [
        (base, job.base_artifact_hash, "base"),
        (run.commit, job.artifact_hash, "head"),
    ]


def _remove_comparisons(analysis: Analysis) -> Analysis:
    """Remove the comparisons: arms measured one after the other have no blocks to compare (I11)."""
    return replace(
        analysis,
        ruled=(),
        report=analysis.report.model_copy(update={"comparisons": []}),
    )


_THOROUGH_TRIGGERS = ("confirm", "bisect")
"""Triggers of runs in which an alert waits: of an A/B run for every comparison, else for those that a rule watches."""


_SIMULATED = ("simulated",)
"""The configuration error that the server itself adds for a simulated target."""


def _list_expected_errors(context: JobContext) -> tuple[str, ...]:
    """Return the configuration errors that do not void a job.

    These are the errors that its request suppressed, and `simulated` for a simulated target. The verdict names them.
    """
    of_simulation = _SIMULATED if context.target.simulated else ()
    return tuple(dict.fromkeys((*context.run.suppress, *of_simulation)))


def _read_facts(
    session: Session,
    context: JobContext,
    side: SideName | None = None,
    *,
    under_way: bool,
) -> JobFacts:
    job_id = context.job.id
    return JobFacts(
        cases=ingest.read_samples(session, job_id, side, under_way=under_way),
        checks=ingest.checks(session, job_id, side, under_way=under_way),
        warnings=ingest.warnings(session, job_id, side, under_way=under_way),
        conditions=ingest.conditions(session, job_id, under_way=under_way),
        announced=ingest.cases(session, job_id, side, under_way=under_way),
        configuration=_SIMULATED if context.target.simulated else (),
        broken=_why_no_verdict(context),
        builds=[
            LaunchBuild(launch, start["workload"], start["build"])
            for launch, start in ingest.start_events(
                session, job_id, side, under_way=under_way
            )
        ],
    )


def _why_no_verdict(context: JobContext) -> tuple[str, ...]:
    if not context.is_imported:
        return ()
    return (WHY_NOT_COMPARED if context.run.judged else WHY_IMPORTED,)


def _read_p_value(comparison: Comparison) -> float:
    p = comparison.evidence["statistic"]["p_slow"]
    return 1.0 if p is None else float(p)


def conclude_job(session: Session, job_analysis: JobAnalysis | None) -> None:
    """Conclude or extend a job by its analysis; do nothing if the job has moved on meanwhile."""
    if job_analysis is None:
        return
    context = queries.context(session, job_analysis.job_id)
    if context is None or (context.job.state, context.job.batch) != (
        "analysing",
        job_analysis.batch,
    ):
        return
    analysis = waivers.apply(session, context, job_analysis.analysis)
    job_analysis = replace(job_analysis, analysis=analysis)
    if analysis.extendable and jobs.request_batch(session, job_analysis.job_id):
        _store_report(session, job_analysis)
        return
    if not jobs.conclude(
        session, job_analysis.job_id, analysis.verdict, analysis.reason
    ):
        return
    _store_report(session, job_analysis)
    _store_comparisons(session, context, analysis.ruled, analysis.report.suppressed)
    noise.store_noise_floors(session, context, analysis)
    outbox.add(session, "alerts.evaluate", job_analysis.job_id)
    if context.is_baseline:
        outbox.add(session, EXTEND_HISTORY, job_analysis.job_id)
        policies.store_advice(
            session, context.job, context.run, context.target, analysis.policies
        )


def recompute_report(session: Session, context: JobContext) -> JobReportOut:
    """Analyse a job's stored samples again, without storing or deciding anything."""
    return _analyse(session, context).report


@dataclass(frozen=True)
class RepeatedReport:
    """A stored report, and the one that its samples give now by the same method.

    Waivers are left out of both, because they are decisions, not measurements.
    """

    stored: dict[str, Any]
    again: dict[str, Any]

    @property
    def differing(self) -> list[str]:
        """The names of the parts that differ."""
        names = sorted(self.stored.keys() | self.again.keys())
        return [name for name in names if self.stored.get(name) != self.again.get(name)]


def judge_again(session: Session, job_id: str, limits: VoidLimits) -> RepeatedReport:
    """Judge a concluded job again from its samples.

    It uses `limits`, and what was known of the run's other jobs at that time. Raises 404.
    """
    context, stored_row = (
        queries.context(session, job_id),
        queries.report(session, job_id),
    )
    if context is None or stored_row is None:
        raise not_found("report of the job", job_id)
    report = JobReportOut.model_validate(stored_row.report)
    analysis = _analyse(
        session,
        context,
        as_of=stored_row.created_at,
        limits=limits,
        method=report.method,
        gate_method=report.gate_method,
    )
    stored, again = (
        _select_compared_parts(report),
        _select_compared_parts(analysis.report),
    )
    rows: list[ComparisonOut | GateOut] = [*report.comparisons, *report.gates]
    if not any(row.waived for row in rows):
        stored["verdict"], again["verdict"] = context.job.verdict, analysis.verdict
    return RepeatedReport(stored, again)


def _select_compared_parts(report: JobReportOut) -> dict[str, Any]:
    """Return the parts of a report that must be equal when it is made again.

    Decisions of people are left out, and sentences of a former method, because their wording has changed. So is what was
    saved, which former reports do not say.
    """
    left_out = {"waived"}
    parts: dict[str, Any] = {"reasons": True, "saved": True}
    if report.method == VOIDING_METHOD:
        left_out |= {"reason", "launches_needed"}
        parts |= {"blockers": True, "next_steps": True}
    left_out_of_gates = left_out
    if report.gate_method == gates.SAMPLES_METHOD:
        left_out_of_gates = left_out | {"reason"}
    parts |= {
        "comparisons": {"__all__": left_out},
        "gates": {"__all__": left_out_of_gates},
    }
    return report.model_dump(mode="json", exclude=parts)


def advise_again(session: Session, job_id: str) -> list[PolicyAdvice]:
    """Compute policy advice of a concluded job without storing it, because advice of a confirmation enters no history
    (I13). Empty for an unknown job."""
    context = queries.context(session, job_id)
    if context is None:
        return []
    assessments = _analyse(session, context).policies
    return policies.advice_rows(context.job, context.run, context.target, assessments)


def give_up_job(session: Session, key: str, error: str) -> None:
    """End a job whose analysis keeps failing; `key` is `job:batch`."""
    job_id, _, batch = key.rpartition(":")
    detail = (
        f"The analysis failed {outbox.INCIDENT_AFTER} times, last with {error[:500]}. This is a fault of the "
        "server, not of what was measured: the samples are kept; report it with the server's log, then "
        "measure again."
    )
    jobs.fail_analysis(session, job_id, int(batch), detail)


def _store_report(session: Session, job_analysis: JobAnalysis) -> None:
    row = JobReport(
        job_id=job_analysis.job_id,
        batch=job_analysis.batch,
        report=job_analysis.analysis.report.model_dump(mode="json"),
        created_at=clock.now(),
    )
    queries.replace_report(session, row)


def _store_comparisons(
    session: Session,
    context: JobContext,
    judged_pairs: Sequence[JudgedPair],
    suppressed: Sequence[str],
) -> None:
    at = clock.now()
    for judged in judged_pairs:
        out = comparison_out(judged.pair, context.run.demonstration, judged.decides)
        rule = None if judged.rule is None else msgspec.to_builtins(judged.rule)
        evidence = {
            **evidence_of(judged.pair),
            "rule": rule,
            "decides": judged.decides,
        }
        if suppressed:
            evidence["window"] = {**evidence["window"], "suppressed": list(suppressed)}
        session.add(
            Comparison(
                id=ids.new_id("cmp"),
                job_id=context.job.id,
                run_id=context.run.id,
                target_id=context.target.id,
                suite=context.run.suite,
                params_key=params_key(out.params),
                evidence=evidence,
                sides=judged.pair.sides,
                measured_at=at,
                **{name: getattr(out, name) for name in _COLUMNS},
            )
        )
    session.flush()


_COLUMNS = (
    "benchmark",
    "arm",
    "reference",
    "metric",
    "params",
    "demonstration",
    "ratio",
    "lower",
    "upper",
    "share_slower",
    "launches",
    "blocks",
    "verdict",
    "reason",
)


def report_of(session: Session, job_id: str) -> JobReportOut:
    """Return the newest analysis of a job. Raises 404 `not_found`, or `not_analysed` while there is none."""
    row = queries.report(session, job_id)
    if row is not None:
        report = JobReportOut.model_validate(row.report)
        return report.model_copy(update={"reasons": reasons_of(report)})
    if queries.context(session, job_id) is None:
        raise not_found("job", job_id)
    raise ProblemError(
        404,
        "not_analysed",
        "The job has not been analysed yet; its report follows its samples.",
    )


def name_texts(session: Session, job_id: str, names: Collection[str]) -> dict[str, str]:
    """Return the texts that `names` with a digest were made of, as the document says that the job came with; none for
    other jobs. A job that joins no history has them only there."""
    context = queries.context(session, job_id)
    if context is None or not context.has_own_manifest:
        return {}
    document = queries.imported_texts(session, context.run.manifest_path)
    return {
        name: text
        for (benchmark, arm, _), title in document.items()
        if benchmark in names or arm in names
        for name, text in texts_of_names(title, benchmark, arm).items()
        if name in names
    }


def _pair_names(session: Session, job_id: str) -> SidePairing:
    """Pair the names of a job's head with those of its base. Without a manifest of the base, no name changes."""
    context = queries.context(session, job_id)
    if context is None or context.run.base_manifest is None:
        return SidePairing({}, {})
    return SidePairing.of(
        read_manifest(context.run.base_manifest), read_manifest(context.run.manifest)
    )


def rederive_finding(session: Session, finding_id: str) -> PairVerdict:
    """Judge a stored finding again from stored samples and parameters (I16). Raises 404."""
    row = queries.finding(session, finding_id)
    if row is None:
        raise not_found("finding", finding_id)
    finding, comparison = row
    sources: list[tuple[str, SideName | None]] = [
        (comparison.arm, None),
        (comparison.reference, None),
    ]
    if comparison.sides == "revisions":
        sources = [(comparison.arm, "head"), (comparison.arm, "base")]
    pairing = _pair_names(session, comparison.job_id)
    sides = []
    for arm, side in sources:
        names = comparison.benchmark, arm
        benchmark, own_arm = pairing.in_base(*names) if side == "base" else names
        blocks = CaseIndex.of(ingest.read_samples(session, comparison.job_id, side))
        sides.append(
            blocks.get(benchmark, comparison.params, comparison.metric, own_arm)
        )
    if sides[0] is None or sides[1] is None:
        raise ProblemError(
            409, "samples_gone", "The samples of this finding are no longer stored."
        )
    evidence = {"parameters": finding.parameters, "window": finding.window}
    return rederive(evidence, sides[0], sides[1])
