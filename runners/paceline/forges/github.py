"""GitHub: https://docs.github.com/rest/commits/statuses, rest/issues/comments, actions/reference/variables."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from paceline.errors import UserError
from paceline.forges.client import ForgeClient
from paceline.forges.port import (
    Comment,
    ForgeError,
    ForgeOptions,
    Pipeline,
    PullRequest,
    PullRequestState,
    State,
    TriggerComment,
    Variables,
)

NAME = "GitHub"
TOKEN_VARIABLES = ("GITHUB_TOKEN",)
PERMISSION_ADVICE = (
    "Set GITHUB_TOKEN to ${{ github.token }} in the step's env; the job needs "
    "`permissions: {contents: read, statuses: write, pull-requests: write}`."
)
COMMAND = "/paceline bench"
"""The command in a maintainer's comment that has a fork's commit measured."""
FORK_ADVICE = (
    "A maintainer who has read the commit starts it with a comment, where a workflow answers comments (docs/ci.md): "
    f"{COMMAND} {{commit}}."
)
API_URL = "https://api.github.com"
WRITERS = frozenset({"owner", "admin", "maintain", "write"})
"""The permissions of GitHub, Gitea and Forgejo with which one may push to a repository."""


def find_pipeline(variables: Variables, options: ForgeOptions) -> Pipeline:
    """Return the pipeline that GitHub Actions describes. Raises UserError for what is missing."""
    api_url = options.api_url or variables.get("GITHUB_API_URL") or API_URL
    token = options.token or variables.get(*TOKEN_VARIABLES)
    return actions_pipeline(variables, options, api_url, token, ("GITHUB",))


def actions_pipeline(
    variables: Variables,
    options: ForgeOptions,
    api_url: str,
    token: str | None,
    prefixes: tuple[str, ...],
) -> Pipeline:
    """Return the pipeline that the variables of Actions describe, which GitHub, Gitea and Forgejo share; `prefixes` of
    their names, the forge's own first. Raises UserError."""

    def names(rest: str) -> tuple[str, ...]:
        return tuple(f"{prefix}_{rest}" for prefix in prefixes)

    repository = variables.need(
        options.repository, "the repository", "--repository", *names("REPOSITORY")
    )
    event = read_event(variables.get(*names("EVENT_PATH")))
    comment = _find_comment(event)
    if comment is not None:
        return _comment_pipeline(
            Pipeline(
                api_url,
                repository,
                variables.need(None, "the commit", "--commit", *names("SHA")),
                None,
                None,
                token,
                comment=comment,
            ),
            event,
            options,
        )
    pull_request = _find_pull_request(
        event,
        variables.get(*names("REF")),
        repository,
        options,
        variables.get(*names("BASE_REF")),
    )
    head = at(event, "pull_request", "head", "sha")
    commit = options.commit or (head if isinstance(head, str) else None)
    explicit = pull_request is not None and pull_request.number == options.pull_request
    if pull_request is not None and not explicit and commit is None:
        # In a pull request's pipeline, the SHA is a merge commit that nobody made.
        raise UserError(
            f"The pipeline does not say the pull request's commit: {names('EVENT_PATH')[0]} names no readable event.",
            "Give --commit.",
        )
    commit = variables.need(commit, "the commit", "--commit", *names("SHA"))
    branch = options.branch
    if (
        branch is None
        and pull_request is None
        and variables.get(*names("REF_TYPE")) == "branch"
    ):
        branch = variables.get(*names("REF_NAME"))
    return Pipeline(api_url, repository, commit, branch, pull_request, token)


def _find_pull_request(
    event: Any,
    ref: str | None,
    repository: str,
    options: ForgeOptions,
    base_ref: str | None,
) -> PullRequest | None:
    wanted, base_branch = options.pull_request, options.base_branch
    number = at(event, "pull_request", "number")
    if not isinstance(number, int):
        from_ref = re.fullmatch(r"refs/pull/(\d+)/(?:merge|head)", ref or "")
        number = int(from_ref[1]) if from_ref else None
    if wanted is not None and wanted != number:
        return PullRequest(wanted, repository, base_branch=base_branch)
    if number is None:
        return None
    described = at(event, "pull_request")
    if described is None:
        return PullRequest(number, repository, base_branch=base_branch or base_ref)
    request = _describe(number, repository, described)
    return replace(request, base_branch=base_branch or request.base_branch or base_ref)


def _describe(number: int, repository: str, item: Any) -> PullRequest:
    """Return a pull request as events and the API show it. Its head's repository is null if it was deleted."""
    url, base, title = at(item, "html_url"), at(item, "base", "ref"), at(item, "title")
    return PullRequest(
        number,
        repository,
        url if isinstance(url, str) else None,
        from_fork=not is_same(at(item, "head", "repo", "full_name"), repository),
        base_branch=base if isinstance(base, str) else None,
        title=title if isinstance(title, str) else None,
    )


