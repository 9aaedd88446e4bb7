"""Tests of what is read of the outputs that real tools printed, of two versions each where they were at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paceline_contract.readers import (
    catch2,
    divan,
    go_testing,
    google_benchmark,
    hyperfine,
    jmh,
    pytest_benchmark,
    vitest,
)
from paceline_contract.readers.registry import (
    READERS,
    UnknownFileError,
    read_file,
)
from paceline_contract.results import (
    FORMAT,
    MAX_BYTES,
    MeasuredCase,
    MeasuredMetric,
    ResultError,
    Sample,
    Summary,
    encode_result,
)

CAPTURED = Path(__file__).parent / "captured"


def captured(name: str) -> bytes:
    return (CAPTURED / name).read_bytes()


def metric(case: MeasuredCase, name: str) -> MeasuredMetric:
    return next(metric for metric in case.metrics if metric.name == name)


def test_google_benchmark_of_two_versions_gives_repetitions_without_aggregates() -> (
    None
):
    old = google_benchmark.read_json(captured("google_benchmark-1.7.1.json"))
    names = [case.name for case in old.cases]
    assert names == [
        "BM_native_sort/64",
        "BM_native_sort/256",
        "BM_kotlin_sort/64",
        "BM_kotlin_sort/256",
        "BM_fails",
    ]
    first = old.cases[0]
    assert (first.benchmark, first.value) == ("BM_native_sort", "64")
    # real_time 331.95… ns over 7387 iterations, as a total that loses no digit
    assert metric(first, "time").samples[0] == Sample(7387, 2452150)
    assert len(metric(first, "time").samples) == 2
    assert metric(first, "cpu_time").unit == "ns"

    new = google_benchmark.read_json(captured("google_benchmark-1.9.5.json"))
    assert new.facts == {"google_benchmark": "1.9.5"}
    assert [case.name for case in new.cases] == ["native_sort/64", "skipped"]


@pytest.mark.parametrize("version", ["1.7.1", "1.9.5"])
def test_a_failed_case_of_google_benchmark_has_a_reason_and_no_figure(
    version: str,
) -> None:
    read = google_benchmark.read_json(captured(f"google_benchmark-{version}.json"))
    failed = read.cases[-1]
    assert (failed.failure, failed.metrics) == ("no such file", [])


def changed(document: bytes, change: Callable[[Any], None]) -> bytes:
    value = json.loads(document)
    change(value)
    return json.dumps(value).encode()


def test_a_unit_that_changes_between_versions_of_a_benchmark_changes_no_figure() -> (
    None
):
    def in_microseconds(document: Any) -> None:
        for entry in document["benchmarks"]:
            if "real_time" in entry:
                entry["time_unit"] = "us"
                entry["real_time"] /= 1000
                entry["cpu_time"] /= 1000

    data = captured("google_benchmark-1.9.5.json")
    ours = google_benchmark.read_json(data).cases[0]
    theirs = google_benchmark.read_json(changed(data, in_microseconds)).cases[0]
    assert metric(ours, "time") == metric(theirs, "time")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("real_time", float("nan"), "real_time of native_sort/64: expected a figure"),
        ("real_time", float("inf"), "expected a figure from 0, found inf"),
        ("real_time", -1.0, "expected a figure from 0, found -1.0"),
        ("real_time", "fast", "expected a number, found 'fast'"),
        ("time_unit", "fortnight", "expected a unit of time"),
        ("iterations", 0, "over 0 iterations"),
    ],
)
def test_what_is_no_figure_is_refused_with_its_place(
    field: str, value: object, said: str
) -> None:
    def spoil(document: Any) -> None:
        document["benchmarks"][0][field] = value

    data = changed(captured("google_benchmark-1.9.5.json"), spoil)
    with pytest.raises(ResultError, match=said):
        google_benchmark.read_json(data)


def test_two_cases_of_one_name_are_refused() -> None:
    def double(document: Any) -> None:
        document["benchmarks"].append(document["benchmarks"][0])

    data = changed(captured("google_benchmark-1.9.5.json"), double)
    with pytest.raises(ResultError, match="several cases are called native_sort/64"):
        google_benchmark.read_json(data)


@pytest.mark.parametrize("version", ["1.21", "1.26"])
def test_go_of_two_versions_gives_times_rates_and_allocations(version: str) -> None:
    read = go_testing.read_text(captured(f"go-{version}.txt"))
    assert [case.name for case in read.cases] == [
        "BenchmarkSort/n=1",
        "BenchmarkSort/n=4",
        "BenchmarkReport",
    ]
    assert read.facts["package"] == "example.org/sorts"
    sort, _, report = read.cases
    assert (sort.benchmark, sort.value) == ("BenchmarkSort", "n=1")
    assert len(metric(sort, "time").samples) == 2
    assert metric(sort, "allocated").unit == "bytes"
    rate = metric(report, "throughput")
    assert (rate.unit, rate.direction) == ("bytes/s", "higher")
    assert metric(report, "unit_widgets_op").unit == "count"
    # Nothing was allocated: a ratio of nothing says nothing.
    assert "allocations" not in [metric.name for metric in report.metrics]


def test_go_results_among_progress_are_read_and_packages_keep_names_apart() -> None:
    text = b"""pkg: a
