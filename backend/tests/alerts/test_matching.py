"""Which rule decides: patterns, and an order of specificity that is total and explainable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fnmatch import translate
from itertools import pairwise, permutations
from re import match
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paceline_server.alerts.rules.rule_book import (
    RuleSubject,
    covers,
    most_specific,
)
from paceline_server.kernel.globs import matches

AT = datetime(2026, 1, 1, tzinfo=UTC)
SUBJECT = RuleSubject("hashing", "ledger_batch", "native", "time", "pixel-7")


@dataclass(frozen=True)
class Rule:
    suite: str = "*"
    benchmark: str = "*"
    arm: str = "*"
    metric: str = "*"
    target: str = "*"
    created_at: datetime = AT
    rule_id: str = "rul_a"


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("*", "", True),
        ("*", "anything", True),
        ("", "", True),
        ("", "x", False),
        ("ledger_batch", "ledger_batch", True),
        ("ledger_batch", "Ledger_batch", False),
        ("ledger_*", "ledger_", True),
        ("ledger_*", "xledger_a", False),
        ("*_batch", "ledger_batch", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("a*b*c", "a_c_b_c", True),
        ("a*bb*b", "abb", False),
        ("host.1", "hostx1", False),
        ("[a]", "a", False),
        ("[a]", "[a]", True),
        ("a**b", "ab", True),
    ],
)
def test_a_star_is_any_characters_and_everything_else_is_itself(
    pattern: str, name: str, fits: bool
) -> None:
    assert matches(pattern, name) is fits


@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_matching_agrees_with_the_shell_s(pattern: str, name: str) -> None:
    assert matches(pattern, name) is (match(translate(pattern), name) is not None)


def test_a_pattern_full_of_stars_is_answered_at_once() -> None:
    """A backtracking matcher would try more ways than there are atoms."""
    assert not matches("*a" * 100 + "b", "a" * 200)


def test_all_five_patterns_must_match() -> None:
    rule = Rule("hash*", "ledger_*", "native", "time", "pixel-*")
    assert covers(rule, SUBJECT)
    for field in ("suite", "benchmark", "arm", "metric", "target"):
        other: dict[str, Any] = {field: "other"}
        assert not covers(replace(rule, **other), SUBJECT)


LADDER = [
    Rule(),
    Rule(created_at=AT + timedelta(seconds=1)),
    Rule(suite="h*"),
    Rule(benchmark="l*"),
    Rule(target="p*"),
    Rule(benchmark="ledger_*"),
    Rule(suite="hash*", benchmark="ledger_*", target="pixel-*"),
    Rule(suite="hashing"),
    Rule(metric="time"),
    Rule(arm="native"),
    Rule(benchmark="ledger_batch"),
    Rule(target="pixel-7"),
    Rule(target="pixel-7", suite="h*"),
    Rule(suite="hashing", benchmark="ledger_batch"),
    Rule(target="pixel-7", suite="hashing"),
    Rule(target="pixel-7", benchmark="ledger_batch"),
    Rule("hashing", "ledger_batch", "native", "time", "pixel-*"),
    Rule("hashing", "ledger_batch", "native", "time", "pixel-7"),
]
"""From the least specific to the most, all matching SUBJECT."""


@pytest.mark.parametrize(("less", "more"), list(pairwise(LADDER)))
def test_the_more_specific_rule_decides_whatever_the_order_given(
    less: Rule, more: Rule
) -> None:
    for rules in permutations([less, more]):
        assert most_specific(rules, SUBJECT) is more


def test_among_all_of_them_the_one_without_a_star_decides() -> None:
    assert most_specific(reversed(LADDER), SUBJECT) is LADDER[-1]


def test_a_long_name_is_not_more_specific_than_a_short_one() -> None:
    """`hashing` is longer than `x`, and a suite is wider than a benchmark."""
    subject = replace(SUBJECT, benchmark="x")
    assert most_specific([Rule(suite="hashing"), Rule(benchmark="x")], subject) == Rule(
        benchmark="x"
    )


def test_a_rule_that_does_not_match_never_decides() -> None:
    assert most_specific([Rule(target="host-1"), Rule(suite="h*")], SUBJECT) == Rule(
        suite="h*"
    )
    assert most_specific([Rule(target="host-1")], SUBJECT) is None
