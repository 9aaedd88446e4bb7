"""Parses what apps report in a log: logcat in its usual formats, and plain lines of standard error.

    09-30 10:12:56.427  1234  5678 I Tag: message   threadtime (also with a year, a zone, a uid; or undated)
    09-30 10:12:56.427 I Tag: message               as people paste it
    09-30 10:12:56.427 I/Tag( 1234): message        time; without the date: brief; without the pid: tag
    I( 1234) message  (Tag)                         process
    I( 1234: 5678) message                          thread
    [ 09-30 10:12:56.427  1234: 5678 I/Tag ]        long: the message is on the lines below, up to an empty one
    2025-03-04 10:12:56.427 1234-5678 Tag  com.example.app  I  message     Android Studio, since 2022
    2022-03-04 10:12:56.427 1234-5678/com.example.app I/Tag: message       Android Studio before
    10:12:56.427  I  message                        Android Studio's compact view
    Tag: message                                    plain, and raw

Pure. A line that looks like a declared one but does not match, or that holds the text of one after an unknown prefix,
becomes a problem that says what was expected where; other lines are ignored. The cost per character is constant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from paceline.formats import averages
from paceline.formats.averages import AverageSession, SessionHeading
from paceline.formats.declared import Line, LineProblem, LogOrigin, LogRecord
from paceline.formats.raw_lines import RawLine
from paceline.formats.templates import MismatchError

MAX_RECORDS = 100_000
"""Most records of one file: a day with one line a second, about 100 MB of memory."""
MAX_PROBLEMS = 100
"""Most problems listed; all are counted."""

_COLOUR = re.compile(r"\x1b\[[0-9;]{0,16}m")
_AT = r"(?:(?P<at>(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{3,9}(?: [+-]\d{4})?|\d{9,12}\.\d{3,9}) {1,8})?"
_TAG = r"(?P<tag>[^ ].{0,127}?|) {0,32}"
_THREADTIME = re.compile(
    _AT + r" {0,8}(?:\w{1,32} {1,8})??(?P<pid>\d{1,10}) {1,8}(?P<tid>\d{1,10}) {1,8}"
    r"(?P<level>[VDIWEFAS]) " + _TAG + r":(?: |$)(?P<message>.*)",
    re.ASCII | re.DOTALL,
)
_PASTED = re.compile(
    _AT + r"(?P<level>[VDIWEFAS]) " + _TAG + r":(?: |$)(?P<message>.*)",
    re.ASCII | re.DOTALL,
)
_BRIEF = re.compile(
    _AT
    + r"(?P<level>[VDIWEFAS])/"
    + _TAG
    + r"(?:\( {0,8}(?P<pid>\d{1,10})(?:: {0,8}(?P<tid>\d{1,10}))?\))?"
    r":(?: |$)(?P<message>.*)",
    re.ASCII | re.DOTALL,
)


_STUDIO = re.compile(
    _AT
    + r"(?P<pid>\d{1,10})-(?P<tid>\d{1,10}) {1,8}(?P<tag>[^ ].{0,127}?) {1,64}[^ ]{1,255} {1,64}"
    r"(?P<level>[VDIWEFAS]) {1,2}(?P<message>.*)",
    re.ASCII | re.DOTALL,
)
_STUDIO_BEFORE = re.compile(
    _AT
    + r"(?P<pid>\d{1,10})-(?P<tid>\d{1,10})/[^ ]{1,255} (?P<level>[VDIWEFAS])/"
    + _TAG
    + r":(?: |$)(?P<message>.*)",
    re.ASCII | re.DOTALL,
)
_STUDIO_COMPACT = re.compile(
    r"(?P<at>(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d{3}) {1,8}(?P<level>[VDIWEFAS]) {1,8}(?P<message>.*)",
    re.ASCII | re.DOTALL,
)
_PROCESS = re.compile(
    r"(?P<level>[VDIWEFAS])\( {0,8}(?P<pid>\d{1,10})\) (?P<message>.*)  \((?P<tag>[^()]{1,128})\) {0,8}",
    re.ASCII | re.DOTALL,
)
_THREAD = re.compile(
    r"(?P<level>[VDIWEFAS])\( {0,8}(?P<pid>\d{1,10}): {0,8}(?P<tid>\d{1,10})\) (?P<message>.*)",
    re.ASCII | re.DOTALL,
)
_PREFIXES = (
    _THREADTIME,
    _STUDIO,
    _STUDIO_BEFORE,
    _BRIEF,
    _PASTED,
    _PROCESS,
    _THREAD,
    _STUDIO_COMPACT,
)
_LONG = re.compile(
    r"\[ {0,8}"
    + _AT
    + r" {0,8}(?:\w{1,32}: {0,8})??(?P<pid>\d{1,10}): {0,8}(?P<tid>\d{1,10}) "
    r"(?P<level>[VDIWEFAS])/(?P<tag>.{0,127}?) {0,32}\] {0,8}(?P<message>)",
    re.ASCII,
)
"""The line above the message in logcat's format `long`."""


