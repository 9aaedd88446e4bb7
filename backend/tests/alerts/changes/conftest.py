"""A lab with a past: nights of points evaluated by detection, A/B jobs over HTTP, alerts read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.history import Change
from paceline_server.store.tables.messages import LiveEvent
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.nightly_jobs import (
    NIGHT,
    START,
    Name,
    NightlyJobs,
    commit_of,
)
from paceline_server.testing.sorting_suite import BENCHMARK
from sqlalchemy import select

PREFIX = "/api/v1"
COOLDOWN_S = 30.0
PATIENCE_S = 3600.0
NATIVE: Name = (BENCHMARK, "native", 1000)
LEVEL = 1_000_000.0


@dataclass
class HistoryDesk:
    """One target's nights and its alerts about history."""

    lab: Lab
    past: NightlyJobs
    clock: FrozenClock
    headers: Mapping[str, str]
    names: Sequence[Name] = (NATIVE,)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def nights(
        self, count: int, effects: Mapping[Name, float] | float = 0.0, **options: Any
    ) -> None:
        """So many nights with 0.4 % of noise; `effects`: how much slower each series is than at first."""
        for _ in range(count):
            self.clock.advance(
                (START + self.past.nights * NIGHT - clock_module.now()).total_seconds()
            )
            values = {}
            for name in self.names:
                effect = (
                    effects if isinstance(effects, float) else effects.get(name, 0.0)
                )
                values[name] = (
                    LEVEL * (1.0 + effect) * float(np.exp(self.rng.normal(0.0, 0.004)))
                )
            job_id = self.past.night(values, **options)
            if options.get("evaluate", True):
                self.hear(job_id)

    def step(
        self, count: int, effects: Mapping[Name, float] | float, **options: Any
    ) -> None:
        """So many nights of which only the last is evaluated: what moved is found at once."""
        self.nights(count - 1, effects, evaluate=False, **options)
        self.nights(1, effects, **options)

    def unheard(self, effects: Mapping[Name, float]) -> str:
        """One more night of these series alone, evaluated; alerts have not heard of it. The job's id."""
        self.clock.advance(
            (START + self.past.nights * NIGHT - clock_module.now()).total_seconds()
        )
        noise = {name: float(np.exp(self.rng.normal(0.0, 0.004))) for name in effects}
        return self.past.night(
            {name: LEVEL * (1.0 + effects[name]) * noise[name] for name in effects}
        )

    def hear(self, job_id: str) -> None:
        """Let alerts hear of an evaluation."""
        with session_scope() as session:
            outbox.add(session, "alerts.history", job_id)
        outbox.drain()

    def cool_down(self) -> None:
        self.clock.advance(COOLDOWN_S)
        outbox.drain()

    def ab(self, effect: float, **options: Any) -> dict[str, Any]:
        """Let the cool-down pass and deliver the A/B job: native at head is `effect` slower; its work."""
        self.cool_down()
        leased = self.lab.deliver_ab({1000: effect, 2000: effect}, **options)
        outbox.drain()
        return dict(leased.lease["work"])

    def get(self, path: str, **query: Any) -> Any:
        answer = self.lab.client.get(
            f"{PREFIX}{path}", headers=dict(self.headers), params=query
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Mapping[str, Any], status: int = 200) -> Any:
        answer = self.lab.client.post(
            f"{PREFIX}{path}", headers=dict(self.headers), json=dict(body)
        )
        assert answer.status_code == status, answer.text
        return answer.json()

    def alerts(self, **query: Any) -> list[dict[str, Any]]:
        """All alerts in detail, the oldest first."""
        rows = self.get("/alerts", **query)["items"]
        return [self.get(f"/alerts/{row['id']}") for row in reversed(rows)]

    def alert(self) -> dict[str, Any]:
        """The only alert."""
        alerts = self.alerts()
        assert len(alerts) == 1, [alert["title"] for alert in alerts]
        return alerts[0]

    def told(self) -> list[str]:
        """States the live streams were told of."""
        with read_scope() as session:
            rows = session.scalars(
                select(LiveEvent)
                .where(LiveEvent.kind == "alert")
                .order_by(LiveEvent.id)
            )
            return [row.data["state"] for row in rows]


def actions(alert: Mapping[str, Any]) -> list[str]:
    """What happened to an alert, in order."""
    return [event["action"] for event in alert["history"]]


def commits(first: int, last: int) -> list[dict[str, Any]]:
    """The commits of these nights as an agent names them."""
    return [
        {
            "commit": commit_of(night),
            "author": "Ada <ada@example.org>",
            "at": "2026-01-05T00:00:00Z",
            "subject": f"Change {night}",
        }
        for night in range(first, last + 1)
    ]


INCIDENT = "6 of 8 series of this target (75 %) moved within 2 runs of each other"


def mark_incident() -> None:
    """Detection sees that every change there is belongs to one incident."""
    with session_scope() as session:
        for row in session.scalars(select(Change)):
            row.evidence = row.evidence | {"incident": {"text": INCIDENT}}


@pytest.fixture
def desk(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> HistoryDesk:
    process_settings.set_current(
        process_settings.current().model_copy(
            update={
                "confirm_cooldown_s": COOLDOWN_S,
                "confirm_patience_s": PATIENCE_S,
                "lease_s": 1e9,
            }
        )
    )
    lab = open_lab(client, enrolled, token)
    clock.advance((START - clock.now()).total_seconds())
    return HistoryDesk(
        lab, NightlyJobs(lab.target_id), clock, token("read", "alerts:write")
    )
