"""Emits the live events of an upload: a few small events per request, however many chunks it holds.

Each request causes at most one `samples` event of 20 values per case and launch. Events are emitted in the
transaction that stores the items.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from paceline_contract.items import ConditionsItem, EventItem, LogItem, SamplesItem
from paceline_contract.params import params_key
from sqlalchemy.orm import Session

from paceline_server.ingest.uploads import CheckedItem
from paceline_server.store import live_events
from paceline_server.store.tables.jobs import Job

MAX_VALUES = 20
"""At most this many evenly spaced values in a `samples` event."""
MAX_SERIES = 64
"""At most this many `samples` events per request: of more cases only the first are shown live."""
MAX_CONDITIONS = 10
MAX_LOG_LINES = 200
MAX_LOG_TEXT = 500
"""Characters of a log line shown live."""


def emit_upload(
    session: Session,
    job: Job,
    fresh: Sequence[CheckedItem],
    *,
    first_launch: int,
    launches: int,
) -> None:
    """Emit events of the newly stored items and update the job's progress."""
    series: dict[tuple[Any, ...], list[CheckedItem]] = {}
    conditions: deque[ConditionsItem] = deque(maxlen=MAX_CONDITIONS)
    logs: dict[str, deque[str]] = {}
    progress: dict[str, int] | None = None
    for checked in fresh:
        item = checked.item
        if isinstance(item, SamplesItem):
            case = (item.benchmark, item.arm, params_key(item.params), item.metric)
            key = (*case, item.phase, item.launch, item.side)
            series.setdefault(key, []).append(checked)
        elif isinstance(item, ConditionsItem):
            conditions.append(item)
        elif isinstance(item, LogItem):
            logs.setdefault(item.stream, deque(maxlen=MAX_LOG_LINES)).extend(
                item.lines[-MAX_LOG_LINES:]
            )
        elif isinstance(item, EventItem) and item.event["type"] == "progress":
            progress = _progress(item, first_launch, launches)

    def emit(kind: str, data: dict[str, Any]) -> None:
        live_events.emit(session, kind, job.run_id, job.id, data)

    for chunks in list(series.values())[:MAX_SERIES]:
        emit("samples", _samples(chunks))
    if progress is not None:
        job.progress = dict(progress)
        emit("progress", dict(progress))
    for condition in conditions:
        emit(
            "conditions",
            {
                "seq": condition.seq,
                "phase": condition.phase,
                "at_ms": condition.at_ms,
                "values": condition.values,
            },
        )
    for stream, lines in logs.items():
        emit(
            "log", {"stream": stream, "lines": [line[:MAX_LOG_TEXT] for line in lines]}
        )


def _progress(item: EventItem, first_launch: int, launches: int) -> dict[str, int]:
    return {
        "launch": item.launch - first_launch,
        "launches": launches,
        "done": item.event["done"],
        "total": item.event["total"],
    }


def _samples(chunks: Sequence[CheckedItem]) -> dict[str, Any]:
    item = chunks[0].item
    if not isinstance(item, SamplesItem):
        raise TypeError("a series holds samples")
    values = np.concatenate(
        [chunk.packed.values for chunk in chunks if chunk.packed is not None]
    )
    picked = np.unique(
        np.linspace(0, len(values) - 1, min(len(values), MAX_VALUES)).astype(np.int64)
    )
    return {
        "benchmark": item.benchmark,
        "arm": item.arm,
        "params": item.params,
        "metric": item.metric,
        "unit": item.unit,
        "phase": item.phase,
        "launch": item.launch,
        "side": item.side,
        "n": len(values),
        "values": values[picked].tolist(),
    }
