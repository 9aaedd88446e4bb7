"""Tests of readers of files that others made, and of what all readers refuse.

Only asv's newer file and those of pyperf are of the real tool. The others are written by the formats that their tools publish.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from paceline_contract import results
from paceline_contract.readers import (
    androidx_benchmark,
    asv,
    benchmarkdotnet,
    catch2,
    criterion,
    divan,
    go_testing,
    google_benchmark,
    hyperfine,
    jmh,
    kotlinx_benchmark,
    parsing,
    pyperf,
    pytest_benchmark,
    vitest,
)
from paceline_contract.readers import github_action_benchmark as data_js
from paceline_contract.readers.history import HistoryEntry, HistoryFile
from paceline_contract.readers.registry import HISTORIES
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Sample,
    Summary,
    encode_result,
    read_result,
)

CAPTURED = Path(__file__).parent / "captured"
COMMIT = "0a615ab4c8b429728a0e7f76d3b93dd628f3801f"


def read_data_js(data: bytes) -> list[Result]:
    """Return the results of all entries, in the file's order."""
    return [entry.read() for entry in data_js.list_entries(data)]


READERS: dict[str, tuple[Callable[[bytes], Any], str]] = {
    "androidx": (androidx_benchmark.read_json, "androidx.benchmark-1.3.0.json"),
    "asv": (asv.read_json, "asv-0.6.6.json"),
    "dotnet": (benchmarkdotnet.read_json, "benchmarkdotnet-0.13.12.json"),
    "data.js": (read_data_js, "github_action_benchmark-1.20.js"),
    "catch2": (catch2.read_xml, "catch2-3.7.1.xml"),
    "divan": (divan.read_text, "divan-0.1.21.txt"),
    "go": (go_testing.read_text, "go-1.26.txt"),
    "google": (google_benchmark.read_json, "google_benchmark-1.9.5.json"),
    "hyperfine": (hyperfine.read_json, "hyperfine-1.20.0.json"),
    "jmh": (jmh.read_json, "jmh-1.37.json"),
    "kotlinx": (kotlinx_benchmark.read_json, "kotlinx_benchmark-0.4.11.json"),
    "pyperf": (pyperf.read_json, "pyperf-2.11.0.json"),
    "pytest": (pytest_benchmark.read_json, "pytest_benchmark-5.3.1.json"),
    "vitest": (vitest.read_json, "vitest-4.1.12.json"),
}


def captured(name: str) -> bytes:
    return (CAPTURED / name).read_bytes()


def by_name(result: Result) -> dict[str, MeasuredCase]:
    return {case.name: case for case in result.cases}


def metric(case: MeasuredCase, name: str) -> MeasuredMetric:
    return next(metric for metric in case.metrics if metric.name == name)


@pytest.mark.parametrize("tool", READERS)
def test_what_a_reader_makes_is_a_canonical_result(tool: str) -> None:
    read, name = READERS[tool]
    made = read(captured(name))
    for result in made if isinstance(made, list) else [made]:
        assert read_result(encode_result(result)) == result


@pytest.mark.parametrize(
    ("version", "sample", "at"),
    [
        ("0.3", Sample(10, 5400), 1536069723),
        ("0.6.6", Sample(10, 8681), 1700000000),
    ],
)
def test_asv_of_two_formats_gives_samples_by_params_at_the_commit(
    version: str, sample: Sample, at: int
) -> None:
    read = asv.read_json(captured(f"asv-{version}.json"))
    assert (read.commit, read.at) == (COMMIT, datetime.fromtimestamp(at, UTC))
    assert read.target["cpu"] == "Example CPU"
    cases = by_name(read)
    first = cases["sorts.TimeSorts.time_sort/param1=64 param2=random"]
    assert first.params == {"param1": "64", "param2": "random"}
    assert metric(first, "time").samples[0] == sample
    assert metric(cases["sorts.peakmem_list"], "peak_memory").unit == "bytes"
    failed = cases["sorts.time_fails"]
    assert (failed.failure, failed.metrics) == ("it failed", [])
    skipped = cases["sorts.TimeSorts.time_sort/param1=256 param2=sorted"]
    assert (skipped.unavailable, skipped.metrics) == ("its setup skipped it", [])
    # The unit of a figure that a benchmark tracks is not in the file.
    assert [left_out.id for left_out in read.problems] == ["sorts.track_entries"]


