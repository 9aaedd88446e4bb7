"""Markdown stays Markdown whatever strangers name things, and never outgrows what a forge accepts."""

from __future__ import annotations

import re

import pytest
from paceline_server.detect.schemas import ReasonOut, WaivedOut
from paceline_server.jobs.schemas import PullRequestOut
from paceline_server.kernel.escaping import escape
from paceline_server.publish.markdown import LIMIT_BYTES, render_markdown
from paceline_server.publish.schemas import VerdictsOut

from .conftest import comparison, failed_job, job, verdicts

HOSTILE = "</script>|`code`\n# big @team [x](javascript:1) \u202etxt.exe \U0001f600 https://evil.example *b*"


def rows_of(text: str) -> list[list[str]]:
    """The cells of every table row, headings and rulers left out."""
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    return [row for row in rows if row[0] not in ("verdict", "---")]


def test_what_failed_the_run_comes_first_and_what_decides_nothing_is_in_brackets(
    mixed: VerdictsOut,
) -> None:
    rows = rows_of(render_markdown(mixed))
    assert [(row[0], row[3]) for row in rows[:4]] == [
        ("fail", "slowest"),
        ("fail", "native"),
        ("fail", "native"),
        ("inconclusive", "unsure"),
    ]
    assert rows[2][4] == "gate tail"
    assert ("(fail)", "unwatched") in [(row[0], row[3]) for row in rows[4:]]


def test_a_target_without_a_verdict_shows_its_first_error_and_what_to_do(
    mixed: VerdictsOut,
) -> None:
    text = render_markdown(mixed)
    assert "**lab-2: The build failed.** cargo exited with status 101." in text
    assert "````text\nerror[E0425]: cannot find `hash`\n``` fenced ```\n````" in text
    assert "Run the failed step by hand." in text
    assert "- 24 cases: build failed" in text


def test_passing_rows_are_folded_when_there_are_many() -> None:
    passing = [comparison(f"arm{n}", "pass", 0.9) for n in range(30)]
    text = render_markdown(
        verdicts(job(comparisons=[*passing, comparison("slow", "fail")]))
    )
    opened, folded = text.split("<details><summary>30 more rows</summary>")
    assert [row[2] for row in rows_of(opened)] == ["size=1000"]
    assert len(rows_of(folded)) == 30


def test_nothing_a_stranger_names_leaves_its_cell() -> None:
    text = render_markdown(
        verdicts(
            job(
                HOSTILE,
                comparisons=[
                    comparison(
                        HOSTILE, "fail", benchmark=HOSTILE, params={"p": HOSTILE}
                    )
                ],
            ),
            suite=HOSTILE,
            reason=HOSTILE,
            reasons=[
                ReasonOut(kind=kind, verdict="fail", text=HOSTILE, count=1)
                for kind in ("regression", "gate")
            ],
            pull_request=PullRequestOut(number=7, url=None, title=HOSTILE),
            missing=[],
        )
    )
    assert "</script" not in text
    assert not any(character in text for character in ("@", "\u202e"))
    assert "https://evil" not in text
    (row,) = rows_of(text)
    assert len(row) == 7
    assert text.count("\n#") == 0, "no heading but ours, which begins the document"


def test_what_was_waived_stands_beside_what_failed_with_who_and_until_when() -> None:
    waived = WaivedOut(
        waiver_id="wvr_1",
        alert_id=None,
        by=HOSTILE,
        reason=HOSTILE,
        until=None,
        words=f"waived by {HOSTILE}",
    )
    text = render_markdown(
        verdicts(
            job(comparisons=[comparison("even", "pass", 0.9)]),
            job(comparisons=[comparison("native", "fail", waived=waived)]),
            outcome="pass",
            reasons=[ReasonOut(kind="arm", verdict="waived", text="x", count=1)],
        )
    )
    assert text.startswith("### pass (waived): ")
    first, second = rows_of(text)
    assert first[0] == "fail, waived"
    assert "waived by &lt;/script&gt;" in first[-1]
    assert second[0] == "pass"


def test_hidden_characters_are_no_way_around_the_escapes() -> None:
    assert escape("a\u200b\u2066b\x00\x1b[31m") == "a  b  \\[31m"
    assert escape("😀 é ب") == "😀 é ب"


@pytest.mark.parametrize("count", [0, 1, 300, 5000])
def test_a_document_of_any_size_fits_and_counts_what_it_leaves_out(count: int) -> None:
    rows = [comparison(f"arm{n}", "fail", 1 + n / 1000) for n in range(count)]
    text = render_markdown(verdicts(job(comparisons=rows), failed_job()))
    assert len(text.encode()) <= LIMIT_BYTES
    shown = len(rows_of(text))
    left_out = re.search(r"(\d+) more rows are left out", text)
    assert shown + (int(left_out[1]) if left_out else 0) == count
    assert count < 300 or f"arm{count - 1} " in text, "the worst is always shown"


def test_a_reason_without_end_is_cut_and_the_document_still_fits() -> None:
    endless = verdicts(
        *(failed_job(f"lab-{n}") for n in range(2000)), reason="x" * 99999
    )
    text = render_markdown(endless)
    assert len(text.encode()) <= LIMIT_BYTES
    assert text.endswith("(cut for length)")
