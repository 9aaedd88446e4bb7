"""Parses what criterion wrote: files of its output directory, or messages of cargo-criterion.

    NAME/BASELINE/benchmark.json   which benchmark: group, function, value
    NAME/BASELINE/sample.json      iterations and total time per sample, in ns unless it measures something else than time
    {"reason": "benchmark-complete", …}    one line of `cargo criterion --message-format=json`: the same

Every sample is kept. What cannot be read is left out with its id, its place and a reason. A directory holds the last run
and saved baselines: `read_directory` takes the last run, `read_history` the baselines. Criterion keeps an older `new` of
benchmarks that the last run did not measure; they are recognised by their time of writing. Copies of files have other
times (a checkout, a download): then nothing tells what the last run measured, unless the directory was empty before it.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple, TypeVar

import msgspec

from paceline_contract.events import INT64_MAX
from paceline_contract.imported_series import (
    MAX_SAMPLES,
    LeftOut,
    limit_entries,
    name_problem,
    sentences,
)
from paceline_contract.readers.history import (
    HistoryEntry,
    HistoryFile,
    sort_entries,
)
from paceline_contract.readers.parsing import (
    check_document,
    find_commit,
    read_milliseconds,
)
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Sample,
    duplicate_name_text,
    make_params,
)
from paceline_contract.units import KNOWN, NS_PER, metric_in

TOOL, BASELINES = "criterion", "criterion-baselines"
COMPLETE = "benchmark-complete"
LAST_RUN, UNNAMED_BASELINE = "new", "base"
"""Criterion's names for its last run, and for the baseline that it saves where nobody names one."""
LONGEST_PAUSE_S = 600
"""The longest time in which a run writes nothing, beside what the next benchmark measures: builds between two
`cargo bench`, warm-up and set-up. What was written before a longer pause is older than the last run."""
LONGEST_BENCHMARK_S = 86_400
"""Longer ones are none: criterion may have measured something else than time."""
COPIED_SHARE = 0.25
"""Measurements in less than this share of the time that they took were not written by criterion: their files are a copy.
A few runs in parallel need more."""
MAX_NAMES = 20
"""Most names and reasons that an error states."""
T = TypeVar("T")


class CriterionError(ResultError):
    """Says what was expected and what is there instead. `id` is the benchmark's, where it could be read."""

    def __init__(self, text: str, benchmark_id: str | None = None) -> None:
        super().__init__(text)
        self.id = benchmark_id


class _Benchmark(msgspec.Struct):
    group_id: str
    full_id: str
    function_id: str | None = None
    value_str: str | None = None


class _Sample(msgspec.Struct):
    iters: list[float]
    times: list[float]


class _Message(msgspec.Struct):
    id: str
    iteration_count: list[float]
    measured_values: list[float]
    unit: str


class _Names(NamedTuple):
    """The names of a benchmark. `unit` None: criterion's files do not state it, and it is ns."""

    id: str
    group: str
    function: str | None
    value: str | None
    unit: str | None = None


