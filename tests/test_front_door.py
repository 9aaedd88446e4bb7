"""Tests `make` and `scripts/`: targets, exit codes, and a set-up that can be repeated and names what is missing.

The real Makefile and scripts run in a copy, with small programs in place of the tools they call.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from paceline_contract.testing.ports import reserved_port
from paceline_server.runtime.data_lock import hold_lock
from stand_ins import ROOT, copy_of_front_door, machine, run, script


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return copy_of_front_door(tmp_path)


def fake_tools(clone: Path, measured: int, judged: int) -> None:
    script(clone / "scripts" / "setup", "true")
    script(
        clone / ".venv" / "bin" / "paceline",
        f'echo "$@" >"{clone}/measured"',
        f"exit {measured}",
    )
    script(
        clone / ".venv" / "bin" / "paceline-server",
        f'echo "$@" >"{clone}/judged"',
        f"exit {judged}",
    )


def test_processes_of_make_run_inherit_the_tools_that_setup_installed(
    clone: Path,
) -> None:
    script(clone / "scripts" / "setup", "true")
    script(clone / ".tools" / "bin" / "cargo", "echo cargo of this clone")
    script(clone / ".venv" / "bin" / "paceline-server", "cargo", 'echo "$@"')
    shown = run("make", "run", "ARGS=--port 8001 --no-agent", cwd=clone).stdout
    assert shown.splitlines() == ["cargo of this clone", "up --port 8001 --no-agent"]


def test_a_port_in_use_is_reported_before_setup_begins(clone: Path) -> None:
    script(clone / "scripts" / "setup", "echo set-up")
    script(clone / ".venv" / "bin" / "paceline-server", 'echo "$@"')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for option in (f"--port {port}", f"--port={port} --no-agent"):
            refused = run("make", "run", f"ARGS={option}", cwd=clone)
            assert refused.returncode != 0
            assert refused.stdout == ""
            assert f"Port {port} of 127.0.0.1 is in use" in refused.stderr
            proposed = re.search(r'make run ARGS="--port (\d+)"', refused.stderr)
            assert proposed
            assert int(proposed[1]) > port
        by_variable = run("make", "run", cwd=clone, PACELINE_PORT=str(port))
        assert f"Port {port} of" in by_variable.stderr
        with hold_lock(clone / "var"):
            own = run("make", "run", f"ARGS=--port {port}", cwd=clone)
        assert own.stdout.splitlines() == ["set-up", f"up --port {port}"], (
            "`up` says that this clone's server runs there"
        )
        assert (clone / "var" / "up.lock").exists()
        (clone / "var" / "address").write_text(f"http://127.0.0.1:{port}\n")
        killed = run("make", "run", f"ARGS=--port {port}", cwd=clone)
        assert killed.stdout == "", "what a killed server leaves behind is no server"
        assert f"Port {port} of 127.0.0.1 is in use" in killed.stderr
    with reserved_port() as port:  # nobody answers there, nor will another process
        free = run("make", "run", f"ARGS=--port {port}", cwd=clone)
    assert free.stdout.splitlines() == ["set-up", f"up --port {port}"]


def test_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    declared = {
        name
        for line in re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
        for name in line.split()
    }
    listed = set(
        re.findall(
            r"^  make ([a-z0-9-]+) ", run("make", "help", cwd=ROOT).stdout, re.MULTILINE
        )
    )
    assert declared - listed == {"bench-run"}, (
        "the one target that is a step of another"
    )
    assert listed - declared == set()


def test_make_alone_is_help() -> None:
    assert run("make", cwd=ROOT).stdout == run("make", "help", cwd=ROOT).stdout


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_make_bench_ends_with_the_verdicts_exit_code(clone: Path, code: int) -> None:
    fake_tools(clone, measured=0, judged=code)
    done = run(
        "make", "bench", "SUITE=demo", "JSON=out.json", "ARGS=--launches 2", cwd=clone
    )
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
    unnamed = run("make", "bench", cwd=clone)
    assert unnamed.returncode == 1
    assert "make bench SUITE=hashing (suites: demo)" in unnamed.stderr


def test_bench_without_the_make_extension_still_fails_and_prints_the_code(
    clone: Path,
) -> None:
    fake_tools(clone, measured=0, judged=3)
    done = run("make", "bench", "SUITE=demo", "CC=false", cwd=clone)
    assert done.returncode == 2
    assert "Error 3" in done.stderr


def test_the_profile_for_use_needs_less_than_the_one_for_tests(clone: Path) -> None:
    wanted = {
        profile: set(
            run(
                "bash",
                "-c",
                f". scripts/toolchains.sh; tools_of_profile {profile}",
                cwd=clone,
            ).stdout.split()
        )
        for profile in ("bench", "run", "test")
    }
    assert wanted["bench"] < wanted["run"] < wanted["test"]
    assert {"postgresql", "redis", "chromium"} <= wanted["test"] - wanted["run"]


def with_parts(clone: Path, parts: str) -> None:
    """Put functions in place of those of scripts/test."""
    text = (clone / "scripts" / "test").read_text(encoding="utf-8")
    head, tail = text.split("[ $# -gt 0 ]", 1)
    (clone / "scripts" / "test").write_text(
        f"{head}{parts}\n[ $# -gt 0 ]{tail}", encoding="utf-8"
    )


def test_checks_all_run_and_one_failure_fails_the_whole(clone: Path) -> None:
    with_parts(
        clone,
        "part_house() { check good true; check bad false; check last echo done; }",
    )
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
    """Each of the two waits for the other, so one after the other they would never end. The child of the last
    check kills it, because a subshell of bash 3.2 (macOS) does not know its own number.
    """
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


def test_background_checks_end_with_the_script(clone: Path) -> None:
    """A fifo ends when its last writer closes it."""
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


STAYS = """
stays() { exec 3>alive; setsid sh -c 'exec sleep 600' & trap "$2" TERM; echo up >"$1"; read -r _ <never; }
side() { check "stays beside" stays beside "exit 1"; }
part_house() { mkfifo never beside before; : >made; beside side; check stays stays before "$ON_TERM"; }
"""
"""Two checks that hold the fifo `alive` open, with children in sessions of their own."""


@pytest.mark.parametrize(
    ("number", "on_term"),
    [
        (signal.SIGHUP, "exit 1"),
        (signal.SIGINT, "exit 1"),
        (signal.SIGTERM, "exit 1"),
        (signal.SIGTERM, ""),
    ],
    ids=["hangup", "interrupt", "termination", "a check ignores it"],
)
def test_nothing_that_was_started_outlives_a_signal(
    clone: Path, number: signal.Signals, on_term: str
) -> None:
    """A fifo ends when its last writer closes it."""
    os.mkfifo(clone / "alive")
    alive = os.open(clone / "alive", os.O_RDONLY | os.O_NONBLOCK)
    with_parts(clone, STAYS)
    # A shell cannot trap what was ignored when it started, as nohup has it.
    restore = f"import os, signal; signal.signal({number:d}, signal.SIG_DFL); os.execv('scripts/test', ['test', 'house'])"
    with subprocess.Popen(
        [sys.executable, "-c", restore],
        cwd=clone,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "ON_TERM": on_term},
    ) as tested:
        while not (clone / "made").exists():
            assert tested.poll() is None
        for ready in ("beside", "before"):
            assert (clone / ready).read_text() == "up\n"
        tested.send_signal(number)
        assert tested.wait(timeout=120) == 128 + number
    os.set_blocking(alive, True)
    with os.fdopen(alive, "rb") as end:
        assert end.read() == b""


def test_a_second_test_in_one_clone_ends_at_once_and_names_the_first(
    clone: Path,
) -> None:
    with_parts(
        clone,
        "part_house() { mkfifo ready go; : >made; check waits sh -c 'echo up >ready; read -r _ <go'; }",
    )
    with subprocess.Popen(
        ["scripts/test", "house"],
        cwd=clone,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    ) as first:
        while not (clone / "made").exists():
            assert first.poll() is None
        assert (clone / "ready").read_text() == "up\n"
        second = run("scripts/test", "house", cwd=clone)
        assert second.returncode == 1
        assert second.stdout == ""
        assert f"process {first.pid}, part house, since " in second.stderr
        (clone / "go").write_text("end\n")
        assert first.wait(timeout=120) == 0
    with_parts(clone, "part_house() { check works true; }")
    assert run("scripts/test", "house", cwd=clone).returncode == 0


@pytest.mark.parametrize(
    ("log", "tests"),
    [
        ("=== 2 failed, 71 passed, 1 error in 650.01s (0:10:50) ===", 3),
        ("1 failed in 0.12s", 1),
        (
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; finished in 0.1s\n"
            "test result: ok. 3 passed; 0 failed; 0 ignored; finished in 0.1s\n"
            "test result: FAILED. 0 passed; 1 failed; 0 ignored; finished in 0.1s",
            3,
        ),
        (
            " Test Files  1 failed | 3 passed (4)\n      Tests  4 failed | 9 passed (13)",
            4,
        ),
        ("  2 failed\n    [chromium] some.spec.ts:3:1 a test\n  5 passed (1.2m)", 2),
        (
            "[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 1 s <<< FAILURE!\n"
            "[\033[1;31mERROR\033[m] Tests run: 7, Failures: 1, Errors: 1, Skipped: 0",
            2,
        ),
        ("138 passed, 1 failed, 25 skipped", 1),
        ("error: this line has no summary", 0),
    ],
)
def test_failed_tests_are_counted_beside_failed_checks(
    clone: Path, log: str, tests: int
) -> None:
    (clone / "log").write_text(f"{log}\n")
    with_parts(
        clone, "part_house() { check bad sh -c 'cat log; exit 1'; check good cat log; }"
    )
    shown = run("scripts/test", "house", cwd=clone).stdout
    assert f"1 failed (tests that failed in them: {tests}), in " in shown
    assert (f"FAILED (1), tests: {tests}" in shown) == (tests > 0)


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        ("native/demo/deep/down/good.sh", "#!/bin/sh\n[ 1 = 1 ]\n", 0),
        ("native/demo/deep/down/bad.sh", "#!/bin/sh\nif true; then\n", 1),
        ("native/demo/bashism.sh", "#!/bin/sh\nlist=(a b)\n", 1),
        ("native/demo/bash.sh", "#!/usr/bin/env bash\nlist=(a b)\n", 0),
        ("scripts/bad", "#!/usr/bin/env bash\nif true; then\n", 1),
    ],
)
def test_every_script_is_parsed_by_its_own_shell(
    clone: Path, path: str, text: str, code: int
) -> None:
    shutil.copytree(ROOT / ".ci", clone / ".ci")
    (clone / path).parent.mkdir(parents=True, exist_ok=True)
    (clone / path).write_text(text)
    for command in (["init", "--quiet"], ["add", "--all"]):
        assert run("git", *command, cwd=clone).returncode == 0
    with_parts(clone, "part_house() { check parse scripts_parse; }")
    done = run("scripts/test", "house", cwd=clone)
    assert done.returncode == code, done.stdout


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="Linux lists ignored signals there"
)
@pytest.mark.parametrize("other", [None, "python3"])
def test_ci_restores_signals_that_its_caller_ignored(
    tmp_path: Path, other: str | None
) -> None:
    """A shell started with `&` ignores SIGINT and SIGQUIT, and nohup adds SIGHUP."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "dirname", "cat", "grep", "python3", "perl"):
        if name != other:
            (programs / name).symlink_to(str(shutil.which(name)))
    script(programs / "make", 'echo "$*"; exec grep SigIgn /proc/self/status')
    ignoring = [
        str(shutil.which("sh")),
        "-c",
        "trap '' INT QUIT HUP PIPE; exec \"$@\"",
        "sh",
    ]
    bash = str(shutil.which("bash"))
    done = run(*ignoring, bash, ".ci/run", cwd=tmp_path, PATH=str(programs))
    first, signals = done.stdout.splitlines()
    assert first == "test"
    ignored = int(signals.split()[1], 16)
    restored = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE)
    assert [number.name for number in restored if ignored >> (number - 1) & 1] == []


