"""Makes and opens the links by which a chat fetches the plot of one notification.

Slack shows a picture only from a public address, and neither it nor another chat has a credential of ours. So the link
itself is one: it names a notification and ends with that notification's own key of 256 random bits. It opens this plot
and nothing else, for `VALID` at most.
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from paceline_server.accounts.cookies import is_loopback
from paceline_server.channels import queries
from paceline_server.channels.notices import PLOT_KEY, notice_of
from paceline_server.channels.plot import draw_ratios
from paceline_server.kernel import clock, settings
from paceline_server.kernel.errors import not_found
from paceline_server.kernel.ids import same_secret
from paceline_server.store.tables.channels import Notification

VALID = timedelta(days=30)
SUFFIX = ".png"


def plot_url(row: Notification) -> str | None:
    """Return the link to a notification's plot; None if it has none, or if the server has no address beyond this
    machine."""
    key, base = row.content.get(PLOT_KEY), settings.current().public_url
    if key is None or base is None or is_loopback(urlsplit(base).hostname):
        return None
    return f"{base.rstrip('/')}/api/v1/plots/{row.id}.{key}{SUFFIX}"


def draw_linked_plot(session: Session, name: str) -> bytes:
    """Return the plot that the last part of a link names, as PNG. The session reads every project. Raises 404 for a
    wrong key and for an expired link, without saying which."""
    notification_id, _, key = name.removesuffix(SUFFIX).partition(".")
    row = queries.notifications(session, [notification_id]).get(notification_id)
    stored = None if row is None else row.content.get(PLOT_KEY)
    is_key = same_secret(key, stored or "")
    if row is None or stored is None or not is_key:
        raise not_found("plot", name)
    ratios = notice_of(row).ratios
    if ratios is None or clock.now() >= row.created_at + VALID:
        raise not_found("plot", name)
    return draw_ratios(ratios)
