"""Defines what the reporter needs of a forge, and what a pipeline states about its commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from paceline.errors import UserError

State = Literal["pending", "success", "failure", "error", "cancelled"]
LONGEST_DESCRIPTION = 140
"""Characters; GitHub refuses longer ones, GitLab takes 255."""
LONGEST_COMMENT = 65_000
"""Characters; GitHub refuses more than 65,536."""


class ForgeError(Exception):
    """A forge refused a request or gave no usable answer. `status`: of its HTTP response, if there was one."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class Comment:
    """A comment of a pull request, as a forge lists it."""

    id: int
    body: str


@dataclass(frozen=True)
class PullRequest:
    """The pull or merge request that a pipeline runs for."""

    number: int
    repository: str
    """The repository in which it is discussed; in a fork's pipeline, not the fork."""
    url: str | None = None
    from_fork: bool | None = None
    """Whether its commits are of somebody who may not write to the repository. None: the pipeline does not say."""
    base_branch: str | None = None
    """The branch that it goes to."""
    title: str | None = None


@dataclass(frozen=True)
class PullRequestState:
    """A pull request as its forge answers it now."""

    request: PullRequest
    head: str
    pushed_at: datetime | None = None
    """When its repository was pushed to last, by the forge's clock; None where that is not known."""

    @property
    def from_fork(self) -> bool:
        """Return whether it comes from a fork, as the forge states; a deleted repository counts as a fork."""
        return self.request.from_fork is not False


@dataclass(frozen=True)
class TriggerComment:
    """The comment that started a pipeline."""

    author: str
    body: str
    created_at: datetime | None
    is_new: bool
    """Whether it was created, not edited or deleted."""


@dataclass(frozen=True)
class Pipeline:
    """A CI run's commit or pull request, and its forge."""

    api_url: str
    repository: str
    """As the API addresses it: `owner/name`, or GitLab's project id."""
    commit: str
    """The commit that is measured and gets the status. In a comment's pipeline it is the head of the default branch, until
    the forge was asked for the pull request's head."""
    branch: str | None
    """The branch that was pushed; None for a pull request, whose commits belong to no history."""
    pull_request: PullRequest | None
    token: str | None
    pipeline_id: str | None = None
    """GitLab's id of the pipeline to which a status is added."""
    comment: TriggerComment | None = None


@dataclass(frozen=True)
class ForgeOptions:
    """The options that a user gave; None is looked up in the pipeline's variables."""

    api_url: str | None = None
    repository: str | None = None
    commit: str | None = None
    branch: str | None = None
    pull_request: int | None = None
    base_branch: str | None = None
    token: str | None = None


class Forge(Protocol):
    """One repository of one forge. Every method raises ForgeError."""

    def set_status(
        self, state: State, context: str, description: str, url: str | None
    ) -> None:
        """Set the commit's status of that context."""

    def read_pull_request(self) -> PullRequestState:
        """Return the pull request as it is now."""

    def list_comments(self) -> list[Comment]:
        """Return all comments of the pull request, the oldest first."""

    def create_comment(self, body: str) -> None:
        """Add a comment."""

    def edit_comment(self, comment_id: int, body: str) -> None:
        """Replace a comment's text."""

    def delete_comment(self, comment_id: int) -> None:
        """Remove a comment."""


class Variables:
    """A pipeline's environment. An empty variable counts as none, because CI systems set what they do not know to ''."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def get(self, *names: str) -> str | None:
        """Return the first of these that is set."""
        values = (self._environment.get(name, "").strip() for name in names)
        return next(filter(None, values), None)

    def need(self, given: str | None, what: str, option: str, *names: str) -> str:
        """Return `given`, or the first variable that is set. Raises UserError, naming the variable."""
        value = given or self.get(*names)
        if value is None:
            raise UserError(
                f"The pipeline does not say {what}: {' and '.join(names)} are not set."
                if len(names) > 1
                else f"The pipeline does not say {what}: {names[0]} is not set.",
                f"Set {names[0]}, or give {option}.",
            )
        return value