def test_ci_runs_make_test_without_a_terminal() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "make test </dev/null" in text
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_tests_on_adbd_name_the_feature_that_a_machine_lacks(clone: Path) -> None:
    script(
        clone / ".tools" / "bin" / "unshare",
        "echo unshare failed: Operation not permitted >&2",
        "exit 1",
    )
    done = run("scripts/test-adbd", cwd=clone)
    assert done.returncode == 1
    assert "this machine lacks user namespaces" in done.stderr
    assert "unshare failed: Operation not permitted" in done.stderr


@pytest.mark.parametrize(
    ("said", "code"),
    [("72 passed in 59.22s", 0), ("1 failed, 71 passed in 650.01s (0:10:50)", 1)],
)
def test_the_tests_on_adbd_leave_their_result_as_one_line(
    clone: Path, said: str, code: int
) -> None:
    script(clone / ".tools" / "bin" / "unshare", "true")
    script(
        clone / "scripts" / "adbd" / "build", 'test -n "$ROOT" && echo "$ROOT/built"'
    )
    (clone / "built").mkdir()
    (clone / "built" / "version").write_text("29.0.6-28\n")
    script(
        clone / ".venv" / "bin" / "pytest",
        f'echo "$PACELINE_ADBD $*"; echo "=== {said} ==="; exit {code}',
    )
    done = run("scripts/test-adbd", "-x", cwd=clone)
    assert done.returncode == code
    assert re.search(rf"^{clone}/built .*-m adbd .* -x$", done.stdout, re.MULTILINE)
    (line,) = (clone / "build" / "test-adbd.result").read_text().splitlines()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d, commit \w+: adbd 29\.0\.6-28 \(built in [0-9.]+ s\): "
        + re.escape(said),
        line,
    )


