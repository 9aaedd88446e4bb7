"""Parses what criterion wrote: files of its output directory, or messages of cargo-criterion.

    NAME/BASELINE/benchmark.json   which benchmark: group, function, value; what one iteration handles
    NAME/BASELINE/sample.json      iterations and total time per sample
    NAME/BASELINE/tukey.json       criterion's fences: low severe, low mild, high mild, high severe
    {"reason": "benchmark-complete", …}    one line of `cargo criterion --message-format=json`: the same

Every sample is kept; outliers are counted by Tukey's fences, as criterion does, and none is removed.
Criterion runs one benchmark after another in one process, so there are no blocks to compare and no verdicts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

MAX_SAMPLES = 1_000_000
"""Most samples of one benchmark: a hundred times what people configure."""
MAX_TEXT = 1_000
"""Most characters of a name."""
MILD, SEVERE = 1.5, 3.0
"""Tukey's fences, in interquartile ranges from the quartiles (Exploratory Data Analysis, 1977, §2D)."""
FENCE_TOLERANCE = 1e-9
"""Relative difference that is allowed, because criterion adds the same numbers in another order."""
COMPLETE = "benchmark-complete"
T = TypeVar("T")


class CriterionError(Exception):
    """Says what was expected and what is there instead."""


class Throughput(msgspec.Struct, frozen=True):
    """The amount that one iteration processes: a number of `bytes`, `elements`, …"""

    unit: str
    per_iteration: int


class Outliers(msgspec.Struct, frozen=True):
    """The number of samples beyond each fence, and the fences, from low severe to high severe."""

    low_severe: int
    low_mild: int
    high_mild: int
    high_severe: int
    fences: list[float]

    @property
    def total(self) -> int:
        return self.low_severe + self.low_mild + self.high_mild + self.high_severe


class CriterionSeries(msgspec.Struct, frozen=True):
    """One benchmark of one saved baseline, or of the last run.

    `times[i]` is the total time of `iterations[i]` iterations in `unit`. `unit` None: criterion's files do not
    state it; it is ns unless the benchmark measures something else than time.
    """

    id: str
    benchmark: str
    arm: str | None
    value: str | None
    baseline: str
    unit: str | None
    throughput: list[Throughput]
    iterations: list[int]
    times: list[float]
    outliers: Outliers
    notes: list[str]

    @property
    def per_iteration(self) -> list[float]:
        return [
            time / count
            for time, count in zip(self.times, self.iterations, strict=True)
        ]

    @property
    def median(self) -> float:
        return _percentile(sorted(self.per_iteration), 50)


class _Benchmark(msgspec.Struct):
    group_id: str
    full_id: str
    function_id: str | None = None
    value_str: str | None = None
    throughput: Any = None


class _Sample(msgspec.Struct):
    iters: list[float]
    times: list[float]


class _Message(msgspec.Struct):
    id: str
    iteration_count: list[float]
    measured_values: list[float]
    unit: str
    throughput: list[Throughput] = []


def series_from_files(
    benchmark: bytes, sample: bytes, tukey: bytes | None, baseline: str
) -> CriterionSeries:
    """The series in the files of one baseline's directory. Raises CriterionError."""
    named, measured = _decode(benchmark, _Benchmark), _decode(sample, _Sample)
    fences = None if tukey is None else _decode(tukey, list[float])
    iterations, times = _samples(measured.iters, measured.times)
    outliers = count_outliers(
        [time / count for time, count in zip(times, iterations, strict=True)]
    )
    return CriterionSeries(
        id=_name(named.full_id),
        benchmark=_name(named.group_id),
        arm=None if named.function_id is None else _name(named.function_id),
        value=None if named.value_str is None else _name(named.value_str),
        baseline=baseline,
        unit=None,
        throughput=_throughput(named.throughput),
        iterations=iterations,
        times=times,
        outliers=outliers,
        notes=_notes(outliers, fences),
    )


