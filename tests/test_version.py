"""Tests that every place that cannot read the file VERSION has the same version."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import paceline
import paceline_server
import pytest
from paceline_contract.testing.waiting import WITHIN_S

ROOT = Path(__file__).resolve().parents[1]
VERSION = (ROOT / "VERSION").read_text(encoding="utf-8").strip()


def test_both_packages_are_installed_in_this_version() -> None:
    assert (paceline.__version__, paceline_server.__version__) == (VERSION, VERSION)


@pytest.mark.parametrize("command", ["paceline", "paceline-server"])
def test_command_prints_the_version(command: str) -> None:
    executable = Path(sys.executable).with_name(command)
    done = subprocess.run(
        [executable, "--version"],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=True,
    )
    assert done.stdout == f"{command} {VERSION}\n"


def test_crates_and_jars_carry_the_same_version() -> None:
    crates = tomllib.loads((ROOT / "native" / "Cargo.toml").read_text(encoding="utf-8"))
    assert crates["workspace"]["package"]["version"] == VERSION
    pom = (ROOT / "native" / "hashing" / "jvm" / "pom.xml").read_text(encoding="utf-8")
    own = re.search(
        r"<artifactId>hashing</artifactId>\s*<version>([^<]+)</version>", pom
    )
    assert own
    assert own[1] == VERSION


def test_no_other_package_names_a_version() -> None:
    for member in ("contract", "backend", "runners"):
        project = tomllib.loads(
            (ROOT / member / "pyproject.toml").read_text(encoding="utf-8")
        )["project"]
        assert "version" in project["dynamic"]
    assert "version" not in json.loads(
        (ROOT / "frontend" / "package.json").read_text(encoding="utf-8")
    )


def test_server_built_from_a_source_archive_keeps_the_version(tmp_path: Path) -> None:
    """VERSION is outside the package, so its source archive must carry the version itself."""
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(
        [*build, "-t", "sdist"],
        cwd=ROOT / "backend",
        check=True,
        capture_output=True,
        timeout=WITHIN_S,
    )
    (archive,) = tmp_path.glob("*.tar.gz")
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    subprocess.run(
        [*build, "-t", "wheel"],
        cwd=source,
        check=True,
        capture_output=True,
        timeout=WITHIN_S,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        (metadata,) = [
            name for name in packed.namelist() if name.endswith(".dist-info/METADATA")
        ]
        assert f"\nVersion: {VERSION}\n" in packed.read(metadata).decode()
