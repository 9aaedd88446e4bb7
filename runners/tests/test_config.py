"""Tests of `agent.toml`: errors name file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline import config
from paceline.errors import UserError

GOOD = """\
[agent]
name = "bench-1"

[repositories.mine]
path = "src"
manifests = ["a/suite.toml"]

[repositories.theirs]
url = "https://example.org/x.git"
manifests = ["suite.toml"]
"""


def test_relative_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text(GOOD)
    loaded = config.load(tmp_path / "agent.toml")
    assert loaded.repositories["mine"].location == str(tmp_path / "src")
    assert loaded.repositories["theirs"].location == "https://example.org/x.git"


def test_without_a_file_nothing_is_allowed() -> None:
    assert config.load(None).repositories == {}


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('name = "bench-1"', "name = 3", 2),
        ('name = "bench-1"', 'nmae = "x"', 2),
        ('path = "src"', 'path = "src"\nurl = "https://x"', 4),
        ('path = "src"', "", 4),
        ('manifests = ["a/suite.toml"]', "manifests = []", 4),
        ("[repositories.mine]", '[repositories."../up"]', 4),
    ],
)
def test_a_mistake_names_file_and_line(
    tmp_path: Path, old: str, new: str, line: int
) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        config.load(path)
    assert f"agent.toml:{line}:" in caught.value.text


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"agent\.toml"):
        config.load(tmp_path / "agent.toml")


def test_devices_are_driven_unless_it_is_said_otherwise(tmp_path: Path) -> None:
    assert config.load(None).devices.enabled
    path = tmp_path / "agent.toml"
    path.write_text(
        '[devices]\nenabled = false\nself_test = "native/{abi}/self-test"\n'
    )
    loaded = config.load(path).devices
    assert not loaded.enabled
    assert loaded.self_test == str(tmp_path / "native/{abi}/self-test")


@pytest.mark.parametrize(
    "line",
    [
        'routes = ["192.168.1.20"]',
        'routes = ["phone:0"]',
        'simulated = ["127.0.0.1:70000"]',
        'adb_server = "::1"',
        'routes = ["a b:5555"]',
        "adress = 3",
    ],
)
def test_an_address_without_a_port_is_named_with_its_line(
    tmp_path: Path, line: str
) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(f"[devices]\n{line}\n")
    with pytest.raises(UserError) as caught:
        config.load(path)
    assert "agent.toml:2:" in caught.value.text


@pytest.mark.parametrize(
    "address", ["192.168.1.20:5555", "phone.lan:5555", "[fe80::1%eth0]:5555"]
)
def test_an_address_of_a_device_is_host_and_port(tmp_path: Path, address: str) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(f'[devices]\nroutes = ["{address}"]\n')
    assert config.load(path).devices.routes == [address]
