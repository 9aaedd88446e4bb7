"""Runs one launch on a device, detached from every connection: starts it, follows its output, ends it.

    start ──▶ follow ──beat, out, err──▶ … ──end──▶ clean up ──▶ judge
                │  ▲
         lost   ▼  │ same serial, same boot: from the offsets reached
               regain

The workload starts once, however often the start is repeated, and every byte is taken once, because output is
requested by offset. A timeout counts only if the launch was seen running, and a crash only if its end was
recorded: otherwise the device is to blame, not the benchmark.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from paceline.adb.port import AdbError, Connection, LostError, TransferError
from paceline.devices import leftovers, scripts
from paceline.devices.reconnecting import TRIES, ReconnectingDevice, raise_target_error
from paceline.executors.base import LaunchSpec, TargetError
from paceline.executors.launch import Channel, LaunchMonitor, StopSignal
from paceline.executors.process import ProcessEnd
from paceline.outcome import Outcome

TICK_S = 0.1
"""Interval of checking limits and ticking the sink while nothing arrives."""
START_TIMEOUT_S = 30.0
GRACE_S = 60.0
"""Time after the timeout at which the device itself ends a launch that no agent has ended."""
SIGKILL = 9
SIGNAL_STATUS = 128
"""A shell exits with 128 + n when signal n killed its process."""
LAST_SIGNAL = 64
NOT_RUNNABLE = (126, 127)
"""Exit statuses of `env`, `taskset` and `setsid` when a program is missing or not made for this CPU."""

Word = Literal["out", "err", "beat", "over", "late", "end", "gone"]
CHANNELS: dict[str, Channel] = {"out": "stdout", "err": "stderr"}


class FollowerFrame(msgspec.Struct, frozen=True):
    """One message of the follower. The `data` of out and err may come in pieces. `text` is the status of an end, or the
    start and the present time of a beat."""

    word: Word
    data: bytes = b""
    offset: int = 0
    text: str = ""


class FollowerParser:
    """Parses the follower's stream as it arrives."""

    def __init__(self) -> None:
        self._line = b""
        self._channel: Word = "out"
        self._offset = 0
        self._due = 0

    def feed(self, data: bytes) -> Iterator[FollowerFrame]:
        """Yield the messages in `data`. Raises LostError for anything the follower never prints."""
        while data:
            if self._due:
                piece, data = data[: self._due], data[self._due :]
                yield FollowerFrame(self._channel, piece, self._offset)
                self._due -= len(piece)
                self._offset += len(piece)
                continue
            line, newline, data = data.partition(b"\n")
            self._line += line
            if newline:
                words, self._line = (
                    self._line.decode("ascii", "replace").split(" "),
                    b"",
                )
                yield from self._parse_line(words)

    def _parse_line(self, words: list[str]) -> Iterator[FollowerFrame]:
        match words:
            case ["out" | "err" as channel, offset, length] if (
                offset.isdecimal() and length.isdecimal()
            ):
                self._channel, self._offset, self._due = (
                    channel,
                    int(offset),
                    int(length),
                )
            case ["over" | "late" | "gone" as word]:
                yield FollowerFrame(word)
            case ["beat", began, now]:
                yield FollowerFrame("beat", text=f"{began} {now}")
            case ["end", status]:
                yield FollowerFrame("end", text=status)
            case _:
                raise LostError(
                    f"The device's answer is invalid: {' '.join(words)[:100]!r}."
                )


class RemotePaths(msgspec.Struct, frozen=True):
    """Paths of a launch on the device. `workload` is put before its command, `watching` before that of the follower."""

    run: str
    directory: PurePosixPath
    script: PurePosixPath
    workload: list[str] = []
    watching: list[str] = []


