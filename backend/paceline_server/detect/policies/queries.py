"""Holds the SQL of policy advice."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from paceline_server.store.tables.jobs import Run
from paceline_server.store.tables.policies import PolicyAdvice


def advice_history(
    suite: str | None, policy: str | None, target_id: str | None, params_key: str | None
) -> Select[PolicyAdvice]:
    """Return the query of advice that matches the filters; None matches everything."""
    query = select(PolicyAdvice)
    filters = {
        "suite": suite,
        "policy": policy,
        "target_id": target_id,
        "params_key": params_key,
    }
    for column, value in filters.items():
        if value is not None:
            query = query.where(getattr(PolicyAdvice, column) == value)
    return query


def newest_advice(
    suite: str | None, policy: str | None, target_id: str | None
) -> Select[PolicyAdvice]:
    """Select the newest advice of each target, policy and combination of params."""
    rank = (
        func.row_number()
        .over(
            partition_by=(
                PolicyAdvice.target_id,
                PolicyAdvice.suite,
                PolicyAdvice.policy,
                PolicyAdvice.params_key,
            ),
            order_by=(PolicyAdvice.measured_at.desc(), PolicyAdvice.id.desc()),
        )
        .label("rank")
    )
    inner = (
        advice_history(suite, policy, target_id, None)
        .with_only_columns(PolicyAdvice.id, rank)
        .subquery()
    )
    return (
        select(PolicyAdvice)
        .join(inner, inner.c.id == PolicyAdvice.id)
        .where(inner.c.rank == 1)
    )


def advice_of_job(session: Session, job_id: str) -> list[PolicyAdvice]:
    """Return the advice of a job, in a fixed order."""
    query = (
        select(PolicyAdvice)
        .where(PolicyAdvice.job_id == job_id)
        .order_by(PolicyAdvice.id)
    )
    return list(session.scalars(query))


def find_previous_advice(session: Session, row: PolicyAdvice) -> PolicyAdvice | None:
    """Return the advice before `row` for the same policy, target and params."""
    query = (
        advice_history(row.suite, row.policy, row.target_id, row.params_key)
        .where(
            PolicyAdvice.job_id != row.job_id,
            PolicyAdvice.measured_at <= row.measured_at,
        )
        .order_by(PolicyAdvice.measured_at.desc(), PolicyAdvice.id.desc())
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def commits_of_runs(session: Session, rows: Sequence[PolicyAdvice]) -> dict[str, str]:
    """Return the commits of the runs of these rows, by run id."""
    query = select(Run.id, Run.commit).where(Run.id.in_({row.run_id for row in rows}))
    return {row.id: row.commit for row in session.execute(query)}


NEWEST = 200
"""Rows of advice that a comparison shows: targets times combinations of params."""


def newest_about(session: Session, param: str, reference: str) -> list[PolicyAdvice]:
    """Return the newest advice of every target about policies that decide by `param` over `reference`."""
    query = (
        newest_advice(None, None, None)
        .where(
            PolicyAdvice.advice["param"].as_string() == param,
            PolicyAdvice.advice["reference"].as_string() == reference,
        )
        .order_by(PolicyAdvice.measured_at.desc(), PolicyAdvice.id.desc())
        .limit(NEWEST)
    )
    return list(session.scalars(query))
