"""Tests of suites whose workload is another tool's harness: from suite.toml to the verdict, with real processes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from paceline import past_runs
from paceline.errors import UserError
from paceline.layout import LAYOUT_VARIABLE, draw_layout_bytes, draw_round_layout
from paceline.manifest import ManifestError, load, parse
from paceline.selection import Selection
from paceline_contract.stream import StreamReader

from .conftest import git
from .harnesses.tool import TOOL
from .test_cli import paceline
from .test_driven import SHARED_HOST, write_times

SUITE = """\
schema = 1

[suite]
name = "theirs"
title = "Theirs"

[[workloads]]
name = "bench"
[workloads.host]
build = []
artifacts = ["bench.py", "times.json"]
harness = "google-benchmark"
command = ["python3", "bench.py"]
arms = { native = "BM_native_(.*)", fallback = "BM_kotlin_(.*)" }

[benchmarks.sort]
title = "Sort"
workload = "bench"
arms = ["native", "fallback"]
reference = "fallback"
params.n = { kind = "int", values = [64, 256] }
metrics.time = { unit = "ns", direction = "lower" }
"""
TIMES: dict[str, float | str] = {
    "BM_native_sort/64": 150,
    "BM_kotlin_sort/64": 100,
    "BM_native_sort/256": 300,
    "BM_kotlin_sort/256": 500,
    "BM_native_sort/1024": 1,
    "BM_kotlin_sort/1024": 1,
    "BM_broken": "not declared, so that its failure is of no interest",
}
COMMAND_SUITE = """\
schema = 1
suite = { name = "plain", title = "Plain" }
[[workloads]]
name = "work"
[workloads.host]
build = []
artifacts = ["bench.py"]
harness = "command"
command = ["python3", "-c", "pass"]
[benchmarks.all]
title = "python3 -c pass"
workload = "work"
arms = ["code"]
reference = "code"
metrics.time = { unit = "ns", direction = "lower" }
metrics.system_time = { unit = "ns", direction = "lower" }
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A checkout with the stand-in tool and a manifest that names its harness."""
    root = tmp_path / "theirs"
    root.mkdir()
    (root / "bench.py").write_text(TOOL)
    write_times(root, TIMES)
    (root / "suite.toml").write_text(SUITE)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "One")
    return root / "suite.toml"


def replace(suite: Path, old: str, new: str) -> None:
    text = suite.read_text()
    assert old in text
    suite.write_text(text.replace(old, new))


def events_of(stream: Path) -> list[dict[str, Any]]:
    """The events of a stream, which a reader of the contract accepts."""
    reader = StreamReader()
    data = stream.read_bytes()
    assert len([*reader.feed(data), *reader.close()]) == data.count(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def test_a_suite_of_a_harness_is_measured_in_rounds_and_judged(
    suite: Path, tmp_path: Path
) -> None:
    counter = tmp_path / "starts.txt"
    counter.write_text("")
    out = tmp_path / "out"
    done = paceline(
        *("run", str(suite), "--launches", "3", "--rounds", "10", "--all-launches"),
        *("--seed", "5", "--format", "table", "--out", str(out)),
        cwd=tmp_path,
        **{**SHARED_HOST, "TOOL_COUNTER": str(counter)},
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "sort n=64: native" in done.stdout
    assert "30 in 3" in done.stdout, "every round is a block"
    starts = Counter(counter.read_text().splitlines())
    native = r"^(BM_native_sort/64|BM_native_sort/256)$"
    fallback = r"^(BM_kotlin_sort/64|BM_kotlin_sort/256)$"
    # Of each launch, one start lists the cases, which is the first of five warm-up rounds.
    assert starts == {"all": 3, native: 3 * 14, fallback: 3 * 14}
    said = f"starting 3 launches and in them the tool {starts.total()} times"
    assert said in done.stderr, "what it will start is said before"
    for stream in out.glob("launch-*.jsonl"):
        events = events_of(stream)
        positions = Counter(
            event["position"]
            for event in events
            if event["type"] == "samples"
            and (event["phase"], event["case"]) == ("measure", 0)
        )
        assert positions == {0: 5, 1: 5}
        names = {metric["name"] for case in events[1:2] for metric in case["metrics"]}
        assert names == {"time"}, "cpu_time is not declared"


def test_a_duration_is_scaled_by_samples_or_by_starts_of_the_tool_whichever_are_more(
    suite: Path, tmp_path: Path
) -> None:
    valid, past = load(suite), tmp_path / "past.json"
    both = Selection(["sort"], launches=3, rounds=10)
    past_runs.remember(valid, both, past, 60.0)
    # One of two values has half the samples, and as many starts.
    one = msgspec.structs.replace(both, params={"n": [64]})
    assert past_runs.estimate(valid, one, past).startswith("roughly 1 min,")
    # Without warm-up rounds a fifth of the rounds has a fifth of the samples, and fewer of the starts.
    fewer = msgspec.structs.replace(both, warmup_rounds=0, rounds=2)
    assert past_runs.estimate(valid, fewer, past).startswith("roughly 12 s,")


def test_each_round_has_a_memory_layout_of_its_own_which_its_arms_share(
    suite: Path, tmp_path: Path
) -> None:
    """Only here the tool's starts of one launch are told apart by their environment."""

    def layouts(name: str) -> list[list[int]]:
        """The sizes that the starts of each launch had."""
        seen = tmp_path / f"{name}.txt"
        done = paceline(
            *("run", str(suite), "--launches", "2", "--rounds", "4", "--seed", "5"),
            *("--out", str(tmp_path / name)),
            TOOL_LAYOUTS=str(seen),
        )
        assert done.returncode == 0, done.stderr
        sizes = [*map(int, seen.read_text().split())]
        half = len(sizes) // 2
        return [sizes[:half], sizes[half:]]

    launches = layouts("first")
    for launch, sizes in enumerate(launches):
        # One start lists the cases, and is the first of five warm-up rounds.
        listing, *others = sizes
        pairs = [*zip(others[::2], others[1::2], strict=True)]
        assert len(pairs) == 8
        assert all(one == other for one, other in pairs)
        rounds = [listing, *(one for one, _ in pairs)]
        assert listing == draw_layout_bytes(5 + launch, launch, "bench", None)
        assert all(size % 16 == 0 and 0 <= size < 4096 for size in rounds)
        assert len({*rounds}) > len(rounds) / 2
    assert launches[0] != launches[1]
    assert layouts("again") == launches, "a rerun has the same"
    replace(
        suite,
        'artifacts = ["bench',
        'env = { PACELINE_LAYOUT = "" }\nartifacts = ["bench',
    )
    assert {size for sizes in layouts("fixed") for size in sizes} == {0}


