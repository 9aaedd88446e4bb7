"""Tests of `paceline run -- CMD` and `paceline ab --base REF -- CMD`: no suite.toml, real processes, and the judge's verdict."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from paceline import ab, driven
from paceline.errors import UserError
from paceline.executors.claim import Claimant
from paceline.executors.host import HostExecutor
from paceline.harnesses.plan import parse_arms
from paceline.layout import draw_layout_bytes
from paceline.outcome import Outcome
from paceline.stop import Stop, StopReason
from paceline_contract.items import SideName
from paceline_contract.text_names import make_name

from .conftest import git
from .harnesses.tool import TOOL
from .test_cli import paceline

# The tests say nothing about how busy the host is.
SHARED_HOST = {
    "PACELINE_PRESSURE_LIMIT_PERCENT": "100",
    "PACELINE_DRIFT_LIMIT_PERCENT": "100000",
}
BENCH = ["--", "python3", "bench.py"]
QUICK = ["--launches", "2", "--seed", "5"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout with the stand-in tool, two cases, one commit."""
    root = tmp_path / "theirs"
    root.mkdir()
    (root / "bench.py").write_text(TOOL)
    write_times(root, {"BM_sort/64": 100, "BM_sort/256": 400})
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "One")
    return root


def write_times(root: Path, times: dict[str, float | str]) -> None:
    (root / "times.json").write_text(json.dumps(times))


def commit(root: Path, **files: str) -> None:
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Next")


def command(
    name: str, root: Path, tmp_path: Path, *arguments: str, **env: str
) -> subprocess.CompletedProcess[str]:
    own = ["--out", str(tmp_path / "out")]
    own += ["--data", str(tmp_path / "state")] if name == "ab" else []
    return paceline(name, *own, *arguments, cwd=root, **{**SHARED_HOST, **env})


