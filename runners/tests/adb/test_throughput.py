"""Large files over a real network's packets: whole, and not slower than a bounded multiple of a plain copy.

The figures themselves (MB/s) are the benchmark's, taken by hand; here its own run is held to ratios.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "adb.py"
MOST_TIMES_A_PLAIN_COPY = 150
"""Measured: 6 to 15. A wait per message (Nagle with delayed acknowledgements) or per packet is far beyond."""


def run(*options: str) -> dict[str, dict[str, float]]:
    """The benchmark compares every byte that came back and fails when one differs."""
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARK.parents[1])}
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--pushes", "2", "--json", *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


def test_eight_megabytes_come_back_equal_at_a_bounded_multiple_of_a_plain_copys_time() -> None:
    found = run()
    assert max(found["push"]["ratio"], found["pull"]["ratio"]) < MOST_TIMES_A_PLAIN_COPY


def test_eight_megabytes_come_back_equal_through_packets_of_1500_bytes() -> None:
    if not lends_networks():
        pytest.skip("this kernel lends no Linux network namespaces to its users")
    found = run("--mtu", "1500")
    assert max(found["push"]["ratio"], found["pull"]["ratio"]) < MOST_TIMES_A_PLAIN_COPY


def lends_networks() -> bool:
    command = ["unshare", "--user", "--map-root-user", "--net", "true"]
    return bool(shutil.which("unshare")) and subprocess.run(command, check=False, stderr=-3).returncode == 0
