"""The programs that the device in memory can run: those that the conformance tests need.

For supported arguments each prints and ends like the real program; for others it ends with status 2. No real
shell is involved.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import NamedTuple

from paceline.adb.port import CommandResult

NOT_FOUND, NOT_EXECUTABLE, NOT_UNDERSTOOD = 127, 126, 2


class Running(NamedTuple):
    """A program that has printed this and does not end by itself."""

    printed: bytes


class State(NamedTuple):
    """The part of a device that programs can access."""

    files: MutableMapping[str, bytes]
    modes: Mapping[str, int]
    props: MutableMapping[str, str]


Execution = CommandResult | Running


def execute(state: State, argv: Sequence[str]) -> Execution:
    """Run one of the programs below or a pushed script."""
    name, rest = argv[0], list(argv[1:])
    if name in state.files:
        if not state.modes.get(name, 0) & 0o100:
            return CommandResult(
                NOT_EXECUTABLE, b"", _shell_error(f"{name}: Permission denied")
            )
        return _run_script(state, state.files[name].decode())
    program = PROGRAMS.get(name.removeprefix("/system/bin/"))
    if program is None:
        return CommandResult(NOT_FOUND, b"", _shell_error(f"{name}: not found"))
    return program(state, rest)


def _shell_error(text: str) -> bytes:
    return f"sh: {text}\n".encode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _run_script(state: State, text: str) -> Execution:
    """Run commands one after the other. Supports words, `exit N` and `>&2`, no other shell syntax."""
    out, err, rc = b"", b"", 0
    for line in text.replace(";", "\n").splitlines():
        words = shlex.split(line, comments=True)
        to_err = words[-1:] == [">&2"]
        if to_err:
            words.pop()
        if not words:
            continue
        if words[0] == "exit":
            return CommandResult(int(words[1]), out, err)
        done = execute(state, words)
        if isinstance(done, Running):
            return Running(out + done.printed)
        rc = done.rc
        out, err = (out, err + done.stdout) if to_err else (out + done.stdout, err)
        err += done.stderr
    return CommandResult(rc, out, err)


def _cat(state: State, paths: list[str]) -> Execution:
    out, err = b"", b""
    for path in paths:
        if path in state.files:
            out += state.files[path]
        else:
            err += _bytes(f"cat: {path}: No such file or directory\n")
    return CommandResult(1 if err else 0, out, err)


def _printf(_: State, words: list[str]) -> Execution:
    if not words or words[0] not in ("%s\\0", "%s\\n"):
        return CommandResult(
            NOT_UNDERSTOOD, b"", b"printf: the device in memory knows %s\\0 and %s\\n\n"
        )
    end = b"\0" if words[0].endswith("0") else b"\n"
    return CommandResult(0, b"".join(_bytes(word) + end for word in words[1:]))


def _tail(state: State, words: list[str]) -> Execution:
    follow = words[:1] == ["-f"]
    done = _cat(state, words[1:] if follow else words)
    return (
        Running(done.stdout)
        if follow and isinstance(done, CommandResult) and not done.rc
        else done
    )


def _rm(state: State, words: list[str]) -> Execution:
    for path in (word for word in words if not word.startswith("-")):
        for name in [
            name for name in state.files if name == path or name.startswith(f"{path}/")
        ]:
            del state.files[name]
    return CommandResult(0, b"")


def _getprop(state: State, words: list[str]) -> Execution:
    if words:
        return CommandResult(0, _bytes(state.props.get(words[0], "")) + b"\n")
    return CommandResult(
        0,
        b"".join(
            _bytes(f"[{name}]: [{value}]\n") for name, value in state.props.items()
        ),
    )


def _sh(state: State, words: list[str]) -> Execution:
    if len(words) >= 2 and words[0] == "-c":
        return _run_script(state, words[1])
    return CommandResult(NOT_UNDERSTOOD, b"", b"sh: the device in memory knows sh -c\n")


PROGRAMS: dict[str, Callable[[State, list[str]], Execution]] = {
    "true": lambda _state, _words: CommandResult(0, b""),
    "false": lambda _state, _words: CommandResult(1, b""),
    "echo": lambda _state, words: CommandResult(0, _bytes(" ".join(words)) + b"\n"),
    "sleep": lambda _state, _words: Running(b""),
    "cat": _cat,
    "printf": _printf,
    "tail": _tail,
    "rm": _rm,
    "getprop": _getprop,
    "sh": _sh,
}
