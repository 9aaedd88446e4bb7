"""`make`, `scripts/` and their promises: targets, exit codes, set-up that repeats and names what is missing.

Place: what a person meets first. Invariant: the real Makefile and scripts run, in a copy of their own with
small programs in place of what they call. What they call is tested where it lives.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def script(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Makefile and scripts in a directory of their own."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    (tmp_path / "native" / "demo").mkdir(parents=True)
    shutil.copy(ROOT / "native" / "Cargo.toml", tmp_path / "native")
    (tmp_path / "native" / "demo" / "suite.toml").touch()
    return tmp_path


def run(*command: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MAKEFLAGS": "", "MAKELEVEL": "0", **env}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def fake_tools(clone: Path, measured: int, judged: int) -> None:
    script(clone / "scripts" / "setup", "true")
    script(clone / ".venv" / "bin" / "paceline", f'echo "$@" >"{clone}/measured"', f"exit {measured}")
    script(clone / ".venv" / "bin" / "paceline-server", f'echo "$@" >"{clone}/judged"', f"exit {judged}")


def test_what_make_run_starts_inherits_the_tools_that_set_up_installed(clone: Path) -> None:
    script(clone / "scripts" / "setup", "true")
    script(clone / ".tools" / "bin" / "cargo", "echo cargo of this clone")
    script(clone / ".venv" / "bin" / "paceline-server", "cargo", 'echo "$@"')
    shown = run("make", "run", "ARGS=--port 8001 --no-agent", cwd=clone).stdout
    assert shown.splitlines() == ["cargo of this clone", "up --port 8001 --no-agent"]


def test_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    declared = {
        name for line in re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE) for name in line.split()
    }
    listed = set(re.findall(r"^  make ([a-z0-9-]+) ", run("make", "help", cwd=ROOT).stdout, re.MULTILINE))
    assert declared - listed == {"bench-run"}, "the one target that is a step of another"
    assert listed - declared == set()


def test_make_alone_is_help() -> None:
    assert run("make", cwd=ROOT).stdout == run("make", "help", cwd=ROOT).stdout


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_make_bench_ends_with_the_verdicts_exit_code(clone: Path, code: int) -> None:
    fake_tools(clone, measured=0, judged=code)
    done = run("make", "bench", "SUITE=demo", "JSON=out.json", "ARGS=--launches 2", cwd=clone)
    assert done.returncode == code, done.stderr
    assert "--launches 2" in (clone / "measured").read_text()
    assert f"--json {clone}/out.json" in (clone / "judged").read_text()


@pytest.mark.parametrize("code", [1, 2, 130])
def test_bench_is_an_error_when_nothing_was_measured(clone: Path, code: int) -> None:
    """A usage error of `paceline run` is 2 and must not read as a failed gate."""
    fake_tools(clone, measured=code, judged=0)
    assert run("make", "bench", "SUITE=demo", cwd=clone).returncode == 1
    assert not (clone / "judged").exists()


def test_bench_names_the_suites_when_asked_for_an_unknown_one(clone: Path) -> None:
    fake_tools(clone, measured=0, judged=0)
    done = run("make", "bench", "SUITE=nothing", cwd=clone)
    assert done.returncode == 1
    assert "no suite 'nothing'" in done.stderr
    assert "demo" in done.stderr


def test_bench_without_the_make_extension_still_fails_and_prints_the_code(clone: Path) -> None:
    fake_tools(clone, measured=0, judged=3)
    done = run("make", "bench", "SUITE=demo", "CC=false", cwd=clone)
    assert done.returncode == 2
    assert "Error 3" in done.stderr


def bare_path(clone: Path, *without: str) -> str:
    """A PATH with the system's programs except those named."""
    directory = clone / "programs"
    directory.mkdir()
    for place in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for program in Path(place).iterdir():
            link = directory / program.name
            if program.name not in without and not os.path.lexists(link):
                link.symlink_to(program)
    return str(directory)


def test_missing_toolchains_are_named_one_by_one_with_a_command(clone: Path) -> None:
    path = bare_path(clone, "cargo", "rustc", "rustup", "mvn", "node", "npm")
    done = run("scripts/setup", "run", cwd=clone, PATH=path, PACELINE_INSTALL="no", HOME=str(clone))
    assert done.returncode == 1
    named = re.findall(r"^missing: (\w+).*\n +(\S.+)$", done.stderr, re.MULTILINE)
    assert {tool for tool, _ in named} == {"cargo", "maven", "node"}
    assert all(command for _, command in named)


def test_an_old_toolchain_is_named_with_both_versions(clone: Path) -> None:
    path = bare_path(clone, "cargo")
    script(clone / "programs" / "cargo", "echo cargo 1.66.0")
    done = run("scripts/setup", "bench", cwd=clone, PATH=path, PACELINE_INSTALL="no", HOME=str(clone))
    assert done.returncode == 1
    assert re.search(r"missing: cargo \(found 1\.66\.0, needed \d+\.\d+ or newer\)", done.stderr)


