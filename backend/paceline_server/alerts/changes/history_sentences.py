"""Sentences of alerts about history: every number is stored, every direction is named (I17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paceline_contract.params import params_text

from paceline_server.alerts.changes.change_facts import (
    ChangeFacts,
    surest_change,
    worst_change,
)
from paceline_server.stats.plain_words import percent, quantity


def short_commit(commit: str) -> str:
    """The first ten characters, as sentences show a commit."""
    return commit[:10]


def describe_shift(ratio: float, *, timed: bool) -> str:
    """`12.6 % slower`, or `12.6 % worse` for a metric that is not a time. A ratio above 1 is worse."""
    bad, good = ("slower", "faster") if timed else ("worse", "better")
    if ratio == 1.0:
        return "unchanged"
    share = ratio - 1.0 if ratio > 1.0 else 1.0 - ratio
    return f"{percent(share)} {bad if ratio > 1.0 else good}"


def is_timed(fact: ChangeFacts) -> bool:
    """Whether the metric is a time, so that it gets slower or faster."""
    return fact.change.direction in ("slower", "faster")


def describe_change(fact: ChangeFacts) -> str:
    """`12.6 % slower: 1.2 ms → 1.351 ms (99 % interval: 10.1 % slower to 15.0 % slower)`."""
    low, high = fact.bounds
    timed, unit = is_timed(fact), fact.declaration.unit
    levels = f"{quantity(fact.change.level_before, unit)} → {quantity(fact.change.level_after, unit)}"
    span = f"{describe_shift(low, timed=timed)} to {describe_shift(high, timed=timed)}"
    return (
        f"{describe_shift(fact.ratio, timed=timed)}: {levels} (99 % interval: {span})"
    )


def change_place(fact: ChangeFacts) -> str:
    """`native in sort_batch at batch=1000`."""
    return case_place(fact.series.arm, fact.series.benchmark, fact.series.params)


def case_place(arm: str, benchmark: str, params: Mapping[str, Any]) -> str:
    """`native in sort_batch at batch=1000`, from its parts."""
    at = params_text(params)
    return f"{arm} in {benchmark}" + (f" at {at}" if at else "")


def title(facts: Sequence[ChangeFacts], target_name: str, *, environment: bool) -> str:
    """One line: what moved, where."""
    worst = worst_change(facts)
    way = describe_shift(worst.ratio, timed=is_timed(worst)).rsplit(" ", 1)[-1]
    if environment:
        what = (
            f"{change_place(worst)} got {way}"
            if len(facts) == 1
            else f"{_series_count(facts)} moved together"
        )
        return f"Environment of {target_name} changed: {what}"
    if len(facts) == 1:
        return f"{change_place(worst)} got {way} on {target_name}"
    return f"{_series_count(facts)} of {worst.series.suite} got {way} on {target_name}"


def _series_count(facts: Sequence[ChangeFacts]) -> str:
    return "1 series" if len(facts) == 1 else f"{len(facts)} series"


def headline(facts: Sequence[ChangeFacts]) -> str:
    """The worst change, the number of changes, and the commits they are blamed on."""
    worst, lead = worst_change(facts), surest_change(facts)
    text = f"{change_place(worst)}: {describe_change(worst)}"
    if len(facts) > 1:
        text += f"; {len(facts)} series in all"
    return f"{text}; {commit_range(lead.base_commit, lead.head_commit)}"


def commit_range(base: str | None, head: str | None) -> str:
    """`after 1111111111, by 2222222222`, or the commit if both are the same."""
    if base is None or head is None:
        return "commits unknown"
    if base == head:
        return f"at commit {short_commit(head)}, which was measured before and after"
    return f"after {short_commit(base)}, by {short_commit(head)}"
