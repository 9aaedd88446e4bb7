"""Tests the build of the allocator suite's third-party arms, with a fake pip that fetches nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = (
    Path(__file__).resolve().parents[1] / "native" / "allocator" / "bench" / "build.sh"
)
PIP = """#!/bin/sh
[ "$1 $2" = "-m pip" ] || exit 1
[ "$3" = --version ] && exit 0
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/cmeel.prefix/lib" && cp /bin/true "$2/cmeel.prefix/lib/libmimalloc.so"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the suite's arms need Linux")
def test_an_environment_without_pip_in_front_does_not_cost_an_arm(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, program in ((first, "#!/bin/sh\nexit 1\n"), (second, PIP)):
        folder.mkdir()
        (folder / "python3").write_text(program)
        (folder / "python3").chmod(0o755)
    cargo = Path(shutil.which("cargo") or "").parent
    out = tmp_path / "out"
    done = subprocess.run(
        ["sh", str(BUILD), "arm", "mimalloc343"],
        env={
            **os.environ,
            "PATH": f"{first}:{second}:{cargo}:/usr/bin:/bin",
            "OUT": str(out),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "goes on without" not in done.stderr
    assert (out / "lib" / "libmimalloc343.so").is_file()


@pytest.mark.skipif(sys.platform != "linux", reason="the suite's arms need Linux")
@pytest.mark.parametrize("there", [True, False])
def test_gperftools_is_the_systems_or_named_as_not_installed(
    there: bool, tmp_path: Path
) -> None:
    known = "\tlibtcmalloc_minimal.so.4 (libc6,x86-64) => /bin/true" if there else ""
    (tmp_path / "ldconfig").write_text(f"#!/bin/sh\necho '{known}'\n")
    (tmp_path / "ldconfig").chmod(0o755)
    out = tmp_path / "out"
    done = subprocess.run(
        ["sh", str(BUILD), "arm", "gperftools"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "OUT": str(out)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (out / "lib" / "libgperftools.so").is_file() is there
    reason = (out / "lib" / "gperftools.why").read_text()
    assert ("not installed (Debian: libtcmalloc-minimal4)" in reason) is not there
    assert ("to preload and none to link" in reason) is there
