"""Stores what agents upload and finishes an attempt once all its items have arrived.

A request is stored whole or not at all. An identity with other content is a 409 and an incident (I7), and `done` is
accepted only when every seq from 0 on was stored (I8). Detection follows from an outbox row.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NoReturn

from msgspec import to_builtins
from paceline_contract.attempts import FinishReport
from paceline_contract.item_reader import ItemError
from paceline_contract.items import (
    ConditionsItem,
    EventItem,
    LogItem,
    ReportedItem,
    SamplesItem,
)
from sqlalchemy.orm import Session

from paceline_server.ingest import live, queries, uploads
from paceline_server.ingest.imported import (
    ImportedSamples,
    store_imported,
)
from paceline_server.ingest.reader import (
    LiveSeries,
    cases,
    checks,
    conditions,
    live_series,
    read_samples,
    start_events,
    warnings,
)
from paceline_server.ingest.schemas import ItemsOut
from paceline_server.ingest.uploads import CheckedItem
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError, conflict
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import incidents
from paceline_server.store.base import Base
from paceline_server.store.tables.samples import (
    ConditionsRow,
    LogChunk,
    ReportedLine,
    SampleChunk,
    StreamEvent,
)

MAX_DECODING = 4
"""Bodies decoded at once. Each takes at most about 1 GiB of memory, for 64 MiB of `0,`."""

TABLES: dict[type, type[Base]] = {
    SamplesItem: SampleChunk,
    EventItem: StreamEvent,
    ConditionsItem: ConditionsRow,
    LogItem: LogChunk,
    ReportedItem: ReportedLine,
}
"""The table of each kind of item."""

_decoding = threading.BoundedSemaphore(MAX_DECODING)

STATUS = {"body_too_large": 413, "unsupported_encoding": 415, "invalid_request": 400}


def read_items(body: bytes, encoding: str) -> list[CheckedItem]:
    """Return the checked items of a request body, without using the database.

    Raises 400, 413 or 415 for a body that cannot be read, 422 with item and field for one that is refused.
    """
    with _decoding:
        try:
            return uploads.decode(uploads.inflate(body, encoding.strip().lower()))
        except uploads.BodyError as error:
            raise ProblemError(STATUS[error.code], error.code, error.detail) from None
        except ItemError as error:
            raise _problem_of(error) from None


def _problem_of(error: ItemError) -> ProblemError:
    where = (
        error.field if error.index is None else f"items[{error.index}].{error.field}"
    )
    named = "" if error.index is None else f"item {error.index} (seq {error.seq}), "
    return ProblemError(
        422,
        "invalid_request",
        f"{named}{error.field}: {error.detail}"[:1000],
        fields={where: error.detail[:500]},
    )


def _undeclared_problem(error: ItemError) -> ProblemError:
    """Return 422 `not_declared`, which the suite's author has to solve, not the agent."""
    problem = _problem_of(error)
    text = (
        f"The workload measured what its suite.toml does not declare: {problem.detail}. Declare it there, or correct "
        "the workload."
    )
    return ProblemError(422, "not_declared", text, fields=problem.fields)


def store(
    session: Session, writer: jobs.LeaseClaim, items: Sequence[CheckedItem]
) -> ItemsOut:
    """Store the items that are new; an item that is stored already with the same content counts as a duplicate.

    Raises 409 `lease_lost`, 409 `item_conflict` (and reports an incident), 422 for items that the manifest forbids.
    """
    held = jobs.check_lease(session, writer, delivers=True)
    plan = jobs.plan_of(session, held.job.run_id)
    first = held.attempt.batch * held.job.launches
    for index, checked in enumerate(items):
        refused = _find_misplaced(
            checked, plan, range(first, first + held.job.launches)
        )
        if refused is not None:
            raise _problem_of(ItemError(index, checked.item.seq, *refused))
        undeclared = _find_undeclared(checked, plan)
        if undeclared is not None:
            raise _undeclared_problem(ItemError(index, checked.item.seq, *undeclared))
    fresh = _add_to_ledger(session, writer, items, closed=held.closed)
    if not fresh:
        return ItemsOut(stored=0, duplicates=len(items))
    _append_rows(session, writer, fresh)
    job = held.job
    job.samples += sum(
        len(checked.packed.values) for checked in fresh if checked.packed is not None
    )
    live.emit_upload(
        session, job, fresh, first_launch=first, launches=held.job.launches
    )
    return ItemsOut(stored=len(fresh), duplicates=len(items) - len(fresh))