warming up: 50 %
BenchmarkX-2 10 5 ns/op
pkg: b
BenchmarkX-2 10 7.5 ns/op
"""
    cases = go_testing.read_text(text).cases
    assert [case.name for case in cases] == ["a.BenchmarkX", "b.BenchmarkX"]
    assert metric(cases[1], "time").samples == [Sample(10, 75)]


def test_a_broken_result_of_go_is_refused_with_its_line() -> None:
    with pytest.raises(ResultError, match="line 2: expected a number, found 'x'"):
        go_testing.read_text(b"pkg: a\nBenchmarkX-2 10 x ns/op\n")
    with pytest.raises(ResultError, match="expected a figure from 0, found inf"):
        go_testing.read_text(b"BenchmarkX-2 10 Inf ns/op\n")


@pytest.mark.parametrize("version", ["4.0.0", "5.3.1"])
def test_pytest_benchmark_of_two_versions_gives_every_round(version: str) -> None:
    read = pytest_benchmark.read_json(captured(f"pytest_benchmark-{version}.json"))
    assert read.facts == {"pytest_benchmark": version}
    plain, ten, _ = read.cases
    assert (plain.benchmark, plain.value) == ("test_b.py::test_sum", None)
    assert (ten.benchmark, ten.value) == ("test_b.py::test_sorted", "10")
    assert len(metric(ten, "time").samples) == 6
    assert metric(ten, "time").samples[0].iterations == 100


@pytest.mark.parametrize("version", ["1.21", "1.37"])
def test_jmh_of_two_versions_gives_every_iteration_by_mode_and_param(
    version: str,
) -> None:
    read = jmh.read_json(captured(f"jmh-{version}.json"))
    assert read.facts == {"jmh": version}
    rate, _, time, _ = read.cases
    assert (time.benchmark, time.value) == ("org.example.Sorts.sort", "64")
    assert (rate.benchmark, rate.value) == ("org.example.Sorts.sort.thrpt", "64")
    assert metric(rate, "throughput").direction == "higher"
    assert len(metric(rate, "throughput").samples) == 2
    assert metric(time, "time").samples[0].iterations == jmh.EXACT


def test_what_failed_in_jmh_is_read_from_what_it_printed() -> None:
    """Its file has no trace of it, so that a benchmark which threw vanished from the report."""
    threw, ended = jmh.read_failures(captured("failures-jmh-1.37.txt"))
    assert (threw.name, threw.benchmark) == (
        "org.example.Sorts.bad/2",
        "org.example.Sorts.bad",
    )
    assert threw.params == {"size": "2"}
    assert threw.failure == "java.lang.RuntimeException: boom"
    assert (ended.name, ended.benchmark) == (
        "org.example.Sorts.ends/size=2 order=a, b (thrpt)",
        "org.example.Sorts.ends.thrpt",
    )
    assert ended.failure is not None
    assert ended.failure.startswith("VM prematurely exited")
    assert jmh.read_failures(b"Iteration   1: <failure>\n") == []


@pytest.mark.parametrize("key", jmh.ALLOCATED)
def test_what_an_operation_allocates_is_a_metric_of_jmh(key: str) -> None:
    def profile(document: Any) -> None:
        unit = {"score": 1.0, "scoreUnit": "B/op"}
        document[2]["secondaryMetrics"] = {
            key: {**unit, "rawData": [[24.016, 24.02]]},
            "gc.count": {"score": 2.0, "scoreUnit": "counts", "rawData": [[1.0, 1.0]]},
        }
        document[3]["secondaryMetrics"] = {key: {**unit, "rawData": [[0.0, 24.0]]}}

    read = jmh.read_json(changed(captured("jmh-1.37.json"), profile))
    assert [[of.name for of in case.metrics] for case in read.cases[2:]] == [
        ["time", "allocated"],
        ["time"],
    ], "where an iteration allocates nothing there is no ratio"
    allocated = metric(read.cases[2], "allocated")
    assert (allocated.unit, allocated.direction) == ("bytes", "lower")
    assert allocated.samples == [Sample(jmh.EXACT, 24016), Sample(jmh.EXACT, 24020)]


def test_the_peak_memory_that_google_benchmark_counted_is_a_metric() -> None:
    def count(document: Any) -> None:
        for entry in document["benchmarks"]:
            entry["max_bytes_used"] = 4096

    data = changed(captured("google_benchmark-1.9.5.json"), count)
    peak = metric(google_benchmark.read_json(data).cases[0], "peak_memory")
    assert (peak.unit, peak.direction) == ("bytes", "lower")
    assert set(peak.samples) == {Sample(1, 4096)}, "a peak is no total over iterations"


def test_a_rate_of_jmh_that_would_lose_digits_is_refused() -> None:
    def slow(document: Any) -> None:
        document[0]["primaryMetric"]["scoreUnit"] = "ops/s"

    with pytest.raises(ResultError, match="mode avgt"):
        jmh.read_json(changed(captured("jmh-1.37.json"), slow))


@pytest.mark.parametrize(
    ("version", "first", "metrics"),
    [
        ("1.15.0", 10657024, ["time"]),
        ("1.20.0", 12331198, ["time", "peak_memory"]),
    ],
)
def test_hyperfine_of_two_versions_gives_every_run_and_a_failed_command_has_none(
    version: str, first: int, metrics: list[str]
) -> None:
    slept, failed = hyperfine.read_json(captured(f"hyperfine-{version}.json")).cases
    assert metric(slept, "time").samples[0] == Sample(1, first)
    assert [metric.name for metric in slept.metrics] == metrics
    assert (failed.failure, failed.metrics) == ("it exited with status 1", [])


@pytest.mark.parametrize(
    ("read", "what"),
    [
        (google_benchmark.read_json, "Google Benchmark"),
        (pytest_benchmark.read_json, "pytest-benchmark"),
        (hyperfine.read_json, "hyperfine"),
        (jmh.read_json, "JMH"),
    ],
)
def test_truncated_json_is_refused_with_the_tool_that_left_it(
    read: Callable[[bytes], object], what: str
) -> None:
    with pytest.raises(ResultError, match=f"the results of {what} are not JSON"):
        read(b'[{"benchm')


def of_histograms(*histograms: list[Any]) -> bytes:
    """One fork of JMH's sample mode, whose iterations have these histograms."""
    metric = {"scoreUnit": "ns/op", "rawDataHistogram": [histograms]}
    return json.dumps(
        [
            {
                "benchmark": "Sorts.sort",
                "mode": "sample",
                "forks": 1,
                "primaryMetric": metric,
            }
        ]
    ).encode()