def verdicts(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return value


def test_a_planted_effect_is_found_and_the_same_code_is_not(
    repository: Path, tmp_path: Path
) -> None:
    write_times(repository, {"BM_same": 100, "BM_ten": 100, "BM_fifty": 100})
    commit(repository)
    write_times(repository, {"BM_same": 100, "BM_ten": 110, "BM_fifty": 150})
    commit(repository)
    done = command("ab", repository, tmp_path, "--base", "HEAD~1", "--json", *BENCH)
    assert done.returncode == 2, done.stderr
    found = {
        row["benchmark"]: row["verdict"]
        for row in verdicts(done)["jobs"][0]["comparisons"]
        if row["metric"] == "time"
    }
    expected = {"BM_same": "pass", "BM_ten": "fail", "BM_fifty": "fail"}
    assert found == {make_name(text): verdict for text, verdict in expected.items()}
    judge = Path(sys.executable).with_name("paceline-server")
    again = subprocess.run(
        [judge, "judge", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **SHARED_HOST},
    )
    assert (again.returncode, "FAIL" in again.stdout) == (2, True)


@pytest.mark.skipif(
    shutil.which("cargo") is None, reason="this machine has no Rust toolchain"
)
@pytest.mark.parametrize("variable", ["CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"])
def test_two_sides_of_cargo_are_two_programs_where_settings_name_one_directory(
    variable: str, tmp_path: Path
) -> None:
    """In a directory that both share, cargo takes the program of the side that was built first for the other's, too."""
    root = tmp_path / "crate"
    (root / "src").mkdir(parents=True)
    package = '[package]\nname = "naps"\nversion = "0.1.0"\nedition = "2021"\n'
    (root / "Cargo.toml").write_text(package)
    git(root, "init", "--quiet", "--initial-branch=main")
    for milliseconds in (0, 600):
        nap = f"std::time::Duration::from_millis({milliseconds})"
        text = f"fn main() {{ std::thread::sleep({nap}); }}\n"
        (root / "src" / "main.rs").write_text(text)
        git(root, "add", ".")
        git(root, "commit", "--quiet", "-m", "Next")
    options = ("--base", "HEAD~1", "--json", *QUICK, "--", "cargo", "run", "--quiet")
    shared = tmp_path / "shared"
    done = command("ab", root, tmp_path, *options, **{variable: str(shared)})
    ratios = {
        row["metric"]: row["ratio"] for row in verdicts(done)["jobs"][0]["comparisons"]
    }
    assert ratios["time"] > 1.5
    assert not shared.exists()


def test_a_plain_command_is_timed_as_a_process_with_its_memory(
    repository: Path, tmp_path: Path
) -> None:
    script = "import os, time; data = bytearray({size}); time.sleep({seconds})\n"
    script += "seen = str(len(os.environ.get('PACELINE_LAYOUT', '')))\n"
    script += "open(os.environ['SEEN'], 'a').write(seen + '\\n')\n"
    commit(repository, work__py=script.format(size=1, seconds=0.05))
    commit(repository, work__py=script.format(size=200 << 20, seconds=1))
    done = command(
        "ab",
        repository,
        tmp_path,
        *(
            "--base",
            "HEAD~1",
            "--json",
        ),
        *("--launches", "3", "--fail-on", "never", "--", "python3", "work.py"),
        SEEN=str(tmp_path / "seen"),
    )
    assert done.returncode == 0, done.stderr
    drawn = set()
    for stream in (tmp_path / "out").glob("launch-*.jsonl"):
        start = json.loads(stream.read_text().splitlines()[0])
        side = stream.name.split(".")[1]
        named = start["seed"], start["launch"], start["workload"], cast(SideName, side)
        drawn.add(draw_layout_bytes(*named))
    seen = {*map(int, (tmp_path / "seen").read_text().split())}
    assert len(drawn) > 1
    assert drawn <= seen, "each start of the command has the layout of its launch"
    rows = {row["metric"]: row for row in verdicts(done)["jobs"][0]["comparisons"]}
    assert rows["time"]["ratio"] > 1.5
    assert rows["peak_memory"]["ratio"] > 2
    assert rows["time"]["reason"].startswith("insufficient")


def test_arms_are_mapped_and_each_runs_in_a_process_of_its_own(
    repository: Path, tmp_path: Path
) -> None:
    times: dict[str, float | str] = {"BM_native_sort": 150, "BM_kotlin_sort": 100}
    write_times(repository, times)
    counter = tmp_path / "starts.txt"
    counter.write_text("")
    done = command(
        "run",
        repository,
        tmp_path,
        *(
            *QUICK,
            "--reference",
            "fallback",
        ),
        *("--arm", "native=BM_native_(.*)", "--arm", "fallback=BM_kotlin_(.*)"),
        *BENCH,
        TOOL_COUNTER=str(counter),
    )
    assert done.returncode == 3, done.stderr
    assert "sort: time, reference fallback" in done.stdout
    assert "% slower" in done.stdout
    starts = counter.read_text().splitlines()
    assert starts[0] == "all"
    assert sorted(starts[1:]) == sorted(
        2 * ["^(BM_native_sort)$", "^(BM_kotlin_sort)$"]
    )
    # Balanced: whichever arm went first goes second in the other launch.
    assert starts[1] == starts[4]


def test_a_run_for_programs_prints_its_record_alone_and_exits_by_the_verdict(
    repository: Path, tmp_path: Path
) -> None:
    """Standard output is one document, also where arms are judged."""
    write_times(repository, {"BM_native_sort": 300, "BM_kotlin_sort": 100})
    arms = ("--arm", "native=BM_native_(.*)", "--arm", "fallback=BM_kotlin_(.*)")
    done = command(
        "run",
        repository,
        tmp_path,
        *("--json", "--reference", "fallback", *arms, *BENCH),
    )
    assert done.returncode == 2, done.stderr
    printed = json.loads(done.stdout)
    assert printed.pop("directory") == str(tmp_path / "out")
    assert printed == json.loads((tmp_path / "out" / "run.json").read_text())
    assert "sort: time, reference fallback" in done.stderr


def test_cases_of_one_side_only_are_named(repository: Path, tmp_path: Path) -> None:
    write_times(repository, {"BM_sort/64": 100, "BM_fresh": 1})
    commit(repository)
    arguments = ("--base", "HEAD~1", *QUICK, *BENCH)
    done = command("ab", repository, tmp_path, *arguments)
    assert "new        BM_fresh (only head declares it)" in done.stdout
    assert "BM_sort case=256" in done.stdout
    assert "__" not in done.stdout


def test_a_benchmark_is_chosen_by_the_text_that_the_tool_prints(
    repository: Path, tmp_path: Path
) -> None:
    write_times(repository, {"BM_sort/64": 100, "BM_fresh": 1})
    commit(repository)
    commit(repository, other__txt="x")
    arguments = ("--base", "HEAD~1", "--benchmark", "BM_fresh", *QUICK, *BENCH)
    done = command("ab", repository, tmp_path, *arguments)
    assert "BM_fresh: time, head against base" in done.stdout, done.stderr
    assert "BM_sort" not in done.stdout


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("fails", "exited with status 3; figures of a command that fails do not count"),
        (
            "not a number",
            "real_time of BM_sort/64: expected a figure from 0, found nan",
        ),
        ("twice", "several cases are called BM_sort/64"),
        ("no results", "left no results"),
        ("asks", "EOFError: EOF when reading a line"),
        ("forever", "still ran after 2 s, the limit of --timeout-s, and was killed"),
    ],
)
def test_a_command_that_misbehaves_has_no_figures_and_says_which_side(
    repository: Path, tmp_path: Path, mode: str, said: str
) -> None:
    commit(repository, mode__txt=mode)
    limit = "2" if mode == "forever" else "600"
    done = command(
        "ab",
        repository,
        tmp_path,
        *(
            "--base",
            "HEAD~1",
            *QUICK,
        ),
        *("--timeout-s", limit, *BENCH),
    )
    assert done.returncode == 1
    assert said in " ".join(done.stderr.split())
    assert "head (" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_metric_that_the_uncounted_start_lacks_is_left_out(
    repository: Path, tmp_path: Path
) -> None:
    """A server refuses samples of a metric that the manifest made of that start does not declare."""
    commit(repository, mode__txt="first without")
    counter = tmp_path / "starts"
    counter.touch()
    done = command(
        "run", repository, tmp_path, *QUICK, *BENCH, TOOL_COUNTER=str(counter)
    )
    assert done.returncode == 0, done.stderr
    streams = [path.read_text() for path in (tmp_path / "out").glob("launch-*.jsonl")]
    events = [json.loads(line) for text in streams for line in text.splitlines()]
    measured = {event["metric"] for event in events if event["type"] == "samples"}
    assert (len(streams), measured) == (2, {"time"})


