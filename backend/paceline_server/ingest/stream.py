"""Reads raw streams on disk (C1) into samples, cases, checks and warnings of each launch.

`paceline-server judge` needs no server for this. Events before a fault stay valid. Parsing and validation are in
`paceline_contract.stream`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeVar, cast

import numpy as np
from msgspec import UnsetType
from paceline_contract.events import (
    AnyEvent,
    CaseEvent,
    CheckEvent,
    Direction,
    DoneEvent,
    ErrorEvent,
    ProgressEvent,
    SamplesEvent,
    StartEvent,
    Terminal,
    WarningEvent,
)
from paceline_contract.params import params_key
from paceline_contract.stream import StreamError, StreamReader

from paceline_server.ingest.cases import (
    Case,
    CaseWarning,
    Check,
    SampleBlock,
    join_samples,
)
from paceline_server.stats.samples import CaseSamples, Ints

T = TypeVar("T")

BLOCK_BYTES: Final = 1 << 16
"""Bytes read from a file at once."""


class Sample(NamedTuple):
    """A `samples` event; its values are per iteration if the unit requires it."""

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
    """The events of a launch up to the first fault, and that fault, if there is one."""

    start: StartEvent | None = None
    cases: dict[int, Case] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    warnings: list[CaseWarning] = field(default_factory=list)
    progress: tuple[int, int] | None = None
    terminal: Terminal | None = None
    fault: StreamError | None = None

    @property
    def launch(self) -> int:
        return 0 if self.start is None else self.start.launch

    @property
    def workload(self) -> str:
        return "" if self.start is None else self.start.workload

    @property
    def ok(self) -> bool:
        """True if the stream has no fault and ends with `done`."""
        return self.fault is None and isinstance(self.terminal, DoneEvent)

    def add(self, event: AnyEvent, reader: StreamReader) -> None:
        """Add the event that `reader` has just yielded."""
        match event:
            case StartEvent():
                self.start = event
            case CaseEvent():
                self.cases[event.case] = case_of(event, self.launch)
            case SamplesEvent():
                self.samples.append(_sample_of(event, reader.case(event.case)))
            case CheckEvent():
                self.checks.append(check_of(event, self.launch, self.workload))
            case ProgressEvent():
                self.progress = (event.done, event.total)
            case WarningEvent():
                self.warnings.append(CaseWarning(self.launch, event.code, event.text))
            case DoneEvent() | ErrorEvent():
                self.terminal = event


def check_of(event: CheckEvent, launch: int, workload: str) -> Check:
    """Return the check that a `check` event of a launch reports."""
    return Check(launch, event.name, event.ok, event.detail, workload)


def case_of(event: CaseEvent, launch: int) -> Case:
    """Return the case that a `case` event of a launch announces."""
    return Case(
        launch=launch,
        benchmark=event.benchmark,
        arm=event.arm,
        params=event.params,
        metrics=tuple(
            (metric.name, metric.unit, metric.direction) for metric in event.metrics
        ),
        items_per_iteration=_or_none(event.items_per_iteration),
        bytes_per_iteration=_or_none(event.bytes_per_iteration),
        unavailable=_or_none(event.unavailable),
    )


def _or_none(value: T | UnsetType) -> T | None:
    return None if isinstance(value, UnsetType) else value


def _sample_of(event: SamplesEvent, case: CaseEvent) -> Sample:
    unit = next(metric.unit for metric in case.metrics if metric.name == event.metric)
    return Sample(
        case=event.case,
        metric=event.metric,
        round=event.round,
        position=event.position,
        measured=event.phase == "measure",
        iterations=event.iterations,
        t_ns=event.t_ns,
        values=tuple(event.per_iteration(unit)),
        work=event.work,
    )


def read_stream(source: Path | BinaryIO) -> Stream:
    """Read a launch's stream to its end or first fault. Raises OSError, but nothing for invalid content."""
    if isinstance(source, Path):
        with source.open("rb") as opened:
            return read_stream(opened)
    stream, reader = Stream(), StreamReader()
    try:
        while block := source.read(BLOCK_BYTES):
            for event in reader.feed(block):
                stream.add(event, reader)
        for event in reader.close():
            stream.add(event, reader)
    except StreamError as fault:
        stream.fault = fault
    return stream


def case_samples(streams: Iterable[Stream]) -> list[CaseSamples]:
    """Join the samples of several launches by (benchmark, arm, params, metric)."""
    rows: dict[tuple[str, str, str, str], list[tuple[int, Sample]]] = defaultdict(list)
    cases: dict[tuple[str, str, str, str], Case] = {}
    for stream in streams:
        for sample in stream.samples:
            case = stream.cases[sample.case]
            key = (case.benchmark, case.arm, params_key(case.params), sample.metric)
            cases.setdefault(key, case)
            rows[key].append((stream.launch, sample))
    return [_case_samples(cases[key], key[3], samples) for key, samples in rows.items()]


def _case_samples(
    case: Case, metric: str, rows: list[tuple[int, Sample]]
) -> CaseSamples:
    rows = sorted(rows, key=lambda row: row[0])
    _, unit, direction = next(
        declared for declared in case.metrics if declared[0] == metric
    )
    return join_samples(
        [_block_of(launch, sample) for launch, sample in rows],
        benchmark=case.benchmark,
        arm=case.arm,
        params=case.params,
        metric=metric,
        unit=unit,
        direction=cast(Direction, direction),
    )


def _block_of(launch: int, sample: Sample) -> SampleBlock:
    def repeat(value: int) -> Ints:
        return np.full(len(sample.values), value, dtype=np.int64)

    return SampleBlock(
        launch,
        warmup=not sample.measured,
        rounds=repeat(sample.round),
        positions=repeat(sample.position),
        iterations=repeat(sample.iterations),
        values=np.array(sample.values, dtype=np.float64),
        work={name: repeat(count) for name, count in sample.work.items()},
    )
