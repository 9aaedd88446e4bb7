"""All SQL of reports. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.store.tables.messages import Incident


def agents(session: Session, limit: int) -> list[Agent]:
    """The agents heard of last."""
    query = select(Agent).order_by(Agent.last_seen_at.desc().nulls_last(), Agent.id).limit(limit)
    return list(session.scalars(query))


def incidents() -> Select[Any]:
    return select(Incident)


def comparisons_of_run(run_id: str) -> Select[Any]:
    return select(Comparison).where(Comparison.run_id == run_id)


def run_exists(session: Session, run_id: str) -> bool:
    return session.get(Run, run_id) is not None


def target_names(session: Session, target_ids: Sequence[str]) -> dict[str, str]:
    query = select(Target).where(Target.id.in_(set(target_ids)))
    return {target.id: target.name for target in session.scalars(query)}


def job_with_target(session: Session, job_id: str) -> tuple[Job, Target] | None:
    query = select(Job, Target).join(Target, Target.id == Job.target_id).where(Job.id == job_id)
    found = session.execute(query).one_or_none()
    return None if found is None else (found[0], found[1])


def newest_comparisons(
    session: Session, suite: str, benchmark: str, metric: str, target_id: str | None
) -> list[Comparison]:
    """The newest comparison per target, arm and params, demonstrations apart; confirmations never (I13)."""
    newest = (
        func.row_number()
        .over(
            partition_by=(
                Comparison.target_id, Comparison.arm, Comparison.params_key, Comparison.demonstration
            ),
            order_by=(Comparison.measured_at.desc(), Comparison.id.desc()),
        )
        .label("newest")
    )  # fmt: skip
    inner = (
        select(Comparison.id, newest)
        .join(Run, Run.id == Comparison.run_id)
        .where(
            Comparison.suite == suite,
            Comparison.benchmark == benchmark,
            Comparison.metric == metric,
            Run.confirms_alert_id.is_(None),
        )
    )
    if target_id is not None:
        inner = inner.where(Comparison.target_id == target_id)
    ranked = inner.subquery()
    query = select(Comparison).join(ranked, ranked.c.id == Comparison.id).where(ranked.c.newest == 1)
    return list(session.scalars(query))


def manifest_of_job(session: Session, job_id: str) -> dict[str, Any]:
    """The manifest a job's run froze."""
    run = session.scalars(select(Run).join(Job, Job.run_id == Run.id).where(Job.id == job_id)).one()
    return run.manifest
