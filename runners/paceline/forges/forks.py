"""Decides whether a pull request may be measured.

Agents build and run the commit that they are told to measure. A fork's is measured only if somebody who may write to
the repository asked for exactly that commit in a comment, or if the pipeline's owner allows all forks.
"""

from __future__ import annotations

import re
from dataclasses import replace

from paceline.forges.github import COMMAND, GitHubForge
from paceline.forges.port import (
    Forge,
    ForgeError,
    Pipeline,
    PullRequestState,
    TriggerComment,
)

_COMMAND_LINE = re.compile(rf"{COMMAND}(?: +([0-9a-f]{{40}}|[0-9a-f]{{64}}))?")


class NotMeasuredError(Exception):
    """Nothing is to be measured; the text says why and what would change that."""


def admit(
    pipeline: Pipeline, forge: Forge | None, advice: str, *, allows_forks: bool
) -> Pipeline:
    """Return the pipeline with the commit that may be measured. `forge` is None without a token, `advice` says how a
    fork's commit is started. Raises NotMeasuredError, and ForgeError where the forge must be asked and does not
    answer."""
    if pipeline.comment is not None:
        return _admit_commented(pipeline, pipeline.comment, forge)
    request = pipeline.pull_request
    if request is None or request.from_fork is False or allows_forks:
        return pipeline
    if (
        request.from_fork is None
        and not _require_forge(forge).read_pull_request().from_fork
    ):
        return pipeline
    raise NotMeasuredError(
        f"Nothing was measured: pull request {request.number} comes from a fork. {advice} "
        "`--allow-forks` allows all forks."
    )


def _admit_commented(
    pipeline: Pipeline, comment: TriggerComment, forge: Forge | None
) -> Pipeline:
    """Return the pipeline with the head that the pull request had when the comment was made."""
    request, named = pipeline.pull_request, read_command(comment)
    if request is None:
        raise NotMeasuredError(
            "Nothing was measured: the comment is on an issue, not on a pull request."
        )
    asked_forge = _require_forge(forge)
    # Only Actions start pipelines for comments.
    if not isinstance(asked_forge, GitHubForge) or not asked_forge.may_write(
        comment.author
    ):
        raise NotMeasuredError(
            f"Nothing was measured: {comment.author} may not write to {request.repository}. A maintainer's "
            f"{COMMAND} is needed."
        )
    state = asked_forge.read_pull_request()
    again = f"Read commit {state.head}, then comment: {COMMAND} {state.head}"
    if named is not None and named != state.head:
        raise NotMeasuredError(
            f"Nothing was measured: the comment asks for commit {named}, which is not the pull request's head. {again}"
        )
    if named is None and state.from_fork and not _was_head(state, comment):
        raise NotMeasuredError(
            "Nothing was measured: the comment names no commit, and the fork may have been pushed to since. "
            + again
        )
    return replace(pipeline, commit=state.head, pull_request=state.request)


def read_command(comment: TriggerComment) -> str | None:
    """Return the commit that a comment names; None if it names none. Only the whole first line of a new comment is a
    command, which no quote and no code block can be. Raises NotMeasuredError for every other comment."""
    line = comment.body.split("\n", 1)[0].rstrip()
    command = _COMMAND_LINE.fullmatch(line)
    if command is None or not comment.is_new:
        raise NotMeasuredError(
            f"Nothing was measured: {COMMAND} must be the whole first line of a new comment, alone or with the full "
            "hash of the pull request's head."
        )
    named: str | None = command[1]
    return named


def _was_head(state: PullRequestState, comment: TriggerComment) -> bool:
    """Return whether nothing was pushed since the comment, by the forge's clock; authors choose the dates of commits."""
    pushed_at, created_at = state.pushed_at, comment.created_at
    return pushed_at is not None and created_at is not None and pushed_at < created_at


def _require_forge(forge: Forge | None) -> Forge:
    if forge is None:
        raise ForgeError("there is no token", 401)
    return forge