def _find_undeclared(
    checked: CheckedItem, plan: jobs.RunPlan
) -> tuple[str, str] | None:
    """Return (field, reason) if the manifest of an item's side does not declare what the item measures."""
    item = checked.item
    if isinstance(item, ConditionsItem | LogItem | ReportedItem):
        return None
    declared = plan.declared_at(item.side)
    if isinstance(item, SamplesItem):
        metric = (item.metric, item.unit, item.direction)
        return declared.refuses_series(item.benchmark, item.arm, metric, item.params)
    event = item.event
    if event["type"] == "case":
        metrics = [
            (metric["name"], metric["unit"], metric["direction"])
            for metric in event["metrics"]
        ]
        refused = declared.refuses_case(
            event["benchmark"], event["arm"], metrics, event["params"]
        )
        return None if refused is None else (f"event.{refused[0]}", refused[1])
    if event["type"] == "start" and event["suite"] != declared.suite:
        return "event.suite", f"the job measures {declared.suite}"
    return None


def _find_misplaced(
    checked: CheckedItem, plan: jobs.RunPlan, launches: range
) -> tuple[str, str] | None:
    """Return (field, reason) if an item belongs to a launch or side that this attempt does not have."""
    item = checked.item
    if isinstance(item, ConditionsItem | LogItem):
        return None
    if item.launch is None:  # A reported line may belong to no launch.
        return (
            None if item.side is None else ("side", "a line of no launch has no side")
        )
    if item.launch not in launches:
        return (
            "launch",
            f"{item.launch} is none of this attempt's: {launches.start} to {launches.stop - 1}",
        )
    if plan.two_sided and item.side is None:
        return (
            "side",
            "this job measures two revisions: say which one this is of, base or head",
        )
    if item.side is not None and not plan.two_sided:
        return "side", "this job measures one revision; only an A/B job has sides"
    return None


def _add_to_ledger(
    session: Session,
    writer: jobs.LeaseClaim,
    items: Sequence[CheckedItem],
    *,
    closed: bool,
) -> list[CheckedItem]:
    """Add identities that are new to the ledger, and return their items."""
    job_id, attempt = writer.job_id, writer.attempt
    unique: dict[int, CheckedItem] = {}
    for checked in items:
        if unique.setdefault(checked.item.seq, checked).digest != checked.digest:
            _raise_conflict(session, writer, checked, unique[checked.item.seq].digest)
    if closed:
        fresh: set[int] = set()
    else:
        at = clock.now()
        rows = [
            {
                "job_id": job_id,
                "attempt": attempt,
                "seq": seq,
                "kind": type(checked.item).__struct_config__.tag,
                "digest": checked.digest,
                "received_at": at,
            }
            for seq, checked in unique.items()
        ]
        fresh = queries.add_to_ledger(session, rows) if rows else set()
    rest = [seq for seq in unique if seq not in fresh]
    known = queries.known_items(session, job_id, attempt, rest) if rest else {}
    for seq in rest:
        if seq not in known:
            raise jobs.lease_lost("The attempt is finished.")
        if known[seq] != unique[seq].digest:
            _raise_conflict(session, writer, unique[seq], known[seq])
    return [checked for seq, checked in unique.items() if seq in fresh]


