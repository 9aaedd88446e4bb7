"""Tests that patterns mean the same as in Python's `re`, and that matching takes linear time."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
from paceline_contract.patterns import compile_pattern, pattern_problem

PATH = (
    Path(__file__).parents[2]
    / "native"
    / "protocol"
    / "vectors"
    / "patterns.golden.json"
)
VECTORS: dict[str, list[dict[str, Any]]] = json.loads(PATH.read_text(encoding="utf-8"))
EXPLODING = [
    vector["pattern"]
    for vector in VECTORS["patterns"]
    if any(len(text) > 99 for text in vector["rejects"])
]
SAME = [vector["pattern"] for vector in VECTORS["patterns"]]
CLASSES = [
    r"[\W]+",
    r"[^\W\d_]+",
    r"[\D.]+",
    r"[^\s]+",
    r"[a[:]+",
    r"[--a]+",
    r"[\x61-\u0063]+",
    r"[\n\t\b]+",
    r"[\N{LATIN SMALL LETTER A}b]+",
    r"[^\x00-\U0010ffff]?",
    r"[\w\W]+",
    r"\W\D\S",
    r"\w+",
    r"\.\/\-",
    r"[\141b]",
    "(?:)*a",
    "é{2}|ü?",
    "a{2,3}?b??",
    "[ab]{0,}",
]


@pytest.mark.parametrize(
    "vector", VECTORS["patterns"], ids=lambda vector: vector["pattern"]
)
def test_patterns_match_as_the_vectors_say(
    vector: dict[str, Any],
) -> None:
    """Without linear time the long rejects would not end."""
    pattern = compile_pattern(vector["pattern"])
    assert [text for text in vector["accepts"] if not pattern.matches(text)] == []
    assert [text for text in vector["rejects"] if pattern.matches(text)] == []


def test_the_vectors_hold_patterns_that_explode() -> None:
    assert len(EXPLODING) >= 5
    assert len(VECTORS["patterns"]) > 30


@pytest.mark.parametrize(
    "vector", VECTORS["refused"], ids=lambda vector: vector["pattern"][:20]
)
def test_patterns_without_linear_time_matching_are_refused_with_the_reason(
    vector: dict[str, str],
) -> None:
    assert vector["why"] in str(pattern_problem(vector["pattern"]))


@pytest.mark.parametrize(
    "pattern", [*(each for each in SAME if each not in EXPLODING), *CLASSES]
)
def test_a_pattern_means_the_same_as_in_python(pattern: str) -> None:
    rng = random.Random(pattern)  # noqa: S311 - texts to try
    texts = ["", "a", "b", "k1", "aa.ab", "a{", "a{b}", "}", "]", "c", "a\nb", ".//-"]
    for letters in ("ab.k1{}[]:-", "ab", "a\n\t\b _", "aé²٣ß\U0001d7d8\u2028\x1f_"):
        texts += ["".join(rng.choices(letters, k=rng.randrange(9))) for _ in range(300)]
    matched = {text for text in texts if compile_pattern(pattern).matches(text)}
    assert matched == {text for text in texts if re.fullmatch(pattern, text)}


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?P<a>.*)(?P<b>b+)(.*)",
        r"(?P<a>.*?)(?P<b>b+?)(?P<c>.*)",
        r"(?P<a>a|ab)(?P<b>b|c)?(?P<c>.*)",
        r"(?:(?P<a>a+)|(?P<b>b+?)){1,3}?(?P<c>.*?)",
    ],
)
def test_the_groups_of_a_match_are_those_of_python(pattern: str) -> None:
    rng = random.Random(pattern)  # noqa: S311 - texts to try
    texts = ["".join(rng.choices("abc", k=rng.randrange(9))) for _ in range(300)]
    ours = compile_pattern(pattern)
    assert ours.names == list(re.compile(pattern).groupindex)
    for text in texts:
        match = re.fullmatch(pattern, text)
        assert ours.find_groups(text) == (None if match is None else match.groupdict())


@pytest.mark.parametrize("escape", [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", "."])
def test_a_character_set_is_the_same_as_in_python(escape: str) -> None:
    rng = random.Random(escape)  # noqa: S311 - characters to try
    characters = [chr(code) for code in range(0x300)]
    characters += [chr(rng.randrange(0x300, 0xD800)) for _ in range(500)]
    characters += [chr(rng.randrange(0xE000, 0x110000)) for _ in range(200)]
    # characters that only one of the two knows are from a later version of Unicode
    characters = [text for text in characters if category(text) != "Cn"]
    pattern = compile_pattern(escape)
    assert [text for text in characters if pattern.matches(text)] == [
        text for text in characters if re.fullmatch(escape, text)
    ]


def test_the_largest_pattern_fits_the_memory_it_may_use() -> None:
    pattern = compile_pattern(r"\w{500}")
    assert pattern.matches("é" * 500)
    assert not pattern.matches("é" * 499)


def test_a_lone_surrogate_matches_nothing() -> None:
    assert not compile_pattern(".").matches("\ud800")


def test_a_pattern_in_use_is_compiled_once() -> None:
    assert pattern_problem("k[0-9]+") is None
    assert compile_pattern("k[0-9]+") is compile_pattern("k[0-9]+")
