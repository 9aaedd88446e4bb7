"""Follows a device's log on a connection of its own: whole lines, each once, across lost connections.

    open ──stream──▶ follow ──line──▶ take
      ▲                │ lost, or logcat ended
      └──── pause ─────┘  (never inside `hold`)

After a loss the log is requested again from the time of the last line on, and lines already passed on are
skipped. Lines that the device overwrote meanwhile are lost; logcat does not report that, so `gaps` counts the
places where it may have happened.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Self

import msgspec

from paceline.adb.port import AdbError, Connection, LostError, Stream
from paceline.formats.declared import LogOrigin
from paceline.formats.logcat import origin_of
from paceline.formats.raw_lines import LineBuffer, RawLine

log = logging.getLogger("paceline.devices")

BUFFERS = ("main", "system", "crash")
READ_S = 0.5
"""Longest wait for bytes, and so the longest delay until the follower ends."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
RECENT_LINES = 1_024
"""Lines remembered to skip after a loss: more than a log takes in the one millisecond that is read again."""
MAX_EVENTS = 200
"""Most events kept until they are drained, so that a chatty thermal daemon cannot fill the agent's memory."""

DEVICE_TIME = ("date", "+%m-%d %H:%M:%S.%N")
"""Prints the time as the log does; a `date` without %N is accurate to the second."""

_BUFFERS = tuple(word for name in BUFFERS for word in ("-b", name))
_STAMP = re.compile(r"\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$", re.ASCII)
_MOMENT = re.compile(r"(\d\d-\d\d \d\d:\d\d:\d\d)\.(\d{3})?", re.ASCII)
_THERMAL_TAG = re.compile(r"thermal", re.IGNORECASE)
_KILLER_TAG = re.compile(r"(?:lowmemorykiller|lmkd?|killinfo)$", re.IGNORECASE)


def moment_of(printed: str, rest: str = "000") -> str | None:
    """Return the printed output of `DEVICE_TIME` in the log's format, to the millisecond. `rest` is the milliseconds if only
    whole seconds were printed."""
    match = _MOMENT.match(printed.strip())
    return None if match is None else f"{match[1]}.{match[2] or rest}"


class LogLine(msgspec.Struct, frozen=True):
    """One line of the log. `raw.number` counts over all connections."""

    raw: RawLine
    origin: LogOrigin
    message: str


class LogEvent(msgspec.Struct, frozen=True):
    """Something the system did that may explain a measurement. `at` is the device's time, without a year."""

    kind: str
    at: str | None
    tag: str
    text: str

    @property
    def words(self) -> str:
        return f"{self.at or 'undated'} {self.kind}: {self.tag}: {self.text}"


def event_of(line: LogLine) -> LogEvent | None:
    """Return the event that a line reports, if any: throttling, or a process killed for lack of memory."""
    tag, level = line.origin.tag, line.origin.level
    if not tag or level in (None, "V", "D"):
        return None
    if _THERMAL_TAG.search(tag):
        kind = "thermal"
    elif _KILLER_TAG.match(tag) and line.message.startswith("Kill"):
        kind = "low_memory"
    else:
        return None
    return LogEvent(kind, line.origin.logged_at, tag, line.message[:300])


class LogReader:
    """Turns the bytes of a log into lines and remembers where to continue. Pure.

    `prefix` keeps logcat off the launches' cores on the device, for example `taskset f nice -n 10`.
    """

    def __init__(self, since: str | None = None, prefix: Sequence[str] = ()) -> None:
        self._buffer, self._prefix = LineBuffer(), list(prefix)
        self._since = since if since is not None and _STAMP.match(since) else None
        self._recent: deque[str] = deque(maxlen=RECENT_LINES)
        self._lines_to_skip: Counter[str] = Counter()

    @property
    def argv(self) -> list[str]:
        """Return the command that continues the log; at first from its newest line on."""
        return [
            *self._prefix,
            "logcat",
            "-v",
            "threadtime",
            *_BUFFERS,
            "-T",
            self._since or "1",
        ]

    @property
    def argv_of_rest(self) -> list[str] | None:
        """Return the command that prints the rest of the log and ends; None when no position is known."""
        return None if self._since is None else [*self.argv, "-d"]

    def lines(self, chunk: bytes) -> Iterator[LogLine]:
        """Yield the lines that end in this chunk, without separators and lines passed on before a loss."""
        for raw in self._buffer.feed(chunk):
            if (line := self._line(raw)) is not None:
                yield line

    def resume_after_loss(self) -> None:
        """Prepare to go on after a lost connection: drop half a line, and skip the lines that will come again."""
        self._buffer.forget()
        self._lines_to_skip = Counter(self._recent)

    def _line(self, raw: RawLine) -> LogLine | None:
        if self._lines_to_skip[raw.text] > 0:  # the text includes time, pid and tid
            self._lines_to_skip[raw.text] -= 1
            return None
        origin, message = origin_of(raw.text)
        if origin.level is None:  # logcat's own separators and complaints
            return None
        if origin.logged_at is not None and _STAMP.match(origin.logged_at):
            self._since = origin.logged_at
            self._recent.append(raw.text)
        return LogLine(raw, origin, message)


