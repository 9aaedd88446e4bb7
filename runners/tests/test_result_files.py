"""Tests of `paceline import` for results of other tools: what is read, said about its origin, printed and refused."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from paceline import result_files
from paceline.cli import app
from paceline.errors import UserError
from paceline_contract.readers.registry import StatedOrigin
from paceline_contract.results import read_result
from typer.testing import CliRunner, Result

HYPERFINE = {
    "results": [
        {"command": "sleep 0.1", "times": [0.1, 0.2, 0.3], "exit_codes": [0, 0, 0]},
        {"command": "false", "times": [0.1], "exit_codes": [1]},
    ]
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(HYPERFINE), encoding="utf-8")
    return path


def import_(*arguments: object, given: str | None = None) -> Result:
    """Runs the command in this process."""
    return CliRunner().invoke(
        app, ["import", *map(str, arguments)], input=given, env={"PACELINE_TOKEN": None}
    )


def refusal(*arguments: object, given: str | None = None) -> str:
    refused = import_(*arguments, given=given).exception
    assert isinstance(refused, UserError)
    return str(refused)


ORIGIN = (
    "--commit",
    "abcdef1",
    "--branch",
    "main",
    "--at",
    "2026-11-29T08:30:00+01:00",
)


def test_a_csv_is_read_by_the_columns_that_a_person_declares(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("name;elapsed\nsort;1.5\nsort;2.5\n", encoding="utf-8")
    declared = ("--column", "name=benchmark", "--column", "elapsed=ms")
    csv = (path, "--format", "csv", *ORIGIN, "--dry-run")
    done = import_(*csv, *declared, "--json")
    assert done.exit_code == 0, done.output
    read = read_result(done.stdout.encode())
    assert (read.tool, read.commit) == ("csv", "abcdef1")
    assert [len(metric.samples) for metric in read.cases[0].metrics] == [2]
    assert "expected a column for the benchmark" in refusal(*csv)
    path.write_text("name;elapsed\nsort;fast\n", encoding="utf-8")
    assert "line 2, elapsed: expected a number" in refusal(*csv, *declared)
    other = (path, "--format", "jmh", "--dry-run", *declared)
    assert "--column does not apply to --format jmh" in refusal(*other)


def test_lines_are_read_by_the_pattern_that_a_person_declares(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("starting\nsort took 1.5 ms\nsort took 2.5 ms\n", encoding="utf-8")
    lines = (path, "--format", "lines", *ORIGIN, "--dry-run")
    pattern = r"(?P<benchmark>\S+) took (?P<value>\S+) (?P<unit>\S+)"
    done = import_(*lines, "--pattern", pattern, "--json")
    assert done.exit_code == 0, done.output
    read = read_result(done.stdout.encode())
    assert [len(metric.samples) for metric in read.cases[0].metrics] == [2]
    assert "Say which lines to read" in refusal(*lines)
    assert "no named groups" in refusal(*lines, "--pattern", "took")
    other = (path, "--format", "csv", "--dry-run", "--pattern", pattern)
    assert "--pattern does not apply to --format csv" in refusal(*other)


def test_the_tool_is_recognised_and_the_document_has_what_a_person_says(
    results: Path, tmp_path: Path
) -> None:
    done = import_(results, *ORIGIN, "--dry-run", "--json")
    assert done.exit_code == 0, done.output
    read = read_result(done.stdout.encode())
    assert (read.tool, read.commit, read.branch) == ("hyperfine", "abcdef1", "main")
    assert read.at == datetime(2026, 11, 29, 7, 30, tzinfo=UTC)
    assert "left out false: the tool reports a failure" in done.stderr
    piped = import_("-", *ORIGIN, "--out", tmp_path / "out", given=results.read_text())
    assert piped.exit_code == 0, piped.output
    assert "sleep 0.1" in piped.stdout
    assert "200 ms" in piped.stdout
    written = (tmp_path / "out" / "import.json").read_bytes()
    assert read_result(written) == read


def test_the_body_has_the_document_the_file_and_where_it_was_measured(
    results: Path,
) -> None:
    file = result_files.read(str(results), None, StatedOrigin())
    body = result_files.import_body(file, "crypto", "ci-7", "October")
    assert body["measured_on"] == {"suite": "crypto", "on": "ci-7"}
    assert (body["title"], body["document"]["tool"]) == ("October", "hyperfine")
    original = body["original"]
    assert original["file"] == "bench.json"
    kept = gzip.decompress(base64.b64decode(original["gzip"]))
    assert kept == results.read_bytes()
    bare = result_files.import_body(file, None, None, None)
    assert (bare["measured_on"], "title" in bare) == ({}, False)
    # A server that cannot judge imports refuses what it does not know.
    assert "judge" not in bare


def test_mistakes_are_explained(results: Path, tmp_path: Path) -> None:
    nothing: Any = {"results": [HYPERFINE["results"][1]]}
    cases: tuple[tuple[tuple[object, ...], str], ...] = (
        ((results, "--format", "jmh"), "unexpected form"),
        ((results, "--commit", "HEAD"), "commit"),
        ((results, "--at", "yesterday"), "no time with a zone"),
        ((results, "--at", "2026-11-29T08:30"), "no time with a zone"),
        ((results, "--on", "ci-7"), "--on is stored on a server only"),
        ((results, "--fresh"), "--fresh is of a directory"),
        ((results, "--judge"), "--judge is stored on a server only"),
        ((results, "--seconds", "1"), "--seconds does not apply"),
        ((tmp_path / "missing.json",), "cannot be read"),
    )
    for arguments, words in cases:
        assert words in refusal(*arguments, "--dry-run")
    text = json.dumps(HYPERFINE)
    assert "--format paceline.result/1, androidx.benchmark" in refusal(
        "-", "--dry-run", given=text[:50]
    )
    assert "are not JSON" in refusal(
        "-", "--format", "hyperfine", "--dry-run", given=text[:50]
    )
    assert "holds no figures.\n  left out false" in refusal(
        "-", "--dry-run", given=json.dumps(nothing)
    )


def test_the_table_names_the_params_of_a_case(tmp_path: Path) -> None:
    row = [[2.5e-6, 0.75], [["64", "256"]]]
    document = {
        "commit_hash": "abcdef1",
        "date": 0,
        "result_columns": ["result", "params"],
        "results": {"time_sort": row},
    }
    path = tmp_path / "abcdef1-py3.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    shown = import_(path, "--dry-run").stdout
    assert "time_sort/param1=64 " in shown
    assert "2.5 µs" in shown
    assert "750 ms" in shown
