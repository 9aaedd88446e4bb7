"""Renders a verdict document that an untrusted pipeline wrote, for a comment that a trusted one posts.

The document is checked against the shape that `judge` writes. A document that claims what only a server can say (a run,
its page, a pull request, a waiver) is refused, because readers would take it for the server's word.
"""

from __future__ import annotations

from pydantic import ValidationError

from paceline_server.detect.schemas import ComparisonOut, GateOut
from paceline_server.kernel.wire import is_storable
from paceline_server.publish.markdown import render_markdown
from paceline_server.publish.schemas import VerdictsOut


class UploadError(ValueError):
    """The document is not one that `paceline ab` writes for that suite and commit."""


def render_upload(document: bytes, suite: str, commit: str) -> str:
    """Return the document as Markdown. Raises UploadError."""
    try:
        verdicts = VerdictsOut.model_validate_json(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UploadError(
            f"it is not a paceline.verdicts/1 document: {place}: {first['msg']}"
        ) from None
    if not is_storable(verdicts.model_dump()):
        raise UploadError(
            "it holds text that is no Unicode or numbers that are not finite"
        )
    if verdicts.suite != suite:
        raise UploadError(f"it is of suite {verdicts.suite[:100]!r}, not of {suite!r}")
    if verdicts.commit != commit:
        raise UploadError(f"it is of commit {verdicts.commit[:64]!r}, not of {commit}")
    if _claims_a_server(verdicts):
        raise UploadError(
            "it claims what only a server can say: a run, a pull request or a waiver"
        )
    return render_markdown(verdicts)


def _claims_a_server(verdicts: VerdictsOut) -> bool:
    items: list[ComparisonOut | GateOut] = []
    for job in verdicts.jobs:
        items += [*job.comparisons, *job.gates]
    reasons = [
        *verdicts.reasons,
        *(reason for job in verdicts.jobs for reason in job.reasons),
    ]
    return (
        verdicts.run_id is not None
        or verdicts.url is not None
        or verdicts.pull_request is not None
        or any(job.job_id is not None for job in verdicts.jobs)
        or any(item.waived is not None for item in items)
        or any(reason.verdict == "waived" for reason in reasons)
    )
