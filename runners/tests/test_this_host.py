"""Tests of `paceline devices` and `paceline doctor`: every state of a device with its reason and advice."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paceline import server_remarks
from paceline.adb.keys import AgentKey
from paceline.cli import app
from paceline.devices import conditions, survey
from paceline.devices.attached_device import AttachedDevice
from paceline.stop import Stop
from paceline.testing.adbd import Peer
from paceline_contract.testing.waiting import WITHIN_S
from typer.testing import CliRunner

NOWHERE = "127.0.0.1:1"
HOT = "Current Battery Service state:\n  AC powered: true\n  level: 80\n  scale: 100\n  temperature: 391\n"


SERIAL = f"SIM{uuid.uuid4().hex[:8]}"
"""Unique per process, because a device is claimed host-wide and other tests run in parallel."""


@pytest.fixture(autouse=True)
def _patient_second_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside load both looks of the product, of 3 and 10 s, may end in the middle of a handshake. The second one,
    which follows only then, ends when the device has answered; a prompt takes it the whole time."""
    monkeypatch.setattr(survey, "CONNECT_TIMEOUT_S", WITHIN_S / 2)


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    with Peer(tmp_path / "peer", serial=SERIAL, abi="x86_64") as running:
        yield running


def paceline(
    tmp_path: Path, *arguments: str, routes: str = "", simulated: str = ""
) -> str:
    """Runs the command and returns its standard output."""
    listed = f"routes = [{_quoted(routes)}]\nsimulated = [{_quoted(simulated)}]\n"
    (tmp_path / "agent.toml").write_text(
        f'[devices]\nadb_server = "{NOWHERE}"\n{listed}'
    )
    options = [
        "--data",
        str(tmp_path / "data"),
        "--config",
        str(tmp_path / "agent.toml"),
    ]
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [*arguments, *options]).stdout


def _quoted(address: str) -> str:
    return f'"{address}"' if address else ""


def device_of(output: str) -> dict[str, Any]:
    (device,) = [load for load in json.loads(output) if load["kind"] == "device"]
    return dict(device)


def test_devices_lists_the_host_and_what_is_attached(
    tmp_path: Path, peer: Peer
) -> None:
    output = paceline(tmp_path, "devices", "--json", simulated=peer.address)
    device = device_of(output)
    assert (device["serial"], device["state"], device["simulated"]) == (
        SERIAL,
        "online",
        True,
    )
    assert device["route"] == peer.address
    assert "x86_64, API 34" in device["what"]
    shown = paceline(tmp_path, "devices", simulated=peer.address)
    assert "device, simulated" in shown
    assert "host-" in shown


def test_doctor_says_what_keeps_a_device_from_measuring(
    tmp_path: Path, peer: Peer
) -> None:
    peer.texts[conditions.BATTERY] = HOT
    output = paceline(tmp_path, "doctor", simulated=peer.address)
    assert "Its battery is at 39.1 °C" in output
    assert "Let it cool." in output
    assert "Simulated. online" in output
    facts = json.loads(paceline(tmp_path, "doctor", "--json", simulated=peer.address))
    assert [finding["code"] for finding in facts["devices"][0]["findings"]] == [
        "hot",
        "simulated",
    ]
    assert len(facts["environment"]["fingerprint"]) == 64


@pytest.mark.parametrize("command", ["doctor", "devices"])
def test_two_phones_with_one_serial_number_are_said(
    tmp_path: Path, peer: Peer, command: str
) -> None:
    with Peer(tmp_path / "other", serial=SERIAL, abi="x86_64") as other:
        output = paceline(
            tmp_path, command, routes=peer.address, simulated=other.address
        )
    assert f"Another device has its serial number, {SERIAL}: at 127.0.0.1:" in output
    if command == "doctor":
        assert "Plug in one of them at a time" in output