def test_setup_asks_for_less_to_use_than_to_test(clone: Path) -> None:
    wanted = {
        profile: set(
            run(
                "bash", "-c", f". scripts/toolchains.sh; tools_of_profile {profile}", cwd=clone
            ).stdout.split()
        )
        for profile in ("bench", "run", "test")
    }
    assert wanted["bench"] < wanted["run"] < wanted["test"]
    assert {"postgresql", "redis", "chromium"} <= wanted["test"] - wanted["run"]


STEPS = """
. scripts/environment.sh
eval "$(sed -n '/^fail()/,/^}/p; /^hash_of()/,/^}/p; /^step()/,/^}/p' scripts/setup)"
LOG=build/setup.log; STAMPS=build/setup; mkdir -p $STAMPS
work() { echo ran >>ran; touch made; }
broken() { echo the cause; return 1; }
"""


def stepping(clone: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    return run("bash", "-c", STEPS + "\n".join(lines), cwd=clone)


def test_a_step_runs_again_only_when_its_inputs_change_or_its_output_is_gone(clone: Path) -> None:
    (clone / "input").write_text("one")
    once = 'step "a thing" made "$(hash_of input)" "" work'
    stepping(clone, once, once)
    assert (clone / "ran").read_text().count("ran") == 1
    (clone / "input").write_text("two")
    assert "up to date" not in stepping(clone, once).stdout
    (clone / "made").unlink()
    assert "up to date" not in stepping(clone, once).stdout
    assert "up to date" in stepping(clone, once).stdout
    assert (clone / "ran").read_text().count("ran") == 3


def test_a_failing_step_shows_the_cause_and_is_tried_again(clone: Path) -> None:
    done = stepping(clone, 'step "a thing" made x "Look there." broken')
    assert done.returncode == 1
    assert "the cause" in done.stderr
    assert "Look there." in done.stderr
    again = stepping(clone, 'step "a thing" made x "Look there." work')
    assert again.returncode == 0
    assert (clone / "ran").exists()


def with_parts(clone: Path, parts: str) -> None:
    """Put functions in place of those of scripts/test."""
    text = (clone / "scripts" / "test").read_text(encoding="utf-8")
    head, tail = text.split("[ $# -gt 0 ]", 1)
    (clone / "scripts" / "test").write_text(f"{head}{parts}\n[ $# -gt 0 ]{tail}", encoding="utf-8")


def test_checks_all_run_and_one_failure_fails_the_whole(clone: Path) -> None:
    with_parts(clone, "part_house() { check good true; check bad false; check last echo done; }")
    done = run("scripts/test", "house", cwd=clone)
    assert done.returncode == 1
    assert re.search(r"bad +FAILED \(1\)", done.stdout)
    assert re.search(r"last +ok", done.stdout)
    assert "1 failed" in done.stdout
    assert (clone / "build" / "test" / "last.log").read_text() == "done\n"


@pytest.mark.parametrize(
    ("ends", "then", "failed"),
    [
        ("true", ":", None),
        ("false", ":", r"meets +FAILED \(1\)"),
        ("true", "sh -c 'kill -9 $PPID'; :", r"side to its end +FAILED \(1\)"),
    ],
)
def test_checks_beside_others_run_at_the_same_time_and_count(
    clone: Path, ends: str, then: str, failed: str | None
) -> None:
    """Each of the two waits for the other: one after the other they would never end. The last is killed by
    its child: bash 3.2, which macOS has, does not tell a subshell its own number."""
    with_parts(
        clone,
        "meets() { echo side >here; read -r _ <there; }\n"
        "met() { read -r _ <here; echo main >there; }\n"
        f"side() {{ check meeting meets; check meets {ends}; {then}; }}\n"
        "part_house() { mkfifo here there; beside side; check met met; joined side; check last echo done; }",
    )
    done = run("scripts/test", "house", cwd=clone)
    assert done.returncode == (0 if failed is None else 1)
    assert re.search(r"met +ok", done.stdout)
    assert re.search(r"last +ok", done.stdout)
    assert "==> meeting: meets" in done.stdout
    if failed is None:
        assert re.search(r"meets +ok", done.stdout)
    else:
        assert re.search(failed, done.stdout)
        assert "1 failed" in done.stdout


def test_what_runs_beside_ends_with_the_script(clone: Path) -> None:
    """A fifo ends when nobody holds its other end any more."""
    os.mkfifo(clone / "alive")
    alive = os.open(clone / "alive", os.O_RDONLY | os.O_NONBLOCK)
    with_parts(
        clone,
        "stays() { exec 3>alive; echo up >&3; echo up >ready; read -r _ <never; }\n"
        "side() { check stays stays; }\n"
        "part_house() { mkfifo ready never; beside side; read -r _ <ready; exit 3; }",
    )
    assert run("scripts/test", "house", cwd=clone).returncode == 3
    os.set_blocking(alive, True)
    with os.fdopen(alive, "rb") as end:
        assert end.read() == b"up\n"


def test_ci_runs_make_test_without_a_terminal() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "make test </dev/null" in text
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
