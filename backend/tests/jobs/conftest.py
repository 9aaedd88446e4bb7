"""An agent that can run the suite `demo`, a program that asks for runs, and both at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.testing.scripted_agent import (
    ScriptedAgent,
    announce,
)

PREFIX = "/api/v1"
Make = Callable[..., Any]


@pytest.fixture
def agent(client: TestClient, enrolled: Make) -> ScriptedAgent:
    """An agent whose one host target can run the suite `demo`."""
    lab = enrolled("lab-1")
    announce(lab.agent_id)
    return ScriptedAgent(client, lab.headers)


@pytest.fixture
def ci(token: Make) -> dict[str, str]:
    return dict(token("ingest", "read"))


@pytest.fixture
def new_run(client: TestClient, agent: ScriptedAgent, ci: dict[str, str]) -> Make:
    """`new_run(**fields of RunIn)` → the created run."""

    def make(**fields: Any) -> dict[str, Any]:
        answer = client.post(
            f"{PREFIX}/runs", json={"suite": "demo", **fields}, headers=ci
        )
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    return make


@pytest.fixture
def job_now(client: TestClient, ci: dict[str, str]) -> Make:
    def read(job_id: str) -> dict[str, Any]:
        return dict(client.get(f"{PREFIX}/jobs/{job_id}", headers=ci).json())

    return read