def test_a_histogram_of_jmh_keeps_its_distribution_in_few_samples() -> None:
    """Ten million calls were as many floats."""
    few = jmh.read_json(of_histograms([[5.0, 2], [7.0, 1]], [[6.0, 1]])).cases[0]
    assert [sample.total for sample in metric(few, "time").samples] == [
        5 * jmh.EXACT,
        5 * jmh.EXACT,
        7 * jmh.EXACT,
        6 * jmh.EXACT,
    ]
    many = jmh.read_json(
        of_histograms([[5.0, 6 * 10**12 + 1], [7.0, 4 * 10**12 - 1]])
    ).cases[0]
    totals = [sample.total for sample in metric(many, "time").samples]
    assert len(totals) == jmh.KEPT_CALLS
    assert totals.count(5 * jmh.EXACT) == pytest.approx(0.6 * jmh.KEPT_CALLS, abs=1)
    assert totals == sorted(totals)


@pytest.mark.parametrize("entry", [[5.0], [5.0, -1], [5.0, 1.5], "x"])
def test_a_broken_histogram_of_jmh_is_refused(entry: object) -> None:
    with pytest.raises(
        ResultError, match=r"JMH have an unexpected form.*rawDataHistogram"
    ):
        jmh.read_json(of_histograms([entry]))