class _Saved(NamedTuple):
    """One baseline of one benchmark in a directory."""

    path: str
    sample: HistoryFile
    benchmark: HistoryFile | None

    @property
    def baseline(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def written_s(self) -> float:
        return self.sample.modified_s

    def read_id(self) -> str:
        """Return the id of its benchmark. Raises ResultError."""
        return self._read_benchmark().full_id

    def read_took_s(self) -> float:
        """Return how long its measurement took at least: criterion's times are nanoseconds. 0 if unreadable."""
        try:
            measured = _decode(self.sample.read(), _Sample)
        except ResultError:
            return 0.0
        return min(max(0.0, sum(measured.times) / NS_PER["s"]), LONGEST_BENCHMARK_S)

    def read_case(self) -> MeasuredCase:
        """Return what it measured. Raises ResultError."""
        named = self._read_benchmark()
        names = _Names(
            named.full_id, named.group_id, named.function_id, named.value_str
        )
        measured = _decode(self.sample.read(), _Sample, named.full_id)
        return _make_case(names, measured.iters, measured.times)

    def _read_benchmark(self) -> _Benchmark:
        if self.benchmark is None:
            raise CriterionError("expected benchmark.json beside sample.json")
        return _decode(self.benchmark.read(), _Benchmark)


def read_directory(files: Sequence[HistoryFile], is_fresh: bool) -> Result:
    """Return what the last run measured, from all files of its directory, in the order in which it did. `is_fresh`: it was
    empty before the run, so that all of it belongs to that. Raises ResultError if nothing is known to be of a last run."""
    saved = sorted(_find_saved(files), key=lambda saved: saved.written_s)
    name = _name_last_run({run.baseline for run in saved})
    new = [run for run in saved if run.baseline == name]
    took_s = {run.path: run.read_took_s() for run in new}
    last = new if is_fresh else _find_last_run(new, took_s)
    is_copy = _are_copied((run.written_s, took_s[run.path]) for run in last)
    if is_copy and not is_fresh:
        raise ResultError(
            "its files were copied, all at once, so nothing tells which benchmarks the last run measured: give --fresh if "
            "it was empty before that run, or keep the times of the files (cp -a, tar)"
        )
    of_before = new[: len(new) - len(last)]
    problems = [*map(_leave_out_older, of_before), *_leave_out_baselines(saved, last)]
    cases = _read_cases(last, problems)
    at = None
    if not is_copy:
        newest = round(last[-1].written_s * 1000)
        at = read_milliseconds(newest, "its last run")
    return Result(TOOL, cases, at=at, problems=limit_entries(problems))


def _find_saved(files: Sequence[HistoryFile]) -> Iterator[_Saved]:
    by_path = {file.path: file for file in files}
    for path, file in by_path.items():
        folder, _, name = path.rpartition("/")
        if name == "sample.json":
            yield _Saved(folder, file, by_path.get(f"{folder}/benchmark.json"))


def _name_last_run(baselines: Set[str]) -> str:
    """Return the name of the last run among those of all baselines; a single baseline is one. Raises ResultError."""
    if not baselines:
        raise ResultError(
            "it holds no samples of criterion: expected target/criterion after cargo bench"
        )
    if LAST_RUN in baselines:
        return LAST_RUN
    if len(baselines) == 1:
        return next(iter(baselines))
    names = ", ".join(sorted(baselines)[:MAX_NAMES])
    raise ResultError(
        f"it holds no last run of criterion, only baselines ({names}): paceline migrate {BASELINES} brings them"
    )


def _find_last_run(
    runs: Sequence[_Saved], took_s: Mapping[str, float]
) -> Sequence[_Saved]:
    """Return what the last run wrote, of runs of which the oldest is first: the newest, and each one before it without a
    pause."""
    began_s = math.inf
    for at in range(len(runs) - 1, -1, -1):
        run = runs[at]
        if began_s != math.inf and began_s - run.written_s > LONGEST_PAUSE_S:
            return runs[at + 1 :]
        began_s = min(began_s, run.written_s - took_s[run.path])
    return runs


def _leave_out_older(run: _Saved) -> LeftOut:
    try:
        name = run.read_id()
    except ResultError:
        name = None
    why = (
        "it was written before the last run, which did not measure it. If it belongs to it, import "
        "its directory on its own"
    )
    return LeftOut.of(name, run.path, why)


def _leave_out_baselines(
    saved: Iterable[_Saved], last: Iterable[_Saved]
) -> Iterator[LeftOut]:
    """Yield an entry for each baseline that has a name and other samples than the last run."""
    newest = {run.path.rpartition("/")[0]: run for run in last}
    names: dict[str, None] = {}
    for run in saved:
        if run.baseline in (LAST_RUN, UNNAMED_BASELINE, *names):
            continue
        new = newest.get(run.path.rpartition("/")[0])
        try:
            is_last = new is not None and (
                new == run or new.sample.read() == run.sample.read()
            )
        except ResultError:
            is_last = False
        if not is_last:
            names[run.baseline] = None
    why = f"saved baselines are not of the last run: paceline migrate {BASELINES} brings them"
    for name in names:
        yield LeftOut.of(f"baseline {name}", None, why)


def _read_cases(runs: Iterable[_Saved], problems: list[LeftOut]) -> list[MeasuredCase]:
    """Return the cases of runs, of which the oldest is first; `problems` gets what cannot be read."""
    found: list[tuple[str, MeasuredCase]] = []
    for run in runs:
        try:
            found.append((run.path, run.read_case()))
        except ResultError as error:
            problems.append(_leave_out(run.path, error))
    return _keep_newest(found, problems)


def _leave_out(place: str, error: ResultError) -> LeftOut:
    return LeftOut.of(getattr(error, "id", None), place, str(error))


def _keep_newest(
    found: Sequence[tuple[str, MeasuredCase]], problems: list[LeftOut]
) -> list[MeasuredCase]:
    """Return the cases with their places, of which the oldest is first; of several with the same names the newest."""
    places: dict[object, str] = {}
    kept: list[MeasuredCase] = []
    for place, case in reversed(found):
        parts = case.benchmark, case.arm, case.value
        first = places.get(case.name) or places.get(parts)
        if first is not None:
            twice = f"{duplicate_name_text(case.name)}; {first} is kept"
            problems.append(LeftOut.of(case.name, place, twice))
            continue
        places[case.name] = places[parts] = place
        kept.append(case)
    return kept[::-1]


def read_messages(data: bytes) -> Result:
    """Return what the messages of `cargo criterion --message-format=json` say. Raises ResultError."""
    check_document(data, TOOL)
    found: list[tuple[str, MeasuredCase]] = []
    problems: list[LeftOut] = []
    is_known = False
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            case = _read_message(line)
        except CriterionError as error:
            is_known = is_known or error.id is not None
            problems.append(_leave_out(f"line {number}", error))
            continue
        if case is not None:
            found.append((f"line {number}", case))
    cases = _keep_newest(found, problems)
    if not cases:
        shown = "; ".join(sentences(problems[:MAX_NAMES]))
        raise ResultError(
            shown
            or "expected the messages of cargo criterion --message-format=json, found no benchmark in them",
            math.inf if is_known else 0.0,
        )
    return Result(TOOL, cases, problems=limit_entries(problems))


def _read_message(line: bytes) -> MeasuredCase | None:
    """Return the case of one message; None for other messages. Raises CriterionError."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CriterionError(f"expected one JSON object in a line: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("reason"), str):
        raise CriterionError(
            'expected an object with a "reason", as --message-format=json prints it'
        )
    if message["reason"] != COMPLETE:
        return None
    complete = _decode(line, _Message)
    group, function, value = (*complete.id.split("/", 2), "", "")[:3]
    names = _Names(complete.id, group, function, value, complete.unit)
    return _make_case(names, complete.iteration_count, complete.measured_values)


def _make_case(
    names: _Names, iterations: Sequence[float], times: Sequence[float]
) -> MeasuredCase:
    """Return the case whose `times[i]` is the total of `iterations[i]` iterations. Raises CriterionError for what no
    server stores."""
    metric = metric_in("ns" if names.unit is None else names.unit)
    if metric is None:
        raise CriterionError(
            f"its unit is {names.unit!r}, and only these are known: {', '.join(KNOWN)}",
            names.id,
        )
    # Without a group the whole id is the name; other parts may be empty, as `BenchmarkId::new("", x)` writes them.
    benchmark = names.group or names.id
    function, value = (
        (names.function or None, names.value or None) if names.group else (None, None)
    )
    problem = name_problem(benchmark, function, value)
    if problem is not None:
        raise CriterionError(problem, names.id)
    try:
        samples = list(_read_samples(iterations, times, metric.scale))
    except CriterionError as error:
        error.id = names.id
        raise
    measured = MeasuredMetric(metric.name, metric.unit, metric.direction, samples)
    return MeasuredCase(
        names.id, benchmark, make_params(value), [measured], arm=function
    )


def _read_samples(
    iterations: Sequence[float], times: Sequence[float], scale: float
) -> Iterator[Sample]:
    """Yield the samples of times in units of which the metric's is `scale` times as small. Raises CriterionError."""
    if len(iterations) != len(times):
        raise CriterionError(
            f"{len(iterations)} iteration counts and {len(times)} times: expected equal numbers"
        )
    if not 1 <= len(times) <= MAX_SAMPLES:
        raise CriterionError(f"{len(times)} samples: expected 1 to {MAX_SAMPLES:,}")
    for at, (count, time) in enumerate(zip(iterations, times, strict=True)):
        if not (1 <= count <= INT64_MAX and count == int(count)):
            raise CriterionError(
                f"sample {at}: {count} iterations: expected a whole number, at least 1"
            )
        total = time * scale
        if not 0 <= total <= INT64_MAX:
            raise CriterionError(
                f"sample {at}: time {time}: expected a number from 0 to {INT64_MAX / scale:g}; look at its unit"
            )
        yield Sample(int(count), round(total))


def read_history(files: Sequence[HistoryFile]) -> list[HistoryEntry]:
    """Return an entry for each baseline that was saved under a name, the oldest first: a name that is a commit is its
    commit, and the time that its samples were written is its time, because criterion states none. Raises ResultError."""
    baselines: dict[str, list[_Saved]] = defaultdict(list)
    for saved in sorted(_find_saved(files), key=lambda saved: saved.written_s):
        if saved.baseline not in (LAST_RUN, UNNAMED_BASELINE):
            baselines[saved.baseline].append(saved)
    if not baselines:
        raise ResultError(
            "there is no saved baseline in it: expected target/criterion after cargo bench --bench BENCH -- --save-baseline NAME"
        )
    return sort_entries(
        [
            HistoryEntry(
                f"baseline {name}",
                round(runs[-1].written_s * 1000),
                partial(_read_baseline, name, runs),
                title=f"baseline {name}",
            )
            for name, runs in baselines.items()
        ]
    )


def _read_baseline(name: str, runs: Sequence[_Saved]) -> Result:
    """Return the result of a baseline. Raises ResultError if its files are a copy, whose times are none."""
    if _are_copied((run.written_s, run.read_took_s()) for run in runs):
        raise ResultError(
            "its files were written faster than they can have been measured, so they are a copy, and nothing tells when "
            "it was measured: keep the times of the files (cp -a, tar)"
        )
    problems: list[LeftOut] = []
    cases = _read_cases(runs, problems)
    newest = round(runs[-1].written_s * 1000)
    at = read_milliseconds(newest, f"time of baseline {name}")
    return Result(TOOL, cases, at=at, commit=find_commit(name), problems=problems)


def _are_copied(runs: Iterable[tuple[float, float]]) -> bool:
    """Return whether (when it was written, how long it took at least, in seconds) of several runs says that they were
    written faster than they can have been measured, one after another. What would have taken a day is no time."""
    ordered = sorted(runs)
    if len(ordered) < 2:
        return False
    took_s = sum(seconds for _, seconds in ordered[1:] if seconds < LONGEST_BENCHMARK_S)
    return ordered[-1][0] - ordered[0][0] < COPIED_SHARE * took_s


def _decode(data: bytes, shape: type[T], benchmark_id: str | None = None) -> T:
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CriterionError(
            f"expected JSON as criterion writes it: {error}", benchmark_id
        ) from error
