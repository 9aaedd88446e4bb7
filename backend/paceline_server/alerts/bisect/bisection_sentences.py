"""Sentences about a bisection: its culprit, the remaining range, its progress (I17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paceline_server.alerts.bisect.search import count_unnamed, remaining_commits
from paceline_server.alerts.changes.change_facts import short_commit
from paceline_server.stats.plain_words import describe_ratio
from paceline_server.store.tables.bisections import Bisection


def culprit_sentence(culprit: Mapping[str, Any]) -> str:
    """`4f4f4f4f4f "Sort twice" by Ada: 6.1 % slower`. Culprits stored without a unit are times."""
    commit = f'{short_commit(culprit["commit"])} "{culprit["subject"]}" by {culprit["author"]}'
    if culprit.get("ratio") is None:
        return commit
    return f"{commit}: {describe_ratio(culprit['ratio'], culprit.get('unit', 'ns'))}"


def remaining_range(
    base: str | None, commits: Sequence[Mapping[str, Any]], good: int, bad: int
) -> str:
    """`the commit is one of 3, after 1111111111, by 2222222222`."""
    if not commits:
        return "no commits were named"
    after = base if good < 0 else commits[good]["commit"]
    last = commits[bad]["commit"]
    many = remaining_commits(good, bad, count_unnamed(commits))
    return f"the commit is one of {many}, after {short_commit(str(after))}, by {short_commit(last)}"


def progress_sentence(bisection: Bisection) -> str:
    """One sentence: how far it is, or how it ended."""
    used = f"{len(bisection.steps)} of at most {bisection.budget} A/B jobs"
    if bisection.culprit is not None:
        return f"Found after {used}: {culprit_sentence(bisection.culprit)}."
    if not bisection.commits:
        return f"{used}: the newest revision is compared with the base first."
    still = remaining_range(
        bisection.base_commit, bisection.commits, bisection.good, bisection.bad
    )
    state = {
        "running": "Searching",
        "exhausted": "The budget ended",
        "undecided": "It ended inconclusive",
    }
    return f"{state.get(bisection.state, 'It failed')} ({used}): {still}."