def test_base_and_head_draw_the_layouts_of_their_rounds_independently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A launch does not know its side, only the padding that it was given."""
    drawn = []
    for launch_bytes in (160, 320):
        monkeypatch.setenv(LAYOUT_VARIABLE, "." * launch_bytes)
        sizes = [
            len(draw_round_layout(7, 0, "bench", number)[LAYOUT_VARIABLE])
            for number in range(100)
        ]
        assert sizes[0] == launch_bytes
        drawn.append(sizes)
    assert sum(map(int.__eq__, *drawn)) < 5


def test_a_case_that_is_declared_and_gone_is_named_and_the_others_are_measured(
    suite: Path, tmp_path: Path
) -> None:
    gone = '[benchmarks.gone]\ntitle = "BM_gone"\n'
    text = suite.read_text()
    declared = text[text.index("workload =", text.index("[benchmarks.sort]")) :]
    suite.write_text(f"{text}\n{gone}{declared}")
    done = paceline(
        *("run", str(suite), "--launches", "1", "--rounds", "1"),
        *("--out", str(tmp_path / "out"), "--params", "n=256"),
    )
    assert done.returncode == 0, done.stderr
    assert "warning: not_listed: gone is declared" in done.stderr
    (stream,) = (tmp_path / "out").glob("launch-*.jsonl")
    cases = [event for event in events_of(stream) if event["type"] == "case"]
    assert [(case["arm"], case["params"]) for case in cases] == [
        ("native", {"n": 256}),
        ("fallback", {"n": 256}),
    ]


def test_a_benchmark_of_a_plain_command_is_declared_by_its_title(
    suite: Path, tmp_path: Path
) -> None:
    """A start too short for the kernel's clock has no system time, and others have."""
    suite.write_text(COMMAND_SUITE)
    done = paceline(
        *("run", str(suite), "--launches", "1", "--rounds", "8"),
        *("--out", str(tmp_path / "out")),
    )
    assert done.returncode == 0, done.stderr
    (stream,) = (tmp_path / "out").glob("launch-*.jsonl")
    samples = [event for event in events_of(stream) if event["type"] == "samples"]
    timed = [event for event in samples if event["metric"] == "time"]
    assert Counter(event["phase"] for event in timed) == {"warmup": 5, "measure": 8}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'native = "BM_native_(.*)"',
            'native = "BM_jni_(.*)"',
            "no case matches 'BM_jni_(.*)', the pattern of the arm native in suite.toml; the harness has BM_native_sort/64",
        ),
        (
            "[benchmarks.sort]",
            "[benchmarks.sorts]",
            "none of its cases is a declared benchmark with the declared params; the harness has BM_native_sort/64 (sort)",
        ),
        (
            "values = [64, 256]",
            "values = [64, 512]",
            "sort: the manifest says n 512, the workload announced 64, 256, 1024",
        ),
    ],
)
def test_a_suite_that_does_not_fit_its_harness_is_refused_with_what_the_harness_has(
    suite: Path, old: str, new: str, said: str
) -> None:
    assert paceline("validate", str(suite)).returncode == 0
    replace(suite, old, new)
    done = paceline("validate", str(suite))
    assert done.returncode == 1
    assert said in " ".join(done.stderr.split())