def test_the_tests_of_harnesses_name_what_is_missing_and_leave_their_result_as_one_line(
    clone: Path,
) -> None:
    tools = clone / ".tools" / "bin"
    small = machine(clone)
    bare = run("scripts/test-harnesses", cwd=clone, PATH=small["PATH"])
    assert bare.returncode == 1
    assert "this machine lacks go.\n" in bare.stderr
    for name in ("go", "cargo", "java", "mvn", "npm", "c++"):
        script(tools / name, "exit 1" if name == "c++" else "true")
    bare = run("scripts/test-harnesses", cwd=clone)
    assert "lacks the header catch2/catch.hpp.\nInstall Catch2" in bare.stderr
    script(tools / "c++", "true")
    text = (clone / "scripts" / "test-harnesses").read_bytes()
    place = clone / "build" / "harnesses" / hashlib.sha256(text).hexdigest()[:12]
    script(place / "installed", "true")
    script(
        clone / ".venv" / "bin" / "pytest",
        'echo "$PACELINE_HARNESS_TOOLS $*"; echo "=== 1 failed, 20 passed in 9.5s ==="; exit 1',
    )
    done = run("scripts/test-harnesses", "-x", cwd=clone)
    assert done.returncode == 1
    assert re.search(rf"^{place} .*real_tools\.py -x$", done.stdout, re.MULTILINE)
    (line,) = (clone / "build" / "test-harnesses.result").read_text().splitlines()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d, commit \w+: tools installed in [0-9.]+ s: 1 failed, 20 passed in 9\.5s",
        line,
    )