def test_a_benchmark_of_asv_without_samples_is_its_median() -> None:
    copy = by_name(asv.read_json(captured("asv-0.3.json")))["sorts.time_copy"]
    assert metric(copy, "time").summary == Summary("median", 345.0)


def asv_of(name: str, *row: object) -> bytes:
    columns = ["result", "params", "stats_number", "samples"]
    return json.dumps(
        {
            "commit_hash": COMMIT,
            "date": 0,
            "result_columns": columns,
            "results": {name: row},
        }
    ).encode()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (([1.0, 2.0], []), "expected 1 results, found 2"),
        (([-1.0], []), "the result of time_x: expected a figure from 0, found -1.0"),
        ((["fast"], []), "expected a number, found 'fast'"),
        (([1.0], [], [0], [[1.0]]), "found 1.0 over 0 iterations"),
        (([1.0], [["1"] * 400] * 2), "at most 100,000 combinations"),
        (([1.0], [1]), "expected lists of texts in params"),
    ],
)
def test_a_broken_benchmark_of_asv_is_named_and_the_others_are_read(
    row: tuple[object, ...], said: str
) -> None:
    """One such benchmark, for example a tracked text, made the whole file unreadable."""
    document = json.loads(asv_of("time_x", *row))
    document["results"]["time_good"] = [[1.0], []]
    read = asv.read_json(json.dumps(document).encode())
    assert [case.name for case in read.cases] == ["time_good"]
    (problem,) = read.problems
    assert (problem.id or "").startswith("time_x")
    assert said in problem.why


def test_the_last_part_of_a_name_says_what_asv_measured() -> None:
    tracked = asv.read_json(asv_of("TimeX.track_entries", [1.0], []))
    assert (tracked.cases, len(tracked.problems)) == ([], 1)
    sized = asv.read_json(asv_of("TimeX.mem_list", [64], []))
    assert metric(sized.cases[0], "memory").samples == [Sample(1, 64)]


@pytest.mark.parametrize(("version", "count"), [("1.0", 3), ("1.20", 3)])
def test_each_entry_of_data_js_is_a_result_of_its_commit_and_time(
    version: str, count: int
) -> None:
    read = read_data_js(captured(f"github_action_benchmark-{version}.js"))
    assert len(read) == count
    assert {result.commit for result in read} >= {"1" * 40, "2" * 40}
    times = [result.at for result in read if result.build["harness"] != "go"]
    assert None not in times
    assert len(set(times)) == len(times)


def test_data_js_gives_figures_with_their_kind_and_names_what_it_cannot_take() -> None:
    rust, *_, go = read_data_js(captured("github_action_benchmark-1.0.js"))
    # What Rust's own harness prints is a median.
    assert metric(rust.cases[0], "time").summary == Summary("median", 255.0)
    assert metric(go.cases[0], "time").summary == Summary("mean", 41653.0)
    new = read_data_js(captured("github_action_benchmark-1.20.js"))
    _, _, allocated, _ = new[0].cases
    assert metric(allocated, "allocated").unit == "bytes"
    # A rate of 25.5 per second would lose its digits.
    slow = metric(new[1].cases[0], "time").summary
    assert slow is not None
    assert slow.value == pytest.approx(1e9 / 25.5)
    assert metric(new[2].cases[0], "throughput").direction == "higher"
    why = [left_out.why for result in new for left_out in result.problems]
    assert why[0] == why[1] == results.duplicate_name_text("BenchmarkCopy")
    assert "expected a number, found None" in why[2]
    assert "its unit 'points' is unknown" in why[3]


