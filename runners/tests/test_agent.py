"""Tests of the agent against a real socket: enrol, lease, measure and deliver, with every fault on the way."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import threading
from typing import Any

import psutil
import pytest
from paceline.agent import Agent
from paceline.errors import UserError
from paceline.executors.claim import Claimant, TargetClaim
from paceline.spool import Attempt, Spool
from paceline.stop import Stop
from paceline_contract.announcements import manifest_digest
from paceline_contract.testing.waiting import WITHIN_S

from .conftest import (
    World,
    assert_complete,
    finish_of,
    git,
    hang_from_now_on,
    values_of,
)


def test_a_strangers_suite_is_measured_from_enrolment_to_finish(
    world: World, running: Agent
) -> None:
    job = world.add_job()
    finish = finish_of(world, job)
    assert finish["outcome"] == "done", finish
    assert_complete(job, finish)
    assert values_of(job) == 2 * 2 * (5 + 3)
    events = [item["event"]["type"] for item in job.of_kind("event")]
    assert events.count("start") == 2
    assert events.count("done") == 2
    assert {"before", "after"} <= {item["phase"] for item in job.of_kind("conditions")}
    assert any(
        "a word for people" in line
        for item in job.of_kind("log")
        for line in item["lines"]
    )
    states = [state["state"] for state in job.states]
    assert list(dict.fromkeys(states)) == [
        "leased",
        "preparing",
        "measuring",
        "uploading",
    ]
    measuring = next(state for state in job.states if state["state"] == "measuring")
    assert len(measuring["artifact_hash"]) == 64
    assert len(measuring["fingerprint"]) == 64
    world.server.wait_for(lambda: not list((world.data / "spool").iterdir()))
    assert running is not None


def test_the_heartbeat_announces_target_and_suite(world: World, running: Agent) -> None:
    world.server.wait_for(lambda: world.server.heartbeats)
    beat = world.server.heartbeats[0]
    (target,) = beat["targets"]
    assert target["serial"] == world.serial
    assert target["refuses"] is None
    assert {finding["code"] for finding in target["preflight"]} >= {
        "governor",
        "disk",
        "load",
    }
    (suite,) = beat["suites"]
    assert suite["repository"] == "theirs"
    assert suite["suite"] == "mine"
    assert suite["location"] == str(world.repository)
    assert suite["branch"] == "main"
    new = git(
        world.repository, "commit", "--quiet", "--allow-empty", "-m", "Next"
    ) or git(world.repository, "rev-parse", "HEAD")
    world.server.wait_for(
        lambda: world.server.heartbeats[-1]["suites"][0]["commit"] == new
    )
    assert running is not None


def test_changes_of_agent_toml_are_used_without_a_restart(
    world: World, running: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    def announced() -> set[str]:
        return {suite["repository"] for suite in world.server.heartbeats[-1]["suites"]}

    def change(text: str) -> None:
        """Write the whole file at once: the agent may read it at any moment."""
        new = world.config_path.with_name("agent.toml.new")
        new.write_text(text)
        new.replace(world.config_path)

    world.server.wait_for(lambda: world.server.heartbeats)
    first = world.config_path.read_text()
    added = first + first[first.index("[repositories.") :].replace("theirs]", "mine]")
    change(added)
    world.server.wait_for(lambda: announced() == {"theirs", "mine"})
    change(added + "typing = [")
    world.server.wait_for(
        lambda: "agent.toml has changed and is not used" in caplog.text
    )
    job = world.add_job(repository="mine")
    assert finish_of(world, job)["outcome"] == "done", "the last good one is in use"
    assert announced() == {"theirs", "mine"}
    change(added.replace("[repositories.theirs]", "[repositories.other]"))
    world.server.wait_for(lambda: announced() == {"other", "mine"})
    refused = world.add_job("job-2")
    assert finish_of(world, refused)["cause"] == "checkout_failed"
    assert caplog.text.count("is not used") == 1
    assert running is not None


def test_what_the_server_says_of_identities_stands_on_the_page_of_the_host(
    world: World, running: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    world.server.notes = ["Another agent at work is called 'lab', too."]
    world.server.refuse_suites = [
        {"suite": "mine", "reason": "The suite 'mine' belongs to another repository."}
    ]

    def found() -> set[tuple[str, str]]:
        (target,) = world.server.heartbeats[-1]["targets"]
        return {(finding["code"], finding["text"]) for finding in target["preflight"]}

    said = {
        ("identity", "Another agent at work is called 'lab', too."),
        ("suite_refused", "The suite 'mine' belongs to another repository."),
    }
    world.server.wait_for(lambda: world.server.heartbeats and said <= found())
    assert caplog.text.count("Another agent at work is called") == 1
    world.server.notes, world.server.refuse_suites = [], []
    world.server.wait_for(lambda: not said & found())
    assert running is not None


def test_a_manifest_is_sent_once_and_again_when_the_server_lost_it(
    world: World, running: Agent
) -> None:
    def sent() -> list[str]:
        return [
            suite["digest"]
            for beat in list(world.server.heartbeats)
            for suite in beat["suites"]
            if "manifest" in suite
        ]

    world.server.wait_for(lambda: len(world.server.heartbeats) >= 4)
    (digest,) = sent()
    manifest = world.server.manifests[digest]
    assert (manifest_digest(manifest), manifest["suite"]["name"]) == (digest, "mine")
    with world.server.changed:
        world.server.manifests.clear()
    world.server.wait_for(lambda: sent() == [digest, digest])
    assert running is not None


def test_the_credential_is_kept_readable_by_its_owner_only(
    world: World, running: Agent
) -> None:
    world.server.wait_for(lambda: world.server.heartbeats)
    path = world.data / "credential.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["credential"] == world.server.credential
    assert running is not None


def test_a_wrong_code_is_answered_with_advice(world: World) -> None:
    with pytest.raises(UserError) as caught:
        world.agent().run("wrong")
    assert "new one" in caught.value.advice


def test_without_credential_and_code_it_says_how_to_get_one(world: World) -> None:
    with pytest.raises(UserError) as caught:
        world.agent().run(None)
    assert "--enrol" in caught.value.advice


def test_two_agents_do_not_share_a_data_directory(world: World, running: Agent) -> None:
    world.server.wait_for(lambda: world.server.heartbeats)
    with pytest.raises(UserError) as caught:
        world.agent().run(None)
    assert "--data" in caught.value.advice
    assert running is not None


def test_lost_answers_and_restarts_of_the_server_duplicate_and_lose_nothing(
    world: World, running: Agent
) -> None:
    world.server.hang_up = {"/items": 2, "/finish": 1, "/state": 1}
    world.server.broken = {"/items": 2, "/finish": 1}
    job = world.add_job()
    finish = finish_of(world, job)
    world.server.wait_for(lambda: world.server.hang_up["/finish"] == 0)
    assert finish["outcome"] == "done"
    assert_complete(job, finish)
    assert values_of(job) == 2 * 2 * (5 + 3)
    assert job.duplicates > 0
    assert running is not None


def orphans(world: World) -> list[int]:
    """Processes that run a workload out of this agent's artifact cache."""
    mark = str(world.data / "artifacts")
    result = []
    for process in psutil.process_iter(["cmdline"]):
        if any(mark in part for part in process.info["cmdline"] or []):
            result.append(process.pid)
    return result