class TooManyError(Exception):
    """More records than one import may have; the text states the limit."""


class BatchPolicy(msgspec.Struct, frozen=True):
    """The policy that a person says is in force: the arm is used from `minimum` on, after `warmup_rounds`."""

    minimum: int
    warmup_rounds: int | None
    text: str


class LogContents(msgspec.Struct, frozen=True):
    """Everything read from one log."""

    lines: int
    records: list[LogRecord]
    sessions: list[AverageSession]
    problems: list[LineProblem]
    problem_count: int
    policy: BatchPolicy | None = None


def read(raw: Iterable[RawLine], declared: Sequence[Line]) -> LogContents:
    """Read the lines that a suite declares. Raises TooManyError beyond MAX_RECORDS."""
    reader = _Reader(declared)
    for line in raw:
        reader.line(line)
    return LogContents(
        lines=reader.number,
        records=reader.records,
        sessions=averages.pair_averages(reader.records, reader.headings),
        problems=reader.problems,
        problem_count=reader.problem_count,
    )


def _any_of(texts: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, texts)))


def origin_of(text: str) -> tuple[LogOrigin, str]:
    """Split a line into the origin in its prefix and the message. A plain line is all message."""
    for prefix in _PREFIXES:
        match = prefix.fullmatch(text)
        if match is not None:
            return _origin(match), match["message"].lstrip(" ")
    return LogOrigin(), text


def _origin(match: re.Match[str]) -> LogOrigin:
    """Return the origin in the groups of a prefix."""
    named = match.groupdict()
    pid, tid = named.get("pid"), named.get("tid")
    return LogOrigin(
        logged_at=named.get("at"),
        level=named["level"],
        tag=named.get("tag"),
        pid=None if pid is None else int(pid),
        tid=None if tid is None else int(tid),
    )


class LineReading(NamedTuple):
    """The declared line that a log line matches or resembles, and its record or problem."""

    name: str
    result: LogRecord | LineProblem


