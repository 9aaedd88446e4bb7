"""Two projects, one of which owns everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.testing.two_projects import World, open_world


@pytest.fixture
def world(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> World:
    return open_world(client, enrolled, token)
