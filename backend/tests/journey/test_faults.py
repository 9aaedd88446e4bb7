"""Tests the whole system with misbehaving workloads and killed agents, as real processes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import psutil
import pytest
from paceline_contract.testing.waiting import wait_until
from paceline_server.kernel import clock
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.jobs import Attempt
from paceline_server.store.tables.samples import SampleChunk
from sqlalchemy import select, update

from .stack import Process, Stack, commit_all, misbehaving_repository

pytestmark = [pytest.mark.journey, pytest.mark.shapes("scaled")]

FAULTS = {
    "garbage": "stream_invalid",
    "hang": "workload_hung",
    "flood": "workload_flooded",
    "segv": "workload_crashed",
    "silent": "workload_no_terminal",
}
LONG = {"launches": 1, "rounds": 4000, "knobs": {"mode": "slow"}}
"""One launch that takes minutes, so that a workload runs until its test ends it."""


def workloads(agent: Process) -> list[psutil.Process]:
    """The processes of the misbehaving workload that the given agent started."""
    mine = str(agent.log.parent.parent)
    processes = []
    for process in psutil.process_iter(["cmdline", "status"]):
        command = " ".join(process.info["cmdline"] or ())
        if (
            "workload.py" in command
            and mine in command
            and process.info["status"] != psutil.STATUS_ZOMBIE
        ):
            processes.append(process)
    return processes


def commit_impatient(repository: Path) -> str:
    """A commit that is not the head, at which a launch has 8 s instead of minutes: one that hangs takes them, and no
    other needs to be done by then."""
    manifest = repository / "suite.toml"
    patient = manifest.read_text()
    impatient = patient.replace("launch_timeout_s = 600", "launch_timeout_s = 8")
    assert impatient != patient
    manifest.write_text(impatient)
    commit = commit_all(repository)
    manifest.write_text(patient)
    commit_all(repository)
    return commit


def end_lease(job: str) -> None:
    """Let the lease of the job's attempt run out now, as if its agent had been silent for as long as it may be."""
    with session_scope() as session:
        session.execute(
            update(Attempt)
            .where(Attempt.job_id == job)
            .values(lease_expires_at=clock.now() - timedelta(seconds=1))
        )


def assert_every_sample_is_there_once(job: str, samples: int) -> None:
    """No chunk is stored twice: each case has one measured value per (launch, round), and the job counts
    exactly what is stored."""
    places: list[tuple[object, ...]] = []
    with read_scope() as session:
        for chunk in session.scalars(
            select(SampleChunk).where(SampleChunk.job_id == job)
        ):
            case = (
                chunk.attempt,
                chunk.benchmark,
                chunk.arm,
                str(chunk.params),
                chunk.metric,
                chunk.launch,
            )
            places += [
                (*case, number)
                for number in np.frombuffer(chunk.rounds, dtype="<i4").tolist()
            ]
    assert len(places) == samples
    assert len(set(places)) == len(places), "a sample is stored twice"


def test_each_workload_fault_ends_the_job_with_its_own_cause_and_advice(
    stack: Stack, tmp_path: Path
) -> None:
    repository = misbehaving_repository(tmp_path)
    commits = {"hang": {"commit": commit_impatient(repository)}}
    agent = stack.agent({"faulty": (repository, "suite.toml")})
    for mode, cause in FAULTS.items():
        faulty = {"launches": 1, "rounds": 5, "knobs": {"mode": mode}}
        job = stack.measure("misbehaving", **faulty, **commits.get(mode, {}))
        ended = stack.job_in(job, "failed", "done")
        assert (ended["state"], ended["cause"]) == ("failed", cause), (mode, ended)
        assert len(ended["cause_detail"]) > 40, (
            "a cause without a sentence helps nobody"
        )
        assert not workloads(agent)
    job = stack.measure("misbehaving", launches=3, rounds=20, knobs={"mode": "good"})
    assert stack.job_in(job, "failed", "done")["state"] == "done", (
        "a fault must not poison the agent"
    )


def test_a_killed_agent_leaves_no_workload_and_its_spool_arrives_once_after_restart(
    stack: Stack, tmp_path: Path
) -> None:
    repository = misbehaving_repository(tmp_path)
    repositories = {"faulty": (repository, "suite.toml")}
    agent = stack.agent(repositories)
    job = stack.measure("misbehaving", **LONG)
    wait_until(
        "samples of the running job", lambda: stack.get(f"/jobs/{job}")["samples"] > 4
    )
    assert workloads(agent)
    agent.kill()
    wait_until("the workload to be gone", lambda: not workloads(agent))

    end_lease(job)
    lost = stack.job_in(job, "lost")
    assert lost["partial"] is True
    assert lost["samples"] > 4, "what had arrived stays visible"
    spooled = next((stack.directory / "agent" / "spool").iterdir())

    stack.agent(repositories)
    ended = stack.job_in(job, "failed", "done")
    assert (ended["state"], ended["cause"], ended["attempt"]) == (
        "failed",
        "agent_lost",
        1,
    )
    assert ended["partial"] is True
    assert ended["samples"] >= lost["samples"]
    wait_until("the spool to be delivered", lambda: not spooled.exists())
    assert_every_sample_is_there_once(job, ended["samples"])


def test_losing_the_lease_stops_the_workload_and_the_late_writer_is_refused(
    stack: Stack, tmp_path: Path
) -> None:
    repository = misbehaving_repository(tmp_path)
    agent = stack.agent({"faulty": (repository, "suite.toml")})
    job = stack.measure("misbehaving", **LONG)
    wait_until(
        "samples of the running job", lambda: stack.get(f"/jobs/{job}")["samples"] > 4
    )
    run = stack.get(f"/jobs/{job}")["run_id"]
    stack.post(f"/runs/{run}/cancel")
    wait_until("the workload to stop", lambda: not workloads(agent))
    assert stack.job_in(job, "cancelled")["state"] == "cancelled"
    late = {
        "items": ("items", {"items": []}),
        "renewal": ("renew", {}),
        "state": ("state", {"state": "measuring"}),
        "finish": ("finish", {"outcome": "done", "last_seq": 0}),
    }
    for name, (action, body) in late.items():
        for attempt, wrong in ((1, "a stale token"), (2, "an attempt that never was")):
            answer = stack.client.post(
                f"/api/v1/jobs/{job}/attempts/{attempt}/{action}",
                json=body,
                headers={
                    "Authorization": f"Bearer {stack.credential()}",
                    "Lease-Token": "plj_stale",
                },
            )
            status_and_code = (answer.status_code, answer.json()["code"])
            assert status_and_code == (409, "lease_lost"), (
                f"{name} with {wrong}: {answer.text}"
            )
