"""Adapts FastAPI's OpenAPI document to what our routes do.

Every operation may answer `application/problem+json`, our only error shape, and every operation that needs a
credential takes a project.

`paceline-server openapi` writes the document to `backend/openapi.json`, from which the frontend's types are generated.
"""

from __future__ import annotations

import json
from inspect import cleandoc
from typing import Any

import msgspec
from fastapi import FastAPI

from paceline_server.kernel.wire import Problem

PROBLEM = {
    "description": "What went wrong; `code` is the literal to switch on.",
    "content": {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
    },
}


PROJECT = {
    "name": "project",
    "in": "query",
    "required": False,
    "description": "Which of your projects; `default`, or your only one, unless given. A token has its own.",
    "schema": {"type": "string"},
}
"""The query parameter `project`. `accounts/admission.py` reads it before any route runs, so no route declares it."""


def install(app: FastAPI) -> None:
    """Let `app.openapi()` return the adapted document."""
    original = app.openapi

    def adapted() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _add_problems(original())
        return app.openapi_schema

    app.openapi = adapted  # type: ignore[method-assign]  # FastAPI documents this way of extending it


def _add_problems(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document["components"]["schemas"]
    schemas["Problem"] = Problem.model_json_schema()
    for replaced in ("HTTPValidationError", "ValidationError"):
        schemas.pop(replaced, None)
    for path, operations in document["paths"].items():
        if not path.startswith("/api/"):
            continue
        for operation in operations.values():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = PROBLEM
            if "security" in operation:
                operation.setdefault("parameters", []).append(PROJECT)
    document["paths"] = dict(sorted(document["paths"].items()))
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    return document


def inlined_schema(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of a type of the contract between agent and server, with all references inlined.

    Discriminators are removed, because they refer to components; Python's anchors become those of JSON schemas.
    """
    schema = msgspec.json.schema(shape)
    definitions = schema.pop("$defs")

    def inline(node: Any) -> Any:
        if isinstance(node, list):
            return [inline(child) for child in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            return inline(definitions[node["$ref"].rsplit("/", 1)[1]])
        inlined = {key: inline(child) for key, child in node.items()}
        inlined.pop("discriminator", None)
        if isinstance(pattern := inlined.get("pattern"), str):
            inlined["pattern"] = pattern.replace(r"\A", "^").replace(r"\Z", "$")
        if isinstance(description := inlined.get("description"), str):
            inlined["description"] = cleandoc(description)
        return inlined

    document: dict[str, Any] = inline(schema)
    return document


def render_document(app: FastAPI) -> str:
    """Return the document as the repository stores it: in stable order, indented by two spaces."""
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"
