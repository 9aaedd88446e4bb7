"""Renders verdicts as Markdown for step summaries, comments of pull requests and chats.

Forges cut or refuse long texts, so the document never exceeds `LIMIT_BYTES`; rows that are left out are counted. Names
and messages come from strangers' repositories and are escaped, so they cannot end a table, open a tag or mention a
person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from paceline_contract.outputs import BRACKETS
from paceline_contract.params import params_text

from paceline_server.kernel.escaping import escape
from paceline_server.publish.schemas import JobVerdictsOut, VerdictsOut
from paceline_server.publish.verdicts import (
    RankedVerdict,
    ran_sentence,
    ranked,
    reason_heading,
    result_words,
    subject_words,
    verdict_words,
)

LIMIT_BYTES = 60_000
"""GitHub accepts comments of up to 65,536 characters; this leaves room for text that a caller adds."""
SHORT_ROWS = 20
"""At most this many rows are all shown; of more, only the urgent ones, and the others are folded."""
EXCERPT_BYTES = 4_000
"""An excerpt of a job's first error is cut to this length."""
REASON_CHARACTERS = 1_000
UNAFFECTED_CHARACTERS = 2_000
HEADINGS = ("", "benchmark", "params", "arm", "what", "target", "result")


def render_markdown(verdicts: VerdictsOut, limit_bytes: int = LIMIT_BYTES) -> str:
    """Return the document, with at most `limit_bytes` of UTF-8."""
    rows = ranked(verdicts)
    head = [
        *_title(verdicts),
        *_failures(verdicts),
        *_missing(verdicts),
        *_unaffected(verdicts),
    ]
    foot = _foot(verdicts)
    for count in _row_counts_to_try(len(rows)):
        text = "\n".join([*head, *_tables(rows[:count], len(rows) - count), *foot])
        if len(text.encode()) <= limit_bytes:
            return text
    return _shorten("\n".join([*head, *_tables([], len(rows)), *foot]), limit_bytes)


def _title(verdicts: VerdictsOut) -> list[str]:
    against = (
        f" against {escape(verdicts.base_commit[:12])}" if verdicts.base_commit else ""
    )
    waived = any(reason.verdict == "waived" for reason in verdicts.reasons)
    outcome = f"{verdicts.outcome} (waived)" if waived else verdicts.outcome
    lines = [
        f"### {outcome}: {escape(verdicts.suite)} at {escape(verdicts.commit[:12])}{against}",
        "",
        *_pull_request(verdicts),
        *_reasons(verdicts),
        "",
    ]
    if verdicts.demonstration:
        lines += ["**Demonstration:** a knob changed the work on purpose.", ""]
    return lines


def _pull_request(verdicts: VerdictsOut) -> list[str]:
    request = verdicts.pull_request
    if request is None:
        return []
    # A bare `#12` would link to a pull request of the repository in which the text is shown.
    parts = [f"Pull request {request.number}", escape(request.title or "")]
    return [": ".join(part for part in parts if part), ""]


def _reasons(verdicts: VerdictsOut) -> list[str]:
    """Return the reasons, the most important first, and what to do next; a single reason is a plain sentence."""
    steps = dict.fromkeys(
        reason.next_step for reason in verdicts.reasons if reason.next_step
    )
    next_lines = [f"Next: {escape(step, REASON_CHARACTERS)}" for step in steps]
    if len(verdicts.reasons) < 2:
        sentence = escape(verdicts.reason, REASON_CHARACTERS) or "No reason was given."
        return [sentence, *(line for step in next_lines for line in ("", step))]
    return [
        *(
            f"- **{reason_heading(reason)}** {escape(reason.text, REASON_CHARACTERS)}"
            for reason in verdicts.reasons
        ),
        *(f"- {line}" for line in next_lines),
    ]


def _failures(verdicts: VerdictsOut) -> list[str]:
    """Return why targets have no verdict, with the first error of each."""
    lines: list[str] = []
    for job in verdicts.jobs:
        if job.failure is None:
            continue
        title = f"**{escape(job.target)}: {escape(job.failure.title)}.**"
        sentence = escape(job.failure.sentence, REASON_CHARACTERS)
        lines += [f"{title} {sentence}".rstrip(), "", *_excerpt(job)]
        lines += [escape(job.failure.advice, REASON_CHARACTERS), ""]
    return lines


