"""A/A jobs: what a target resolves is kept, listed with a proposal, and a target that differs from itself is
a finding about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.store import outbox
from paceline_server.store.session import read_scope
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.history import NoiseFloor, SeriesPoint
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.sorting_suite import BENCHMARK
from sqlalchemy import select

pytestmark = pytest.mark.shapes("embedded")

SAME = {1000: 0.0, 2000: 0.0}
APART = {1000: 0.2, 2000: 0.0}


@pytest.fixture
def lab(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Lab:
    return open_lab(client, enrolled, token)


def a_a(
    lab: Lab, effects: dict[int, float] | None = None, *, seed: int = 1, **options: Any
) -> str:
    """An A/A job, concluded at its first look; its id."""
    lab.request(trigger="a_a", **options.pop("spec", {}))
    leased = lab.deliver_ab(effects or SAME, seed=seed, **options)
    outbox.drain()
    return leased.job_id


def listed(lab: Lab, **query: str) -> list[dict[str, Any]]:
    answer = lab.client.get(
        "/api/v1/noise-floors", params=query, headers=dict(lab.headers)
    )
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def rows(table: type[Any]) -> list[Any]:
    with read_scope() as session:
        return list(session.scalars(select(table)))


def test_an_a_a_job_says_what_its_target_resolves_and_what_a_rule_had_better_ask_for(
    lab: Lab,
) -> None:
    job_id = a_a(lab)
    floors = listed(lab)
    assert {(one["arm"], one["params"]["batch"]) for one in floors} == {
        ("native", 1000),
        ("native", 2000),
        ("fallback", 1000),
        ("fallback", 2000),
    }
    for one in floors:
        assert 0.02 < one["mde"] < 0.04
        assert one["proposed_threshold"] == pytest.approx(max(0.03, 1.25 * one["mde"]))
        assert one["lower"] < 1 < one["upper"]
        assert (one["job_id"], one["target_name"], one["blocks"]) == (
            job_id,
            "lab-1",
            100,
        )
        assert "are not resolved here; a rule had better ask for" in one["words"]
    assert rows(NoiseFloor)[0].evidence["parameters"]["launches"] == 5


def test_a_noisier_target_resolves_less_and_the_newest_floor_is_in_force(
    lab: Lab,
) -> None:
    a_a(lab)
    quiet = {(one["arm"], one["params"]["batch"]): one["mde"] for one in listed(lab)}
    a_a(lab, seed=2, launch_sigma=0.012)
    noisy = {(one["arm"], one["params"]["batch"]): one["mde"] for one in listed(lab)}
    assert len(rows(NoiseFloor)) == 8
    assert noisy.keys() == quiet.keys()
    assert sum(noisy.values()) > sum(quiet.values())


@pytest.mark.shapes("embedded", "scaled")
def test_floors_are_listed_by_what_they_are_of_page_by_page(lab: Lab) -> None:
    a_a(lab)
    assert len(listed(lab, arm="native")) == 2
    assert listed(lab, suite="another") == listed(lab, target="tgt_other") == []
    assert (
        len(listed(lab, benchmark=BENCHMARK, metric="time", target=lab.target_id)) == 4
    )
    seen, cursor = [], None
    while True:
        query = {"limit": "3", **({"cursor": cursor} if cursor else {})}
        answer = lab.client.get(
            "/api/v1/noise-floors", params=query, headers=dict(lab.headers)
        ).json()
        seen += [one["id"] for one in answer["items"]]
        cursor = answer["next"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 4


def test_a_target_that_differs_from_itself_is_a_finding_about_the_environment(
    lab: Lab,
) -> None:
    job_id = a_a(lab, APART)
    job = lab.client.get(f"/api/v1/jobs/{job_id}", headers=dict(lab.headers)).json()
    assert job["verdict"] == "fail"
    assert job["reason"].endswith(
        "both sides are the same artifact: the environment differs, not the code"
    )
    (finding,) = rows(Finding)
    assert (finding.kind, finding.role, finding.alert_id, finding.job_id) == (
        "environment",
        "candidate",
        None,
        job_id,
    )
    assert len(rows(NoiseFloor)) == 4, "how much it varies is what was asked"


@pytest.mark.parametrize(
    "what",
    [
        {"checks_ok": (True, False)},
        {"conditions": [{"psi_cpu_percent": 48.0}]},
        {"spec": {"knobs": {"slowdown_percent": 5}}},
        {"spec": {"launches": 2}},
    ],
)
def test_a_job_that_may_not_be_judged_leaves_no_floor(
    lab: Lab, what: dict[str, Any]
) -> None:
    a_a(lab, **what)
    assert rows(NoiseFloor) == []


def test_two_revisions_leave_no_floor_and_neither_kind_of_ab_job_becomes_history(
    lab: Lab,
) -> None:
    lab.request(base_commit="f" * 40)
    lab.deliver_ab(SAME)
    outbox.drain()
    assert rows(NoiseFloor) == []
    a_a(lab)
    assert rows(SeriesPoint) == []


@pytest.mark.shapes("embedded", "scaled")
def test_a_rule_below_what_an_a_a_job_measured_is_refused_with_that_number(
    lab: Lab, token: Any
) -> None:
    """I14, from the samples of an A/A job to the refusal."""
    a_a(lab, launch_sigma=0.015)
    worst = max(listed(lab), key=lambda one: one["mde"])
    rule = {
        "name": "too-keen",
        "kind": "history",
        "suite": "*",
        "benchmark": "*",
        "arm": "*",
        "metric": "*",
        "target": "*",
        "direction": "worse",
        "mode": "active",
        "text": "x",
        "comment": "",
    }
    headers = token("alerts:write", "read")
    refused = lab.client.post(
        "/api/v1/rules", json={**rule, "min_effect": 0.021}, headers=headers
    )
    assert (refused.status_code, refused.json()["code"]) == (
        422,
        "below_noise_floor",
    ), refused.text
    assert (
        f"{worst['benchmark']} {worst['arm']} time at batch={worst['params']['batch']}"
        in (refused.json()["detail"])
    )
    taken = lab.client.post(
        "/api/v1/rules",
        json={**rule, "min_effect": worst["proposed_threshold"]},
        headers=headers,
    )
    assert taken.status_code == 201, taken.text
