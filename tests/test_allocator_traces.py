"""Tests that the allocator's made-up traces are what their script writes: a figure of one must stay comparable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from paceline_contract.testing.waiting import WITHIN_S

TRACES = Path(__file__).resolve().parents[1] / "native" / "allocator" / "traces"


def test_the_patterns_are_written_again_to_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, str(TRACES / "patterns.py"), str(tmp_path)]
    subprocess.run(command, check=True, timeout=WITHIN_S)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(written) == {"large.trace", "large_written.trace", "pairs.trace"}
    kept = {name: (TRACES / "captured" / name).read_bytes() for name in written}
    assert written == kept
