"""Analyses jobs that delivered a batch: requests another batch, or concludes and stores
the result.

The outbox row `job.analyse` announces a complete batch. Reading and computing hold no
lock; the result commits together with the job's new state, once per (job, batch).
Findings are facts and never change (I16).

    job.analyse(job:batch) ─▶ read ─▶ analyse ─┬─ undecided, batches left ─▶ request_batch
                                               └─ else ─▶ conclude + comparisons ─▶ alerts.evaluate(job)
                                                                    baseline ─▶ history.extend(job)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec
from paceline_contract.manifest_reader import read_manifest
from sqlalchemy.orm import Session

from paceline_server.detect import noise, queries
from paceline_server.detect.analyse import Analysis, JudgedPair, analyse
from paceline_server.detect.compare import comparison_out, evidence_of, rederive
from paceline_server.detect.facts import (
    CaseIndex,
    JobFacts,
    JobIdentity,
    JobRequest,
    Look,
)
from paceline_server.detect.findings import Role, record_finding
from paceline_server.detect.policies import service as policies
from paceline_server.detect.queries import JobContext, findings_with_comparisons
from paceline_server.detect.revisions import Revision, analyse_revisions
from paceline_server.detect.schemas import JobReportOut
from paceline_server.ingest import service as ingest
from paceline_server.ingest.cases import params_key
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids, settings
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.stats.paired import PairVerdict
from paceline_server.stats.voids import VoidLimits
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Comparison, JobReport
from paceline_server.store.tables.history import PolicyAdvice

EXTEND_HISTORY = "history.extend"
"""Outbox topic of a concluded baseline job; the key is its id."""
WHY_IMPORTED = (
    "another tool measured it, one benchmark after the other in one process, and nobody watched the target: "
    "its figures are shown and not judged"
)
"""Why a verdict, and a point that counts, is not to be had of an imported job (I2, I11)."""

__all__ = [
    "JobAnalysis",
    "Role",
    "advise_again",
    "analyse_job",
    "comparisons_of_job",
    "conclude_job",
    "findings_of",
    "give_up_job",
    "record_finding",
    "rederive_finding",
    "report_of",
    "void_limits",
]

findings_of = findings_with_comparisons
comparisons_of_job = queries.comparisons_of_job


@dataclass(frozen=True)
class JobAnalysis:
    """An analysis and the look it belongs to."""

    job_id: str
    batch: int
    analysis: Analysis


def analyse_job(session: Session, key: str) -> JobAnalysis | None:
    """Read and judge one look of a job; `key` is `job:batch`. None when that look is no longer waited for."""
    job_id, _, batch = key.rpartition(":")
    context = queries.context(session, job_id)
    if (
        context is None
        or context.job.state != "analysing"
        or context.job.batch != int(batch)
    ):
        return None
    return JobAnalysis(job_id, context.job.batch, _analyse(session, context))


def void_limits() -> VoidLimits:
    """The void limits of this server: STATISTICS §1, with those an operator raised."""
    own = settings.current()
    return VoidLimits.of_operator(own.pressure_limit_percent, own.drift_limit_percent)


def _analyse(session: Session, context: JobContext) -> Analysis:
    job, run = context.job, context.run
    others = queries.other_comparisons(session, run.id, job.id)
    manifest = read_manifest(run.manifest)
    identity = JobIdentity(
        run.suite, run.commit, job.artifact_hash, context.target.name, job.started_at
    )
    asked = JobRequest(
        run.benchmarks,
        run.params,
        job.launches,
        run.rounds,
        run.demonstration,
        run.knobs,
        target_kind="device" if context.target.kind == "device" else "host",
        suppress=tuple(run.suppress),
    )
    look = Look(
        number=job.batch,
        other_p_values=tuple(
            _p_value(comparison)
            for comparison in others
            if comparison.verdict != "not_applicable"
        ),
        unjudged_jobs=queries.unjudged_jobs(session, run.id, job.id),
        limits=void_limits(),
    )
    if context.is_imported:
        return _without_comparisons(
            analyse(manifest, _read_facts(session, context), identity, asked, look)
        )
    if run.base_commit is None:
        return analyse(manifest, _read_facts(session, context), identity, asked, look)
    return analyse_revisions(
        manifest,
        Revision(
            run.base_commit,
            job.base_artifact_hash,
            _read_facts(session, context, "base"),
        ),
        Revision(run.commit, job.artifact_hash, _read_facts(session, context, "head")),
        identity,
        asked=asked,
        look=look,
        thorough=run.trigger in THOROUGH,
    )


def _without_comparisons(analysis: Analysis) -> Analysis:
    """Without comparisons: arms that were measured one after the other have no blocks to compare (I11)."""
    return replace(
        analysis,
        ruled=(),
        report=analysis.report.model_copy(update={"comparisons": []}),
    )


THOROUGH = ("confirm", "bisect")
"""Triggers of A/B runs in which an alert waits for a comparison that need not be the one that decides."""


def _read_facts(
    session: Session, context: JobContext, side: Literal["base", "head"] | None = None
) -> JobFacts:
    job_id = context.job.id
    return JobFacts(
        cases=ingest.blocks(session, job_id, side),
        checks=ingest.checks(session, job_id, side),
        warnings=ingest.warnings(session, job_id, side),
        conditions=ingest.conditions(session, job_id),
        announced=ingest.cases(session, job_id, side),
        configuration=("simulated",) if context.target.simulated else (),
        broken=(WHY_IMPORTED,) if context.is_imported else (),
        builds=[start["build"] for _, start in ingest.starts(session, job_id, side)],
    )


def _p_value(comparison: Comparison) -> float:
    p = comparison.evidence["statistic"]["p_slow"]
    return 1.0 if p is None else float(p)


def conclude_job(session: Session, found: JobAnalysis | None) -> None:
    """Carry out what an analysis decided; does nothing when the job has moved on meanwhile."""
    if found is None:
        return
    context = queries.context(session, found.job_id)
    if context is None or (context.job.state, context.job.batch) != (
        "analysing",
        found.batch,
    ):
        return
    analysis = found.analysis
    if analysis.extendable and jobs.request_batch(session, found.job_id):
        _store_report(session, found)
        return
    if not jobs.conclude(session, found.job_id, analysis.verdict, analysis.reason):
        return
    _store_report(session, found)
    _store_comparisons(session, context, analysis.ruled, analysis.report.suppressed)
    noise.store_noise_floors(session, context, analysis)
    outbox.add(session, "alerts.evaluate", found.job_id)
    if context.is_baseline:
        outbox.add(session, EXTEND_HISTORY, found.job_id)
        policies.store_advice(
            session, context.job, context.run, context.target, analysis.policies
        )


def measure_again(session: Session, context: JobContext) -> JobReportOut:
    """What a job's stored samples say today: the report of an analysis that stores and decides nothing."""
    return _analyse(session, context).report


