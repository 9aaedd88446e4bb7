"""Makes and opens the links by which Slack fetches the plot of one notification.

Slack shows a picture only from an address that its servers reach, and they have no credential of ours. So the link is
one: it has a key of 256 random bits that opens this plot and nothing else, for `VALID`. The key is in the query, which
no log contains. Without the setting `slack_pictures` no link is made, and none opens.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from paceline_server.channels import queries
from paceline_server.channels.notices import PLOT_KEY, notice_of
from paceline_server.channels.plot import draw_ratios
from paceline_server.kernel import clock, settings
from paceline_server.kernel.errors import not_found
from paceline_server.kernel.ids import same_secret
from paceline_server.store.tables.channels import Notification

VALID = timedelta(days=30)


def plot_url(row: Notification) -> str | None:
    """Return the link to a notification's plot; None if there is none."""
    key, own = row.content.get(PLOT_KEY), settings.current()
    if key is None or not own.slack_pictures or own.public_url is None:
        return None
    return f"{own.public_url.rstrip('/')}/api/v1/plots/{row.id}.png?key={key}"


def draw_linked_plot(session: Session, notification_id: str, key: str) -> bytes:
    """Return the plot that a link opens, as PNG. The session reads every project. Raises the same 404 for whatever is
    wrong."""
    row = queries.notifications(session, [notification_id]).get(notification_id)
    stored = "" if row is None else row.content.get(PLOT_KEY, "")
    is_key = same_secret(key, stored) and stored != ""
    if row is None or not is_key or not settings.current().slack_pictures:
        raise not_found("plot", notification_id)
    ratios = notice_of(row).ratios
    if ratios is None or clock.now() >= row.created_at + VALID:
        raise not_found("plot", notification_id)
    return draw_ratios(ratios)
