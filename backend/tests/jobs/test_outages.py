"""Tests outages longer than a lease: an agent that kept measuring gets its lease back, if its target is still free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from paceline_server.jobs import expiry
from paceline_server.jobs import service as jobs
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.jobs import Attempt
from paceline_server.testing.scripted_agent import ScriptedAgent, samples_item

pytestmark = pytest.mark.shapes("embedded", "scaled")

Make = Callable[..., Any]


@pytest.mark.parametrize("state", ["measuring", "uploading"])
def test_a_job_whose_lease_ran_out_in_an_outage_goes_on_when_its_agent_renews(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make, state: str
) -> None:
    new_run()
    leased = agent.measuring()
    leased.send(samples_item(0))
    leased.report(state)
    clock.advance(300)
    assert expiry.sweep() == 1
    assert job_now(leased.job_id)["state"] == "lost"
    assert leased.renew().json() == {"lease_s": 30.0, "cancel": False}
    seen = job_now(leased.job_id)
    assert (seen["state"], seen["cause"], seen["partial"], seen["attempt"]) == (
        "measuring",
        None,
        False,
        1,
    )
    assert seen["finished_at"] is None
    assert agent.ask().status_code == 204
    clock.advance(25)
    assert expiry.sweep() == 0
    assert leased.send(samples_item(1)).status_code == 200
    assert leased.report("uploading").status_code == 204
    assert leased.finish(1).status_code == 204
    with read_scope() as session:
        assert session.get_one(Attempt, (leased.job_id, 1)).outcome == "done"
    assert job_now(leased.job_id)["state"] == "analysing"


def test_a_revived_lease_runs_out_again_when_nobody_renews_it(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make
) -> None:
    """An agent that asks between launches what is undecided measures on, too."""
    new_run()
    leased = agent.measuring()
    for request in ("renew", "undecided"):
        clock.advance(31)
        assert expiry.sweep() == 1
        assert job_now(leased.job_id)["state"] == "lost"
        assert leased.post(request).status_code == 200
    assert job_now(leased.job_id)["state"] == "measuring"


def test_a_lost_job_does_not_go_on_while_its_target_runs_another(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make
) -> None:
    new_run()
    new_run()
    lost = agent.measuring()
    clock.advance(31)
    expiry.sweep()
    current = agent.measuring()
    answer = lost.renew()
    assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost")
    assert "runs another job" in answer.json()["detail"]
    assert job_now(lost.job_id)["state"] == "lost"
    assert current.renew().status_code == 200


@pytest.mark.parametrize("wrong", ["token", "agent", "cancelled"])
def test_only_the_lost_attempt_itself_is_revived(
    agent: ScriptedAgent, enrolled: Make, clock: FrozenClock, new_run: Make, wrong: str
) -> None:
    new_run()
    leased = agent.measuring()
    clock.advance(31)
    expiry.sweep()
    if wrong == "token":
        leased.lease["lease_token"] = "plj_wrong"
    elif wrong == "agent":
        leased.headers = enrolled("lab-7").headers
    else:
        with session_scope() as session:
            jobs.cancel(session, leased.run_id)
    answer = leased.renew()
    assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost")
    with read_scope() as session:
        state = jobs.get_job(session, leased.job_id).state
    assert state == ("cancelled" if wrong == "cancelled" else "lost")


def test_many_renewals_of_two_lost_jobs_of_one_target_revive_one(
    agent: ScriptedAgent,
    clock: FrozenClock,
    new_run: Make,
    job_now: Make,
    together: Make,
) -> None:
    new_run()
    new_run()
    lost_leases = []
    for _ in range(2):
        lost_leases.append(agent.measuring())
        clock.advance(31)
        expiry.sweep()
    answers = together(*[lost_leases[index % 2].renew for index in range(8)])
    assert sorted({answer.status_code for answer in answers}) == [200, 409]
    assert sorted(job_now(lease.job_id)["state"] for lease in lost_leases) == [
        "lost",
        "measuring",
    ]
