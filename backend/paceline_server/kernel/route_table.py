"""Finds the routes of a path before any of them runs: which methods it has, and what each one takes.

Built once from the finished application, so that what is decided in front of the routes (who may send a body,
which methods a path has, how a number is written) needs no list of its own and covers a new route by default.
Who may use a route is decided in `accounts/admission.py`.
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

from paceline_server.kernel.wire import INSTANT, INSTANT_WORDS

WRITTEN_AS: Mapping[type, tuple[re.Pattern[str], str]] = {
    int: (re.compile(r"-?[0-9]+"), "an integer in decimal digits"),
    bool: (re.compile(r"true|false"), "true or false"),
    datetime: (INSTANT, INSTANT_WORDS),
}
"""How a value in an address is written (RFC 8259, RFC 3339). pydantic alone would take `1.0` for an integer,
`on` for a truth value and `0.5` for an instant of 1970."""


@dataclass(frozen=True)
class Route:
    """One method of one path."""

    template: str
    """The path as declared: `/api/v1/targets/{target_id}`."""
    dependencies: tuple[object, ...] | None
    """What its dependencies call, however deep; None of a route that FastAPI itself adds."""
    max_body_bytes: int | None
    """What FastAPI knows as `max_body_size`; None of a route that reads no body."""
    written: Mapping[tuple[str, str], tuple[re.Pattern[str], str]]
    """By place (`path`, `query`) and name: how a value is written, as a pattern and in words."""

    def misspelt(self, place: str, values: Iterable[tuple[str, str]]) -> dict[str, str]:
        """What was expected, by field, of those of `values` that are not written as their type is."""
        faults = {}
        for name, value in values:
            expected = self.written.get((place, name))
            if expected is not None and expected[0].fullmatch(value) is None:
                faults[f"{place}.{name}"] = f"expected {expected[1]}"
        return faults


@dataclass(frozen=True)
class Match:
    """Every method of the path that was asked for, each with the values it finds in the path."""

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
        self._pages = Match({})
        for context in iter_route_contexts(app.routes):
            self._add(context)

    def _add(self, context: RouteContext) -> None:
        dependant: Dependant | None = getattr(context, "dependant", None)
        each = () if dependant is None else (dependant, *_flat(dependant))
        route = Route(
            context.path_format or "",
            None if dependant is None else tuple(one.call for one in each[1:]),
            getattr(context, "max_body_size", None),
            {key: expected for one in each for key, expected in _written(one)},
        )
        self.routes.append(route)
        methods = sorted(context.methods or ())
        if (context.path or "").endswith(":path}"):
            self._pages = Match({method: (route, {}) for method in methods})
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
        """What is at `path`; None when nothing is, and the pages may answer. A path without values is itself
        and no other; of templates that match, the first that has a method answers it."""
        fixed = self._fixed.get(path)
        if fixed is not None:
            return fixed
        methods: dict[str, tuple[Route, Mapping[str, str]]] = {}
        for each in self._paths.values():
            matched = each.regex.match(path)
            if matched is not None:
                params = matched.groupdict()
                methods = {
                    **{
                        method: (route, params)
                        for method, route in each.methods.items()
                    },
                    **methods,
                }
        return Match(methods) if methods else None

    @property
    def pages(self) -> Match:
        """The route that takes every path no other has."""
        return self._pages


def _flat(dependant: Dependant) -> Iterator[Dependant]:
    for dependency in dependant.dependencies:
        yield dependency
        yield from _flat(dependency)


def _written(
    dependant: Dependant,
) -> Iterator[tuple[tuple[str, str], tuple[re.Pattern[str], str]]]:
    for place, params in (
        ("path", dependant.path_params),
        ("query", dependant.query_params),
    ):
        for param in params:
            expected = WRITTEN_AS.get(_scalar(param.field_info.annotation))
            if expected is not None:
                yield (place, param.alias), expected


def _scalar(annotation: Any) -> Any:
    """The one type of a value beside None: `int` of `Annotated[int | None, …]`."""
    if get_origin(annotation) is Annotated:
        return _scalar(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [arg for arg in get_args(annotation) if arg is not type(None)]
        return _scalar(kinds[0]) if len(kinds) == 1 else None
    return annotation
