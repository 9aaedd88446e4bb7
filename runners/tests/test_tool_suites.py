"""Tests of `paceline new DIRECTORY -- COMMAND`: what it writes is valid and is measured at once, with real processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paceline.harnesses import HARNESSES
from paceline.manifest import load

from .conftest import git
from .harnesses.tool import TOOL
from .test_cli import paceline
from .test_driven import write_times

BENCH = ["--", "python3", "bench.py"]
QUICK = ["--launches", "1", "--rounds", "1"]


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A checkout with the stand-in tool, of which git ignores `out`."""
    root = tmp_path / "their-parser"
    root.mkdir()
    (root / "bench.py").write_text(TOOL)
    (root / ".gitignore").write_text("out/\n")
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "One")
    return root


def measured_cases(root: Path) -> set[tuple[str, str, str]]:
    """The benchmark, arm and params of each case that one round of the suite measures, which validate accepts."""
    done = paceline("run", "suite.toml", *QUICK, "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    checked = paceline("validate", "suite.toml", cwd=root)
    assert checked.returncode == 0, checked.stderr
    assert "Not looked at" not in checked.stderr
    (stream,) = Path(json.loads(done.stdout)["directory"]).glob("launch-*.jsonl")
    events = [json.loads(line) for line in stream.read_text().splitlines()]
    return {
        (event["benchmark"], event["arm"], str(event["params"].get("case", "")))
        for event in events
        if event["type"] == "case"
    }


def test_a_suite_of_a_tool_declares_what_it_lists_and_is_measured_at_once(
    theirs: Path,
) -> None:
    """The copy in which a launch runs has what the program reads beside itself."""
    write_times(
        theirs,
        {
            "sort/64": 100,
            "sort/256": 400,
            "parse": 7,
            "parse/deep": 9,
            "BM_broken": "no such file",
        },
    )
    done = paceline("new", ".", *BENCH, cwd=theirs)
    assert done.returncode == 0, done.stderr
    assert "wrote suite.toml" in done.stdout
    told = " ".join(done.stderr.split())
    assert "warning: BM_broken is not declared: no such file." in told
    assert "It declares 4 cases in 2 benchmarks of Google Benchmark." in told
    suite = load(theirs / "suite.toml")
    assert suite.suite.name == "their_parser"
    (workload,) = suite.workloads
    assert workload.host is not None
    assert workload.host.artifacts == ["bench.py", "times.json"]
    assert suite.benchmarks["sort"].params["case"].values == [64, 256]
    assert [*suite.benchmarks["sort"].metrics] == ["time", "cpu_time"]
    assert measured_cases(theirs) == {
        ("sort", "code", "64"),
        ("sort", "code", "256"),
        ("parse", "code", "-"),
        ("parse", "code", "deep"),
    }


def test_arms_are_declared_by_their_patterns(theirs: Path) -> None:
    write_times(theirs, {"BM_native_sort": 1, "BM_kotlin_sort": 2, "BM_other": 3})
    arms = ["--arm", "native=BM_native_(.*)", "--arm", r"kotlin=BM_kotlin_(\w*)"]
    done = paceline("new", ".", *arms, "--reference", "kotlin", *BENCH, cwd=theirs)
    assert done.returncode == 0, done.stderr
    assert "warning: no --arm names BM_other: left out" in done.stderr
    assert load(theirs / "suite.toml").benchmarks["sort"].reference == "kotlin"
    assert measured_cases(theirs) == {("sort", "native", ""), ("sort", "kotlin", "")}


def test_of_a_built_program_the_suite_has_only_that_and_what_makes_it(
    theirs: Path,
) -> None:
    build = "mkdir -p out && echo '#!/bin/sh' >out/work && chmod +x out/work"
    done = paceline("new", ".", "--build", build, "--", "./out/work", cwd=theirs)
    assert done.returncode == 0, done.stderr
    assert "no harness was recognised" in " ".join(done.stderr.split())
    (workload,) = load(theirs / "suite.toml").workloads
    assert workload.host is not None
    assert (workload.host.artifacts, workload.host.command) == (
        ["out/work"],
        ["./work"],
    )
    (theirs / "out" / "work").unlink()
    assert len(measured_cases(theirs)) == 1
    (theirs / "suite.toml").unlink()
    without_build = paceline("new", ".", "--", "./out/work", cwd=theirs)
    assert without_build.returncode == 0, without_build.stderr
    told = " ".join(without_build.stderr.split())
    assert "git does not have out/work, and agents and `paceline ab` measure" in told


def test_what_git_ignores_is_copied_where_the_command_needs_it(theirs: Path) -> None:
    (theirs / "out").mkdir()
    git(theirs, "mv", "bench.py", "run.py")
    write_times(theirs / "out", {"sort": 1})
    code = (theirs / "run.py").read_text()
    (theirs / "run.py").write_text(
        code.replace('here / "times.json"', 'here / "out" / "times.json"')
    )
    done = paceline("new", ".", "--", "python3", "run.py", cwd=theirs)
    assert done.returncode == 0, done.stderr
    (workload,) = load(theirs / "suite.toml").workloads
    assert workload.host is not None
    assert workload.host.artifacts == ["out", "run.py"]
    assert measured_cases(theirs) == {("sort", "code", "")}


def test_a_command_that_reads_nothing_of_a_directory_needs_none(tmp_path: Path) -> None:
    command = ["--harness", "command", "--", "python3", "-c", 'print("\\"\x7fé")']
    done = paceline("new", "speed", *command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    suite = load(tmp_path / "speed" / "suite.toml")
    (workload,) = suite.workloads
    assert workload.host is not None
    assert workload.host.command == command[3:]
    assert len(measured_cases(tmp_path / "speed")) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            [".", "--harness", "googletest", *BENCH],
            "There is no harness 'googletest'. Use one of: " + ", ".join(HARNESSES),
        ),
        (
            ["speed", *BENCH],
            "`python3 bench.py` exited with status 2",
        ),
        ([".", "--", "./bench"], "`./bench` could not be started: "),
        ([".", *BENCH], "`python3 bench.py` lists no case as Google Benchmark."),
        (
            [".", "--build", "echo no compiler; exit 3", *BENCH],
            "no compiler",
        ),
        (
            [".", "--arm", "native=BM_(.*)"],
            "--arm is an option of commands only.",
        ),
    ],
)
def test_what_cannot_become_a_suite_is_said_with_what_to_do(
    theirs: Path, arguments: list[str], said: str
) -> None:
    write_times(theirs, {})
    done = paceline("new", *arguments, cwd=theirs)
    told = " ".join(done.stderr.split())
    assert (done.returncode, said in told) == (1, True), told
    assert not [*theirs.rglob("suite.toml")]


def test_a_failing_tool_shows_what_it_printed_and_an_existing_suite_stays(
    theirs: Path,
) -> None:
    write_times(theirs, {"sort": 1})
    (theirs / "mode.txt").write_text("fails")
    done = paceline("new", ".", *BENCH, cwd=theirs)
    told = " ".join(done.stderr.split())
    assert "heap is corrupt" in told
    assert "It was started in a copy of ., as launches are." in told
    (theirs / "suite.toml").write_text("mine")
    done = paceline("new", ".", *BENCH, cwd=theirs)
    assert "suite.toml exists already, so nothing was written." in done.stderr
    assert (theirs / "suite.toml").read_text() == "mine"
