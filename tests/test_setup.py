"""Tests that set-up repeats quickly, names the cause of a failure, ends with its children, and trusts no
half-made output. The real scripts run on a machine of stand-ins (`stand_ins.py`); `scripts/setup-faults` tests
real full disks and cut downloads.
"""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S
from stand_ins import copy_of_front_door, machine, run, script, stand_in


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return copy_of_front_door(tmp_path)


STEPS = r"""
. scripts/environment.sh
. scripts/toolchains.sh
. scripts/causes.sh
eval "$(sed -n '/^[a-z_]*() {/,/^}/p; /^[a-z_]*() {.*}$/p; /^UNFINISHED=/p' scripts/setup)"
LOG=build/setup.log STAMPS=build/setup GROUP=0 TICKER=0
exec 8>&1
mkdir -p $STAMPS
work() { echo "ran whole=$WHOLE" >>ran; touch made; }
broken() { echo the cause; return 1; }
"""


def steps_run(clone: Path, *lines: str, **env: str) -> subprocess.CompletedProcess[str]:
    return run("bash", "-c", STEPS + "\n".join(lines), cwd=clone, **env)


def sources(clone: Path) -> None:
    """The inputs of the steps' stamps."""
    for name in ("contract", "backend", "runners", "frontend"):
        (clone / name).mkdir()
        (clone / name / "pyproject.toml").write_text(name)
    (clone / "frontend" / "package.json").write_text("{}")
    (clone / "requirements.lock").touch()
    (clone / "native" / "Cargo.lock").touch()


def installed(clone: Path) -> list[str]:
    """The programs that were installed since the last call."""
    path = clone / "installed"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def test_profiles_in_turn_leave_each_others_steps_alone(clone: Path) -> None:
    """The stamps do not depend on how often the clone's programs are on PATH: in a shell with the environment
    activated, or in a process of a server.
    """
    environment = machine(clone)
    sources(clone)
    first = run("scripts/setup", "test", cwd=clone, **environment)
    assert first.returncode == 0, first.stdout + first.stderr
    assert len(installed(clone)) > 4
    own = f"{clone}/.venv/bin"
    callers: list[tuple[tuple[str, ...], str]] = [
        (("scripts/setup", profile), environment["PATH"])
        for profile in ("bench", "run", "devices", "test")
    ]
    callers += [
        (
            ("scripts/inside", "scripts/inside", "scripts/setup", "bench"),
            environment["PATH"],
        ),
        (("scripts/setup", "run"), f"{own}:{own}:{environment['PATH']}"),
        (
            ("scripts/setup", "run"),
            f"{own}:{clone}/.tools/bin:/nowhere:{own}:{environment['PATH']}",
        ),
    ]
    for command, path in callers:
        done = run(*command, cwd=clone, **environment | {"PATH": path})
        assert done.returncode == 0, done.stderr
        assert installed(clone) == [], f"{command} with PATH={path}:\n{done.stdout}"
        steps = re.findall(r"^  ([a-z ]+?)  +(\S.*)$", done.stdout, re.MULTILINE)
        assert {state for name, state in steps if name != "toolchains"} == {
            "up to date"
        }


def test_make_bench_and_make_run_share_what_is_set_up(clone: Path) -> None:
    environment = machine(clone)
    sources(clone)
    assert (
        run(
            "make", "bench", "SUITE=demo", "CC=false", cwd=clone, **environment
        ).returncode
        != 0
    ), "it cannot measure"
    assert installed(clone)
    run("make", "run", cwd=clone, **environment)
    assert [line for line in installed(clone) if not line.startswith("npm")] == []
    run("make", "bench", "SUITE=demo", "CC=false", cwd=clone, **environment)
    assert installed(clone) == []


