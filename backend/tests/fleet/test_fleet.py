"""Agents join, speak, fall silent; targets keep their identity. Over HTTP, on both shapes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.fleet import service
from paceline_server.kernel.clock import FrozenClock
from paceline_server.kernel.ids import sha256_hex
from paceline_server.runtime.sweeper import prune
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.fleet import EnrolmentCode
from paceline_server.store.tables.history import Fingerprint
from paceline_server.store.tables.messages import LiveEvent
from sqlalchemy import select

pytestmark = pytest.mark.shapes("embedded", "scaled")

API = "/api/v1"

MANIFEST: dict[str, Any] = {
    "schema": 1,
    "suite": {"name": "sorting", "title": "Sorting"},
    "workloads": [
        {
            "name": "w",
            "host": {"build": [], "artifacts": ["w.py"], "run": ["python3", "w.py"]},
        }
    ],
    "benchmarks": {
        "sort": {
            "title": "Sort",
            "workload": "w",
            "arms": ["old", "new"],
            "reference": "old",
            "params": {
                "n": {"kind": "int", "values": [10, 100], "minimum": 1, "maximum": 1000}
            },
            "metrics": {"time": {"unit": "ns", "direction": "lower"}},
        }
    },
}


def target(serial: str = "s-1", **changes: object) -> dict[str, object]:
    return {
        "kind": "host",
        "serial": serial,
        "name": "lab",
        "factors": {"cpu": "x", "cores": 4},
        "fingerprint": "a" * 64,
        "preflight": [],
        **changes,
    }


def beat(*targets: dict[str, object], **more: object) -> dict[str, object]:
    return {"version": "1", "targets": list(targets), **more}


def suite(**changes: object) -> dict[str, object]:
    return {
        "repository": "mine",
        "manifest_path": "suite.toml",
        "manifest": MANIFEST,
        "commit": "a" * 40,
        "branch": "main",
        **changes,
    }


@pytest.fixture
def reader(token: Callable[..., dict[str, str]]) -> dict[str, str]:
    return token("admin")


@pytest.fixture
def agent(client: TestClient, reader: dict[str, str]) -> dict[str, str]:
    code = client.post(f"{API}/agents/enrolment-codes", headers=reader).json()["code"]
    answer = client.post(
        f"{API}/agents/enrol", json={"code": code, "name": "lab", "version": "1"}
    )
    assert answer.status_code == 201, answer.text
    return {"Authorization": f"Bearer {answer.json()['credential']}"}


def test_expired_codes_are_removed_and_others_kept(
    client: TestClient, reader: dict[str, str], clock: FrozenClock
) -> None:
    client.post(f"{API}/agents/enrolment-codes", headers=reader)
    clock.advance(3601)
    code = client.post(f"{API}/agents/enrolment-codes", headers=reader).json()["code"]
    prune()
    with read_scope() as session:
        assert session.scalars(select(EnrolmentCode.code_sha256)).all() == [
            sha256_hex(code)
        ]


def test_a_code_enrols_one_agent(
    client: TestClient, reader: dict[str, str], together: Any
) -> None:
    code = client.post(f"{API}/agents/enrolment-codes", headers=reader).json()["code"]

    def enrol() -> int:
        return client.post(
            f"{API}/agents/enrol", json={"code": code, "name": "n", "version": "1"}
        ).status_code

    assert sorted(together(*[enrol] * 6)) == [201] + [401] * 5


def test_an_old_code_is_refused(
    client: TestClient, clock: FrozenClock, reader: dict[str, str]
) -> None:
    code = client.post(f"{API}/agents/enrolment-codes", headers=reader).json()["code"]
    clock.advance(3601)
    answer = client.post(
        f"{API}/agents/enrol", json={"code": code, "name": "n", "version": "1"}
    )
    assert (answer.status_code, answer.json()["code"]) == (
        401,
        "enrolment_code_invalid",
    )


def test_a_silent_agent_and_its_targets_are_offline(
    client: TestClient,
    clock: FrozenClock,
    agent: dict[str, str],
    reader: dict[str, str],
) -> None:
    assert (
        client.post(
            f"{API}/agents/self/heartbeat", json=beat(target()), headers=agent
        ).status_code
        == 200
    )
    assert (
        client.get(f"{API}/targets", headers=reader).json()["items"][0]["state"]
        == "online"
    )
    before = clock.now()
    clock.advance(31)
    assert (
        client.get(f"{API}/targets", headers=reader).json()["items"][0]["state"]
        == "offline"
    )
    assert (
        client.get(f"{API}/agents", headers=reader).json()["items"][0]["state"]
        == "offline"
    )
    with session_scope() as session:
        cutoff = clock.now() - timedelta(seconds=30)
        assert (
            service.publish_silent_targets(
                session, before - timedelta(seconds=1), cutoff
            )
            == 1
        )
    with read_scope() as session:
        last = session.scalars(
            select(LiveEvent).order_by(LiveEvent.id.desc()).limit(1)
        ).one()
        assert (last.kind, last.data["state"]) == ("target", "offline")


def test_a_target_seen_by_two_heartbeats_at_once_is_one_row(
    client: TestClient, agent: dict[str, str], reader: dict[str, str], together: Any
) -> None:
    def post() -> int:
        return client.post(
            f"{API}/agents/self/heartbeat", json=beat(target()), headers=agent
        ).status_code

    assert together(*[post] * 6) == [200] * 6
    assert len(client.get(f"{API}/targets", headers=reader).json()["items"]) == 1


def test_maintenance_is_independent_of_reachability(
    client: TestClient, agent: dict[str, str], reader: dict[str, str]
) -> None:
    client.post(f"{API}/agents/self/heartbeat", json=beat(target()), headers=agent)
    target_id = client.get(f"{API}/targets", headers=reader).json()["items"][0]["id"]
    held = client.put(
        f"{API}/targets/{target_id}/maintenance",
        json={"on": True, "reason": "new fan"},
        headers=reader,
    ).json()
    assert (held["state"], held["hold"], held["hold_reason"]) == (
        "online",
        "maintenance",
        "new fan",
    )
    client.post(f"{API}/agents/self/heartbeat", json=beat(target()), headers=agent)
    freed = client.put(
        f"{API}/targets/{target_id}/maintenance", json={"on": False}, headers=reader
    ).json()
    assert (freed["state"], freed["hold"]) == ("online", None)


def test_an_announced_suite_is_listed_with_its_arms(
    client: TestClient, agent: dict[str, str], reader: dict[str, str]
) -> None:
    answer = client.post(
        f"{API}/agents/self/heartbeat",
        json=beat(target(), suites=[suite()]),
        headers=agent,
    )
    assert answer.status_code == 200, answer.text
    found = client.get(f"{API}/suites/sorting", headers=reader).json()
    benchmark = found["benchmarks"][0]
    assert (benchmark["arms"], benchmark["reference"], benchmark["margin_percent"]) == (
        ["old", "new"],
        "old",
        2.0,
    )
    assert benchmark["params"][0]["values"] == [10, 100]
    with read_scope() as session:
        assert len(service.online_targets(session, "sorting")) == 1


def test_a_heartbeat_without_suites_keeps_them_and_an_empty_list_takes_them_back(
    client: TestClient, agent: dict[str, str]
) -> None:
    for body, expected in (
        (beat(target(), suites=[suite()]), 1),
        (beat(target()), 1),
        (beat(target(), suites=[]), 0),
    ):
        assert (
            client.post(
                f"{API}/agents/self/heartbeat", json=body, headers=agent
            ).status_code
            == 200
        )
        with read_scope() as session:
            assert len(service.online_targets(session, "sorting")) == expected


def test_a_contradictory_manifest_is_refused_in_words(
    client: TestClient, agent: dict[str, str]
) -> None:
    broken = {
        **MANIFEST,
        "benchmarks": {"sort": {**MANIFEST["benchmarks"]["sort"], "reference": "none"}},
    }
    answer = client.post(
        f"{API}/agents/self/heartbeat",
        json=beat(suites=[suite(manifest=broken)]),
        headers=agent,
    )
    assert answer.status_code == 200
    (refused,) = answer.json()["refused"]
    assert refused["suite"] == "mine:suite.toml"
    assert "benchmarks.sort.reference" in refused["reason"]


def test_a_suite_name_belongs_to_the_repository_that_announced_it_first(
    client: TestClient, agent: dict[str, str]
) -> None:
    url = f"{API}/agents/self/heartbeat"
    assert (
        client.post(url, json=beat(suites=[suite()]), headers=agent).status_code == 200
    )
    other = {**MANIFEST, "suite": {"name": "searching", "title": "Searching"}}
    both = [suite(repository="other"), suite(repository="other", manifest=other)]
    answer = client.post(url, json=beat(target(), suites=both), headers=agent)
    assert answer.status_code == 200, (
        "the heartbeat is taken, with the suites nobody else has"
    )
    (refused,) = answer.json()["refused"]
    assert refused["suite"] == "sorting"
    assert "[repositories.mine]" in refused["reason"]
    with read_scope() as session:
        assert len(service.online_targets(session, "searching")) == 1
        assert not service.online_targets(session, "sorting")


def test_of_two_suites_of_one_name_the_second_is_refused(
    client: TestClient, agent: dict[str, str]
) -> None:
    both = [suite(), suite(manifest_path="other.toml")]
    answer = client.post(
        f"{API}/agents/self/heartbeat", json=beat(suites=both), headers=agent
    )
    (refused,) = answer.json()["refused"]
    assert refused["suite"] == "sorting"
    assert "other.toml" in refused["reason"]


def test_only_an_agents_own_credential_beats(
    client: TestClient, reader: dict[str, str]
) -> None:
    answer = client.post(f"{API}/agents/self/heartbeat", json=beat(), headers=reader)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_what_a_target_was_stays_known_after_it_changed(
    client: TestClient, agent: dict[str, str]
) -> None:
    said = [({"kernel": "6.1.0-12"}, "a" * 64), ({"kernel": "6.1.0-13"}, "b" * 64)]
    for factors, fingerprint in [*said, said[0]]:
        news = target(factors=factors, fingerprint=fingerprint)
        client.post(f"{API}/agents/self/heartbeat", json=beat(news), headers=agent)
    with read_scope() as session:
        kept = {row.hash: row.factors for row in session.scalars(select(Fingerprint))}
    assert kept == {fingerprint: factors for factors, fingerprint in said}
