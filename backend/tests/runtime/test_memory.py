"""What a server process tells the garbage collector."""

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


def test_an_api_process_never_looks_again_at_what_it_loaded(tmp_path: Path) -> None:
    """In a process of its own: what is frozen stays frozen."""
    environment = {**os.environ, "PACELINE_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASKED],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(memory.YOUNG), "True", "True"]
