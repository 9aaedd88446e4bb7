"""All SQL of explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from paceline_server.store.tables.decisions import Comparison, Finding
from paceline_server.store.tables.history import Series, SeriesPoint


@dataclass(frozen=True)
class FindingEvidence:
    """A finding with what it was made from: a comparison, a series, or neither (policy advice)."""

    finding: Finding
    comparison: Comparison | None
    series: Series | None


_EVIDENCE = (
    select(Finding, Comparison, Series)
    .outerjoin(Comparison, Comparison.id == Finding.comparison_id)
    .outerjoin(Series, Series.id == Finding.series_id)
)


def evidence_of(session: Session, alert_id: str) -> list[FindingEvidence]:
    """The findings of an alert, the oldest first."""
    query = _EVIDENCE.where(Finding.alert_id == alert_id).order_by(
        Finding.created_at, Finding.id
    )
    return [FindingEvidence(*row) for row in session.execute(query)]


def finding(session: Session, finding_id: str) -> FindingEvidence | None:
    """A finding with what it was made from."""
    row = session.execute(_EVIDENCE.where(Finding.id == finding_id)).one_or_none()
    return None if row is None else FindingEvidence(*row)


def points_span(
    session: Session, series_id: str, job_ids: Sequence[str]
) -> tuple[datetime | None, datetime | None]:
    """When the first and the last of these points were measured."""
    query = select(func.min(SeriesPoint.at), func.max(SeriesPoint.at)).where(
        SeriesPoint.series_id == series_id, SeriesPoint.job_id.in_(list(job_ids))
    )
    first, last = session.execute(query).one()
    return first, last
