"""Tests of the parsers with texts of real devices, if the folder with them is beside the clone."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline.adb.props import properties
from paceline.devices.parsers.battery import battery
from paceline.devices.parsers.frequencies import policies
from paceline.devices.parsers.processors import parse_cores
from paceline.devices.parsers.properties import (
    abis,
    api_level,
    build_factors,
    is_emulator,
)
from paceline.devices.parsers.thermal import thermal
from paceline.devices.topology import choose_cluster, clusters

SAMPLES = Path(__file__).resolve().parents[5] / "shared" / "data" / "device-samples"

pytestmark = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="no texts of real Android devices on this disk"
)


def text(name: str) -> str:
    return (SAMPLES / name).read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("device", "api", "soc", "first", "count"),
    [
        ("galaxy-s9-global", 26, "exynos5", "arm64-v8a", 590),
        ("meizu-pro-7-plus", 24, "mt6799", "arm64-v8a", 673),
        ("nexus5x", 26, "msm8992", "arm64-v8a", 317),
        ("pixel-8", 34, "zuma", "arm64-v8a", 208),
    ],
)
def test_properties_of_real_devices(
    device: str, api: int, soc: str, first: str, count: int
) -> None:
    props = properties(text(f"devices/{device}/getprop.txt"))
    assert len(props) == count
    assert (api_level(props), build_factors(props)["soc"], abis(props)[0]) == (
        api,
        soc,
        first,
    )
    assert not is_emulator(props)


@pytest.mark.parametrize(
    ("device", "expected", "narrow", "mask"),
    [
        ("galaxy-s9-global", [(4, 1794000), (4, 2704000)], True, "f0"),
        ("meizu-pro-7-plus", [(4, 1898000), (4, 2197000), (2, 2600000)], False, "300"),
        ("nexus5x", [(4, 1440000), (2, None)], True, "f"),
        ("pixel-8", [(4, 1704000), (4, 2367000), (1, 2914000)], False, "f0"),
    ],
)
def test_clusters_of_real_devices(
    device: str, expected: list[tuple[int, int | None]], narrow: bool, mask: str
) -> None:
    root = SAMPLES / "devices" / device
    files = {
        str(path): path.read_text()
        for path in (root / "sys").rglob("*")
        if path.is_file()
    }
    info = parse_cores(text(f"devices/{device}/cpuinfo"))
    result = clusters(files, info)
    assert [(len(item.cpus), item.max_khz) for item in result] == expected
    best = choose_cluster(result)
    assert best is not None
    assert best.mask == mask
    assert all(policy.max_khz for policy in policies(files))


@pytest.mark.parametrize(
    ("name", "status", "sensors", "hottest"),
    [
        ("skia-514", 0, 13, 44.1),
        ("skia-583", 0, 8, 27.0),
        ("xiaomi-13t-pro-android16-trimmed", 0, 2, 57.9),
    ],
)
def test_thermal_dumps_of_real_devices(
    name: str, status: int, sensors: int, hottest: float
) -> None:
    result = thermal(text(f"thermalservice/{name}.txt"))
    assert result.status == status
    assert len(result.celsius) == sensors
    assert max(result.celsius.values()) == pytest.approx(hottest, abs=0.001)


@pytest.mark.parametrize(
    ("name", "percent", "celsius", "powered"),
    [
        ("aosp-plain-2019", 100.0, 27.4, True),
        ("samsung-eventlog-tail", 75.0, 35.7, None),
        ("skia-1201", 94.0, 28.1, True),
        ("skia-409", 9.0, None, True),
    ],
)
def test_battery_dumps_of_real_devices(
    name: str, percent: float, celsius: float | None, powered: bool | None
) -> None:
    result = battery(text(f"battery/{name}.txt"))
    assert (result.percent, result.celsius, result.powered) == (
        percent,
        celsius,
        powered,
    )
