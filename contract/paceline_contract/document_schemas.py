"""Describes documents of the contract as JSON schemas, for programs that have no reader of ours.

They are made from the types that read the documents, so that both say the same. `native/protocol` keeps them, and
`scripts/document_schemas.py` writes them there.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from paceline_contract import recordings, results
from paceline_contract.items import Items


def result_schema() -> dict[str, Any]:
    """Return the schema of a `paceline.result/1`."""
    return _describe(results.FORMAT, msgspec.json.schema(results.Result))


def recording_schema() -> dict[str, Any]:
    """Return the schema of a line of a `paceline.recording/1`; the first is a `Recording`, each further one has `Items`."""
    lines, types = msgspec.json.schema_components([recordings.Recording, Items])
    return _describe(recordings.FORMAT, {"anyOf": list(lines), "$defs": types})


def _describe(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:" + re.sub(r"\W", ":", name),
        "title": name,
    }
    return {**head, **_translate(schema)}


def _translate(node: Any) -> Any:
    """Return a part of a schema with patterns of JSON Schema instead of Python's, and descriptions of one line."""
    if isinstance(node, list):
        return [_translate(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    return {key: _translate_entry(key, value) for key, value in node.items()}


def _translate_entry(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return _translate(value)
    if key == "pattern":
        return re.sub(r"\\A(.*)\\Z", r"^\1$", value)
    return " ".join(value.split()) if key == "description" else value
