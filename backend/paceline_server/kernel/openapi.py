"""C2 as a document: FastAPI's OpenAPI with our one error shape in place of its own.

Place: `paceline-server openapi` writes it to `backend/openapi.json`, from which the frontend's types are
generated. Invariant: deterministic; every operation says it may answer `application/problem+json`.
"""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI

from paceline_server.kernel.wire import Problem

PROBLEM = {
    "description": "What went wrong; `code` is the literal to switch on.",
    "content": {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
    },
}


def install(app: FastAPI) -> None:
    """Let `app.openapi()` return the adapted document."""
    original = app.openapi

    def adapted() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _with_problems(original())
        return app.openapi_schema

    app.openapi = adapted  # type: ignore[method-assign]  # FastAPI documents this way of extending it


def _with_problems(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document["components"]["schemas"]
    schemas["Problem"] = Problem.model_json_schema()
    for gone in ("HTTPValidationError", "ValidationError"):
        schemas.pop(gone, None)
    for path, operations in document["paths"].items():
        if not path.startswith("/api/"):
            continue
        for operation in operations.values():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = PROBLEM
    document["paths"] = dict(sorted(document["paths"].items()))
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    return document


def text(app: FastAPI) -> str:
    """The document as committed: stable order, two spaces, a newline at the end."""
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"
