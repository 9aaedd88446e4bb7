"""A device's job from its lease to its last write: built here, run there, cut off, reported whole."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paceline.testing.adbd import Peer
from paceline.testing.fake_server import FakeJob
from paceline.testing.suites import MANIFEST

from .conftest import World, assert_complete, values_of
from .test_agent_devices import Fleet
from .test_source import commit_manifest

SERIAL = f"SIM{uuid.uuid4().hex[:8]}"
ROUNDS, LAUNCHES = 40, 2
WORKLOAD = f"""\
while [ "$#" -gt 0 ]; do
  case $1 in --launch) launch=$2 ;; esac
  shift
done
echo '{{"type":"start","v":1,"suite":"mine","workload":"sorts","launch":'"$launch"',"seed":1,"build":{{}},\
"clock":{{"name":"c","resolution_ns":20,"overhead_ns":10}}}}'
case=0
for arm in merge builtin; do
  echo '{{"type":"case","case":'"$case"',"benchmark":"sort","arm":"'"$arm"'","params":{{"n":100}},\
"metrics":[{{"name":"time","unit":"ns","direction":"lower"}}]}}'
  case=1
done
round=0
while [ "$round" -lt {ROUNDS} ]; do
  for case in 0 1; do
    echo '{{"type":"samples","case":'"$case"',"metric":"time","launch":'"$launch"',"round":'"$round"',\
"position":'"$case"',"phase":"measure","iterations":1,"values":[10],"t_ns":5}}'
  done
  if [ "$round" -eq 10 ]; then until [ -e "$TMPDIR/go" ]; do sleep 0.02; done; fi
  round=$((round + 1))
done
echo '{{"type":"done"}}'
"""
SECTION = """[workloads.android]
build = [["python3", "-c", "import sys, shutil; shutil.copy('sorts.sh', 'sorts-' + sys.argv[1])", "{abi}"]]
artifacts = ["sorts-{abi}"]
run = ["sh", "{artifacts}/sorts-{abi}"]
calibrate = ["echo", '{"calibration_ns": 1234}']
"""


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    with Peer(tmp_path / "peer", serial=SERIAL, abi="x86_64") as running:
        yield running


@pytest.fixture
def job(world: World, suite_repository: Path) -> FakeJob:
    (suite_repository / "bench" / "sorts.sh").write_text(WORKLOAD)
    manifest = MANIFEST.replace("[benchmarks.sort]", SECTION + "\n[benchmarks.sort]", 1)
    commit = commit_manifest(suite_repository, manifest)
    work = world.work(commit=commit, launches=LAUNCHES, rounds=ROUNDS)
    return world.server.add_job("on-the-device", work, SERIAL)


def workdir(peer: Peer) -> Path:
    """Where runs lie, as this host sees it."""
    return Path(f"{peer.files}{peer.workdir}" if peer.device.mode == "namespace" else peer.workdir)


def finish_of(world: World, job: FakeJob) -> dict[str, Any]:
    world.server.wait_for(lambda: job.finish)
    assert job.finish is not None
    return job.finish


def test_a_devices_job_survives_a_cut_and_every_sample_arrives_once(
    world: World, peer: Peer, job: FakeJob
) -> None:
    with Fleet(world, peer) as fleet:
        world.server.wait_for(lambda: values_of(job) >= 22)  # up to where the first launch waits
        peer.cut()
        (run,) = workdir(peer).iterdir()
        (run / "tmp" / "go").touch()
        finish = finish_of(world, job)
        announced = fleet.said(SERIAL)
    assert finish["outcome"] == "done", finish
    assert_complete(job, finish)
    found = [
        (item["launch"], item["arm"], number) for item in job.of_kind("samples") for number in item["rounds"]
    ]
    arms = ("merge", "builtin")
    assert sorted(found) == sorted(
        (launch, arm, number) for launch in range(LAUNCHES) for arm in arms for number in range(ROUNDS)
    )
    (measuring,) = [state for state in job.states if state["state"] == "measuring"]
    assert measuring["fingerprint"] == announced["fingerprint"]
    conditions = job.of_kind("conditions")
    assert [item["phase"] for item in conditions] == ["before", "during", "during", "after"]
    assert all(item["raw"][0]["command"] for item in conditions)
    assert {item["values"]["boot_id"] for item in conditions} == {peer.boot_id}
    assert [item["values"].get("calibration_ns") for item in conditions] == [1234, None, None, 1234]
    assert not workdir(peer).exists()
    assert not peer.fixed_performance


def test_a_device_that_restarts_fails_the_job_and_no_benchmark(
    world: World, peer: Peer, job: FakeJob
) -> None:
    with Fleet(world, peer):
        world.server.wait_for(lambda: values_of(job) >= 22)
        peer.reboot()
        finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "device_rebooted")
    assert_complete(job, finish)
    assert not workdir(peer).exists()
