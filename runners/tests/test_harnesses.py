"""Tests of how harnesses are recognised and started, and of what Criterion leaves in its directory."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from paceline.executors.process import ProcessEnd
from paceline.harnesses import (
    HARNESSES,
    criterion,
    detect_harness,
    find_harness,
    list_harnesses,
)
from paceline.harnesses.cargo_bench import keep_target_apart
from paceline.harnesses.port import DriveRequest, FinishedStart, Overhead
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    ResultError,
    Sample,
    result_id,
)

from .test_criterion import save

ROOT = Path(__file__).parents[2]
CAPTURED = ROOT / "contract/tests/captured"
GOLDEN = json.loads((ROOT / "native/protocol/vectors/results.golden.json").read_bytes())


def metric(case: MeasuredCase, name: str) -> MeasuredMetric:
    return next(metric for metric in case.metrics if metric.name == name)


def test_criterion_gives_every_sample_of_its_directory(tmp_path: Path) -> None:
    for baseline in ("base", "new"):  # criterion keeps its last run twice
        save(tmp_path, "group/fast/64", baseline)
        save(tmp_path, "alone", baseline)
    fast, alone = criterion.read_directory(tmp_path).cases  # as they were written
    assert (alone.benchmark, alone.value) == ("alone", None)
    assert (fast.benchmark, fast.value) == ("group/fast", "64")
    assert metric(fast, "time").samples[:2] == [Sample(10, 50), Sample(20, 102)]


def test_criterion_that_leaves_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="Criterion left no results"):
        criterion.read_directory(tmp_path / "none")


@pytest.mark.parametrize("vector", GOLDEN["driven"], ids=lambda vector: vector["file"])
def test_a_driven_tool_leaves_the_golden_result(vector: Any, tmp_path: Path) -> None:
    """An import of the same file gives the same result, because both have one reader."""
    data = (CAPTURED / vector["file"]).read_bytes()
    request = DriveRequest(["x"], tmp_path)
    request.results.write_bytes(data)
    finished = FinishedStart(request, ProcessEnd(exit_code=0), data)
    assert result_id(find_harness(vector["harness"]).read(finished)) == vector["id"]


def test_a_benchmark_that_failed_in_jmh_is_a_case_of_its_start(tmp_path: Path) -> None:
    request = DriveRequest(["java"], tmp_path)
    request.results.write_bytes(b"[]")
    printed = (CAPTURED / "failures-jmh-1.37.txt").read_bytes()
    finished = FinishedStart(request, ProcessEnd(exit_code=0), printed)
    cases = find_harness("jmh").read(finished).cases
    assert [case.failure is not None for case in cases] == [True, True]


def test_a_cpu_time_too_small_to_tell_stays_a_metric(tmp_path: Path) -> None:
    """It was none of the comparison where the uncounted start had 0 of it."""
    end = ProcessEnd(exit_code=0, wall_ns=9_000, user_ns=0, system_ns=5_000)
    overhead = Overhead(wall_ns=1_000, system_ns=7_000)
    finished = FinishedStart(DriveRequest(["x"], tmp_path), end, b"", overhead)
    (case,) = find_harness("command").read(finished).cases
    assert {metric.name: metric.samples for metric in case.metrics} == {
        "time": [Sample(1, 8_000)],
        "user_time": [Sample(1, 1_000)],
        "system_time": [Sample(1, 1_000)],
    }


def test_results_beyond_the_limit_are_refused_unread(tmp_path: Path) -> None:
    request = DriveRequest(["x"], tmp_path)
    with request.results.open("wb") as file:
        file.truncate(1 << 30)  # a sparse file
    finished = FinishedStart(request, ProcessEnd(exit_code=0))
    with pytest.raises(ResultError, match="left 1,073,741,824 bytes of results"):
        find_harness("hyperfine").read(finished)


def test_each_harness_is_recognised_by_its_command(tmp_path: Path) -> None:
    (tmp_path / "bench").write_bytes(b"\x7fELF\0libbenchmark.so.1\0")
    (tmp_path / "tests").write_bytes(b"\x7fELF\0benchmark-confidence-interval\0")
    (tmp_path / "other").write_bytes(b"\x7fELF\0libc.so.6\0")
    (tmp_path / "sorts.py").write_text("import pyperf\n")
    manifest = tmp_path / "Cargo.toml"
    manifest.write_text('[dev-dependencies]\ndivan = "0.1"\n')
    assert detect_harness(["cargo", "bench"], tmp_path).name == "divan"
    manifest.write_text('[dev-dependencies.divan]\n[dependencies]\ncriterion = "0.5"\n')
    commands = {
        "go": ["go", "test", "-bench", "."],
        "pytest-benchmark": ["python3", "-m", "pytest", "bench"],
        "pyperf": ["python3", "sorts.py"],
        "criterion": ["cargo", "bench"],
        "hyperfine": ["hyperfine", "ls"],
        "google-benchmark": ["./bench"],
        "catch2": ["./tests"],
        "vitest": ["npx", "vitest", "bench"],
        "command": ["./other"],
    }
    found = {
        name: detect_harness(command, tmp_path).name
        for name, command in commands.items()
    }
    assert found == {name: name for name in commands}
    assert {*commands, "jmh", "divan"} == {*HARNESSES}
    assert [harness.name for harness in list_harnesses()] == [*HARNESSES]


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


@pytest.mark.parametrize(
    ("name", "command", "only", "added"),
    [
        (
            "go",
            ["go", "test", "-bench", ".", "./..."],
            ["BenchmarkSort/n=1", "BenchmarkSort/n=4"],
            "-bench=^(BenchmarkSort)$/^(n=1|n=4)$",
        ),
        (
            "go",
            ["./sorts.test", "-test.bench=."],
            ["example.org/a.BenchmarkSort/n=1", "b.BenchmarkReport-2"],
            r"-test.bench=^(BenchmarkReport|BenchmarkReport\-2|BenchmarkSort)$",
        ),
        (
            "jmh",
            ["java", "-jar", "b.jar", "Sorts"],
            ["org.example.Sorts.sort/64 (thrpt)", "org.example.Sorts.copy"],
            r"^(?!(org\.example\.Sorts\.copy|org\.example\.Sorts\.sort)$)",
        ),
        (
            "pytest-benchmark",
            ["python", "-m", "pytest", "bench", "-k", "."],
            ["bench/test_b.py::test_sum", "bench/test_b.py::TestBig::test_sort[10-a]"],
            "(.) and ((test_b.py and TestBig and test_sort[10-a]) or (test_b.py and test_sum))",
        ),
        (
            "pytest-benchmark",
            ["pytest"],
            ["test_b.py::test_sort[n = 1]", "test_b.py::test_sort[n = 2]"],
            "(test_b.py and test_sort)",
        ),
        (
            "criterion",
            ["cargo", "bench", "--exact", "."],
            ["sort/native/64", "n (odd)"],
            r"^(n \(odd\)|sort/native/64)$",
        ),
    ],
)
def test_a_harness_that_can_filter_runs_the_named_cases(
    name: str, command: list[str], only: list[str], added: str, tmp_path: Path
) -> None:
    request = DriveRequest(command, tmp_path, only=only)
    argv = find_harness(name).make_invocation(request).argv
    assert added in argv
    assert not {".", "-test.bench=."} & {*argv}, "the filter replaces the command's"


def test_the_cases_of_criterion_replace_patterns_alone(tmp_path: Path) -> None:
    own = "cargo bench -p a sort --features x --locked -- --sample-size 20 other --exact --noplot"
    request = DriveRequest(own.split(), tmp_path, only=["sort"])
    argv = find_harness("criterion").make_invocation(request).argv
    kept = (
        "cargo bench -p a --features x --locked -- --sample-size 20 --noplot ^(sort)$"
    )
    assert argv == kept.split()


def test_the_cases_of_divan_are_its_exact_filters(tmp_path: Path) -> None:
    """Its filters do not know the number of threads, so that all numbers of such a benchmark run."""
    own = "cargo bench --bench sorts -- other --min-time 0.1 --exact"
    only = ["sorts::shared::t=2", "sorts::text::c  d"]
    request = DriveRequest(own.split(), tmp_path, only=only)
    argv = find_harness("divan").make_invocation(request).argv
    kept = own.replace(" other", "").split()
    assert argv == [*kept, "sorts::shared", *only]
    whole = DriveRequest(own.split(), tmp_path)
    assert find_harness("divan").make_invocation(whole).argv == own.split()


def test_options_of_pyperf_stand_in_front_of_what_it_measures(tmp_path: Path) -> None:
    command = "python3 -m pyperf timeit -n 9 --output own.json -s x=[] x.copy()"
    request = DriveRequest(command.split(), tmp_path)
    argv = find_harness("pyperf").make_invocation(request).argv
    assert argv[:4] == ["python3", "-m", "pyperf", "timeit"]
    assert argv[-5:] == ["-n", "9", "-s", "x=[]", "x.copy()"]
    options = [word.partition("=")[0] for word in argv[4:-5]]
    assert options == [
        *("--output", "--processes", "--warmups", "--min-time", "--inherit-environ")
    ]


def test_options_of_the_program_that_pyperf_times_stay_its_own(tmp_path: Path) -> None:
    program = "tar -o own.tar -n 1 -w 2 --append x"
    command = f"python3 -m pyperf command -q -n 9 -o own.json {program}"
    request = DriveRequest(command.split(), tmp_path)
    argv = find_harness("pyperf").make_invocation(request).argv
    assert argv[-len(program.split()) :] == program.split()
    own = argv[: -len(program.split())]
    assert own[-3:] == ["-q", "-n", "9"]
    assert "own.json" not in own
    assert [word for word in own if word.startswith("--warmups")] == ["--warmups=1"]


@pytest.mark.parametrize("form", ["{option} own.json", "{option}=own.json"])
def test_results_go_to_the_file_of_paceline_whatever_file_a_user_gave(
    form: str, tmp_path: Path
) -> None:
    """What was left of an option was a path to collect tests from, or an option given twice, which tools refuse."""
    for name, program, option in (
        ("pytest-benchmark", "pytest", "--benchmark-json"),
        ("hyperfine", "hyperfine", "--export-json"),
        ("jmh", "java", "-rff"),
        ("catch2", "./tests", "--out"),
        ("vitest", "vitest", "--outputJson"),
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


@pytest.mark.parametrize(
    ("printed", "other"),
    [
        (
            b"sorts      fastest       \xe2\x94\x82 slowest\n",
            "Divan: give --harness divan",
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
    with pytest.raises(ResultError, match=re.escape(other)):
        find_harness("criterion").read(finished)


@pytest.mark.parametrize(
    ("env", "config", "apart"),
    [
        ({}, None, ""),
        ({"CARGO_TARGET_DIR": "/cache/target"}, None, "CARGO_TARGET_DIR"),
        ({"CARGO_BUILD_TARGET_DIR": "/cache/target"}, None, "CARGO_TARGET_DIR"),
        ({"CARGO_BUILD_BUILD_DIR": "/cache"}, None, "CARGO_BUILD_BUILD_DIR"),
        ({}, '[build]\nbuild-dir = "/cache"\n', "CARGO_BUILD_BUILD_DIR"),
        ({"CARGO_TARGET_DIR": "out"}, '[build]\ntarget-dir = "/cache"\n', ""),
        ({}, '[build]\ntarget-dir = "/cache"\n', "CARGO_TARGET_DIR"),
        ({}, "[build]\njobs = 1\n", ""),
        ({}, "build = [\n", ""),
    ],
)
def test_sides_of_cargo_are_kept_apart_where_settings_name_one_directory(
    env: dict[str, str],
    config: str | None,
    apart: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    if config is not None:
        (tmp_path / "config.toml").write_text(config)
    assert keep_target_apart() == ({apart: "target"} if apart else {})