def test_a_case_with_many_repetitions_is_read_in_one_pass() -> None:
    """A hundred thousand repetitions took as many passes over them."""

    def repeat(document: Any) -> None:
        document["benchmarks"] = [
            {**document["benchmarks"][0], "repetition_index": index}
            for index in range(100_000)
        ]

    data = changed(captured("google_benchmark-1.9.5.json"), repeat)
    (case,) = google_benchmark.read_json(data).cases
    assert len(metric(case, "time").samples) == 100_000


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b"9" * 5_000,
        b'{"benchmarks": [1]}',
        b'{"benchmarks": {}}',
        b'{"benchmarks": [{"name": "\\ud800"}]}',
        b'{"benchmarks": [{"name": "\xed\xa0\x80"}]}',
    ],
)
def test_hostile_json_is_refused(data: bytes) -> None:
    with pytest.raises(ResultError, match="the results of Google Benchmark"):
        google_benchmark.read_json(data)


@pytest.mark.parametrize(
    ("read", "who"),
    [(google_benchmark.read_json, "Google Benchmark"), (go_testing.read_text, "Go")],
)
def test_a_file_beyond_the_limit_is_refused_before_it_is_parsed(
    read: Callable[[bytes], object], who: str
) -> None:
    with pytest.raises(
        ResultError, match=f"{who}.* 67,108,865 bytes: expected at most"
    ):
        read(bytes(MAX_BYTES + 1))


def test_a_figure_beyond_every_number_is_refused() -> None:
    def enlarge(document: Any) -> None:
        document["benchmarks"][0]["real_time"] = 10**400

    data = changed(captured("google_benchmark-1.9.5.json"), enlarge)
    with pytest.raises(
        ResultError, match="real_time of native_sort/64: expected a fig"
    ):
        google_benchmark.read_json(data)


@pytest.mark.parametrize(("version", "said"), [("2.13.10", None), ("3.7.1", "3.7.1")])
def test_catch2_of_two_versions_gives_the_mean_by_test_case_and_section(
    version: str, said: str | None
) -> None:
    read = catch2.read_xml(captured(f"catch2-{version}.xml"))
    assert read.version == said
    plain, many, failed = read.cases
    assert [plain.name, many.name] == ["sorts > 64", "sorts > of many > 256"]
    summary = metric(plain, "time").summary
    assert summary is not None
    assert (summary.kind, summary.count) == ("mean", 20)
    assert (failed.failure, failed.metrics) == ("no such file", [])


