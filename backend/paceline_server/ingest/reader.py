"""Reads uploads back, as arrays for detection and as pages for people.

Detection reads only the attempts that count: the newest `done` one of each batch. People see the newest attempt,
finished or not. `side` is None except in an A/B job, whose base and head are read separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np
from paceline_contract.events import CaseEvent, CheckEvent, Direction, ParamValue
from paceline_contract.items import SideName
from paceline_contract.params import params_key
from sqlalchemy.orm import Session

from paceline_server.ingest import queries
from paceline_server.ingest.cases import (
    Case,
    CaseWarning,
    Check,
    Conditions,
    SampleBlock,
    join_samples,
)
from paceline_server.ingest.stream import case_of, check_of
from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import ConditionsOut, LogLineOut, ReportedLineOut
from paceline_server.kernel.wire import Page
from paceline_server.stats.samples import CaseSamples, Ints
from paceline_server.store.page import decode_cursor, encode_cursor
from paceline_server.store.session import read_scope

Key = tuple[str, str, str, str, str | None]
"""(benchmark, arm, params key, metric, side)."""

LIVE_CHUNKS = 32
"""The number of newest chunks of a case from which its live series is made."""
LOG_CHUNKS = 4
"""Log chunks read at once for a text log; each has at most 2 MB."""
_NOT_IN_A_FILENAME = re.compile(r"[^A-Za-z0-9._-]+")
LIVE_VALUES = 150
"""At most this many evenly spaced values in a live series, as many as a chart can show."""


def read_samples(
    session: Session,
    job_id: str,
    side: SideName | None = None,
    *,
    under_way: bool = False,
) -> list[CaseSamples]:
    """Return the samples of a job that count, one entry per (benchmark, arm, params, metric). With `under_way`, those of
    an attempt that has not ended count, too, here and below."""
    attempts = jobs.counting_attempts(session, job_id, under_way=under_way)
    return _case_samples(queries.chunks(session, job_id, attempts, side))


def _case_samples(chunks: Sequence[queries.Chunk]) -> list[CaseSamples]:
    return [_join_chunks(group) for group in _group_by_case(chunks).values()]


def _group_by_case(chunks: Sequence[queries.Chunk]) -> dict[Key, list[queries.Chunk]]:
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


def _join_chunks(chunks: Sequence[queries.Chunk]) -> CaseSamples:
    first = chunks[0]
    return join_samples(
        [_block_of(chunk) for chunk in chunks],
        benchmark=first.benchmark,
        arm=first.arm,
        params=first.params,
        metric=first.metric,
        unit=first.unit,
        direction=cast(Direction, first.direction),
    )


def _block_of(chunk: queries.Chunk) -> SampleBlock:
    work: dict[str, Ints] = {}
    if chunk.counters and chunk.work is not None:
        rows = _unpack(chunk.work, "<i8").reshape(len(chunk.counters), -1)
        work = dict(zip(chunk.counters, rows, strict=True))
    return SampleBlock(
        chunk.launch,
        warmup=chunk.phase == "warmup",
        rounds=_unpack(chunk.rounds, "<i4"),
        positions=_unpack(chunk.positions, "<i4"),
        iterations=_unpack(chunk.iterations, "<i8"),
        values=chunk.values,
        work=work,
    )


def _unpack(packed: bytes, dtype: str) -> Ints:
    return np.frombuffer(packed, dtype=dtype).astype(np.int64)


def checks(
    session: Session,
    job_id: str,
    side: SideName | None = None,
    *,
    under_way: bool = False,
) -> list[Check]:
    """Return the correctness checks of the launches that count (I1).

    A launch runs its workloads one after the other, so a check belongs to the last `start` before it."""
    reported: list[Check] = []
    workload = ""
    for launch, event in _events(
        session, job_id, side, "start", "check", under_way=under_way
    ):
        if event["type"] == "start":
            workload = event["workload"]
        else:
            reported.append(
                check_of(msgspec.convert(event, CheckEvent), launch, workload)
            )
    return reported


def warnings(
    session: Session,
    job_id: str,
    side: SideName | None = None,
    *,
    under_way: bool = False,
) -> list[CaseWarning]:
    """Return the warnings of the launches that count."""
    return [
        CaseWarning(launch, event["code"], event["text"])
        for launch, event in _events(
            session, job_id, side, "warning", under_way=under_way
        )
    ]


def cases(
    session: Session,
    job_id: str,
    side: SideName | None = None,
    *,
    under_way: bool = False,
) -> list[Case]:
    """Return the cases that launches that count announced, with or without samples."""
    return [
        case_of(msgspec.convert(event, CaseEvent), launch)
        for launch, event in _events(session, job_id, side, "case", under_way=under_way)
    ]


def start_events(
    session: Session,
    job_id: str,
    side: SideName | None = None,
    *,
    under_way: bool = False,
) -> list[tuple[int, dict[str, Any]]]:
    """Return (launch, `start` event) of the launches that count: build, clock, seed."""
    return _events(session, job_id, side, "start", under_way=under_way)


def _events(
    session: Session,
    job_id: str,
    side: SideName | None,
    *kinds: str,
    under_way: bool,
) -> list[tuple[int, dict[str, Any]]]:
    attempts = jobs.counting_attempts(session, job_id, under_way=under_way)
    return queries.events(session, job_id, attempts, kinds, side)


def conditions(
    session: Session, job_id: str, *, under_way: bool = False
) -> list[Conditions]:
    """Return the conditions of the target during the attempts that count, in order."""
    attempts = jobs.counting_attempts(session, job_id, under_way=under_way)
    rows = queries.conditions(session, job_id, attempts)
    return [Conditions(row.phase, row.at_ms, row.values, row.attempt) for row in rows]


@dataclass(frozen=True, slots=True)
class LiveSeries:
    """Some of the newest values of a case in the newest attempt. The fields are those of `LiveSeriesOut`."""

    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: str
    n: int
    median: float
    values: list[float]
    side: str | None


def live_series(session: Session, job_id: str) -> list[LiveSeries]:
    """Return sample counts and newest values of each case of the newest attempt. Raises 404."""
    attempt = jobs.get_job(session, job_id).attempt
    counted: dict[Key, int] = {
        (benchmark, arm, params_key(params), metric, side): n
        for benchmark, arm, params, metric, side, n in queries.counts(
            session, job_id, attempt
        )
    }
    live = []
    for key, chunks in _group_by_case(
        queries.newest_chunks(session, job_id, attempt, LIVE_CHUNKS)
    ).items():
        case = _join_chunks(chunks)
        last = len(case.value) - 1
        picked = np.unique(
            np.linspace(0, last, min(last + 1, LIVE_VALUES)).astype(np.int64)
        )
        live.append(
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
    return live


def log_page(
    session: Session,
    job_id: str,
    *,
    attempt: int | None,
    after: int,
    limit: int,
    cursor: str | None,
) -> Page[LogLineOut]:
    """Return log lines of an attempt (the newest unless given) with a seq above `after`. Raises 404."""
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
    """Return the last lines of an attempt's log (the newest attempt unless given). Raises 404."""
    number = jobs.get_job(session, job_id).attempt if attempt is None else attempt
    chunks = queries.log_tail(session, job_id, number, lines)
    tail = [
        LogLineOut(seq=chunk.seq, stream=chunk.stream, text=text)
        for chunk in chunks
        for text in chunk.lines
    ]
    return Page[LogLineOut](items=tail[-lines:], next=None)


