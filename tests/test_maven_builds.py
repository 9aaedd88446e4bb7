"""The jar of the hashing suite builds on a machine whose Maven repository is empty.

A first build also fetches its plugins in Maven's JVM and so compiles far more code than a later one: with a
warm repository the fault this test is for does not show.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

JVM = Path(__file__).resolve().parents[1] / "native" / "hashing" / "jvm"
DOWNLOAD_RETRIES = (
    "maven.wagon.http.retryHandler.count",
    "aether.connector.http.retryHandler.count",
)
"""Maven's options for how often it repeats a download that broke off."""
SPARE = 2
"""The reserved code cache must be this many times what a build uses, because JDKs compile different amounts."""


@pytest.mark.timeout(1800)
def test_first_build_with_an_empty_maven_repository_leaves_half_of_the_code_cache_free(
    tmp_path: Path,
) -> None:
    shutil.copytree(JVM, tmp_path / "jvm", ignore=shutil.ignore_patterns("target"))
    done = subprocess.run(
        [
            "mvn",
            "-B",
            "-q",
            "-Dstyle.color=never",
            *(f"-D{option}=5" for option in DOWNLOAD_RETRIES),
            f"-Dmaven.repo.local={tmp_path / 'repository'}",
            "-Dmaven.test.skip=true",
            "package",
        ],
        cwd=tmp_path / "jvm",
        env={**os.environ, "MAVEN_OPTS": "-XX:+PrintCodeCache"},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-4000:]
    assert "CodeCache is full" not in output
    assert (tmp_path / "jvm" / "workloads" / "target" / "hashing.jar").is_file()
    sizes = re.search(r"CodeCache: size=(\d+)Kb used=\d+Kb max_used=(\d+)Kb", output)
    assert sizes, f"the JVM printed no code cache statistics: {output[-1000:]}"
    reserved, used = int(sizes[1]), int(sizes[2])
    assert reserved >= SPARE * used, (
        f"{used} of {reserved} KiB used: raise ReservedCodeCacheSize"
    )