def test_a_cancelled_run_stops_the_workload(world: World, running: Agent) -> None:
    world.server.lease_s = 0.6
    hang_from_now_on(world)
    job = world.add_job()
    world.server.wait_for(lambda: values_of(job) > 0)
    job.cancel = True
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("cancelled", "cancelled")
    assert_complete(job, finish)
    assert not orphans(world)
    assert running is not None


def test_a_lost_lease_stops_the_workload_and_keeps_what_was_measured(
    world: World, running: Agent
) -> None:
    world.server.lease_s = 0.6
    hang_from_now_on(world)
    job = world.add_job()
    world.server.wait_for(lambda: values_of(job) > 0)
    with world.server.changed:
        job.fenced = True
    second = world.add_job("job-2", commit=git(world.repository, "rev-parse", "HEAD~1"))
    assert finish_of(world, second)["outcome"] == "done"
    assert job.finish is None
    assert not orphans(world)
    aside = list((world.data / "spool" / "aside").iterdir())
    assert len(aside) == 1
    assert "lease_lost" in (aside[0] / "reason.txt").read_text()
    assert running is not None


def test_items_the_server_refuses_end_the_attempt_and_are_kept(
    world: World, running: Agent
) -> None:
    world.server.refuse_items = "item 0: benchmark is not declared"
    job = world.add_job()
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "agent_error")
    assert "not declared" in finish["detail"]
    assert finish["last_seq"] == -1
    assert running is not None