def test_a_data_js_is_cut_and_never_run() -> None:
    data = captured("github_action_benchmark-1.20.js")
    plain = data.removeprefix(b"window.BENCHMARK_DATA = ")
    read = read_data_js(data)
    assert read_data_js(plain) == read_data_js(data + b";\n") == read
    for code in (b"; alert(1)", b"|| {}", b".entries"):
        with pytest.raises(ResultError, match="benchmark are not JSON"):
            read_data_js(data + code)
    with pytest.raises(ResultError, match="are not JSON"):
        read_data_js(b"window.BENCHMARK_DATA = (() => ({entries: {}}))()")


def test_androidx_benchmark_of_two_versions_gives_every_run() -> None:
    old = androidx_benchmark.read_json(captured("androidx.benchmark-1.0.0.json"))
    assert (old.target["device"], old.target["clocks"]) == ("google Pixel 3", "locked")
    plain, sized = old.cases
    assert metric(plain, "time").samples[0] == Sample(1000, 4_091_000)
    assert (sized.benchmark, sized.params) == (plain.benchmark, {"size": "64"})
    new = androidx_benchmark.read_json(captured("androidx.benchmark-1.3.0.json"))
    sort, start = new.cases
    assert metric(sort, "allocations").unit == "count"
    assert metric(start, "time_to_initial_display").samples[0].total == 312_500_000_000
    assert metric(start, "memory_heap_size_max").unit == "bytes"
    # Of frames, every one of each run is a sample.
    assert len(metric(start, "frame_duration_cpu").samples) == 3
    assert [left_out.path for left_out in new.problems] == [
        "energyTotalUws",
        "frameOverrunMs",
    ]
    assert "the unit of energyTotalUws is unknown" in new.problems[0].why


@pytest.mark.parametrize(
    ("version", "names", "sample"),
    [
        ("0.10.14", ["Sort/64"], Sample(4096, 20_472_000)),
        (
            "0.13.12",
            [
                "Sort/Size=64 Order=random",
                "Sort/Size=64 Order=random job=ShortRun(IterationCount=3)",
            ],
            Sample(4096, 10_471_000),
        ),
    ],
)
def test_benchmarkdotnet_of_two_versions_gives_the_iterations_that_count(
    version: str, names: list[str], sample: Sample
) -> None:
    read = benchmarkdotnet.read_json(captured(f"benchmarkdotnet-{version}.json"))
    assert read.version == version
    *measured, failed = read.cases
    assert [case.name for case in measured] == [
        f"Example.SortBenchmark.{name}" for name in names
    ]
    assert metric(measured[0], "time").samples[0] == sample
    assert len(metric(measured[0], "time").samples) == 2
    assert (failed.failure is not None, failed.metrics) == (True, [])


def test_benchmarkdotnet_without_iterations_is_refused_with_the_exporter() -> None:
    document = json.loads(captured("benchmarkdotnet-0.13.12.json"))
    del document["Benchmarks"][0]["Measurements"]
    with pytest.raises(ResultError, match=r"Sort.*as JsonExporter\.Full writes them"):
        benchmarkdotnet.read_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("version", "first"),
    [("1.7.1", Sample(4096, 1_695_799)), ("2.11.0", Sample(4096, 1_700_875))],
)
def test_pyperf_of_two_versions_gives_the_values_of_every_process_without_warmups(
    version: str, first: Sample
) -> None:
    read = pyperf.read_json(captured(f"pyperf-{version}.json"))
    assert (read.version, read.at) == (version, None)
    assert read.build["python"] == "3.11.7 (64-bit)"
    assert (read.target["cpu"], read.target["num_cpu"]) == ("Example CPU", "2")
    sort, copy = read.cases
    assert (sort.name, copy.name) == ("sorted 64", "copy")
    samples = metric(sort, "time").samples
    assert (samples[0], len(samples)) == (first, 6)


def changed_pyperf(change: Callable[[Any], None]) -> bytes:
    document = json.loads(captured("pyperf-2.11.0.json"))
    change(document)
    return json.dumps(document).encode()


def test_a_pyperf_benchmark_that_was_calibrated_alone_has_no_figure() -> None:
    def stop(document: Any) -> None:
        del document["benchmarks"][0]["runs"][1:]

    sort, copy = pyperf.read_json(changed_pyperf(stop)).cases
    assert (sort.failure is not None, sort.metrics) == (True, [])
    assert (copy.failure, len(metric(copy, "time").samples)) == (None, 6)


