"""Tests of what `paceline submit` prints and writes when a run has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from paceline.api import ApiError
from paceline.commands.server_client import user_errors
from paceline.commands.submitting import (
    FinishedRun,
    comparison_table,
    describe_job,
    summary,
    write_outputs,
)
from paceline.display import render_table
from paceline.errors import UserError
from paceline_contract.outputs import BRACKETS, Output


def finished_run(
    outcome: str, *jobs: dict[str, Any], reason: str | None = None
) -> FinishedRun:
    return FinishedRun(
        {"id": "run_1", "outcome": outcome, "reason": reason, "jobs": list(jobs)}, []
    )


def test_the_summary_of_a_failed_run_names_the_cause_of_each_failed_job() -> None:
    job = {
        "target_name": "lab-1",
        "outcome": "failed",
        "cause": "build_failed",
        "cause_detail": "error[E0425]: cannot find function `hash`",
    }
    fine = {
        "target_name": "lab-2",
        "outcome": "inconclusive",
        "cause": None,
        "cause_detail": None,
    }
    late = {
        "target_name": "lab-3",
        "outcome": "expired",
        "cause": None,
        "cause_detail": "no agent leased it",
    }
    text = summary(
        finished_run("failed", job, fine, late, reason="lab-1: the build failed")
    )
    assert text.splitlines() == [
        "run_1: failed: lab-1: the build failed",
        "lab-1: failed: build_failed: error[E0425]: cannot find function `hash`",
        "lab-3: expired: no agent leased it",
    ]


@pytest.mark.parametrize(
    ("state", "reason", "words"),
    [
        (
            "queued",
            {
                "text": "lab-1 runs job job_7 of demo",
                "since": "2026-11-28T14:02:11Z",
                "advice": "It starts when that ends.",
            },
            "lab-1 queued since 2026-11-28 14:02 UTC: lab-1 runs job job_7 of demo. It starts when that ends.",
        ),
        (
            "preparing",
            {"text": "checkout and build", "since": None, "advice": None},
            "lab-1 preparing: checkout and build",
        ),
        ("measuring", None, "lab-1 measuring"),
    ],
)
def test_a_job_that_waits_says_since_when_why_and_what_would_change_that(
    state: str, reason: dict[str, Any] | None, words: str
) -> None:
    job = {"target_name": "lab-1", "state": state, "waiting_reason": reason}
    assert describe_job(job) == words


def test_a_refused_field_is_named_once() -> None:
    detail = "benchmarks: 'nope' is not declared by hashing."
    fields = {"benchmarks": "'nope' is not declared by hashing", "rounds": "too many"}
    with pytest.raises(UserError) as refused, user_errors():
        raise ApiError(422, "invalid_request", detail, fields)
    assert refused.value.text == (
        f"The server refused (invalid_request): {detail}\n  rounds: too many"
    )


def test_the_table_gives_the_reason_of_an_arm_that_does_not_apply_and_brackets_verdicts_that_do_not_decide() -> (
    None
):
    row = {"benchmark": "ledger", "params": {"size": 1}, "arm": "ffm"}
    elsewhere = {
        **row,
        "verdict": "not_applicable",
        "words": "nothing to compare",
        "reason": "Java 17 has no foreign-function API",
    }
    unwatched = {**row, "verdict": "fail", "words": "3 % slower", "decides": False}
    done = FinishedRun(
        {"id": "run_1", "outcome": "pass", "jobs": []}, [elsewhere, unwatched]
    )
    rows = [row[4:] for row in _rows_of(done)]
    assert rows == [
        ("not applicable", "Java 17 has no foreign-function API"),
        ("(fail)", "3 % slower"),
    ]


def _rows_of(done: FinishedRun) -> list[tuple[str, ...]]:
    columns = [[*map(str, column.cells)] for column in comparison_table(done).columns]
    return [*zip(*columns, strict=True)]


def test_the_table_says_what_each_row_is_compared_with_and_where() -> None:
    """In a run of a pull request an arm has two rows: against its reference, and against base."""
    row = {
        "benchmark": "ledger",
        "params": {"size": 1},
        "metric": "time",
        "arm": "loop",
        "reference": "builtin",
        "verdict": "fail",
        "words": "356 % slower",
        "sides": "arms",
        "target_name": "lab-1",
    }
    of_revisions = {**row, "reference": "base", "sides": "revisions"}
    run = {"id": "run_1", "outcome": "fail", "jobs": []}
    rows = _rows_of(FinishedRun(run, [row, of_revisions]))
    assert [cells[2:4] for cells in rows] == [
        ("loop", "time against builtin"),
        ("loop", "time against base"),
    ]
    elsewhere = {**row, "target_name": "lab-2"}
    rows = _rows_of(FinishedRun(run, [row, elsewhere]))
    assert [cells[0] for cells in rows] == ["lab-1", "lab-2"]


def test_a_run_of_one_commit_on_both_sides_says_that_it_compared_a_commit_with_itself() -> (
    None
):
    done = finished_run("pass")
    done.run.update(commit="a" * 40, base_commit="b" * 40)
    assert "A/A" not in summary(done)
    done.run.update(base_commit="a" * 40)
    assert f"Both sides are commit {'a' * 12}: an A/A comparison" in summary(done)


def test_brackets_are_explained_below_the_table_that_has_some(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = {"benchmark": "ledger", "params": {}, "arm": "ffm", "verdict": "fail"}
    for decides, count in ((True, 0), (False, 1)):
        item = {**row, "words": "3 % slower", "decides": decides}
        done = FinishedRun({"id": "run_1", "outcome": "pass", "jobs": []}, [item])
        write_outputs("http://127.0.0.1:9", "t", done, [Output("table", None)])
        assert capsys.readouterr().out.count(BRACKETS) == count


def test_a_name_in_the_table_is_no_markup_and_no_escape_of_the_terminal() -> None:
    """Both would hide a verdict, or end the command."""
    hostile = (
        "[/red][bold]x \x1b[2J\x1b]8;;https://evil.example\x07 </script> \U0001f600"
    )
    row = {"benchmark": hostile, "params": {"n": hostile}, "arm": hostile}
    item = {**row, "verdict": "fail", "words": hostile}
    done = FinishedRun(
        {"id": "run_1", "outcome": "fail", "reason": hostile, "jobs": []}, [item]
    )
    for text in (render_table(comparison_table(done)), summary(done)):
        assert "[/red][bold]x" in text
        assert "\x1b" not in text
        assert "evil" not in text


def test_a_table_in_a_file_is_plain_text_with_the_outcome_below(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"benchmark": "ledger", "params": {}, "arm": "ffm", "verdict": "pass"}
    words = "a sentence of more than eighty columns, which a terminal of ordinary width would have to break in two"
    done = FinishedRun(
        {"id": "run_1", "outcome": "pass", "jobs": []}, [{**row, "words": words}]
    )
    path = tmp_path / "table.txt"
    write_outputs("http://127.0.0.1:9", "t", done, [Output("table", path)])
    assert words in path.read_text()
    assert path.read_text().endswith("\nrun_1: pass\n")
    assert capsys.readouterr().out == ""