def test_what_a_workload_measures_undeclared_is_a_fault_of_the_suite(
    world: World, running: Agent
) -> None:
    world.server.refuse_items = "arm 'slow' is not declared. Declare it there."
    world.server.refusal_code = "not_declared"
    finish = finish_of(world, world.add_job())
    assert (finish["outcome"], finish["cause"]) == ("failed", "suite_invalid")
    assert finish["detail"].startswith("arm 'slow' is not declared. Declare it there. ")
    assert running is not None


@pytest.mark.parametrize(
    ("refusal", "cause"),
    [
        ((422, "invalid_request", "It is the suite 'other'."), "suite_invalid"),
        ((413, "body_too_large", "At most 8 MiB."), "suite_invalid"),
        ((409, "other_manifest", "Another agent read another."), "checkout_failed"),
        ((404, "not_found", "There is no job 'job_1'."), "checkout_failed"),
    ],
)
def test_a_refused_manifest_ends_the_job_before_anything_is_measured(
    world: World, running: Agent, refusal: tuple[int, str, str], cause: str
) -> None:
    world.server.refuse_manifest = refusal
    job = world.add_job()
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", cause)
    assert refusal[2] in finish["detail"]
    assert job.of_kind("samples") == []
    assert running is not None


def test_a_job_whose_target_somebody_else_uses_says_who_until_it_is_free(
    world: World, running: Agent
) -> None:
    by_hand = TargetClaim(world.serial)
    with by_hand.claim(Stop(), by=Claimant("paceline run of mine")) as claimed:
        assert claimed
        job = world.add_job()
        said = "waiting for the target: paceline run of mine (process "
        world.server.wait_for(
            lambda: any(
                (state.get("detail") or "").startswith(said) for state in job.states
            )
        )
    assert finish_of(world, job)["outcome"] == "done"
    assert running is not None