class DetachedLaunch:
    """One launch from start to its last byte."""

    def __init__(
        self,
        persistent: ReconnectingDevice,
        spec: LaunchSpec,
        launch: LaunchMonitor,
        paths: RemotePaths,
        on_ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare the launch. `on_ended` is called right after its end, before its files are removed."""
        self._on_ended = on_ended
        self._persistent, self._spec, self._launch = persistent, spec, launch
        self._paths, self._pace = paths, persistent.pace
        self._begun_at = self._alive_at = -math.inf
        self._over_since: float | None = None
        self._killed_at: float | None = None
        self._ended: ProcessEnd | None = None
        self._failure: TargetError | None = None
        self._end_was_recorded = False

    def run(self) -> Outcome:
        """Run the launch to its end. Raises TargetError."""
        self._start_launch()
        self._begun_at = time.monotonic()
        self._launch.start_timeout(self._begun_at)
        failures = 0
        while not self._is_settled:
            before = self._count_taken_bytes()
            try:
                self._follow_launch()
            except AdbError as error:
                failures = 1 if self._count_taken_bytes() > before else failures + 1
                if failures >= TRIES:
                    raise_target_error(error)
                self._persistent.regain(error)
        return self._conclude_launch()

    @property
    def _is_settled(self) -> bool:
        return self._ended is not None or self._failure is not None

    def _conclude_launch(self) -> Outcome:
        """Clean up, then judge. A failed clean-up does not hide a failure of the benchmark."""
        failure: TargetError | None = None
        left_count = 0
        try:
            self._on_ended()
            left_count = self._remove_leftovers()
        except TargetError as error:
            failure = error
        if self._ended is None or self._failure is not None:
            raise self._failure or TargetError(
                "device_lost", "It is not known how the launch ended."
            )
        # If the launch did not end by itself, the killed processes are its own and its watcher.
        ended = msgspec.structs.replace(
            self._ended, left_behind=left_count if self._end_was_recorded else 0
        )
        outcome = self._launch.outcome(ended)
        if failure is not None and outcome.ok:
            raise failure
        return outcome

    def _start_launch(self) -> None:
        limit = math.ceil(self._spec.timeout_s + GRACE_S)
        environment = [f"{key}={value}" for key, value in self._spec.env.items()]
        command = [
            *(["env", *environment] if environment else []),
            *self._paths.workload,
            *self._spec.argv,
        ]
        start = scripts.argv(
            "start",
            str(self._paths.directory),
            str(self._paths.script),
            self._paths.run,
            str(self._spec.cwd),
            str(limit),
            str(self._spec.layout_bytes),
            self._spec.argv[0],
            *command,
        )
        result = self._persistent.run(start, START_TIMEOUT_S)
        if result.rc != 0:
            output = (
                (result.stdout + result.stderr).decode("utf-8", "replace").strip()[:400]
            )
            text = f"Launch {self._spec.launch} of {self._spec.workload} did not start ({result.rc}): {output}"
            self._persistent.raise_refusal(
                TransferError(text, no_space="No space left" in output)
            )

    def _follow_launch(self) -> None:
        """Follow the launch to its end. Raises AdbError if the connection is lost first."""
        offsets = [
            str(self._launch.bytes_seen(channel)) for channel in CHANNELS.values()
        ]
        follow = scripts.argv(
            "follow", str(self._paths.directory), *offsets, f"{self._pace.look_s:g}"
        )
        frames, heard_at = FollowerParser(), time.monotonic()
        self._over_since = None
        with self._persistent.stream([*self._paths.watching, *follow]) as stream:
            while not self._is_settled:
                data = stream.read(TICK_S)
                self._launch.tick()
                if data:
                    heard_at = time.monotonic()
                    for frame in frames.feed(data):
                        self._take_frame(frame, heard_at)
                elif data == b"":
                    raise LostError(
                        "The device closed the connection that followed a launch."
                    )
                elif time.monotonic() - heard_at > self._pace.silence_s:
                    raise LostError(
                        f"The device was silent for {self._pace.silence_s:g} s."
                    )
                if not self._is_settled:
                    self._enforce_limits(time.monotonic())

    def _take_frame(self, frame: FollowerFrame, now: float) -> None:
        match frame.word:
            case "out" | "err":
                channel = CHANNELS[frame.word]
                if frame.offset != self._launch.bytes_seen(channel):
                    raise LostError(
                        f"The device continued at offset {frame.offset} of {frame.word}."
                    )
                self._launch.feed(channel, frame.data)
            case "beat":
                self._alive_at = self._read_beat_time(frame.text, now)
            case "over":
                self._over_since = now if self._over_since is None else self._over_since
            case "late":
                self._launch.note_timeout()
            case "end":
                self._take_status(frame.text)
            case "gone":
                self._end_without_status(
                    "Its watcher was killed, perhaps because the device was short of memory."
                )

    def _read_beat_time(self, beat: str, now: float) -> float:
        """Return when the launch was seen running, by the device's clock, because its output may be read late."""
        try:
            began_s, seen_s = map(float, beat.split())
        except ValueError:
            return now
        return min(now, self._begun_at + max(0.0, seen_s - began_s))

    def _enforce_limits(self, now: float) -> None:
        """Send signals that are due, and give up on a device that does not obey them."""
        order = self._launch.due_signal(now, self._alive_at)
        if order is not None and self._killed_at is None:
            self._killed_at = now if order is StopSignal.KILL else None
            self._persistent.run(
                scripts.argv("order", str(self._paths.directory), order.value)
            )
        if self._launch.is_flooded:  # more output is not worth reading
            self._ended = ProcessEnd(signal_number=SIGKILL)
        elif (
            self._killed_at is not None
            and self._alive_at > self._killed_at + self._launch.limits.kill_s
        ):
            text = f"It cannot be killed: it still ran {self._launch.limits.kill_s:g} s after SIGKILL."
            self._failure = self._make_lost_error(
                text, "Restart the device: the launch hangs in its kernel."
            )
        elif (
            self._over_since is not None
            and now > self._over_since + self._pace.silence_s
        ):
            self._end_without_status(
                f"Its end was not recorded {self._pace.silence_s:g} s after it ended."
            )

    def _end_without_status(self, why: str) -> None:
        """End a launch whose exit status is lost. It is judged by its output, if that is enough."""
        if self._launch.is_conclusive:
            self._ended = ProcessEnd(exit_code=0)
        else:
            self._failure = self._make_lost_error(why)

    def _make_lost_error(self, why: str, advice: str = "") -> TargetError:
        text = f"Launch {self._spec.launch} of {self._spec.workload}: {why}"
        return TargetError("device_lost", text, advice)

    def _take_status(self, status: str) -> None:
        """Take the exit status as the device recorded it."""
        self._end_was_recorded = True
        program = self._spec.argv[0]
        number = int(status) if status.isdecimal() else None
        if status == "missing":
            self._ended = ProcessEnd(
                start_error=f"{program}: there is no such program on the device"
            )
        elif status == "nowhere":
            self._failure = self._make_lost_error(
                f"{self._spec.cwd} is not on the device any more."
            )
        elif number is None:
            self._end_without_status(
                f"Its exit status was recorded incompletely ({status!r}), perhaps because the storage is full."
            )
        elif number in NOT_RUNNABLE and not self._launch.bytes_seen("stdout"):
            self._ended = ProcessEnd(
                start_error=f"{program}: the device cannot run it (status {number})"
            )
        elif SIGNAL_STATUS < number <= SIGNAL_STATUS + LAST_SIGNAL:
            self._ended = ProcessEnd(signal_number=number - SIGNAL_STATUS)
        else:
            self._ended = ProcessEnd(exit_code=number)

    def _remove_leftovers(self) -> int:
        """Kill processes that the workload left behind and remove its output, which was read."""

        def remove(connection: Connection) -> int:
            directory = self._paths.directory
            killed = leftovers.kill_processes(
                connection, self._paths.run, str(directory.parent), str(directory)
            )
            leftovers.remove_directory(connection, str(directory))
            return killed

        return self._persistent.ask(remove)

    def _count_taken_bytes(self) -> int:
        return sum(self._launch.bytes_seen(channel) for channel in CHANNELS.values())