def in_catch2(inside: str, before: str = "") -> bytes:
    return (
        f'<?xml version="1.0"?>{before}<Catch2TestRun>{inside}</Catch2TestRun>'.encode()
    )


MEAN = '<TestCase name="t"><BenchmarkResults name="b"><mean value="{}"/></BenchmarkResults></TestCase>'


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (in_catch2(MEAN.format("fast")), "the mean of t > b: expected a number, found"),
        (in_catch2(MEAN.format("nan")), "expected a figure from 0, found nan"),
        (in_catch2(MEAN.format("-1")), "expected a figure from 0, found -1.0"),
        (in_catch2(MEAN.format("1") * 2), "several cases are called t > b"),
        (in_catch2("<TestCase"), "the results of Catch2 are not XML"),
        (b"<testsuites/>", "expected Catch2TestRun or Catch .*, found testsuites"),
        (
            in_catch2("&b;", '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'),
            "have a DTD",
        ),
        (
            in_catch2("&a;", '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
            "have a DTD",
        ),
        (in_catch2("", '<!DOCTYPE x SYSTEM "http://example.org/x.dtd">'), "have a DTD"),
        (b'<?xml version="1.0" encoding="x"?><Catch2TestRun/>', "unknown encoding"),
        (b'<?xml version="1.0" encoding="gbk"?><Catch2TestRun/>', "multi-byte"),
    ],
)
def test_bad_xml_is_refused_before_an_entity_is_expanded(
    data: bytes, said: str
) -> None:
    with pytest.raises(ResultError, match=said):
        catch2.read_xml(data)


@pytest.mark.parametrize(
    ("version", "median"), [("2.1.9", 2724.000), ("4.1.12", 2804.0)]
)
def test_vitest_of_two_versions_gives_the_median_by_file_and_group(
    version: str, median: float
) -> None:
    read = vitest.read_json(captured(f"vitest-{version}.json"))
    assert [case.name for case in read.cases] == [
        "sorts.bench.js > copies",
        "sorts.bench.js > sorts > 64",
    ]
    summary = metric(read.cases[1], "time").summary
    assert summary is not None
    assert summary.kind == "median"
    assert summary.value == pytest.approx(median, rel=1e-6)


def test_a_benchmark_that_threw_in_vitest_has_failed_and_the_others_are_read() -> None:
    """It made the whole file unreadable."""

    def throw(document: Any) -> None:
        benchmarks = document["files"][0]["groups"][0]["benchmarks"]
        # What Vitest 4.1.12 wrote of one.
        failed = {"id": "1_1", "name": "bad", "rank": 2, "rme": 0, "samples": []}
        benchmarks.append(failed)

    data = changed(captured("vitest-4.1.12.json"), throw)
    good, bad, _ = vitest.read_json(data).cases
    assert (bad.name, bad.metrics) == ("sorts.bench.js > bad", [])
    assert bad.failure == "it failed: it has no samples"
    assert (good.failure, len(good.metrics)) == (None, 1)


DIVAN_NAMES = [
    "sorts::plain",
    "sorts::shared::t=1",
    "sorts::shared::t=2",
    "sorts::skipped",
    "sorts::sort::64",
    "sorts::sort::1024",
    "sorts::text::a > b, c  d",
    "sorts::text::short",
    "sorts::a group::never_asked",
    "sorts::a group::slow",
    "sorts::a group::array::1",
    "sorts::a group::array::3",
    "sorts::a group::deeper::täglich",
    "sorts::create::String",
    "sorts::create::Vec<u8>",
]


