"""What the server says no to, and how an agent goes on: lost items, suites, credentials, encodings."""

from __future__ import annotations

from paceline.agent import Agent

from .conftest import World, assert_complete, finish_of, values_of


def test_a_server_that_lost_acknowledged_items_gets_them_again(world: World, running: Agent) -> None:
    world.server.forget_items = 2
    job = world.add_job()
    finish = finish_of(world, job)
    assert finish["outcome"] == "done"
    assert_complete(job, finish)
    assert values_of(job) == 2 * 2 * (5 + 3)
    assert running is not None


def test_a_server_that_loses_items_for_ever_ends_the_attempt_and_they_are_kept(
    world: World, running: Agent
) -> None:
    world.server.forget_items = 10**9
    job = world.add_job()
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "agent_error")
    assert "items_missing" in finish["detail"]
    aside = world.data / "spool" / "aside"
    world.server.wait_for(lambda: aside.exists() and any(aside.glob("*/reason.txt")))
    assert running is not None
