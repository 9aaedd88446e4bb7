"""From events to what is uploaded: columnar chunks of samples, every other event as it is.

Place in the journey: the sink of a launch while an agent executes it; hands items to the spool.
Invariants: values are per iteration (C1), counters stay totals; a chunk is of one case, metric, phase and set
of counters in one launch and holds at most 1,000 values; nothing waits longer than half a second; a case is
handed over before its samples.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping

import msgspec
from paceline_contract.events import (
    AnyEvent,
    CaseEvent,
    ProgressEvent,
    SamplesEvent,
)
from paceline_contract.items import SamplesColumns

from paceline.terminal_text import strip_control

CHUNK_VALUES = 1000
FLUSH_S = 0.5
LOG_LINES = 500
LOG_LINES_PER_LAUNCH = 20_000
"""Lines of standard error of one launch that are kept as they come."""
LOG_LAST_LINES = 2000
"""Of a launch that says more, the last ones are kept too, with a note of how many lie between."""
LINE_CHARACTERS = 4000

Item = Mapping[str, object]
Append = Callable[[list[Item]], None]


class ItemSink:
    """The sink of one launch, of one side of it in an A/B job; `append` puts items on disk and may raise
    `SpoolError`."""

    def __init__(
        self,
        launch: int,
        append: Append,
        clock: Callable[[], float] = time.monotonic,
        side: str | None = None,
    ) -> None:
        self._launch = launch
        self._side = side
        self._append = append
        self._clock = clock
        self._flushed_at = clock()
        self._chunks: dict[tuple[int, str, str, tuple[str, ...]], SamplesColumns] = {}
        self._ready: list[Item] = []
        self._progress: ProgressEvent | None = None
        self._lines: list[str] = []
        self._lines_seen = 0
        self._last_lines: deque[str] = deque(maxlen=LOG_LAST_LINES)

    def raw(self, data: bytes) -> None:
        """The server gets events, not bytes."""

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
        """Hands over everything held."""
        self._flushed_at = self._clock()
        items = self._ready
        items += [msgspec.to_builtins(chunk) for chunk in self._chunks.values()]
        if self._progress is not None:
            items.append(self._item(self._progress))
        items += log_items("workload", self._lines)
        self._ready, self._chunks, self._progress, self._lines = [], {}, None, []
        if items:
            self._append(items)

    def _item(self, event: AnyEvent) -> Item:
        item = {
            "kind": "event",
            "launch": self._launch,
            "event": event.to_json_object(),
        }
        return item if self._side is None else {**item, "side": self._side}

    def _sample(self, event: SamplesEvent, case: CaseEvent) -> None:
        metric = case.metric(event.metric)
        if metric is None:
            return
        key = (event.case, event.metric, event.phase, tuple(sorted(event.work)))
        values = event.per_iteration(metric.unit)
        chunk = self._chunks.get(key)
        if chunk is not None and len(chunk.values) + len(values) > CHUNK_VALUES:
            self.flush()
            chunk = None
        if chunk is None:
            chunk = self._chunks[key] = SamplesColumns(
                launch=self._launch,
                benchmark=case.benchmark,
                arm=case.arm,
                params=case.params,
                metric=metric.name,
                unit=metric.unit,
                direction=metric.direction,
                phase=event.phase,
                rounds=[],
                positions=[],
                iterations=[],
                t_ns=[],
                values=[],
                work={counter: [] for counter in event.work},
                side=self._side,
            )
        chunk.add(event, values)


def log_items(stream: str, lines: list[str]) -> list[Item]:
    """Lines as items the server takes: no NUL, bounded length and count, no terminal colours."""
    clean = [strip_control(line)[:LINE_CHARACTERS] for line in lines]
    return [
        {"kind": "log", "stream": stream, "lines": clean[start : start + LOG_LINES]}
        for start in range(0, len(clean), LOG_LINES)
    ]
