"""Tests of the scenarios over a scripted clock, and of the simulated device as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from paceline.testing.adbd import scenarios
from paceline.testing.adbd.scenarios import AWAY_S, PERIOD_S, SCENARIOS, Conditions, at
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S

from .client import Client, Key
from .conftest import StartPeer, connected

SECONDS = range(int(PERIOD_S))


def test_a_healthy_device_never_changes() -> None:
    assert {at("healthy", second) for second in SECONDS} == {Conditions()}
    assert Conditions().thermal_status == 0


def test_an_overheating_device_climbs_through_every_status_and_cools_again() -> None:
    statuses = [at("overheats", second).thermal_status for second in SECONDS]
    changes = [
        now
        for before, now in zip([-1, *statuses], statuses, strict=False)
        if now != before
    ]
    assert changes == [0, 1, 2, 3, 4, 3, 2, 1, 0]
    assert max(at("overheats", second).battery_c for second in SECONDS) > 35.0
    assert at("overheats", PERIOD_S - 1).battery_c < 32.0
    assert {at("overheats", second).present for second in SECONDS} == {True}


def test_a_dropping_device_goes_away_once_and_returns() -> None:
    away = [second for second in SECONDS if not at("drops", second).present]
    assert away == list(range(int(AWAY_S[0]), int(AWAY_S[1])))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_repeats_itself(scenario: scenarios.Scenario) -> None:
    assert [at(scenario, second) for second in SECONDS] == [
        at(scenario, second + PERIOD_S) for second in SECONDS
    ]


def test_what_a_client_reads_follows_the_clock(start: StartPeer) -> None:
    now = [1000.0]
    peer = start(scenario="overheats", clock=lambda: now[0])
    policy = peer.files / "sys/devices/system/cpu/cpufreq/policy6"
    with connected(peer) as client:
        assert b"Thermal Status: 0\n" in client.plain("dumpsys thermalservice")
        now[0] += 110
        peer.step()
        assert b"Thermal Status: 4\n" in client.plain("dumpsys thermalservice")
        assert (policy / "scaling_max_freq").read_text() == "1426000\n"
        now[0] += 50
        peer.step()
    in_state = dict(
        line.split()
        for line in (policy / "stats/time_in_state").read_text().splitlines()
    )
    assert (in_state["2802000"], in_state["1426000"]) == ("11000", "5000"), (
        "in 10 ms, by the clock of then"
    )


def test_a_dropping_device_refuses_connections_while_it_is_away(
    start: StartPeer,
) -> None:
    now = [0.0]
    peer = start(scenario="drops", clock=lambda: now[0])
    with connected(peer) as client:
        now[0] = AWAY_S[0]
        peer.step()
        with pytest.raises(EOFError):
            client.receive()
    with pytest.raises(ConnectionRefusedError):
        Client(peer.address)
    now[0] = AWAY_S[1]
    peer.step()
    with connected(peer) as client:
        assert client.plain("echo back") == b"back\n"


# --- `python -m paceline.testing.adbd` ---

COMMAND = [
    sys.executable,
    "-m",
    "paceline.testing.adbd",
    "--serial",
    "SIM7",
    "--scenario",
    "overheats",
]


def test_as_a_process_it_says_where_it_listens_and_ends_with_its_input(
    tmp_path: Path,
) -> None:
    key = Key()
    command = [*COMMAND, "--trust", key.fingerprint]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with ChildProcess[bytes](
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        report = json.loads(process.stdout.readline())
        assert set(report) == {"address", "serial", "workdir", "mode", "boot_id"}
        assert report["serial"] == "SIM7"
        with Client(report["address"]) as client:
            client.send("CNXN", 0x01000001, 1 << 20, b"host::")
            client.expect("AUTH")
            client.send("AUTH", 3, 0, key.public)
            client.expect("CNXN")
        process.stdin.close()
        assert process.wait(WITHIN_S) == 0
    assert list(tmp_path.iterdir()) == [], "its folder is gone with it"


def test_as_a_process_it_ends_on_sigterm_and_keeps_a_named_folder(
    tmp_path: Path,
) -> None:
    command = [*COMMAND, "--trust", "any", "--root", str(tmp_path / "root")]
    with ChildProcess[bytes](
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(WITHIN_S) == 0
    assert (tmp_path / "root/data/local/tmp").is_dir()


def test_as_a_process_it_trusts_only_configured_keys() -> None:
    done = subprocess.run(
        COMMAND, capture_output=True, text=True, check=False, timeout=WITHIN_S
    )
    assert done.returncode == 2
    assert "--trust" in done.stderr