def test_the_peak_memory_of_pyperf_is_no_total_over_loops() -> None:
    """What `--track-memory` of version 2.11 leaves, of one benchmark alone: then all metadata stand in its runs or in it."""

    def track(document: Any) -> None:
        del document["benchmarks"][1]
        (entry,) = document["benchmarks"]
        entry["metadata"] = {**document.pop("metadata"), **entry["metadata"]}
        for run in entry["runs"]:
            run["metadata"]["unit"] = "byte"
            if "values" in run:
                run["values"] = [12050432]

    read = pyperf.read_json(changed_pyperf(track))
    peak = metric(read.cases[0], "peak_memory")
    assert peak.samples == [Sample(1, 12050432)] * 2
    assert read.target["cpu"] == "Example CPU"


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("values", ["fast"], "a value of sorted 64: expected a number, found 'fast'"),
        ("values", [float("nan")], "expected a figure from 0, found nan"),
        ("metadata", {"loops": 0}, "the metadata of sorted 64: .*loops"),
        ("metadata", {"unit": "furlong"}, "the unit of sorted 64: expected second"),
    ],
)
def test_a_broken_run_of_pyperf_is_refused_with_its_benchmark(
    place: str, value: object, said: str
) -> None:
    def spoil(document: Any) -> None:
        document["benchmarks"][0]["runs"][1][place] = value

    with pytest.raises(ResultError, match=said):
        pyperf.read_json(changed_pyperf(spoil))


def test_a_pyperf_benchmark_without_a_name_is_refused() -> None:
    def forget(document: Any) -> None:
        del document["benchmarks"][0]["metadata"]["name"]

    with pytest.raises(ResultError, match="expected the name of each benchmark"):
        pyperf.read_json(changed_pyperf(forget))


@pytest.mark.parametrize(
    ("version", "value"), [("0.2.0", "64"), ("0.4.11", "size=64 order=random")]
)
def test_kotlinx_benchmark_of_two_versions_gives_every_iteration(
    version: str, value: str
) -> None:
    sort, copy = kotlinx_benchmark.read_json(
        captured(f"kotlinx_benchmark-{version}.json")
    ).cases
    assert (sort.benchmark, sort.value) == ("org.example.Sorts.sort.thrpt", value)
    rate = metric(sort, "throughput")
    assert (rate.samples[0], len(rate.samples)) == (Sample(1, 6_493_160), 3)
    assert metric(copy, "time").samples[0] == Sample(1000, 41_520)


def with_time(tool: str, at: datetime) -> bytes:
    """Return the tool's file as it would be of a run at this time."""
    name = READERS[tool][1]
    if tool == "data.js":
        data = captured(name).removeprefix(b"window.BENCHMARK_DATA = ")
        document = json.loads(data)
        document["entries"]["Benchmark"][1]["date"] = int(at.timestamp() * 1000)
        return json.dumps(document).encode()
    document = json.loads(captured(name))
    if tool == "asv":
        document["date"] = int(at.timestamp() * 1000)
    elif tool == "google":
        document["context"]["date"] = at.isoformat()
    else:
        document["datetime"] = at.replace(tzinfo=None).isoformat()
        commit = {"id": COMMIT, "branch": "main", "dirty": False}
        document["commit_info"] = commit
    return json.dumps(document).encode()


@pytest.mark.parametrize("tool", ["asv", "data.js", "google", "pytest"])
def test_the_time_of_a_file_is_its_results_unless_it_is_in_the_future(
    tool: str,
) -> None:
    at = datetime(2025, 2, 3, 4, 5, 6, tzinfo=UTC)
    read = READERS[tool][0]
    made = read(with_time(tool, at))
    assert (made[1] if isinstance(made, list) else made).at == at
    ahead = datetime.now(UTC) + parsing.CLOCK_TOLERANCE + timedelta(hours=1)
    with pytest.raises(ResultError, match=r"its time 20.* is in the future: set the"):
        read(with_time(tool, ahead))


