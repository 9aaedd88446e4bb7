"""Reads the bench stream (C1) as bytes arrive, and yields its events until the first fault.

Memory is bounded by one line (1 MiB), however much arrives. Events that were yielded before a fault stay valid; the
fault has a code and the number of its line. Processes, exit codes, jobs and manifests are left to the caller.

    expect start ──start──▶ body ──done | error──▶ ended        anything else: StreamError(code, line)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from paceline_contract.events import (
    AnyEvent,
    CaseEvent,
    DoneEvent,
    ErrorEvent,
    EventError,
    FaultCode,
    SamplesEvent,
    StartEvent,
    Terminal,
    event_type,
    parse_event,
)

MAX_LINE_BYTES: Final = 1_048_576
"""Longest line without its newline."""
MAX_DEPTH: Final = 128
"""Deepest nesting, which readers in every language can parse (serde_json's limit). A deeper line is `not_json`."""


class StreamError(Exception):
    """The stream is broken at `line` (1-based); `detail` says what was expected there."""

    def __init__(self, code: FaultCode, line: int, detail: str) -> None:
        super().__init__(f"line {line}: {code}: {detail}")
        self.code: FaultCode = code
        self.line = line
        self.detail = detail


class StreamReader:
    """Yields the events of the bytes that `feed` gets. After a `StreamError` the reader must not be used again."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._cases: dict[int, CaseEvent] = {}
        self._launch: int | None = None
        self._complete_lines = 0
        self.line = 0
        self.terminal: Terminal | None = None

    def feed(self, data: bytes) -> Iterator[AnyEvent]:
        """Yield the events completed by `data`. Raises `StreamError` at the first broken line."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            if self._pending:
                self._pending += data[start:end]
                line = bytes(self._pending)
                self._pending.clear()
            else:
                line = data[start:end]
            start = end + 1
            self._complete_lines += 1
            yield self._read(line)
        if len(self._pending) + len(data) - start > MAX_LINE_BYTES:
            self.line += 1
            self._pending.clear()
            raise self._too_long()
        self._pending += data[start:]

    def close(self) -> Iterator[AnyEvent]:
        """Yield the event of a last line without a newline; call it at the end. Raises `StreamError` with code `truncated` unless a terminal was read."""
        if self._pending:
            line = bytes(self._pending)
            self._pending.clear()
            try:
                yield self._read(line)
            except StreamError as fault:
                if fault.code != "not_json":
                    raise
                text = "the last line is cut off: it has no newline and does not parse"
                raise StreamError("truncated", fault.line, text) from fault
        if self.terminal is None:
            text = "the stream ended without done or error"
            raise StreamError("truncated", self._complete_lines + 1, text)

    def case(self, number: int) -> CaseEvent:
        """Return the case declared under `number`; known for every `SamplesEvent` already yielded."""
        return self._cases[number]

    def _too_long(self) -> StreamError:
        text = f"a line has at most {MAX_LINE_BYTES} bytes"
        return StreamError("line_too_long", self.line, text)

    def _read(self, line: bytes) -> AnyEvent:
        self.line += 1
        if len(line) > MAX_LINE_BYTES:
            raise self._too_long()
        try:
            return self._parse(line)
        except EventError as error:
            raise StreamError(error.code, self.line, error.detail) from None

    def _parse(self, line: bytes) -> AnyEvent:
        if self.terminal is not None:
            raise EventError("after_terminal", "nothing may follow done or error")
        value = _decode(line)
        kind = event_type(value)
        if self._launch is None and kind != "start":
            raise EventError("no_start", f"the first event must be start, not {kind}")
        if self._launch is not None and kind == "start":
            raise EventError("duplicate_start", "start comes exactly once, first")
        event = parse_event(value)
        match event:
            case StartEvent():
                self._launch = event.launch
            case CaseEvent():
                if event.case in self._cases:
                    text = f"case {event.case} was declared before"
                    raise EventError("duplicate_case", text, "case")
                self._cases[event.case] = event
            case SamplesEvent():
                self._check_samples(event)
            case DoneEvent() | ErrorEvent():
                self.terminal = event
        return event

    def _check_samples(self, event: SamplesEvent) -> None:
        case = self._cases.get(event.case)
        if case is None:
            text = f"case {event.case} was not declared"
            raise EventError("unknown_case", text, "case")
        if not case.is_available:
            text = f"case: samples of {event.case}, which is unavailable: {str(case.unavailable)[:80]}"
            raise EventError("bad_field", text, "case")
        if case.metric(event.metric) is None:
            text = f"metric: case {event.case} declares no metric {event.metric[:80]!r}"
            raise EventError("bad_field", text, "metric")
        if event.launch != self._launch:
            text = f"launch: expected {self._launch} as in start, found {event.launch}"
            raise EventError("bad_field", text, "launch")


def _decode(line: bytes) -> Any:
    try:
        value = msgspec.json.decode(line)
    except msgspec.ValidationError:  # valid JSON, but a number such as 1e999
        raise EventError("bad_field", "a number is out of range") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        text = f"expected one JSON object in UTF-8: {error}"
        raise EventError("not_json", text) from None
    except RecursionError:
        raise EventError("not_json", "nested too deeply") from None
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise EventError("not_json", f"nested deeper than {MAX_DEPTH}")
    return value


def _depth(value: Any) -> int:
    """Return the nesting of a JSON value, counted without recursion."""
    deepest, level = 0, [value]
    while containers := [child for child in level if isinstance(child, (dict, list))]:
        deepest += 1
        level = [
            child
            for container in containers
            for child in (
                container.values() if isinstance(container, dict) else container
            )
        ]
    return deepest
