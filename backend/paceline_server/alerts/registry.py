"""Holds the kinds of alerts of this server by name, which `kinds` registers.

The enumerations of kinds in schemas and pages come from here, so that a new kind is registered once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from paceline_server.kernel.settings import SettingsError

if TYPE_CHECKING:
    from paceline_server.alerts.kind import AlertKind

_kinds: dict[str, AlertKind[Any]] = {}


class UnknownKindError(SettingsError):
    """An alert or a rule names a kind that this server does not have; the text says what to do."""


def register_kinds(kinds: Iterable[AlertKind[Any]]) -> None:
    """Add kinds to those of this server. Raises ValueError when a name is taken."""
    for kind in kinds:
        for name in kind.names:
            if _kinds.setdefault(name, kind) is not kind:
                raise ValueError(
                    f"There are two kinds of alerts named {name!r}; rename one."
                )


def remove_kind(kind: AlertKind[Any]) -> None:
    """Remove a registered kind. Tests that add one call it."""
    for name in kind.names:
        del _kinds[name]


def all_kinds() -> list[AlertKind[Any]]:
    """Return every kind once, in the order of registration."""
    return list(dict.fromkeys(_kinds.values()))


def kind_of(name: str) -> AlertKind[Any]:
    """Return the kind of this name. Raises UnknownKindError."""
    kind = _kinds.get(name)
    if kind is None:
        raise UnknownKindError(
            f"There are alerts of the kind {name!r}, which this server does not know (it knows "
            f"{', '.join(_kinds)}): run the version that raised them, or a newer one."
        )
    return kind


def kind_names() -> list[str]:
    """Return the names that alerts may have as their kind."""
    return list(_kinds)


def rule_kind_names() -> list[str]:
    """Return the names of the kinds that people may write rules for."""
    return [name for name, kind in _kinds.items() if name in kind.built_in_rules]


def built_in_rule_names() -> set[str]:
    """Return the names that a stored rule may not take, because alerts name their rule."""
    return {rule.name for kind in all_kinds() for rule in kind.built_in_rules.values()}


def asks_period(kind: str) -> bool:
    """Return whether a rule of this kind says how often something must arrive."""
    return kind_of(kind).built_in_rules[kind].asks_period


class _NameOf:
    """Validates a name against the registered ones, and lists them in the API's description."""

    def __init__(self, names: Callable[[], list[str]]) -> None:
        self._names = names

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            self._check, core_schema.str_schema()
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"enum": self._names(), "type": "string"}

    def _check(self, name: str) -> str:
        names = self._names()
        if name not in names:
            *first, last = map(repr, names)
            expected = f"{', '.join(first)} or {last}"
            raise PydanticCustomError(
                "literal_error", "Input should be {expected}", {"expected": expected}
            )
        return name


AlertKindName = Annotated[str, _NameOf(kind_names)]
RuleKindName = Annotated[str, _NameOf(rule_kind_names)]