def _raise_conflict(
    session: Session, writer: jobs.LeaseClaim, checked: CheckedItem, known: bytes
) -> NoReturn:
    """Report an incident and raise 409, because one identity came with two contents. Nothing else is stored."""
    seq = checked.item.seq
    session.rollback()
    detail = {
        "job_id": writer.job_id,
        "attempt": writer.attempt,
        "seq": seq,
        "agent_id": writer.agent_id,
        "stored_digest": known.hex(),
        "refused_digest": checked.digest.hex(),
    }
    incidents.report(session, incidents.ITEM_CONFLICT, detail)
    raise ProblemError(
        409,
        "item_conflict",
        f"Item seq {seq} of attempt {writer.attempt} was stored with other content; nothing of this request "
        "was stored. Two writers share one attempt, or a spool was changed.",
        fields={"seq": str(seq)},
        keeps_changes=True,
    )


def _append_rows(
    session: Session, writer: jobs.LeaseClaim, fresh: Sequence[CheckedItem]
) -> None:
    rows: dict[type, list[queries.Row]] = {kind: [] for kind in TABLES}
    for checked in fresh:
        item = checked.item
        identity = {"job_id": writer.job_id, "attempt": writer.attempt, "seq": item.seq}
        rows[type(item)].append(identity | _columns(checked))
    for kind, table in TABLES.items():
        queries.add_rows(session, table, rows[kind])


def _columns(checked: CheckedItem) -> queries.Row:
    item = checked.item
    if isinstance(item, EventItem):
        return {
            "launch": item.launch,
            "side": item.side,
            "type": item.event["type"],
            "event": item.event,
        }
    if isinstance(item, ConditionsItem):
        raw = [to_builtins(output) for output in item.raw]
        return {
            "phase": item.phase,
            "at_ms": item.at_ms,
            "values": item.values,
            "raw": raw or None,
        }
    if isinstance(item, LogItem):
        return {"stream": item.stream, "lines": item.lines}
    if isinstance(item, ReportedItem):
        fields: queries.Row = to_builtins(item)
        return {name: fields[name] for name in fields if name not in ("kind", "seq")}
    packed = checked.packed
    if packed is None:
        raise TypeError("samples without arrays")
    return {
        "launch": item.launch,
        "side": item.side,
        "benchmark": item.benchmark,
        "arm": item.arm,
        "params": item.params,
        "metric": item.metric,
        "unit": item.unit,
        "direction": item.direction,
        "phase": item.phase,
        "n": len(packed.values),
        "values": packed.values,
        **packed.columns,
        "counters": list(packed.counters) or None,
        "work": packed.work or None,
    }


def finish(session: Session, writer: jobs.LeaseClaim, report: FinishReport) -> None:
    """End an attempt; `done` is accepted only if all its items have arrived. Raises 409 `items_missing`,
    `lease_lost`."""
    held = jobs.check_lease(session, writer, delivers=True)
    if report.outcome == "done" and not held.closed:
        arrived = queries.count_up_to(
            session, writer.job_id, writer.attempt, report.last_seq
        )
        if arrived != report.last_seq + 1:
            seqs = queries.seqs_up_to(
                session, writer.job_id, writer.attempt, report.last_seq
            )
            missing = describe_missing_seqs(seqs, report.last_seq)
            problem = conflict(
                f"Of {report.last_seq + 1} items {arrived} have arrived; send {missing}, then finish again.",
                "items_missing",
            )
            problem.fields = {"missing": missing}
            raise problem
    jobs.finish(session, held, report)


MAX_GAPS = 20


def describe_missing_seqs(seqs: Sequence[int], last_seq: int) -> str:
    """Return which of 0 … last_seq are missing in the sorted `seqs`, as text such as `3, 7-9`."""
    missing: list[str] = []
    expected = 0
    for seq in [*seqs, last_seq + 1]:
        if seq > expected:
            missing.append(
                str(expected) if seq == expected + 1 else f"{expected}-{seq - 1}"
            )
        expected = seq + 1
    shown = ", ".join(missing[:MAX_GAPS])
    return shown + (", …" if len(missing) > MAX_GAPS else "")


__all__ = [
    "CaseSamples",
    "CheckedItem",
    "ImportedSamples",
    "LiveSeries",
    "cases",
    "checks",
    "conditions",
    "describe_missing_seqs",
    "finish",
    "live_series",
    "read_items",
    "read_samples",
    "start_events",
    "store",
    "store_imported",
    "warnings",
]
