"""Tests how the names of two manifests are paired: by present names first, then by the aliases of either side."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import read_manifest
from paceline_contract.names import SidePairing


def declare(**aliases: list[str]) -> Manifest:
    """Return the manifest of a suite with these benchmarks, each with its aliases."""
    return read_manifest(
        {
            "schema": 1,
            "suite": {"name": "mine", "title": "Mine"},
            "workloads": [
                {"name": "w", "host": {"build": [], "artifacts": ["w"], "run": ["w"]}}
            ],
            "benchmarks": {
                name: {
                    "title": name,
                    "workload": "w",
                    "arms": ["only"],
                    "reference": "only",
                    "metrics": {"time": {"unit": "ns", "direction": "lower"}},
                    "aliases": old_names,
                }
                for name, old_names in aliases.items()
            },
        }
    )


@pytest.mark.parametrize(
    ("base", "head", "paired"),
    [
        ({"a": []}, {"b": ["a"]}, {"b": "a"}),
        ({"b": ["a"]}, {"a": []}, {"a": "b"}),
        ({"a": [], "b": []}, {"b": ["a"]}, {"b": "b"}),
        ({"a": [], "b": []}, {"c": ["a", "b"]}, {"c": "a"}),
        ({"c": ["a", "b"]}, {"a": [], "b": []}, {"a": "c"}),
        ({"a": []}, {"b": [], "c": ["d"]}, {}),
    ],
)
def test_a_present_name_comes_before_an_alias_and_none_is_used_twice(
    base: dict[str, Any], head: dict[str, Any], paired: dict[str, str]
) -> None:
    pairing = SidePairing.of(declare(**base), declare(**head))
    assert pairing.benchmarks == paired
    for name in base:
        known = [own for own, other in paired.items() if other == name]
        assert pairing.in_head(name, "only") == ((known or [name])[0], "only")
