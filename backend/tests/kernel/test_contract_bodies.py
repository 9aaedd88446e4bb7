"""Tests that bodies read by types of the contract name every wrong field with its path."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from fastapi import Body, FastAPI
from fastapi.testclient import TestClient
from paceline_contract.attempts import FinishReport, StateReport
from paceline_server.kernel import problems
from paceline_server.kernel.contract_bodies import ContractBody

State = Annotated[StateReport, Body(), ContractBody(StateReport)]
Finish = Annotated[FinishReport, Body(), ContractBody(FinishReport)]


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    problems.install(app)

    @app.post("/state")
    def state(body: State) -> str:
        return body.state

    @app.post("/finish")
    def finish(body: Finish) -> int:
        return body.last_seq

    return TestClient(app)


def test_a_body_becomes_the_contracts_type(client: TestClient) -> None:
    assert client.post("/state", json={"state": "preparing"}).json() == "preparing"
    assert client.post("/finish", json={"outcome": "done", "last_seq": 3}).json() == 3


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"state": "asleep", "detail": 1}, ["body.state", "body.detail"]),
        (
            {"state": "measuring", "commits": [{"commit": "x"}]},
            ["body.commits.0.commit", "body.commits.0"],
        ),
        ({"state": "preparing", "detail": "\0"}, ["body"]),
        ({"state": "preparing", "build": {"n": "\ud800"}}, ["body"]),
        ([], ["body"]),
        ({}, ["body"]),
    ],
)
def test_every_wrong_field_is_named(
    client: TestClient, body: Any, fields: list[str]
) -> None:
    answer = client.post(
        "/state",
        content=json.dumps(body),
        headers={"Content-Type": "application/json"},
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert sorted(answer.json()["fields"]) == sorted(fields)