def test_what_a_failing_command_printed_is_shown(
    repository: Path, tmp_path: Path
) -> None:
    commit(repository, mode__txt="fails")
    done = command("run", repository, tmp_path, *QUICK, *BENCH)
    assert (done.returncode, "heap is corrupt" in done.stderr) == (1, True)


def test_a_case_that_fails_is_no_figure(repository: Path, tmp_path: Path) -> None:
    write_times(repository, {"BM_sort/64": 100, "BM_broken": "no such file"})
    done = command("run", repository, tmp_path, *QUICK, *BENCH)
    assert done.returncode == 1
    assert "ran BM_broken, which failed: no such file" in done.stderr


def test_a_launch_that_fails_ends_the_measurement(
    repository: Path, tmp_path: Path
) -> None:
    done = command(
        "run",
        repository,
        tmp_path,
        *(*QUICK,),
        *("--prepare", "test -e listed && echo fails > mode.txt || touch listed"),
        *BENCH,
    )
    assert done.returncode == 1
    assert "command_failed: exited with status 3" in " ".join(done.stderr.split())
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["failure"]["cause"] == "workload_error"


def test_a_base_that_does_not_build_is_named(repository: Path, tmp_path: Path) -> None:
    commit(repository, build__sh="exit 0\n")
    done = command(
        "ab",
        repository,
        tmp_path,
        *(
            "--base",
            "HEAD~1",
            *QUICK,
        ),
        *("--build", "sh build.sh", *BENCH),
    )
    assert done.returncode == 1
    assert f"base ({git(repository, 'rev-parse', 'HEAD~1')[:12]})" in done.stderr
    assert "sh build.sh" in done.stderr


def test_a_suite_in_the_place_of_a_command_is_refused(
    repository: Path, tmp_path: Path
) -> None:
    done = command("ab", repository, tmp_path, "--base", "HEAD", "perf/suite.toml")
    assert done.returncode == 1
    assert "paceline ab --base HEAD --suite perf/suite.toml" in done.stderr


def test_uncommitted_changes_are_not_measured(repository: Path, tmp_path: Path) -> None:
    commit(repository, other__txt="x")
    write_times(repository, {"BM_dirty": 1})
    arguments = ("--base", "HEAD~1", *QUICK, *BENCH)
    done = command("ab", repository, tmp_path, *arguments)
    assert "changes that are not committed; they are not measured" in done.stderr
    assert "BM_dirty" not in done.stdout


def test_a_directory_below_the_top_is_measured_in_that_directory(
    repository: Path, tmp_path: Path
) -> None:
    below = repository / "below"
    below.mkdir()
    (below / "bench.py").write_text(TOOL)
    write_times(below, {"BM_below": 5})
    commit(repository)
    commit(repository, other__txt="x")
    arguments = ("--base", "HEAD~1", *QUICK, *BENCH)
    done = command("ab", below, tmp_path, *arguments)
    assert "BM_below: time, head against base" in done.stdout, done.stderr


