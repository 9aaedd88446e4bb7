"""Chooses the shell service for a command, prepares its line, and reads output up to the exit status.

    shell,v2,raw:   features say shell_v2      both outputs, status        (Android 7 and later)
    exec:           else, unless refused       bytes as they are, sentinel (Android 5 and 6)
    shell:          else                       a terminal's bytes, sentinel

A status is the device's own; an end without one is LostError. Standard input is empty. When the connection
closes, everything in the command's process group ends.
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
"""Bytes of one service's name. The adb server writes its length as four hex digits and devices allow their
packet; beyond this a file is meant."""

ENDING_AT_HANGUP = b"trap 'kill -9 0' HUP; %s & wait $!"
"""When a connection ends, adbd sends SIGHUP to the shell alone (v2), or the terminal hangs up (AOSP
daemon/shell_service.cpp). That shell leads a session, so its trap hands the end on to the whole process
group; at once, because it sits in `wait`. A background command's input is /dev/null (POSIX Shell,
§2.9.3.1)."""
ENDING_AT_EOF = b"exec 3<&0; %s 3<&- & c=$!; (read x <&3; kill -9 0) & w=$!; wait $c; s=$?; kill $w; (exit $s)"
"""`exec:` sends no signal: the command loses its pipes and may run for ever. Its input ends, though: a reader
beside it notices, and ends the group."""

OutputReader = ShellV2 | Sentinel


def prepare_service(
    service: bytes, argv: Sequence[str], most: int = LONGEST_SERVICE
) -> tuple[bytes, OutputReader]:
    """The service to open for `argv`, and what reads it. `most`: the device's packet, in bytes."""
    reading: OutputReader = ShellV2() if service == V2 else Sentinel()
    line = (ENDING_AT_EOF if service == EXEC else ENDING_AT_HANGUP) % command_line(argv)
    name = service + (reading.around(line) if isinstance(reading, Sentinel) else line)
    if len(name) >= min(most, LONGEST_SERVICE):
        raise AdbError(
            f"the command is {len(name)} bytes long; the device takes {min(most, LONGEST_SERVICE)}",
            "Push a script and run that.",
        )
    return name, reading


def read_whole(
    channel: Channel, reading: OutputReader, deadline: float, command: str
) -> CommandResult:
    """Everything until the status. Raises SlowError at `deadline`, LostError for an end without a status."""
    outputs: dict[str, list[bytes | memoryview]] = {"stdout": [], "stderr": []}
    while reading.rc is None:
        data = channel.receive(deadline)
        if data is None:
            raise slow_error(command)
        if not data:
            raise lost_error(command)
        for output, piece in reading.feed(data):
            outputs[output].append(piece)
    return CommandResult(
        reading.rc, b"".join(outputs["stdout"]), b"".join(outputs["stderr"])
    )


def slow_error(command: str) -> SlowError:
    """For a command still running at its deadline; the caller closes the connection, which ends it."""
    return SlowError(
        f"{command} did not end in time",
        "It was ended on the device. Ask for more time, or look at what the device is busy with.",
    )


def lost_error(command: str) -> LostError:
    """For an end without a status."""
    return LostError(
        f"the connection ended before {command} said how it ended",
        "Look at the cable, the network and whether the device restarted.",
    )


class ShellStream:
    """A command's output as it comes, on a channel that is its own. `rc` is None until it ended."""

    def __init__(self, channel: Channel, reading: OutputReader, command: str) -> None:
        self._channel, self._reading, self._what = channel, reading, command

    @property
    def rc(self) -> int | None:
        """How it ended, as the device says."""
        return self._reading.rc

    def read(self, timeout_s: float) -> bytes | None:
        """See port.Stream."""
        deadline = time.monotonic() + timeout_s
        while self._reading.rc is None:
            data = self._channel.receive(deadline)
            if data is None:
                return None
            if not data:
                raise lost_error(self._what)
            if pieces := self._reading.feed(data):
                return b"".join(piece for _, piece in pieces)
        return b""

    def close(self) -> None:
        """Ends the command, too."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