def test_a_server_without_reports_of_manifests_decides_by_its_lease_and_is_named_once(
    world: World, running: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    world.server.refuse_manifest = (404, "not_found", "Not Found")
    jobs = [world.add_job(name) for name in ("job-1", "job-2")]
    for job in jobs:
        assert finish_of(world, job)["outcome"] == "done"
        assert job.of_kind("samples")
    older = [line for line in caplog.messages if "is older than this agent" in line]
    assert len(older) == 1
    assert running is not None


def test_a_manifest_is_reported_until_the_server_has_answered(
    world: World, running: Agent
) -> None:
    world.server.broken["/manifest"] = 2
    world.server.hang_up["/manifest"] = 1
    job = world.add_job()
    assert finish_of(world, job)["outcome"] == "done"
    first, second = job.manifests
    assert first == second
    assert first["manifest"]["suite"]["name"] == "mine"
    assert running is not None


@pytest.mark.parametrize(
    ("changes", "cause", "words"),
    [
        ({"commit": "0" * 40}, "checkout_failed", "0000000"),
        ({"repository": "stranger"}, "checkout_failed", "allow-list"),
        ({"benchmarks": ["nope"]}, "suite_invalid", "nope"),
        ({"params": {"n": [5000]}}, "suite_invalid", "1 to 1000"),
        ({"manifest_path": "other.toml"}, "suite_invalid", "other.toml"),
    ],
)
def test_work_that_cannot_be_done_fails_with_a_cause_to_act_on(
    world: World, running: Agent, changes: dict[str, Any], cause: str, words: str
) -> None:
    job = world.add_job(**changes)
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", cause)
    assert words in finish["detail"]
    assert running is not None


def test_a_crash_is_told_with_the_last_words_free_of_nul(
    world: World, running: Agent
) -> None:
    path = world.repository / "bench" / "sorts.py"
    path.write_text(
        "import os, sys\nsys.stderr.write('last \\0 words')\nsys.stderr.flush()\nos.abort()\n"
    )
    git(world.repository, "commit", "--quiet", "-a", "-m", "Crash")
    finish = finish_of(world, world.add_job())
    assert (finish["outcome"], finish["cause"]) == ("failed", "workload_crashed")
    assert "SIGABRT" in finish["detail"]
    assert "last \ufffd words" in finish["detail"]
    assert running is not None


def test_a_full_disk_is_announced_and_no_job_is_taken(world: World) -> None:
    world.write_config(min_free_bytes=1 << 60)
    agent = world.agent()
    thread = threading.Thread(target=agent.run, args=("good-code",))
    thread.start()
    job = world.add_job()
    world.server.wait_for(lambda: len(world.server.heartbeats) >= 3)
    refusal = world.server.heartbeats[-1]["targets"][0]["refuses"]
    agent.leave()
    thread.join(WITHIN_S)
    assert "disk full" in refusal
    assert job.attempt == 0


# --- the agent as a process of its own ---


def test_kill_9_leaves_no_workload_and_the_spool_reaches_the_same_attempt_once(
    world: World,
) -> None:
    hang_from_now_on(world)
    job = world.add_job()
    first = world.spawn()
    world.server.wait_for(lambda: values_of(job) > 0)
    world.server.broken = {"/items": 10**9}
    held = len(job.items)
    world.server.wait_for(lambda: world.server.broken["/items"] < 10**9)
    os.kill(first.pid, signal.SIGKILL)
    first.wait(WITHIN_S)
    world.server.wait_for(lambda: not orphans(world))
    (left,) = Spool(world.data / "spool").load_undelivered()
    assert left.attempt == Attempt("job-1", 1, "token-1")
    assert left.last_seq + 1 > held
    world.server.broken = {}
    second = world.spawn()
    finish = finish_of(world, job)
    second.terminate()
    assert second.wait(WITHIN_S) == 0
    assert (finish["outcome"], finish["cause"]) == ("failed", "agent_lost")
    assert_complete(job, finish)
    assert {attempt for attempt, _ in job.items} == {1}


@pytest.mark.skipif(
    sys.platform != "linux", reason="limits of another process are a Linux service"
)
def test_a_disk_that_fills_up_while_measuring_ends_the_job_and_loses_nothing(
    world: World,
) -> None:
    hang_from_now_on(world)
    job = world.add_job()
    process = world.spawn()
    world.server.wait_for(lambda: values_of(job) > 0)
    held = len(job.items)
    size = (world.data / "spool" / "job-1-1" / "items.ndjson").stat().st_size
    psutil.Process(process.pid).rlimit(psutil.RLIMIT_FSIZE, (size + 50, size + 50))
    finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "disk_full")
    assert len(job.items) >= held
    assert_complete(job, finish)
    world.server.wait_for(lambda: not orphans(world))
    process.terminate()
    assert process.wait(WITHIN_S) == 0


def test_sigterm_finishes_the_job_and_leaves(world: World) -> None:
    job = world.add_job(launches=3)
    process = world.spawn()
    world.server.wait_for(lambda: values_of(job) > 0)
    process.terminate()
    assert process.wait(WITHIN_S) == 0
    assert job.finish is not None
    assert job.finish["outcome"] == "done"
    assert_complete(job, job.finish)


def test_a_second_sigterm_cancels_the_job(world: World) -> None:
    hang_from_now_on(world)
    job = world.add_job()
    process = world.spawn()
    world.server.wait_for(lambda: values_of(job) > 0)
    process.terminate()
    world.server.wait_for(
        lambda: "told to stop" in (world.data.parent / "agent.log").read_text()
    )
    process.terminate()
    assert process.wait(WITHIN_S) == 0
    assert job.finish is not None
    assert job.finish["outcome"] == "cancelled"
    assert not orphans(world)


def test_an_idle_agent_leaves_at_sigterm(world: World) -> None:
    process = world.spawn()
    world.server.wait_for(lambda: world.server.heartbeats)
    process.terminate()
    assert process.wait(WITHIN_S) == 0
