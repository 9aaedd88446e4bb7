"""Tests which toolchains set-up detects, installs and names: each one present, absent, too old and failing. The
real scripts run on a machine of stand-ins (`stand_ins.py`); `make test-bare` covers real package managers.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from stand_ins import (
    GOOD,
    OLD,
    STAND_INS,
    copy_of_front_door,
    machine,
    run,
    script,
    stand_in,
    take_away,
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return copy_of_front_door(tmp_path)


APT = """
echo "apt-get $*" >>"@clone@/asked"
for last; do :; done
case " $* " in
  *" update "*) exit 0 ;;
esac
echo "0 upgraded, 2 newly installed, 0 to remove and 5 not upgraded."
echo "Need to get 210 MB of archives."
status=$(printf '%s\\n' "$@" | sed -n 's/^APT::Status-Fd=//p')
echo "dlstatus:1:12.5:Retrieving file 1 of 2" >&"$status"
echo "pmstatus:dpkg-exec:0.0000:Running dpkg" >&"$status"
echo "pmstatus:jdk:10.0000:Unpacking jdk (amd64)" >&"$status"
# As apt does it without a /dev/pts: a package's script has all of apt's descriptors but this one.
eval "sh -c 'echo No JRE found.' $status>&-" || exit 100
echo "pmstatus:jdk:90.0000:Installed jdk (amd64)" >&"$status"
cp "@clone@/javac" "@clone@/programs/javac"
"""


def shell(
    clone: Path, environment: dict[str, str], text: str
) -> subprocess.CompletedProcess[str]:
    return run(
        "bash",
        "-c",
        f". scripts/environment.sh; . scripts/toolchains.sh; {text}",
        cwd=clone,
        **environment,
    )


def all_tools(clone: Path, environment: dict[str, str]) -> list[str]:
    profiles = (
        "for profile in bench run devices test; do tools_of_profile $profile; done"
    )
    return sorted(set(shell(clone, environment, profiles).stdout.split()))


def as_user(clone: Path, uid: int) -> None:
    script(clone / "programs" / "id", f"echo {uid}")


def with_apt(clone: Path) -> None:
    """A Debian 12: apt has a JDK and no new enough Rust or Node.js."""
    script(clone / "programs" / "apt-get", APT.replace("@clone@", str(clone)))
    script(
        clone / "programs" / "apt-cache",
        'case "$1 $2" in "policy python3") echo "  Candidate: 3.11.2-1" ;; esac',
    )


def test_every_toolchain_is_seen_and_none_when_it_is_absent_old_or_failing(
    clone: Path,
) -> None:
    """Errors of absent or failing programs may hold a number ("line 92: javac: command not found"), as may a
    JVM's notes.
    """
    environment = machine(clone)
    tools = all_tools(clone, environment)
    assert set(tools) == set(STAND_INS), "every tool has a stand-in"
    environment["TOOLS"] = " ".join(tools)
    look = 'for tool in $TOOLS; do tool_present $tool; echo "$tool $? $(version_seen $tool)"; done'
    dexdump = {"dexdump": "0 0"}  # it tells no version: there or not
    assert (
        states(shell(clone, environment, look))
        == dict.fromkeys(tools, f"0 {GOOD}") | dexdump
    )

    for tool in tools:
        stand_in(clone, tool, OLD)
    minimums = {
        "python",
        "git",
        "cargo",
        "java",
        "maven",
        "node",
        "postgresql",
        "redis",
    }
    old = {tool: f"{1 if tool in minimums else 0} {OLD}" for tool in tools}
    assert states(shell(clone, environment, look)) == old | dexdump

    for tool in tools:
        for program in STAND_INS[tool]:
            script(
                clone / "programs" / program,
                "echo line 92: javac 92.1 cc 92 v92 rustc 92 >&2",
                "exit 3",
            )
    assert (
        states(shell(clone, environment, look)) == dict.fromkeys(tools, "1") | dexdump
    )

    for tool in tools:
        take_away(clone, tool)
    output = shell(clone, environment, look)
    assert states(output) == dict.fromkeys(tools, "1")


def states(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {
        tool: rest.strip()
        for tool, _, rest in (line.partition(" ") for line in done.stdout.splitlines())
    }


@pytest.mark.parametrize("profile", ["bench", "run", "devices", "test"])
def test_every_missing_tool_is_named_with_the_command_that_installs_it(
    clone: Path, profile: str
) -> None:
    environment = machine(clone) | {"PACELINE_INSTALL": "no"}
    tools = shell(clone, environment, f"tools_of_profile {profile}").stdout.split()
    for tool in tools:
        take_away(clone, tool)
    done = run("scripts/setup", profile, cwd=clone, **environment)
    assert done.returncode == 1, done.stdout
    assert re.findall(r"^missing: ([a-z0-9-]+)", done.stderr, re.MULTILINE) == tools
    assert "Nothing was installed, as PACELINE_INSTALL=no asks. Run:\n  " in done.stderr
    assert not (clone / ".tools" / "uv").exists()


def test_an_old_toolchain_is_named_with_both_versions(clone: Path) -> None:
    environment = machine(clone) | {"PACELINE_INSTALL": "no"}
    stand_in(clone, "cargo", "1.66.0")
    done = run("scripts/setup", "bench", cwd=clone, **environment)
    assert done.returncode == 1
    assert re.search(
        r"missing: cargo \d+\.\d+ or newer \(found 1\.66\.0\)", done.stderr
    )


def test_without_root_one_line_installs_what_only_root_can_and_nothing_is_begun(
    clone: Path,
) -> None:
    """Node.js and Rust need no advice, because set-up installs them itself once there is Python."""
    environment = machine(clone)
    with_apt(clone)
    as_user(clone, 1000)
    for tool in ("python", "gcc", "cargo", "java", "maven", "node"):
        take_away(clone, tool)
    done = run("scripts/setup", "run", cwd=clone, **environment)
    assert done.returncode == 1
    assert not (clone / "asked").exists(), "apt-get was not called"
    assert not list((clone / ".tools" / "bin").iterdir())
    lines = [line for line in done.stderr.splitlines() if "install -y" in line]
    assert len(lines) == 1, done.stderr
    assert re.match(r"  sudo apt-get (update && sudo apt-get )?install -y ", lines[0])
    assert {"python3", "python3-venv", "build-essential", "maven"} <= set(
        lines[0].split()
    )
    assert not {"nodejs", "cargo"} & set(lines[0].split())
    assert (
        "Set-up installs by itself after that, inside the clone: cargo, node."
        in done.stderr
    )


def test_apt_get_is_shown_by_its_stages_and_counts(clone: Path) -> None:
    environment = machine(clone)
    with_apt(clone)
    as_user(clone, 0)
    (clone / "programs" / "javac").rename(clone / "javac")
    done = run("scripts/setup", "bench", cwd=clone, **environment)
    stages = re.findall(r"^  toolchains +(\S.*)$", done.stdout, re.MULTILINE)
    assert stages[:3] == [
        "asking for the list of packages",
        "downloading 2 packages, 210 MB",
        "unpacking and setting up 2 packages",
    ], done.stdout + done.stderr
    assert re.search(
        rf"^  toolchains +\d+\.\d s  python {GOOD} .*java {GOOD}",
        done.stdout,
        re.MULTILINE,
    )
    log = (clone / "build" / "setup.log").read_text()
    assert "newly installed" in log
    assert "pmstatus" not in log
    assert "No JRE found." in log


def test_a_failing_apt_get_ends_setup_with_its_message(clone: Path) -> None:
    environment = machine(clone)
    with_apt(clone)
    as_user(clone, 0)
    take_away(clone, "java")
    take_away(clone, "node")
    script(
        clone / "programs" / "apt-get",
        "echo 'E: Could not resolve host deb.example'",
        "exit 100",
    )
    done = run("scripts/setup", "run", cwd=clone, **environment)
    assert done.returncode == 1
    assert (
        "A server's name cannot be resolved (E: Could not resolve host deb.example)"
        in done.stderr
    )
    assert not (clone / ".tools" / "node").exists(), (
        "nothing private is begun without what only apt has"
    )


def test_a_failed_download_of_rust_is_one_sentence_and_is_not_repeated(
    clone: Path,
) -> None:
    """The real Python connects to an address that refuses."""
    environment = machine(clone)
    for tool in ("cargo", "clippy", "rustfmt"):
        take_away(clone, tool)
    script(clone / "programs" / "python3", f'exec "{sys.executable}" "$@"')
    environment |= {"RUSTUP_UPDATE_ROOT": "http://127.0.0.1:9/rustup"}
    done = run("scripts/setup", "test", cwd=clone, **environment)
    assert done.returncode == 1
    sentences = [line for line in done.stderr.splitlines() if line.startswith("rust: ")]
    assert len(sentences) == 1, done.stderr
    assert (
        "127.0.0.1:9/rustup did not give it. A server cannot be reached" in sentences[0]
    )
    assert "RUSTUP_UPDATE_ROOT" in sentences[0]
    assert "install rustup" in done.stderr