def test_a_time_beyond_calendars_is_refused() -> None:
    document = json.loads(captured("asv-0.6.6.json"))
    document["date"] = 10**30
    with pytest.raises(ResultError, match="date: expected milliseconds since 1970"):
        asv.read_json(json.dumps(document).encode())


def test_a_time_without_a_zone_is_none() -> None:
    document = json.loads(captured("google_benchmark-1.9.5.json"))
    document["context"]["date"] = "2017-09-01 12:34:56"
    assert google_benchmark.read_json(json.dumps(document).encode()).at is None


@pytest.mark.parametrize(
    ("info", "commit", "branch"),
    [
        ({"id": COMMIT, "branch": "main", "dirty": False}, COMMIT, "main"),
        ({"id": COMMIT, "branch": "(detached head)"}, COMMIT, None),
        ({"id": COMMIT, "branch": "main", "dirty": True}, None, None),
        ({"id": "unversioned", "branch": "(unknown)"}, None, None),
        (None, None, None),
    ],
)
def test_pytest_benchmark_says_what_was_checked_out(
    info: object, commit: str | None, branch: str | None
) -> None:
    document = json.loads(captured("pytest_benchmark-5.3.1.json"))
    read = pytest_benchmark.read_json(
        json.dumps({**document, "commit_info": info}).encode()
    )
    assert (read.commit, read.branch) == (commit, branch)


@pytest.mark.parametrize("tool", READERS)
def test_a_zip_and_a_file_beyond_the_limit_are_refused_before_they_are_parsed(
    tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, name = READERS[tool]
    with pytest.raises(ResultError, match="in a zip archive: unpack it"):
        read(b"PK\x03\x04" + bytes(30))
    monkeypatch.setattr(parsing, "MAX_BYTES", 100)
    with pytest.raises(ResultError, match="bytes: expected at most 100"):
        read(captured(name))


def test_more_cases_than_a_document_holds_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(results, "MAX_CASES", 1)
    for tool, (read, name) in READERS.items():
        if tool != "data.js":  # Of several results each has its own cases.
            with pytest.raises(
                ResultError, match="cases: expected at most 1; split it"
            ):
                read(captured(name))


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    ("read", "data", "said"),
    [
        (
            asv.read_json,
            json.dumps(
                {
                    "commit_hash": COMMIT,
                    "date": 0,
                    "results": {
                        f"time_{at}": {"params": [["a"] * 300] * 2, "result": None}
                        for at in range(1000)
                    },
                }
            ),
            "more cases: expected at most 100,000",
        ),
        (
            vitest.read_json,
            json.dumps(
                {
                    "files": [
                        {
                            "groups": [
                                {
                                    "fullName": LONG,
                                    "benchmarks": [
                                        {"name": str(at), "median": 1, "sampleCount": 1}
                                        for at in range(10_000)
                                    ],
                                }
                            ]
                        }
                    ]
                }
            ),
            "names of its cases are longer in all",
        ),
        (
            catch2.read_xml,
            f'<Catch2TestRun><TestCase name="{LONG}">'
            + '<BenchmarkResults name="a"><mean value="5"/></BenchmarkResults>' * 10_000
            + "</TestCase></Catch2TestRun>",
            "1,000,001 characters",
        ),
        (
            go_testing.read_text,
            f"Benchmark{LONG} 1{' 1 a' * 10_000}",
            "line 1: expected a name of at most 2,000",
        ),
    ],
    ids=["combinations", "group", "section", "name"],
)
def test_a_short_file_that_stands_for_more_than_memory_holds_is_refused(
    read: Callable[[bytes], object], data: str, said: str
) -> None:
    """Each would have been gigabytes of cases or of their names."""
    with pytest.raises(ResultError, match=said):
        read(data.encode())


