"""Lists in words all JSON or TOML values that do not fit a msgspec type.

msgspec stops at the first problem, but the author of a file wants to see all of them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from msgspec import inspect

from paceline_contract.events import INT64_MAX

Path = tuple[str | int, ...]
Located = tuple[Path, str]


def table_problems(value: object, expected_type: type) -> Iterator[Located]:
    """Yield (path, what was expected there) of every value that does not fit the type."""
    yield from _problems((), value, inspect.type_info(expected_type), "")


def shown(value: object) -> str:
    """Return a value of a file as an error message quotes it."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"


def _problems(
    path: Path, value: object, kind: inspect.Type, hint: str
) -> Iterator[Located]:
    match kind:
        case inspect.Metadata():
            described = (kind.extra_json_schema or {}).get("description", hint)
            yield from _problems(path, value, kind.type, described)
        case inspect.UnionType():
            yield from _union(path, value, kind, hint)
        case inspect.StructType() if isinstance(value, dict):
            yield from _struct(path, value, kind)
        case inspect.DictType() if isinstance(value, dict):
            yield from _size(path, value, kind.min_length, kind.max_length)
            for key, item in value.items():
                yield from _problems((*path, key), key, kind.key_type, "")
                yield from _problems((*path, key), item, kind.value_type, "")
        case inspect.ListType() if isinstance(value, list):
            yield from _size(path, value, kind.min_length, kind.max_length)
            for index, item in enumerate(value):
                yield from _problems((*path, index), item, kind.item_type, "")
        case _:
            if not _fits(value, kind):
                expected = hint or _describe_type(kind)
                separator = ";" if "," in expected else ","
                yield path, f"expected {expected}{separator} found {shown(value)}"


def _struct(
    path: Path, table: dict[str, Any], kind: inspect.StructType
) -> Iterator[Located]:
    names = [field.encode_name for field in kind.fields]
    for key in table:
        if key not in names:
            expected = ", ".join(sorted(names))
            yield (*path, key), f"unknown name; expected one of {expected}"
    for field in kind.fields:
        if field.encode_name in table:
            at = (*path, field.encode_name)
            yield from _problems(at, table[field.encode_name], field.type, "")
        elif field.required:
            yield path, f"{field.encode_name!r} is missing"


def _union(
    path: Path, value: object, kind: inspect.UnionType, hint: str
) -> Iterator[Located]:
    """Yield, for an optional value, the problems of its type; for several types, one sentence."""
    options = [option for option in kind.types if option != inspect.NoneType()]
    if value is None and len(options) < len(kind.types):
        return
    if len(options) == 1:
        yield from _problems(path, value, options[0], hint)
        return
    if all(any(_problems(path, value, option, "")) for option in options):
        expected = hint or " or ".join(map(_describe_type, options))
        yield path, f"expected {expected}, found {shown(value)}"


def _size(
    path: Path,
    values: dict[str, Any] | list[Any],
    least: int | None,
    most: int | None,
) -> Iterator[Located]:
    if least is not None and len(values) < least:
        yield path, f"expected at least {least}, found {len(values) or 'none'}"
    if most is not None and len(values) > most:
        yield path, f"expected at most {most}, found {len(values)}"


def _fits(value: object, kind: inspect.Type) -> bool:
    match kind:
        case inspect.LiteralType():
            return any(
                type(value) is type(item) and value == item for item in kind.values
            )
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.StrType():
            return isinstance(value, str) and _matches(value, kind)
        case inspect.IntType() | inspect.FloatType():
            numbers = int if isinstance(kind, inspect.IntType) else int | float
            is_number = isinstance(value, numbers) and not isinstance(value, bool)
            return is_number and _is_in_range(value, kind)
        case inspect.DateTimeType():
            return isinstance(value, str) and _is_instant(value)
        case _:
            return False  # a table or a list, for which `value` is none


def _matches(text: str, kind: inspect.StrType) -> bool:
    if len(text) < (kind.min_length or 0):
        return False
    if kind.max_length is not None and len(text) > kind.max_length:
        return False
    return kind.pattern is None or re.search(kind.pattern, text) is not None


def _is_instant(text: str) -> bool:
    try:
        return msgspec.convert(text, datetime).tzinfo is not None
    except msgspec.ValidationError:
        return False


def _is_in_range(value: Any, kind: inspect.IntType | inspect.FloatType) -> bool:
    low = -math.inf if kind.ge is None else kind.ge
    high = math.inf if kind.le is None else kind.le
    return bool(low <= value <= high)


def _describe_type(kind: inspect.Type) -> str:
    match kind:
        case inspect.LiteralType():
            several = "one of " if len(kind.values) > 1 else ""
            return several + ", ".join(map(str, kind.values))
        case inspect.StrType():
            return "text of at least one character" if kind.min_length else "text"
        case inspect.IntType():
            return f"a whole number{_span(kind)}"
        case inspect.FloatType():
            return f"a number{_span(kind)}"
        case _:
            return _NAMES.get(type(kind), "a table")


_NAMES = {inspect.BoolType: "true or false", inspect.ListType: "a list"}


def _span(kind: inspect.IntType | inspect.FloatType) -> str:
    low = "" if kind.ge is None else f" from {kind.ge}"
    return low if kind.le in (None, INT64_MAX) else f"{low} to {kind.le}"
