"""Tests the settings of the garbage collector in a server process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from paceline_server.runtime import memory

ASKED = """
import gc
from paceline_server.main import create
create()
loaded = gc.get_freeze_count()
print(gc.get_threshold()[0], loaded > 100_000, gc.isenabled())
"""


def test_loaded_modules_are_excluded_from_garbage_collection(tmp_path: Path) -> None:
    """A separate process, because frozen objects stay frozen."""
    environment = {**os.environ, "PACELINE_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASKED],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(memory.YOUNG), "True", "True"]
