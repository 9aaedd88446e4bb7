"""Holds the SQL of waivers, and of the alerts and runs that they concern."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from paceline_server.detect.gate_figures import GateFigure
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Comparison, Finding
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.store.tables.waivers import Waiver


def in_force(session: Session, suite: str, at: datetime) -> list[Waiver]:
    """Return the waivers of a suite that are neither expired nor revoked, the oldest first."""
    query = (
        select(Waiver)
        .where(
            Waiver.suite == suite,
            Waiver.expires_at > at,
            Waiver.revoked_at.is_(None),
        )
        .order_by(Waiver.created_at, Waiver.id)
    )
    return list(session.scalars(query))


def waivers(suite: str | None) -> Select[Waiver]:
    query = select(Waiver)
    return query if suite is None else query.where(Waiver.suite == suite)


def waiver(session: Session, waiver_id: str) -> Waiver | None:
    return session.get(Waiver, waiver_id)


def lock_waiver(session: Session, waiver_id: str) -> Waiver | None:
    query = select(Waiver).where(Waiver.id == waiver_id).with_for_update()
    return session.scalars(query).one_or_none()


def known_alerts(session: Session, suite: str, target_id: str) -> list[Alert]:
    """Return the alerts about arms and gates of a suite on a target, the newest first."""
    query = (
        select(Alert)
        .where(
            Alert.suite == suite,
            Alert.target_id == target_id,
            Alert.kind.in_(("arm_slower", "gate")),
            Alert.shadow.is_(False),
        )
        .order_by(Alert.created_at.desc(), Alert.id.desc())
    )
    return list(session.scalars(query))


def failing_evidence(
    session: Session, alert_ids: Sequence[str]
) -> list[tuple[str, str, float]]:
    """Return (alert, params key, upper bound of the ratio) of every failing comparison that an alert rests on."""
    query = (
        select(Finding.alert_id, Comparison.params_key, Comparison.upper)
        .join(Comparison, Comparison.id == Finding.comparison_id)
        .where(
            Finding.alert_id.in_(alert_ids),
            Comparison.verdict == "fail",
        )
    )
    return [
        (alert_id, params, upper)
        for alert_id, params, upper in session.execute(query)
        if alert_id is not None and upper is not None
    ]


def gate_figures(
    session: Session, alert_ids: Sequence[str]
) -> list[tuple[str, GateFigure]]:
    """Return (alert, figure) of every failing gate that an alert rests on. Findings from before these were kept have
    none."""
    query = select(Finding.alert_id, Finding.numbers).where(
        Finding.alert_id.in_(alert_ids), Finding.kind == "gate"
    )
    return [
        (alert_id, GateFigure(**figure))
        for alert_id, numbers in session.execute(query)
        if alert_id is not None
        for figure in (numbers or {}).get("figures", ())
    ]


def failed_jobs(
    session: Session, suite: str, since: datetime, limit: int
) -> list[tuple[Job, Run, Target]]:
    """Return the jobs of a suite that were judged `fail` since then, the newest first."""
    query = (
        select(Job, Run, Target)
        .join(Run, Run.id == Job.run_id)
        .join(Target, Target.id == Job.target_id)
        .where(
            Run.suite == suite,
            Job.state == "done",
            Job.verdict == "fail",
            Run.created_at >= since,
        )
        .order_by(Run.created_at.desc(), Job.id)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in session.execute(query)]


def run(session: Session, run_id: str) -> Run | None:
    return session.get(Run, run_id)
