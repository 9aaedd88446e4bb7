"""Reads the params of a case from a query string."""

from __future__ import annotations

import json

from paceline_server.ingest.cases import ParamValue
from paceline_server.kernel.errors import invalid_request


def params_of_query(text: str, example: str) -> dict[str, ParamValue]:
    """The JSON object `text`. Raises 400 with the `example` for anything else."""
    try:
        params = json.loads(text)
    except (ValueError, RecursionError):
        params = None
    if not isinstance(params, dict) or not all(
        type(value) in (int, str) for value in params.values()
    ):
        raise invalid_request(
            f"params: expected a JSON object such as {example}.",
            {"params": "a JSON object"},
        )
    return params
