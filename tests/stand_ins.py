"""A machine of small programs for tests of `scripts/setup`: each toolchain is a stand-in that prints a version.
The Makefile and the scripts are the real ones, in a copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from paceline_contract.testing.waiting import WITHIN_S

ROOT = Path(__file__).resolve().parents[1]
GOOD = "99.1.2"
OLD = "0.0.9"

PYTHON = """
case "$1 ${2:-}" in
  "-c "*sys.executable*) echo "$0" ;;
  "-c import sys, venv"*) [ {version} != 0.0.9 ] ;;
  "-c import sys; sys.exit"*) true ;;
  "-c import ziglang"*) echo "@clone@/ziglang" ;;
  "--version "*) echo Python {version} ;;
  "-m venv") mkdir -p "$3/bin" && ln -sf "$0" "$3/bin/python" ;;
  "-m pip") echo install >>"@clone@/installed"
    printf '#!/bin/sh\\n%s\\n' '. "$CLONE/uv.sh"' >.tools/uv/bin/uv
    chmod +x .tools/uv/bin/uv ;;
  *) echo "python3: not stood in for: $*" >&2; exit 9 ;;
esac
"""
UV = """
echo "uv $*" >>"@clone@/installed"
case "$1 $2" in
  "venv --clear") mkdir -p .venv/bin && ln -sf "@clone@/programs/python3" .venv/bin/python ;;
  "venv --quiet") mkdir -p .tools/zig/bin && ln -sf "@clone@/programs/python3" .tools/zig/bin/python ;;
  "pip install") : >.venv/bin/paceline-server ;;
esac
"""
NPM = """
case $1 in
  --version) echo 10.0.0 ;;
  ci) echo "npm ci" >>"@clone@/installed"; mkdir -p node_modules; : >node_modules/.package-lock.json ;;
  run) echo "npm run $2" >>"@clone@/installed"; mkdir -p dist; : >dist/index.html ;;
esac
"""

STAND_INS: dict[str, dict[str, str]] = {
    "python": {"python3": PYTHON},
    "git": {"git": "echo git version {version}"},
    "gcc": {"cc": "echo 'cc (Debian {version}-14) {version}'"},
    "cargo": {
        "cargo": 'case $1 in clippy | fmt) . "$0-$1" ;; *) echo "cargo {version} (a83c2a5 1.2)" ;; esac'
    },
    "clippy": {"cargo-clippy": 'echo "clippy {version} (a83c2a5)"'},
    "rustfmt": {"cargo-fmt": 'echo "rustfmt {version}-stable (a83c2a5)"'},
    "device-std": {
        "rustc": 'case $1 in --print) echo "@clone@/sysroot" ;; *) echo rustc {version} ;; esac'
    },
    "java": {
        "javac": 'echo "Picked up JAVA_TOOL_OPTIONS: -Xmx512m" >&2\necho javac {version}'
    },
    "maven": {
        "mvn": "printf '\\033[1mApache Maven {version} (b4a5)\\033[m\\nJava version: 99\\n'"
    },
    "node": {"node": "echo v{version}", "npm": NPM},
    "postgresql": {
        "initdb": "true",
        "postgres": 'echo "postgres (PostgreSQL) {version} (Debian)"',
    },
    "redis": {"redis-server": 'echo "Redis server v={version} sha=00000000:0 bits=64"'},
    "chromium": {"chromium": "echo Chromium {version} built on Debian"},
    "curl": {"curl": "echo curl {version} x86_64"},
    "jq": {"jq": "echo jq-{version}"},
    "adb": {"adb": "echo Android Debug Bridge version {version}"},
    "dexdump": {"dexdump": "true"},
    "mksh": {"mksh": "echo '@(#)MIRBSD KSH R{version}'"},
    "toybox": {"toybox": "echo toybox {version}"},
    "arm64-binutils": {
        "aarch64-linux-gnu-objdump": 'echo "GNU objdump (GNU Binutils) {version}"'
    },
    "arm64-qemu": {"qemu-aarch64-static": "echo qemu-aarch64 version {version}"},
}
SMALL_PROGRAMS = """
awk basename bash cat chmod cp cut date dd df dirname env expr fallocate false find flock grep head id ln
locale ls make mkdir mkfifo mktemp mv perl printf readlink rm sed sh sha256sum shasum sleep sort stty tail
tee test touch tr true wc which xargs
"""
"""Programs that any system has and set-up may use."""


def script(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # it may be a link to the system's own
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)


def copy_of_front_door(place: Path) -> Path:
    """Copies Makefile and scripts to a directory, with the other files they read."""
    shutil.copy(ROOT / "Makefile", place)
    compiled = shutil.ignore_patterns("__pycache__")  # of other tests
    shutil.copytree(ROOT / "scripts", place / "scripts", ignore=compiled)
    (place / "native" / "demo").mkdir(parents=True)
    shutil.copy(ROOT / "native" / "Cargo.toml", place / "native")
    (place / "native" / "demo" / "suite.toml").touch()
    return place


def run(
    *command: str | Path, cwd: Path, **env: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MAKEFLAGS": "", "MAKELEVEL": "0", **env}
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def stand_in(clone: Path, tool: str, version: str = GOOD) -> None:
    """Put the programs of `tool` in that version on the machine."""
    for program, text in STAND_INS[tool].items():
        lines = text.replace("{version}", version).replace("@clone@", str(clone))
        script(clone / "programs" / program, lines)


def take_away(clone: Path, tool: str) -> None:
    for program in STAND_INS[tool]:
        (clone / "programs" / program).unlink()


def machine(clone: Path) -> dict[str, str]:
    """The environment of a Linux machine with the system's small programs and every toolchain."""
    directory = clone / "programs"
    directory.mkdir()
    for program in SMALL_PROGRAMS.split():
        if found := shutil.which(program):
            (directory / program).symlink_to(found)
    for tool in STAND_INS:
        stand_in(clone, tool)
    script(
        directory / "uname",
        'case $1 in -m) echo x86_64 ;; -sm) echo "Linux x86_64" ;; *) echo Linux ;; esac',
    )
    (clone / "uv.sh").write_text(UV.replace("@clone@", str(clone)))
    toolchains_text = (ROOT / "scripts" / "toolchains.sh").read_text(encoding="utf-8")
    for line in toolchains_text.splitlines():
        if line.startswith("DEVICE_TRIPLES="):
            for triple in (
                line.partition("=")[2].strip('"').replace("$DEVICE_TRIPLES", "").split()
            ):
                (clone / "sysroot" / "lib" / "rustlib" / triple / "lib").mkdir(
                    parents=True
                )
    (clone / "home").mkdir()
    return {
        "PATH": str(directory),
        "HOME": str(clone / "home"),
        "POSTGRESQL_VERSIONS": str(clone / "nowhere"),
        "PLAYWRIGHT_BROWSERS_PATH": str(clone / "nowhere"),
        "PACELINE_CHROMIUM": "",
        "CLONE": str(clone),
        "PACELINE_INSTALL": "yes",
    }
