"""Reads the exit status of a command on devices without shell v2, from two marked lines around its output.

The first line marks where output begins and shows how the device prints a newline (a terminal prints CR LF,
some CR CR LF), which is then undone. The second line holds the status; without it `rc` stays None and the
transport counts as lost. `shell.py` makes the device print them.
"""

from __future__ import annotations

import re
import secrets

from paceline.adb.shell_v2 import OutputPiece

TAIL_BYTES = 16
"""Most bytes of the last line after its marker: three digits, two underscores and a line end, with room."""


class Sentinel:
    """Takes bytes as they come and returns pieces of output. Only tests give a `nonce`."""

    def __init__(self, nonce: str = "") -> None:
        self.rc: int | None = None
        self._nonce = (nonce or secrets.token_hex(8)).encode()
        self._buffer = bytearray()
        self._first = re.compile(rb"__GO_%s__(\r*\n)" % self._nonce)
        self._newline = b""
        """How the device prints a line end; empty until the first line has come."""
        self._marker = b""
        self._last = self._first

    def around(self, command: bytes) -> bytes:
        """Return the command line that prints both marks around the output of `command`."""
        # echo is a builtin of every Android's shell; printf is not before toybox (API 23).
        return b'echo __GO_%s__; %s; echo "\n__RC_%s_$?__"' % (
            self._nonce,
            command,
            self._nonce,
        )

    def feed(self, data: bytes | bytearray) -> list[OutputPiece]:
        """Return the output that is complete now; nothing once the status has come."""
        if self.rc is not None:
            return []
        self._buffer += data
        if not self._newline and not self._begin():
            return []
        if last := self._last.search(self._buffer):
            self.rc = int(last[1])
            return self._take(last.start())
        return self._take(self._certain_bytes())

    def _begin(self) -> bool:
        first = self._first.search(self._buffer)
        if first is None:
            return False
        self._newline = first[1]
        self._marker = self._newline + b"__RC_%s_" % self._nonce
        self._last = re.compile(
            re.escape(self._marker) + rb"(\d{1,3})__" + re.escape(self._newline)
        )
        del self._buffer[: first.end()]
        return True

    def _certain_bytes(self) -> int:
        """Return how many bytes of the buffer cannot be part of the last line or of a split line end."""
        text, marker = self._buffer, self._marker
        at = text.rfind(marker)
        if at >= 0 and len(text) - at <= len(marker) + TAIL_BYTES:
            return at  # longer: the command printed the marker itself
        cut = next(
            (n for n in range(len(marker) - 1, 0, -1) if text.endswith(marker[:n])), 0
        )
        return len(text) - cut

    def _take(self, length: int) -> list[OutputPiece]:
        data = bytes(self._buffer[:length])
        del self._buffer[:length]
        if self._newline != b"\n":
            data = data.replace(self._newline, b"\n")
        return [("stdout", data)] if data else []