def _excerpt(job: JobVerdictsOut) -> list[str]:
    text = "\n".join(line.text for line in job.failure.excerpt) if job.failure else ""
    if not text:
        return []
    text = _shorten(text, EXCERPT_BYTES)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", text, fence, ""]


def _missing(verdicts: VerdictsOut) -> list[str]:
    lines = [
        f"- {escape(group.words, REASON_CHARACTERS)}" for group in verdicts.missing
    ]
    return ["Missing:", "", *lines, ""] if lines else []


def _unaffected(verdicts: VerdictsOut) -> list[str]:
    """Return what was not measured again and why; with its target where there are several that differ."""
    targets: dict[str, list[str]] = {}
    for job in verdicts.jobs:
        if job.unaffected is not None:
            targets.setdefault(job.unaffected.words, []).append(job.target)
    lines: list[str] = []
    for words, names in targets.items():
        on = "" if len(names) == len(verdicts.jobs) else f"{', '.join(names)}: "
        lines += [escape(f"{on}{words}", UNAFFECTED_CHARACTERS), ""]
    return lines


def _tables(rows: Sequence[RankedVerdict], left_out: int) -> list[str]:
    """Return the tables: the worst rows open, the others folded."""
    urgent = [row for row in rows if row.decides and row.item.verdict != "pass"]
    opened = rows[: max(SHORT_ROWS, len(urgent))] if len(rows) <= SHORT_ROWS else urgent
    folded = rows[len(opened) :]
    lines = _table(opened)
    if folded:
        noun = "row" if len(folded) == 1 else "rows"
        lines += [
            f"<details><summary>{len(folded)} more {noun}</summary>",
            "",
            *_table(folded),
            "</details>",
            "",
        ]
    if left_out:
        noun = "row is" if left_out == 1 else "rows are"
        lines += [f"{left_out} more {noun} left out here for length.", ""]
    return lines


def _table(rows: Sequence[RankedVerdict]) -> list[str]:
    if not rows:
        return []
    shown_columns = [
        column for column in range(len(HEADINGS)) if _has_values(rows, CELLS[column])
    ]
    lines = [
        _line(HEADINGS[column] or "verdict" for column in shown_columns),
        _line("---" for _ in shown_columns),
    ]
    lines += [_line(CELLS[column](row) for column in shown_columns) for row in rows]
    return [*lines, ""]


def _has_values(
    rows: Sequence[RankedVerdict], cell: Callable[[RankedVerdict], str]
) -> bool:
    return any(cell(row) for row in rows)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


CELLS: tuple[Callable[[RankedVerdict], str], ...] = (
    lambda row: escape(verdict_words(row.item, row.decides)),
    lambda row: escape(row.item.benchmark),
    lambda row: escape(params_text(row.item.params, " ")),
    lambda row: escape(row.item.arm),
    lambda row: escape(subject_words(row.item)),
    lambda row: escape(row.target),
    lambda row: escape(result_words(row.item), REASON_CHARACTERS),
)


def _foot(verdicts: VerdictsOut) -> list[str]:
    parts = [escape(verdicts.completeness)] if verdicts.completeness else []
    if verdicts.url:
        parts.append(f"[Open the run]({verdicts.url})")
    if ran := ran_sentence(verdicts):
        parts.append(escape(ran))
    parts.append(BRACKETS)
    return [" · ".join(parts), ""]


def _row_counts_to_try(count: int) -> Iterable[int]:
    """Yield numbers of rows to try, from all of them down to none."""
    while count:
        yield count
        count = count * 3 // 4
    yield 0


def _shorten(text: str, limit_bytes: int) -> str:
    """Return `text`, or its beginning and a mark if it is too long."""
    if len(text.encode()) <= limit_bytes:
        return text
    mark = "\n… (cut for length)"
    kept = text.encode()[: limit_bytes - len(mark.encode())]
    return kept.decode(errors="ignore") + mark
