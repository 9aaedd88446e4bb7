"""Alerts about history in plain words (I17): every number is a stored one. Pure.

Place: before an alert is written, shown or sent. Says direction in words and never rounds to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paceline_server.alerts.changes.facts import Fact, surest_of, worst_of
from paceline_server.alerts.words import params_text
from paceline_server.stats.words import percent, quantity

SHORT = 10
"""Characters of a commit that people read."""


def short(commit: str) -> str:
    return commit[:SHORT]


def moved_words(ratio: float, *, timed: bool) -> str:
    """`12.6 % slower`; of a metric that is no time: `12.6 % worse`. Above 1 is the bad side."""
    bad, good = ("slower", "faster") if timed else ("worse", "better")
    if ratio == 1.0:
        return "unchanged"
    share = ratio - 1.0 if ratio > 1.0 else 1.0 - ratio
    return f"{percent(share)} {bad if ratio > 1.0 else good}"


def is_timed(fact: Fact) -> bool:
    """Whether the words are slower and faster."""
    return fact.change.direction in ("slower", "faster")


def fact_words(fact: Fact) -> str:
    """`12.6 % slower: 1.2 ms → 1.351 ms (99 % interval: 10.1 % slower to 15.0 % slower)`."""
    low, high = fact.bounds
    timed, unit = is_timed(fact), fact.series.unit
    levels = f"{quantity(fact.change.level_before, unit)} → {quantity(fact.change.level_after, unit)}"
    span = f"{moved_words(low, timed=timed)} to {moved_words(high, timed=timed)}"
    return f"{moved_words(fact.ratio, timed=timed)}: {levels} (99 % interval: {span})"


def where(fact: Fact) -> str:
    """`native in sort_batch at batch=1000`."""
    return place(fact.series.arm, fact.series.benchmark, fact.series.params)


def place(arm: str, benchmark: str, params: Mapping[str, Any]) -> str:
    """As `where`, of anything that has the three."""
    at = params_text(params)
    return f"{arm} in {benchmark}" + (f" at {at}" if at else "")


def title(facts: Sequence[Fact], target_name: str, *, environment: bool) -> str:
    """One line: what moved, where."""
    worst = worst_of(facts)
    way = moved_words(worst.ratio, timed=is_timed(worst)).rsplit(" ", 1)[-1]
    if environment:
        what = (
            f"{where(worst)} got {way}"
            if len(facts) == 1
            else f"{_count(facts)} moved together"
        )
        return f"Environment of {target_name} changed: {what}"
    if len(facts) == 1:
        return f"{where(worst)} got {way} on {target_name}"
    return f"{_count(facts)} of {worst.series.suite} got {way} on {target_name}"


def _count(facts: Sequence[Fact]) -> str:
    return "1 series" if len(facts) == 1 else f"{len(facts)} series"


def headline(facts: Sequence[Fact]) -> str:
    """The worst change, how many there are, and the commits it is blamed on."""
    worst, lead = worst_of(facts), surest_of(facts)
    text = f"{where(worst)}: {fact_words(worst)}"
    if len(facts) > 1:
        text += f"; {len(facts)} series in all"
    return f"{text}; {range_words(lead.base_commit, lead.head_commit)}"


def range_words(base: str | None, head: str | None) -> str:
    """`after 1111111111, by 2222222222`; one commit when nothing lies between."""
    if base is None or head is None:
        return "commits unknown"
    if base == head:
        return f"at commit {short(head)}, which was measured before and after"
    return f"after {short(base)}, by {short(head)}"
