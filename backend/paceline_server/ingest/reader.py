"""What has arrived, read back: arrays for whoever judges, pages for whoever looks.

Place: called by detect and reports through `ingest.service`. Invariant: what is judged is only what counts:
the newest `done` attempt of each batch. What people look at (log, conditions, live series) is the newest
attempt, finished or not. `side` is None but in an A/B job, whose base and head are read apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np
from paceline_contract.events import CaseEvent, CheckEvent
from paceline_contract.items import Side
from sqlalchemy.orm import Session

from paceline_server.ingest import queries
from paceline_server.ingest.cases import Case, Check, Conditions, Warned, params_key
from paceline_server.ingest.stream import case_of, check_of
from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import ConditionsOut, LogLineOut, ReportedLineOut
from paceline_server.kernel.wire import Page
from paceline_server.stats.samples import NOT_COUNTED, CaseSamples, Direction, Ints
from paceline_server.store.page import decode_cursor, encode_cursor
from paceline_server.store.session import read_scope

Key = tuple[str, str, str, str, str | None]
"""(benchmark, arm, params key, metric, side)."""

LIVE_CHUNKS = 32
"""Newest chunks per case that a live series looks at."""
LOG_CHUNKS = 4
"""Chunks of log lines read at once for a text, each of at most 2 MB."""
_NOT_IN_A_FILENAME = re.compile(r"[^A-Za-z0-9._-]+")
LIVE_VALUES = 150
"""Values of a live series, evenly picked: what a chart shows without dots."""


def blocks(
    session: Session, job_id: str, side: Side | None = None
) -> list[CaseSamples]:
    """All samples that count of a job, one entry per (benchmark, arm, params, metric), as they appeared."""
    return _joined(
        queries.chunks(session, job_id, jobs.counting_attempts(session, job_id), side)
    )


def _joined(chunks: Sequence[queries.Chunk]) -> list[CaseSamples]:
    return [_case(group) for group in _grouped(chunks).values()]


def _grouped(chunks: Sequence[queries.Chunk]) -> dict[Key, list[queries.Chunk]]:
    groups: dict[Key, list[queries.Chunk]] = {}
    for chunk in chunks:
        key = (
            chunk.benchmark,
            chunk.arm,
            params_key(chunk.params),
            chunk.metric,
            chunk.side,
        )
        groups.setdefault(key, []).append(chunk)
    return groups


def _case(chunks: Sequence[queries.Chunk]) -> CaseSamples:
    first = chunks[0]
    lengths = [len(chunk.values) for chunk in chunks]
    return CaseSamples(
        benchmark=first.benchmark,
        arm=first.arm,
        params=first.params,
        metric=first.metric,
        unit=first.unit,
        direction=cast(Direction, first.direction),
        launch=np.repeat(
            np.array([chunk.launch for chunk in chunks], dtype=np.int64), lengths
        ),
        round=_int32s([chunk.rounds for chunk in chunks]),
        position=_int32s([chunk.positions for chunk in chunks]),
        value=np.concatenate([chunk.values for chunk in chunks]),
        warmup=np.repeat(
            np.array([chunk.phase == "warmup" for chunk in chunks], dtype=np.bool_),
            lengths,
        ),
        iterations=_int64s([chunk.iterations for chunk in chunks]),
        work=_work(chunks, lengths),
    )


def _work(chunks: Sequence[queries.Chunk], lengths: Sequence[int]) -> dict[str, Ints]:
    """Counters by name over all chunks; a chunk without one has `NOT_COUNTED`."""
    names = sorted({name for chunk in chunks for name in chunk.counters or ()})
    found = {
        name: [np.full(n, NOT_COUNTED, dtype=np.int64) for n in lengths]
        for name in names
    }
    for at, chunk in enumerate(chunks):
        if chunk.counters and chunk.work is not None:
            rows = _int64s([chunk.work]).reshape(len(chunk.counters), -1)
            for name, row in zip(chunk.counters, rows, strict=True):
                found[name][at] = row
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _int64s(packed: Sequence[bytes]) -> Ints:
    return np.frombuffer(b"".join(packed), dtype="<i8").astype(np.int64)


def _int32s(packed: Sequence[bytes]) -> Ints:
    return np.frombuffer(b"".join(packed), dtype="<i4").astype(np.int64)


def checks(session: Session, job_id: str, side: Side | None = None) -> list[Check]:
    """Correctness checks of the launches that count (I1). Workloads of a launch run one after the other, so
    a check is of the workload whose `start` came last before it."""
    found: list[Check] = []
    workload = ""
    for launch, event in _events(session, job_id, side, "start", "check"):
        if event["type"] == "start":
            workload = event["workload"]
        else:
            found.append(check_of(msgspec.convert(event, CheckEvent), launch, workload))
    return found


def warnings(session: Session, job_id: str, side: Side | None = None) -> list[Warned]:
    """Warnings of the launches that count."""
    return [
        Warned(launch, event["code"], event["text"])
        for launch, event in _events(session, job_id, side, "warning")
    ]


def cases(session: Session, job_id: str, side: Side | None = None) -> list[Case]:
    """Cases the launches that count announced, with or without samples."""
    return [
        case_of(msgspec.convert(event, CaseEvent), launch)
        for launch, event in _events(session, job_id, side, "case")
    ]


def starts(
    session: Session, job_id: str, side: Side | None = None
) -> list[tuple[int, dict[str, Any]]]:
    """(launch, `start` event) of the launches that count: build facts, clock, seed."""
    return _events(session, job_id, side, "start")


def _events(
    session: Session, job_id: str, side: Side | None, *kinds: str
) -> list[tuple[int, dict[str, Any]]]:
    return queries.events(
        session, job_id, jobs.counting_attempts(session, job_id), kinds, side
    )


def conditions(session: Session, job_id: str) -> list[Conditions]:
    """What the target was like during the attempts that count, in order."""
    rows = queries.conditions(session, job_id, jobs.counting_attempts(session, job_id))
    return [Conditions(row.phase, row.at_ms, row.values, row.attempt) for row in rows]


@dataclass(frozen=True, slots=True)
class LiveSeries:
    """The newest values of one case of the newest attempt, thinned. Fields as `LiveSeriesOut`."""

    benchmark: str
    arm: str
    params: dict[str, int | str]
    metric: str
    unit: str
    n: int
    median: float
    values: list[float]
    side: str | None


def live_series(session: Session, job_id: str) -> list[LiveSeries]:
    """Per case of the newest attempt: how many samples, and the newest of them. Raises 404."""
    attempt = jobs.get_job(session, job_id).attempt
    counted: dict[Key, int] = {
        (benchmark, arm, params_key(params), metric, side): n
        for benchmark, arm, params, metric, side, n in queries.counts(
            session, job_id, attempt
        )
    }
    found = []
    for key, chunks in _grouped(
        queries.newest_chunks(session, job_id, attempt, LIVE_CHUNKS)
    ).items():
        case = _case(chunks)
        last = len(case.value) - 1
        picked = np.unique(
            np.linspace(0, last, min(last + 1, LIVE_VALUES)).astype(np.int64)
        )
        found.append(
            LiveSeries(
                benchmark=case.benchmark,
                arm=case.arm,
                params=dict(case.params),
                metric=case.metric,
                unit=case.unit,
                n=counted[key],
                median=float(np.median(case.value)),
                values=case.value[picked].tolist(),
                side=key[-1],
            )
        )
    return found


def log_page(
    session: Session,
    job_id: str,
    *,
    attempt: int | None,
    after: int,
    limit: int,
    cursor: str | None,
) -> Page[LogLineOut]:
    """Log lines of an attempt (the newest unless given) with a seq above `after`. Raises 404."""
    number = jobs.get_job(session, job_id).attempt if attempt is None else attempt
    seq, line = (after + 1, -1) if cursor is None else decode_cursor(cursor, [int, int])
    chunks = queries.log_from(session, job_id, number, seq, limit + 1)
    lines = [
        (chunk.seq, index, LogLineOut(seq=chunk.seq, stream=chunk.stream, text=text))
        for chunk in chunks
        for index, text in enumerate(chunk.lines)
        if (chunk.seq, index) > (seq, line)
    ]
    shown = lines[:limit]
    more = len(lines) > limit or (len(chunks) > limit and bool(shown))
    following = encode_cursor(shown[-1][:2]) if more and shown else None
    return Page[LogLineOut](items=[out for *_, out in shown], next=following)


def log_tail(
    session: Session, job_id: str, *, attempt: int | None, lines: int
) -> Page[LogLineOut]:
    """The last lines of an attempt's log (the newest attempt unless given). Raises 404."""
    number = jobs.get_job(session, job_id).attempt if attempt is None else attempt
    chunks = queries.log_tail(session, job_id, number, lines)
    said = [
        LogLineOut(seq=chunk.seq, stream=chunk.stream, text=text)
        for chunk in chunks
        for text in chunk.lines
    ]
    return Page[LogLineOut](items=said[-lines:], next=None)


