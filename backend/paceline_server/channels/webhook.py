"""Formats a notice as the JSON body of a webhook: `type`, `timestamp` and `data`, as Standard Webhooks recommends."""

from __future__ import annotations

import json
from datetime import datetime

from paceline_server.channels.notices import Notice


def webhook_body(
    notice: Notice, notification_id: str, project: str, at: datetime
) -> str:
    """Return the body, which is the same for every attempt and every channel. `project` is the project's name."""
    data = {
        "id": notification_id,
        "project": project,
        "severity": notice.severity,
        "subject_id": notice.subject_id,
        "state": notice.state,
        "title": notice.title,
        "summary": notice.summary,
        "text": notice.text,
        "url": notice.url,
        "suite": notice.suite,
        "target_id": notice.target_id,
        "target": notice.target,
        "branch": notice.branch,
        "demonstration": notice.demonstration,
        "links": [{"label": link.label, "url": link.url} for link in notice.links],
    }
    body = {"type": notice.kind, "timestamp": at.isoformat(), "data": data}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