@pytest.mark.parametrize(
    ("version", "rate", "allocated", "peak", "others"),
    [
        ("0.1.11", 6.171e9, 3000.0, None, ["copies::plain", "copies::skipped"]),
        (
            "0.1.21",
            5.778 * 2**30,
            2.929 * 1024,
            2.929 * 1024,
            ["copies::plain", "copies::skipped", "panics::first", "panics::second"],
        ),
    ],
)
def test_divan_of_two_versions_gives_the_median_rates_and_allocations(
    version: str, rate: float, allocated: float, peak: float | None, others: list[str]
) -> None:
    cases = divan.read_text(captured(f"divan-{version}.txt")).cases
    assert [case.name for case in cases] == [*others, *DIVAN_NAMES]
    by_name = {case.name: case for case in cases}
    sort = by_name["sorts::sort::64"]
    times = metric(sort, "time").summary
    assert times is not None
    assert (times.kind, times.count, 30 < times.value < 60) == ("median", 100, True)
    rates = metric(sort, "throughput").summary
    assert rates is not None
    assert rates.value == pytest.approx(rate)
    assert metric(sort, "items").unit == "op/s"
    daily = by_name["sorts::a group::deeper::täglich"]
    figures = {
        of.name: of.summary.value for of in daily.metrics[1:] if of.summary is not None
    }
    expected = {"allocations": 1.0, "allocated": allocated}
    assert figures == pytest.approx(
        {**expected, **({"peak_memory": peak} if peak else {})}
    )
    slow = metric(by_name["sorts::a group::slow"], "time").summary
    assert slow is not None
    assert slow.value == pytest.approx(2.1e6, rel=0.1)
    for name in ("copies::skipped", "sorts::skipped"):
        assert (by_name[name].unavailable, by_name[name].metrics) == (
            "it is ignored",
            [],
        )
    # The one ended its program in the middle of its row, the other never gave the bencher anything to measure.
    for name in {"panics::second", "sorts::a group::never_asked"} & by_name.keys():
        assert (by_name[name].failure or "").startswith("it printed no figures")


DIVAN_HEADING = "a     fastest  │ slowest │ median │ mean │ samples │ iters"


@pytest.mark.parametrize(
    ("rows", "figures"),
    [
        (["╰─ b  1 ns │ 2 ns │ 3 µs │ 4 ns │ 5 │ 5"], {"time": 3000.0}),
        # It prints while it is measured.
        (
            ["├─ b  one", "two", "│  │", "thr 1 ns │ 2 ns │ 3 m │ 4 ns │ 5 │ 5"],
            {"time": 180e9},
        ),
        # A name that its heading has no room for, as of a number of threads.
        (["╰─ b::t  1 ns │ 2 ns │ 3 h │ 4 ns │ 5 │ 5"], {"time": 3 * 3600e9}),
        # What takes no time has no rate, and a rate of few has too few digits.
        (
            [
                "╰─ b  1 ns │ 2 ns │ 0 ns │ 4 ns │ 5 │ 5",
                "      inf B/s │ 1 B/s │ inf B/s │ 1 B/s │ │",
                "      9 Hz │ 9 Hz │ 9 Hz │ 9 Hz │ │",
                "      alloc: │ │ │ │ │",
                "        0 │ 0 │ 0 │ 0 │ │",
                "        1 KB │ 1 KB │ 1.5 KB │ 1 KB │ │",
                "      dealloc: │ │ │ │ │",
                "        7 │ 7 │ 7 │ 7 │ │",
            ],
            {"time": 0.0, "allocated": 1500.0},
        ),
    ],
)
def test_a_row_of_divan_is_read_by_its_columns(
    rows: list[str], figures: dict[str, float]
) -> None:
    table = "\r\n".join([DIVAN_HEADING, *rows])
    (case,) = divan.read_text(table.encode()).cases
    assert case.name == ("a::b::t" if "b::t" in rows[0] else "a::b")
    assert {of.name: of.summary and of.summary.value for of in case.metrics} == figures


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("╰─ b  1 ns │ 2 ns │ fast │ 4 ns │ 5 │ 5", "found 'fast'"),
        ("╰─ b  1 ns │ 2 ns │ nan ns │ 4 ns │ 5 │ 5", "from 0, found nan"),
        ("╰─ b  1 ns │ 2 ns │ inf ns │ 4 ns │ 5 │ 5", "from 0, found inf"),
        ("╰─ b  1 ns │ 2 ns │ -1 ns │ 4 ns │ 5 │ 5", "found '-1 ns'"),
        ("╰─ b  1 ns │ 2 ns │ 3 furlongs │ 4 ns │ 5 │ 5", "found '3 furlongs'"),
        (f"╰─ {'b' * 2_000}  │ │ │ │ │", "a name of at most 2,000"),
    ],
    ids=["text", "nan", "inf", "negative", "unit", "name"],
)
def test_what_is_no_figure_of_divan_is_refused_with_its_line(
    row: str, said: str
) -> None:
    with pytest.raises(ResultError, match=f"line 2: expected .*{said}"):
        divan.read_text(f"{DIVAN_HEADING}\n{row}\n".encode())