class WholeLog(NamedTuple):
    """The log of one attempt as a text: `lines` are read from the store while they are sent."""

    filename: str
    lines: Iterator[str]


def log_text(session: Session, job_id: str, *, attempt: int | None) -> WholeLog:
    """The whole log of an attempt (the newest unless given). Raises 404."""
    job = jobs.get_job(session, job_id)
    number = job.attempt if attempt is None else attempt
    suite = jobs.get_run(session, job.run_id).suite
    name = _NOT_IN_A_FILENAME.sub(
        "-", f"{suite}-{job.target_name}-{job_id}-attempt-{number}"
    )
    return WholeLog(f"{name}.log", _log_lines(job_id, number))


def _log_lines(job_id: str, attempt: int) -> Iterator[str]:
    """Page by page, each in a transaction of its own: a slow reader holds neither memory nor a database."""
    seq = 0
    while True:
        with read_scope() as session:
            chunks = queries.log_from(session, job_id, attempt, seq, LOG_CHUNKS)
            texts = ["".join(f"{line}\n" for line in chunk.lines) for chunk in chunks]
            seq = chunks[-1].seq + 1 if chunks else seq
        yield from texts
        if len(texts) < LOG_CHUNKS:
            return


def conditions_page(
    session: Session,
    job_id: str,
    *,
    attempt: int | None,
    after: int,
    raw: bool,
    limit: int,
    cursor: str | None,
) -> Page[ConditionsOut]:
    """Conditions of an attempt (the newest unless given) with a seq above `after`; `raw`: with what was
    printed. Raises 404."""
    number = jobs.get_job(session, job_id).attempt if attempt is None else attempt
    start = after if cursor is None else decode_cursor(cursor, [int])[0]
    rows = queries.conditions_after(session, job_id, number, start, limit + 1, raw=raw)
    own = [name for name in ConditionsOut.model_fields if raw or name != "raw"]
    shown = [
        ConditionsOut.model_validate({name: getattr(row, name) for name in own})
        for row in rows[:limit]
    ]
    following = encode_cursor([shown[-1].seq]) if len(rows) > limit else None
    return Page[ConditionsOut](items=shown, next=following)


def reported_page(
    session: Session,
    job_id: str,
    *,
    attempt: int | None,
    after: int,
    limit: int,
    cursor: str | None,
) -> Page[ReportedLineOut]:
    """What a device's log reported during an attempt (the newest unless given), above `after`. Raises 404."""
    number = jobs.get_job(session, job_id).attempt if attempt is None else attempt
    start = after if cursor is None else decode_cursor(cursor, [int])[0]
    rows = queries.reported_after(session, job_id, number, start, limit + 1)
    shown = [ReportedLineOut.model_validate(row) for row in rows[:limit]]
    following = encode_cursor([shown[-1].seq]) if len(rows) > limit else None
    return Page[ReportedLineOut](items=shown, next=following)
