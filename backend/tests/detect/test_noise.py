"""A/A jobs store noise floors with proposed thresholds; a target that differs from itself is a finding."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_server.store import outbox
from paceline_server.store.session import read_scope
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.history import NoiseFloor, SeriesPoint
from paceline_server.testing.delivered_jobs import Lab
from paceline_server.testing.sorting_suite import BENCHMARK
from sqlalchemy import select

pytestmark = pytest.mark.shapes("embedded")

SAME = {1000: 0.0, 2000: 0.0}
APART = {1000: 0.2, 2000: 0.0}


def measure_aa(
    lab: Lab, effects: dict[int, float] | None = None, *, seed: int = 1, **options: Any
) -> str:
    """An A/A job, concluded at its first look; its id."""
    lab.request(trigger="a_a", **options.pop("spec", {}))
    leased = lab.deliver_ab(effects or SAME, seed=seed, **options)
    outbox.drain()
    return leased.job_id


def list_floors(lab: Lab, **query: str) -> list[dict[str, Any]]:
    answer = lab.client.get(
        "/api/v1/noise-floors", params=query, headers=dict(lab.headers)
    )
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def rows(table: type[Any]) -> list[Any]:
    with read_scope() as session:
        return list(session.scalars(select(table)))


def test_an_a_a_job_yields_noise_floors_and_proposed_thresholds(
    lab: Lab,
) -> None:
    job_id = measure_aa(lab)
    floors = list_floors(lab)
    assert {(floor["arm"], floor["params"]["batch"]) for floor in floors} == {
        ("native", 1000),
        ("native", 2000),
        ("fallback", 1000),
        ("fallback", 2000),
    }
    for floor in floors:
        assert 0.02 < floor["mde"] < 0.04
        assert floor["proposed_threshold"] == pytest.approx(
            max(0.03, 1.25 * floor["mde"])
        )
        assert floor["lower"] < 1 < floor["upper"]
        assert (floor["job_id"], floor["target_name"], floor["blocks"]) == (
            job_id,
            "lab-1",
            100,
        )
        assert "are not resolved here; a rule had better ask for" in floor["words"]
    assert rows(NoiseFloor)[0].evidence["parameters"]["launches"] == 5


def test_a_noisier_target_resolves_less_and_the_newest_floor_is_in_force(
    lab: Lab,
) -> None:
    measure_aa(lab)
    quiet = {
        (floor["arm"], floor["params"]["batch"]): floor["mde"]
        for floor in list_floors(lab)
    }
    measure_aa(lab, seed=2, launch_sigma=0.012)
    noisy = {
        (floor["arm"], floor["params"]["batch"]): floor["mde"]
        for floor in list_floors(lab)
    }
    assert len(rows(NoiseFloor)) == 8
    assert noisy.keys() == quiet.keys()
    assert sum(noisy.values()) > sum(quiet.values())


@pytest.mark.shapes("embedded", "scaled")
def test_noise_floors_are_listed_by_case_in_pages(lab: Lab) -> None:
    measure_aa(lab)
    assert len(list_floors(lab, arm="native")) == 2
    assert (
        list_floors(lab, suite="another") == list_floors(lab, target="tgt_other") == []
    )
    assert (
        len(list_floors(lab, benchmark=BENCHMARK, metric="time", target=lab.target_id))
        == 4
    )
    items, cursor = [], None
    while True:
        query = {"limit": "3", **({"cursor": cursor} if cursor else {})}
        answer = lab.client.get(
            "/api/v1/noise-floors", params=query, headers=dict(lab.headers)
        ).json()
        items += [floor["id"] for floor in answer["items"]]
        cursor = answer["next"]
        if cursor is None:
            break
    assert len(items) == len(set(items)) == 4


def test_a_target_that_differs_from_itself_is_a_finding_about_the_environment(
    lab: Lab,
) -> None:
    job_id = measure_aa(lab, APART)
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
def test_a_void_job_leaves_no_noise_floor(lab: Lab, what: dict[str, Any]) -> None:
    measure_aa(lab, **what)
    assert rows(NoiseFloor) == []


def test_ab_jobs_become_no_history_and_only_aa_jobs_leave_a_noise_floor(
    lab: Lab,
) -> None:
    lab.request(base_commit="f" * 40)
    lab.deliver_ab(SAME)
    outbox.drain()
    assert rows(NoiseFloor) == []
    measure_aa(lab)
    assert rows(SeriesPoint) == []


@pytest.mark.shapes("embedded", "scaled")
def test_a_rule_below_what_an_a_a_job_measured_is_refused_with_that_number(
    lab: Lab, token: Any
) -> None:
    """I14, from the samples of an A/A job to the refusal."""
    measure_aa(lab, launch_sigma=0.015)
    worst = max(list_floors(lab), key=lambda floor: floor["mde"])
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
