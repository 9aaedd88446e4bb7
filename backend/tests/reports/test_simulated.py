"""A simulated target's job beside a real one's: it changes no verdict and no figure, and no sentence names it
without saying so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import outbox
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import Target
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE
from sqlalchemy import select

FASTER, SLOWER = {1000: -0.5, 2000: -0.6}, {1000: 0.126, 2000: -0.6}
OLD, NEW = "1" * 40, "2" * 40


@pytest.fixture
def labs(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> tuple[Lab, Lab]:
    """A real target, `lab-1`, and a simulated one, `phone`."""
    real, simulated = (
        open_lab(client, enrolled, token),
        open_lab(client, enrolled, token, name="phone"),
    )
    with session_scope() as session:
        session.get_one(Target, simulated.target_id).simulated = True
    return real, simulated


def measure_on(*labs: Lab, commit: str, effects: dict[int, float]) -> list[str]:
    """One run on all of them, concluded; its job ids."""
    targets, toys = [lab.target_id for lab in labs], ["simulated"]
    labs[0].request(targets=targets, commit=commit, branch="main", suppress=toys)
    jobs = []
    for seed, lab in enumerate(labs, 1):
        jobs.append(lab.deliver(effects, seed=seed).job_id)
        outbox.drain()
    return jobs


def get(lab: Lab, path: str, **query: Any) -> Any:
    answer = lab.client.get(f"/api/v1{path}", params=query, headers=dict(lab.headers))
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_simulated_job_does_not_weaken_a_real_job_of_the_same_run(
    labs: tuple[Lab, Lab],
) -> None:
    real, simulated = labs
    for order in ((real, simulated), (simulated, real)):
        measure_on(*order, commit=OLD, effects=SLOWER)
    with read_scope() as session:
        query = select(Comparison).where(Comparison.target_id == real.target_id)
        families = [
            len(row.evidence["parameters"]["family_p_values"])
            for row in session.scalars(query)
        ]
    assert families == [1, 1, 1, 1], (
        "one other pair of its own job, whichever job was judged first"
    )


@pytest.mark.shapes("embedded")
def test_sentences_beside_tables_speak_of_real_targets_while_there_are_any(
    labs: tuple[Lab, Lab],
) -> None:
    real, simulated = labs
    query: dict[str, Any] = {"suite": SUITE, "benchmark": BENCHMARK}
    for commit, effects in ((OLD, FASTER), (NEW, SLOWER)):
        measure_on(simulated, commit=commit, effects=effects)
    assert get(real, "/arms", **query)["summary"].startswith(
        "Only simulated targets were compared: on phone"
    )
    compared = get(real, "/compare", base=OLD, head=NEW)
    assert (
        compared["summary"]
        == "Only simulated targets were measured. Not counted: 4 of simulated targets."
    )
    for commit, effects in ((OLD, FASTER), (NEW, FASTER)):
        measure_on(real, commit=commit, effects=effects)
    arms, compared = (
        get(real, "/arms", **query),
        get(real, "/compare", base=OLD, head=NEW),
    )
    assert arms["summary"].startswith("On lab-1 native is faster")
    assert "phone" not in arms["summary"]
    assert {comparison["target_name"] for comparison in arms["comparisons"]} == {
        "lab-1",
        "phone",
    }
    assert " of 4 measurements " in compared["summary"]
    assert compared["summary"].endswith(" Not counted: 4 of simulated targets.")
    assert len(compared["rows"]) == 8


@pytest.mark.shapes("embedded")
def test_every_sentence_about_a_simulated_target_says_so(
    labs: tuple[Lab, Lab],
) -> None:
    real, simulated = labs
    measure_on(real, simulated, commit=OLD, effects=SLOWER)
    reason = get(real, "/runs")["items"][0]["reason"]
    assert "phone (simulated): " in reason
    by_target = {alert["target_name"]: alert for alert in get(real, "/alerts")["items"]}
    assert by_target["phone"]["title"].endswith("on phone (simulated)")
    assert by_target["lab-1"]["title"].endswith("on lab-1")
    for path in (
        f"/alerts/{by_target['phone']['id']}",
        f"/alerts/{by_target['phone']['id']}/explain",
    ):
        answer = get(real, path)
        assert "On phone (simulated), native took longer" in answer.get(
            "explanation", answer.get("sentence")
        )
