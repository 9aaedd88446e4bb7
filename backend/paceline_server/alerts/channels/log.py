"""The channel that always exists: a line in the server's log."""

from __future__ import annotations

import structlog

from paceline_server.alerts.channels.base import Notice

log = structlog.get_logger("paceline.alerts")


class LogChannel:
    """Logs the notice."""

    name = "log"

    def send(self, notice: Notice) -> None:
        log.warning(
            "alert_open",
            alert_id=notice.alert_id,
            title=notice.title,
            words=notice.words,
            url=notice.url,
        )
