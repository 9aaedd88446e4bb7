"""Tests of quoting with real shells: every argument arrives unchanged, byte for byte."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from paceline.adb.port import AdbError
from paceline.adb.quoting import command_line, quote
from paceline.testing.hostile import HOSTILE, MARK

SHELLS = [
    name
    for name in ("sh", "dash", "bash", "mksh", "zsh", "busybox")
    if shutil.which(name)
]


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def test_there_are_two_hundred_hostile_strings_and_no_two_are_equal_in_one_group() -> (
    None
):
    assert len(set(HOSTILE)) >= 200


@pytest.mark.parametrize("shell", SHELLS)
def test_every_hostile_string_is_one_argument_of_every_shell_of_this_host(
    shell: str, tmp_path: Path
) -> None:
    line = command_line(["printf", "%s\\0", *HOSTILE])
    start = ["busybox", "sh"] if shell == "busybox" else [shell]
    done = subprocess.run(
        [*start, "-c", line], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout.split(b"\0")[:-1] == [as_bytes(text) for text in HOSTILE]
    assert not (tmp_path / MARK).exists()


def test_every_hostile_string_as_the_program_is_looked_for_and_nothing_else(
    tmp_path: Path,
) -> None:
    """A keyword, assignment or operator as a program is only an unknown command, and the shell continues."""
    # A shell finds its builtins by name, quote or not, like any other program.
    names = [
        text for text in HOSTILE if text not in ("eval", "exec", "exit", ":", ".", "[")
    ]
    lines = [
        b"%s 2>/dev/null; printf '%%d ' $?" % command_line([name]) for name in names
    ]
    done = subprocess.run(
        ["/bin/sh", "-c", b"; ".join(lines)],
        cwd=tmp_path,
        env={"PATH": "/nowhere"},
        stdout=-1,
        check=True,
    )
    statuses = done.stdout.split()
    assert len(statuses) == len(names)
    assert set(statuses) <= {b"126", b"127"}
    assert list(tmp_path.iterdir()) == []


def test_harmless_words_are_quoted_too_so_that_no_alias_or_keyword_is_met() -> None:
    assert command_line(["if", "A=b", "plain"]) == b"'if' 'A=b' 'plain'"


def test_a_quoted_line_reads_back_as_its_argv() -> None:
    argv = [
        text
        for text in HOSTILE
        if not any("\udc80" <= letter <= "\udcff" for letter in text)
    ]
    assert shlex.split(command_line(argv).decode()) == argv


def test_a_nul_is_refused_because_no_argument_can_hold_it() -> None:
    with pytest.raises(AdbError, match="NUL"):
        quote("a\0b")


def test_a_lone_surrogate_that_stands_for_no_byte_is_refused() -> None:
    with pytest.raises(AdbError, match="not valid text"):
        quote("\ud800")


@pytest.mark.parametrize("argv", [[], "rm -rf x"])
def test_a_string_or_nothing_is_no_argv(argv: list[str]) -> None:
    with pytest.raises(AdbError, match="not an argv"):
        command_line(argv)