def series_from_message(line: bytes) -> CriterionSeries | None:
    """The series in one message; None for other messages. Raises CriterionError."""
    try:
        message = json.loads(line)
    except ValueError as error:
        raise CriterionError(f"expected one JSON object in a line: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("reason"), str):
        raise CriterionError(
            'expected an object with a "reason", as --message-format=json prints it'
        )
    if message["reason"] != COMPLETE:
        return None
    complete = _decode(line, _Message)
    iterations, times = _samples(complete.iteration_count, complete.measured_values)
    group, arm, value = _parts(_name(complete.id))
    return CriterionSeries(
        id=complete.id,
        benchmark=group,
        arm=arm,
        value=value,
        baseline="new",
        unit=complete.unit,
        throughput=complete.throughput,
        iterations=iterations,
        times=times,
        outliers=count_outliers(
            [time / count for time, count in zip(times, iterations, strict=True)]
        ),
        notes=[],
    )


def count_outliers(values: Sequence[float]) -> Outliers:
    """Classifies values, n ≥ 1, by Tukey's fences, with quartiles interpolated as in criterion."""
    ordered = sorted(values)
    first, third = _percentile(ordered, 25), _percentile(ordered, 75)
    spread = third - first
    fences = [
        first - SEVERE * spread,
        first - MILD * spread,
        third + MILD * spread,
        third + SEVERE * spread,
    ]
    lowest, low, high, highest = fences
    return Outliers(
        low_severe=sum(value < lowest for value in ordered),
        low_mild=sum(lowest <= value < low for value in ordered),
        high_mild=sum(high < value <= highest for value in ordered),
        high_severe=sum(value > highest for value in ordered),
        fences=fences,
    )


def _percentile(ordered: Sequence[float], percent: float) -> float:
    """The percentile, interpolated linearly at rank percent · (n − 1) as `criterion::stats::univariate::Percentiles`."""
    rank = percent / 100 * (len(ordered) - 1)
    below = math.floor(rank)
    if below + 1 >= len(ordered):
        return ordered[-1]
    return ordered[below] + (rank - below) * (ordered[below + 1] - ordered[below])


def _samples(iters: list[float], times: list[float]) -> tuple[list[int], list[float]]:
    if len(iters) != len(times):
        raise CriterionError(
            f"{len(iters)} iteration counts and {len(times)} times: expected equal numbers"
        )
    if not 1 <= len(iters) <= MAX_SAMPLES:
        raise CriterionError(f"{len(iters)} samples: expected 1 to {MAX_SAMPLES:,}")
    for at, (count, time) in enumerate(zip(iters, times, strict=True)):
        if not (
            math.isfinite(count)
            and count >= 1
            and count == int(count)
            and count < 2**63
        ):
            raise CriterionError(
                f"sample {at}: {count} iterations: expected a whole number, at least 1"
            )
        if not (math.isfinite(time) and time >= 0):
            raise CriterionError(
                f"sample {at}: time {time}: expected a number, at least 0"
            )
    return [int(count) for count in iters], times


def _notes(ours: Outliers, theirs: list[float] | None) -> list[str]:
    if theirs is None:
        return [
            "criterion's own fences (tukey.json) are missing; they were computed from the samples"
        ]
    size = max(map(abs, ours.fences))
    if len(theirs) != len(ours.fences) or any(
        abs(own - their) > FENCE_TOLERANCE * size
        for own, their in zip(ours.fences, theirs, strict=True)
    ):
        return [
            f"criterion's fences {theirs} differ from those of its samples, {ours.fences}"
        ]
    return []


def _throughput(value: object) -> list[Throughput]:
    """Parses `{"Elements": 10}`, as criterion writes it; entries with more than one number are left out."""
    if not isinstance(value, dict):
        return []
    return [
        Throughput(unit.lower(), count)
        for unit, count in value.items()
        if isinstance(count, int)
    ]


def _parts(name: str) -> tuple[str, str | None, str | None]:
    """Splits a message's id at / into group, function and value. Of two parts the second counts as the
    function."""
    parts = name.split("/", 2)
    return (
        parts[0],
        parts[1] if len(parts) > 1 else None,
        parts[2] if len(parts) > 2 else None,
    )


def _name(text: str) -> str:
    if not text or len(text) > MAX_TEXT:
        raise CriterionError(
            f"a name of {len(text)} characters: expected 1 to {MAX_TEXT}"
        )
    return text


def _decode(data: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CriterionError(
            f"expected JSON as criterion writes it: {error}"
        ) from error
