"""Tests of `paceline import --format criterion`, for an output directory and for messages."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paceline import criterion_runs
from paceline.cli import app
from paceline.errors import UserError
from paceline_contract.readers import criterion
from paceline_contract.readers.criterion import CriterionError
from typer.testing import CliRunner

ITERS = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]
NS = [5.0, 5.1, 5.2, 5.3, 5.4, 5.5, 9.0, 20.0]
"""Per iteration: quartiles 5.175 and 6.375, so the fences are 1.575, 3.375, 8.175 and 9.975."""
FENCES = [1.575, 3.375, 8.175, 9.975]


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
    (run / "tukey.json").write_text(json.dumps(criterion.count_outliers(ns).fences))
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


def test_every_sample_of_a_directory_is_kept_and_outliers_are_counted_not_removed(
    tmp_path: Path,
) -> None:
    save(tmp_path, "finality/ours/1000", "new")
    (series,) = criterion_runs.read(str(tmp_path)).series
    assert (series.benchmark, series.arm, series.value) == ("finality", "ours", "1000")
    assert series.iterations == [int(count) for count in ITERS]
    assert series.per_iteration == pytest.approx(NS)
    assert (series.throughput[0].unit, series.throughput[0].per_iteration) == (
        "elements",
        10,
    )
    outliers = series.outliers
    assert outliers.fences == pytest.approx(FENCES)
    counts = (
        outliers.low_severe,
        outliers.low_mild,
        outliers.high_mild,
        outliers.high_severe,
    )
    assert counts == (0, 0, 1, 1)
    assert series.notes == []


def test_a_saved_baseline_is_a_series_and_the_last_run_is_not_told_twice(
    tmp_path: Path,
) -> None:
    faster = [each / 2 for each in NS]
    save(tmp_path, "finality/ours", "base")
    save(tmp_path, "finality/ours", "before", faster)
    save(
        tmp_path, "finality/ours", "new"
    )  # criterion keeps the last run as `base`, too
    save(tmp_path, "other", "new", faster)
    (tmp_path / "finality" / "ours" / "report").mkdir()
    (tmp_path / "finality" / "ours" / "change").mkdir()
    document = criterion_runs.read(str(tmp_path))
    result = [(series.id, series.baseline) for series in document.series]
    assert result == [
        ("finality/ours", "base"),
        ("finality/ours", "before"),
        ("other", "new"),
    ]
    assert document.series[1].median == pytest.approx(document.series[0].median / 2)
    assert document.samples == 3 * len(NS)


def test_fences_that_are_not_those_of_the_samples_are_noted(tmp_path: Path) -> None:
    run = save(tmp_path, "a", "new")
    (run / "tukey.json").write_text("[1, 2, 3, 4]")
    (series,) = criterion_runs.read(str(tmp_path)).series
    assert "differ from those of its samples" in series.notes[0]
    (run / "tukey.json").unlink()
    (series,) = criterion_runs.read(str(tmp_path)).series
    assert "missing" in series.notes[0]


def test_a_benchmark_that_cannot_be_read_is_named_and_the_others_are_kept(
    tmp_path: Path,
) -> None:
    save(tmp_path, "good", "new")
    (save(tmp_path, "cut", "new") / "sample.json").write_text('{"iters": [1.0], "ti')
    (save(tmp_path, "nameless", "new") / "benchmark.json").unlink()
    document = criterion_runs.read(str(tmp_path))
    assert [series.id for series in document.series] == ["good"]
    assert [(left.id, left.path) for left in document.left_out] == [
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
    iters: list[float], times: list[float], said: str
) -> None:
    benchmark = b'{"group_id": "g", "full_id": "g"}'
    sample = json.dumps({"iters": iters, "times": times}).encode()
    with pytest.raises(CriterionError) as error:
        criterion.series_from_files(
            benchmark, sample, None, criterion.Origin("g/new", "new", last_run=True)
        )
    assert said in str(error.value)


def test_messages_give_their_samples_and_others_are_passed_over(tmp_path: Path) -> None:
    stream = tmp_path / "messages.jsonl"
    group = (
        b'{"reason": "group-complete", "group_name": "finality", "benchmarks": []}\n'
    )
    stream.write_bytes(
        message() + group + b"\n" + message(id="alone") + b"Compiling x\n"
    )
    document = criterion_runs.read(str(stream))
    assert [series.id for series in document.series] == ["finality/ours/1000", "alone"]
    first = document.series[0]
    assert (first.benchmark, first.arm, first.value, first.unit) == (
        "finality",
        "ours",
        "1000",
        "ns",
    )
    assert (first.iterations, first.times) == ([10, 20], [50.0, 110.0])
    assert [left.path for left in document.left_out] == ["line 5"]


@pytest.mark.parametrize(
    "changed", [{"id": ""}, {"iteration_count": [1]}, {"unit": 3}, {"id": "x" * 2000}]
)
def test_a_message_that_does_not_add_up_is_a_problem(changed: dict[str, Any]) -> None:
    with pytest.raises(CriterionError):
        criterion.series_from_message(message(**changed))


def test_any_bytes_are_a_series_or_an_error() -> None:
    random_ = random.Random(8)  # noqa: S311 - no secret
    whole = message()
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(random_.randint(1, 4)):
            damaged[random_.randrange(len(damaged))] = random_.randrange(256)
        try:
            series = criterion.series_from_message(bytes(damaged))
        except CriterionError:
            continue
        assert series is None or len(series.times) == len(series.iterations)


def test_outliers_on_each_side_are_told_apart() -> None:
    ordinary = [100.0, 101.0, 102.0, 103.0, 104.0] * 4
    outliers = criterion.count_outliers(
        [*ordinary, 97.5 - 2, 80.0, 110.5, 150.0, 151.0]
    )
    counts = (
        outliers.low_severe,
        outliers.low_mild,
        outliers.high_mild,
        outliers.high_severe,
    )
    assert counts == (1, 1, 1, 2)
    assert outliers.total == 5
    assert criterion.count_outliers([7.0]).total == 0


def test_the_command_prints_what_it_would_store_and_stores_it(tmp_path: Path) -> None:
    save(tmp_path / "criterion", "finality/ours", "first")
    arguments = ["import", "--format", "criterion", str(tmp_path / "criterion")]
    dry = CliRunner().invoke(app, [*arguments, "--dry-run", "--json"])
    assert dry.exit_code == 0, dry.output
    stored = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert stored.exit_code == 0, stored.output
    assert "finality/ours" in stored.stdout
    save(tmp_path / "long", "finality/" + "x" * 200, "first")
    shown = CliRunner().invoke(
        app, [*arguments[:3], str(tmp_path / "long"), "--dry-run"]
    )
    assert shown.stdout.count("x") == 200, "a name is never cut"
    document = json.loads((tmp_path / "out" / "import.json").read_bytes())
    assert json.loads(dry.stdout) == document
    assert (document["format"], document["samples"]) == ("criterion", len(NS))
    assert "nothing here is a verdict" in document["why_no_verdict"]


def test_a_server_is_sent_the_document_and_where_it_was_measured(
    tmp_path: Path,
) -> None:
    save(tmp_path, "finality/ours", "first")
    document = criterion_runs.read(str(tmp_path))
    where = criterion_runs.Provenance("crypto", "ci-7", "abcdef1")
    body = criterion_runs.import_body(document, where, "October")
    assert body["measured_on"] == {"suite": "crypto", "on": "ci-7", "commit": "abcdef1"}
    assert (body["title"], body["document"]["series"][0]["baseline"]) == (
        "October",
        "first",
    )
    bare = criterion_runs.import_body(document, criterion_runs.Provenance(), None)
    assert (bare["measured_on"], "title" in bare) == ({}, False)


def test_options_of_criterion_are_refused_for_a_log(tmp_path: Path) -> None:
    log = ["import", "--format", "logcat", str(tmp_path / "log"), "--dry-run"]
    refused = CliRunner().invoke(app, [*log, "--on", "ci-7"])
    assert "--on does not apply to --format logcat" in str(refused.exception)


@pytest.mark.parametrize("stored", ["--out", "--dry-run"])
@pytest.mark.parametrize("form", ["criterion", "logcat"])
@pytest.mark.parametrize("option", ["--suite", "--on", "--commit", "--title"])
def test_options_for_a_server_are_refused_without_one(
    tmp_path: Path, stored: str, form: str, option: str
) -> None:
    """An import of a log reads the suite; the other options are only for criterion."""
    save(tmp_path / "criterion", "finality/ours", "first")
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


def test_the_document_is_of_the_bytes_alone(tmp_path: Path) -> None:
    save(tmp_path / "a" / "criterion", "finality/ours", "first")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    reading = criterion_runs.read(str(tmp_path / "a" / "criterion"))
    assert reading == criterion_runs.read(str(tmp_path / "b" / "criterion"))
    with (
        tmp_path / "b" / "criterion" / "finality" / "ours" / "first" / "sample.json"
    ).open("a") as file:
        file.write("\n")
    assert (
        reading.sha256 != criterion_runs.read(str(tmp_path / "b" / "criterion")).sha256
    )


def test_what_is_no_run_of_criterion_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("hello\n")
    for path in (tmp_path, tmp_path / "log", tmp_path / "nowhere"):
        with pytest.raises(UserError):
            criterion_runs.read(str(path))


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
    document = criterion_runs.read(str(tmp_path))
    assert [(series.path, series.last_run) for series in document.series] == [
        ("also gone/f/base", False),
        ("decode/main", False),
        ("decode/new", True),
    ]
    (left_out,) = document.left_out
    assert (left_out.id, left_out.path) == ("gone/f", "gone/f/new")
    assert f"import {tmp_path.name}/gone/f on its own" in left_out.why
    alone = criterion_runs.read(str(tmp_path / "gone" / "f"))
    assert [(series.id, series.last_run) for series in alone.series] == [
        ("gone/f", True)
    ]
    shown = CliRunner().invoke(
        app, ["import", "--format", "criterion", str(tmp_path), "--dry-run"]
    )
    assert shown.exit_code == 0
    assert "left out gone/f (gone/f/new): it was written before the" in shown.stderr
    assert (
        "no known commit: also gone/f (also gone/f/base), decode (decode/main)"
        in shown.stderr
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
    assert {series.last_run for series in criterion_runs.read(str(tmp_path)).series}
    copied(tmp_path, times)
    document = criterion_runs.read(str(tmp_path))
    assert len(document.series) == 5
    assert not any(series.last_run for series in document.series)
    (said, older) = criterion_runs.complaints(document)
    assert "the files were copied" in said
    assert "decode (decode/new), gone (gone/new), gone too (gone too/new)" in said
    assert "--fresh" in said
    assert "decode (decode/main), saved (saved/kept)" in older
    fresh = criterion_runs.read(str(tmp_path), is_fresh=True)
    assert [series.path for series in fresh.series if not series.last_run] == [
        "decode/main"
    ]


def test_one_benchmark_or_runs_in_parallel_are_no_copy(tmp_path: Path) -> None:
    second = [1e9 * at for at in range(1, len(NS) + 1)]
    save(tmp_path, "a", "new", second)
    (series,) = criterion_runs.read(str(tmp_path)).series
    assert series.last_run
    took_s = sum(series.times) / 1e9
    for number in range(4):  # two at a time
        run = save(tmp_path, f"b{number}", "new", second)
        rewrite(run, -(number // 2) * took_s / 3600)
    assert all(each.last_run for each in criterion_runs.read(str(tmp_path)).series)


def test_a_long_run_is_one_run(tmp_path: Path) -> None:
    """Nine minutes between benchmarks are builds; more is measured time, or the end of an earlier run."""
    for at in range(20):
        rewrite(save(tmp_path, f"b{at:02}", "new"), at * 0.15)
    assert len(criterion_runs.read(str(tmp_path)).series) == 20
    rewrite(save(tmp_path, "before", "new"), 20 * 0.15 + 0.1)
    document = criterion_runs.read(str(tmp_path))
    assert (len(document.series), document.left_out[0].id) == (20, "before")
    hour = [each * 1e10 for each in NS]
    rewrite(save(tmp_path, "slow", "new", hour), 19 * 0.15 + 0.01)
    assert len(criterion_runs.read(str(tmp_path)).series) == 22
    endless = [each * 1e30 for each in NS]
    rewrite(save(tmp_path, "long ago", "new"), 100)
    rewrite(save(tmp_path, "endless", "new", endless), 0)
    document = criterion_runs.read(str(tmp_path))
    assert [left.id for left in document.left_out] == ["endless", "long ago"]


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
        (series,) = criterion_runs.read(str(source)).series
        assert (series.benchmark, series.arm, series.value) == parts


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
    document = criterion_runs.read(str(tmp_path))
    assert [series.path for series in document.series] == ["fine/f/16/new", "good/new"]
    left_out = {left.path: (left.id, left.why) for left in document.left_out}
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
    document = criterion_runs.read(str(stream))
    assert [series.unit for series in document.series] == [
        "ns",
        "bytes",
        "count",
        "op/s",
    ]
    assert [(left.id, left.path) for left in document.left_out] == [
        ("parse/cycles", "line 1"),
        ("parse/Instructions", "line 5"),
        ("parse/", "line 7"),
    ]
    assert "'cycles'" in document.left_out[0].why
    stream.write_bytes(message(unit="cycles") + message(unit="misses"))
    with pytest.raises(UserError) as error:
        criterion_runs.read(str(stream))
    assert error.value.text.count("finality/ours/1000 (line ") == 2


def test_of_two_messages_with_one_id_the_last_is_kept(tmp_path: Path) -> None:
    stream = tmp_path / "messages.jsonl"
    stream.write_bytes(
        message() + message(id="other") + message(measured_values=[70.0, 140.0])
    )
    document = criterion_runs.read(str(stream))
    assert [series.path for series in document.series] == ["line 2", "line 3"]
    (left_out,) = document.left_out
    assert (left_out.path, left_out.id) == ("line 1", "finality/ours/1000")
    assert "line 3 is kept" in left_out.why


def test_files_that_cannot_be_read_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, "good", "new")
    (save(tmp_path, "large", "new") / "sample.json").write_bytes(b" " * 5_000)
    (save(tmp_path, "wide", "new") / "benchmark.json").write_bytes(b" " * 5_000)
    monkeypatch.setattr(criterion_runs, "MAX_FILE_BYTES", 4_096)
    document = criterion_runs.read(str(tmp_path))
    assert [series.id for series in document.series] == ["good"]
    assert {left.path: left.why for left in document.left_out} == {
        "large/new": "sample.json has 5,000 bytes: expected at most 4,096",
        "wide/new": "benchmark.json has 5,000 bytes: expected at most 4,096",
    }


def test_no_more_than_a_thousand_reasons_are_listed(tmp_path: Path) -> None:
    stream = tmp_path / "messages.jsonl"
    stream.write_bytes(message() + b"Compiling\n" * 1_234)
    left_out = criterion_runs.read(str(stream)).left_out
    assert len(left_out) == 1_001
    assert left_out[-1].why == "234 more, not listed"
