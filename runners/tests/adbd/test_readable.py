"""Tests that the product can read the peer's output as it reads a phone's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey
from paceline.devices import device_facts
from paceline.devices.conditions import DeviceConditions, DeviceReading, read_clusters
from paceline.testing.adbd import Peer
from paceline.testing.adbd.scenarios import Conditions, at

from .conftest import StartPeer, needs_namespaces


@pytest.fixture
def connection(peer: Peer, tmp_path: Path) -> Iterator[DirectConnection]:
    connection = DirectConnection(peer.address, AgentKey.load_or_create(tmp_path))
    connection.connect()
    yield connection
    connection.close()
    assert peer.violations == []


def readings_of(connection: DirectConnection) -> tuple[dict[str, Any], DeviceReading]:
    """(values, everything)."""
    reading = DeviceConditions(connection.props()).read(connection)
    return dict(reading.values), reading


def test_a_healthy_device_leaves_no_condition_unknown(
    peer: Peer, connection: DirectConnection
) -> None:
    needs_namespaces(peer)
    values, reading = readings_of(connection)
    assert {name for name in values["unknown"] if not name.startswith("psi_")} == set()
    assert values["boot_id"] == peer.boot_id
    assert (
        values["thermal_status"],
        values["battery_c"],
        values["battery_percent"],
    ) == (0, 27.5, 82.0)
    assert values["cpu_frequency_cap_mhz"] == {
        "cpu0-3": 1803.0,
        "cpu4-5": 2253.0,
        "cpu6-7": 2802.0,
    }
    assert (values["cpus_online"], values["governor"]) == (8, "schedutil")
    assert len(values["top"]) == 4
    assert reading.configuration == [], "a fresh device is fit to be measured on"
    assert all(raw.status == 0 for raw in reading.raw)


def test_heat_is_read_as_heat_and_caps_the_clocks(
    peer: Peer, connection: DirectConnection
) -> None:
    needs_namespaces(peer)
    peer.fixed = at("overheats", 120.0)
    peer.step()
    values, _ = readings_of(connection)
    assert values["thermal_status"] == 4
    assert values["battery_c"] == 38.5
    assert values["temperature_c"]["VIRTUAL-SKIN"] == 47.0
    assert values["cpu_frequency_cap_mhz"]["cpu6-7"] == 1426.0


def test_a_low_battery_is_a_configuration_error(
    peer: Peer, connection: DirectConnection
) -> None:
    peer.fixed = Conditions(battery_percent=12, charging=False)
    values, _ = readings_of(connection)
    assert values["configuration"] == ["low_battery"]
    assert values["on_battery"] == 1


def test_an_arm64_device_names_its_cores(start: StartPeer, tmp_path: Path) -> None:
    peer = start(abi="arm64-v8a")
    needs_namespaces(peer)
    connection = DirectConnection(peer.address, AgentKey.load_or_create(tmp_path))
    connection.connect()
    assert [cluster.core for cluster in read_clusters(connection)] == [
        "Cortex-A55",
        "Cortex-A78",
        "Cortex-X1",
    ]
    factors = device_facts.read_facts(
        connection, peer.boot_id, device_facts.DeviceFacts()
    ).factors
    connection.close()
    assert (factors["architecture"], factors["api"], factors["cpu_threads"]) == (
        "arm64-v8a",
        34,
        8,
    )
    assert (factors["manufacturer"], factors["model"]) == ("Paceline", "Simulated 8")
