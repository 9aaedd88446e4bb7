"""Samples of an A/B job name their revision and are read separately."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.ingest import service as ingest
from paceline_server.ingest import uploads
from paceline_server.store.session import read_scope
from paceline_server.testing.scripted_agent import (
    LeasedJob,
    ScriptedAgent,
    announce,
    event_item,
    samples_item,
)

PREFIX = "/api/v1"
Make = Callable[..., Any]
CHECK = {"type": "check", "name": "sorted", "ok": True}


@pytest.fixture
def ab_job(client: TestClient, enrolled: Make, ci: dict[str, str]) -> LeasedJob:
    """An A/B job that is being measured."""
    lab = enrolled("lab-1")
    announce(lab.agent_id)
    body = {"suite": "demo", "base_commit": "f" * 40}
    assert client.post(f"{PREFIX}/runs", json=body, headers=ci).status_code == 201
    job = ScriptedAgent(client, lab.headers).lease()
    assert job.report("measuring").status_code == 204
    return job


@pytest.mark.parametrize("item", [samples_item(0), event_item(0, CHECK)])
def test_a_sample_of_two_revisions_that_names_none_is_refused(
    ab_job: LeasedJob, item: dict[str, Any]
) -> None:
    answer = ab_job.send(item)
    assert (answer.status_code, list(answer.json()["fields"])) == (
        422,
        ["items[0].side"],
    )
    assert ab_job.send({**item, "side": "both"}).status_code == 422
    assert ab_job.send({**item, "side": "base"}).status_code == 200


@pytest.mark.parametrize("item", [samples_item(0), event_item(0, CHECK)])
def test_a_side_in_a_job_of_one_revision_is_refused(
    leased: LeasedJob, item: dict[str, Any]
) -> None:
    answer = leased.send({**item, "side": "head"})
    assert (answer.status_code, list(answer.json()["fields"])) == (
        422,
        ["items[0].side"],
    )
    assert leased.send(item).status_code == 200


@pytest.mark.shapes("embedded", "scaled")
def test_the_two_sides_of_a_case_are_read_apart(
    ab_job: LeasedJob, client: TestClient, ci: dict[str, str]
) -> None:
    failed = {**CHECK, "ok": False}
    ab_job.send(
        {**samples_item(0, [1.0, 2.0]), "side": "base"},
        {**samples_item(1, [7.0]), "side": "head"},
        {**event_item(2, CHECK), "side": "base"},
        {**event_item(3, failed), "side": "head"},
    )
    answer = client.get(f"{PREFIX}/jobs/{ab_job.job_id}/live-series", headers=ci)
    assert {
        (live["side"], live["n"], live["median"]) for live in answer.json()["items"]
    } == {("base", 2, 1.5), ("head", 1, 7.0)}
    assert ab_job.finish(3).status_code == 204
    with read_scope() as session:
        base, head = (
            ingest.read_samples(session, ab_job.job_id, side)
            for side in ("base", "head")
        )
        assert (
            [case.value.tolist() for case in base],
            [case.value.tolist() for case in head],
        ) == ([[1.0, 2.0]], [[7.0]])
        assert [
            check.ok for check in ingest.checks(session, ab_job.job_id, "base")
        ] == [True]
        assert [
            check.ok for check in ingest.checks(session, ab_job.job_id, "head")
        ] == [False]
        assert ingest.read_samples(session, ab_job.job_id) == []


def test_the_same_sample_of_another_side_is_another_sample(ab_job: LeasedJob) -> None:
    ab_job.send(
        {**samples_item(0), "side": "base"}, {**event_item(1, CHECK), "side": "base"}
    )
    for item in (samples_item(0), event_item(1, CHECK)):
        answer = ab_job.send({**item, "side": "head"})
        assert (answer.status_code, answer.json()["code"]) == (409, "item_conflict")


def test_items_of_spools_older_than_sides_keep_their_digests() -> None:
    body = b'{"items":[{"kind":"event","seq":0,"launch":0,"event":{"type":"done"}}]}'
    (checked,) = uploads.decode(body)
    assert (
        checked.digest.hex()
        == "f4da2bf9ac0fc9ad7f145fe8973b54d47a0a9e5df81708bd915a3a25165f9ba5"
    )
