"""Builds the series page from the history in `series` and the rule in `alerts`.

The limit line is the rule's minimum effect applied to the present level (I17).
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.alerts import service as alerts
from paceline_server.series import service as history
from paceline_server.series.schemas import RuleInForceOut, SeriesOut, SeriesPageOut


def series_page(session: Session, series_id: str) -> SeriesPageOut:
    """Return everything about a series except its points. Raises 404."""
    page = history.series_page(session, series_id)
    floor = None if page.noise is None else page.noise.mde
    return page.model_copy(
        update={"rule": _rule(session, page.series, page.level, floor)}
    )


def _rule(
    session: Session, series: SeriesOut, level: float | None, floor: float | None
) -> RuleInForceOut:
    subject = alerts.RuleSubject(
        series.suite, series.benchmark, series.arm, series.metric, series.target_name
    )
    applied = alerts.rule_for(session, "history", subject).resolved(floor)
    worse = (
        1.0 + applied.min_effect
        if series.direction == "lower"
        else 1.0 / (1.0 + applied.min_effect)
    )
    return RuleInForceOut(
        rule_id=applied.rule_id,
        version=applied.version,
        name=applied.name,
        text=applied.text,
        min_effect=applied.min_effect,
        direction=applied.direction,
        mode=applied.mode,
        muted=applied.muted,
        limit=None if level is None or applied.mode == "off" else level * worse,
    )
