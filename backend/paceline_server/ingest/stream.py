"""The bench-stream reader (C1): lines in, checked events out, until the terminal or the first fault.

Place: raw streams on disk (`paceline-server judge`) and tests; the agent has its own reader, held to the same
vectors. Invariant: what was accepted before a fault stands, and a fault names its code and line. Never
buffers more than one line of at most 1 MiB, never raises for what a workload printed. Knows no job.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, cast

import msgspec
import numpy as np
from paceline_contract.units import PER_ITERATION

from paceline_server.ingest.cases import Case, Check, Warned, params_key
from paceline_server.ingest.events import (
    TERMINALS,
    EventError,
    check_fields,
    event_type,
)
from paceline_server.stats.samples import NOT_COUNTED, CaseSamples, Direction, Ints

MAX_LINE_BYTES: Final = 1_048_576
"""Longest line without its newline."""

MAX_DEPTH: Final = 128
"""Nesting a reader of any language must survive; beyond it a line is not JSON to us (serde_json's limit)."""


class Fault(NamedTuple):
    code: str
    line: int
    detail: str


class Sample(NamedTuple):
    """One `samples` event, its values already per iteration where the unit says so."""

    case: int
    metric: str
    round: int
    position: int
    measured: bool
    iterations: int
    t_ns: int
    values: tuple[float, ...]
    work: dict[str, int]


@dataclass(slots=True)
class Stream:
    """What a reader accepted of one launch, and the fault that stopped it, if any."""

    start: dict[str, Any] | None = None
    cases: dict[int, Case] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    progress: tuple[int, int] | None = None
    terminal: dict[str, Any] | None = None
    fault: Fault | None = None

    @property
    def launch(self) -> int:
        return 0 if self.start is None else int(self.start["launch"])

    @property
    def workload(self) -> str:
        return "" if self.start is None else str(self.start["workload"])

    @property
    def ok(self) -> bool:
        """Nothing was refused and the terminal is `done`."""
        return (
            self.fault is None
            and self.terminal is not None
            and self.terminal["type"] == "done"
        )


class StreamReader:
    """Feeds on complete lines; `stream` grows until a fault. Lines after a fault are ignored."""

    def __init__(self) -> None:
        self.stream = Stream()
        self.lines = 0

    def feed(self, line: bytes, *, newline: bool = True) -> None:
        """Read one line, given without its newline; `newline` is false for a last line that has none."""
        if self.stream.fault is not None:
            return
        self.lines += 1
        try:
            self._read(line)
        except EventError as fault:
            cut_short = fault.code == "not_json" and not newline
            code = "truncated" if cut_short else fault.code
            detail = (
                "the stream stops in the middle of a line"
                if cut_short
                else fault.detail
            )
            self.stream.fault = Fault(code, self.lines, detail)

    def finish(self) -> Stream:
        """The end of the stream: without a terminal it is `truncated`."""
        if self.stream.fault is None and self.stream.terminal is None:
            self.stream.fault = Fault(
                "truncated", self.lines + 1, "the stream ended without done or error"
            )
        return self.stream

    def _read(self, line: bytes) -> None:
        if len(line) > MAX_LINE_BYTES:
            raise EventError(
                "line_too_long", f"a line holds at most {MAX_LINE_BYTES} bytes"
            )
        if self.stream.terminal is not None:
            raise EventError("after_terminal", "nothing may follow done or error")
        event = _parse(line)
        kind = event_type(event)
        if self.stream.start is None and kind != "start":
            raise EventError("no_start", f"the first event is {kind}, not start")
        if self.stream.start is not None and kind == "start":
            raise EventError("duplicate_start", "start was already said")
        check_fields(kind, event)
        self._accept(kind, event)

    def _accept(self, kind: str, event: dict[str, Any]) -> None:
        stream = self.stream
        match kind:
            case "start":
                stream.start = event
            case "case":
                if event["case"] in stream.cases:
                    raise EventError(
                        "duplicate_case",
                        f"case {event['case']} was already announced",
                        "case",
                    )
                stream.cases[event["case"]] = case_of(event, stream.launch)
            case "samples":
                stream.samples.append(_sample_of(event, stream))
            case "check":
                stream.checks.append(check_of(event, stream.launch, stream.workload))
            case "progress":
                stream.progress = (event["done"], event["total"])
            case "warning":
                stream.warnings.append(
                    Warned(stream.launch, event["code"], event["text"])
                )
        if kind in TERMINALS:
            stream.terminal = event


def check_of(event: dict[str, Any], launch: int, workload: str) -> Check:
    """A checked `check` event as a `Check`."""
    return Check(launch, event["name"], event["ok"], event.get("detail", ""), workload)


def case_of(event: dict[str, Any], launch: int) -> Case:
    """A checked `case` event as a `Case`."""
    return Case(
        launch=launch,
        benchmark=event["benchmark"],
        arm=event["arm"],
        params=event["params"],
        metrics=tuple(
            (metric["name"], metric["unit"], metric["direction"])
            for metric in event["metrics"]
        ),
        items_per_iteration=event.get("items_per_iteration"),
        bytes_per_iteration=event.get("bytes_per_iteration"),
        unavailable=event.get("unavailable"),
    )


def _sample_of(event: dict[str, Any], stream: Stream) -> Sample:
    case = stream.cases.get(event["case"])
    if case is None:
        raise EventError(
            "unknown_case", f"case {event['case']} was never announced", "case"
        )
    if case.unavailable is not None:
        raise EventError(
            "bad_field",
            f"case: {event['case']} is unavailable and has no samples",
            "case",
        )
    unit = next(
        (unit for name, unit, _ in case.metrics if name == event["metric"]), None
    )
    if unit is None:
        raise EventError(
            "bad_field",
            f"metric: {event['metric'][:40]!r} is not one of the case's",
            "metric",
        )
    if event["launch"] != stream.launch:
        raise EventError(
            "bad_field",
            f"launch: start said {stream.launch}, not {event['launch']}",
            "launch",
        )
    divisor = event["iterations"] if unit in PER_ITERATION else 1
    return Sample(
        case=event["case"],
        metric=event["metric"],
        round=event["round"],
        position=event["position"],
        measured=event["phase"] == "measure",
        iterations=event["iterations"],
        t_ns=event["t_ns"],
        values=tuple(value / divisor for value in event["values"]),
        work=event.get("work", {}),
    )


def _parse(line: bytes) -> Any:
    try:
        value = msgspec.json.decode(line)
    except (
        msgspec.ValidationError
    ):  # syntax is right, but a number such as 1e999 fits no float
        raise EventError("bad_field", "a number is out of range") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EventError(
            "not_json", f"not one JSON object in UTF-8 ({error})"
        ) from None
    except RecursionError:
        raise EventError("not_json", "nested too deeply") from None
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise EventError("not_json", f"nested deeper than {MAX_DEPTH}")
    return value


def _depth(value: Any) -> int:
    """Nesting of a JSON value, counted without recursion."""
    deepest, level = 0, [value]
    while level:
        containers = [each for each in level if isinstance(each, (dict, list))]
        if not containers:
            break
        deepest += 1
        level = [
            child
            for each in containers
            for child in (each.values() if isinstance(each, dict) else each)
        ]
    return deepest


def split_lines(source: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """Lines of a binary file as (line without newline, had one); an overlong line is cut.

    The cut line is long enough for the reader to refuse it, and reading stops there.
    """
    while line := source.readline(MAX_LINE_BYTES + 2):
        newline = line.endswith(b"\n")
        yield (line[:-1] if newline else line), newline
        if not newline:
            return


def read_stream(source: Path | BinaryIO) -> Stream:
    """Read one launch's stream to its end or first fault. Never raises for its content; OSError may pass."""
    if isinstance(source, Path):
        with source.open("rb") as opened:
            return read_stream(opened)
    reader = StreamReader()
    for line, newline in split_lines(source):
        reader.feed(line, newline=newline)
        if reader.stream.fault is not None:
            break
    return reader.finish()


def case_samples(streams: Iterable[Stream]) -> list[CaseSamples]:
    """The samples of several launches, joined per (benchmark, arm, params, metric)."""
    rows: dict[tuple[str, str, str, str], list[tuple[int, Sample]]] = defaultdict(list)
    about: dict[tuple[str, str, str, str], Case] = {}
    for stream in streams:
        for sample in stream.samples:
            case = stream.cases[sample.case]
            key = (case.benchmark, case.arm, params_key(case.params), sample.metric)
            about.setdefault(key, case)
            rows[key].append((stream.launch, sample))
    return [_joined(about[key], key[3], samples) for key, samples in rows.items()]


def _joined(case: Case, metric: str, rows: list[tuple[int, Sample]]) -> CaseSamples:
    rows = sorted(rows, key=lambda row: row[0])
    lengths = [len(sample.values) for _, sample in rows]
    names = sorted({name for _, sample in rows for name in sample.work})
    _, unit, direction = next(each for each in case.metrics if each[0] == metric)
    return CaseSamples(
        benchmark=case.benchmark,
        arm=case.arm,
        params=case.params,
        metric=metric,
        unit=unit,
        direction=cast(Direction, direction),
        launch=np.repeat(
            np.array([launch for launch, _ in rows], dtype=np.int64), lengths
        ),
        round=np.repeat(
            np.array([sample.round for _, sample in rows], dtype=np.int64), lengths
        ),
        position=np.repeat(
            np.array([sample.position for _, sample in rows], dtype=np.int64), lengths
        ),
        value=np.array(
            [value for _, sample in rows for value in sample.values], dtype=np.float64
        ),
        warmup=np.repeat(
            np.array([not sample.measured for _, sample in rows], dtype=np.bool_),
            lengths,
        ),
        iterations=np.repeat(
            np.array([sample.iterations for _, sample in rows], dtype=np.int64), lengths
        ),
        work={name: np.repeat(_counts(rows, name), lengths) for name in names},
    )


def _counts(rows: list[tuple[int, Sample]], name: str) -> Ints:
    return np.array(
        [sample.work.get(name, NOT_COUNTED) for _, sample in rows], dtype=np.int64
    )
