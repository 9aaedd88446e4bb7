"""Posts an alert as JSON to one URL that an operator configured.

Bounded in time; redirects are not followed. The body has `kind: "alert_open"` and the
notice's fields; `Idempotency-Key` is the alert's id, so that receivers recognise a
repeat.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from paceline_server.alerts.channels.base import ChannelError, Notice


class WebhookChannel:
    """One receiver, waited for `timeout_s` seconds. Raises ValueError for a URL that is not http(s)."""

    name = "webhook"

    def __init__(self, url: str, timeout_s: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError("PACELINE_WEBHOOK_URL must be an http or https URL")
        self._parts = parts
        self._timeout_s = timeout_s

    def send(self, notice: Notice) -> None:
        parts = self._parts
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self._timeout_s)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        body = json.dumps({"kind": "alert_open", **asdict(notice)})
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": notice.alert_id,
        }
        try:
            connection.request("POST", path, body, headers)
            status = connection.getresponse().status
        except (OSError, HTTPException) as error:
            raise ChannelError(
                f"the webhook's receiver cannot be reached: {error}"
            ) from error
        finally:
            connection.close()
        if status >= 300:
            raise ChannelError(f"the webhook's receiver answered {status}")
