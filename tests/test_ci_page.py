"""Runs the commands of docs/ci.md, taken from the page, against a real server in the embedded shape.

The server refuses the run, because no agent announced a suite. The journey tests finish runs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


def block(name: str) -> str:
    """The shell block of the page that is marked with `name`."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    match = re.search(rf"<!-- run: {name} -->\n```\n(.*?)```", page, re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """(address, one-time link) of `paceline-server up` without an agent."""
    data = tmp_path_factory.mktemp("server")
    command = [
        str(BIN / "paceline-server"),
        "up",
        "--no-agent",
        "--port",
        "0",
        "--data",
        str(data),
    ]
    said: dict[str, str] = {}
    ready = threading.Event()

    def read(child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            if found := re.match(
                r"\s*(Paceline is ready|Sign in once with):\s*(\S+)", line
            ):
                said[found[1]] = found[2]
            if len(said) == 2:
                ready.set()

    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with ChildProcess[str](
        command, env=env, stdout=subprocess.PIPE, text=True
    ) as child:
        reader = threading.Thread(target=read, args=(child,), daemon=True)
        reader.start()
        try:
            assert ready.wait(WITHIN_S), "the server did not start"
            yield said["Paceline is ready"], said["Sign in once with"]
        finally:
            child.terminate()
            child.wait(WITHIN_S)
            reader.join(WITHIN_S)


def shell(text: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs a block as a CI system would: bash, stopping at the first error."""
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", text],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )


def test_the_documented_commands_make_a_token_that_may_request_runs(
    server: tuple[str, str], tmp_path: Path
) -> None:
    address, link = server
    made = shell(block("token"), tmp_path, PACELINE_SERVER=address, LINK=link)
    assert made.returncode == 0, made.stdout + made.stderr
    secret = re.search(r'"secret":\s*"(plt_[^"]+)"', made.stdout)
    assert secret is not None, made.stdout
    assert not (tmp_path / "session.txt").exists()

    environment = {
        "PACELINE_SERVER": address,
        "PACELINE_TOKEN": secret[1],
        "COMMIT": "0123456789abcdef",
    }
    answer = shell(block("request"), tmp_path, **environment)
    assert answer.returncode != 0
    listed = shell(
        'curl --silent "$PACELINE_SERVER/api/v1/runs" --header "Authorization: Bearer $PACELINE_TOKEN"',
        tmp_path,
        **environment,
    )
    assert json.loads(listed.stdout) == {"items": [], "next": None}
    preset = shell(
        f"{BIN}/paceline submit hashing --preset first_look", tmp_path, **environment
    )
    assert preset.returncode == 1
    assert "There is no suite 'hashing'" in preset.stderr
    assert "agent.toml" in preset.stderr


def test_submit_tells_why_a_run_was_refused_and_ends_with_an_error(
    server: tuple[str, str],
) -> None:
    done = subprocess.run(
        [
            BIN / "paceline",
            "submit",
            "hashing",
            "--server",
            server[0],
            "--token",
            "plt_wrong",
        ],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert done.returncode == 1
    assert "unauthenticated" in done.stderr
