"""What a stranger's pipeline uploads is shown only if it is a document that `judge` writes, and claims no server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from paceline_server.detect.schemas import ReasonOut, WaivedOut
from paceline_server.publish.schemas import VerdictsOut
from paceline_server.publish.uploads import UploadError, render_upload

from .conftest import comparison, gate, job, verdicts

COMMIT = "c" * 40
WAIVED = WaivedOut(
    waiver_id=None,
    alert_id=None,
    by="ann",
    reason="known",
    until=None,
    words="waived by ann",
)


def offline(**changes: Any) -> VerdictsOut:
    """A document as `judge` writes it."""
    own: dict[str, Any] = {
        "run_id": None,
        "url": None,
        "pull_request": None,
        "suite": "mine",
        "commit": COMMIT,
        **changes,
    }
    jobs = own.pop(
        "jobs", [job(job_id=None, comparisons=[comparison("native", "fail")])]
    )
    return verdicts(*jobs, **own)


def render(document: VerdictsOut | bytes, suite: str = "mine") -> str:
    text = (
        document
        if isinstance(document, bytes)
        else document.model_dump_json(by_alias=True).encode()
    )
    return render_upload(text, suite, COMMIT)


def test_a_document_of_the_judge_is_rendered_as_a_servers_is() -> None:
    text = render(offline())
    assert text.startswith("### fail: mine at cccccccccccc")
    assert "native" in text


@pytest.mark.parametrize(
    "document",
    [
        offline(run_id="run_1"),
        offline(url="https://bench.example.org/runs/run_1"),
        offline(jobs=[job(job_id="job_1")]),
        offline(
            jobs=[
                job(job_id=None, comparisons=[comparison("a", "fail", waived=WAIVED)])
            ]
        ),
        offline(jobs=[job(job_id=None, gates=[gate("tail", "fail", waived=WAIVED)])]),
        offline(reasons=[ReasonOut(kind="arm", verdict="waived", text="x", count=1)]),
    ],
    ids=["run", "url", "job", "waived arm", "waived gate", "waived reason"],
)
def test_what_only_a_server_says_is_refused(document: VerdictsOut) -> None:
    with pytest.raises(UploadError, match="only a server"):
        render(document)


def test_another_suite_or_commit_is_refused() -> None:
    with pytest.raises(UploadError, match="not of 'other'"):
        render(offline(), "other")
    with pytest.raises(UploadError, match="it is of commit"):
        render(offline(commit="d" * 40))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"\xff",
        b"{" * 100_000,
        b'{"schema": "paceline.verdicts/1"}',
        json.dumps(
            {**json.loads(offline().model_dump_json(by_alias=True)), "outcome": "<b>"}
        ).encode(),
        json.dumps(
            {**json.loads(offline().model_dump_json(by_alias=True)), "reason": "\ud800"}
        ).encode(),
    ],
    ids=["nothing", "list", "bytes", "deep", "fields", "outcome", "surrogate"],
)
def test_everything_else_is_refused_in_one_sentence(text: bytes) -> None:
    with pytest.raises(UploadError) as refused:
        render(text)
    assert len(str(refused.value)) < 500


def test_a_reason_of_any_kind_has_a_heading() -> None:
    """Analyses make no failure of a blocker; a stranger's document may."""
    reasons = [
        ReasonOut(kind="blocker", verdict="fail", text="first", count=1),
        ReasonOut(kind="job", verdict="inconclusive", text="second", count=1),
    ]
    assert "- **Reason:** first" in render(offline(reasons=reasons))
