"""Tests how Criterion's output directory and the messages of cargo-criterion are read, and `paceline import` of both."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paceline import result_files
from paceline.cli import app
from paceline.errors import UserError
from paceline_contract.readers import criterion
from paceline_contract.readers.registry import StatedOrigin
from paceline_contract.results import Result, ResultError, Sample
from typer.testing import CliRunner

ITERS = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]
NS = [5.0, 5.1, 5.2, 5.3, 5.4, 5.5, 9.0, 20.0]


def save(
    root: Path, name: str, baseline: str, ns: list[float] = NS, **named: Any
) -> Path:
    """Writes the files of criterion.rs 0.8 for one benchmark."""
    run = root / name / baseline
    run.mkdir(parents=True)
    group, *rest = name.split("/")
    benchmark = {
        "group_id": group,
        "function_id": rest[0] if rest else None,
        "value_str": rest[1] if len(rest) > 1 else None,
        "throughput": {"Elements": 10},
        "full_id": name,
        "directory_name": name,
        "title": name,
        **named,
    }
    times = [count * each for count, each in zip(ITERS, ns, strict=True)]
    (run / "benchmark.json").write_text(json.dumps(benchmark))
    (run / "sample.json").write_text(
        json.dumps({"sampling_mode": "Linear", "iters": ITERS, "times": times})
    )
    (run / "tukey.json").write_text("[1.575, 3.375, 8.175, 9.975]")
    (run / "estimates.json").write_text("{}")
    return run


def message(**changed: Any) -> bytes:
    """A line of cargo-criterion 1.1."""
    estimate = {"estimate": 5.3, "lower_bound": 5.1, "upper_bound": 5.5, "unit": "ns"}
    told = {
        "reason": "benchmark-complete",
        "id": "finality/ours/1000",
        "report_directory": "…",
        "iteration_count": [10, 20],
        "measured_values": [50.0, 110.0],
        "unit": "ns",
        "throughput": [{"per_iteration": 1024, "unit": "bytes"}],
        "typical": estimate,
        "mean": estimate,
        "median": estimate,
        "median_abs_dev": estimate,
        "slope": None,
        "change": None,
        **changed,
    }
    return json.dumps(told).encode() + b"\n"


def read(path: Path, *, is_fresh: bool = False) -> Result:
    """What `paceline import` and `paceline push` read of a directory or file."""
    return result_files.read(str(path), None, StatedOrigin(), is_fresh=is_fresh).result


def names(result: Result) -> list[str]:
    return [case.name for case in result.cases]


def test_every_sample_of_a_directory_is_kept(tmp_path: Path) -> None:
    run = save(tmp_path, "finality/ours/1000", "new")
    result = read(tmp_path)
    (case,) = result.cases
    assert (case.benchmark, case.arm, case.params) == (
        "finality",
        "ours",
        {"value": "1000"},
    )
    (metric,) = case.metrics
    assert (metric.name, metric.unit) == ("time", "ns")
    assert metric.samples == [
        Sample(int(count), round(count * each))
        for count, each in zip(ITERS, NS, strict=True)
    ]
    assert result.at is not None
    written = (run / "sample.json").stat().st_mtime
    assert result.at.timestamp() == pytest.approx(written, abs=0.002)


def test_saved_baselines_are_named_and_the_last_run_is_read_once(
    tmp_path: Path,
) -> None:
    faster = [each / 2 for each in NS]
    save(tmp_path, "finality/ours", "base")
    save(tmp_path, "finality/ours", "before", faster)
    save(tmp_path, "other", "before", faster)
    save(tmp_path, "other", "again")
    save(
        tmp_path, "finality/ours", "new"
    )  # criterion keeps the last run as `base`, too
    save(tmp_path, "other", "new")
    (tmp_path / "finality" / "ours" / "report").mkdir()
    (tmp_path / "finality" / "ours" / "change").mkdir()
    result = read(tmp_path)
    assert sorted(names(result)) == ["finality/ours", "other"]
    (problem,) = result.problems
    assert problem.id == "baseline before"
    assert "paceline migrate criterion-baselines" in problem.why
    shutil.rmtree(tmp_path / "finality" / "ours" / "new")
    shutil.rmtree(tmp_path / "other" / "new")
    with pytest.raises(UserError) as refused:
        read(tmp_path)
    assert "only baselines (again, base, before)" in refused.value.text
    shutil.rmtree(tmp_path / "finality" / "ours" / "base")
    shutil.rmtree(tmp_path / "other" / "again")
    only = read(tmp_path)
    assert (sorted(names(only)), only.problems) == (["finality/ours", "other"], [])


def test_a_benchmark_that_cannot_be_read_is_named_and_the_others_are_kept(
    tmp_path: Path,
) -> None:
    save(tmp_path, "good", "new")
    (save(tmp_path, "cut", "new") / "sample.json").write_text('{"iters": [1.0], "ti')
    (save(tmp_path, "nameless", "new") / "benchmark.json").unlink()
    result = read(tmp_path)
    assert names(result) == ["good"]
    assert [(left.id, left.path) for left in result.problems] == [
        ("cut", "cut/new"),
        (None, "nameless/new"),
    ]


@pytest.mark.parametrize(
    ("iters", "times", "said"),
    [
        ([], [], "0 samples"),
        ([1.0], [1.0, 2.0], "1 iteration counts and 2 times"),
        ([0.0], [1.0], "0.0 iterations"),
        ([1.5], [1.0], "1.5 iterations"),
        ([1.0], [-1.0], "time -1.0"),
        ([1e300], [1.0], "1e+300 iterations"),
    ],
)
def test_samples_that_cannot_be_are_refused(
    tmp_path: Path, iters: list[float], times: list[float], said: str
) -> None:
    run = save(tmp_path, "g", "new")
    (run / "sample.json").write_text(json.dumps({"iters": iters, "times": times}))
    with pytest.raises(UserError) as error:
        read(tmp_path)
    assert "left out g (g/new): " in error.value.text
    assert said in error.value.text


def test_messages_give_their_samples_and_others_are_passed_over(tmp_path: Path) -> None:
    stream = tmp_path / "messages.jsonl"
    group = (
        b'{"reason": "group-complete", "group_name": "finality", "benchmarks": []}\n'
    )
    stream.write_bytes(
        message() + group + b"\n" + message(id="alone") + b"Compiling x\n"
    )
    result = read(stream)
    assert (result.tool, names(result)) == (
        "criterion",
        ["finality/ours/1000", "alone"],
    )
    first = result.cases[0]
    assert (first.benchmark, first.arm, first.value) == ("finality", "ours", "1000")
    assert first.metrics[0].samples == [Sample(10, 50), Sample(20, 110)]
    assert [left.path for left in result.problems] == ["line 5"]


@pytest.mark.parametrize(
    "changed", [{"id": ""}, {"iteration_count": [1]}, {"unit": 3}, {"id": "x" * 2000}]
)
def test_a_message_that_does_not_add_up_is_a_problem(changed: dict[str, Any]) -> None:
    with pytest.raises(ResultError, match="line 1"):
        criterion.read_messages(message(**changed))


def test_any_bytes_are_a_result_or_an_error() -> None:
    random_ = random.Random(8)  # noqa: S311 - no secret
    whole = message()
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(random_.randint(1, 4)):
            damaged[random_.randrange(len(damaged))] = random_.randrange(256)
        try:
            result = criterion.read_messages(bytes(damaged))
        except ResultError:
            continue
        assert all(case.metrics[0].samples for case in result.cases)


def test_the_command_prints_what_it_would_store_and_stores_it(tmp_path: Path) -> None:
    save(tmp_path / "criterion", "finality/ours", "new")
    arguments = ["import", "--format", "criterion", str(tmp_path / "criterion")]
    dry = CliRunner().invoke(app, [*arguments, "--dry-run", "--json"])
    assert dry.exit_code == 0, dry.output
    stored = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert stored.exit_code == 0, stored.output
    assert "finality/ours" in stored.stdout
    save(tmp_path / "long", "finality/" + "x" * 200, "new")
    shown = CliRunner().invoke(
        app, [*arguments[:3], str(tmp_path / "long"), "--dry-run"]
    )
    assert shown.stdout.count("x") == 200, "a name is never cut"
    document = json.loads((tmp_path / "out" / "import.json").read_bytes())
    assert json.loads(dry.stdout) == document
    assert (document["format"], document["tool"]) == (
        "paceline.result/1",
        "criterion",
    )


def test_a_server_is_sent_what_was_read_and_not_the_files(tmp_path: Path) -> None:
    save(tmp_path, "finality/ours", "new")
    file = result_files.read(str(tmp_path), "criterion", StatedOrigin("abcdef1"))
    body = result_files.import_body(file, "crypto", "ci-7", "October")
    assert body["measured_on"] == {"suite": "crypto", "on": "ci-7"}
    assert (body["title"], body["document"]["commit"]) == ("October", "abcdef1")
    assert "original" not in body


def test_options_of_criterion_are_refused_for_a_log(tmp_path: Path) -> None:
    log = ["import", "--format", "logcat", str(tmp_path / "log"), "--dry-run"]
    refused = CliRunner().invoke(app, [*log, "--on", "ci-7"])
    assert "--on does not apply to --format logcat" in str(refused.exception)


@pytest.mark.parametrize("stored", ["--out", "--dry-run"])
@pytest.mark.parametrize("form", ["criterion", "logcat"])
@pytest.mark.parametrize("option", ["--suite", "--on", "--title"])
def test_options_for_a_server_are_refused_without_one(
    tmp_path: Path, stored: str, form: str, option: str
) -> None:
    """An import of a log reads the suite; the other options are only for results with samples."""
    save(tmp_path / "criterion", "finality/ours", "new")
    source = [str(tmp_path / "criterion"), "--format", form, option, "x"]
    where = [stored, str(tmp_path / "out")] if stored == "--out" else [stored]
    refused = CliRunner().invoke(app, ["import", *source, *where])
    assert isinstance(refused.exception, UserError)
    if form == "criterion" or option == "--title":
        assert refused.exception.text == f"{option} is stored on a server only."
        assert "--server URL" in refused.exception.advice
    elif option != "--suite":
        assert refused.exception.text == f"{option} does not apply to --format logcat."
    assert not (tmp_path / "out").exists()


def test_a_copy_that_keeps_its_times_is_the_same_result(tmp_path: Path) -> None:
    save(tmp_path / "a", "finality/ours", "new")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert read(tmp_path / "a") == read(tmp_path / "b")


def test_what_is_no_run_of_criterion_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("hello\n")
    for path in (tmp_path, tmp_path / "log", tmp_path / "nowhere"):
        with pytest.raises(UserError):
            read(path)


def test_a_directory_of_a_tool_that_writes_files_is_refused(tmp_path: Path) -> None:
    save(tmp_path, "a", "new")
    with pytest.raises(UserError, match="jmh writes files"):
        result_files.read(str(tmp_path), "jmh", StatedOrigin())
    (tmp_path / "bench.txt").write_text("BenchmarkSort-2 10 5 ns/op\n")
    with pytest.raises(UserError, match="--fresh is of a directory"):
        read(tmp_path / "bench.txt", is_fresh=True)


@pytest.mark.parametrize(
    "extra", [["--seconds", "1"], ["--in-force", "2000"], ["--device", "x"]]
)
def test_options_of_a_log_are_refused(tmp_path: Path, extra: list[str]) -> None:
    save(tmp_path, "a", "new")
    arguments = ["import", "--format", "criterion", str(tmp_path), "--dry-run", *extra]
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code != 0
    assert "does not apply to --format criterion" in str(refused.exception)


def rewrite(run: Path, hours_ago: float) -> None:
    """Gives the samples of a run the time at which an earlier run would have written them."""
    then = run.joinpath("sample.json").stat().st_mtime - hours_ago * 3600
    os.utime(run / "sample.json", (then, then))


def test_what_the_last_run_did_not_measure_is_named_and_left_out(
    tmp_path: Path,
) -> None:
    slower = [2 * each for each in NS]
    save(tmp_path, "decode", "new", slower)
    rewrite(save(tmp_path, "decode", "main"), 50)
    rewrite(save(tmp_path, "gone/f", "new"), 50)
    rewrite(save(tmp_path, "also gone/f", "base"), 50)
    rewrite(save(tmp_path, "also gone/f", "new"), 50)
    result = read(tmp_path)
    assert names(result) == ["decode"]
    left_out, baseline, gone = sorted(result.problems, key=lambda left: left.id or "")
    assert (left_out.id, left_out.path) == ("also gone/f", "also gone/f/new")
    assert (gone.id, gone.path) == ("gone/f", "gone/f/new")
    assert "import its directory on its own" in gone.why
    assert baseline.id == "baseline main"
    assert names(read(tmp_path / "gone" / "f")) == ["gone/f"]
    shown = CliRunner().invoke(
        app, ["import", "--format", "criterion", str(tmp_path), "--dry-run"]
    )
    assert shown.exit_code == 0
    assert (
        "left out gone/f (gone/f/new), also gone/f (also gone/f/new): it was written before the last"
        in (shown.stderr)
    )


def copied(root: Path, times: Callable[[int], float]) -> None:
    """Gives every file the time at which a copy wrote it."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    for number, path in enumerate(files):
        os.utime(path, (times(number), times(number)))


