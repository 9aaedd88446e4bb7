"""Commands whose output streams know few characters, as on build servers and Windows consoles, end as elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from paceline_contract.testing.waiting import WITHIN_S

TITLE = "解析 … Größe 😀"
ENCODINGS = ["ascii", "cp1252", "cp437", "utf-8"]


def run(*arguments: str, encoding: str) -> tuple[int, str, str]:
    """The exit status and both outputs of a process of its own, whose streams have this encoding."""
    done = subprocess.run(
        [sys.executable, "-m", "paceline", *arguments],
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "200"},
        capture_output=True,
        timeout=WITHIN_S,
        check=False,
    )
    return done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding)


def seen(text: str, encoding: str) -> str:
    return text.encode(encoding, "replace").decode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_name_that_cannot_be_printed_ends_no_command(
    suite_repository: Path, tmp_path: Path, encoding: str
) -> None:
    manifest = suite_repository / "bench/suite.toml"
    manifest.write_text(manifest.read_text().replace('"Mine"', f'"{TITLE}"'))
    status, shown, error = run("validate", str(manifest), encoding=encoding)
    assert (status, error) == (0, "")
    assert seen(TITLE, encoding) in shown


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_error_that_cannot_be_printed_whole_is_still_the_error(
    tmp_path: Path, encoding: str
) -> None:
    missing = tmp_path / f"{TITLE}.toml"
    status, shown, error = run("validate", str(missing), encoding=encoding)
    assert (status, shown) == (1, "")
    assert seen(missing.name, encoding) in error
    assert "Traceback" not in error


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_holds_every_character_in_every_encoding(
    tmp_path: Path, encoding: str
) -> None:
    """A criterion directory whose names need more characters than most encodings have."""
    measured = tmp_path / "target" / "criterion" / TITLE / "new"
    measured.mkdir(parents=True)
    (measured / "benchmark.json").write_text(
        json.dumps(
            {
                "group_id": TITLE,
                "function_id": None,
                "value_str": None,
                "throughput": None,
                "full_id": TITLE,
                "directory_name": TITLE,
                "title": TITLE,
            }
        )
    )
    (measured / "sample.json").write_text(
        json.dumps(
            {
                "sampling_mode": "Flat",
                "iters": [1.0] * 10,
                "times": [100.0 + i for i in range(10)],
            }
        )
    )
    status, shown, error = run(
        "import",
        "--format",
        "criterion",
        str(tmp_path / "target" / "criterion"),
        "--dry-run",
        "--json",
        encoding=encoding,
    )
    assert status == 0, error
    assert TITLE in json.dumps(json.loads(shown), ensure_ascii=False)
