"""Reads the params of a case from a query string."""

from __future__ import annotations

from paceline_contract.events import ParamValue
from paceline_contract.params import ParamError, parse_key

from paceline_server.kernel.errors import invalid_request


def params_of_query(text: str, example: str) -> dict[str, ParamValue]:
    """Parse a JSON object of params. Raises 400, showing the `example`, for anything else."""
    try:
        return parse_key(text)
    except ParamError:
        raise invalid_request(
            f"params: expected a JSON object such as {example}.",
            {"params": "a JSON object"},
        ) from None
