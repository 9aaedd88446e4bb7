"""A device of an enrolled agent that can run the suite `demo`, and a person who looks after the fleet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.testing.scripted_agent import PREFIX, ScriptedAgent, announce
from paceline_server.testing.scripted_device import ScriptedDevice, device_manifest

Make = Callable[..., Any]


@pytest.fixture
def lab(client: TestClient, clock: FrozenClock, enrolled: Make) -> ScriptedAgent:
    """An agent that can run `demo` on its host and on devices. Time stands still."""
    clock.advance(1)
    made = enrolled("lab-1")
    announce(made.agent_id, device_manifest())
    return ScriptedAgent(client, made.headers)


@pytest.fixture
def phone(client: TestClient, lab: ScriptedAgent) -> ScriptedDevice:
    return ScriptedDevice(client, lab.headers)


class Person:
    """Someone with every right, at the API."""

    def __init__(self, client: TestClient, headers: dict[str, str]) -> None:
        self.client, self.headers = client, headers

    def get(self, path: str) -> Any:
        answer = self.client.get(f"{PREFIX}{path}", headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def send(self, method: str, path: str, body: object = None) -> Any:
        return self.client.request(
            method, f"{PREFIX}{path}", json=body, headers=self.headers
        )

    def target(self, target_id: str) -> dict[str, Any]:
        return dict(self.get(f"/targets/{target_id}"))

    def events(self, target_id: str, axis: str) -> list[str]:
        """Names of the events of one axis, the oldest first."""
        return [one["event"] for one in reversed(self.history(target_id, axis))]

    def history(self, target_id: str, axis: str) -> list[dict[str, Any]]:
        """The events of one axis, the newest first."""
        return list(
            self.get(f"/targets/{target_id}/events?axis={axis}&limit=200")["items"]
        )


@pytest.fixture
def person(client: TestClient, token: Make) -> Person:
    """By a token, called `test`: it outlives what the clock is moved by, a session does not."""
    return Person(client, token("admin"))
