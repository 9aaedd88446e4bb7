"""Parses what criterion wrote: files of its output directory, or messages of cargo-criterion.

    NAME/BASELINE/benchmark.json   which benchmark: group, function, value; what one iteration handles
    NAME/BASELINE/sample.json      iterations and total time per sample
    NAME/BASELINE/tukey.json       criterion's fences: low severe, low mild, high mild, high severe
    {"reason": "benchmark-complete", …}    one line of `cargo criterion --message-format=json`: the same

Every sample is kept; outliers are counted by Tukey's fences, as criterion does, and none is removed.
Criterion runs one benchmark after another in one process, so there are no blocks to compare and no verdicts. A series
also says how a saved baseline is stored; `case_of` makes the case of a result from it.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import msgspec

from paceline_contract.imported_series import LeftOut, metric_of, series_problem
from paceline_contract.readers.history import (
    HistoryEntry,
    HistoryFile,
    sort_entries,
)
from paceline_contract.readers.parsing import (
    find_commit,
    read_milliseconds,
    read_sample,
)
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    duplicate_name_text,
    make_params,
)
from paceline_contract.units import NS_PER

MILD, SEVERE = 1.5, 3.0
"""Tukey's fences, in interquartile ranges from the quartiles (Exploratory Data Analysis, 1977, §2D)."""
FENCE_TOLERANCE = 1e-9
"""Relative difference that is allowed, because criterion adds the same numbers in another order."""
COMPLETE = "benchmark-complete"
TOOL, BASELINES = "criterion", "criterion-baselines"
LAST_RUN, UNNAMED_BASELINE = "new", "base"
"""Criterion's names for its last run, and for the baseline that it saves where nobody names one."""
COPIED_SHARE = 0.25
"""Measurements in less than this share of the time that they took were not written by criterion: their files are a copy.
A few runs in parallel need more."""
T = TypeVar("T")


class CriterionError(ResultError):
    """Says what was expected and what is there instead. `id` is the benchmark's, where it could be read."""

    def __init__(self, text: str, benchmark_id: str | None = None) -> None:
        super().__init__(text)
        self.id = benchmark_id


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

    `times[i]` is the total of `iterations[i]` iterations in `unit`. `unit` None: criterion's files do not state it;
    it is ns unless the benchmark measures something else than time. `last_run` says that these samples are those of
    the last run, under whichever name. `path` says where they were read.
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
    path: str
    last_run: bool

    @property
    def per_iteration(self) -> list[float]:
        return [
            time / count
            for time, count in zip(self.times, self.iterations, strict=True)
        ]

    @property
    def median(self) -> float:
        return _percentile(sorted(self.per_iteration), 50)


@dataclass(frozen=True)
class Origin:
    """Where samples were read, and whether they are those of the last run."""

    path: str
    baseline: str
    last_run: bool


@dataclass(frozen=True)
class _Measured:
    """Named samples, not yet checked."""

    id: str
    benchmark: str
    arm: str | None
    value: str | None
    unit: str | None
    origin: Origin
    iterations: list[float]
    times: list[float]

    @property
    def baseline(self) -> str:
        return self.origin.baseline

    @property
    def path(self) -> str:
        return self.origin.path

    def count_outliers(self) -> Outliers:
        """Count the outliers. Raises CriterionError for a series that cannot be stored."""
        if (problem := series_problem(self)) is not None:
            raise CriterionError(problem, self.id)
        each = zip(self.times, self.iterations, strict=True)
        return count_outliers([time / count for time, count in each])

    def as_series(
        self, throughput: list[Throughput], outliers: Outliers, notes: list[str]
    ) -> CriterionSeries:
        return CriterionSeries(
            id=self.id,
            benchmark=self.benchmark,
            arm=self.arm,
            value=self.value,
            baseline=self.origin.baseline,
            unit=self.unit,
            throughput=throughput,
            iterations=[int(count) for count in self.iterations],
            times=self.times,
            outliers=outliers,
            notes=notes,
            path=self.origin.path,
            last_run=self.origin.last_run,
        )


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
    benchmark: bytes, sample: bytes, tukey: bytes | None, origin: Origin
) -> CriterionSeries:
    """Return the series in the files of one baseline's directory. Raises CriterionError."""
    named = _decode(benchmark, _Benchmark)
    measured = _decode(sample, _Sample, named.full_id)
    fences = None if tukey is None else _decode(tukey, list[float], named.full_id)
    parts = _present_parts(
        named.full_id, named.group_id, named.function_id, named.value_str
    )
    series = _Measured(
        named.full_id, *parts, None, origin, measured.iters, measured.times
    )
    outliers = series.count_outliers()
    return series.as_series(
        _throughput(named.throughput), outliers, _notes(outliers, fences)
    )


def case_of(series: CriterionSeries) -> MeasuredCase:
    """Return the case of a series. Raises ResultError."""
    metric = metric_of(series.unit)
    if metric is None:
        raise CriterionError(f"its unit is {series.unit!r}", series.id)
    samples = [
        read_sample(time / count, count, f"a sample of {series.id}", metric.scale)
        for time, count in zip(series.times, series.iterations, strict=True)
    ]
    measured = MeasuredMetric(metric.name, metric.unit, metric.direction, samples)
    return MeasuredCase(
        series.id,
        series.benchmark,
        make_params(series.value),
        [measured],
        arm=series.arm,
    )


