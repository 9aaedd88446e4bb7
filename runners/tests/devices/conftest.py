"""Fixtures: a device with its driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from paceline.api import ApiClient
from paceline.testing.fake_server import FakeServer

from .driving import Drive, Making
from .support import phone


@pytest.fixture
def drive(server: FakeServer, tmp_path: Path) -> Iterator[Making]:
    api = ApiClient(server.url, server.credential)
    yield lambda there=None, *routes: Drive(
        server, api, tmp_path, there or phone(), *routes
    )
    api.close()
