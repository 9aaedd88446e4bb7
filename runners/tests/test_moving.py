"""Tests of what `paceline migrate --dry-run` and `paceline push` print and refuse without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from paceline.cli import app
from paceline.commands import pushing
from paceline.commands.submitting import FinishedRun
from paceline.display import PlainDisplay, terminal
from paceline.errors import UserError
from paceline.histories import LeftOutCounter
from paceline_contract.imported_series import LeftOut
from typer.testing import CliRunner, Result

NOBODY = {"PACELINE_SERVER": None, "PACELINE_TOKEN": None}


def paceline(*arguments: object, given: str | None = None) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], input=given, env=NOBODY)


def refusal(*arguments: object, given: str | None = None) -> str:
    refused = paceline(*arguments, given=given).exception
    assert isinstance(refused, UserError), refused
    return str(refused)


def data_js(path: Path, commits: int) -> Path:
    """Write a history of two benchmarks, of which one has an unknown unit."""
    entries = [
        {
            "commit": {"id": f"{number:040x}"},
            "date": 1_600_000_000_000 + number * 86_400_000,
            "tool": "cargo",
            "benches": [
                {"name": "decode", "value": 1_500_000 + number, "unit": "ns/iter"},
                {"name": "score", "value": 3, "unit": "points"},
            ],
        }
        for number in range(commits)
    ]
    document = json.dumps({"entries": {"Rust": entries}})
    path.write_text(f"window.BENCHMARK_DATA = {document}", encoding="utf-8")
    return path


def test_a_dry_run_says_what_will_be_where_and_what_is_left_out(tmp_path: Path) -> None:
    path = data_js(tmp_path / "data.js", 40)
    done = paceline(
        "migrate", "github-action-benchmark", path, "--dry-run", "--on", "ci-7"
    )
    assert done.exit_code == 0, done.output
    assert "│ ci-7   │ Rust > decode │ time   │ 40     │ 1.5 ms │" in done.stdout
    assert (
        "github-action-benchmark: 40 points of 1 series, 1 benchmark at 40 commits from 2020-09-13 to 2020-10-22, in ns, "
        "on ci-7\nNothing was sent.\n"
    ) in done.stdout
    # The reason once, not at each commit.
    assert "left out Rust > score (40 times): its unit 'points'" in done.stderr
    assert done.stderr.count("of 40 read") == 10


def test_mistakes_about_a_history_are_explained(tmp_path: Path) -> None:
    (tmp_path / "ci-7").mkdir()
    for name in ("0a-py3", "0b-py4"):
        (tmp_path / "ci-7" / f"{name}.json").write_text("{}", encoding="utf-8")
    code = tmp_path / "data.js"
    code.write_text("window.BENCHMARK_DATA = load()", encoding="utf-8")
    action = "github-action-benchmark"
    cases: tuple[tuple[tuple[object, ...], str], ...] = (
        (("codespeed", code), "Unknown history 'codespeed'"),
        ((action, tmp_path / "none"), "none is not there"),
        ((action, code), "data.js: the results of github-action-benchmark are not"),
        (("asv", code), "expected asv's directory of results"),
        (("asv", tmp_path, "--on", "x"), "would mix what 2 targets measured"),
        (("asv", tmp_path), "holds no figures"),
        (("criterion-baselines", tmp_path), "there is no saved baseline in it"),
    )
    for arguments, words in cases:
        assert words in refusal("migrate", *arguments, "--dry-run")
    assert "No server is named" in refusal("migrate", action, code)


def test_what_is_left_out_for_one_reason_is_one_sentence_with_a_few_names() -> None:
    left_out = LeftOutCounter()
    for number in range(30):
        left_out.add(LeftOut.of(f"bench {number % 5}", None, "it failed"))
    for number in range(30):
        left_out.add(LeftOut.of("odd", None, f"reason {number}"))
    first, *others, last = left_out.sentences()
    assert first == "left out bench 0, bench 1, bench 2, … (30 times): it failed"
    assert (len(others), last) == (19, "and for 11 more reasons")


SERVER = ("--server", "http://127.0.0.1:1", "--token", "plt_x")
GO = "BenchmarkSort-2 10 5 ns/op\n"


def test_a_push_that_says_too_little_is_refused_before_anything_is_sent(
    tmp_path: Path,
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(GO, encoding="utf-8")
    files = tmp_path / "a.txt", tmp_path / "b.txt"
    commit = ("--commit", "abcdef1")
    assert "does not say which commit was measured" in refusal(
        "push", "-", *SERVER, given=GO
    )
    assert "there are 2 files" in refusal(
        "push", *files, *commit, "--format", "json", *SERVER
    )
    assert "Unknown harness 'rust'" in refusal(
        "push", *files, "--harness", "rust", *SERVER
    )
    assert "cannot be reached" in refusal("push", *files, *commit, *SERVER)


def finished(outcome: str, *verdicts: str) -> FinishedRun:
    comparison = {"benchmark": "b", "arm": "a", "params": {}, "words": "", "reason": ""}
    compared: list[dict[str, Any]] = [
        {**comparison, "verdict": verdict} for verdict in verdicts
    ]
    return FinishedRun({"id": "run_1", "outcome": outcome, "jobs": []}, compared)


@pytest.mark.parametrize(
    ("runs", "status"),
    [
        ([finished("inconclusive")], 0),
        ([finished("inconclusive", "inconclusive")], 3),
        ([finished("inconclusive"), finished("fail")], 2),
        ([finished("inconclusive", "inconclusive"), finished("failed")], 1),
        ([finished("pass", "pass")], 0),
    ],
)
def test_nothing_to_compare_with_is_no_failure_and_the_worst_verdict_counts(
    runs: list[FinishedRun], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pushing.show(runs, "http://h", "plt_x", [], "inconclusive") == status
    is_said = "there is nothing to compare with yet" in capsys.readouterr().err
    assert is_said == any(
        not run.comparisons and run.run["outcome"] == "inconclusive" for run in runs
    )


def test_a_log_has_ten_of_many_steps_and_each_of_few(
    capsys: pytest.CaptureFixture[str],
) -> None:
    display = PlainDisplay(terminal(), verbose=False, clock=lambda: 0.0)
    for total in (2_000, 3):
        for number in range(1, total + 1):
            display.step(number, total, "sent")
    shown = capsys.readouterr().out.splitlines()
    assert (len(shown), shown[0]) == (13, "200 of 2,000 sent")
    assert shown[-3:] == ["1 of 3 sent", "2 of 3 sent", "3 of 3 sent"]
