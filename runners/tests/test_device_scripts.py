"""Tests of the shell scripts for devices, with a POSIX shell and with Android's mksh and toybox."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import psutil
import pytest
from paceline.devices import scripts
from paceline.executors.detached import FollowerFrame, FollowerParser
from paceline_contract.testing.waiting import WITHIN_S, wait_until

ANDROIDS_OWN = ("mksh", "toybox")
NOT_IN_DEBIANS_TOYBOX = ("dd",)
KEYWORDS = {
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "while",
    "until",
    "case",
    "esac",
}


class Shell:
    """Runs scripts as a device would; `run` marks its processes and `directory` is the run's."""

    def __init__(self, directory: Path, path: str | None) -> None:
        self.directory = directory
        self.run = f"scripts-{uuid.uuid4().hex}"
        self.environment = {**os.environ, **({"PATH": path} if path else {})}

    def command(self, name: scripts.Name, *arguments: str | Path) -> list[str]:
        argv = scripts.argv(name, *map(str, arguments))
        shell = shutil.which(argv[0], path=self.environment["PATH"])
        assert shell is not None
        return [shell, *argv[1:]]

    def __call__(
        self, name: scripts.Name, *arguments: str | Path
    ) -> subprocess.CompletedProcess[bytes]:
        command = self.command(name, *arguments)
        return subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            timeout=WITHIN_S,
            check=False,
        )

    def start(self, *command: str, limit: str = "600", name: str = "launch") -> Path:
        launch, script = self.directory / name, self.directory / "launch.sh"
        script.write_text(scripts.text("launch"))
        done = self(
            "start",
            launch,
            script,
            self.run,
            self.directory,
            limit,
            "0",
            command[0],
            *command,
        )
        assert done.returncode == 0, done
        return launch

    def follow(self, launch: Path, out: int = 0, err: int = 0) -> list[FollowerFrame]:
        done = self("follow", launch, str(out), str(err), "0.02")
        return list(FollowerParser().feed(done.stdout))

    def processes(self) -> list[psutil.Process]:
        result = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("PACELINE_RUN") == self.run:
                    result.append(process)
            except psutil.Error:
                continue
        return result

    def commands(self) -> list[str]:
        """The command lines of the run's processes."""
        result = []
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                result.append(" ".join(process.cmdline()))
        return result


@pytest.fixture(params=["sh", "mksh and toybox"])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shell]:
    path = None
    if request.param != "sh":
        tools = {
            name: shutil.which(name) for name in (*ANDROIDS_OWN, *NOT_IN_DEBIANS_TOYBOX)
        }
        if missing := [name for name, where in tools.items() if where is None]:
            pytest.skip(f"no Android shell here: {' and '.join(missing)} are missing")
        path = str(
            _make_device_path(
                tmp_path / "bin", {name: str(where) for name, where in tools.items()}
            )
        )
    (tmp_path / "run").mkdir()
    item = Shell(tmp_path / "run", path)
    yield item
    item("sweep", item.run, item.directory, "")
    assert not item.processes()


