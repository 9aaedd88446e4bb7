"""Tests of turning events into items for upload."""

from __future__ import annotations

from typing import Any

import msgspec
from paceline.stream import (
    FLUSH_S,
    LOG_LAST_LINES,
    LOG_LINES_PER_LAUNCH,
    ItemSink,
    log_items,
)
from paceline_contract.events import (
    MAX_VALUES,
    CaseEvent,
    Metric,
    ProgressEvent,
    SamplesEvent,
    WarningEvent,
)
from paceline_contract.items import UNNUMBERED, AnyItem, LogItem

TIME = Metric("time", "ns", "lower")
RATE = Metric("rate", "op/s", "higher")
CASE = CaseEvent(0, "b", "a", {"n": 1}, [TIME, RATE])


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def sample(
    round_: int,
    phase: str = "measure",
    metric: str = "time",
    values: list[int] | None = None,
) -> SamplesEvent:
    return SamplesEvent(0, metric, 3, round_, 1, phase, 4, values or [100], 50 + round_)  # type: ignore[arg-type]


def sink() -> tuple[ItemSink, list[list[Any]], Clock]:
    """A sink, and the items that it appends as JSON objects."""
    batches: list[list[Any]] = []
    clock = Clock()

    def append(items: list[AnyItem]) -> None:
        batches.append(msgspec.to_builtins(items))

    return ItemSink(3, append, clock), batches, clock


def test_samples_become_columns_per_iteration() -> None:
    it, batches, _ = sink()
    it.event(CASE, None)
    it.event(sample(0), CASE)
    it.event(sample(1), CASE)
    it.event(sample(0, metric="rate"), CASE)
    it.close()
    (items,) = batches
    assert [item["kind"] for item in items] == ["event", "samples", "samples"]
    assert items[1] == {
        "kind": "samples",
        "seq": UNNUMBERED,
        "launch": 3,
        "benchmark": "b",
        "arm": "a",
        "params": {"n": 1},
        "metric": "time",
        "unit": "ns",
        "direction": "lower",
        "phase": "measure",
        "rounds": [0, 1],
        "positions": [1, 1],
        "iterations": [4, 4],
        "t_ns": [50, 51],
        "values": [25.0, 25.0],
    }
    assert items[2]["values"] == [100.0]


def test_counters_stay_totals_and_only_equal_sets_share_a_chunk() -> None:
    it, batches, _ = sink()
    for round_, work in enumerate(
        [{"items": 40}, {"items": 44}, {"items": 4, "kept": 1}, {}]
    ):
        it.event(msgspec.structs.replace(sample(round_), work=work), CASE)
    it.close()
    counted = [item.get("work") for item in batches[0]]
    assert counted == [{"items": [40, 44]}, {"items": [4], "kept": [1]}, None]


def test_phases_are_never_mixed_in_a_chunk() -> None:
    it, batches, _ = sink()
    it.event(sample(0, "warmup"), CASE)
    it.event(sample(1, "measure"), CASE)
    it.close()
    assert [item["phase"] for item in batches[0]] == ["warmup", "measure"]


def test_a_chunk_holds_at_most_a_thousand_values() -> None:
    it, batches, _ = sink()
    for round_ in range(7):
        it.event(sample(round_, values=list(range(300))), CASE)
    it.close()
    sizes = [len(item["values"]) for batch in batches for item in batch]
    assert max(sizes) <= MAX_VALUES
    assert sum(sizes) == 2100


def test_no_event_waits_longer_than_the_flush_interval() -> None:
    it, batches, clock = sink()
    it.event(sample(0), CASE)
    it.tick()
    assert not batches
    clock.now += FLUSH_S
    it.tick()
    assert len(batches) == 1


def test_progress_is_thinned_to_the_latest() -> None:
    it, batches, _ = sink()
    for done in range(100):
        it.event(ProgressEvent(done, 100), None)
    it.close()
    assert [item["event"] for item in batches[0]] == [
        {"type": "progress", "done": 99, "total": 100}
    ]


def test_a_warning_is_forwarded_verbatim() -> None:
    it, batches, _ = sink()
    it.event(WarningEvent("demonstration", "slowed"), None)
    it.close()
    assert batches[0][0]["event"] == {
        "type": "warning",
        "code": "demonstration",
        "text": "slowed",
    }


def test_log_lines_are_bounded_and_free_of_nul() -> None:
    it, batches, _ = sink()
    it.stderr(["a\x00b", "x" * 10_000])
    it.stderr(["more"] * (LOG_LINES_PER_LAUNCH * 2))
    it.stderr(["the end"])
    it.close()
    lines = [line for batch in batches for item in batch for line in item["lines"]]
    assert lines[0] == "a\ufffdb"
    assert max(map(len, lines)) <= 4000
    assert len(lines) == LOG_LINES_PER_LAUNCH + 1 + LOG_LAST_LINES
    assert lines[LOG_LINES_PER_LAUNCH] == (
        f"(agent) {LOG_LINES_PER_LAUNCH + 3 - LOG_LAST_LINES} lines are not kept; "
        f"the last {LOG_LAST_LINES} follow"
    )
    assert lines[-1] == "the end"


def test_log_lines_carry_no_terminal_colours() -> None:
    (item,) = log_items("build", ["\x1b[1mBUILD\x1b[0m ok", "\x1b[0m\x1b[?25h"])
    assert isinstance(item, LogItem)
    assert item.lines == ["BUILD ok", ""]