def test_a_virtual_environment_counts_as_the_python_it_was_made_from(
    tmp_path: Path, clone: Path
) -> None:
    """The path of the real Python is part of the stamps."""
    subprocess.run(
        ["python3", "-m", "venv", "--without-pip", tmp_path / "other"], check=True
    )
    look = ". scripts/environment.sh; . scripts/toolchains.sh; base_python"
    outside = run("bash", "-c", look, cwd=clone).stdout
    inside = run(
        "bash", "-c", look, cwd=clone, PATH=f"{tmp_path}/other/bin:{os.environ['PATH']}"
    ).stdout
    assert outside == inside
    assert str(tmp_path) not in inside


def test_a_step_runs_again_only_when_its_inputs_change_or_its_output_is_gone(
    clone: Path,
) -> None:
    (clone / "input").write_text("one")
    once = 'step "a thing" made "$(hash_of input)" "" work'
    steps_run(clone, once, once)
    assert (clone / "ran").read_text().count("ran") == 1
    (clone / "input").write_text("two")
    assert "up to date" not in steps_run(clone, once).stdout
    (clone / "made").unlink()
    assert "up to date" not in steps_run(clone, once).stdout
    assert "up to date" in steps_run(clone, once).stdout
    assert (clone / "ran").read_text().count("ran") == 3


def test_a_failing_step_shows_the_cause_and_is_tried_again(clone: Path) -> None:
    done = steps_run(clone, 'step "a thing" made x "Look there." broken')
    assert done.returncode == 1
    assert "the cause" in done.stderr
    assert "Look there." in done.stderr
    again = steps_run(clone, 'step "a thing" made x "Look there." work')
    assert again.returncode == 0
    assert (clone / "ran").exists()


def test_unfinished_output_of_a_step_is_not_used(clone: Path) -> None:
    """Other steps build on finished output only, so a step that was interrupted runs again even if its output
    exists.
    """
    once = 'step "a thing" made x "" work'
    steps_run(clone, once)
    half = 'half() { touch made; kill -KILL $$; }; step "a thing" made y "" half'
    steps_run(clone, half)
    assert "up to date" not in steps_run(clone, once).stdout
    steps_run(clone, 'step "a thing" made z "" work')
    assert (clone / "ran").read_text().split("\n")[:3] == [
        "ran whole=no",
        "ran whole=no",
        "ran whole=yes",
    ]


CAUSES = [
    (
        "error: failed to write: No space left on device (os error 28)",
        "The disk is full: ",
    ),
    ("npm error code ENOSPC", "The disk is full: "),
    (
        "E: You don't have enough free space in /var/cache/apt/archives/.",
        "The disk is full: ",
    ),
    ("certificate verify failed: certificate is not yet valid", "clock says 20"),
    (
        "Caused by: invalid peer certificate: UnknownIssuer",
        "certificate was not accepted",
    ),
    ("npm error code EINTEGRITY", "not the file that was pinned"),
    ("  Hash mismatch for `ruff==0.1`", "not the file that was pinned"),
    ("npm error code ENOTFOUND", "name cannot be resolved"),
    ("Could not resolve 'deb.example'", "name cannot be resolved"),
    ("dns error: failed to lookup address information", "name cannot be resolved"),
    ("IncompleteRead(1024 bytes read, 4096 more expected)", "cut short"),
    ("npm error code ECONNRESET", "cut short"),
    ("error decoding response body", "cut short"),
    ("json.decoder.JSONDecodeError: Unterminated string", "cut short"),
    ("curl: (18) transfer closed with 10 bytes remaining", "cut short"),
    ("[Errno 111] Connection refused", "cannot be reached"),
    ("npm error code ETIMEDOUT", "cannot be reached"),
    (
        "mkdir: cannot create directory: Read-only file system",
        "may not be written (mkdir",
    ),
    (
        "\x1b[31merror: Permission denied (os error 13)\x1b[0m",
        "may not be written (error: Permission",
    ),
]


def causes_of(clone: Path, said: list[str], **env: str) -> list[str]:
    look = '. scripts/environment.sh; . scripts/causes.sh; for said; do echo "$(cause_of "$said")"; done'
    return run("bash", "-c", look, "bash", *said, cwd=clone, **env).stdout.splitlines()