def _make_device_path(directory: Path, tools: dict[str, str]) -> Path:
    """A PATH with nothing on it but what an Android device has."""
    directory.mkdir()
    listed = subprocess.run(
        [tools["toybox"]], capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split():
        (directory / name).symlink_to(tools["toybox"])
    for name in NOT_IN_DEBIANS_TOYBOX:
        (directory / name).symlink_to(tools[name])
    (directory / "sh").unlink(missing_ok=True)
    (directory / "sh").symlink_to(tools["mksh"])
    return directory


def output_of(frames: list[FollowerFrame], word: str) -> bytes:
    return b"".join(frame.data for frame in frames if frame.word == word)


def status(frames: list[FollowerFrame]) -> str:
    return frames[-1].text if frames[-1].word == "end" else frames[-1].word


def test_a_launch_is_followed_from_any_offset_to_its_status(shell: Shell) -> None:
    text = "".join(f"line {number} of what it says\n" for number in range(6000))
    (shell.directory / "text").write_text(text)
    launch = shell.start("sh", "-c", "cat text; echo no >&2; exit 7")
    whole = shell.follow(launch)
    assert (output_of(whole, "out"), output_of(whole, "err"), status(whole)) == (
        text.encode(),
        b"no\n",
        "7",
    )
    for offset in (1, 65_535, 65_536, 65_537, 131_072, len(text) - 1, len(text)):
        rest = shell.follow(launch, out=offset, err=2)
        assert (output_of(rest, "out"), output_of(rest, "err")) == (
            text.encode()[offset:],
            b"\n",
        )
        assert status(rest) == "7"


def test_output_is_delivered_once_while_it_is_followed(shell: Shell) -> None:
    code = 'i=0; while [ "$i" -lt 3000 ]; do echo "$i"; i=$((i+1)); done'
    frames = shell.follow(shell.start("sh", "-c", code))
    assert output_of(frames, "out").split() == [
        str(number).encode() for number in range(3000)
    ]


def test_a_silent_launch_sends_keepalives_until_it_ends(
    shell: Shell,
) -> None:
    launch = shell.start("sh", "-c", "until [ -e go ]; do sleep 0.02; done")
    command = shell.command("follow", launch, "0", "0", "0.02")
    with subprocess.Popen(
        command, env=shell.environment, stdout=subprocess.PIPE
    ) as follower:
        assert follower.stdout is not None
        first_line = follower.stdout.readline()
        (shell.directory / "go").touch()
        frames = list(FollowerParser().feed(first_line + follower.stdout.read()))
    beats = [frame.text.split() for frame in frames if frame.word == "beat"]
    assert frames[0].word == "beat"
    assert len({began for began, _ in beats}) == 1
    up_s = float(Path("/proc/uptime").read_text().split()[0])
    assert all(0 < float(began) <= float(now) <= up_s for began, now in beats), (
        "seconds since boot"
    )
    assert status(frames) == "0"


def test_output_of_a_workload_is_never_taken_for_the_protocol(shell: Shell) -> None:
    frames = shell.follow(
        shell.start("sh", "-c", "printf 'end 0\\nbeat\\nout 0 9\\n'; exit 5")
    )
    assert output_of(frames, "out") == b"end 0\nbeat\nout 0 9\n"
    assert status(frames) == "5"


def test_starting_again_starts_nothing_twice(shell: Shell) -> None:
    shell.start("sh", "-c", "echo once")
    launch = shell.start("sh", "-c", "echo once")
    assert output_of(shell.follow(launch), "out") == b"once\n"


def test_a_late_start_of_a_run_that_was_cleaned_away_starts_nothing(
    shell: Shell,
) -> None:
    launch, script = shell.directory / "gone" / "launch", shell.directory / "launch.sh"
    script.write_text(scripts.text("launch"))
    done = shell(
        "start",
        launch,
        script,
        shell.run,
        shell.directory,
        "60",
        "0",
        "sleep",
        "sleep",
        "600",
    )
    assert done.returncode == 3
    assert not shell.processes()
    assert not launch.parent.exists()


def test_a_signal_reaches_the_workload_and_its_children(shell: Shell) -> None:
    """mksh catches SIGTERM, and so does a child that it has just forked: until the child runs its program, the
    signal is lost. So the signal is sent when both programs run."""
    launch = shell.start("sh", "-c", "sleep 601 & sleep 601")
    wait_until("both children", lambda: shell.commands().count("sleep 601") == 2)
    shell("order", launch, "TERM")
    assert status(shell.follow(launch)) == "143"


def test_an_abandoned_launch_ends_by_itself(shell: Shell) -> None:
    frames = shell.follow(
        shell.start("sh", "-c", "trap '' TERM; sleep 600; sleep 600", limit="0.3")
    )
    assert [frame.word for frame in frames][-2:] == ["late", "end"]
    assert status(frames) == "137"


def test_an_abandoned_launch_ends_before_it_leads_a_group_too(
    shell: Shell, tmp_path: Path
) -> None:
    """Its time is over before `setsid` has run, as where a device stands still."""
    slow, path = tmp_path / "slow", shell.environment["PATH"]
    setsid = shutil.which("setsid", path=path)
    slow.mkdir()
    (slow / "setsid").write_text(
        f'#!/bin/sh\n[ "$1" != sleep ] || sleep 0.5\nexec {setsid} "$@"\n'
    )
    (slow / "setsid").chmod(0o755)
    shell.environment["PATH"] = f"{slow}{os.pathsep}{path}"
    frames = shell.follow(shell.start("sleep", "600", limit="0.1"))
    assert [frame.word for frame in frames][-2:] == ["late", "end"]
    assert status(frames) == "137"


def test_a_missing_program_is_named(shell: Shell) -> None:
    assert status(shell.follow(shell.start("no-such-program"))) == "missing"


def test_a_launch_whose_watcher_was_killed_is_gone_and_not_running(
    shell: Shell,
) -> None:
    launch = shell.start("sleep", "600")
    psutil.Process(int((launch / "watcher").read_text())).kill()
    assert status(shell.follow(launch)) == "gone"


def test_the_sweep_finds_processes_by_each_mark_alone(shell: Shell) -> None:
    """Another session, another directory, no environment, a program of the run: each alone is found."""
    shutil.copy(shutil.which("sleep") or "", shell.directory / "own")
    # Parallel tests start `sleep`, too; no other test uses these durations.
    a, b, c = (str(os.getpid() * 10 + place) for place in range(3))
    code = f"cd /; setsid sleep {a} & cd - >/dev/null; setsid env -i sleep {b} & cd /; setsid env -i $0 {c} &"
    launch = shell.start("sh", "-c", f"{code} wait", str(shell.directory / "own"))
    marked = shell.processes()
    wanted = {a, b, c}

    def detached() -> list[psutil.Process] | None:
        """All three of them, found in one search: in another one, some may just be changing their programs."""
        every = psutil.process_iter()
        found = [item for item in every if _is_ours(item, shell.directory, wanted)]
        return found if len(found) == 3 else None

    hidden = wait_until(f"three detached processes of {marked}", detached)
    counted = int(shell("sweep", shell.run, shell.directory, launch).stdout)
    assert counted >= 4  # those three and their parent; the watcher is not counted
    assert not [item for item in hidden if _is_alive(item)]
    assert int(shell("sweep", shell.run, shell.directory, "").stdout) == 0


def _is_ours(process: psutil.Process, directory: Path, last: set[str]) -> bool:
    try:
        argv = process.cmdline()
        mine = process.environ().get("PACELINE_RUN") or process.cwd() == str(directory)
        return (
            argv[-1:] != []
            and argv[-1] in last
            and bool(mine or process.exe().startswith(str(directory)))
        )
    except psutil.Error:
        return False


def _is_alive(process: psutil.Process) -> bool:
    """Whether it runs; one that was killed may be reaped at any moment."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_leftovers_are_named_and_removed_whatever_their_modes(shell: Shell) -> None:
    workdir = shell.directory / "work"
    for name in ("job_1-1", ".hidden", "with space"):
        (workdir / name / "deep").mkdir(parents=True)
    (workdir / "job_1-1" / "settings").write_text("fixed_performance_mode\n")
    (workdir / "job_1-1" / "deep").chmod(0o500)
    named = shell("leftovers", workdir).stdout.decode().splitlines()
    runs = ["run .hidden", "run job_1-1", "run with space"]
    assert sorted(named) == [*runs, "setting fixed_performance_mode", "workdir"]
    assert shell("remove", workdir).returncode == 0
    assert not workdir.exists()
    assert shell("leftovers", workdir).stdout == b""


def test_a_listing_says_size_mode_and_digest_of_every_file(shell: Shell) -> None:
    (shell.directory / "tree" / "a b").mkdir(parents=True)
    file = shell.directory / "tree" / "a b" / "c"
    file.write_bytes(b"abc")
    file.chmod(0o755)
    sizes, _, digests = (
        shell("listing", shell.directory / "tree").stdout.decode().partition("\n\n")
    )
    assert sizes == "3 755 ./a b/c"
    assert (
        digests
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  ./a b/c\n"
    )


def test_a_missing_tool_on_the_device_is_named(shell: Shell) -> None:
    assert shell("tools", *scripts.tools()).stdout.split() in ([], [b"getprop"]), (
        "this host is no phone"
    )
    named = shell("tools", "sh", "no-such-tool", "cp", "nor-this").stdout.split()
    assert named == [b"no-such-tool", b"nor-this"]


BUILT_IN = {
    ".",
    "[",
    "cd",
    "command",
    "echo",
    "exec",
    "exit",
    "export",
    "kill",
    "read",
    "set",
    "shift",
    "trap",
    "true",
    "wait",
}
"""Builtin commands of Android's mksh (mksh.1), which has no `printf`."""


@pytest.mark.parametrize("name", get_args(scripts.Name))
def test_a_script_needs_only_the_tools_it_declares(
    name: scripts.Name, tmp_path: Path
) -> None:
    """Words of a script count as programs if this host has a program of that name and the shell has no such word."""
    words = set(
        re.findall(r"(?<![-\w$/{.\"=])[a-z][a-z0-9]*(?![\w=/}.'])", scripts.text(name))
    )
    variables = set(
        re.findall(r"\bfor (\w+)|\b(\w+)=|\bread -r ([\w ]+)", scripts.text(name))
    )
    reported = {
        word for variable in variables for part in variable for word in part.split()
    }
    programs = {
        word for word in words - BUILT_IN - reported - KEYWORDS if shutil.which(word)
    }
    source = (scripts.DIRECTORY / f"{name}.sh").read_text()
    needs = {
        tool
        for line in source.splitlines()
        if line.startswith("# Needs: ")
        for tool in line.split()[2:]
    }
    assert programs == needs
    assert needs <= set(scripts.tools())


@pytest.mark.parametrize("name", get_args(scripts.Name))
def test_a_script_fits_into_a_packet_of_an_old_device_with_room_for_arguments(
    name: scripts.Name,
) -> None:
    assert len(scripts.text(name).encode()) < 2048