class LineMatcher:
    """Matches one line at a time against declared lines, while a log grows."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = tuple(lines)
        self._markers = _any_of([line.marker for line in lines])

    def read(self, raw: RawLine) -> LineReading | None:
        """Return the reading of a line; None when it resembles no declared line."""
        if self._markers.search(raw.text) is None:
            return None
        return _match_declared(self._lines, raw, _parse_line(raw))


class _Reader:
    """The state of reading one log."""

    def __init__(self, declared: Sequence[Line]) -> None:
        self._lines = tuple(declared)
        self._candidates = _any_of([*(line.marker for line in self._lines), "(API "])
        """Matches every heading and every line that resembles a declared one; most lines are neither."""
        self.number = 0
        self.records: list[LogRecord] = []
        self.problems: list[LineProblem] = []
        self.problem_count = 0
        self.headings: dict[int, SessionHeading] = {}
        self._above: LogOrigin | None = None
        """The origin that a line of the format `long` states for those below it."""

    def line(self, raw: RawLine) -> None:
        self.number = raw.number
        if raw.text.startswith("[ "):
            header = _LONG.fullmatch(raw.text)
            if header is not None:
                self._above = _origin(header)
                return
        if not raw.text.strip():
            self._above = None
        if self._candidates.search(raw.text) is None:
            return
        parsed = _parse_line(raw)
        if self._above is not None:
            parsed = _ParsedLine(parsed.text, self._above, parsed.text.lstrip(" "))
        if (
            parsed.origin.tag is None
            and (heading := averages.parse_heading(parsed.text)) is not None
        ):
            self.headings[raw.number + 1] = heading
        reading = _match_declared(self._lines, raw, parsed)
        if reading is not None:
            self._keep(reading.result)

    def _keep(self, result: LogRecord | LineProblem) -> None:
        if isinstance(result, LineProblem):
            self.problem_count += 1
            self.problems += [result] if len(self.problems) < MAX_PROBLEMS else []
        elif len(self.records) >= MAX_RECORDS:
            raise TooManyError(f"more than {MAX_RECORDS:,} lines to import")
        else:
            self.records.append(result)


class _ParsedLine(NamedTuple):
    """A line without colours, and its two parts."""

    text: str
    origin: LogOrigin
    message: str


def _parse_line(raw: RawLine) -> _ParsedLine:
    text = _COLOUR.sub("", raw.text) if "\x1b" in raw.text else raw.text
    return _ParsedLine(text, *origin_of(text))


def _match_declared(
    lines: Sequence[Line], raw: RawLine, parsed: _ParsedLine
) -> LineReading | None:
    for line in lines:
        tag, message = _tag_and_message(line, parsed.origin, parsed.message)
        if line.claims(tag, message):
            origin = parsed.origin
            if origin.tag is None:
                origin = msgspec.structs.replace(origin, tag=tag)
            return LineReading(line.name, _read(line, raw, origin, message))
    return _read_without_tag(lines, raw, parsed)


def _read_without_tag(
    lines: Sequence[Line], raw: RawLine, parsed: _ParsedLine
) -> LineReading | None:
    """Read a line that names no tag but holds the whole text of a declared one. Text before it is a problem, because
    it is no known prefix."""
    if parsed.origin.tag is not None:
        return None  # another app's line
    for line in lines:
        at = parsed.message.find(line.marker)
        if at < 0:
            continue
        with suppress(MismatchError):
            line.template.read(parsed.message[at:])
            if at == 0:
                origin = msgspec.structs.replace(parsed.origin, tag=line.tag)
                return LineReading(line.name, _read(line, raw, origin, parsed.message))
            expected = (
                f"a prefix of logcat or Android Studio with the tag {line.tag} before {line.marker!r} at character "
                f"{parsed.text.find(line.marker) + 1}"
            )
            return LineReading(line.name, _problem(raw, f"expected {expected}"))
    return None


def _read(
    line: Line, raw: RawLine, origin: LogOrigin, message: str
) -> LogRecord | LineProblem:
    if raw.fault is not None:
        return _problem(raw, f"expected {raw.fault}")
    try:
        fields = line.template.read(message)
    except MismatchError as error:
        return _problem(raw, f"{error} of the message; its shape: {line.template.text}")
    return LogRecord(raw.number, line.name, origin, fields, raw.text)


def _problem(raw: RawLine, expected: str) -> LineProblem:
    shown = "".join(char if char.isprintable() else "\ufffd" for char in raw.text[:120])
    return LineProblem(raw.number, shown, expected)


def _tag_and_message(
    line: Line, origin: LogOrigin, message: str
) -> tuple[str | None, str]:
    """Return the tag and message as declared line `line` expects them. In a plain line the tag is in the text."""
    if origin.tag is not None:
        return origin.tag, message
    at = message.find(f"{line.tag}:")
    if at < 0:
        return None, message.lstrip(" \t")
    return line.tag, message[at + len(line.tag) + 1 :].lstrip(" \t")
