"""Makes badges for READMEs: the newest verdict of a suite, its worst comparison, its alerts; as SVG and for shields.io.

A badge shows only words that the API gives (I21).
"""

from __future__ import annotations

from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from sqlalchemy.orm import Session

from paceline_server.jobs import service as jobs
from paceline_server.kernel.wire import Response
from paceline_server.publish import queries
from paceline_server.publish.queries import Subject
from paceline_server.publish.verdicts import ranked, result_words, verdicts_of_run

BadgeKind = Literal["verdict", "ratio", "alerts"]
COLOURS = {
    "pass": "#2f9e44",
    "fail": "#c92a2a",
    "inconclusive": "#e67700",
    "unknown": "#868e96",
}
"""Colours by verdict. White text on each has a contrast of at least 3:1, as WCAG requires for large and bold text."""
MAX_CHARACTERS = 60
CACHE_S = 60
CHARACTER_PX, PADDING_PX = 6.6, 12
"""The average width of a character of Verdana at 11 px, and the padding; `textLength` makes every font fit."""


class BadgeOut(Response):
    """A badge in the form that shields.io's endpoint reads (schema version 1)."""

    schemaVersion: Literal[1] = 1  # noqa: N815 - the name that shields.io reads
    label: str
    message: str
    color: str
    cacheSeconds: int = CACHE_S  # noqa: N815 - as above


def make_badge(session: Session, kind: BadgeKind, subject: Subject) -> BadgeOut:
    """Return the badge of a suite; it says "no runs" if the suite was never measured."""
    if kind == "alerts":
        count = queries.count_standing_alerts(session, subject)
        message, tone = (f"{count} open", "fail") if count else ("none", "pass")
        return _badge(f"{subject.suite} alerts", message, tone)
    run_id = queries.newest_ended_run(session, subject)
    if run_id is None:
        return _badge(subject.suite, "no runs", "unknown")
    if kind == "ratio":
        return _worst_badge(session, run_id, subject)
    return _badge(subject.suite, *_outcome(session, run_id, subject))


def _outcome(session: Session, run_id: str, subject: Subject) -> tuple[str, str]:
    run = jobs.get_run(session, run_id)
    outcome: str = run.outcome
    for job in run.jobs:
        if job.target_name == subject.target:
            outcome = job.outcome
    return outcome, outcome if outcome in COLOURS else "inconclusive"


def _worst_badge(session: Session, run_id: str, subject: Subject) -> BadgeOut:
    """Return a badge with the worst comparison or gate that decides the run's verdict."""
    rows = [
        row
        for row in ranked(verdicts_of_run(session, run_id))
        if row.decides and subject.target in (None, row.target)
    ]
    if not rows:
        return _badge(subject.suite, "no comparison", "unknown")
    worst = rows[0]
    return _badge(
        subject.suite,
        result_words(worst.item),
        worst.item.verdict if worst.item.verdict in COLOURS else "unknown",
    )


def _badge(label: str, message: str, tone: str) -> BadgeOut:
    return BadgeOut(
        label=_shorten(label), message=_shorten(message), color=COLOURS[tone]
    )


def _shorten(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1] + "…"


def render_svg(badge_out: BadgeOut) -> str:
    """Return the badge as SVG, readable by screen readers and without scripts or external resources."""
    left, right = _width(badge_out.label), _width(badge_out.message)
    width = left + right
    quoted_text = quoteattr(f"{badge_out.label}: {badge_out.message}")
    texts = "".join(
        f'<text x="{x + PADDING_PX / 2:g}" y="14" textLength="{w - PADDING_PX:g}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
        for x, w, text in ((0, left, badge_out.label), (left, right, badge_out.message))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="20" role="img" aria-label={quoted_text}>'
        f"<title>{escape(f'{badge_out.label}: {badge_out.message}')}</title>"
        f'<clipPath id="r"><rect width="{width:g}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left:g}" height="20" fill="#495057"/>'
        f'<rect x="{left:g}" width="{right:g}" height="20" fill="{badge_out.color}"/></g>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{texts}</g></svg>\n'
    )


def _width(text: str) -> float:
    return round(len(text) * CHARACTER_PX + PADDING_PX, 1)
