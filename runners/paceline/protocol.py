"""Reads the bench stream (C1, `native/protocol/README.md`) as bytes arrive; its vectors hold every reader.

Place in the journey: the first thing a workload's standard output meets.
Invariants: memory is bounded by one line (1 MiB) however much arrives; every event yielded is within its
ranges; the first broken line ends the stream with its number, and events before it have been yielded.
Does not know processes, exit codes or the server: `outcome.py` joins those.

    expect start ──start──▶ body ──done | error──▶ ended        anything else: BrokenStreamError(code, line)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal, NoReturn, cast

from paceline.events import (
    UNITS,
    Case,
    Check,
    Clock,
    Direction,
    Done,
    Event,
    Failed,
    Metric,
    ParamValue,
    Phase,
    Progress,
    Samples,
    Start,
    Terminal,
    Unit,
    Warn,
)

LINE_LIMIT_BYTES = 1 << 20
"""Longest accepted line without its newline (C1)."""
INT_MAX = 2**63 - 1
"""Largest integer of the stream: what every reader and the database can hold."""
VALUES_LIMIT = 1000
"""Most values of one samples event (C1)."""
COUNTERS_LIMIT = 16
"""Most counters of one samples event (C1)."""

FaultCode = Literal[
    "not_json",
    "not_object",
    "missing_field",
    "bad_field",
    "unknown_type",
    "unknown_unit",
    "line_too_long",
    "truncated",
    "after_terminal",
    "unknown_case",
    "duplicate_case",
    "no_start",
    "duplicate_start",
    "version",
]


class BrokenStreamError(Exception):
    """The stream is broken at `line` (1-based); `text` says what was expected there."""

    def __init__(self, code: FaultCode, line: int, text: str) -> None:
        super().__init__(f"line {line}: {code}: {text}")
        self.code: FaultCode = code
        self.line = line
        self.text = text


class StreamReader:
    """Feed it bytes, iterate what `feed` and `close` yield; a `BrokenStreamError` ends it for good."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._cases: dict[int, Case] = {}
        self._launch: int | None = None
        self._complete_lines = 0
        self.line = 0
        self.terminal: Terminal | None = None

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yields the events completed by `data`. Raises BrokenStreamError at the first broken line."""
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
            yield self._line(line)
        if len(self._pending) + len(data) - start > LINE_LIMIT_BYTES:
            self.line += 1
            self._pending.clear()
            self._too_long()
        self._pending += data[start:]

    def close(self) -> Iterator[Event]:
        """Call at end of file. Raises BrokenStreamError `truncated` unless the terminal has been read."""
        if self._pending:
            line = bytes(self._pending)
            self._pending.clear()
            try:
                yield self._line(line)
            except BrokenStreamError as fault:
                if fault.code != "not_json":
                    raise
                text = "the last line is cut off: it has no newline and does not parse"
                raise BrokenStreamError("truncated", fault.line, text) from fault
        if self.terminal is None:
            raise BrokenStreamError(
                "truncated",
                self._complete_lines + 1,
                "the stream ended without done or error",
            )

    def case(self, number: int) -> Case:
        """The case declared under `number`; known for every `Samples` already yielded."""
        return self._cases[number]

    def _too_long(self) -> NoReturn:
        raise BrokenStreamError(
            "line_too_long", self.line, f"a line has at most {LINE_LIMIT_BYTES} bytes"
        )

    def _line(self, raw: bytes) -> Event:
        self.line += 1
        if len(raw) > LINE_LIMIT_BYTES:
            self._too_long()
        if self.terminal is not None:
            raise BrokenStreamError(
                "after_terminal", self.line, "nothing may follow done or error"
            )
        try:
            value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
            if b"\\u" in raw:
                json.dumps(value, ensure_ascii=False).encode(
                    "utf-8"
                )  # a lone surrogate anywhere is no UTF-8
        except (ValueError, RecursionError) as error:
            raise BrokenStreamError(
                "not_json", self.line, f"expected one JSON object: {error}"
            ) from error
        if not isinstance(value, dict):
            raise BrokenStreamError(
                "not_object", self.line, f"expected a JSON object, found {_kind(value)}"
            )
        return self._event(_Fields(value, self.line))

    def _event(self, fields: _Fields) -> Event:
        kind = fields.text("type")
        parse = _PARSERS.get(kind)
        if parse is None:
            raise BrokenStreamError(
                "unknown_type", self.line, f"no event type is called {kind[:80]!r}"
            )
        if self._launch is None and kind != "start":
            raise BrokenStreamError(
                "no_start", self.line, "the first event must be start"
            )
        if self._launch is not None and kind == "start":
            raise BrokenStreamError(
                "duplicate_start", self.line, "start comes exactly once, first"
            )
        event = parse(fields)
        if isinstance(event, Start):
            self._launch = event.launch
        elif isinstance(event, Case):
            if event.case in self._cases:
                raise BrokenStreamError(
                    "duplicate_case",
                    self.line,
                    f"case {event.case} was declared before",
                )
            self._cases[event.case] = event
        elif isinstance(event, Samples):
            self._check_samples(event)
        elif isinstance(event, Done | Failed):
            self.terminal = event
        return event

    def _check_samples(self, event: Samples) -> None:
        case = self._cases.get(event.case)
        if case is None:
            raise BrokenStreamError(
                "unknown_case", self.line, f"case {event.case} was not declared"
            )
        if case.unavailable is not None:
            text = f"case: samples of {event.case}, which is unavailable: {case.unavailable[:80]}"
            raise BrokenStreamError("bad_field", self.line, text)
        if case.metric(event.metric) is None:
            text = f"metric: case {event.case} declares no metric {event.metric[:80]!r}"
            raise BrokenStreamError("bad_field", self.line, text)
        if event.launch != self._launch:
            text = f"launch: expected {self._launch} as in start, found {event.launch}"
            raise BrokenStreamError("bad_field", self.line, text)


class _Fields:
    """One decoded object; every accessor names the field in its fault."""

    def __init__(self, values: dict[str, Any], line: int, path: str = "") -> None:
        self._values = values
        self._line = line
        self._path = path

    def has(self, name: str) -> bool:
        return name in self._values

    def bad(self, name: str, expected: str) -> NoReturn:
        raise BrokenStreamError(
            "bad_field", self._line, f"{self._path}{name}: expected {expected}"
        )

    def get(self, name: str) -> object:
        if name not in self._values:
            raise BrokenStreamError(
                "missing_field", self._line, f"{self._path}{name} is missing"
            )
        return self._values[name]

    def text(self, name: str) -> str:
        value = self.get(name)
        if not isinstance(value, str) or not _storable(value):
            self.bad(name, f"text without U+0000, found {_kind(value)}")
        return value

    def name(self, name: str) -> str:
        value = self.text(name)
        if not value:
            self.bad(name, "a name, found an empty string")
        return value

    def integer(self, name: str, low: int = 0) -> int:
        value = self.get(name)
        if not _is_int(value, low):
            self.bad(name, f"an integer from {low} to 2^63-1, found {_kind(value)}")
        return cast(int, value)

    def boolean(self, name: str) -> bool:
        value = self.get(name)
        if not isinstance(value, bool):
            self.bad(name, f"true or false, found {_kind(value)}")
        return value

    def integers(self, name: str) -> list[int]:
        value = self.get(name)
        if not isinstance(value, list) or not 1 <= len(value) <= VALUES_LIMIT:
            self.bad(name, f"a list of 1 to {VALUES_LIMIT} integers")
        if not all(_is_int(item, 0) for item in value):
            self.bad(name, "integers from 0 to 2^63-1 only")
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.get(name)
        if not isinstance(value, dict) or not all(_storable(key) for key in value):
            self.bad(name, f"an object, found {_kind(value)}")
        return value

    def counters(self, name: str) -> dict[str, int]:
        value = self.mapping(name)
        if len(value) > COUNTERS_LIMIT or not all(value):
            self.bad(
                name, f"at most {COUNTERS_LIMIT} counters with names that are not empty"
            )
        if not all(_is_int(count, 0) for count in value.values()):
            self.bad(name, "integers from 0 to 2^63-1 only")
        return value

    def child(self, name: str) -> _Fields:
        return _Fields(self.mapping(name), self._line, f"{self._path}{name}.")

    def children(self, name: str) -> list[_Fields]:
        value = self.get(name)
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(item, dict) for item in value)
        ):
            self.bad(name, "a list of objects, at least one")
        return [
            _Fields(item, self._line, f"{self._path}{name}[{i}].")
            for i, item in enumerate(value)
        ]

    def version(self, name: str) -> int:
        value = self.integer(name)
        if value != 1:
            raise BrokenStreamError(
                "version", self._line, f"this reader knows v 1, the stream says {value}"
            )
        return value

    def unit(self, name: str) -> Unit:
        value = self.text(name)
        if value not in UNITS:
            text = f"{self._path}{name}: {value[:80]!r} is not one of {', '.join(sorted(UNITS))}"
            raise BrokenStreamError("unknown_unit", self._line, text)
        return cast(Unit, value)

    def one_of(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.text(name)
        if value not in choices:
            self.bad(name, f"one of {', '.join(choices)}, found {value[:80]!r}")
        return value


def _start(fields: _Fields) -> Start:
    version = fields.version("v")
    build = fields.mapping("build")
    if not all(isinstance(value, str) and _storable(value) for value in build.values()):
        fields.bad("build", "an object of strings")
    clock = fields.child("clock")
    return Start(
        v=version,
        suite=fields.name("suite"),
        workload=fields.name("workload"),
        launch=fields.integer("launch"),
        seed=fields.integer("seed"),
        build=build,
        clock=Clock(
            clock.name("name"),
            clock.integer("resolution_ns", low=1),
            clock.integer("overhead_ns"),
        ),
    )


def _case(fields: _Fields) -> Case:
    params: dict[str, ParamValue] = fields.mapping("params")
    for key, value in params.items():
        if not (_is_int(value, 0) or (isinstance(value, str) and _storable(value))):
            fields.bad(
                f"params.{key[:80]}", f"an integer or a string, found {_kind(value)}"
            )
    metrics = [
        Metric(
            item.name("name"),
            item.unit("unit"),
            cast(Direction, item.one_of("direction", ("lower", "higher"))),
        )
        for item in fields.children("metrics")
    ]
    optional = {
        name: fields.integer(name)
        for name in ("items_per_iteration", "bytes_per_iteration")
        if fields.has(name)
    }
    return Case(
        unavailable=fields.name("unavailable") if fields.has("unavailable") else None,
        case=fields.integer("case"),
        benchmark=fields.name("benchmark"),
        arm=fields.name("arm"),
        params=params,
        metrics=metrics,
        **optional,
    )


def _samples(fields: _Fields) -> Samples:
    return Samples(
        case=fields.integer("case"),
        metric=fields.name("metric"),
        launch=fields.integer("launch"),
        round=fields.integer("round"),
        position=fields.integer("position"),
        phase=cast(Phase, fields.one_of("phase", ("warmup", "measure"))),
        iterations=fields.integer("iterations", low=1),
        values=fields.integers("values"),
        t_ns=fields.integer("t_ns"),
        work=fields.counters("work") if fields.has("work") else {},
    )


def _check(fields: _Fields) -> Check:
    detail = fields.text("detail") if fields.has("detail") else ""
    return Check(fields.name("name"), fields.boolean("ok"), detail)


def _progress(fields: _Fields) -> Progress:
    return Progress(fields.integer("done"), fields.integer("total"))


def _warning(fields: _Fields) -> Warn:
    return Warn(fields.name("code"), fields.text("text"))


def _done(_fields: _Fields) -> Done:
    return Done()


def _error(fields: _Fields) -> Failed:
    return Failed(fields.name("code"), fields.text("text"))


_PARSERS: dict[str, Callable[[_Fields], Event]] = {
    "start": _start,
    "case": _case,
    "samples": _samples,
    "check": _check,
    "progress": _progress,
    "warning": _warning,
    "done": _done,
    "error": _error,
}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _is_int(value: object, low: int) -> bool:
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and low <= value <= INT_MAX
    )


def _storable(text: str) -> bool:
    """PostgreSQL text cannot hold U+0000; lone surrogates were refused with the line."""
    return "\x00" not in text


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int):
        return (
            "an integer out of range"
            if not -INT_MAX <= value <= INT_MAX
            else f"the integer {value}"
        )
    if isinstance(value, float):
        return f"the number {value}"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"
