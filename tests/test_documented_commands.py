"""Runs the commands of docs/ci.md and docs/rules.md, taken from the pages, against a real server in the embedded shape.

The server refuses the run, because no agent announced a suite. The journey tests finish runs.
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
    """A server in the embedded shape. `link` signs its first account in, once."""

    address: str
    link: str
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
            yield Server(said["Paceline is ready"], said["Sign in once with"], data)
        finally:
            child.terminate()
            child.wait(WITHIN_S)
            reader.join(WITHIN_S)


def test_the_documented_commands_make_a_token_that_may_request_runs(
    server: Server, tmp_path: Path
) -> None:
    address = server.address
    made = run_in_shell(
        block("docs/ci.md", "token"),
        tmp_path,
        PACELINE_SERVER=address,
        LINK=server.link,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    secret = re.search(r'"secret":\s*"(plt_[^"]+)"', made.stdout)
    assert secret is not None, made.stdout
    assert not (tmp_path / "session.txt").exists()

    environment = {
        "PACELINE_SERVER": address,
        "PACELINE_TOKEN": secret[1],
        "COMMIT": "0123456789abcdef",
    }
    answer = run_in_shell(block("docs/ci.md", "request"), tmp_path, **environment)
    assert answer.returncode != 0
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


def test_the_token_of_the_servers_shell_may_submit(
    server: Server, tmp_path: Path
) -> None:
    """A refusal of the suite shows that the token was accepted."""
    made = run_in_shell(
        block("docs/ci.md", "shell token"), tmp_path, PACELINE_DATA_DIR=str(server.data)
    )
    assert made.returncode == 0, made.stderr
    submitted = run_in_shell(
        block("docs/ci.md", "formats"),
        tmp_path,
        PACELINE_SERVER=server.address,
        PACELINE_TOKEN=made.stdout.strip(),
    )
    assert submitted.returncode == 1
    assert "No agent has announced a suite 'hashing'" in submitted.stderr


def test_the_token_for_triage_may_save_the_rule_of_the_page(
    server: Server, tmp_path: Path
) -> None:
    made = run_in_shell(
        block("docs/rules.md", "token"), tmp_path, PACELINE_DATA_DIR=str(server.data)
    )
    assert made.returncode == 0, made.stderr
    saved = run_in_shell(
        block("docs/rules.md", "save") + "paceline rules list --json",
        tmp_path,
        PACELINE_SERVER=server.address,
        PACELINE_TOKEN=made.stdout.strip(),
    )
    assert saved.returncode == 0, saved.stderr
    assert "In the last 30 days it would not have fired." in saved.stdout
    assert '"name": "ledger"' in saved.stdout


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