class LogFollower:
    """Follows a log on its own thread while the context is open. `open_connection` returns a connection that
    nobody else uses; `take` is called on the follower's thread."""

    def __init__(
        self,
        open_connection: Callable[[], Connection],
        take: Callable[[LogLine], None],
        *,
        prefix: Sequence[str] = (),
        pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        self._open, self._take = open_connection, take
        self._prefix, self._pause_s = prefix, pause_s
        self._end = threading.Event()
        self._tried = threading.Event()
        self._connecting = threading.Lock()
        self._reader: LogReader | None = None
        self._thread = threading.Thread(target=self._run, name="logcat", daemon=True)
        self.gaps = 0
        """How often the log was lost and resumed."""

    def wait(self, timeout_s: float) -> bool:
        """Wait until it follows the log or has failed to; False after `timeout_s`."""
        return self._tried.wait(timeout_s)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Start nothing on the device while the body runs; a log that is lost meanwhile is resumed afterwards. Wait
        for a connection that is being opened."""
        with self._connecting:
            yield

    def finish(self) -> None:
        """Tell the thread to end; leaving the context waits for it."""
        self._end.set()

    def read_rest(self, connection: Connection) -> bool:
        """Stop following and take the remaining lines: those logged right before the end, or while the log
        was lost. False when that could not be read. May be called again. Raises AdbError."""
        self.finish()
        self._thread.join()
        reader = self._reader
        if reader is None or (argv := reader.argv_of_rest) is None:
            return False
        done = connection.run(argv)
        reader.resume_after_loss()  # the lines of the last millisecond come again
        for line in reader.lines(done.stdout):
            self._take(line)
        return done.rc == 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()
        self._thread.join()

    def _run(self) -> None:
        pause_s = self._pause_s
        while not self._end.is_set():
            with contextlib.ExitStack() as held:
                try:
                    stream, self._reader = self._start(held, self._reader)
                    if self._follow(stream, self._reader):
                        pause_s = self._pause_s
                except AdbError:
                    pass  # lost, for example a cable: resumed below
                except Exception:
                    log.exception("reading a device's log failed")
            if self._reader is not None:
                self._reader.resume_after_loss()
            if self._end.wait(pause_s):
                return
            self.gaps += 1
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _start(
        self, held: contextlib.ExitStack, reader: LogReader | None
    ) -> tuple[Stream, LogReader]:
        """Start logcat on a new connection; `held` closes both. Raises AdbError."""
        while not self._connecting.acquire(timeout=READ_S):
            if self._end.is_set():
                raise LostError("Nobody follows the log any more.")
        try:
            connection = self._open()
            held.callback(_close_quietly, connection)
            reader = reader or LogReader(_read_time(connection), self._prefix)
            return held.enter_context(connection.stream(reader.argv)), reader
        finally:
            self._connecting.release()
            self._tried.set()

    def _follow(self, stream: Stream, reader: LogReader) -> bool:
        """Take lines until the stream ends or is lost; False when none came."""
        has_lines = False
        with contextlib.suppress(AdbError):
            while not self._end.is_set():
                chunk = stream.read(READ_S)
                if chunk == b"":
                    break
                for line in reader.lines(chunk or b""):
                    has_lines = True
                    self._take(line)
        return has_lines


def _close_quietly(connection: Connection) -> None:
    with contextlib.suppress(AdbError):  # it may be lost already
        connection.close()


def _read_time(connection: Connection) -> str | None:
    """Return the time from which a new log is followed. To the millisecond: from the whole second on, it would begin
    with lines of up to a second before."""
    done = connection.run(DEVICE_TIME)
    return moment_of(done.text) if done.rc == 0 else None


class DeviceLog:
    """Keeps a log's events until they are drained; of too many the newest. Used by the follower's and the
    job's thread."""

    def __init__(self, also: Callable[[LogLine], None] | None = None) -> None:
        self._also, self._lock = also, threading.Lock()
        self._events: list[LogEvent] = []
        self._dropped_events = 0
        self.lines = 0
        """Number of lines taken, of any kind."""

    def take(self, line: LogLine) -> None:
        """Take one line from a `LogFollower`."""
        if (event := event_of(line)) is not None:
            with self._lock:
                self._events.append(event)
                if len(self._events) > MAX_EVENTS:
                    del self._events[0]
                    self._dropped_events += 1
        if self._also is not None:
            self._also(line)
        self.lines += 1

    def drain(self) -> list[str]:
        """Return descriptions of the events since the last call, for `DeviceConditions`."""
        with self._lock:
            events, dropped = self._events, self._dropped_events
            self._events, self._dropped_events = [], 0
        descriptions = [event.words for event in events]
        return (
            [f"{dropped} earlier events were not kept", *descriptions]
            if dropped
            else descriptions
        )
