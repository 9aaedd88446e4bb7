"""GitLab: https://docs.gitlab.com/api/commits (statuses), api/notes, ci/variables/predefined_variables.

A merge request's pipeline may run in a fork: its statuses belong to the fork's project, its comments to the other. In
the project itself a fork's pipeline runs only where a member of the project started it, for the commit they saw.
"""

from __future__ import annotations

from dataclasses import replace
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
    Variables,
)

NAME = "GitLab"
TOKEN_VARIABLES = ("GITLAB_TOKEN",)
PERMISSION_ADVICE = (
    "Set the masked CI/CD variable GITLAB_TOKEN to a project access token with the scope `api` and the role "
    "Developer; CI_JOB_TOKEN may neither comment nor set statuses."
)
FORK_ADVICE = (
    "A member of the project who has read commit {commit} starts the merge request's pipeline in the project itself: "
    "Pipelines, Run pipeline."
)
STATES: dict[State, str] = {
    "pending": "running",
    "success": "success",
    "failure": "failed",
    "error": "failed",
    "cancelled": "canceled",
}


def find_pipeline(variables: Variables, options: ForgeOptions) -> Pipeline:
    """Return the pipeline that GitLab CI describes. Raises UserError for what is missing."""
    api_url = variables.need(
        options.api_url, "where the API is", "--forge-url", "CI_API_V4_URL"
    )
    repository = variables.need(
        options.repository,
        "the project",
        "--repository",
        "CI_PROJECT_ID",
        "CI_PROJECT_PATH",
    )
    pull_request = _find_merge_request(variables, options, repository)
    # Set in pipelines of merged results only, where CI_COMMIT_SHA is a merge commit that nobody made.
    source = variables.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")
    commit = variables.need(
        options.commit or source, "the commit", "--commit", "CI_COMMIT_SHA"
    )
    is_pipelines_commit = variables.get("CI_COMMIT_SHA") == commit
    return Pipeline(
        api_url,
        repository,
        commit,
        options.branch or (None if pull_request else variables.get("CI_COMMIT_BRANCH")),
        pull_request,
        options.token or variables.get(*TOKEN_VARIABLES),
        variables.get("CI_PIPELINE_ID") if is_pipelines_commit else None,
    )


def _find_merge_request(
    variables: Variables, options: ForgeOptions, repository: str
) -> PullRequest | None:
    number = variables.get("CI_MERGE_REQUEST_IID")
    if options.pull_request is not None and str(options.pull_request) != number:
        return PullRequest(
            options.pull_request, repository, base_branch=options.base_branch
        )
    if number is None:
        return None
    if not number.isdigit():
        raise UserError(
            f"CI_MERGE_REQUEST_IID is {number!r}, not a number.",
            "Give the number with --pull-request.",
        )
    project = variables.get("CI_MERGE_REQUEST_PROJECT_ID") or repository
    url = variables.get("CI_MERGE_REQUEST_PROJECT_URL")
    source = variables.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID")
    is_member = variables.get("CI_PROJECT_ID") == project
    return PullRequest(
        int(number),
        options.repository or project,
        f"{url}/-/merge_requests/{number}" if url else None,
        from_fork=None if source is None else source != project and not is_member,
        base_branch=options.base_branch
        or variables.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
        title=variables.get("CI_MERGE_REQUEST_TITLE"),
    )


class GitLabForge:
    """A commit and a merge request by GitLab's REST API."""

    def __init__(self, client: ForgeClient, pipeline: Pipeline) -> None:
        self._client, self._pipeline = client, pipeline
        request = pipeline.pull_request
        if request is not None:
            project = quote(request.repository, safe="")
            self._request = f"projects/{project}/merge_requests/{request.number}"
            self._notes = f"{self._request}/notes"

    @staticmethod
    def headers(token: str) -> dict[str, str]:
        """Return the headers of every request."""
        return {"PRIVATE-TOKEN": token, "Accept": "application/json"}

    def set_status(
        self, state: State, context: str, description: str, url: str | None
    ) -> None:
        """Set the commit's status of that name."""
        body = {
            "state": STATES[state],
            "name": context,
            "description": description,
            "target_url": url,
            "pipeline_id": self._pipeline.pipeline_id,
        }
        project = quote(self._pipeline.repository, safe="")
        commit = quote(self._pipeline.commit, safe="")
        try:
            self._client.send(
                "POST",
                f"projects/{project}/statuses/{commit}",
                {name: value for name, value in body.items() if value is not None},
            )
        except ForgeError as error:
            # Up to GitLab 18, setting the state that a status has already is refused.
            if error.status != 400 or "Cannot transition status" not in str(error):
                raise

    def read_pull_request(self) -> PullRequestState:
        """Return the merge request as it is now."""
        item = self._client.send("GET", self._request)
        request = self._pipeline.pull_request
        if request is None or not isinstance(item, dict) or not item.get("sha"):
            raise ForgeError("the answer is no merge request")
        source, project = item.get("source_project_id"), item.get("target_project_id")
        return PullRequestState(
            replace(request, from_fork=source != project), str(item["sha"])
        )

    def list_comments(self) -> list[Comment]:
        """Return all notes of the merge request, the oldest first."""
        order = {"sort": "asc", "order_by": "created_at"}
        return self._client.list_comments(self._notes, order)

    def create_comment(self, body: str) -> None:
        """Add a note."""
        self._client.send("POST", self._notes, {"body": body}, repeatable=False)

    def edit_comment(self, comment_id: int, body: str) -> None:
        """Replace a note's text."""
        self._client.send("PUT", f"{self._notes}/{comment_id}", {"body": body})

    def delete_comment(self, comment_id: int) -> None:
        """Remove a note."""
        self._client.send("DELETE", f"{self._notes}/{comment_id}")