def is_same(name: Any, repository: str) -> bool:
    """Return whether an answer's `owner/name` is that repository; case does not matter."""
    return isinstance(name, str) and name.lower() == repository.lower()


def _find_comment(event: Any) -> TriggerComment | None:
    """Return the comment on an issue or a pull request that started the pipeline."""
    comment = at(event, "comment")
    if not isinstance(comment, dict) or not isinstance(at(event, "issue"), dict):
        return None
    return TriggerComment(
        str(at(comment, "user", "login") or ""),
        str(comment.get("body") or ""),
        _instant(comment.get("created_at")),
        is_new=at(event, "action") == "created",
    )


def _comment_pipeline(
    pipeline: Pipeline, event: Any, options: ForgeOptions
) -> Pipeline:
    """Return the pipeline with the pull request of the comment. Raises UserError for options that name another."""
    if options.commit is not None or options.pull_request is not None:
        raise UserError(
            "A pipeline that a comment started measures the head of the comment's pull request.",
            "Leave out --commit and --pull-request.",
        )
    number = at(event, "issue", "number")
    if not isinstance(number, int) or at(event, "issue", "pull_request") is None:
        return pipeline
    return replace(pipeline, pull_request=PullRequest(number, pipeline.repository))


def _instant(value: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo else None


def read_event(path: str | None) -> Any:
    """Return the event that started the workflow; None where it cannot be read."""
    if path is None:
        return None
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def at(value: Any, *names: str) -> Any:
    """Return what lies at this place of a JSON value; None where there is nothing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


class GitHubForge:
    """A commit and a pull request by GitHub's REST API."""

    def __init__(self, client: ForgeClient, pipeline: Pipeline) -> None:
        self._client, self._pipeline = client, pipeline
        self._repository = _repository_path(pipeline.repository)
        request = pipeline.pull_request
        discussed = _repository_path(request.repository) if request else ""
        self._discussed = discussed
        self._number = request.number if request else 0
        self._comments = f"{discussed}/issues/{self._number}"
        self._comment = f"{discussed}/issues/comments"

    @staticmethod
    def headers(token: str) -> dict[str, str]:
        """Return the headers of every request."""
        return {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }

    def set_status(
        self, state: State, context: str, description: str, url: str | None
    ) -> None:
        """Set the commit's status of that context."""
        # GitHub and Forgejo know no state for what was cancelled.
        sent_state = "error" if state == "cancelled" else state
        body = {"state": sent_state, "context": context, "description": description}
        commit = quote(self._pipeline.commit, safe="")
        self._client.send(
            "POST",
            f"{self._repository}/statuses/{commit}",
            body | ({"target_url": url} if url else {}),
        )

    def read_pull_request(self) -> PullRequestState:
        """Return the pull request as it is now."""
        item = self._client.send("GET", f"{self._discussed}/pulls/{self._number}")
        head, source = at(item, "head", "sha"), at(item, "head", "repo")
        if not isinstance(head, str):
            raise ForgeError("the answer is no pull request")
        request = self._pipeline.pull_request
        repository = (
            self._pipeline.repository if request is None else request.repository
        )
        return PullRequestState(
            _describe(self._number, repository, item),
            head,
            # Gitea and Forgejo do not say it; their `updated_at` follows a push only after the new head is shown.
            _instant(at(source, "pushed_at")),
        )

    def may_write(self, user: str) -> bool:
        """Return whether somebody may push to the repository where the pull request is discussed."""
        if not user:
            return False
        name = quote(user, safe="")
        path = f"{self._discussed}/collaborators/{name}/permission"
        try:
            return at(self._client.send("GET", path), "permission") in WRITERS
        except ForgeError as error:
            if error.status != 404:
                raise
            return False

    def list_comments(self) -> list[Comment]:
        """Return all comments of the pull request, the oldest first."""
        return self._client.list_comments(f"{self._comments}/comments", {})

    def create_comment(self, body: str) -> None:
        """Add a comment."""
        self._client.send(
            "POST", f"{self._comments}/comments", {"body": body}, repeatable=False
        )

    def edit_comment(self, comment_id: int, body: str) -> None:
        """Replace a comment's text."""
        self._client.send("PATCH", f"{self._comment}/{comment_id}", {"body": body})

    def delete_comment(self, comment_id: int) -> None:
        """Remove a comment."""
        self._client.send("DELETE", f"{self._comment}/{comment_id}")


def _repository_path(repository: str) -> str:
    return f"repos/{quote(repository, safe='/')}"