def advise_again(session: Session, job_id: str) -> list[PolicyAdvice]:
    """What a concluded job's samples say of the suite's policies, stored nowhere: of a confirmation, whose
    advice enters no history (I13). Empty for a job there is not."""
    context = queries.context(session, job_id)
    if context is None:
        return []
    advised = _analyse(session, context).policies
    return policies.advice_rows(context.job, context.run, context.target, advised)


def give_up_job(session: Session, key: str, error: str) -> None:
    """End a job whose analysis keeps failing; `key` is `job:batch`."""
    job_id, _, batch = key.rpartition(":")
    detail = (
        f"The analysis failed {outbox.INCIDENT_AFTER} times, last with {error[:500]}. This is a fault of the "
        "server, not of what was measured: the samples are kept; report it with the server's log, then "
        "measure again."
    )
    jobs.fail_analysis(session, job_id, int(batch), detail)


def _store_report(session: Session, found: JobAnalysis) -> None:
    row = JobReport(
        job_id=found.job_id,
        batch=found.batch,
        report=found.analysis.report.model_dump(mode="json"),
        created_at=clock.now(),
    )
    queries.replace_report(session, row)


def _store_comparisons(
    session: Session,
    context: JobContext,
    ruled: Sequence[JudgedPair],
    suppressed: Sequence[str],
) -> None:
    at = clock.now()
    for judged in ruled:
        out = comparison_out(judged.pair, context.run.demonstration)
        rule = None if judged.rule is None else msgspec.to_builtins(judged.rule)
        evidence = {**evidence_of(judged.pair), "rule": rule}
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
    """The newest analysis of a job. Raises 404 `not_found`, or `not_analysed` while there is none."""
    row = queries.report(session, job_id)
    if row is not None:
        return JobReportOut.model_validate(row.report)
    if queries.context(session, job_id) is None:
        raise not_found("job", job_id)
    raise ProblemError(
        404,
        "not_analysed",
        "The job has not been analysed yet; its report follows its samples.",
    )


def rederive_finding(session: Session, finding_id: str) -> PairVerdict:
    """Judge a stored finding again from stored samples and stored parameters. Raises 404.

    The proof of I16, that a finding holds everything it takes to make it again: run by the tests, and by hand
    by whoever doubts one.
    """
    found = queries.finding(session, finding_id)
    if found is None:
        raise not_found("finding", finding_id)
    finding, comparison = found
    sources: list[tuple[str, Literal["base", "head"] | None]] = [
        (comparison.arm, None),
        (comparison.reference, None),
    ]
    if comparison.sides == "revisions":
        sources = [(comparison.arm, "head"), (comparison.arm, "base")]
    sides = [
        CaseIndex.of(ingest.blocks(session, finding.job_id, side)).get(
            comparison.benchmark, comparison.params, comparison.metric, arm
        )
        for arm, side in sources
    ]
    if sides[0] is None or sides[1] is None:
        raise ProblemError(
            409, "samples_gone", "The samples of this finding are no longer stored."
        )
    evidence = {"parameters": finding.parameters, "window": finding.window}
    return rederive(evidence, sides[0], sides[1])
