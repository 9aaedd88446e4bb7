"""A request that is sent again makes nothing twice, a newer push ends the older one's run, and nothing waits for ever."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.stored_answers import KEEP
from paceline_server.testing.scripted_agent import ScriptedAgent

PREFIX = "/api/v1"
KEY = "Idempotency-Key"
Make = Callable[..., Any]
Headers = dict[str, str]
WITHOUT_A_KEY = {"/api/v1/agents/enrol"}
"""Its code is for one agent, so sending it again makes nothing; nobody is signed in whose key it could be."""


@pytest.fixture
def ask(client: TestClient, agent: ScriptedAgent, ci: Headers) -> Make:
    """`ask(key, **fields of the run)` → the answer."""
    assert agent is not None

    def make(key: str, headers: Headers | None = None, **fields: Any) -> Any:
        return client.post(
            f"{PREFIX}/runs",
            json={"suite": "demo", **fields},
            headers={**(headers or ci), KEY: key},
        )

    return make


def _runs(client: TestClient, ci: Headers) -> list[dict[str, Any]]:
    return list(client.get(f"{PREFIX}/runs", headers=ci).json()["items"])


@pytest.mark.shapes("embedded", "scaled")
def test_a_request_sent_again_gets_the_first_answer_and_makes_nothing(
    ask: Make, client: TestClient, ci: Headers
) -> None:
    first, again = ask("k1"), ask("k1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(_runs(client, ci)) == 1
    assert ask("k2").json()["id"] != first.json()["id"]


def test_a_key_stands_for_one_request_of_one_principal(
    ask: Make, client: TestClient, ci: Headers, token: Make
) -> None:
    first = ask("k1").json()["id"]
    reused = ask("k1", rounds=7)
    assert (reused.status_code, reused.json()["code"]) == (
        422,
        "idempotency_key_reused",
    )
    stranger = ask("k1", dict(token("ingest", "read")))
    assert stranger.status_code == 201
    assert stranger.json()["id"] != first


def test_a_refused_request_may_be_corrected_under_its_key(
    ask: Make, client: TestClient, ci: Headers
) -> None:
    assert ask("k1", benchmarks=["nope"]).status_code == 400
    assert ask("k1").status_code == 201
    assert len(_runs(client, ci)) == 1


def test_an_answer_is_forgotten_after_a_week(ask: Make, clock: FrozenClock) -> None:
    first = ask("k1").json()["id"]
    clock.advance((KEEP - timedelta(minutes=1)).total_seconds())
    assert ask("k1").json()["id"] == first
    clock.advance(120)
    assert ask("k1").json()["id"] != first


@pytest.mark.shapes("embedded", "scaled")
def test_requests_with_one_key_at_one_instant_make_one_run(
    ask: Make, client: TestClient, ci: Headers, together: Make
) -> None:
    answers = together(*[lambda: ask("k1") for _ in range(6)])
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(_runs(client, ci)) == 1


@pytest.mark.parametrize("key", ["", "a" * 256, "ä"])
def test_a_key_that_is_none_is_refused(ask: Make, key: str) -> None:
    assert ask(key.encode() if key == "ä" else key).status_code in (400, 422)


def test_a_secret_is_made_once_and_kept_nowhere(
    client: TestClient, sign_in: Make
) -> None:
    headers = {**sign_in("admin").headers, KEY: "k1"}
    body = {"name": "ci", "permissions": ["project.read"]}
    first = client.post(f"{PREFIX}/tokens", json=body, headers=headers)
    assert first.status_code == 201, first.text
    again = client.post(f"{PREFIX}/tokens", json=body, headers=headers)
    assert (again.status_code, again.json()["code"]) == (409, "created_before")
    other = client.post(f"{PREFIX}/tokens", json={**body, "name": "x"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


@pytest.mark.shapes("embedded")
def test_every_route_that_creates_takes_a_key(app: FastAPI) -> None:
    creating, with_key = set(), set()
    for path, methods in app.openapi()["paths"].items():
        post = methods.get("post", {})
        if "201" in post.get("responses", {}):
            creating.add(path)
            if any(item["name"] == KEY for item in post.get("parameters", [])):
                with_key.add(path)
    assert f"{PREFIX}/runs" in with_key
    assert creating - with_key == WITHOUT_A_KEY


@pytest.mark.shapes("embedded", "scaled")
def test_a_newer_push_cancels_the_queued_and_the_measuring_run_of_the_older(
    new_run: Make, agent: ScriptedAgent, client: TestClient, ci: Headers
) -> None:
    measuring = new_run(concurrency_key="pr 7")
    leased = agent.measuring()
    other = new_run(concurrency_key="pr 8")
    queued = new_run(concurrency_key="pr 7")
    assert leased.renew().json()["cancel"] is True
    newest = new_run(concurrency_key="pr 7")

    def now(run: dict[str, Any]) -> dict[str, Any]:
        return dict(client.get(f"{PREFIX}/runs/{run['id']}", headers=ci).json())

    assert now(queued)["outcome"] == "cancelled"
    assert now(queued)["superseded_by"] == newest["id"]
    assert now(measuring)["superseded_by"] == queued["id"]
    assert leased.finish(-1, "cancelled").status_code == 204
    assert now(measuring)["outcome"] == "cancelled"
    assert (now(other)["outcome"], now(other)["superseded_by"]) == ("queued", None)
    assert (now(newest)["outcome"], now(newest)["superseded_by"]) == ("queued", None)


@pytest.mark.shapes("scaled")
def test_of_pushes_at_one_instant_exactly_one_stays(
    new_run: Make, client: TestClient, ci: Headers, together: Make
) -> None:
    together(*[lambda: new_run(concurrency_key="pr 7") for _ in range(4)])
    runs = _runs(client, ci)
    assert sorted(run["outcome"] for run in runs) == [*["cancelled"] * 3, "queued"]
    assert sum(run["superseded_by"] is None for run in runs) == 1


def test_a_pull_request_overtakes_a_nightly_which_is_overtaken_no_more_after_half_a_day(
    new_run: Make, agent: ScriptedAgent, clock: FrozenClock
) -> None:
    nightly = new_run(trigger="schedule")
    clock.advance(60)
    by_hand = new_run()
    pull_request = new_run(head="c" * 40, base="d" * 40)
    order = []
    for _ in range(2):
        leased = agent.lease()
        order.append(leased.lease["run_id"])
        assert leased.finish(-1, "failed", cause="build_failed").status_code == 204
    assert order == [pull_request["id"], by_hand["id"]]
    clock.advance(timedelta(hours=12).total_seconds())
    new_run(head="c" * 40, base="d" * 40)
    assert agent.lease().lease["run_id"] == nightly["id"]