def test_the_journey_on_a_forge_names_what_is_missing_and_leaves_its_result_as_one_line(
    clone: Path,
) -> None:
    shutil.copytree(ROOT / "tests" / "forge", clone / "tests" / "forge")
    tools = clone / ".tools" / "bin"
    small = machine(clone)
    bare = run("scripts/test-forge", cwd=clone, PATH=small["PATH"])
    assert bare.returncode == 1
    assert "this machine lacks Go.\nGitea is built from its source" in bare.stderr
    (clone / "module" / "templates").mkdir(parents=True)
    (clone / "module" / "options").mkdir()
    (clone / "module" / "public").mkdir()
    script(
        tools / "go",
        f'[ "$1" = build ] || {{ echo "{clone}/module"; exit; }}',
        'while [ "$1" != -o ]; do shift; done; echo "#!/bin/sh" >"$2"; chmod +x "$2"',
    )
    script(
        clone / ".venv" / "bin" / "pytest",
        'ls "$PACELINE_GITEA"; echo "$*"; echo "last sample to comment: 1.1, 1.6 s"',
        'echo "=== 2 passed in 56.05s ==="',
    )
    done = run("scripts/test-forge", "-x", cwd=clone)
    assert done.returncode == 0, done.stderr
    assert "gitea\noptions\npublic\ntemplates\n" in done.stdout
    (line,) = (clone / "build" / "test-forge.result").read_text().splitlines()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d, commit \w+: Gitea 1\.26\.0 \(built in [0-9.]+ s\): 2 passed in 56\.05s"
        r"; last sample to comment: 1\.1, 1\.6 s",
        line,
    )


def test_an_edit_of_adbds_source_that_no_longer_applies_ends_the_build(
    clone: Path,
) -> None:
    """The edits of Google's source are whole lines, which another version may lack."""
    source = clone / "source" / "system" / "a.cpp"
    source.parent.mkdir(parents=True)
    source.write_text("int x;\n  int x;\n")
    functions = """WORK=$PWD; eval "$(sed -n '/^fail()/,/^}/p; /^edit()/,/^}/p' scripts/adbd/build)"\n"""
    edit = r"edit system/a.cpp 1 'int x;' 'int y; // & \1 */'"
    assert run("bash", "-c", functions + edit, cwd=clone).returncode == 0
    assert source.read_text() == "int y; // & \\1 */\n  int x;\n"
    again = run("bash", "-c", functions + edit, cwd=clone)
    assert again.returncode == 1
    assert "system/a.cpp has the line 'int x;' 0 times, expected 1" in again.stderr
