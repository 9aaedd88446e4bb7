"""Quotes an argv as one line for a device's POSIX shell.

The protocol transfers only command lines. Every item is quoted, even the program and harmless ones, so that
none can be an expansion, an operator, an alias, a keyword or an assignment.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.adb.port import AdbError


def quote(item: str) -> bytes:
    """Quote one word for the shell. Surrogate escapes (PEP 383) become the bytes they stand for. Raises AdbError for
    a NUL, which no argument can hold.

    Within single quotes only the quote itself is special in a POSIX shell (POSIX.1-2017, Shell Command
    Language, §2.2.2), so a quote is written outside of them.
    """
    try:
        data = item.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise AdbError(f"{item!r} is not valid text: {error.reason}") from error
    if b"\0" in data:
        raise AdbError(
            f"{item!r} contains a NUL, which no argument can",
            "Write it to a file and push that.",
        )
    return b"'" + data.replace(b"'", rb"'\''") + b"'"


def command_line(argv: Sequence[str]) -> bytes:
    """Return the words of `argv`, separated by one space. Raises AdbError for an empty argv and for a NUL."""
    if isinstance(argv, str) or not argv:
        raise AdbError(
            f"{argv!r} is not an argv",
            "Give a list: the program first, then each argument.",
        )
    return b" ".join(quote(item) for item in argv)
