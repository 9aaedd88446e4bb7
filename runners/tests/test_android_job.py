"""Tests of a device job from its lease to its finish: built here, run on the device, interrupted, reported."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from device_providers import DeviceProvider
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
REPORT = """\
log -t Mine "Batch 7: builtin avg=$launch.50ms"
log -t Other "Batch 7: builtin avg=$launch.50ms"
[ "$launch" -eq 0 ] || log -t Mine "Batch eight: builtin"
"""
"""What the workload of a suite with `DECLARED` logs before its end."""
DECLARED = """
[[logcat]]
name = "batch"
tag = "Mine"
line = "Batch {batch:count}: {arm:name} avg={avg:duration}"
"""
SECTION = """[workloads.android]
build = [["python3", "-c", "import sys, shutil; shutil.copy('sorts.sh', 'sorts-' + sys.argv[1])", "{abi}"]]
artifacts = ["sorts-{abi}"]
run = ["sh", "{artifacts}/sorts-{abi}"]
calibrate = ["echo", '{"calibration_ns": 1234}']
"""


@pytest.fixture
def peer(tmp_path: Path, provider: DeviceProvider) -> Iterator[Peer]:
    with provider.running(tmp_path / "peer", SERIAL) as running:
        yield running


@pytest.fixture
def job(world: World, suite_repository: Path) -> FakeJob:
    (suite_repository / "bench" / "sorts.sh").write_text(WORKLOAD)
    manifest = MANIFEST.replace("[benchmarks.sort]", SECTION + "\n[benchmarks.sort]", 1)
    commit = commit_manifest(suite_repository, manifest)
    work = world.work(commit=commit, launches=LAUNCHES, rounds=ROUNDS)
    return world.server.add_job("on-the-device", work, SERIAL)


@pytest.fixture
def telling(world: World, suite_repository: Path) -> FakeJob:
    """A job of the same suite, whose app logs figures of its own on the device."""
    workload = WORKLOAD.replace(
        'echo \'{"type":"done"', REPORT + 'echo \'{"type":"done"'
    )
    (suite_repository / "bench" / "sorts.sh").write_text(workload)
    manifest = (
        MANIFEST.replace("[benchmarks.sort]", SECTION + "\n[benchmarks.sort]", 1)
        + DECLARED
    )
    commit = commit_manifest(suite_repository, manifest)
    work = world.work(commit=commit, launches=LAUNCHES, rounds=ROUNDS)
    return world.server.add_job("on-the-device", work, SERIAL)


def workdir(peer: Peer) -> Path:
    """The directory of runs, as this host sees it."""
    return Path(
        f"{peer.files}{peer.workdir}"
        if peer.device.mode == "namespace"
        else peer.workdir
    )


def finish_of(world: World, job: FakeJob) -> dict[str, Any]:
    world.server.wait_for(lambda: job.finish)
    assert job.finish is not None
    return job.finish


def assert_every_sample_once(job: FakeJob, finish: dict[str, Any]) -> None:
    assert_complete(job, finish)
    items = [
        (item["launch"], item["arm"], number)
        for item in job.of_kind("samples")
        for number in item["rounds"]
    ]
    arms = ("merge", "builtin")
    assert sorted(items) == sorted(
        (launch, arm, number)
        for launch in range(LAUNCHES)
        for arm in arms
        for number in range(ROUNDS)
    )


def test_a_devices_job_survives_a_cut_and_every_sample_arrives_once(
    world: World, peer: Peer, provider: DeviceProvider, job: FakeJob
) -> None:
    with Fleet(world, provider, peer) as fleet:
        world.server.wait_for(
            lambda: values_of(job) >= 22
        )  # up to where the first launch waits
        peer.cut()
        (run,) = workdir(peer).iterdir()
        (run / "tmp" / "go").touch()
        finish = finish_of(world, job)
        announced = fleet.said(SERIAL)
    assert finish["outcome"] == "done", finish
    assert_every_sample_once(job, finish)
    steps = [state.get("detail") or "" for state in job.states]
    assert any(
        step.startswith("building sorts, step 1 of 1: python3 -c ") for step in steps
    ), steps
    (measuring,) = [state for state in job.states if state["state"] == "measuring"]
    assert measuring["fingerprint"] == announced["fingerprint"]
    conditions = job.of_kind("conditions")
    assert [item["phase"] for item in conditions] == [
        "before",
        "during",
        "during",
        "after",
    ]
    assert all(item["raw"][0]["command"] for item in conditions)
    assert {item["values"]["boot_id"] for item in conditions} == {peer.boot_id}
    assert [item["values"].get("calibration_ns") for item in conditions] == [
        1234,
        None,
        None,
        1234,
    ]
    assert not workdir(peer).exists()
    assert not peer.fixed_performance


def test_a_device_that_restarts_fails_the_job_and_no_benchmark(
    world: World, peer: Peer, provider: DeviceProvider, job: FakeJob
) -> None:
    with Fleet(world, provider, peer):
        world.server.wait_for(lambda: values_of(job) >= 22)
        peer.reboot()
        finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "device_rebooted")
    assert_complete(job, finish)
    assert not workdir(peer).exists()


def test_a_job_outlives_a_kill_9_of_the_daemon_that_started_it(
    world: World, peer: Peer, provider: DeviceProvider, job: FakeJob
) -> None:
    with Fleet(world, provider, peer):
        world.server.wait_for(lambda: values_of(job) >= 22)
        peer.kill_daemon()
        (run,) = workdir(peer).iterdir()
        (run / "tmp" / "go").touch()
        finish = finish_of(world, job)
    assert finish["outcome"] == "done", finish
    assert_every_sample_once(job, finish)
    assert not workdir(peer).exists()


def test_a_daemon_that_dies_with_all_it_started_fails_the_job_and_no_benchmark(
    world: World, peer: Peer, provider: DeviceProvider, job: FakeJob
) -> None:
    """Android's init kills the process group of a service that ended, launches of ours with it."""
    with Fleet(world, provider, peer):
        world.server.wait_for(lambda: values_of(job) >= 22)
        peer.crash()
        finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "device_lost"), finish
    assert_complete(job, finish)
    assert not workdir(peer).exists()