def read_history(files: Sequence[HistoryFile]) -> list[HistoryEntry]:
    """Return an entry for each baseline that was saved under a name, the oldest first: a name that is a commit is its
    commit, and the time that its samples were written is its time, because criterion states none. Raises ResultError."""
    by_path = {file.path: file for file in files}
    baselines: dict[str, list[HistoryFile]] = defaultdict(list)
    for path, file in by_path.items():
        folder, _, name = path.rpartition("/")
        baseline = folder.rpartition("/")[2]
        if name == "sample.json" and baseline not in (LAST_RUN, UNNAMED_BASELINE):
            baselines[baseline].append(file)
    if not baselines:
        raise ResultError(
            "there is no saved baseline in it: expected target/criterion after cargo bench -- --save-baseline NAME"
        )
    return sort_entries(
        [
            HistoryEntry(
                f"baseline {name}",
                _newest_ms(samples),
                partial(_read_baseline, name, samples, by_path),
                title=f"baseline {name}",
            )
            for name, samples in baselines.items()
        ]
    )


def _newest_ms(samples: Sequence[HistoryFile]) -> int:
    return max(round(sample.modified_s * 1000) for sample in samples)


def _read_baseline(
    name: str, samples: Sequence[HistoryFile], by_path: Mapping[str, HistoryFile]
) -> Result:
    """Return the result of a baseline. Raises ResultError if its files are a copy, whose times are none."""
    cases: dict[str, MeasuredCase] = {}
    problems: list[LeftOut] = []
    runs: list[tuple[float, float]] = []
    for sample in samples:
        folder = sample.path.rpartition("/")[0]
        try:
            benchmark = by_path.get(f"{folder}/benchmark.json")
            if benchmark is None:
                raise CriterionError("expected benchmark.json beside sample.json")
            origin = Origin(folder, name, last_run=False)
            series = series_from_files(benchmark.read(), sample.read(), None, origin)
            if series.id in cases:
                raise CriterionError(duplicate_name_text(series.id), series.id)
            cases[series.id] = case_of(series)
            runs.append((sample.modified_s, sum(series.times) / NS_PER["s"]))
        except ResultError as error:
            problems.append(LeftOut.of(getattr(error, "id", None), folder, str(error)))
    if are_copied(runs):
        raise ResultError(
            "its files were written faster than they can have been measured, so they are a copy, and nothing tells when "
            "it was measured: keep the times of the files (cp -a, tar)"
        )
    return Result(
        TOOL,
        list(cases.values()),
        at=read_milliseconds(_newest_ms(samples), f"time of baseline {name}"),
        commit=find_commit(name),
        problems=problems,
    )


def are_copied(runs: Iterable[tuple[float, float]]) -> bool:
    """Return whether (when it was written, how long it took at least, in seconds) of several runs says that they were
    written faster than they can have been measured, one after another."""
    ordered = sorted(runs)
    if len(ordered) < 2:
        return False
    took_s = sum(seconds for _, seconds in ordered[1:])
    return ordered[-1][0] - ordered[0][0] < COPIED_SHARE * took_s


def full_id(benchmark: bytes) -> str:
    """Return the id in a benchmark.json. Raises CriterionError."""
    return _decode(benchmark, _Benchmark).full_id


def series_from_message(line: bytes, path: str = "") -> CriterionSeries | None:
    """Return the series in one message; None for other messages. Raises CriterionError."""
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
    group, function, value = (*complete.id.split("/", 2), "", "")[:3]
    series = _Measured(
        complete.id,
        *_present_parts(complete.id, group, function, value),
        complete.unit,
        Origin(path, LAST_RUN, last_run=True),
        complete.iteration_count,
        complete.measured_values,
    )
    return series.as_series(complete.throughput, series.count_outliers(), [])


def count_outliers(values: Sequence[float]) -> Outliers:
    """Count the outliers among one or more values by Tukey's fences, with quartiles interpolated as in criterion."""
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
    """Return the percentile, interpolated linearly at rank percent · (n − 1) as
    `criterion::stats::univariate::Percentiles`."""
    rank = percent / 100 * (len(ordered) - 1)
    below = math.floor(rank)
    if below + 1 >= len(ordered):
        return ordered[-1]
    return ordered[below] + (rank - below) * (ordered[below + 1] - ordered[below])


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
    """Parse `{"Elements": 10}`, as criterion writes it; entries with more than one number are left out."""
    if not isinstance(value, dict):
        return []
    return [
        Throughput(unit.lower(), count)
        for unit, count in value.items()
        if isinstance(count, int)
    ]


def _present_parts(
    full_id: str, group: str, function: str | None, value: str | None
) -> tuple[str, str | None, str | None]:
    """Return (group, function, value), with None for parts that are empty, as `BenchmarkId::new("", x)` writes them.
    Without a group the whole id is the name."""
    if not group:
        return full_id, None, None
    return group, function or None, value or None


def _decode(data: bytes, shape: type[T], benchmark_id: str | None = None) -> T:
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CriterionError(
            f"expected JSON as criterion writes it: {error}", benchmark_id
        ) from error
