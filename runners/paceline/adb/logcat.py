"""Follows a device's log on a stream of its own: whole lines, each once, across lost connections.

    open ──stream──▶ follow ──line──▶ take
      ▲                │ lost, or logcat ended
      └──── pause ─────┘  (from the last time seen, and not while it is `held`)

Events (thermal, low memory) go to the conditions, and every line to whoever reads results from it. Bytes are
decoded only as whole lines. After a loss the log is requested again from the last line's time on, and lines
that were already passed on are skipped. Lines that the device overwrote before they were read are lost;
logcat does not say so, and `gaps` counts where it may have happened.
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
"""How long one wait for bytes lasts, and so how late the end is noticed."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
RECENT_LINES = 1_024
"""Remembered for the next loss: more than a log takes within the one millisecond it is asked for again."""
MAX_EVENTS = 200
"""Kept between two looks: a thermal daemon that chatters must not fill an agent's memory."""

DEVICE_TIME = ("date", "+%m-%d %H:%M:%S.000")
"""What a log that begins now begins at; to the second, as every date can say it."""

_BUFFERS = tuple(word for name in BUFFERS for word in ("-b", name))
_STAMP = re.compile(r"\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$", re.ASCII)
_THERMAL_TAG = re.compile(r"thermal", re.IGNORECASE)
_KILLER_TAG = re.compile(r"(?:lowmemorykiller|lmkd?|killinfo)$", re.IGNORECASE)


class LogLine(msgspec.Struct, frozen=True):
    """One line of the log, whole. `raw.number` counts over all connections."""

    raw: RawLine
    origin: LogOrigin
    message: str


class LogEvent(msgspec.Struct, frozen=True):
    """Something the system did that may explain a measurement. `at` is the device's own time, without a
    year."""

    kind: str
    at: str | None
    tag: str
    text: str

    @property
    def words(self) -> str:
        return f"{self.at or 'undated'} {self.kind}: {self.tag}: {self.text}"


def event_of(line: LogLine) -> LogEvent | None:
    """The event a line tells of, if it does: throttling, or a process killed for want of memory."""
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
    """What a follower has read so far; pure: bytes in, lines out, and where to go on. `prefix`: what keeps
    logcat out of the way on the device, `taskset f nice -n 10`."""

    def __init__(self, since: str | None = None, prefix: Sequence[str] = ()) -> None:
        self._buffer, self._prefix = LineBuffer(), list(prefix)
        self._since = since if since is not None and _STAMP.match(since) else None
        self._recent: deque[str] = deque(maxlen=RECENT_LINES)
        self._again: Counter[str] = Counter()

    @property
    def argv(self) -> list[str]:
        """The command that goes on where this stands; at first with the newest line there is."""
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
    def rest(self) -> list[str] | None:
        """The command that prints what there is from where this stands, and ends; None: it stands nowhere."""
        return None if self._since is None else [*self.argv, "-d"]

    def lines(self, chunk: bytes) -> Iterator[LogLine]:
        """Lines that end in this chunk, without separators, without what was told before a loss."""
        for raw in self._buffer.feed(chunk):
            if (line := self._line(raw)) is not None:
                yield line

    def lost(self) -> None:
        """The connection ended: half a line is forgotten, and what was told at the last time comes again."""
        self._buffer.forget()
        self._again = Counter(self._recent)

    def _line(self, raw: RawLine) -> LogLine | None:
        if (
            self._again[raw.text] > 0
        ):  # its time, pid and tid are part of it: it is the same line
            self._again[raw.text] -= 1
            return None
        origin, message = origin_of(raw.text)
        if origin.level is None:  # what logcat itself says: separators, complaints
            return None
        if origin.logged_at is not None and _STAMP.match(origin.logged_at):
            self._since = origin.logged_at
            self._recent.append(raw.text)
        return LogLine(raw, origin, message)