@pytest.mark.parametrize(
    "times",
    [
        pytest.param(lambda _: 1.6e9, id="a cache that sets one time"),
        pytest.param(lambda number: 1.6e9 + number * 1e-3, id="a checkout"),
        pytest.param(lambda number: 1.6e9 - number * 0.02, id="an unpacked archive"),
    ],
)
def test_of_copied_files_nothing_tells_what_the_last_run_measured(
    tmp_path: Path, times: Callable[[int], float]
) -> None:
    second = [1e9 * at for at in range(1, len(NS) + 1)]
    for name in ("decode", "gone", "gone too"):
        save(tmp_path, name, "new", second)
    save(tmp_path, "decode", "main", NS)
    rewritten = save(tmp_path, "saved", "new", second)
    shutil.copytree(rewritten, rewritten.with_name("kept"))
    copied(tmp_path, times)
    with pytest.raises(UserError) as refused:
        read(tmp_path)
    assert "its files were copied" in refused.value.text
    assert "--fresh" in refused.value.text
    fresh = read(tmp_path, is_fresh=True)
    assert (len(fresh.cases), fresh.at) == (4, None)


def test_one_benchmark_or_runs_in_parallel_are_no_copy(tmp_path: Path) -> None:
    second = [1e9 * at for at in range(1, len(NS) + 1)]
    save(tmp_path, "a", "new", second)
    (case,) = read(tmp_path).cases
    took_s = sum(sample.total for sample in case.metrics[0].samples) / 1e9
    for number in range(4):  # two at a time
        run = save(tmp_path, f"b{number}", "new", second)
        rewrite(run, -(number // 2) * took_s / 3600)
    assert len(read(tmp_path).cases) == 5


def test_a_long_run_is_one_run(tmp_path: Path) -> None:
    """Nine minutes between benchmarks are builds; more is measured time, or the end of an earlier run."""
    for at in range(20):
        rewrite(save(tmp_path, f"b{at:02}", "new"), at * 0.15)
    assert len(read(tmp_path).cases) == 20
    rewrite(save(tmp_path, "before", "new"), 20 * 0.15 + 0.1)
    result = read(tmp_path)
    assert (len(result.cases), result.problems[0].id) == (20, "before")
    hour = [each * 1e10 for each in NS]
    rewrite(save(tmp_path, "slow", "new", hour), 19 * 0.15 + 0.01)
    assert len(read(tmp_path).cases) == 22
    endless = [each * 1e30 for each in NS]
    rewrite(save(tmp_path, "long ago", "new"), 100)
    rewrite(save(tmp_path, "endless", "new", endless), 0)
    assert sorted(left.id or "" for left in read(tmp_path).problems) == [
        "endless",
        "long ago",
    ]


@pytest.mark.parametrize(
    ("name", "named", "parts"),
    [
        ("hash//16", {"function_id": ""}, ("hash", None, "16")),
        ("hash/f/", {"value_str": ""}, ("hash", "f", None)),
        ("hash//", {"function_id": "", "value_str": ""}, ("hash", None, None)),
        ("/f", {"group_id": "", "function_id": "f"}, ("/f", None, None)),
        ("hash", {}, ("hash", None, None)),
    ],
)
def test_an_empty_part_of_an_id_is_an_absent_part(
    tmp_path: Path,
    name: str,
    named: dict[str, Any],
    parts: tuple[str, str | None, str | None],
) -> None:
    save(
        tmp_path,
        "folder",
        "new",
        **{
            "full_id": name,
            "group_id": "hash",
            "function_id": name.split("/")[1] if "/" in name else None,
            "value_str": name.split("/")[2] if name.count("/") > 1 else None,
            **named,
        },
    )
    stream = tmp_path / "messages.jsonl"
    stream.write_bytes(message(id=name))
    for source in (tmp_path, stream):
        (case,) = read(source).cases
        assert (case.benchmark, case.arm, case.value) == parts


def odd_directory(root: Path) -> None:
    """Five odd benchmarks and two good ones."""
    save(root, "good", "new")
    save(root, "fine/f/16", "new")
    save(root, "long", "new", value_str="SELECT " + "x" * 300, full_id="long/SELECT…")
    save(root, "nul", "new", group_id="a\0b", full_id="a\0b")
    save(root, "empty", "new", group_id="", full_id="")
    rewrite(save(root, "good_2", "new", group_id="good", full_id="good"), 0.01)
    save(root, "huge", "new", [1e30] * len(NS))


def test_odd_benchmarks_are_named_with_id_and_path_and_the_others_go_in(
    tmp_path: Path,
) -> None:
    odd_directory(tmp_path)
    result = read(tmp_path)
    assert sorted(names(result)) == ["fine/f/16", "good"]
    left_out = {left.path: (left.id, left.why) for left in result.problems}
    assert {path: named for path, (named, _) in left_out.items()} == {
        "long/new": "long/SELECT…",
        "nul/new": "a\\0b",
        "empty/new": "",
        "good_2/new": "good",
        "huge/new": "huge",
    }
    whys = " ".join(why for _, why in left_out.values())
    for why in ("307 characters", "U+0000", "no name", "good/new is kept", "its unit"):
        assert why in whys
    shown = CliRunner().invoke(
        app, ["import", "--format", "criterion", str(tmp_path), "--dry-run"]
    )
    assert shown.exit_code == 0
    assert shown.stderr.count("left out") == 5
    assert "left out long/SELECT… (long/new): its value has 307" in shown.stderr


def test_units_that_are_not_known_are_left_out_and_others_are_kept(
    tmp_path: Path,
) -> None:
    units = ("cycles", "ns", "bytes", "count", "Instructions", "op/s", "")
    stream = tmp_path / "messages.jsonl"
    stream.write_bytes(
        b"".join(message(id=f"parse/{unit}", unit=unit) for unit in units)
    )
    result = read(stream)
    assert [(case.metrics[0].name, case.metrics[0].unit) for case in result.cases] == [
        ("time", "ns"),
        ("bytes", "bytes"),
        ("count", "count"),
        ("throughput", "op/s"),
    ]
    assert [(left.id, left.path) for left in result.problems] == [
        ("parse/cycles", "line 1"),
        ("parse/Instructions", "line 5"),
        ("parse/", "line 7"),
    ]
    assert "'cycles'" in result.problems[0].why
    stream.write_bytes(message(unit="cycles") + message(unit="misses"))
    with pytest.raises(ResultError) as error:
        criterion.read_messages(stream.read_bytes())
    assert str(error.value).count("finality/ours/1000 (line ") == 2


def test_of_two_messages_with_one_id_the_last_is_kept(tmp_path: Path) -> None:
    stream = tmp_path / "messages.jsonl"
    stream.write_bytes(
        message() + message(id="other") + message(measured_values=[70.0, 140.0])
    )
    result = read(stream)
    assert names(result) == ["other", "finality/ours/1000"]
    (left_out,) = result.problems
    assert (left_out.path, left_out.id) == ("line 1", "finality/ours/1000")
    assert "line 3 is kept" in left_out.why


def test_files_that_cannot_be_read_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, "good", "new")
    (save(tmp_path, "large", "new") / "sample.json").write_bytes(b" " * 5_000)
    (save(tmp_path, "wide", "new") / "benchmark.json").write_bytes(b" " * 5_000)
    monkeypatch.setattr(result_files, "MAX_BYTES", 4_096)
    result = read(tmp_path)
    assert names(result) == ["good"]
    assert {left.path: left.why for left in result.problems} == {
        "large/new": "large/new/sample.json is longer than the 4,096 bytes that are read",
        "wide/new": "wide/new/benchmark.json is longer than the 4,096 bytes that are read",
    }


def test_no_more_than_a_thousand_reasons_are_listed(tmp_path: Path) -> None:
    stream = tmp_path / "messages.jsonl"
    stream.write_bytes(message() + b"Compiling\n" * 1_234)
    left_out = read(stream).problems
    assert len(left_out) == 1_001
    assert left_out[-1].why == "234 more, not listed"