def test_equal_sources_are_identical_unless_they_shall_be_measured(
    repository: Path, tmp_path: Path
) -> None:
    commit(repository, other__txt="x")
    git(repository, "revert", "--no-edit", "HEAD")
    arguments = ("--base", "HEAD~2", *QUICK)
    done = command("ab", repository, tmp_path, *arguments, *BENCH)
    assert done.returncode == 0, done.stderr
    assert "nothing slower: 1 benchmark is not affected" in done.stdout
    assert not list((tmp_path / "out").glob("launch-*"))
    shutil.rmtree(tmp_path / "out")
    done = command(
        "ab", repository, tmp_path, *arguments, "--measure-identical", *BENCH
    )
    assert (done.returncode, len(list((tmp_path / "out").glob("launch-*")))) == (3, 4)


def test_steps_around_a_command_run_where_it_runs(
    repository: Path, tmp_path: Path
) -> None:
    done = command(
        "run",
        repository,
        tmp_path,
        *(
            "--launches",
            "3",
        ),
        *("--setup", "echo setup >> steps", "--prepare", "echo prepare >> steps"),
        *("--cleanup", "echo cleanup >> steps", "--", "true"),
    )
    assert done.returncode == 0, done.stderr
    steps = (repository / "steps").read_text().split()
    assert steps == ["setup", *4 * ["prepare"], "cleanup"]


