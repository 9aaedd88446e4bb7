"""Finds the route of a request before it runs, with its methods, dependencies and the formats of its parameters.

The table is built once from the finished application, so that a new route is covered by default.
`accounts/admission.py` decides with it who may use a route.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Union, get_args, get_origin

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import RouteContext, iter_route_contexts

from paceline_server.kernel.wire import INSTANT, INSTANT_FORMAT

VALUE_FORMATS: Mapping[type, tuple[re.Pattern[str], str]] = {
    int: (re.compile(r"-?[0-9]+"), "an integer in decimal digits"),
    bool: (re.compile(r"true|false"), "true or false"),
    datetime: (INSTANT, INSTANT_FORMAT),
}
"""Formats of values in a URL (RFC 8259, RFC 3339). pydantic alone would accept `1.0` as an integer, `on` as a boolean
and `0.5` as an instant of 1970."""


@dataclass(frozen=True)
class Route:
    """One method of one path."""

    template: str
    """The path as declared: `/api/v1/targets/{target_id}`."""
    dependencies: tuple[object, ...] | None
    """The callables of its dependencies at any depth; None if FastAPI itself added the route."""
    max_body_bytes: int | None
    """FastAPI's `max_body_size`; None if the route reads no body."""
    formats: Mapping[tuple[str, str], tuple[re.Pattern[str], str]]
    """The format of a value by place (`path`, `query`) and name, as a pattern and in words."""

    def find_malformed(
        self, place: str, values: Iterable[tuple[str, str]]
    ) -> dict[str, str]:
        """Return, by field, the expected format of each value that does not have it."""
        faults = {}
        for name, value in values:
            expected = self.formats.get((place, name))
            if expected is not None and expected[0].fullmatch(value) is None:
                faults[f"{place}.{name}"] = f"expected {expected[1]}"
        return faults


@dataclass(frozen=True)
class Match:
    """The methods of a path, each with its route and the values it reads from the path."""

    methods: Mapping[str, tuple[Route, Mapping[str, str]]]

    @property
    def allow(self) -> str:
        """The value of the header `Allow`."""
        return ", ".join(sorted(self.methods))


@dataclass
class _Path:
    regex: re.Pattern[str]
    methods: dict[str, Route] = field(default_factory=dict)


class RouteTable:
    """All routes of an application, in the order in which they are tried."""

    def __init__(self, app: FastAPI) -> None:
        self.routes: list[Route] = []
        self._fixed: dict[str, Match] = {}
        self._paths: dict[str, _Path] = {}
        self.pages = Match({})
        """The route of the pages, which takes every path that no other route has."""
        for context in iter_route_contexts(app.routes):
            self._add(context)

    def _add(self, context: RouteContext) -> None:
        dependant: Dependant | None = getattr(context, "dependant", None)
        nested = [] if dependant is None else list(_nested_dependencies(dependant))
        readers = [] if dependant is None else [dependant, *nested]
        route = Route(
            context.path_format or "",
            None if dependant is None else tuple(inner.call for inner in nested),
            getattr(context, "max_body_size", None),
            dict(pair for reader in readers for pair in _parameter_formats(reader)),
        )
        self.routes.append(route)
        methods = sorted(context.methods or ())
        if (context.path or "").endswith(":path}"):
            self.pages = Match({method: (route, {}) for method in methods})
            return
        if not context.path_regex.groups:
            known = self._fixed.get(route.template, Match({})).methods
            self._fixed[route.template] = Match(
                {method: (route, {}) for method in methods} | dict(known)
            )
            return
        path = self._paths.setdefault(
            context.path_regex.pattern, _Path(context.path_regex)
        )
        for method in methods:
            path.methods.setdefault(method, route)

    def find(self, path: str) -> Match | None:
        """Return the methods of `path`; None if no route has it. A route without path values wins, and otherwise the
        first template that matches, for each method."""
        fixed = self._fixed.get(path)
        if fixed is not None:
            return fixed
        methods: dict[str, tuple[Route, Mapping[str, str]]] = {}
        for template in self._paths.values():
            matched = template.regex.match(path)
            if matched is not None:
                params = matched.groupdict()
                for method, route in template.methods.items():
                    methods.setdefault(method, (route, params))
        return Match(methods) if methods else None


def _nested_dependencies(dependant: Dependant) -> Iterator[Dependant]:
    for dependency in dependant.dependencies:
        yield dependency
        yield from _nested_dependencies(dependency)


def _parameter_formats(
    dependant: Dependant,
) -> Iterator[tuple[tuple[str, str], tuple[re.Pattern[str], str]]]:
    for place, params in (
        ("path", dependant.path_params),
        ("query", dependant.query_params),
    ):
        for param in params:
            expected = VALUE_FORMATS.get(_scalar_type(param.field_info.annotation))
            if expected is not None:
                yield (place, param.alias), expected


def _scalar_type(annotation: Any) -> Any:
    """Return the only type besides None, such as `int` for `Annotated[int | None, …]`."""
    if get_origin(annotation) is Annotated:
        return _scalar_type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [arg for arg in get_args(annotation) if arg is not type(None)]
        return _scalar_type(kinds[0]) if len(kinds) == 1 else None
    return annotation
