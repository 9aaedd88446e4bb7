"""C2 as committed is C2 as served."""

from __future__ import annotations

from pathlib import Path

from paceline_server.api import create_app
from paceline_server.kernel import openapi
from paceline_server.kernel.settings import Settings

COMMITTED = Path(__file__).resolve().parents[2] / "openapi.json"


def test_the_committed_contract_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == openapi.render_document(
        create_app(Settings())
    ), "run `make openapi` and commit what changed"


def test_every_operation_declares_problems_and_has_a_unique_name() -> None:
    document = create_app(Settings()).openapi()
    operations = [
        operation
        for path, methods in document["paths"].items()
        if path.startswith("/api/")
        for operation in methods.values()
    ]
    assert all("default" in operation["responses"] for operation in operations)
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
