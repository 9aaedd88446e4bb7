"""Stores the policy advice of a job and lists it.

Advice is stored when a baseline job is concluded, and never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from paceline_contract.params import params_key
from sqlalchemy.orm import Session

from paceline_server.detect.params_query import params_of_query
from paceline_server.detect.policies import queries
from paceline_server.detect.policies.advice_sentences import advice_out
from paceline_server.detect.policies.advise import PolicyAssessment, evidence_of
from paceline_server.detect.policies.policy_on_target import (
    PolicyOnTarget,
    judge_on_target,
)
from paceline_server.detect.policies.schemas import PolicyAdviceOut
from paceline_server.kernel import clock, ids
from paceline_server.kernel.wire import Page
from paceline_server.store.page import page
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.store.tables.policies import PolicyAdvice

advice_of_job = queries.advice_of_job
advice_before = queries.advice_before

_COLUMNS = (
    "id",
    "suite",
    "policy",
    "params",
    "target_id",
    "in_force",
    "holds",
    "run_id",
    "job_id",
    "measured_at",
)


def store_advice(
    session: Session,
    job: Job,
    run: Run,
    target: Target,
    assessments: Sequence[PolicyAssessment],
) -> None:
    """Store the advice of a baseline job."""
    session.add_all(advice_rows(job, run, target, assessments))
    session.flush()


def advice_rows(
    job: Job, run: Run, target: Target, assessments: Sequence[PolicyAssessment]
) -> list[PolicyAdvice]:
    """The advice of a job as rows that are not stored yet; unknown answers are left out."""
    at = clock.now()
    return [
        PolicyAdvice(
            id=ids.new_id("adv"),
            target_id=target.id,
            suite=run.suite,
            policy=assessment.policy.name,
            params=dict(assessment.params),
            params_key=params_key(assessment.params),
            advice={
                **advice_out(assessment, target.spoken_name).model_dump(mode="json"),
                "evidence": evidence_of(assessment),
            },
            in_force=asdict(assessment.in_force),
            holds=assessment.holds,
            run_id=run.id,
            job_id=job.id,
            measured_at=at,
        )
        for assessment in assessments
        if assessment.warm.answer != "unknown"
    ]


def list_newest_advice(
    session: Session,
    *,
    suite: str | None,
    policy: str | None,
    target: str | None,
    limit: int,
    cursor: str | None,
) -> Page[PolicyAdviceOut]:
    """The newest advice for each target, policy and combination of params, newest first."""
    return _page(session, queries.newest_advice(suite, policy, target), limit, cursor)


def list_advice_history(
    session: Session,
    *,
    suite: str,
    policy: str,
    target: str,
    params: str | None,
    limit: int,
    cursor: str | None,
) -> Page[PolicyAdviceOut]:
    """All advice about a policy on a target, newest first; `params` is a JSON object. Raises 400."""
    key = (
        None
        if params is None
        else params_key(params_of_query(params, '{"message": 150}'))
    )
    return _page(
        session, queries.advice_history(suite, policy, target, key), limit, cursor
    )


def judge_on_targets(
    session: Session,
    *,
    param: str,
    reference: str,
    minimum: int,
    warmup_rounds: int | None,
) -> list[PolicyOnTarget]:
    """Judge a policy against the newest advice of every target about the same param and reference."""
    rows = queries.newest_about(session, param, reference)
    targets = queries.targets(session, rows)
    return [
        judge_on_target(advice, targets[advice.target_id], minimum, warmup_rounds)
        for advice in _out(session, rows)
    ]


def _page(
    session: Session, query: Any, limit: int, cursor: str | None
) -> Page[PolicyAdviceOut]:
    rows: Page[PolicyAdvice] = page(
        session,
        query,
        [PolicyAdvice.measured_at, PolicyAdvice.id],
        lambda row: [row.measured_at, row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    return Page(items=_out(session, rows.items), next=rows.next)


def _out(session: Session, rows: Sequence[PolicyAdvice]) -> list[PolicyAdviceOut]:
    names, commits = queries.names_and_commits(session, rows)
    return [
        PolicyAdviceOut.model_validate(
            {
                **row.advice,
                **{name: getattr(row, name) for name in _COLUMNS},
                "target_name": names[row.target_id],
                "commit": commits[row.run_id],
            }
        )
        for row in rows
    ]
