"""Tests what `make test` reports about time: the owner of each second, and the table at the end.

CPU time is compared, never wall time, so that other work on the machine has no influence.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BURNED_S = 0.4
COUNTED_S = 0.38
"""The least that the system counts of it, in ticks of 10 ms."""
SAMPLE = f"""
import subprocess, sys, time
import pytest

def burn():
    end = time.process_time() + {BURNED_S}
    while time.process_time() < end:
        pass

@pytest.fixture(scope="session")
def shared():
    burn()
    yield
    burn()

@pytest.fixture
def own():
    yield
    burn()

def test_that_does_little(shared):
    pass

def test_with_a_fixture_of_its_own(own):
    pass

def test_that_starts_a_process():
    code = "import time\\nwhile time.process_time() < {BURNED_S}: pass"
    subprocess.run([sys.executable, "-c", code], check=True)

def test_that_comes_last(shared):
    pass
"""


def timings(folder: Path, *options: str) -> dict[str, Any]:
    """The rows of every process by name: seconds of CPU."""
    (folder / "test_sample.py").write_text(SAMPLE)
    (folder / "pytest.ini").touch()
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "paceline_server.testing.timings",
        "--timings",
        "out",
        *options,
        "test_sample.py",
    ]
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [
        row
        for path in (folder / "out").iterdir()
        for row in json.loads(path.read_text())
    ]
    return {row["name"].split("::")[-1]: row["cpu_s"] for row in rows}


def test_each_second_has_one_owner_and_a_shared_fixture_is_none_of_its_users(
    tmp_path: Path,
) -> None:
    """Otherwise the first user would pay for the start of a fixture and the last one for its end."""
    cpu = timings(tmp_path)
    assert cpu["shared"] >= 2 * COUNTED_S
    assert cpu["test_with_a_fixture_of_its_own"] >= COUNTED_S
    assert cpu["test_that_starts_a_process"] >= COUNTED_S
    assert cpu["test_that_does_little"] < COUNTED_S
    assert cpu["test_that_comes_last"] < COUNTED_S
    assert cpu["start and collection"] > 0


def test_workers_of_xdist_write_their_own_files(tmp_path: Path) -> None:
    cpu = timings(tmp_path, "-n", "2")
    assert {path.name for path in (tmp_path / "out").iterdir()} <= {
        "gw0.json",
        "gw1.json",
    }
    assert len([name for name in cpu if name.startswith("test_")]) == 4


@pytest.mark.parametrize("number", [1, 3])
def test_the_table_has_the_slowest_of_every_language(
    tmp_path: Path, number: int
) -> None:
    rows = [
        {"name": "a.py::quick", "kind": "test", "wall_s": 9.0, "cpu_s": 0.1},
        {"name": "a.py::slow", "kind": "test", "wall_s": 30.0, "cpu_s": 20.0},
        {"name": "server", "kind": "shared fixture", "wall_s": 1.0, "cpu_s": 2.0},
    ]
    for worker in ("gw0", "gw1"):
        (tmp_path / "timings-all").mkdir(exist_ok=True)
        (tmp_path / "timings-all" / f"{worker}.json").write_text(
            json.dumps(rows if worker == "gw0" else rows[2:])
        )
    tests = [{"fullName": "a page", "duration": 7000}]
    (tmp_path / "vitest.json").write_text(
        json.dumps({"testResults": [{"assertionResults": tests}]})
    )
    log = [
        "     Running tests/crash.rs (target/debug/deps/crash-1)",
        "test result: ok. finished in 15.50s",
    ]
    (tmp_path / "cargo-test.log").write_text("\n".join(log))
    argv = [
        sys.executable,
        str(ROOT / "scripts" / "slowest.py"),
        str(tmp_path),
        str(number),
    ]
    shown = subprocess.run(
        argv, capture_output=True, text=True, timeout=120, check=True
    ).stdout.splitlines()
    assert [line.split() for line in shown[2 : 2 + number]] == [
        ["20.0", "30.0", "a.py::slow"],
        ["-", "15.5", "cargo:", "tests/crash.rs"],
        ["-", "7.0", "vitest:", "a", "page"],
    ][:number]
    assert shown[-1].split() == ["4.0", "2.0", "server"], "both workers' together"


def test_the_table_is_empty_where_nothing_ran(tmp_path: Path) -> None:
    argv = [sys.executable, str(ROOT / "scripts" / "slowest.py"), str(tmp_path)]
    assert (
        subprocess.run(
            argv, capture_output=True, text=True, timeout=120, check=True
        ).stdout
        == ""
    )
