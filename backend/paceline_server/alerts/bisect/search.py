"""Searches a range of commits by bisection with measurements that may not decide, and words its progress (I17).

Commits are numbered from 0, oldest first; −1 is the base. The base is `good`, the head is `bad`, and the culprit always
lies in (good, bad]. An undecided job is repeated once with more launches; a commit that cannot be measured is skipped,
like `git bisect skip`.

    range of one commit ───────────────▶ found
    … and of commits nobody named ─────▶ undecided (the range begins before the oldest that was named)
    budget spent ──────────────────────▶ exhausted (the range that is left)
    undecided twice at one commit ─────▶ undecided
    nothing left that can be measured ─▶ undecided
    else ──────────────────────────────▶ ask the middle
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from paceline_server.alerts.changes.change_facts import short_commit
from paceline_server.stats.plain_words import describe_ratio
from paceline_server.store.tables.bisections import Bisection

Answer = Literal["fail", "pass", "inconclusive", "failed", "skipped"]
"""`inconclusive`: the measurement could not decide; `failed`: the job failed, not because of the commit;
`skipped`: the commit itself cannot be measured."""
UNANSWERED: tuple[Answer, ...] = ("inconclusive", "failed")
"""Answers after which the commit is measured once more."""


@dataclass(frozen=True, slots=True)
class BisectionStep:
    """One A/B job that ended: base against the commit at `index`."""

    index: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class MeasureCommit:
    """Measure the commit at `index`; `again`: with more launches than before."""

    index: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """The search is over. If `found`, the culprit is the commit at `bad`; otherwise it lies in (good, bad]."""

    state: Literal["found", "exhausted", "undecided"]
    why: str


def bounds(commits: int, steps: Sequence[BisectionStep]) -> tuple[int, int]:
    """Return (good, bad) after these answers."""
    good = max((step.index for step in steps if step.answer == "pass"), default=-1)
    bad = min(
        (step.index for step in steps if step.answer == "fail"), default=commits - 1
    )
    return good, bad


def count_unnamed(commits: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of commits in the range before the oldest named one: the agent names only so many."""
    return int(commits[0].get("left_out", 0)) if commits else 0


def remaining_commits(good: int, bad: int, before: int) -> int:
    """Return how many commits the culprit may still be; `before` counts the unnamed ones after the base."""
    return bad - good + (before if good < 0 else 0)


def next_step(
    commits: int, steps: Sequence[BisectionStep], budget: int, before: int = 0
) -> MeasureCommit | SearchEnd:
    """Return what to do after `steps`, oldest first; `before` as in `remaining_commits`."""
    good, bad = bounds(commits, steps)
    many = remaining_commits(good, bad, before)
    if many == 1:
        return SearchEnd("found", "")
    if bad - good == 1:
        return SearchEnd(
            "undecided", f"of the {many} commits that are left only the last was named"
        )
    if len(steps) >= budget:
        return SearchEnd(
            "exhausted", f"{budget} A/B jobs were spent; {many} commits are left"
        )
    if steps and steps[-1].answer in UNANSWERED:
        return _repeat_or_stop(steps)
    skipped = {step.index for step in steps if step.answer == "skipped"}
    middle = (good + bad) // 2
    between = [index for index in range(good + 1, bad) if index not in skipped]
    if not between:
        return SearchEnd(
            "undecided",
            f"none of the commits between could be measured; {many} are left",
        )
    return MeasureCommit(min(between, key=lambda index: (abs(index - middle), index)))


def _repeat_or_stop(steps: Sequence[BisectionStep]) -> MeasureCommit | SearchEnd:
    last = steps[-1]
    if (
        sum(step.index == last.index and step.answer in UNANSWERED for step in steps)
        > 1
    ):
        return SearchEnd(
            "undecided", "an A/B job and its repeat with more launches could not tell"
        )
    return MeasureCommit(last.index, again=True)


def culprit_sentence(culprit: Mapping[str, Any]) -> str:
    """Return the culprit in words, such as `4f4f4f4f4f "Sort twice" by Ada: 6.1 % slower`. Culprits stored without a
    unit are times."""
    commit = f'{short_commit(culprit["commit"])} "{culprit["subject"]}" by {culprit["author"]}'
    if culprit.get("ratio") is None:
        return commit
    return f"{commit}: {describe_ratio(culprit['ratio'], culprit.get('unit', 'ns'))}"


def remaining_range(
    base: str | None, commits: Sequence[Mapping[str, Any]], good: int, bad: int
) -> str:
    """Return the remaining range in words, such as `the commit is one of 3, after 1111111111, by 2222222222`."""
    if not commits:
        return "no commits were named"
    after = base if good < 0 else commits[good]["commit"]
    last = commits[bad]["commit"]
    many = remaining_commits(good, bad, count_unnamed(commits))
    return f"the commit is one of {many}, after {short_commit(str(after))}, by {short_commit(last)}"


def progress_sentence(bisection: Bisection) -> str:
    """Return a sentence about how far a bisection is, or how it ended."""
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
