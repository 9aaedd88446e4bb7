"""Requests runs as docs/ci.md says from a real server that refuses them, because no agent announced a suite.

backend/tests/journey/test_first_day.py runs the printed commands to their ends.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S
from printed_commands import BIN, block, run_in_shell


class Server(NamedTuple):
    """A server in the embedded shape."""

    address: str
    data: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`paceline-server up` without an agent."""
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
    said: list[str] = []
    ready = threading.Event()

    def read(child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            if found := re.match(r"\s*Paceline is ready:\s*(\S+)", line):
                said.append(found[1])
                ready.set()

    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with ChildProcess[str](
        command, env=env, stdout=subprocess.PIPE, text=True
    ) as child:
        reader = threading.Thread(target=read, args=(child,), daemon=True)
        reader.start()
        try:
            assert ready.wait(WITHIN_S), "the server did not start"
            yield Server(said[0], data)
        finally:
            child.terminate()
            child.wait(WITHIN_S)
            reader.join(WITHIN_S)


def test_a_refused_run_is_no_run_and_says_what_would_help(
    server: Server, tmp_path: Path
) -> None:
    made = run_in_shell(
        "paceline-server token create ci", tmp_path, PACELINE_DATA_DIR=str(server.data)
    )
    environment = {
        "PACELINE_SERVER": server.address,
        "PACELINE_TOKEN": made.stdout.strip(),
        "COMMIT": "0123456789abcdef",
    }
    answer = run_in_shell(block("docs/ci.md", "request"), tmp_path, **environment)
    assert (answer.returncode, "unknown_suite" in answer.stdout) == (1, True)
    listed = run_in_shell(
        'curl --silent "$PACELINE_SERVER/api/v1/runs" --header "Authorization: Bearer $PACELINE_TOKEN"',
        tmp_path,
        **environment,
    )
    assert json.loads(listed.stdout) == {"items": [], "next": None}
    preset = run_in_shell(
        "paceline submit hashing --preset first_look", tmp_path, **environment
    )
    assert preset.returncode == 1
    assert "There is no suite 'hashing'" in preset.stderr
    assert "agent.toml" in preset.stderr


def test_submit_tells_why_a_run_was_refused_and_ends_with_an_error(
    server: Server,
) -> None:
    done = subprocess.run(
        [
            BIN / "paceline",
            "submit",
            "hashing",
            "--server",
            server.address,
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
