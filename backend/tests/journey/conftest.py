"""The scaled shape as real processes: one API, one worker, PostgreSQL, Redis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from paceline_contract.testing.waiting import wait_until

from .stack import Stack, base_env


@pytest.fixture
def limits() -> dict[str, str]:
    """The machine of a test run is always shared, above all with the servers under test."""
    return {
        "PACELINE_PRESSURE_LIMIT_PERCENT": "100",
        "PACELINE_DRIFT_LIMIT_PERCENT": "100",
    }


@pytest.fixture
def stack(
    shape: object,
    token: Callable[..., dict[str, str]],
    tmp_path: Path,
    limits: dict[str, str],
    port: int,
) -> Iterator[Stack]:
    """A running server without cool-down, so that a journey takes seconds. An agent may be silent for 30 s, as it may on a
    loaded machine; a test that needs the end of a lease ends it itself (`end_lease`)."""
    url = f"http://127.0.0.1:{port}"
    env = {
        **base_env(),
        "PACELINE_DATABASE_URL": shape.database_url,  # type: ignore[attr-defined] # Shape of the outer conftest
        "PACELINE_REDIS_URL": shape.redis_url,  # type: ignore[attr-defined]
        "PACELINE_DATA_DIR": str(tmp_path / "server"),
        "PACELINE_PUBLIC_URL": url,
        "PACELINE_LEASE_S": "30",
        "PACELINE_HEARTBEAT_S": "1",
        "PACELINE_CONFIRM_COOLDOWN_S": "0.1",
        "PACELINE_SWEEP_S": "0.2",
        **limits,
    }
    headers = token("read", "ingest", "alerts:write", "admin")
    with ExitStack() as resources:
        started = Stack(url, env, tmp_path, resources, headers)
        started.start("api", "paceline-server", "api", "--port", str(port))
        started.start("worker", "paceline-server", "worker")
        wait_until("the API", lambda: _ready(started))
        yield started


def _ready(stack: Stack) -> bool:
    try:
        return stack.client.get("/readyz").status_code == 200
    except OSError:
        return False
    except Exception as error:
        if type(error).__module__.startswith("httpx"):
            return False
        raise
