"""Words a bisection: its culprit, the range that is left, its progress (I17). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paceline_server.alerts.bisect.search import count_unnamed, remaining_commits
from paceline_server.stats.plain_words import describe_ratio
from paceline_server.store.tables.rules import Bisection

SHORT = 10
"""Characters of a commit that people read."""


def culprit_sentence(found: Mapping[str, Any]) -> str:
    """`4f4f4f4f4f "Sort twice" by Ada: 6.1 % slower`. One kept before units were is of a time."""
    said = f'{str(found["commit"])[:SHORT]} "{found["subject"]}" by {found["author"]}'
    if found.get("ratio") is None:
        return said
    return f"{said}: {describe_ratio(found['ratio'], found.get('unit', 'ns'))}"


def remaining_range(
    base: str | None, commits: Sequence[Mapping[str, Any]], good: int, bad: int
) -> str:
    """`the commit is one of 3, after 1111111111, by 2222222222`."""
    if not commits:
        return "no commits were named"
    after = base if good < 0 else commits[good]["commit"]
    last = commits[bad]["commit"]
    many = remaining_commits(good, bad, count_unnamed(commits))
    return f"the commit is one of {many}, after {str(after)[:SHORT]}, by {last[:SHORT]}"


def progress_sentence(one: Bisection) -> str:
    """One sentence: how far it is, or how it ended."""
    used = f"{len(one.steps)} of at most {one.budget} A/B jobs"
    if one.culprit is not None:
        return f"Found after {used}: {culprit_sentence(one.culprit)}."
    if not one.commits:
        return f"{used}: the newest revision is compared with the base first."
    still = remaining_range(one.base_commit, one.commits, one.good, one.bad)
    state = {
        "running": "Searching",
        "exhausted": "The budget ended",
        "undecided": "It could not be decided",
    }
    return f"{state.get(one.state, 'It failed')} ({used}): {still}."
