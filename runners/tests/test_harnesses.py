"""Tests of what is read of the outputs that real tools printed, of two versions each where they were at hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paceline.executors.process import ProcessEnd
from paceline.harnesses import (
    HARNESSES,
    criterion,
    detect_harness,
    find_harness,
    go_testing,
    google_benchmark,
    hyperfine,
    jmh,
    pytest_benchmark,
)
from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    HarnessError,
    MeasuredCase,
    MeasuredMetric,
    Sample,
)

from .test_criterion import save

CAPTURED = Path(__file__).parent / "harnesses" / "captured"


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
    with pytest.raises(HarnessError, match=said):
        google_benchmark.read_json(data)


def test_two_cases_of_one_name_are_refused() -> None:
    def double(document: Any) -> None:
        document["benchmarks"].append(document["benchmarks"][0])

    data = changed(captured("google_benchmark-1.9.5.json"), double)
    with pytest.raises(HarnessError, match="several cases are called native_sort/64"):
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
    with pytest.raises(HarnessError, match="line 2: expected a number, found 'x'"):
        go_testing.read_text(b"pkg: a\nBenchmarkX-2 10 x ns/op\n")
    with pytest.raises(HarnessError, match="expected a figure from 0, found inf"):
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


def test_a_rate_of_jmh_that_would_lose_digits_is_refused() -> None:
    def slow(document: Any) -> None:
        document[0]["primaryMetric"]["scoreUnit"] = "ops/s"

    with pytest.raises(HarnessError, match="-bm avgt"):
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


def test_criterion_gives_every_sample_of_its_directory(tmp_path: Path) -> None:
    for baseline in ("base", "new"):  # criterion keeps its last run twice
        save(tmp_path, "group/fast/64", baseline)
        save(tmp_path, "alone", baseline)
    alone, fast = criterion.read_directory(tmp_path).cases
    assert (alone.benchmark, alone.value) == ("alone", None)
    assert (fast.benchmark, fast.value) == ("group/fast", "64")
    assert metric(fast, "time").samples[:2] == [Sample(10, 50), Sample(20, 102)]


def test_criterion_that_leaves_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="Criterion left no results"):
        criterion.read_directory(tmp_path / "none")


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
    with pytest.raises(HarnessError, match=f"the results of {what} are not JSON"):
        read(b'[{"benchm')


def test_each_harness_is_recognised_by_its_command(tmp_path: Path) -> None:
    (tmp_path / "bench").write_bytes(b"\x7fELF\0libbenchmark.so.1\0")
    (tmp_path / "other").write_bytes(b"\x7fELF\0libc.so.6\0")
    commands = {
        "go": ["go", "test", "-bench", "."],
        "pytest-benchmark": ["python3", "-m", "pytest", "bench"],
        "criterion": ["cargo", "bench"],
        "hyperfine": ["hyperfine", "ls"],
        "google-benchmark": ["./bench"],
        "command": ["./other"],
    }
    found = {
        name: detect_harness(command, tmp_path).name
        for name, command in commands.items()
    }
    assert found == {name: name for name in commands}
    assert {*commands, "jmh"} == {harness.name for harness in HARNESSES}


def test_options_that_a_user_gave_stay(tmp_path: Path) -> None:
    own = ["./bench", "--benchmark_min_time=2s", "--benchmark_repetitions=9"]
    argv = (
        find_harness("google-benchmark")
        .make_invocation(DriveRequest(own, tmp_path))
        .argv
    )
    assert [word for word in argv if "min_time" in word or "repet" in word] == own[1:]
    go = ["go", "test", "-bench=Sort", "-count", "4", "./...", "-args", "-x"]
    argv = find_harness("go").make_invocation(DriveRequest(go, tmp_path)).argv
    assert [word for word in argv if word.startswith(("-bench=", "-count"))] == [
        "-bench=Sort",
        "-count",
    ]
    assert argv[-3:] == ["./...", "-args", "-x"]


@pytest.mark.parametrize("form", ["{option} own.json", "{option}=own.json"])
def test_results_go_to_the_file_of_paceline_whatever_file_a_user_gave(
    form: str, tmp_path: Path
) -> None:
    """What was left of an option was a path to collect tests from, or an option given twice, which tools refuse."""
    for name, program, option in (
        ("pytest-benchmark", "pytest", "--benchmark-json"),
        ("hyperfine", "hyperfine", "--export-json"),
        ("jmh", "java", "-rff"),
    ):
        command = [program, *form.format(option=option).split(), "last"]
        request = DriveRequest(command, tmp_path)
        argv = find_harness(name).make_invocation(request).argv
        assert [word for word in argv if "own.json" in word] == []
        assert [word.partition("=")[0] for word in argv].count(option) == 1
        assert str(request.results) in " ".join(argv)
        assert "last" in argv


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("jmh", ["java", "-jar", "b.jar", "-f1", "-wi", "4", "-i5", "-w=1s", "-r10ms"]),
        ("hyperfine", ["hyperfine", "-r5", "ls"]),
    ],
)
def test_an_option_with_its_number_attached_is_not_given_again(
    name: str, own: list[str], tmp_path: Path
) -> None:
    argv = find_harness(name).make_invocation(DriveRequest(own, tmp_path)).argv
    assert argv[: len(own)] == own
    added = {word for word in argv[len(own) :] if word.startswith("-")}
    assert added <= {"-rf", "-rff", "--export-json"}


def of_histograms(*histograms: list[Any]) -> bytes:
    """One fork of JMH's sample mode, whose iterations have these histograms."""
    metric = {"scoreUnit": "ns/op", "rawDataHistogram": [histograms]}
    return json.dumps(
        [{"benchmark": "Sorts.sort", "mode": "sample", "primaryMetric": metric}]
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
    with pytest.raises(HarnessError, match=r"Sorts\.sort.*rawDataHistogram"):
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
    ("printed", "other"),
    [
        (
            b"     Running benches/sorts.rs\nTimer precision: 20 ns\n"
            b"sorts      fastest       \xe2\x94\x82 slowest\n",
            "Divan",
        ),
        (
            b"test sort ... bench:       1,023.50 ns/iter (+/- 12.10)\n",
            "Rust's own harness",
        ),
        (b"running 0 tests\n", "Criterion left no results"),
    ],
)
def test_cargo_bench_of_another_harness_is_named(
    printed: bytes, other: str, tmp_path: Path
) -> None:
    request = DriveRequest(["cargo", "bench"], tmp_path)
    finished = FinishedStart(request, ProcessEnd(exit_code=0), printed)
    with pytest.raises(HarnessError, match=re.escape(other)):
        find_harness("criterion").read(finished)