def test_doctor_says_what_the_server_said_last_of_this_agent(tmp_path: Path) -> None:
    """Without the server: a twin of a cloned machine is looked at by hand, and its agent only logs."""
    (tmp_path / "data").mkdir()
    said = "host:h is not taken. It belongs to the agent 'lab-1'."
    server_remarks.keep(tmp_path / "data", [said, "Another agent has this name."])
    output = paceline(tmp_path, "doctor")
    assert said in output
    assert "Another agent has this name." in output
    server_remarks.keep(tmp_path / "data", [])
    assert "The server said last" not in paceline(tmp_path, "doctor")
    (tmp_path / "data" / "server-remarks.json").write_text("{")
    assert "The server said last" not in paceline(tmp_path, "doctor")


def test_texts_that_are_not_understood_are_said_by_devices_and_by_doctor(
    tmp_path: Path, peer: Peer
) -> None:
    peer.texts[conditions.BATTERY] = HOT.replace("391", "mild")
    said = "dumpsys battery says 'temperature: mild'."
    for command in ("doctor", "devices"):
        output = paceline(tmp_path, command, simulated=peer.address)
        assert said in output.replace("\n", " ")
        assert "its battery's temperature" in output
        assert "unknown is never taken for good" in output


def test_a_phone_that_does_not_trust_us_tells_to_unlock_it_and_accept_our_key(
    tmp_path: Path,
) -> None:
    with Peer(tmp_path / "peer", serial=SERIAL, trust=set()) as peer:
        output = paceline(tmp_path, "doctor", routes=peer.address)
    key = AgentKey.load_or_create(tmp_path / "data" / "adb").fingerprint
    assert "unauthorized" in output
    assert "nlock" in output
    assert "accept" in output
    assert key in output


def test_wireless_debugging_tells_to_pair_through_adb(
    tmp_path: Path, peer: Peer
) -> None:
    peer.faults.stls = True
    output = paceline(tmp_path, "doctor", routes=peer.address)
    assert "unauthorized" in output
    assert "adb pair" in output


def test_an_address_where_nobody_listens_is_listed_with_its_reason(
    tmp_path: Path,
) -> None:
    device = device_of(paceline(tmp_path, "devices", "--json", routes=NOWHERE))
    assert (device["serial"], device["state"], device["route"]) == (
        None,
        "absent",
        NOWHERE,
    )
    assert device["advice"]


def test_log_messages_are_not_part_of_the_json(tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text(
        f'[devices]\nadb_server = "{NOWHERE}"\nroutes = ["{NOWHERE}"]\n'
    )
    options = [
        "--data",
        str(tmp_path / "data"),
        "--config",
        str(tmp_path / "agent.toml"),
    ]
    command = [sys.executable, "-m", "paceline", "devices", "--json", *options]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=WITHIN_S, check=True
    )
    assert f"no device yet at {NOWHERE}" in done.stderr
    assert "Connection refused. Check that the device is on" in done.stderr
    assert [load["kind"] for load in json.loads(done.stdout)] == ["host", "device"]


def test_a_busy_device_is_not_disturbed(tmp_path: Path, peer: Peer) -> None:
    user = AttachedDevice(
        SERIAL, tmp_path / "theirs", lambda _: pytest.fail("it must not connect"), []
    )
    with user.claim(Stop()):
        asked = len(peer.calls)
        device = device_of(
            paceline(tmp_path, "devices", "--json", simulated=peer.address)
        )
    assert device["state"] == "in use"
    assert {call[0] for call in peer.calls[asked:]} <= {
        "getprop"
    }  # only to identify it


def test_discovery_can_be_switched_off(tmp_path: Path, peer: Peer) -> None:
    (tmp_path / "off.toml").write_text(
        f'[devices]\nenabled = false\nsimulated = ["{peer.address}"]\n'
    )
    options = ["--data", str(tmp_path), "--config", str(tmp_path / "off.toml")]
    report = json.loads(CliRunner().invoke(app, ["devices", "--json", *options]).stdout)
    assert [item["kind"] for item in report] == ["host"]
    assert not peer.calls