def repeated(tool: str, count: int) -> bytes:
    """Return the tool's file with so many cases, or of a history so many entries."""
    data = captured(READERS[tool][1])
    if tool == "go":
        lines = (f"BenchmarkX/{at}-2 10 5 ns/op 8 B/op\n" for at in range(count))
        return "".join(lines).encode()
    if tool == "divan":
        heading, row, *_ = data.decode().splitlines()
        rows = (row.replace("plain", f"b{at:04}") for at in range(count))
        return "\n".join([heading, *rows]).encode()
    if tool == "catch2":
        one = '<BenchmarkResults name="{}"><mean value="5"/></BenchmarkResults>'
        return f"<Catch2TestRun>{''.join(map(one.format, range(count)))}</Catch2TestRun>".encode()
    document = json.loads(data.removeprefix(b"window.BENCHMARK_DATA = "))
    if tool == "asv":
        row = document["results"]["sorts.time_copy"]
        document["results"] = {f"time_{at}": row for at in range(count)}
    elif tool == "data.js":
        document["entries"]["Benchmark"] = document["entries"]["Benchmark"][:1] * count
    else:
        holders = {
            "vitest": ("benchmarks", "name"),
            "hyperfine": ("results", "command"),
            "dotnet": ("Benchmarks", "Method"),
            "pytest": ("benchmarks", "fullname"),
            "jmh": ("", "benchmark"),
            "kotlinx": ("", "benchmark"),
        }
        key, name = holders.get(tool, ("benchmarks", "name"))
        holder = document["files"][0]["groups"][0] if tool == "vitest" else document
        cases = holder[key] if key else document
        entries: list[Any] = [{name: f"x{at}"} for at in range(count)]
        if tool == "pyperf":
            entries = [{"metadata": entry} for entry in entries]
        cases[:] = [{**cases[0], **entry} for entry in entries]
    return json.dumps(document).encode()