def test_the_cause_of_a_failure_is_named_from_what_the_clients_say(clone: Path) -> None:
    """Words as pip, uv, npm, cargo, apt-get, curl and coreutils print them."""
    causes = causes_of(
        clone, [f"something first\n{said}\nand more" for said, _ in CAUSES]
    )
    assert len(causes) == len(CAUSES)
    assert [
        (said, cause)
        for (said, part), cause in zip(CAUSES, causes, strict=True)
        if part not in cause
    ] == []
    assert causes_of(clone, ["a syntax error in line 3"]) == [""]


def test_a_full_filesystem_is_detected_and_named(
    clone: Path,
) -> None:
    """On a full disk the log is cut off, too."""
    script(
        clone / "programs" / "df",
        "echo Filesystem 1024-blocks Used Available Capacity Mounted on",
        'case "$1 $2" in',
        '"-Pk /usr") echo "/dev/vda1 100 50 9000000 50% /" ;;',
        '-Pk*) echo "/dev/vdb 100 100 12 100% /a disk" ;;',
        '*) echo "/dev/vdb 100 50 50 50% /a disk" ;;',
        "esac",
    )
    path = f"{clone}/programs:{os.environ['PATH']}"
    assert causes_of(clone, ["cut off"], PATH=path) == [
        "The disk is full: 0 MiB are free now on /a disk (/dev/vdb)."
    ]


def test_a_clock_of_1970_is_named(clone: Path) -> None:
    script(
        clone / "programs" / "date",
        'case $1 in +%s) echo 86400 ;; *) echo "1970-01-02 00:00" ;; esac',
    )
    path = f"{clone}/programs:{os.environ['PATH']}"
    assert (
        "clock says 1970-01-02 00:00"
        in causes_of(clone, ["request failed"], PATH=path)[0]
    )


BLOCKS = (
    'echo $$ >>"@/children"; exec 3>"@/alive"; echo up >"@/ready"; read -r _ <"@/never"'
)
"""A program that reports its start and waits for ever; the system closes its end of `alive`."""


def wait_for_word(fifo: int, process: subprocess.Popen[Any]) -> None:
    """Waits until the fifo, which is open for reading, was written to; fails if the process ends first."""
    while not select.select([fifo], [], [], 0.2)[0]:
        assert process.poll() is None, "it ended before its step began"
    os.close(fifo)


def _take_terminal() -> None:
    """Make the terminal that is standard input the one of this process's session, for Ctrl-C."""
    os.close(os.open(os.ttyname(0), os.O_RDWR))