def test_a_summary_is_one_value_of_its_start_with_three_more_digits() -> None:
    mean = MeasuredMetric("time", "ns", "lower", summary=Summary("mean", 0.2504))
    assert mean.values == [Sample(1000, 250)]


RECOGNISED = [
    (tool, path.name)
    for tool in READERS
    for path in sorted(CAPTURED.glob(f"{tool.replace('-', '_')}-*"))
]


@pytest.mark.parametrize(("tool", "name"), RECOGNISED)
def test_a_file_is_recognised_as_its_tools_by_one_reader_alone(
    tool: str, name: str
) -> None:
    data = captured(name)
    assert read_file(data).tool == tool
    canonical = encode_result(read_file(data))
    assert read_file(canonical) == read_file(data)
    for other in READERS:
        if other != tool:
            with pytest.raises(ResultError):
                read_file(data, other)


def test_every_reader_is_recognised_by_a_captured_file() -> None:
    assert {tool for tool, _ in RECOGNISED} | {FORMAT} == set(READERS)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"hello\n", b"\xff\xfe\x00"])
def test_other_files_are_nobodys_and_every_reader_says_why(data: bytes) -> None:
    with pytest.raises(UnknownFileError, match="no reader can read it") as refused:
        read_file(data)
    assert refused.value.reasons.keys() == READERS.keys()


@pytest.mark.parametrize(
    ("data", "likeliest"),
    [
        (b'{"benchmarks":[{"fullname":"x","stats":{"data":[]}}]}', "pytest-benchmark"),
        (b'[{"benchmark":"a.b","mode":"thrpt"}]', "jmh"),
        (
            b'{"context":{},"benchmarks":[{"name":"a","real_time":1}]}',
            "google-benchmark",
        ),
        (b"<html/>", "catch2"),
        (b'<Catch2TestRun><TestCase name="a">', "catch2"),
    ],
)
def test_the_reader_that_got_farthest_is_named_first(
    data: bytes, likeliest: str
) -> None:
    with pytest.raises(UnknownFileError) as refused:
        read_file(data)
    assert next(iter(refused.value.reasons)) == likeliest


def test_readers_of_another_syntax_are_the_last_for_a_file_that_is_cut_off() -> None:
    with pytest.raises(UnknownFileError) as refused:
        read_file(captured("hyperfine-1.20.0.json")[:-9])
    last = {*list(refused.value.reasons)[-5:]}
    assert last == {FORMAT, "catch2", "criterion", "divan", "go"}


def test_lists_in_the_place_of_a_figure_are_refused_however_deep() -> None:
    """Python reads a list that it cannot print."""
    for depth in range(100, 1000, 100):
        figure = "[" * depth + "]" * depth
        file = f'{{"results": [{{"command": "a", "times": [{figure}]}}]}}'
        with pytest.raises(ResultError):
            hyperfine.read_json(file.encode())