class LogFollower:
    """Follows a log on a thread of its own from `with` until its end. `open_connection` gives a connection
    that nobody else uses; `take` is called on the follower's thread."""

    def __init__(
        self,
        open_connection: Callable[[], Connection],
        take: Callable[[LogLine], None],
        *,
        prefix: Sequence[str] = (),
        pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        self._open, self._take, self._prefix, self._pause_s = (
            open_connection,
            take,
            prefix,
            pause_s,
        )
        self._end = threading.Event()
        self._tried = threading.Event()
        self._connecting = threading.Lock()
        self._following: LogReader | None = None
        self._thread = threading.Thread(target=self._run, name="logcat", daemon=True)
        self.gaps = 0
        """How often the log was lost and taken up again."""

    def wait(self, timeout_s: float) -> bool:
        """Until it follows, or has seen that it cannot; whether that was within the time."""
        return self._tried.wait(timeout_s)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """In here nothing new is begun on the device: a log that is lost is taken up again afterwards, from
        where it was lost. Waits for what is being begun."""
        with self._connecting:
            yield

    def finish(self) -> None:
        """Tells it to end; leaving the context waits for that."""
        self._end.set()

    def rest(self, connection: Connection) -> bool:
        """Ends the following, then takes what the log holds beyond it: what was logged right before the end,
        or while the log was lost. False: the device does not say. May be asked again. Raises AdbError."""
        self.finish()
        self._thread.join()
        following = self._following
        if following is None or (argv := following.rest) is None:
            return False
        done = connection.run(argv)
        following.lost()  # it comes again from the last time on
        for line in following.lines(done.stdout):
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
                    stream, self._following = self._begun(held, self._following)
                    if self._follow(stream, self._following):
                        pause_s = self._pause_s
                except AdbError:
                    pass  # lost, as a cable is: taken up again
                except Exception:
                    log.exception(
                        "a line of the device's log, or the reading of it, failed"
                    )
            if self._following is not None:
                self._following.lost()
            if self._end.wait(pause_s):
                return
            self.gaps += 1
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _begun(
        self, held: contextlib.ExitStack, following: LogReader | None
    ) -> tuple[Stream, LogReader]:
        """logcat, started on a connection of its own; both are closed with `held`. Raises AdbError."""
        while not self._connecting.acquire(timeout=READ_S):
            if self._end.is_set():
                raise LostError("Nobody follows the log any more.")
        try:
            connection = held.enter_context(contextlib.closing(_Quiet(self._open())))
            following = following or LogReader(_now(connection.inner), self._prefix)
            return held.enter_context(
                connection.inner.stream(following.argv)
            ), following
        finally:
            self._connecting.release()
            self._tried.set()

    def _follow(self, stream: Stream, following: LogReader) -> bool:
        """Until it ends or is lost; whether anything came."""
        has_lines = False
        with contextlib.suppress(AdbError):
            while not self._end.is_set():
                chunk = stream.read(READ_S)
                if chunk == b"":
                    break
                for line in following.lines(chunk or b""):
                    has_lines = True
                    self._take(line)
        return has_lines


class _Quiet:
    """A connection whose closing raises nothing: it may be lost already."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner

    def close(self) -> None:
        with contextlib.suppress(AdbError):
            self.inner.close()


def _now(connection: Connection) -> str | None:
    done = connection.run(DEVICE_TIME)
    return done.text.strip() if done.rc == 0 else None


class DeviceLog:
    """What a job keeps of a log: events until somebody looks, the oldest given up first. Called from the
    follower's thread and from the job's."""

    def __init__(self, also: Callable[[LogLine], None] | None = None) -> None:
        self._also, self._lock = also, threading.Lock()
        self._events: list[LogEvent] = []
        self._unkept = 0
        self.lines = 0
        """How many were taken, of whatever kind."""

    def take(self, line: LogLine) -> None:
        """One line; give this to a `Follower`."""
        if (event := event_of(line)) is not None:
            with self._lock:
                self._events.append(event)
                if len(self._events) > MAX_EVENTS:
                    del self._events[0]
                    self._unkept += 1
        if self._also is not None:
            self._also(line)
        self.lines += 1

    def drain(self) -> list[str]:
        """Events since the last call, in words: what `DeviceConditions` asks for."""
        with self._lock:
            events, unkept = self._events, self._unkept
            self._events, self._unkept = [], 0
        descriptions = [event.words for event in events]
        return (
            [f"{unkept} earlier ones were not kept", *descriptions]
            if unkept
            else descriptions
        )
