"""Tests that the check of licences refuses what it should; `make test` runs it on the real dependencies."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "licences.py"
POLICY = """
allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
[exceptions.npm]
"icons*" = { licence = "MPL-2.0", reason = "tests only" }
[stated.python]
prose = "MIT"
"""


@pytest.fixture(scope="module")
def licences() -> ModuleType:
    spec = importlib.util.spec_from_file_location("licences", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["licences"] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


def complaint(licences: Any, manager: str, name: str, licence: str) -> str | None:
    answer: str | None = licences.Policy.read(POLICY).complaint(
        licences.Package(manager, name, "1", licence)
    )
    return answer


@pytest.mark.parametrize(
    ("manager", "name", "licence"),
    [
        ("cargo", "a", "MIT"),
        ("cargo", "a", "GPL-3.0-only OR MIT"),
        ("cargo", "a", "MIT AND (Apache-2.0 OR GPL-2.0-only)"),
        ("cargo", "a", "Apache-2.0 WITH LLVM-exception"),
        ("npm", "icons-linux", "MPL-2.0"),
        ("python", "prose", ""),
    ],
)
def test_permitted_licences_pass(
    licences: Any, manager: str, name: str, licence: str
) -> None:
    assert complaint(licences, manager, name, licence) is None


@pytest.mark.parametrize(
    ("manager", "name", "licence", "reason"),
    [
        ("cargo", "a", "GPL-3.0-only", "not allowed"),
        ("cargo", "a", "MIT AND GPL-3.0-only", "not allowed"),
        ("cargo", "icons", "MPL-2.0", "not allowed"),
        ("python", "b", "", "states no licence"),
        ("python", "b", "do as you like", "no SPDX expression"),
    ],
)
def test_other_licences_are_refused(
    licences: Any, manager: str, name: str, licence: str, reason: str
) -> None:
    assert reason in (complaint(licences, manager, name, licence) or "")


def test_stale_exception_is_named(licences: Any) -> None:
    packages = {licences.Package("python", "prose", "1", "")}
    assert licences.unused_entries(licences.Policy.read(POLICY), packages) == [
        "licences.toml: npm icons* is no dependency any more"
    ]


def test_exception_without_a_reason_is_refused(licences: Any) -> None:
    with pytest.raises(ValueError, match="gives no reason"):
        licences.Policy.read(POLICY.replace("tests only", " "))
