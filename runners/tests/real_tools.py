"""Drives the real tools: what each of them measures becomes cases, samples and verdicts.

Only `make test-harnesses` has the tools, so pytest does not collect this module by itself. It says in
`PACELINE_HARNESS_TOOLS` where they are.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .conftest import git
from .test_cli import paceline

TOOLS = Path(os.environ["PACELINE_HARNESS_TOOLS"])
POM = (TOOLS / "pom.xml").read_text()


class Project(NamedTuple):
    """A repository with benchmarks of one tool."""

    files: dict[str, str]
    command: list[str]
    cases: int
    build: str = "true"
    metrics: frozenset[str] = frozenset({"time"})


PROJECTS = {
    "pytest-benchmark": Project(
        {
            "test_sorts.py": "def test_sort(benchmark):\n    benchmark(sorted, [3, 1, 2])\n\n"
            "def test_reverse(benchmark):\n    benchmark(list, reversed([3, 1, 2]))\n"
        },
        ["pytest", "test_sorts.py"],
        2,
    ),
    "pyperf": Project(
        {
            "sorts.py": "import pyperf\nrunner = pyperf.Runner()\n"
            "runner.bench_func('sort', sorted, [3, 1, 2])\n"
            "runner.bench_func('list', list, [3, 1, 2])\n"
        },
        ["python3", "sorts.py"],
        2,
    ),
    "google-benchmark": Project(
        {
            "sorts.py": "import google_benchmark\n\n@google_benchmark.register\n"
            "def sort(state):\n    while state:\n        sorted([3, 1, 2])\n\n"
            "google_benchmark.main()\n"
        },
        ["python3", "sorts.py"],
        1,
        metrics=frozenset({"time", "cpu_time"}),
    ),
    "go": Project(
        {
            "go.mod": "module sorts\n\ngo 1.18\n",
            "sorts_test.go": 'package sorts\n\nimport (\n\t"sort"\n\t"testing"\n)\n\n'
            "func BenchmarkSort(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n"
            "\t\tsort.Ints([]int{3, 1, 2})\n\t}\n}\n",
        },
        ["go", "test", "."],
        1,
    ),
    "criterion": Project(
        {
            "Cargo.toml": '[package]\nname = "sorts"\nversion = "0.1.0"\nedition = "2021"\n\n'
            '[dev-dependencies]\ncriterion = { version = "=0.5.1", default-features = false, '
            'features = ["cargo_bench_support"] }\n\n[[bench]]\nname = "sorts"\nharness = false\n',
            "src/lib.rs": "",
            "benches/sorts.rs": "use criterion::{criterion_group, criterion_main, Criterion};\n"
            'fn sort(c: &mut Criterion) { c.bench_function("sort", |b| b.iter(|| { let mut v = '
            "std::hint::black_box(vec![3, 1, 2]); v.sort(); v })); }\n"
            "criterion_group!(benches, sort);\ncriterion_main!(benches);\n",
        },
        [
            *("cargo", "bench", "--bench", "sorts", "--", "--sample-size", "10"),
            *("--warm-up-time", "0.1", "--measurement-time", "0.2"),
        ],
        1,
    ),
    "divan": Project(
        {
            "Cargo.toml": '[package]\nname = "sorts"\nversion = "0.1.0"\nedition = "2021"\n\n'
            '[dev-dependencies]\ndivan = { version = "=0.1.21", default-features = false }\n\n'
            '[[bench]]\nname = "sorts"\nharness = false\n',
            "src/lib.rs": "",
            "benches/sorts.rs": "fn main() { divan::main(); }\n"
            "#[divan::bench(args = [3, 30])]\nfn sort(size: u32) -> Vec<u32> "
            "{ let mut v: Vec<u32> = (0..size).rev().collect(); v.sort(); v }\n",
        },
        ["cargo", "bench"],
        2,
    ),
    "jmh": Project(
        {
            "pom.xml": POM,
            "src/main/java/org/example/Sorts.java": "package org.example;\n"
            "import org.openjdk.jmh.annotations.*;\nimport java.util.concurrent.TimeUnit;\n"
            "@State(Scope.Benchmark) @BenchmarkMode(Mode.AverageTime) @OutputTimeUnit(TimeUnit.NANOSECONDS)\n"
            "public class Sorts {\n"
            '  @Param({"1", "2"}) public int size;\n'
            "  @Benchmark public int[] copy() { return new int[size]; }\n}\n",
        },
        ["java", "-jar", "target/benchmarks.jar"],
        2,
        "mvn -q -B package",
    ),
    "hyperfine": Project({"a": ""}, ["hyperfine", "-N", "sleep 0.01"], 1),
    "vitest": Project(
        {
            "package.json": '{"name": "sorts", "type": "module", "private": true}\n',
            "sorts.bench.js": "import { bench } from 'vitest'\n"
            "bench('sort', () => { [3, 1, 2].sort() }, { time: 20, warmupTime: 5 })\n",
        },
        ["npx", "vitest", "bench"],
        1,
        f"ln -sfn {TOOLS / 'node_modules'} node_modules",
    ),
    "catch2": Project(
        {
            "sorts.cpp": "#define CATCH_CONFIG_MAIN\n#define CATCH_CONFIG_ENABLE_BENCHMARKING\n"
            '#include <catch2/catch.hpp>\n#include <algorithm>\n#include <vector>\nTEST_CASE("sorts") {\n'
            '  BENCHMARK("three") { std::vector<int> v{3, 1, 2}; std::sort(v.begin(), v.end()); return v; };\n}\n'
        },
        ["./sorts", "--benchmark-samples", "10"],
        1,
        f"test -e {TOOLS}/sorts || c++ -O1 sorts.cpp -o {TOOLS}/sorts; cp {TOOLS}/sorts sorts",
    ),
}
"""Each by its harness, which the command alone must tell."""

QUICK = ("--seed", "5", "--min-time-ns", "1000000")


@pytest.fixture
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    project = PROJECTS[request.param]
    root = tmp_path / "theirs"
    for name, text in project.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "One")
    return root


def measure(name: str, root: Path, tmp_path: Path, *arguments: str) -> Any:
    project = PROJECTS[name]
    done = paceline(
        *arguments,
        *("--out", str(tmp_path / "out"), "--json", "--build", project.build, *QUICK),
        *("--", *project.command),
        cwd=root,
        PACELINE_PRESSURE_LIMIT_PERCENT="100",
        PACELINE_DRIFT_LIMIT_PERCENT="100000",
        CARGO_TARGET_DIR=str(TOOLS / "target"),
    )
    assert done.returncode in {0, 2, 3}, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("repository", "name"), [(name, name) for name in PROJECTS], indirect=["repository"]
)
def test_a_real_tool_gives_cases_and_samples(
    repository: Path, name: str, tmp_path: Path
) -> None:
    project = PROJECTS[name]
    measure(name, repository, tmp_path, "run", "--launches", "2")
    spec = json.loads((tmp_path / "out" / "drive.json").read_bytes())
    assert (spec["harness"], len(spec["cases"])) == (name, project.cases)
    streams = sorted((tmp_path / "out").glob("launch-*.jsonl"))
    assert len(streams) == 2
    for stream in streams:
        events = [json.loads(line) for line in stream.read_text().splitlines()]
        samples = [event for event in events if event["type"] == "samples"]
        assert {event["case"] for event in samples} == {*range(project.cases)}
        assert {event["metric"] for event in samples} >= project.metrics
        assert all(min(event["values"]) > 0 for event in samples)


@pytest.mark.parametrize(
    ("repository", "name"), [(name, name) for name in PROJECTS], indirect=["repository"]
)
def test_the_cases_of_two_sides_of_a_real_tool_are_compared(
    repository: Path, name: str, tmp_path: Path
) -> None:
    """Of three launches, which are too few for a verdict: no case has one."""
    options = ("--base", "HEAD", "--launches", "3", "--data", str(tmp_path / "state"))
    verdicts = measure(name, repository, tmp_path, "ab", *options)
    comparisons = verdicts["jobs"][0]["comparisons"]
    times = [row for row in comparisons if row["metric"] == "time"]
    assert len(times) == PROJECTS[name].cases
    assert {row["verdict"] for row in times} == {"inconclusive"}


LOOPS = {
    "pytest-benchmark": (
        "test_sorts.py",
        "def test_sort(benchmark):\n    benchmark(lambda: sum(range(%d)))\n\n"
        "def test_reverse(benchmark):\n    benchmark(list, reversed([3, 1, 2]))\n",
    ),
    "hyperfine": ("a", "i=0; while [ $i -lt %d0 ]; do i=$((i+1)); done\n"),
    "criterion": (
        "benches/sorts.rs",
        "use criterion::{criterion_group, criterion_main, Criterion};\n"
        "fn sum(n: u64) -> u64 { (0..n).fold(0, |s, i| s * 31 + (i ^ (s >> 3))) }\n"
        'fn sort(c: &mut Criterion) { c.bench_function("sort", |b| '
        "b.iter(|| sum(std::hint::black_box(%d)))); }\n"
        "criterion_group!(benches, sort);\ncriterion_main!(benches);\n",
    ),
}
"""A file of some of the projects with a loop of so many rounds."""


@pytest.mark.parametrize(
    ("repository", "name"), [(name, name) for name in LOOPS], indirect=["repository"]
)
def test_what_became_slower_fails_and_what_did_not_does_not(
    repository: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of as many launches as the command starts by default. Half as slow again is more than a shared host adds."""
    path, text = LOOPS[name]
    if name == "hyperfine":
        project = PROJECTS[name]._replace(command=["hyperfine", "-N", "sh a"])
        monkeypatch.setitem(PROJECTS, name, project)
    for rounds in (2_000, 3_000):
        (repository / path).write_text(text % rounds)
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "-m", str(rounds))
    found: dict[str, set[str]] = {}
    for base in ("HEAD~1", "HEAD"):
        options = ("--base", base, "--data", str(tmp_path / "state"))
        verdicts = measure(name, repository, tmp_path / base, "ab", *options)
        rows = verdicts["jobs"][0]["comparisons"]
        found[base] = {row["verdict"] for row in rows if row["metric"] == "time"}
    assert "fail" in found["HEAD~1"]
    assert "fail" not in found["HEAD"]


def test_all_tools_are_here() -> None:
    """A tool that is missing would be told by no other test than its own."""
    programs = ("pytest", "go", "cargo", "java", "mvn", "hyperfine", "npx", "c++")
    assert [name for name in programs if shutil.which(name) is None] == []
