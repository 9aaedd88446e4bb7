"""The JSON schema for editors states every limit that the contract's types have, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from paceline_contract.manifest import Manifest

PROTOCOL = Path(__file__).parents[2] / "native/protocol"
EDITORS: dict[str, Any] = json.loads((PROTOCOL / "suite.schema.json").read_bytes())
CONTRACT: dict[str, Any] = msgspec.json.schema(Manifest)
LIMITS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "pattern",
    "enum",
)
OTHERWISE = {
    ".workloads[].host.artifacts[] pattern": "written with `not`, without look-ahead",
    ".workloads[].android.artifacts[] pattern": "likewise",
    ".benchmarks{}.params{}.values[] (string) pattern": "separators are refused by a rule",
    ".workloads[].host abis": "refused on hosts by a rule",
    ".workloads[].host calibrate": "likewise",
    ".workloads[].android harness": "refused on devices by a rule",
    ".workloads[].android command": "likewise",
    ".workloads[].android arms": "likewise",
}
"""Places where both say the same in different ways."""


def resolved(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        target: Any = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = {**target, **{key: node[key] for key in node if key != "$ref"}}
    return node


def options(document: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """The types of a value, without null."""
    listed = node.get("anyOf") or node.get("oneOf")
    if not listed or "properties" in node:
        return [node]
    return [
        inner
        for option in listed
        for inner in options(document, resolved(document, option))
        if inner.get("type") != "null"
    ]


def limit(node: dict[str, Any], name: str) -> Any:
    value: Any = node.get(name)
    if name == "enum" and "const" in node:
        value = [node["const"]]
    if name == "enum" and value is not None:
        return sorted(map(str, value))
    if name == "pattern" and value is not None:
        return value.replace(r"\A", "^").replace(r"\Z", "$").replace("\\u0000", r"\x00")
    return value


def differences(
    path: str, ours: dict[str, Any], theirs: list[dict[str, Any]]
) -> Iterator[str]:
    """Limits of one place that the two schemas state differently; `theirs` are variants of one table."""
    for name in LIMITS:
        expected = limit(ours, name)
        stated = {json.dumps(limit(variant, name)) for variant in theirs}
        if stated != {json.dumps(expected)} and not joined_variants(
            name, expected, theirs
        ):
            yield f"{path} {name}"
    for name, property_ours in ours.get("properties", {}).items():
        limits = [
            variant["properties"][name]
            for variant in theirs
            if name in variant["properties"]
        ]
        if limits:
            yield from differences_between(f"{path}.{name}", property_ours, limits)
        else:
            yield f"{path} {name}"
    for key, part in (
        ("additionalProperties", "{}"),
        ("propertyNames", " names"),
        ("items", "[]"),
    ):
        if isinstance(ours.get(key), dict):
            limits = [variant.get(key) or {} for variant in theirs]
            yield from differences_between(path + part, ours[key], limits)


def joined_variants(name: str, wanted: Any, variants: list[dict[str, Any]]) -> bool:
    """Whether the kinds of a table together have the choices."""
    if name != "enum" or wanted is None:
        return False
    choices = {choice for variant in variants for choice in limit(variant, name) or []}
    return bool(wanted == sorted(choices))


def differences_between(
    path: str, ours: dict[str, Any], theirs: list[dict[str, Any]]
) -> Iterator[str]:
    expected = options(CONTRACT, resolved(CONTRACT, ours))
    stated = [
        option
        for node in theirs
        for option in options(EDITORS, resolved(EDITORS, node))
    ]
    if len(expected) == 1:
        yield from differences(path, expected[0], stated)
        return
    for option in expected:
        same = [other for other in stated if other.get("type") == option.get("type")]
        if same:
            yield from differences(f"{path} ({option['type']})", option, same)


def test_the_schema_for_editors_has_the_limits_of_the_contract() -> None:
    differences = list(differences_between("", CONTRACT, [EDITORS]))
    assert sorted(set(differences) - set(OTHERWISE)) == []
    assert set(OTHERWISE) <= set(differences), "an exception that is no longer needed"
