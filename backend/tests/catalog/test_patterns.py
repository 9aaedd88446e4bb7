"""Patterns of a manifest: they mean what Python's `re` means, and none of them can stall the server."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from paceline_server.catalog.manifest import ManifestError, read
from paceline_server.catalog.patterns import MAX_LENGTH, compiled, why_not
from paceline_server.jobs.declared import Param
from paceline_server.testing.scripted_agent import MANIFEST

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (
        Path(__file__).parents[3]
        / "native"
        / "protocol"
        / "vectors"
        / "patterns.golden.json"
    ).read_text("utf-8")
)
SAME = [
    "k[0-9]+",
    "",
    "a|b|",
    "(a|b)*",
    "(?:ab)+?b?",
    "a{2}",
    "a{1,3}b",
    "a{,2}",
    "a{2,}",
    "^ab$",
    "^a|b$",
    "(?P<x>a(b|ab)*)*",
    r"\w+\.\w{2,3}",
    r"[^a-b]",
    r"[]a]+",
    r"[\]a]*",
    "a.b",
    "((a|b)(b|a))+",
    "(a*)*b",
    r"\x61+",
    "a{",
    "a{b}",
    "}",
    "(a|aa)+b",
    "()",
    "(^a)*b",
    "(a?){3}b",
    "[a-c]{0}b",
]


@pytest.mark.parametrize(
    "vector", VECTORS["patterns"], ids=lambda vector: vector["pattern"]
)
def test_a_pattern_accepts_and_rejects_what_the_agent_does(
    vector: dict[str, Any],
) -> None:
    param = Param("regex", (), None, None, vector["pattern"])
    assert [text for text in vector["accepts"] if param.refuses(text)] == []
    assert [text for text in vector["rejects"] if not param.refuses(text)] == []


@pytest.mark.parametrize(
    "vector", VECTORS["refused"], ids=lambda vector: vector["pattern"][:20]
)
def test_a_pattern_the_agent_refuses_is_refused(vector: dict[str, str]) -> None:
    assert vector["why"] in str(why_not(vector["pattern"]))


@pytest.mark.parametrize("pattern", SAME)
def test_a_pattern_means_what_it_means_to_the_agent(pattern: str) -> None:
    rng = random.Random(pattern)  # noqa: S311 - texts to try
    texts = ["", "a", "b", "k1", "aa.ab", "a{", "a{b}", "}", "]", "c", "a\nb"]
    texts += [
        "".join(rng.choices("ab.k1{}]", k=rng.randrange(1, 9))) for _ in range(300)
    ]
    texts += ["".join(rng.choices("ab", k=rng.randrange(1, 9))) for _ in range(300)]
    taken = {text for text in texts if compiled(pattern).matches(text)}
    assert taken == {text for text in texts if re.fullmatch(pattern, text)}


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a|a)*b", "(a|aa)+b", "a*a*a*a*a*a*b", "(.*)*x", "(a?){60}a{60}"],
)
def test_the_longest_value_is_refused_at_once_by_a_pattern_that_explodes(
    pattern: str,
) -> None:
    """With `re` this test would not end: it tries every way to share the text out."""
    param = Param("regex", (), None, None, pattern)
    assert param.refuses("a" * 199 + "!") is not None


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", "not supported"),
        ("(?=a)b", "not supported"),
        ("(?<!a)b", "not supported"),
        ("(?i)a", "not supported"),
        (r"\bword", "not supported"),
        ("a*+b", "not supported"),
        ("(?P<q>a)(?P=q)", "not supported"),
        ("(", "not a regular expression"),
        ("((a{100}){100}){100}", "more than 500 steps"),
        ("a{9999}", "more than 500 steps"),
        ("(" * 30 + "a" + ")" * 30, "groups inside each other"),
        ("a" * (MAX_LENGTH + 1), "longer than"),
    ],
)
def test_what_cannot_be_matched_in_linear_time_is_refused_when_announced(
    pattern: str, why: str
) -> None:
    assert why in str(why_not(pattern))
    benchmark: dict[str, Any] = MANIFEST["benchmarks"]["hashing"]
    params = {"key": {"kind": "regex", "values": ["k1"], "pattern": pattern}}
    raw = {**MANIFEST, "benchmarks": {"hashing": {**benchmark, "params": params}}}
    with pytest.raises(ManifestError, match=r"params\.key\.pattern"):
        read(raw)
