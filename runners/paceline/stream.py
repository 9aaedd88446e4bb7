"""Turns the events of a launch into the items that are uploaded: samples in columns, other events as they are.

A case precedes its samples. A chunk holds at most 1,000 values of one case, metric, phase and set of counters in one
launch; values are per iteration (C1) and counters are totals. No value waits longer than half a second.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from paceline_contract.events import (
    MAX_VALUES,
    AnyEvent,
    CaseEvent,
    ProgressEvent,
    SamplesEvent,
)
from paceline_contract.items import (
    UNNUMBERED,
    AnyItem,
    EventItem,
    LogItem,
    LogStream,
    SamplesItem,
    SideName,
)

from paceline.terminal_text import strip_control

FLUSH_S = 0.5
LOG_LINES = 500
"""Lines of one item."""
LOG_LINES_PER_LAUNCH = 20_000
"""Lines of standard error of one launch that are kept as they come."""
LOG_LAST_LINES = 2000
"""A launch that logs more keeps these last lines, too, with a note of how many were left out."""
LINE_CHARACTERS = 4000

Append = Callable[[list[AnyItem]], None]


class ItemSink:
    """The sink of one launch, of one side of it in an A/B job; `append` puts items on disk and may raise
    `SpoolError`."""

    def __init__(
        self,
        launch: int,
        append: Append,
        clock: Callable[[], float] = time.monotonic,
        side: SideName | None = None,
    ) -> None:
        self._launch = launch
        self._side = side
        self._append = append
        self._clock = clock
        self._flushed_at = clock()
        self._chunks: dict[tuple[int, str, str, tuple[str, ...]], SamplesItem] = {}
        self._ready: list[AnyItem] = []
        self._progress: ProgressEvent | None = None
        self._lines: list[str] = []
        self._lines_seen = 0
        self._last_lines: deque[str] = deque(maxlen=LOG_LAST_LINES)

    def raw(self, data: bytes) -> None:
        """Drop the bytes, because the server gets events."""

    def event(self, event: AnyEvent, case: CaseEvent | None) -> None:
        if isinstance(event, SamplesEvent):
            if case is not None:
                self._sample(event, case)
        elif isinstance(event, ProgressEvent):
            self._progress = event
        else:
            self._ready.append(self._item(event))
        self.tick()

    def stderr(self, lines: list[str]) -> None:
        room = max(LOG_LINES_PER_LAUNCH - self._lines_seen, 0)
        self._lines_seen += len(lines)
        self._lines += lines[:room]
        self._last_lines += lines[room:]

    def tick(self) -> None:
        if self._clock() - self._flushed_at >= FLUSH_S:
            self.flush()

    def close(self) -> None:
        between = self._lines_seen - LOG_LINES_PER_LAUNCH - len(self._last_lines)
        if between > 0:
            self._lines.append(
                f"(agent) {between} lines are not kept; the last {LOG_LAST_LINES} follow"
            )
        self._lines += self._last_lines
        self._last_lines.clear()
        self.flush()

    def flush(self) -> None:
        """Append everything that is held."""
        self._flushed_at = self._clock()
        items = self._ready
        items += self._chunks.values()
        if self._progress is not None:
            items.append(self._item(self._progress))
        items += log_items("workload", self._lines)
        self._ready, self._chunks, self._progress, self._lines = [], {}, None, []
        if items:
            self._append(items)

    def _item(self, event: AnyEvent) -> EventItem:
        return EventItem(
            seq=UNNUMBERED,
            launch=self._launch,
            event=event.to_json_object(),
            side=self._side,
        )

    def _sample(self, event: SamplesEvent, case: CaseEvent) -> None:
        metric = case.metric(event.metric)
        if metric is None:
            return
        key = (event.case, event.metric, event.phase, tuple(sorted(event.work)))
        values = event.per_iteration(metric.unit)
        chunk = self._chunks.get(key)
        if chunk is not None and len(chunk.values) + len(values) > MAX_VALUES:
            self.flush()
            chunk = None
        if chunk is None:
            chunk = SamplesItem.begin(case, metric, event, self._side)
            self._chunks[key] = chunk
        chunk.add(event, values)


def log_items(stream: LogStream, lines: list[str]) -> list[AnyItem]:
    """Return lines as items the server takes: no NUL, bounded length and count, no terminal colours."""
    clean = [strip_control(line)[:LINE_CHARACTERS] for line in lines]
    return [
        LogItem(seq=UNNUMBERED, stream=stream, lines=clean[start : start + LOG_LINES])
        for start in range(0, len(clean), LOG_LINES)
    ]