def count_calls(read: Callable[[bytes], object], data: bytes) -> int:
    """Return the number of calls of Python's and of C's functions."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        read(data)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("tool", READERS)
def test_twice_the_cases_are_twice_the_work(tool: str) -> None:
    """A pass over all cases for each of them would be four times the work, and of 100,000 ten thousand million."""
    read, _ = READERS[tool]
    once, twice = (count_calls(read, repeated(tool, count)) for count in (500, 1000))
    assert 1000 < twice <= 2.1 * once


def test_a_rate_that_is_a_summary_is_one_value_as_it_is() -> None:
    """A thousand times the rate was its value."""
    rate = MeasuredMetric(
        "throughput", "op/s", "higher", summary=Summary("mean", 120_000.4)
    )
    assert rate.values == [Sample(1, 120_000)]


def file_of(path: str, data: bytes | object, modified_s: float = 0.0) -> HistoryFile:
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    return HistoryFile(path, modified_s, lambda: content)


def test_the_history_in_data_js_is_read_by_entry_and_the_oldest_is_first() -> None:
    data = captured("github_action_benchmark-1.20.js")
    document = json.loads(data.removeprefix(b"window.BENCHMARK_DATA = "))
    entries = document["entries"]["Benchmark"]
    entries.reverse()
    ahead = datetime.now(UTC) + parsing.CLOCK_TOLERANCE + timedelta(hours=1)
    entries.append({**entries[0], "date": int(ahead.timestamp() * 1000)})
    page = file_of("dev/bench/index.html", b"<html>")
    history = HISTORIES["github-action-benchmark"](
        [page, file_of("dev/bench/data.js", document)]
    )
    *known, future = history
    # One odd entry does not refuse the others.
    times = [entry.read().at for entry in known]
    assert len(times) == 3
    assert times == sorted(times, key=str)
    with pytest.raises(ResultError, match="is in the future"):
        future.read()
    with pytest.raises(ResultError, match=r"expected one data\.js, found none"):
        HISTORIES["github-action-benchmark"]([page, page])


def asv_history(*files: HistoryFile) -> list[HistoryEntry]:
    benchmarks = {
        "track_entries": {"unit": "count", "type": "track", "version": "1"},
        "track_points": {"unit": "points", "type": "track", "version": "1"},
        "time_x": {"unit": "seconds", "version": "2"},
        "version": 2,
    }
    return asv.read_history([file_of("benchmarks.json", benchmarks), *files])


def asv_results(date: int, **rows: list[object]) -> dict[str, Any]:
    return {
        "commit_hash": COMMIT,
        "date": date,
        "result_columns": ["result", "params", "version"],
        "results": rows,
    }


def test_the_history_of_asv_has_the_units_and_versions_of_its_benchmarks() -> None:
    rows: dict[str, list[object]] = {
        "track_entries": [[7.5], [], "1"],
        "track_points": [[7], [], "1"],
        "time_x": [[0.5], [], "1"],
        "time_gone": [[0.5], [], "1"],
    }
    old, new, broken = (
        file_of("ci-7/0a-py3.json", asv_results(1_600_000_000_000, **rows)),
        file_of("ci-7/0b-py3.json", asv_results(1_700_000_000_000, **rows)),
        file_of("ci-7/0c-py3.json", b"{"),
    )
    machine = file_of("ci-7/machine.json", {"machine": "ci-7"})
    history = asv_history(new, broken, machine, old)
    places = [(entry.place, entry.target) for entry in history]
    assert places == [
        ("ci-7/0c-py3.json", "ci-7"),
        ("ci-7/0a-py3.json", "ci-7"),
        ("ci-7/0b-py3.json", "ci-7"),
    ]
    with pytest.raises(ResultError, match="are not JSON"):
        history[0].read()
    read = history[1].read()
    assert [case.name for case in read.cases] == ["track_entries", "time_gone"]
    # A tracked figure keeps its digits.
    assert metric(read.cases[0], "count").summary == Summary("median", 7.5)
    assert [(left.id, left.why.partition(":")[0]) for left in read.problems] == [
        ("track_points", "its unit 'points' is unknown"),
        (
            "time_x",
            "an older version of the benchmark measured it, not that of benchmarks.json",
        ),
    ]
    with pytest.raises(ResultError, match=r"such as \.asv/results"):
        asv_history(machine)


def test_each_environment_of_a_machine_of_asv_is_a_target() -> None:
    names = [f"{commit}-{name}" for commit in ("0a", "0b") for name in ("py3", "py4")]
    files = [file_of(f"ci-7/{name}.json", asv_results(0)) for name in names]
    targets = [entry.target for entry in asv_history(*files)]
    assert targets == ["ci-7 py3", "ci-7 py4"] * 2
    long = file_of(f"ci-7/0a-{'x' * 100}.json", asv_results(0))
    assert max(len(entry.target or "") for entry in asv_history(*files, long)) <= 100


def baseline_files(
    path: str, written_s: float, took_s: float = 1.0
) -> list[HistoryFile]:
    name = path.partition("/")[0]
    named = {"group_id": name, "full_id": name}
    sample = {"iters": [1.0, 2.0], "times": [took_s * 4e8, took_s * 6e8]}
    return [
        file_of(f"{path}/benchmark.json", named, written_s),
        file_of(f"{path}/sample.json", sample, written_s),
    ]


def test_each_named_baseline_of_criterion_is_a_result_of_when_it_was_written() -> None:
    files = [
        *baseline_files("decode/v2", 5_000.0),
        *baseline_files("decode/abcdef1", 1_000.0),
        *baseline_files("encode/abcdef1", 1_002.0),
        *baseline_files("encode/copied", 9_000.0, 100.0),
        *baseline_files("decode/copied", 9_000.0, 100.0),
        *baseline_files("decode/new", 6_000.0),
        *baseline_files("decode/base", 6_000.0),
    ]
    commit, named, copied = criterion.read_history(files)
    read = commit.read()
    assert [case.name for case in read.cases] == ["decode", "encode"]
    assert (read.commit, read.at) == ("abcdef1", datetime.fromtimestamp(1_002, UTC))
    assert (named.read().commit, named.title) == (None, "baseline v2")
    with pytest.raises(ResultError, match="so they are a copy"):
        copied.read()
    with pytest.raises(ResultError, match="no saved baseline in it"):
        criterion.read_history(baseline_files("decode/new", 6_000.0))