def test_two_devices_measure_at_once_and_neither_has_samples_of_the_other(
    world: World, tmp_path: Path, peer: Peer, provider: DeviceProvider, job: FakeJob
) -> None:
    with (
        provider.running(tmp_path / "second", f"{SERIAL}-2") as second,
        Fleet(world, provider, peer, second),
    ):
        beside = world.server.add_job("beside", job.work, second.serial)
        world.server.wait_for(lambda: values_of(job) >= 22 and values_of(beside) >= 22)
        for device in (peer, second):
            (run,) = workdir(device).iterdir()
            (run / "tmp" / "go").touch()
        finishes = [finish_of(world, item) for item in (job, beside)]
        boots = [
            {item["values"]["boot_id"] for item in entry.of_kind("conditions")}
            for entry in (job, beside)
        ]
    assert boots == [{peer.boot_id}, {second.boot_id}]
    for entry, finish in zip((job, beside), finishes, strict=True):
        assert finish["outcome"] == "done", finish
        assert_every_sample_once(entry, finish)


def test_what_the_log_reports_arrives_once_and_with_its_launch_though_the_log_was_lost(
    world: World, peer: Peer, provider: DeviceProvider, telling: FakeJob
) -> None:
    peer.log(
        "Mine", "Batch 1: merge avg=1.00ms"
    )  # before the job: none of its business
    with Fleet(world, provider, peer):
        world.server.wait_for(lambda: values_of(telling) >= 22)
        peer.log("Mine", "Batch 2: merge avg=2.82ms")
        world.server.wait_for(lambda: telling.of_kind("reported"))
        peer.cut()
        peer.log("Mine", "Batch 3: merge avg=3.00ms")  # nobody follows now
        (run,) = workdir(peer).iterdir()
        (run / "tmp" / "go").touch()
        finish = finish_of(world, telling)
    assert finish["outcome"] == "done", finish
    assert_complete(telling, finish)
    reported = telling.of_kind("reported")
    assert [
        (item["launch"], item["fields"].get("batch"), item["note"] is None)
        for item in reported
    ] == [
        (0, 2, True),
        (0, 3, True),
        (0, 7, True),
        (1, 7, True),
        (1, None, False),
    ]
    first, *_, last = reported
    assert (first["pattern"], first["side"]) == ("mine.batch", None)
    assert first["fields"]["arm"] == "merge"
    assert first["fields"]["avg"] == {
        "printed": "2.82ms",
        "value": 2_820_000,
        "low": 2_815_000,
        "high": 2_825_000,
        "unit": "ns",
    }
    assert first["text"].startswith(f"{first['at']} ")
    assert "expected a whole number without separators (batch)" in last["note"]


def test_a_suite_that_declares_no_lines_has_none(
    world: World, peer: Peer, provider: DeviceProvider, job: FakeJob
) -> None:
    peer.log("Mine", "Batch 1: merge avg=1.00ms")
    with Fleet(world, provider, peer):
        world.server.wait_for(lambda: values_of(job) >= 22)
        (run,) = workdir(peer).iterdir()
        (run / "tmp" / "go").touch()
        finish = finish_of(world, job)
    assert finish["outcome"] == "done", finish
    assert not job.of_kind("reported")


def test_a_devices_job_that_this_host_cannot_build_says_what_is_missing_and_what_to_do(
    world: World, peer: Peer, provider: DeviceProvider, suite_repository: Path
) -> None:
    lacking = SECTION.replace(
        "import sys, shutil; shutil.copy(",
        "import sys; sys.exit('run: get-zig'); print(",
    )
    lacking += 'toolchain = [["no-such-compiler", "version"]]\n'
    commit = commit_manifest(
        suite_repository,
        MANIFEST.replace("[benchmarks.sort]", f"{lacking}\n[benchmarks.sort]", 1),
    )
    job = world.server.add_job("on-the-device", world.work(commit=commit), SERIAL)
    with Fleet(world, provider, peer):
        finish = finish_of(world, job)
    assert (finish["outcome"], finish["cause"]) == ("failed", "build_failed")
    assert (
        "lacks what the suite builds with: `no-such-compiler version`"
        in finish["detail"]
    )
    assert "run: get-zig" in finish["detail"]
    assert not workdir(peer).exists(), "the device was not touched for it"
