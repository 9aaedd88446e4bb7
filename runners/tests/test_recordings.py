"""Tests of what becomes of a directory that was measured here before a server sees it: its recording, and refusals that name
what to do."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from paceline.commands.keeping import KeepingPlace, keep
from paceline.errors import UserError
from paceline.recordings import write_recording
from paceline.stream import LOG_LAST_LINES

from .test_cli import paceline

GOLDEN = json.loads(
    (
        Path(__file__).parents[2] / "native/protocol/vectors/recordings.golden.json"
    ).read_bytes()
)
NOWHERE = ("--server", "http://127.0.0.1:9")
START = {
    "type": "start",
    "v": 1,
    "suite": "sorting",
    "workload": "sorter",
    "launch": 0,
    "seed": 0,
    "build": {},
    "clock": {"name": "monotonic", "resolution_ns": 1, "overhead_ns": 1},
}


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A directory with one launch of nothing."""
    directory = tmp_path / "measured"
    directory.mkdir()
    rewrite_run(directory)
    lines = [json.dumps(event) + "\n" for event in (START, {"type": "done"})]
    (directory / "launch-000.sorter.jsonl").write_text("".join(lines))
    return directory


def rewrite_run(directory: Path, **changes: Any) -> None:
    run = {
        "manifest": {},
        "revision": "4f" * 20,
        "target": "lab",
        "started_at": "2026-03-14T09:26:53+00:00",
        "environment": {},
        "options": {"benchmarks": []},
        **changes,
    }
    (directory / "run.json").write_text(json.dumps(run))


def push(*arguments: str) -> str:
    """Push without a server to reach; return what standard error says."""
    done = paceline("push", *arguments, *NOWHERE, PACELINE_TOKEN="plt_test")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "vector",
    [vector for vector in GOLDEN["accepted"] if "files" in vector],
    ids=lambda vector: vector["name"],
)
def test_a_directory_becomes_its_golden_recording(vector: Any, tmp_path: Path) -> None:
    """Other bytes would be another import of what a server has already."""
    for name, content in vector["files"].items():
        lines = [content] if name == "run.json" else content
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        (tmp_path / name).write_text("\n".join([*texts, ""]), encoding="utf-8")
    data = gzip.decompress(write_recording(tmp_path).packed)
    assert [json.loads(line) for line in data.splitlines()] == vector["lines"]
    assert sha256(data).hexdigest() == vector["sha256"]


def test_only_a_whole_measurement_is_sent(measured: Path) -> None:
    stream = measured / "launch-000.sorter.jsonl"
    whole = stream.read_text()
    stream.write_text(whole.splitlines()[0] + "\n")
    assert "launch-000.sorter.jsonl: line 2: truncated" in push(str(measured))
    stream.write_text(whole)
    failure = {"cause": "workload_crashed", "detail": "exit 139"}
    rewrite_run(measured, failure=failure)
    assert "failed: workload_crashed: exit 139" in push(str(measured))
    rewrite_run(measured, revision="HEAD")
    assert "Measure again" in push(str(measured))
    (measured / "run.json").write_text("{")
    assert "run.json: " in push(str(measured))
    assert not (measured / "recording.ndjson.gz").exists()


def test_what_paceline_wrote_down_itself_is_not_stated_again(measured: Path) -> None:
    for option, value in (("--commit", "4f" * 20), ("--at", "2026-03-14T09:26:53Z")):
        said = push(str(measured), option, value)
        assert f"wrote down {option} itself" in said


def test_a_disk_that_takes_no_recording_is_named(measured: Path) -> None:
    (measured / "recording.ndjson.gz").mkdir()
    with pytest.raises(UserError, match=r"recording\.ndjson\.gz cannot be written: "):
        write_recording(measured)


def test_what_is_larger_than_a_request_is_not_sent(
    measured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text that cannot be compressed: of what a workload prints, the last lines are part of a recording."""
    for workload in ("sorter", "searcher"):
        lines = [token_hex(1990) + "\n" for _ in range(LOG_LAST_LINES)]
        (measured / f"{workload}.stderr.log").write_text("".join(lines))
    said = push(str(measured))
    assert "bytes, and a server takes at most 8,388,608." in said
    assert "--benchmark" in said
    assert "cannot be reached" not in said
    keep(measured, KeepingPlace(NOWHERE[1], "plt_test", None, None))
    said = capsys.readouterr().err
    assert "Not kept on the server: " in said
    assert "send it later" not in said


def test_options_of_keeping_need_each_other_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    alone = paceline("run", "--on", "lab-1", "--", "true", cwd=tmp_path)
    assert (alone.returncode, "no --server is given" in alone.stderr) == (1, True)
    nobody = paceline("run", *NOWHERE, "--", "true", cwd=tmp_path, PACELINE_TOKEN="")
    assert (nobody.returncode, "token" in nobody.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []
