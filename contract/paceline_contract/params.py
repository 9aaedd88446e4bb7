"""Params of a case: their canonical form, how people read them and how options give them.

Params are equal exactly when their keys are equal; stored rows, digests and look-ups use the key. Which params a
benchmark has and which values they may take is checked in `manifest_rules.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache

from paceline_contract.events import ParamValue

SEPARATORS = "|,"
"""Separators of values in `--params k=v1|v2` and of pairs in `--case BENCHMARK/ARM/k=v,k=v`."""

_COMPACT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
"""One encoder for all: `json.dumps` with options builds a new one each time, and that is half of its time."""


class ParamError(ValueError):
    """A text is not a param; the message says what was expected."""


def params_key(params: Mapping[str, ParamValue]) -> str:
    """Return the canonical form: one sortable text, e.g. `{"batch":1000}`."""
    return _encode_value(tuple(params.items()))


@lru_cache(maxsize=4096)
def _encode_value(items: tuple[tuple[str, ParamValue], ...]) -> str:
    """Encode params once: thousands of cases share few of them, and encoding takes ten times as long as looking up."""
    return _COMPACT.encode(dict(items))


def parse_key(text: str) -> dict[str, ParamValue]:
    """Return the params in a JSON object such as `params_key` writes. Raises `ParamError`."""
    try:
        params = json.loads(text)
    except (ValueError, RecursionError):
        params = None
    if not isinstance(params, dict) or not all(
        type(value) in (int, str) for value in params.values()
    ):
        raise ParamError("expected a JSON object of whole numbers and texts")
    return params


def params_text(params: Mapping[str, ParamValue], separator: str = ", ") -> str:
    """Return params for people: `batch=1000, order=random`; empty without params."""
    return separator.join(f"{name}={value}" for name, value in params.items())


def join_values(values: Iterable[ParamValue]) -> str:
    """Return values as `--params` takes them: `1000|2000`."""
    return "|".join(map(str, values))


def split_values(text: str) -> list[str]:
    """Return the texts of `v1|v2`."""
    return text.split("|")


def split_pair(text: str) -> tuple[str, str]:
    """Split `NAME=VALUE` into name and text. Raises `ParamError`."""
    name, _, value = text.partition("=")
    if not name or not value:
        raise ParamError(f"{text!r} is not NAME=VALUE")
    return name, value


def typed_value(kind: str, text: str) -> ParamValue:
    """Return the value that `text` is for a param or knob of this kind. Raises `ParamError`."""
    if kind != "int":
        return text
    try:
        return int(text)
    except ValueError as error:
        raise ParamError(f"expected a whole number, found {text!r}") from error


def untyped_value(text: str) -> ParamValue:
    """Return the value of a `text` whose kind only the server knows: a whole number if it is written as one."""
    is_number = text.isascii() and text.isdigit() and len(text) <= 19
    return int(text) if is_number else text
