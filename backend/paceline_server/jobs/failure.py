"""Takes the detail of a job's cause apart: what happened, the lines around the first error, what to do next.

An agent sends one text, so that a terminal and a message can show it as it is (its `first_error.py` writes
the excerpt: two kinds of marked lines). Everything that shows more or less than all of it asks here.
"""

from __future__ import annotations

from paceline_server.jobs.schemas import ExcerptLineOut, FailureOut
from paceline_server.store.tables.jobs import Job

ERROR_MARK = "  > "
CONTEXT_MARK = "  | "


def failure_of(job: Job) -> FailureOut | None:
    """Why a job failed or was lost, in parts; None of one that did not."""
    if job.cause is None:
        return None
    return parse_failure(job.cause_detail or job.cause.replace("_", " "))


def parse_failure(detail: str) -> FailureOut:
    """A detail without an excerpt is a sentence and advice."""
    lines = detail.split("\n")
    marked = [
        at
        for at, line in enumerate(lines)
        if line.startswith((ERROR_MARK, CONTEXT_MARK))
    ]
    if not marked:
        return FailureOut(
            sentence=lines[0],
            excerpt=[],
            is_recognised=False,
            advice="\n".join(lines[1:]).strip(),
        )
    excerpt = [
        ExcerptLineOut(
            text=lines[at][len(ERROR_MARK) :], is_error=lines[at].startswith(ERROR_MARK)
        )
        for at in marked
    ]
    recognised = any(line.is_error for line in excerpt)
    before = lines[: marked[0]]
    head = (
        before if recognised or len(before) < 2 else before[:-1]
    )  # the last one introduces the lines
    return FailureOut(
        sentence="\n".join(head).strip(),
        excerpt=excerpt,
        is_recognised=recognised,
        advice="\n".join(lines[marked[-1] + 1 :]).strip(),
    )


def first_error(detail: str | None) -> str | None:
    """The one line that says most: the first error of the output, else what happened."""
    if not detail:
        return None
    failure = parse_failure(detail.strip())
    errors = [line.text for line in failure.excerpt if line.is_error]
    return next(
        (
            text
            for line in [*errors, *failure.sentence.split("\n")]
            if (text := line.strip())
        ),
        None,
    )


def sentence_of(job: Job) -> str | None:
    """What happened, in one sentence, for lists and notes; None of a job that names no cause."""
    failure = failure_of(job)
    return None if failure is None else failure.sentence


def why_without_verdict(job: Job) -> str:
    """Why a job that is over has no verdict, in one sentence."""
    return sentence_of(job) or job.detail or "no reason given"