class WholeLog(NamedTuple):
    """An attempt's log as text; `lines` are read from the store while they are sent."""

    filename: str
    lines: Iterator[str]


def log_text(session: Session, job_id: str, *, attempt: int | None) -> WholeLog:
    """Return the whole log of an attempt (the newest unless given). Raises 404."""
    job = jobs.get_job(session, job_id)
    number = job.attempt if attempt is None else attempt
    suite = jobs.get_run(session, job.run_id).suite
    name = _NOT_IN_A_FILENAME.sub(
        "-", f"{suite}-{job.target_name}-{job_id}-attempt-{number}"
    )
    return WholeLog(f"{name}.log", _log_lines(job_id, number))


def _log_lines(job_id: str, attempt: int) -> Iterator[str]:
    """Yield a log's lines. Each page is read in its own transaction, so that a slow reader holds neither memory nor a
    lock."""
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
    """Return conditions of an attempt (the newest unless given) with a seq above `after`; `raw` includes the output
    they were read from. Raises 404."""
    number = jobs.get_job(session, job_id).attempt if attempt is None else attempt
    start = after if cursor is None else decode_cursor(cursor, [int])[0]
    rows = queries.conditions_after(session, job_id, number, start, limit + 1, raw=raw)
    names = [name for name in ConditionsOut.model_fields if raw or name != "raw"]
    shown = [
        ConditionsOut.model_validate({name: getattr(row, name) for name in names})
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
    """Return reported lines of an attempt (the newest unless given) with a seq above `after`. Raises 404."""
    number = jobs.get_job(session, job_id).attempt if attempt is None else attempt
    start = after if cursor is None else decode_cursor(cursor, [int])[0]
    rows = queries.reported_after(session, job_id, number, start, limit + 1)
    shown = [ReportedLineOut.model_validate(row) for row in rows[:limit]]
    following = encode_cursor([shown[-1].seq]) if len(rows) > limit else None
    return Page[ReportedLineOut](items=shown, next=following)