class BlockedSetup:
    """A set-up whose step waits; its children hold a fifo open until the last of them has ended."""

    def __init__(self, clone: Path, environment: dict[str, str], *command: str) -> None:
        for fifo in ("alive", "ready", "never"):
            os.mkfifo(clone / fifo)
        self._alive = os.open(clone / "alive", os.O_RDONLY | os.O_NONBLOCK)
        ready = os.open(clone / "ready", os.O_RDONLY | os.O_NONBLOCK)
        self.terminal, end = pty.openpty()
        self.process = ChildProcess[bytes](
            command,
            cwd=clone,
            env={**os.environ, **environment},
            stdin=end,
            stdout=end,
            stderr=end,
            prepare=_take_terminal,
        )
        os.close(end)
        wait_for_word(ready, self.process)

    def wait_for_end(self) -> tuple[int, str]:
        """The exit status and the terminal's output, once every child has ended."""
        shown = b""
        while True:
            try:
                piece = os.read(self.terminal, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not piece:
                break
            shown += piece
        code = self.process.wait(WITHIN_S)
        os.set_blocking(self._alive, True)
        with os.fdopen(self._alive, "rb") as held:
            held.read()
        os.close(self.terminal)
        return code, shown.decode()


@pytest.mark.parametrize("sent", ["ctrl-c", "kill"])
@pytest.mark.parametrize("tool", ["uv", "npm"])
def test_an_interrupted_step_ends_with_its_children_and_the_next_set_up_continues(
    clone: Path, tool: str, sent: str
) -> None:
    environment = machine(clone)
    sources(clone)
    blocking = BLOCKS.replace("@", str(clone))
    uv = (clone / "uv.sh").read_text()
    if tool == "uv":
        (clone / "uv.sh").write_text(f"(trap '' INT; {blocking}) & wait\n")
    else:
        script(
            clone / "programs" / "npm",
            f'[ "$1" != --version ] || {{ echo 10; exit; }}; trap "" INT; {blocking}',
        )
    blocked = BlockedSetup(clone, environment, "scripts/setup", "run")
    if sent == "ctrl-c":
        os.write(blocked.terminal, b"\x03")
    else:
        blocked.process.send_signal(signal.SIGTERM)
    code, shown = blocked.wait_for_end()
    assert code == (130 if sent == "ctrl-c" else 143), shown
    step = "python packages" if tool == "uv" else "frontend packages"
    assert f'Interrupted during "{step}"' in shown
    assert (
        clone / "build" / "setup" / f"{step.replace(' ', '-')}.stamp"
    ).read_text() == "unfinished\n"

    (clone / "uv.sh").write_text(uv)
    stand_in(clone, "node")
    again = run("scripts/setup", "run", cwd=clone, **environment)
    assert again.returncode == 0, again.stderr
    assert re.search(r"private tools +up to date", again.stdout)
    assert not re.search(rf"{step} +up to date", again.stdout)


def test_two_setups_at_once_wait_for_each_other(clone: Path) -> None:
    environment = machine(clone)
    sources(clone)
    uv = (clone / "uv.sh").read_text()
    os.mkfifo(clone / "ready")
    os.mkfifo(clone / "go")
    ready = os.open(clone / "ready", os.O_RDONLY | os.O_NONBLOCK)
    (clone / "uv.sh").write_text(
        f'[ "$1" != venv ] || {{ echo up >"{clone}/ready"; read -r _ <"{clone}/go"; }}\n{uv}'
    )
    both: dict[str, Any] = {
        "cwd": clone,
        "env": {**os.environ, **environment},
        "stdout": subprocess.PIPE,
        "text": True,
    }
    with ChildProcess[str](["scripts/setup", "bench"], **both) as first:
        wait_for_word(ready, first)
        with ChildProcess[str](["scripts/setup", "bench"], **both) as second:
            assert second.stdout is not None
            assert (
                second.stdout.readline()
                == "another set-up of this clone is running; waiting for it\n"
            )
            (clone / "go").write_text("\n")
            rest = second.stdout.read()
        assert first.wait(WITHIN_S) == 0
    assert second.returncode == 0
    assert rest.count("up to date") == 3


@pytest.mark.parametrize("name", ["two words", "it's", "größe 大"])
def test_a_clone_may_lie_anywhere(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir()
    clone = copy_of_front_door(place)
    environment = machine(clone)
    sources(clone)
    wrapped = '. scripts/environment.sh; . scripts/toolchains.sh; wrapper hello "exec echo $(quoted "$ROOT")"'
    assert run("bash", "-c", wrapped, cwd=clone).returncode == 0
    assert run("scripts/inside", "hello", cwd=clone).stdout == f"{clone}\n"
    for state in ("installs", "up to date"):
        done = run("scripts/setup", "test", cwd=clone, **environment | {"LC_ALL": "C"})
        assert done.returncode == 0, done.stdout + done.stderr
        assert ("up to date" in done.stdout) == (state == "up to date")


def test_a_directory_that_path_cannot_hold_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "a:b"
    place.mkdir()
    done = run("scripts/setup", "bench", cwd=copy_of_front_door(place))
    assert done.returncode == 1
    assert "a place with a colon cannot stand on PATH" in done.stderr


PLACES = """
. scripts/environment.sh
printf '%s\\n' "$TMPDIR" "$XDG_CACHE_HOME" "$npm_config_cache" "$CARGO_HOME" "$MAVEN_OPTS"
"""


def test_an_unwritable_home_and_a_small_tmp_are_not_used(
    clone: Path,
) -> None:
    temporary = clone / "temporary"
    temporary.mkdir()
    df = [
        "echo Filesystem 1024-blocks Used Available Capacity Mounted on",
        f'case "$2" in "{temporary}") echo "x 1 1 $FREE_KIB 1% /" ;; *) echo "x 1 1 90000000 1% /" ;; esac',
    ]
    script(clone / "programs" / "df", *df)
    unset = dict.fromkeys(
        ("XDG_CACHE_HOME", "XDG_STATE_HOME", "npm_config_cache", "CARGO_HOME"), ""
    )
    environment = {
        **unset,
        "PATH": f"{clone}/programs:{os.environ['PATH']}",
        "TMPDIR": str(temporary),
        "MAVEN_OPTS": "-Dmaven.repo.local=mine",
    }

    def scratch_directories(home: Path, free_kib: int) -> list[str]:
        changed = {"HOME": str(home), "FREE_KIB": str(free_kib)}
        return run(
            "bash", "-c", PLACES, cwd=clone, **environment | changed
        ).stdout.splitlines()

    build = clone / "build"
    caches = [f"{build}/{name}" for name in ("caches", "caches/npm", "caches/cargo")]
    assert scratch_directories(Path("/dev/null/home"), 4096) == [
        str(build / "tmp"),
        *caches,
        "-Dmaven.repo.local=mine",
    ]
    (clone / "home").mkdir()
    assert scratch_directories(clone / "home", 9_000_000) == [
        str(temporary),
        "",
        "",
        "",
        "-Dmaven.repo.local=mine",
    ]


@pytest.mark.parametrize("variable", ["LC_ALL", "LANG"])
def test_builds_read_paths_as_utf_8_whatever_the_callers_locale(
    clone: Path, variable: str
) -> None:
    """A JVM in the locale C cannot open files below a path with letters beyond ASCII."""
    script(
        clone / "programs" / "locale",
        'case "$1 ${LC_ALL:-${LC_CTYPE:-$LANG}}" in',
        '"-a "*) printf "C\\nC.utf8\\nPOSIX\\n" ;; "charmap C.utf8") echo UTF-8 ;; *) echo ANSI_X3.4-1968 ;;',
        "esac",
    )
    look = '. scripts/environment.sh; echo "$LC_ALL+$LC_CTYPE"'
    path = f"{clone}/programs:{os.environ['PATH']}"
    environment = {"PATH": path, "LC_ALL": "", "LC_CTYPE": "", "LANG": "C"} | {
        variable: "C"
    }
    shown = run("bash", "-c", look, cwd=clone, **environment).stdout
    assert shown == ("C.utf8+\n" if variable == "LC_ALL" else "+C.utf8\n")


def test_home_may_be_unset(clone: Path) -> None:
    environment = machine(clone)
    sources(clone)
    done = subprocess.run(
        ["env", "-u", "HOME", "scripts/setup", "test"],
        cwd=clone,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "unbound" not in done.stderr


def test_tests_that_arguments_select_may_be_of_one_kind_but_not_of_none(
    clone: Path,
) -> None:
    """pytest answers 5 when it is left with no test."""
    text = (clone / "scripts" / "test").read_text(encoding="utf-8")
    (clone / "scripts" / "test").write_text(
        text.replace("[ $# -gt 0 ]", "lint_python() { :; }\n[ $# -gt 0 ]", 1)
    )
    script(clone / ".venv" / "bin" / "python", "echo 1")
    for journeys, others, code in (
        (5, 0, 0),
        (0, 5, 0),
        (5, 5, 1),
        (1, 5, 1),
        (5, 1, 1),
    ):
        script(
            clone / ".venv" / "bin" / "pytest",
            f'case "$*" in *"not journey"*) exit {others} ;; *) exit {journeys} ;; esac',
        )
        done = run(
            "scripts/test",
            "python",
            cwd=clone,
            PYTEST_ARGS="backend/tests/jobs -k lease",
        )
        assert done.returncode == code, done.stdout
    script(clone / ".venv" / "bin" / "pytest", "exit 5")
    assert run("scripts/test", "python", cwd=clone, PYTEST_ARGS="").returncode == 1
