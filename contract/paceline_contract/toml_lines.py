"""Finds the line of a value in a TOML file, which the standard parser does not report.

It never fails: for an unknown path it returns the line of the nearest enclosing table or key. It does not check the
syntax, because `tomllib` has parsed the file before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Path = tuple[str | int, ...]

_KEY = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*""")


class TomlLines:
    """Knows the line of every key and table; a path has an index, from 0, after the name of an array of tables."""

    def __init__(self, text: str) -> None:
        self._lines: dict[Path, int] = {(): 1}
        self._counts: dict[Path, int] = {}
        self._table: Path = ()
        open_string, depth = "", 0
        for number, line in enumerate(text.splitlines(), start=1):
            if not open_string and depth == 0:
                self._statement(line, number)
                if line.lstrip().startswith("["):
                    continue
            open_string, depth = _open_at_end(line, open_string, depth)

    def line(self, path: Sequence[str | int]) -> int:
        """Return the line (from 1) of the key or table at `path`."""
        key = tuple(path)
        while key not in self._lines:
            key = key[:-1]
        return self._lines[key]

    def _statement(self, line: str, number: int) -> None:
        stripped = line.lstrip()
        if stripped.startswith("[["):
            table = self._with_indices(_keys(stripped[2:]), last_is_array=True)
        elif stripped.startswith("["):
            table = self._with_indices(_keys(stripped[1:]), last_is_array=False)
        else:
            keys = _keys(stripped)
            for end in range(1, len(keys) + 1):
                self._lines.setdefault((*self._table, *keys[:end]), number)
            return
        self._table = table
        for end in range(1, len(table) + 1):
            self._lines.setdefault(table[:end], number)

    def _with_indices(self, keys: list[str], last_is_array: bool) -> Path:
        path: Path = ()
        for position, key in enumerate(keys):
            path = (*path, key)
            if position == len(keys) - 1 and last_is_array:
                self._counts[path] = self._counts.get(path, -1) + 1
            if path in self._counts:
                path = (*path, self._counts[path])
        return path


def _keys(text: str) -> list[str]:
    """Return the dotted key at the start of `text`."""
    keys: list[str] = []
    at = 0
    while match := _KEY.match(text, at):
        keys.append(next(group for group in match.groups() if group is not None))
        at = match.end()
        if at >= len(text) or text[at] != ".":
            break
        at += 1
    return keys


def _open_at_end(line: str, open_string: str, depth: int) -> tuple[str, int]:
    """Return the quotes of a string that is still open at the end of `line`, and the number of open brackets."""
    at = 0
    while at < len(line):
        if open_string:
            if open_string.startswith('"') and line[at] == "\\":
                at += 2
            elif line.startswith(open_string, at):
                at += len(open_string)
                open_string = ""
            else:
                at += 1
            continue
        char = line[at]
        if char == "#":
            break
        if char in "\"'":
            open_string = char * 3 if line.startswith(char * 3, at) else char
            at += len(open_string)
            continue
        depth += (char in "[{") - (char in "]}")
        at += 1
    return (open_string if len(open_string) == 3 else ""), max(depth, 0)
