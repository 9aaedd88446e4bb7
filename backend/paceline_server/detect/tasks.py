"""Handles the outbox topics of detection; each handler computes before its write transaction begins."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from paceline_server.detect import history, service
from paceline_server.store.outbox import (
    handle_topic,
    handle_topic_after_reading,
    on_give_up,
)


@handle_topic_after_reading("job.analyse", service.analyse_job)
def analyse(session: Session, _key: str, analysis: service.JobAnalysis | None) -> None:
    """Analyse a job, and extend or conclude it."""
    service.conclude_job(session, analysis)


@on_give_up("job.analyse")
def stop_analysing(session: Session, key: str, error: str) -> None:
    """End a job whose analysis failed too often, so that its run and alert do not wait for it."""
    service.give_up_job(session, key, error)


@handle_topic(service.EXTEND_HISTORY)
def extend_history(session: Session, job_id: str) -> None:
    """Append the points of a job to its series."""
    history.append_points(session, job_id)


@handle_topic_after_reading(history.EVALUATE, history.evaluate_job)
def evaluate_history(
    session: Session, job_id: str, evaluated: Sequence[history.Rounds] | None
) -> None:
    """Store the evaluations of the job's series."""
    history.store_evaluation(session, job_id, evaluated)
