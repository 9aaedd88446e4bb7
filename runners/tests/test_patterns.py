"""Patterns of a manifest: the same answers as the server's, and none of them can stall an agent."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from paceline.manifest import ManifestError, parse
from paceline.manifest_rules import why_not as refuses
from paceline.patterns import compiled, why_not
from paceline.testing.suites import MANIFEST

PATH = (
    Path(__file__).parents[2]
    / "native"
    / "protocol"
    / "vectors"
    / "patterns.golden.json"
)
VECTORS: dict[str, list[dict[str, Any]]] = json.loads(PATH.read_text(encoding="utf-8"))
EXPLODING = [
    each["pattern"]
    for each in VECTORS["patterns"]
    if any(len(text) > 99 for text in each["rejects"])
]


def with_pattern(pattern: str) -> bytes:
    head = f'[benchmarks.sort.params.mode]\nkind = "regex"\npattern = {json.dumps(pattern)}\nvalues = ["fine"]\n'
    before = "[benchmarks.sort.params.n]"
    return MANIFEST.replace(before, head + before).encode()


@pytest.mark.parametrize(
    "vector", VECTORS["patterns"], ids=lambda vector: vector["pattern"]
)
def test_a_pattern_accepts_and_rejects_what_the_vectors_say(
    vector: dict[str, Any],
) -> None:
    """Without linear time the long rejects would not end."""
    param = {"kind": "regex", "values": [], "pattern": vector["pattern"]}
    assert [
        text for text in vector["accepts"] if refuses(param, text, declared_only=True)
    ] == []
    assert [
        text
        for text in vector["rejects"]
        if not refuses(param, text, declared_only=True)
    ] == []


def test_the_vectors_hold_patterns_that_explode() -> None:
    assert len(EXPLODING) >= 5
    assert len(VECTORS["patterns"]) > 30


@pytest.mark.parametrize(
    "vector", VECTORS["refused"], ids=lambda vector: vector["pattern"][:20]
)
def test_a_pattern_the_server_would_refuse_is_refused_in_the_manifest_with_its_line(
    vector: dict[str, str],
) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(with_pattern(vector["pattern"]), "suite.toml")
    (complaint,) = [
        each for each in caught.value.complaints if each.where.endswith("mode.pattern")
    ]
    assert vector["why"] in complaint.text


@pytest.mark.parametrize(
    "pattern",
    [
        each["pattern"]
        for each in VECTORS["patterns"]
        if each["pattern"] not in EXPLODING
    ],
)
def test_a_pattern_means_what_it_means_to_python(pattern: str) -> None:
    rng = random.Random(pattern)  # noqa: S311 - texts to try
    texts = [
        "".join(rng.choices("ab.k1{}]-", k=rng.randrange(0, 9))) for _ in range(300)
    ]
    taken = {text for text in texts if compiled(pattern).matches(text)}
    assert taken == {text for text in texts if re.fullmatch(pattern, text)}


def test_a_pattern_in_use_is_compiled_once() -> None:
    assert why_not("k[0-9]+") is None
    assert compiled("k[0-9]+") is compiled("k[0-9]+")
