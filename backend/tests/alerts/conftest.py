"""A lab, a desk to look at alerts from, and the steps of an alert's life."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import outbox
from paceline_server.store.session import read_scope
from paceline_server.store.tables.messages import LiveEvent
from paceline_server.testing.delivered_jobs import Lab, open_lab
from sqlalchemy import select

PREFIX = "/api/v1"
COOLDOWN_S = 30.0


@dataclass
class AlertLab:
    """Drives the lab and reads alerts over HTTP."""

    lab: Lab
    clock: FrozenClock
    headers: Mapping[str, str]
    seeds: list[int] = field(default_factory=lambda: [100])

    def get(self, path: str, **query: Any) -> Any:
        answer = self.lab.client.get(
            f"{PREFIX}{path}", headers=dict(self.headers), params=query
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def alerts(self, **query: Any) -> list[dict[str, Any]]:
        return list(self.get("/alerts", **query)["items"])

    def alert(self) -> dict[str, Any]:
        """The only alert, in detail."""
        alerts = self.alerts()
        assert len(alerts) == 1
        return dict(self.get(f"/alerts/{alerts[0]['id']}"))

    def measure(self, effects: Mapping[int, float], **spec: Any) -> str:
        """Request and deliver a run; returns its id."""
        self.seeds[0] += 1
        return self.lab.measure(effects, seed=self.seeds[0], **spec).run_id

    def confirm(self, effects: Mapping[int, float], **how: Any) -> dict[str, Any]:
        """Let the cool-down pass and deliver the confirmation; returns the work it asked for."""
        self.clock.advance(COOLDOWN_S)
        outbox.drain()
        self.seeds[0] += 1
        leased = self.lab.deliver(effects, seed=self.seeds[0], **how)
        outbox.drain()
        return dict(leased.lease["work"])

    def open_alert(self, effects: Mapping[int, float], **spec: Any) -> dict[str, Any]:
        self.measure(effects, **spec)
        self.confirm(effects)
        alert = self.alert()
        assert alert["state"] == "open"
        return alert

    def act(
        self, alert_id: str, action: str, note: str | None = None, status: int = 200
    ) -> dict[str, Any]:
        answer = self.lab.client.post(
            f"{PREFIX}/alerts/{alert_id}/actions",
            json={"action": action, "note": note},
            headers=dict(self.headers),
        )
        assert answer.status_code == status, answer.text
        return dict(answer.json())

    def told(self) -> list[str]:
        """States the live streams were told of."""
        with read_scope() as session:
            rows = session.scalars(
                select(LiveEvent)
                .where(LiveEvent.kind == "alert")
                .order_by(LiveEvent.id)
            )
            return [row.data["state"] for row in rows]


@pytest.fixture
def desk(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> AlertLab:
    process_settings.set_current(
        process_settings.current().model_copy(
            update={"confirm_cooldown_s": COOLDOWN_S, "lease_s": 1e6}
        )
    )
    lab = open_lab(client, enrolled, token)
    return AlertLab(lab, clock, token("read", "alerts:write"))
