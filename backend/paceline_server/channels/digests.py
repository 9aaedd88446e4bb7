"""Makes one message of all notifications that a channel collected since its last digest.

The digest is a notification itself, so it is signed, retried and listed like others.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy.orm import Session

from paceline_server.channels import publishing, queries
from paceline_server.channels.notices import Notice, Severity, notice_of
from paceline_server.kernel import clock, settings

MAX_LINES = 50
"""A digest names at most this many events and counts the others."""
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")


def send_digest(session: Session, channel_id: str) -> None:
    """Send a digest of what the channel collected, if anything."""
    channel = queries.channel(session, channel_id, lock=True)
    collected = queries.lock_collected(session, channel_id)
    if channel is None or not collected:
        return
    rows = queries.notifications(session, (row.notification_id for row in collected))
    notices = [notice_of(rows[row.notification_id]) for row in collected]
    row = publishing.store_notice(session, digest_notice(notices, channel.id))
    digest = publishing.add_delivery(session, channel, row)
    for delivery in collected:
        delivery.state = "digested"
        delivery.reason = f"It is in the digest {digest.id}."
        delivery.finished_at = clock.now()


def digest_notice(notices: list[Notice], channel_id: str) -> Notice:
    """Return one notice about several, the most severe first."""
    ordered = sorted(notices, key=lambda notice: SEVERITIES.index(notice.severity))
    counts = Counter(notice.severity for notice in notices)
    lines = [f"{notice.title}: {notice.summary}" for notice in ordered[:MAX_LINES]]
    if len(ordered) > MAX_LINES:
        lines.append(f"and {len(ordered) - MAX_LINES} more")
    noun = "event" if len(notices) == 1 else "events"
    return Notice(
        kind="digest",
        severity=ordered[0].severity,
        subject_id=channel_id,
        title=f"{len(notices)} {noun} since the last digest",
        summary=", ".join(
            f"{counts[severity]} {severity}"
            for severity in SEVERITIES
            if counts[severity]
        ),
        text="\n".join(lines),
        url=f"{settings.current().public_url or ''}/alerts",
    )
