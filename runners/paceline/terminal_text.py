"""Turns what a program printed into plain lines: no escapes, no overwritten progress.

Memory and time stay bounded whatever is printed: a line is cut at LINE_BYTES and every byte is read once.
"""

from __future__ import annotations

import re

LINE_BYTES = 4096
"""Most bytes kept of a line; the text says how many more there were."""
TAB_COLUMNS = 8
"""Width of a tab in terminals, so that carets below a source line stay in place."""

_ESCAPES = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor moves
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC and its kin: titles, links
    r"|[ -/]*[0-~]?"  # two-character sequences, character sets
    r")"
)
_CONTROLS = re.compile(r"[\x01-\x08\x0b-\x1f\x7f-\x9f]")
"""Other control characters, except newline and tab."""
_NUL = "\ufffd"
"""Replaces a zero byte, which no database accepts."""


def strip_control(text: str) -> str:
    """Return `text` without terminal escapes and other control characters; newlines and tabs are kept."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", _NUL)
    return _CONTROLS.sub("", _ESCAPES.sub("", lines))


def readable_line(line: str) -> str:
    """Return one line as a page shows it: plain, with tabs as spaces and no trailing blanks."""
    if line.isprintable():
        return line.rstrip()
    return strip_control(line).replace("\n", " ").expandtabs(TAB_COLUMNS).rstrip()


class LineSplitter:
    """Splits bytes in pieces of any size into lines as a terminal shows them: a carriage return overwrites the
    line, so only the last state of a progress bar is kept."""

    def __init__(self, line_bytes: int = LINE_BYTES) -> None:
        self._line_bytes = line_bytes
        self._held = bytearray()
        self._dropped = 0
        self._returned = False

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that `data` completes."""
        lines: list[str] = []
        *complete, rest = data.split(b"\n")
        for piece in complete:
            self._add(piece)
            lines.append(self._take())
        self._add(rest)
        return lines

    def close(self) -> list[str]:
        """Return the last line, if it does not end with a newline."""
        return [self._take()] if self._held or self._dropped else []

    def _add(self, piece: bytes) -> None:
        first, *again = piece.split(b"\r")
        self._append(first)
        for part in again:
            self._returned = True
            self._append(part)

    def _append(self, part: bytes) -> None:
        if not part:
            return
        if self._returned:
            self._held.clear()
            self._dropped, self._returned = 0, False
        room = self._line_bytes - len(self._held)
        self._held += part[: max(room, 0)]
        self._dropped += max(len(part) - max(room, 0), 0)

    def _take(self) -> str:
        text = self._held.decode("utf-8", "replace")
        if self._dropped:
            text += f" … ({self._dropped} bytes more)"
        self._held.clear()
        self._dropped, self._returned = 0, False
        return text
