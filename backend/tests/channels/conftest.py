"""Receivers, and a lab that makes channels over HTTP and publishes notices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.channels import service
from paceline_server.channels.service import Notice
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.testing.receiver import Receiver, receiving

PREFIX = "/api/v1"


@dataclass
class ChannelLab:
    """Speaks to the API as somebody who may write channels."""

    client: TestClient
    clock: FrozenClock
    headers: dict[str, str]

    def call(
        self, method: str, path: str, body: object = None, status: int = 200
    ) -> Any:
        options: dict[str, Any] = {} if body is None else {"json": body}
        answer = self.client.request(
            method, f"{PREFIX}{path}", headers=self.headers, **options
        )
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def make(self, name: str, url: str, **spec: Any) -> dict[str, Any]:
        """A new channel, with its secret."""
        made = self.call(
            "post", "/channels", {"name": name, "url": url, **spec}, status=201
        )
        return {**made["channel"], "secret": made["secret"]}

    def channel(self, channel_id: str) -> dict[str, Any]:
        return dict(self.call("get", f"/channels/{channel_id}"))

    def deliveries(self, channel_id: str) -> list[dict[str, Any]]:
        """The channel's deliveries, the oldest first."""
        items = self.call("get", f"/channels/{channel_id}/deliveries")["items"]
        return list(reversed(items))

    def detail(self, delivery_id: str) -> dict[str, Any]:
        return dict(self.call("get", f"/deliveries/{delivery_id}"))

    def publish(self, title: str = "native slower", **changes: Any) -> list[str]:
        """Publish a notice as an alert does; the names of the channels that are told."""
        notice = Notice(
            **{
                "kind": "alert.opened",
                "severity": "critical",
                "subject_id": "alt_1",
                "state": "open",
                "title": title,
                "summary": "12.6 % slower",
                "text": "On lab-1, native took longer.",
                "url": "https://paceline.example/alerts/alt_1",
                "suite": "sorting",
                "target_id": "tgt_1",
                "target": "lab-1",
                "branch": "main",
                **changes,
            }
        )
        with session_scope() as session:
            return service.publish(session, notice)


@pytest.fixture
def lab(
    client: TestClient, clock: FrozenClock, token: Callable[..., dict[str, str]]
) -> ChannelLab:
    process_settings.set_current(
        process_settings.current().model_copy(
            update={"channel_networks": "127.0.0.1", "webhook_timeout_s": 25.0}
        )
    )
    return ChannelLab(client, clock, token("admin"))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def other() -> Iterator[Receiver]:
    with receiving() as server:
        yield server
