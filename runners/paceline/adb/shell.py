"""Chooses the shell service for a command, prepares its line, and reads output up to the exit status.

    shell,v2,raw:   with feature shell_v2      both outputs, status        (Android 7 and later)
    exec:           otherwise, unless refused  bytes as they are, sentinel (Android 5 and 6)
    shell:          otherwise                  a terminal's bytes, sentinel

An end without a status is LostError. Standard input is empty. When the connection closes, everything in the
command's process group ends.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Self

from paceline.adb.channel import Channel
from paceline.adb.port import AdbError, CommandResult, LostError, SlowError
from paceline.adb.quoting import command_line
from paceline.adb.sentinel import Sentinel
from paceline.adb.shell_v2 import ShellV2

V2, EXEC, TERMINAL = b"shell,v2,raw:", b"exec:", b"shell:"
LONGEST_SERVICE = 32 << 10
"""Most bytes of a service's name. The adb server writes the length in four hex digits, and a device accepts one
packet."""

ENDING_AT_HANGUP = b"trap 'kill -9 0' HUP; %s & wait $!"
"""When a connection ends, adbd sends SIGHUP to the shell alone (v2), or the terminal hangs up (AOSP
daemon/shell_service.cpp). The shell leads a session, so its trap kills the whole process group; it does so at
once, because the shell is in `wait`. A background command's input is /dev/null (POSIX Shell, §2.9.3.1)."""
ENDING_AT_EOF = b"exec 3<&0; %s 3<&- & c=$!; (read x <&3; kill -9 0) & w=$!; wait $c; s=$?; kill $w; (exit $s)"
"""`exec:` sends no signal, so a command may outlive its connection. Its input ends, though: a reader beside it
notices that and kills the process group."""

OutputReader = ShellV2 | Sentinel


def prepare_service(
    service: bytes, argv: Sequence[str], most: int = LONGEST_SERVICE
) -> tuple[bytes, OutputReader]:
    """Return the name of the service to open for `argv`, and the reader of its output. `most`: the device's packet,
    in bytes."""
    reader: OutputReader = ShellV2() if service == V2 else Sentinel()
    line = (ENDING_AT_EOF if service == EXEC else ENDING_AT_HANGUP) % command_line(argv)
    name = service + (reader.around(line) if isinstance(reader, Sentinel) else line)
    if len(name) >= min(most, LONGEST_SERVICE):
        raise AdbError(
            f"the command is {len(name)} bytes long; the device accepts {min(most, LONGEST_SERVICE)}",
            "Push a script and run that.",
        )
    return name, reader


def read_whole(
    channel: Channel, reader: OutputReader, deadline: float, command: str
) -> CommandResult:
    """Read all output and the status. Raises SlowError at `deadline`, LostError for an end without a
    status."""
    outputs: dict[str, list[bytes | memoryview]] = {"stdout": [], "stderr": []}
    while reader.rc is None:
        data = channel.receive(deadline)
        if data is None:
            raise slow_error(command)
        if not data:
            raise lost_error(command)
        for output, piece in reader.feed(data):
            outputs[output].append(piece)
    return CommandResult(
        reader.rc, b"".join(outputs["stdout"]), b"".join(outputs["stderr"])
    )


def slow_error(command: str) -> SlowError:
    """Return the error for a command that still runs at its deadline; the caller closes the connection, which ends
    the command."""
    return SlowError(
        f"{command} did not end in time",
        "It was ended on the device. Allow more time, or check what keeps the device busy.",
    )


def lost_error(command: str) -> LostError:
    """Return the error for an end without a status."""
    return LostError(
        f"the connection ended before the exit status of {command} arrived",
        "Check the cable, the network and whether the device restarted.",
    )


class ShellStream:
    """A running command's output, on a channel of its own. `rc` is None until the command has ended."""

    def __init__(self, channel: Channel, reader: OutputReader, command: str) -> None:
        self._channel, self._reader, self._command = channel, reader, command

    @property
    def rc(self) -> int | None:
        """Return the exit status."""
        return self._reader.rc

    def read(self, timeout_s: float) -> bytes | None:
        """See port.Stream."""
        deadline = time.monotonic() + timeout_s
        while self._reader.rc is None:
            data = self._channel.receive(deadline)
            if data is None:
                return None
            if not data:
                raise lost_error(self._command)
            if pieces := self._reader.feed(data):
                return b"".join(piece for _, piece in pieces)
        return b""

    def close(self) -> None:
        """Close the channel, which ends the command."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
