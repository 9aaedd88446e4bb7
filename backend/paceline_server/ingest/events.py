"""One bench-stream event as a dict: which fields it must have and what they may hold (C1, `native/protocol`).

Place: the innermost ring of ingest, used by the stream reader (`stream.py`) and by uploaded event items
(`wire.py`), so that both refuse the same events with the same codes. Knows nothing of lines, order between
events, jobs or manifests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from paceline_contract.units import UNITS

INT64_MAX: Final = 2**63 - 1
MAX_VALUES: Final = 1_000
"""Values in one `samples` event and samples in one uploaded item (I7)."""
MAX_COUNTERS: Final = 16
"""Counters in one `samples` event or item (C1)."""

TERMINALS: Final = frozenset({"done", "error"})


class EventError(Exception):
    """Why an event is refused: a literal `code` of C1, the `field` if there is one, and what was expected."""

    def __init__(self, code: str, detail: str, field: str | None = None) -> None:
        self.code = code
        self.detail = detail
        self.field = field
        super().__init__(f"{code}: {detail}")


Check = Callable[[str, Any], None]


def _bad(field: str, expected: str) -> EventError:
    return EventError("bad_field", f"{field}: expected {expected}", field)


def _natural(field: str, value: Any) -> None:
    if type(value) is not int or not 0 <= value <= INT64_MAX:
        raise _bad(field, "an integer from 0 to 2^63 - 1")


def _positive(field: str, value: Any) -> None:
    if type(value) is not int or not 1 <= value <= INT64_MAX:
        raise _bad(field, "an integer from 1 to 2^63 - 1")


def _text(field: str, value: Any) -> None:
    if not isinstance(value, str) or "\0" in value:
        raise _bad(field, "text without U+0000")


def _name(field: str, value: Any) -> None:
    _text(field, value)
    if not value:
        raise _bad(field, "text that is not empty")


def _flag(field: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise _bad(field, "true or false")


def _one_of(*choices: str) -> Check:
    def check(field: str, value: Any) -> None:
        if value not in choices:
            raise _bad(field, " or ".join(choices))

    return check


def _object(field: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise _bad(field, "an object")


def _build(field: str, value: Any) -> None:
    _object(field, value)
    for key, fact in value.items():
        _name(f"{field}.{key}", key)
        _text(f"{field}.{key}", fact)


def _params(field: str, value: Any) -> None:
    _object(field, value)
    for key, param in value.items():
        _name(f"{field}.{key}", key)
        (_text if isinstance(param, str) else _natural)(f"{field}.{key}", param)


def _clock(field: str, value: Any) -> None:
    _object(field, value)
    _fields(
        value,
        {"name": _name, "resolution_ns": _positive, "overhead_ns": _natural},
        f"{field}.",
    )


def _unit(field: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _bad(field, "a unit")
    if value not in UNITS:
        known = ", ".join(sorted(UNITS))
        raise EventError(
            "unknown_unit", f"{field}: {value[:40]!r} is none of {known}", field
        )


def _metrics(field: str, value: Any) -> None:
    if not isinstance(value, list) or not value:
        raise _bad(field, "at least one metric")
    for index, metric in enumerate(value):
        _object(f"{field}[{index}]", metric)
        _fields(
            metric,
            {"name": _name, "unit": _unit, "direction": _one_of("lower", "higher")},
            f"{field}[{index}].",
        )


def _values(field: str, value: Any) -> None:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_VALUES:
        raise _bad(field, f"1 to {MAX_VALUES} integers")
    for index, number in enumerate(value):
        _natural(f"{field}[{index}]", number)


def _work(field: str, value: Any) -> None:
    _object(field, value)
    if len(value) > MAX_COUNTERS:
        raise _bad(field, f"at most {MAX_COUNTERS} counters")
    for counter, count in value.items():
        _name(f"{field}.{counter}", counter)
        _natural(f"{field}.{counter}", count)


def _version(field: str, value: Any) -> None:
    _natural(field, value)
    if value != 1:
        raise EventError(
            "version",
            f"this reader speaks version 1 of the bench stream, not {value}",
            field,
        )


REQUIRED: Final[dict[str, dict[str, Check]]] = {
    "start": {
        "v": _version,
        "suite": _name,
        "workload": _name,
        "launch": _natural,
        "seed": _natural,
        "build": _build,
        "clock": _clock,
    },
    "case": {
        "case": _natural,
        "benchmark": _name,
        "arm": _name,
        "params": _params,
        "metrics": _metrics,
    },
    "samples": {
        "case": _natural,
        "metric": _name,
        "launch": _natural,
        "round": _natural,
        "position": _natural,
        "phase": _one_of("warmup", "measure"),
        "iterations": _positive,
        "values": _values,
        "t_ns": _natural,
    },
    "check": {"name": _name, "ok": _flag},
    "progress": {"done": _natural, "total": _natural},
    "warning": {"code": _text, "text": _text},
    "done": {},
    "error": {"code": _text, "text": _text},
}
_OPTIONAL: Final[dict[str, dict[str, Check]]] = {
    "case": {
        "items_per_iteration": _natural,
        "bytes_per_iteration": _natural,
        "unavailable": _name,
    },
    "samples": {"work": _work},
    "check": {"detail": _text},
}


def _fields(
    event: dict[str, Any], required: dict[str, Check], prefix: str = ""
) -> None:
    for name, check in required.items():
        if name not in event:
            raise EventError(
                "missing_field", f"{prefix}{name} is missing", f"{prefix}{name}"
            )
        check(f"{prefix}{name}", event[name])


def event_type(event: object) -> str:
    """The `type` of an event. Raises `EventError` not_object, missing_field, bad_field or unknown_type."""
    if not isinstance(event, dict):
        raise EventError("not_object", "an event is a JSON object")
    if "type" not in event:
        raise EventError("missing_field", "type is missing", "type")
    kind = event["type"]
    if not isinstance(kind, str):
        raise _bad("type", "text")
    if kind not in REQUIRED:
        raise EventError(
            "unknown_type", f"{kind[:40]!r} is none of {', '.join(REQUIRED)}", "type"
        )
    return kind


def check_fields(kind: str, event: dict[str, Any]) -> None:
    """Check the fields an event of type `kind` is known to have; others are ignored. Raises `EventError`."""
    _fields(event, REQUIRED[kind])
    for name, check in _OPTIONAL.get(kind, {}).items():
        if name in event:
            check(name, event[name])
