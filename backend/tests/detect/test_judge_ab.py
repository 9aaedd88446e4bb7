"""`judge` on the output of `paceline ab`: two revisions, analysed like on the server."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from paceline_server.detect.judge import judge, list_undecided_in
from paceline_server.stats.voids import VoidLimits
from paceline_server.testing.sorting_suite import (
    revision_bench_cases,
    suite_manifest,
    write_ab_directory,
)

SLOWER = {1000: 0.061, 2000: 0.0}
SAME = {1000: 0.0, 2000: 0.0}


def _judge(directory: Path, **options: Any) -> tuple[int, str]:
    out = io.StringIO()
    return judge(directory, out, **options), out.getvalue()


@pytest.mark.parametrize(
    ("effects", "launches", "code"), [(SAME, 5, 0), (SLOWER, 5, 2), (SLOWER, 2, 3)]
)
def test_exit_codes_of_two_revisions(
    tmp_path: Path, effects: dict[int, float], launches: int, code: int
) -> None:
    write_ab_directory(tmp_path, revision_bench_cases(1, effects, launches=launches))
    assert _judge(tmp_path)[0] == code


def test_the_table_names_both_revisions_and_says_how_the_head_compares(
    tmp_path: Path,
) -> None:
    write_ab_directory(tmp_path, revision_bench_cases(1, SLOWER))
    _, text = _judge(tmp_path)
    lines = text.splitlines()
    assert lines[0].startswith("sorting at 4f4f")
    assert f"against {'0b' * 20}" in lines
    assert "sort_batch: time, head against base, margin 2 %" in lines
    slow = next(line for line in lines if line.split()[:2] == ["1000", "native"])
    assert "% slower (99.8 % interval: " in slow
    assert slow.endswith("fail")
    assert lines[-1].startswith(
        "verdict: FAIL - sort_batch batch=1000: native at head is "
    )
    assert "base: sorted ok, sorted ok" in text


def test_the_same_artifact_on_both_sides_is_reported(tmp_path: Path) -> None:
    write_ab_directory(
        tmp_path, revision_bench_cases(1, SLOWER), artifacts=("a" * 64, "a" * 64)
    )
    _, text = _judge(tmp_path)
    assert (
        "the same artifact on both sides: what differs is the environment, not the code"
        in text
    )
    assert text.rstrip().endswith(
        "both sides are the same artifact: the environment differs, not the code"
    )


def test_the_json_adds_the_base_and_the_side_of_each_measurement(
    tmp_path: Path,
) -> None:
    write_ab_directory(tmp_path, revision_bench_cases(1, SAME))
    path = tmp_path / "out.json"
    _judge(tmp_path, json_path=path)
    report = json.loads(path.read_text())
    assert report["base"] == {
        "revision": "0b" * 20,
        "artifact_hash": "b" * 64,
        "same_artifact": False,
    }
    assert {row["side"] for row in report["measurements"]} == {"base", "head"}
    assert {row["reference"] for row in report["comparisons"]} == {"base"}


def test_a_stream_of_neither_side_is_an_error(tmp_path: Path) -> None:
    write_ab_directory(tmp_path, revision_bench_cases(1, SAME))
    (tmp_path / "launch-000.base.sorter.jsonl").rename(
        tmp_path / "launch-000.sorter.jsonl"
    )
    code, text = _judge(tmp_path)
    assert (code, "names neither base nor head" in text) == (1, True)


def test_a_side_that_broke_off_never_passes(tmp_path: Path) -> None:
    write_ab_directory(tmp_path, revision_bench_cases(1, SAME))
    path = tmp_path / "launch-003.base.sorter.jsonl"
    path.write_text("\n".join(path.read_text().splitlines()[:40]) + "\n")
    code, text = _judge(tmp_path)
    assert code == 1
    assert "launch-003.base.sorter.jsonl line 41: truncated" in text


def test_what_is_not_measured_again_is_not_undecided(tmp_path: Path) -> None:
    manifest = suite_manifest()
    other = {**manifest["benchmarks"]["sort_batch"], "title": "Sort another batch"}
    manifest["benchmarks"] = {**manifest["benchmarks"], "sort_other": other}
    write_ab_directory(
        tmp_path,
        revision_bench_cases(1, SAME, launches=2),
        manifest=manifest,
        unaffected={"sort_other": "d" * 64},
        options={"launches": 5, "rounds": 20, "stop_when_sure": True},
    )
    assert list_undecided_in(tmp_path, VoidLimits()) == ["sort_batch"]


def test_a_recording_of_before_of_two_identical_revisions_passes(
    tmp_path: Path,
) -> None:
    write_ab_directory(
        tmp_path, ([], []), artifacts=("a" * 64, "a" * 64), identical=True
    )
    code, text = _judge(tmp_path)
    assert (code, "1 benchmark is not affected" in text) == (0, True), text
