"""Reads the exit status of a command on devices without shell v2, from two marked lines around its output.

`shell.py` has the device print them. The first line marks where output begins and shows what the device makes
of a newline (a terminal makes CR LF of LF, some CR CR LF), which is then undone; the second holds the status.
Without the second line `rc` stays None and the caller treats the transport as lost. Output is passed on as
soon as it cannot be part of the second line. The two outputs cannot be told apart.
"""

from __future__ import annotations

import re
import secrets

from paceline.adb.shell_v2 import OutputPiece

TAIL_BYTES = 16
"""Of the last line after its marker: at most three digits, two underscores and a line's end; generous."""


class Sentinel:
    """Takes bytes as they come, gives pieces of output. `nonce` is for tests alone."""

    def __init__(self, nonce: str = "") -> None:
        self.rc: int | None = None
        self._nonce = (nonce or secrets.token_hex(8)).encode()
        self._buffer = bytearray()
        self._first = re.compile(rb"__GO_%s__(\r*\n)" % self._nonce)
        self._newline = b""
        """What the device makes of a line's end; empty until the first line came."""
        self._marker = b""
        self._last = self._first

    def around(self, command: bytes) -> bytes:
        """The line that prints `command`'s output between the two; its status must be `$?` after it."""
        # echo, not printf: a builtin of every Android's shell, also of those before toybox (API 23).
        return b'echo __GO_%s__; %s; echo "\n__RC_%s_$?__"' % (
            self._nonce,
            command,
            self._nonce,
        )

    def feed(self, data: bytes | bytearray) -> list[OutputPiece]:
        """Output held back so far or new; nothing once the status came."""
        if self.rc is not None:
            return []
        self._buffer += data
        if not self._newline and not self._begin():
            return []
        if last := self._last.search(self._buffer):
            self.rc = int(last[1])
            return self._taken(last.start())
        return self._taken(self._certain())

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

    def _certain(self) -> int:
        """How many bytes of the buffer can belong neither to the last line nor to a line's end cut in two."""
        text, marker = self._buffer, self._marker
        at = text.rfind(marker)
        if at >= 0 and len(text) - at <= len(marker) + TAIL_BYTES:
            return at  # else: a command that printed the line it was given
        cut = next(
            (n for n in range(len(marker) - 1, 0, -1) if text.endswith(marker[:n])), 0
        )
        return len(text) - cut

    def _taken(self, length: int) -> list[OutputPiece]:
        data = bytes(self._buffer[:length])
        del self._buffer[:length]
        if self._newline != b"\n":
            data = data.replace(self._newline, b"\n")
        return [("stdout", data)] if data else []
