"""Takes a device from its connection to its quarantine, with a real server, worker and agent.

Only the phone is simulated; in `make test-adbd` its daemon is Google's. It is not marked as a journey, which runs
alone, because it measures nothing on the host and has a phone of its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from device_providers import DeviceProvider, google_adb_server, kinds
from paceline.testing.adbd import Peer
from paceline.testing.adbd.scenarios import Conditions
from paceline_contract.testing.waiting import wait_until

from .stack import Stack, commit_all

SUITE = Path(__file__).parent / "device"
LAUNCHES, ROUNDS, WARMUP = 3, 12, 5
THROTTLING = Conditions(skin_c=47.0, battery_c=31.0)


@pytest.fixture
def limits() -> dict[str, str]:
    """Drift is judged as by default: this calibration takes as long as a test says."""
    return {"PACELINE_PRESSURE_LIMIT_PERCENT": "100"}


@pytest.fixture(
    params=kinds(("simulated", "direct"), ("adbd", "direct"), ("adbd", "server"))
)
def provider(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[DeviceProvider]:
    daemon, route = request.param
    with ExitStack() as held:
        server = None
        if route == "server":
            (tmp_path / "adb-server").mkdir()
            server = held.enter_context(google_adb_server(tmp_path / "adb-server"))
        yield DeviceProvider(daemon, server)


@pytest.fixture
def peer(tmp_path: Path, provider: DeviceProvider) -> Iterator[Peer]:
    with provider.running(tmp_path / "phone", f"SIM-{tmp_path.name}") as running:
        yield running


class Bench:
    """The stack with one device, and what happens to both."""

    def __init__(self, stack: Stack, peer: Peer) -> None:
        self.stack, self.peer = stack, peer
        self._launch = Path()

    def device(self) -> Any:
        (found,) = self.stack.get("/targets", kind="device")["items"]
        return found

    def wait_for_state(self, health: str) -> Any:
        """The device, once its health is so."""

        def probe() -> Any:
            items = self.stack.get("/targets", kind="device")["items"]
            return next(
                (one for one in items if one["health"]["state"] == health), None
            )

        try:
            return wait_until(f"a device in health {health}", probe)
        except AssertionError as error:
            raise AssertionError(
                f"{error}: {self.device()}\n{self.stack.tails()}"
            ) from None

    def measured(self, *benchmarks: str) -> str:
        """A job on the device that was asked for."""
        options = {"launches": LAUNCHES, "rounds": ROUNDS, "suppress": ["simulated"]}
        targets = [self.device()["id"]]
        return self.stack.measure(
            "waiting", targets=targets, benchmarks=list(benchmarks), **options
        )

    def measured_until_it_waits(self, *more: str) -> str:
        """A job on the device, half way through its second launch."""
        before = set(self._launches())  # of a run not yet cleaned away
        job_id = self.measured("step", *more)
        self.stack.job_in(job_id, "measuring")
        self._launch = wait_until("a launch that waits", lambda: self._waiting(before))
        return job_id

    def _waiting(self, before: set[Path]) -> Path | None:
        """Directory of the launch that has printed the round in which it waits."""
        for launch in set(self._launches()) - before:
            with suppress(FileNotFoundError):  # it is being removed
                if '"launch":1,"round":5' in (launch / "out").read_text(
                    errors="replace"
                ):
                    return launch
        return None

    def _launches(self) -> Iterator[Path]:
        """Directories of launches with output, while the agent creates and removes directories.

        `os.walk` skips a directory that vanishes under it, at which `Path.rglob` raises.
        """
        for directory, _, files in os.walk(self._workdir()):
            if "out" in files:
                yield Path(directory)

    def release_workload(self) -> None:
        (self._launch.parent / "tmp" / "go").touch()

    def set_calibration_ns(self, calibration_ns: int) -> None:
        """Set the time of the calibration kernel from now on; it begins with 1 ms."""
        (self._launch.parent / "tmp" / "pace").write_text(str(calibration_ns))

    def _workdir(self) -> Path:
        inside = self.peer.device.mode == "namespace"
        return Path(
            f"{self.peer.files}{self.peer.workdir}" if inside else self.peer.workdir
        )

    def end_while_unreachable(self) -> None:
        """The cable is pulled, the launch goes on to its end without it, and the cable is back."""
        self.peer.leave()
        self.release_workload()
        wait_until("the launch to end without its cable", (self._launch / "end").exists)
        self.peer.come_back()

    def request_action(self, what: str, **body: Any) -> Any:
        return self.stack.post(f"/targets/{self.device()['id']}/{what}", body or None)


@pytest.fixture
def bench(stack: Stack, peer: Peer, provider: DeviceProvider, tmp_path: Path) -> Bench:
    repository = tmp_path / "theirs"
    shutil.copytree(SUITE, repository)
    commit_all(repository)
    stack.agent(
        {"theirs": (repository, "suite.toml")},
        name="host",
        devices=provider.configured(peer),
    )
    return Bench(stack, peer)


@pytest.mark.timeout(900)
@pytest.mark.shapes("scaled")
def test_a_device_survives_a_cable_is_voided_by_heat_and_quarantined_by_its_own_failures(
    bench: Bench, provider: DeviceProvider
) -> None:
    """One journey: what is true of a phone in a rack over a bad day."""
    stack, peer = bench.stack, bench.peer
    device = bench.wait_for_state("good")
    assert (device["serial"], device["simulated"]) == (
        peer.serial,
        provider.server is None,
    )
    wait_until("a device online", lambda: bench.device()["state"] == "online")

    through_a_cut = bench.measured_until_it_waits()
    bench.end_while_unreachable()
    job = stack.job_in(through_a_cut, "done", "failed")
    assert (job["state"], job["samples"]) == (
        "done",
        LAUNCHES * (WARMUP + ROUNDS) * 2,
    ), job
    assert job["verdict"] == "pass", job["reason"]

    through_heat = bench.measured_until_it_waits()
    peer.fixed = THROTTLING
    bench.release_workload()
    job = stack.job_in(through_heat, "done", "failed")
    assert (job["state"], job["verdict"]) == ("done", "inconclusive")
    assert "thermal status" in job["reason"]
    bench.wait_for_state("recovering")
    peer.fixed = Conditions()
    bench.wait_for_state("good")

    for number in range(1, 4):
        failing = bench.measured_until_it_waits()
        peer.reboot()
        job = stack.job_in(failing, "failed")
        assert job["cause"] == "device_rebooted", job["cause_detail"]
        wait_until(
            "the failure to count",
            lambda number=number: bench.device()["health"]["failures"] >= number,  # type: ignore[misc]
        )
        if bench.device()["health"]["state"] != "quarantined":
            bench.request_action("recheck")
            bench.wait_for_state("good")
    device = bench.wait_for_state("quarantined")
    assert device["health"]["failures"] == 3
    assert not device["takes_jobs"]["ok"]
    wait_until("the alert about the quarantine", lambda: stack.get("/alerts")["items"])
    assert [alert["kind"] for alert in stack.alerts()] == ["quarantine"], (
        "infrastructure never counts against a benchmark"
    )

    bench.request_action("release", reason="the cable was replaced")
    bench.wait_for_state("good")
    released = [
        event
        for event in stack.get(f"/targets/{device['id']}/events", axis="health")[
            "items"
        ]
        if event["from_state"]
        == "quarantined"
        != event["to_state"]  # a check in between is kept, too
    ]
    assert [one["evidence"].get("reason") for one in released] == [
        "the cable was replaced"
    ], released
    assert all(one["actor"] for one in released)
    again = bench.measured_until_it_waits()
    bench.release_workload()
    assert stack.job_in(again, "done", "failed")["state"] == "done"


@pytest.mark.timeout(600)
@pytest.mark.shapes("scaled")
@pytest.mark.parametrize(
    "provider", kinds(("simulated", "direct"), ("adbd", "direct")), indirect=True
)
def test_a_device_that_drifted_by_more_than_5_percent_is_judged_harder_and_one_that_can_run_no_arm_passes_nothing(
    bench: Bench,
) -> None:
    """Neither is anybody's fault, and both are said. Both arms drifted alike, so that their ratio still counts."""
    stack = bench.stack
    bench.wait_for_state("good")
    steady = bench.measured_until_it_waits()
    bench.set_calibration_ns(1_040_000)
    bench.release_workload()
    job = stack.job_in(steady, "done", "failed")
    assert (job["state"], job["verdict"]) == ("done", "pass"), job
    assert stack.get(f"/jobs/{steady}/report")["blockers"] == []

    drifting = bench.measured_until_it_waits()
    bench.set_calibration_ns(1_060_000)
    bench.release_workload()
    job = stack.job_in(drifting, "done", "failed")
    assert (job["state"], job["verdict"]) == ("done", "pass"), job
    report = stack.get(f"/jobs/{drifting}/report")
    drift = (
        "disturbed: the calibration kernel took 1 ms before and 1.06 ms after:"
        " a drift of 6.0 %, limit 5 %"
    )
    assert (report["blockers"], report["disturbances"]) == ([], [drift])
    (row,) = report["comparisons"]
    assert (row["verdict"], row["reason"].endswith(", on a drifting device")) == (
        "pass",
        True,
    ), row
    assert 0.0 < row["extra_percent"] < 1.0

    why = "no arm of nothing is available here: it needs a JVM"
    alone = stack.job_in(bench.measured("nothing"), "done", "failed")
    assert (alone["state"], alone["verdict"], alone["samples"]) == (
        "done",
        "inconclusive",
        0,
    ), alone
    assert alone["reason"] == f"nothing was measured: {why} (suppressed: simulated)"
    assert stack.get(f"/runs/{alone['run_id']}")["verdict"] == "inconclusive"
    report = stack.get(f"/jobs/{alone['id']}/report")
    assert [(one["arm"], one["reason"]) for one in report["unavailable"]] == [
        ("short", "it needs a JVM"),
        ("long", "it needs a JVM"),
    ]

    beside = bench.measured_until_it_waits("nothing")
    bench.release_workload()
    job = stack.job_in(beside, "done", "failed")
    assert (job["state"], job["verdict"]) == ("done", "pass"), job
    assert job["reason"].endswith(f"; {why} (suppressed: simulated)")
    assert bench.device()["health"]["state"] == "good"
    assert stack.alerts() == []