def test_the_time_of_a_shell_is_subtracted(repository: Path, tmp_path: Path) -> None:
    done = command(
        "run",
        repository,
        tmp_path,
        *(
            "--launches",
            "1",
            "--shell",
            "sh",
        ),
        *("--", "sleep 0.2 && true"),
    )
    assert done.returncode == 0, done.stderr
    spec = json.loads((tmp_path / "out" / "drive.json").read_text())
    assert spec["overhead"]["wall_ns"] > 0
    assert spec["command"] == ["sh", "-c", "sleep 0.2 && true"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Nothing is named to measure"),
        (("--build", "true", "--", "no-such-program"), "could not be started"),
        (("--harness", "nope", "--", "ls"), "There is no harness 'nope'"),
        (("--params", "n=1", "--", "ls"), "--params is an option of suites only"),
        (("--shell", "sh", "suite.toml"), "--shell is an option of commands only"),
        (("perf",), "Give its suite: paceline run perf/suite.toml"),
    ],
)
def test_what_cannot_be_run_is_said(
    repository: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (repository / "perf").mkdir()
    (repository / "perf" / "suite.toml").touch()
    done = command("run", repository, tmp_path, *arguments)
    assert (done.returncode, said in done.stderr) == (1, True), done.stderr


@pytest.mark.skipif(
    shutil.which("go") is None, reason="this machine has no Go toolchain"
)
def test_the_real_go_is_driven(repository: Path, tmp_path: Path) -> None:
    test = 'package x\nimport "testing"\nfunc BenchmarkX(b *testing.B) {{ for i := 0; i < b.N*{}; i++ {{ f(i) }} }}\n//go:noinline\nfunc f(i int) int {{ return i * i }}\n'
    commit(repository, go__mod="module x\ngo 1.18\n", x_test__go=test.format(1))
    commit(repository, x_test__go=test.format(40))
    done = command(
        "ab",
        repository,
        tmp_path,
        *(
            "--base",
            "HEAD~1",
            "--launches",
            "2",
            "--json",
        ),
        *("--min-time-ns", "1000000", "--fail-on", "never", "--", "go", "test", "."),
    )
    assert done.returncode == 0, done.stderr
    comparisons = verdicts(done)["jobs"][0]["comparisons"]
    ratios = [row["ratio"] for row in comparisons if row["metric"] == "time"]
    assert len(ratios) == 1
    assert ratios[0] > 1.5


def test_results_in_a_checkout_are_no_change_of_it(repository: Path) -> None:
    """The second run measures the same commit, and a command that fails leaves no folder."""
    for _ in range(2):
        done = paceline(
            "run", "--launches", "1", "--json", "--", "true", cwd=repository
        )
        assert done.returncode == 0, done.stderr
        revision = json.loads(done.stdout)["revision"]
        assert revision == git(repository, "rev-parse", "HEAD")
    assert git(repository, "status", "--porcelain") == ""
    done = paceline("run", "--", "false", cwd=repository)
    assert done.returncode == 1
    kept = (repository / "paceline-runs").glob("*-*")
    assert [path.name[:5] for path in kept] == ["true-"] * 2


HEADER = Path("/usr/include/benchmark/benchmark.h")


@pytest.mark.skipif(
    not HEADER.exists() or shutil.which("c++") is None,
    reason="this machine has no C++ library of Google Benchmark",
)
def test_the_real_google_benchmark_is_driven(repository: Path, tmp_path: Path) -> None:
    source = "#include <benchmark/benchmark.h>\nstatic void BM_loop(benchmark::State& s) {{ for (auto _ : s) for (int i = 0; i < {}; i++) benchmark::DoNotOptimize(i); }}\nBENCHMARK(BM_loop);\nBENCHMARK_MAIN();\n"
    commit(repository, b__cc=source.format(1000))
    commit(repository, b__cc=source.format(40_000))
    done = command(
        "ab",
        repository,
        tmp_path,
        *(
            "--base",
            "HEAD~1",
            "--launches",
            "2",
            "--json",
        ),
        *("--build", "c++ -O1 b.cc -lbenchmark -lpthread -o b", "--fail-on", "never"),
        *("--min-time-ns", "1000000", "--", "./b"),
    )
    assert done.returncode == 0, done.stderr
    comparisons = verdicts(done)["jobs"][0]["comparisons"]
    assert [row["ratio"] > 1.5 for row in comparisons if row["metric"] == "time"] == [
        True
    ]


class HolderDisplay:
    """A display that, when the target is free at last, asks as another one who holds it."""

    def __init__(self, stop: Stop, locks: Path) -> None:
        self.phases: list[str] = []
        self.holder: list[str] = []
        self.stop, self._locks = stop, locks

    def phase(self, text: str) -> None:
        self.phases.append(text)
        if text.startswith("waiting"):
            self.stop.set(StopReason.CANCELLED)
            return
        by = Claimant("another", self.holder.append)
        with HostExecutor("here", lock_dir=self._locks).claim(Stop(), 0.0, by):
            raise UserError("This is all that the test needs.")

    def log(self, lines: list[str]) -> None: ...

    def launch(self, number: int, total: int, workload: str) -> None: ...

    def progress(self, done: int, total: int) -> None: ...


def measure(
    name: str, program: str, tmp_path: Path, display: HolderDisplay, locks: Path
) -> Outcome:
    """Measure `program` as `paceline NAME` does."""
    request = driven.CommandRequest([program], parse_arms([], None))
    executor = HostExecutor("here", lock_dir=locks)
    out, stop = tmp_path / "out", display.stop
    if name == "run":
        return driven.run(request, out, executor=executor, display=display, stop=stop)
    pair = ab.comparison("main", "main", None, of_command=True)
    return driven.compare(
        ab.ComparisonWorkspace(pair, tmp_path / "state"),
        request,
        out,
        measures_identical=False,
        executor=executor,
        display=display,
        stop=stop,
    )


@pytest.mark.parametrize(
    ("name", "program"),
    [("run", "./nosuchcmd"), ("run", "nosuchcmd"), ("ab", "nosuchcmd")],
)
def test_nobody_waits_to_learn_that_a_program_is_missing(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    program: str,
) -> None:
    monkeypatch.chdir(repository)
    locks = tmp_path / "locks"
    locks.mkdir()
    display = HolderDisplay(Stop(), locks)
    with (
        HostExecutor("here", lock_dir=locks).claim(Stop()),
        pytest.raises(UserError, match="started: there is no such"),
    ):
        measure(name, program, tmp_path, display, locks)
    assert display.phases == []


@pytest.mark.parametrize("name", ["run", "ab"])
def test_who_waits_and_who_holds_the_target_are_named_of_a_command_too(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(repository)
    locks = tmp_path / "locks"
    locks.mkdir()
    display = HolderDisplay(Stop(), locks)
    other = HostExecutor("here", lock_dir=locks)
    with other.claim(Stop(), by=Claimant("paceline run of other")):
        outcome = measure(name, "true", tmp_path, display, locks)
    assert outcome.cause == "cancelled"
    said = "waiting for the target: paceline run of other (process "
    assert [phase[: len(said)] for phase in display.phases] == [said]

    display = HolderDisplay(Stop(), locks)
    with pytest.raises(UserError, match="all that the test needs"):
        measure(name, "true", tmp_path, display, locks)
    (holder,) = display.holder
    assert holder.startswith(f"paceline {name} of true (process ")
