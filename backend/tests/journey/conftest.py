"""The scaled shape as real processes: one API, one worker, PostgreSQL, Redis."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from paceline_contract.testing.waiting import wait_until

from .stack import SHARED_HOST, WITHOUT_PAUSES, Stack, base_env

collect_ignore = [] if "PACELINE_GITEA" in os.environ else ["test_forge.py"]


@pytest.fixture
def limits() -> dict[str, str]:
    """The limits above which the server calls the machine disturbed."""
    return SHARED_HOST


@pytest.fixture
def stack(
    shape: object,
    token: Callable[..., dict[str, str]],
    tmp_path: Path,
    *,
    request: pytest.FixtureRequest,
    limits: dict[str, str],
    port: int,
) -> Iterator[Stack]:
    """A running server, with the limits of the test."""
    url = f"http://127.0.0.1:{port}"
    env = {
        **base_env(),
        "PACELINE_DATABASE_URL": shape.database_url,  # type: ignore[attr-defined] # Shape of the outer conftest
        "PACELINE_REDIS_URL": shape.redis_url,  # type: ignore[attr-defined]
        "PACELINE_DATA_DIR": str(tmp_path / "server"),
        "PACELINE_PUBLIC_URL": url,
        **WITHOUT_PAUSES,
        **limits,
    }
    headers = token("read", "ingest", "alerts:write", "admin")
    failed_before = request.session.testsfailed
    with ExitStack() as resources:
        started = Stack(url, env, tmp_path, resources, headers)
        started.start("api", "paceline-server", "api", "--port", str(port))
        started.start("worker", "paceline-server", "worker")
        wait_until("the API", started.is_ready)
        yield started
        if request.session.testsfailed > failed_before:
            started.end()