def test_a_tool_that_cannot_list_says_why(suite: Path) -> None:
    replace(suite, '"bench.py"]\n', '"no_such_file.py"]\n')
    done = paceline("validate", str(suite))
    assert "Not looked at: bench: it does not answer --list: exited with" in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"google-benchmark"',
            '"googletest"',
            "There is no harness 'googletest'. Use one of: go, pytest-benchmark, ",
        ),
        (
            'native = "BM_native_(.*)"',
            'native = "BM_native_(.*"',
            "expected a regular expression, found 'BM_native_(.*': ",
        ),
    ],
)
def test_a_harness_or_a_pattern_that_no_agent_can_use_is_refused_at_its_line(
    old: str, new: str, said: str
) -> None:
    text = SUITE.replace(old, new)
    with pytest.raises(ManifestError) as caught:
        parse(text.encode(), "suite.toml")
    (problem,) = caught.value.problems
    assert said in problem.text
    assert problem.line is not None
    assert new in text.splitlines()[problem.line - 1]


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (
            'peak_memory = { unit = "bytes", direction = "lower" }',
            "BM_native_sort/64 has none of the metrics that sort declares; it has time, cpu_time",
        ),
        (
            'time = { unit = "ops", direction = "higher" }',
            "time of BM_native_sort/64 is in ns, lower is better, and sort declares ops and higher",
        ),
    ],
)
def test_a_metric_that_is_declared_otherwise_ends_the_launch(
    suite: Path, tmp_path: Path, metric: str, said: str
) -> None:
    replace(suite, 'time = { unit = "ns", direction = "lower" }', metric)
    done = paceline(
        *("run", str(suite), "--launches", "1", "--out", str(tmp_path / "out"))
    )
    assert done.returncode == 1
    assert said in " ".join(done.stderr.split())


def test_a_manifest_that_names_a_harness_is_read_like_any_other(suite: Path) -> None:
    assert load(suite).benchmarks["sort"].reference == "fallback"
    with pytest.raises(UserError, match="expected run or harness, not both"):
        parse(
            SUITE.replace("command =", 'run = ["x"]\ncommand =').encode(), "suite.toml"
        )
