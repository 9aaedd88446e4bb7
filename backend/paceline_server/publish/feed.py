"""Renders alerts as an Atom feed (RFC 4287), for readers that poll.

An entry's id contains the alert's id and never changes; `updated` is when the alert last changed, so a feed reader
shows it again when it is fixed or reopened. Alerts that nobody was notified of are not in the feed (I13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sqlalchemy.orm import Session

from paceline_server.alerts import service as alerts
from paceline_server.kernel.escaping import xml_text
from paceline_server.publish import queries
from paceline_server.publish.queries import FeedFilters
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.projects import Project

ATOM = "http://www.w3.org/2005/Atom"
ENTRIES = 50
CACHE_S = 60


@dataclass(frozen=True)
class AlertFeed:
    """A feed before it is rendered. `state` changes whenever the document would."""

    session: Session
    project: Project
    filters: FeedFilters
    base: str
    rows: Sequence[tuple[Alert, Target | None]]

    @classmethod
    def read(cls, session: Session, filters: FeedFilters, base: str) -> AlertFeed:
        """Read the feed of the session's project. `base`: the URL of this server."""
        project = queries.project(session)
        return cls(
            session,
            project,
            filters,
            base,
            queries.feed_alerts(session, filters, ENTRIES),
        )

    @property
    def state(self) -> str:
        """A text that changes whenever the document would; an entry changes only when its alert does."""
        changes = [f"{alert.id} {alert.updated_at}" for alert, _ in self.rows]
        return "\n".join([self.project.title, self.base, repr(self.filters), *changes])

    def render(self) -> str:
        """Return the document."""
        texts = alerts.explanations(self.session, [alert for alert, _ in self.rows])
        feed = Element("feed", xmlns=ATOM)
        filter_texts = [
            f"{name}={value}"
            for name, value in vars(self.filters).items()
            if value is not None
        ]
        title = f"Alerts of {self.project.title}"
        _add(
            feed,
            "title",
            f"{title} ({', '.join(filter_texts)})" if filter_texts else title,
        )
        _add(feed, "id", _feed_id(self.project.id, filter_texts))
        changed = [alert.updated_at for alert, _ in self.rows]
        _add(feed, "updated", _instant(max(changed, default=self.project.created_at)))
        SubElement(feed, "link", rel="alternate", href=f"{self.base}/alerts")
        _add(SubElement(feed, "author"), "name", "Paceline")
        _add(feed, "generator", "Paceline")
        for alert, target in self.rows:
            _add_entry(feed, alert, target, texts[alert.id], self.base)
        indent(feed)
        body = tostring(feed, encoding="unicode")
        return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _feed_id(project_id: str, wanted: Sequence[str]) -> str:
    """Return the feed's id, an IRI (RFC 4287, 4.2.6), in which the values of filters are quoted."""
    return ":".join(["urn:paceline:feed", project_id, *map(quote, sorted(wanted))])


def _add_entry(
    feed: Element, alert: Alert, target: Target | None, text: str, base: str
) -> None:
    entry = SubElement(feed, "entry")
    _add(entry, "title", f"{alert.title} ({alert.state})")
    _add(entry, "id", f"urn:paceline:alert:{alert.id}")
    _add(entry, "published", _instant(alert.created_at))
    _add(entry, "updated", _instant(alert.updated_at))
    href = f"{base}/alerts/{alert.id}"
    SubElement(entry, "link", rel="alternate", href=href)
    for scheme, term in (
        ("state", alert.state),
        ("suite", alert.suite),
        ("target", "" if target is None else target.name),
    ):
        if term:
            SubElement(
                entry, "category", term=xml_text(term), scheme=f"urn:paceline:{scheme}"
            )
    _add(entry, "summary", alert.words)
    _add(entry, "content", text)


def _add(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = xml_text(text)


def _instant(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
