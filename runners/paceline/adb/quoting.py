"""Quotes an argv as one line for a device's POSIX shell.

The protocol knows only command lines. Every item is quoted, also harmless ones and the program, so that none
can be an expansion, an operator, an alias, a keyword or an assignment. A NUL, which no argument can hold, is
refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.adb.port import AdbError


def quoted(item: str) -> bytes:
    """One word of the shell. Bytes that are no UTF-8 travel as surrogate escapes (PEP 383).

    Within single quotes a POSIX shell knows no special character but the quote itself (POSIX.1-2017, Shell
    Command Language, §2.2.2); that one is written outside of them.
    """
    try:
        data = item.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise AdbError(f"{item!r} is no text and no bytes: {error.reason}") from error
    if b"\0" in data:
        raise AdbError(
            f"{item!r} holds a NUL",
            "No argument of a command can; write it to a file and push it.",
        )
    return b"'" + data.replace(b"'", rb"'\''") + b"'"


def command_line(argv: Sequence[str]) -> bytes:
    """The words of `argv`, separated by one space. Raises AdbError for an empty argv and for a NUL."""
    if isinstance(argv, str) or not argv:
        raise AdbError(
            f"{argv!r} is no argv",
            "Give a list: the program first, then each argument.",
        )
    return b" ".join(quoted(item) for item in argv)
